//! `security` and `admin`: what is let through, and what the administrator allows at all.

use crate::settings::keys::key::{Key, Preset, Shape};
use crate::settings::keys::words::TOKEN_STORES;

/// The keys of `security`.
pub(crate) const SECURITY: &[Key] = &[
    Key::section(
        "folderTrust",
        FOLDER_TRUST,
        "Folders that bring settings of their own. A workspace has no say in it.",
    ),
    Key::section(
        "environmentVariableRedaction",
        ENV_REDACTION,
        "Which of your variables servers get, in spite of what their names look like.",
    ),
    Key::new("strict", Shape::Truth, "A server without `includeTools` has no tools.").preset(Preset::Truth(false)),
    Key::new("disableYoloMode", Shape::Truth, "Forbids the mode that asks nothing.").preset(Preset::Truth(false)),
    Key::new(
        "disableAlwaysAllow",
        Shape::Truth,
        "Forbids to remember an answer, and what was remembered does not count.",
    )
    .preset(Preset::Truth(false)),
    Key::new(
        "grantDays",
        Shape::within(1, 36_500, "days"),
        "How many days an answer that is remembered for good counts. Of several the fewest.",
    )
    .preset(Preset::InWords("until it is revoked")),
    Key::new(
        "tokenStore",
        Shape::Word(&TOKEN_STORES),
        "What logins are sealed with: a key in the keychain, in a file, or wrapped by `TOOLGATE_PASSPHRASE`. `plain` seals nothing. A folder has no say in it.",
    )
    .preset(Preset::Word("auto")),
    switch("enablePermanentToolApproval", "Offers to remember an answer beyond the session."),
    switch("autoAddToPolicyByDefault", "Makes that the first choice."),
    switch("blockGitExtensions", "Forbids extensions that come from a repository."),
    Key::new("allowedExtensions", Shape::ListOrOne, "Sources that extensions may come from, as regular expressions.")
        .accepted(),
    switch("enableConseca", "Known to other clients: a model that judges calls."),
];

/// The keys of `security.folderTrust`.
pub(crate) const FOLDER_TRUST: &[Key] = &[
    Key::new("enabled", Shape::Truth, "Whether a folder must be trusted before anything it brings counts.")
        .preset(Preset::Truth(true)),
    Key::new("userServers", Shape::Truth, "Whether your own servers are used in a folder that is not trusted.")
        .preset(Preset::Truth(false)),
];

/// The keys of `security.environmentVariableRedaction`.
pub(crate) const ENV_REDACTION: &[Key] = &[
    Key::new("allowed", Shape::ListOrOne, "Variables that servers get besides the few that programs need, even if they look secret. `*` in a name matches anything; `*` alone means every variable, whatever its value. Ignored in a folder.")
        .preset(Preset::InWords("none")),
    Key::new("blocked", Shape::ListOrOne, "Variables that are never passed to servers, even those that programs need. `*` in a name matches anything.").preset(Preset::InWords("none")),
    switch("enabled", "Whether shells get no secrets either. Servers never do."),
];

/// The keys of `admin`.
pub(crate) const ADMIN: &[Key] = &[
    Key::new("secureModeEnabled", Shape::Truth, "Forbids the mode that asks nothing, and to remember an answer.")
        .preset(Preset::Truth(false)),
    Key::section("mcp", ADMIN_MCP, "Restrictions on servers."),
    Key::section("extensions", ADMIN_EXTENSIONS, "What is allowed of extensions.").accepted(),
];

const ADMIN_MCP: &[Key] = &[
    Key::new(
        "enabled",
        Shape::Truth,
        "Whether servers other than the built-in one are used. `false` in any file wins.",
    )
    .preset(Preset::Truth(true)),
    Key::new("config", Shape::Anything, "The only servers there may be, and how they are reached.").accepted(),
    Key::new("requiredConfig", Shape::Anything, "Servers that are always there.").accepted(),
];

const ADMIN_EXTENSIONS: &[Key] =
    &[Key::new("enabled", Shape::Truth, "Whether there are extensions at all.").preset(Preset::Truth(true)).accepted()];

const fn switch(name: &'static str, doc: &'static str) -> Key {
    Key::new(name, Shape::Truth, doc).preset(Preset::Truth(false)).accepted()
}
