//! The keys of a settings file, and of its sections about servers, tools and the model.

use crate::limits::{CONNECT_LIMIT_COUNT, CONNECT_LIMIT_MAX, RESULT_CHARS_MAX};
use crate::settings::keys::access::{ADMIN, SECURITY};
use crate::settings::keys::key::{Key, Merge, Preset, Shape};
use crate::settings::keys::other_clients::{ADVANCED, CONTEXT, EXPERIMENTAL, GENERAL};
use crate::settings::keys::server::SERVER;
use crate::settings::keys::words::{APPROVAL_MODES, AUDITED_ARGUMENTS, FSYNC_MODES, NAMINGS, SEARCH_MODES, only_words};

/// The keys of a settings file.
pub(crate) const TOP: &[Key] = &[
    Key::new("$schema", Shape::Text, "Where an editor finds the JSON Schema of this file."),
    Key::new("mcpServers", Shape::Servers(SERVER), "The servers, each under its name.").merged(Merge::ReplaceEntry),
    Key::section("mcp", MCP, "All servers together."),
    Key::section("tools", TOOLS, "All tools together."),
    Key::section("security", SECURITY, "What is let through."),
    Key::section("model", MODEL, "The model of a session."),
    Key::section("audit", AUDIT, "The record of all calls."),
    Key::section("runtime", RUNTIME, "What `toolgate up` keeps running. A folder has no say in it."),
    Key::new(
        "policyPaths",
        Shape::ListOrOne,
        "Policy files, or folders with them, in place of `policies` beside your settings. A folder has no say in it.",
    )
    .merged(Merge::Union),
    Key::new(
        "adminPolicyPaths",
        Shape::ListOrOne,
        "Policy files of the administrator, used when there are none in the system folder. Only for system settings.",
    )
    .merged(Merge::Union),
    Key::open_section("advanced", ADVANCED, "Variables from files."),
    Key::open_section("general", GENERAL, "How a session begins."),
    Key::section("admin", ADMIN, "What the administrator allows at all."),
    Key::open_section("context", CONTEXT, "What a session has in view."),
    Key::open_section("experimental", EXPERIMENTAL, "Switches of other clients.").accepted(),
    Key::new("hooks", Shape::Anything, "Programs that other clients run at certain moments.")
        .merged(Merge::Concat)
        .accepted(),
    Key::new("extensions", Shape::Anything, "What other clients remember about extensions.").accepted(),
];

/// The keys of `mcp`.
pub(crate) const MCP: &[Key] = &[
    Key::new("serverCommand", Shape::Text, "The command line of one more server, which is called `mcp`."),
    Key::new(
        "allowed",
        Shape::ListOrOne,
        "Only these servers: names, `*` for anything, upper and lower case alike. An empty list allows none.",
    )
    .preset(Preset::InWords("all"))
    .merged(Merge::Intersection),
    Key::new("excluded", Shape::ListOrOne, "Not these servers, written the same way. Wins over `mcp.allowed`.")
        .preset(Preset::InWords("none"))
        .merged(Merge::Union),
    Key::new(
        "connectLimit",
        Shape::within(1, CONNECT_LIMIT_MAX as u64, "servers"),
        "How many servers are being started at once.",
    )
    .preset(Preset::Number(CONNECT_LIMIT_COUNT as u64)),
    Key::new(
        "allowedApproves",
        Shape::Truth,
        "Whether tools of the servers in `mcp.allowed` run without asking. A folder has no say in it.",
    )
    .preset(Preset::Truth(false)),
    Key::new(
        "autoAllowInHeadless",
        Shape::Truth,
        "Whether tools of all servers run where nobody can be asked. A folder has no say in it.",
    )
    .preset(Preset::Truth(false)),
];

/// The keys of `tools`.
pub(crate) const TOOLS: &[Key] = &[
    Key::new(
        "naming",
        Shape::Word(&only_words(&NAMINGS)),
        "How tools are called: by their own name, or all of them `mcp_server_tool`.",
    )
    .preset(Preset::Word("short")),
    Key::new(
        "exclude",
        Shape::ListOrOne,
        "Tools that nobody sees, on any server: names, `*` for anything, `name(what its arguments begin with)` for some calls.",
    )
        .preset(Preset::InWords("none"))
        .merged(Merge::Union),
    Key::new(
        "truncateToolOutputThreshold",
        Shape::number("characters"),
        "How much text of one result a model gets. 0 or less: all of it.",
    )
    .preset(Preset::Number(RESULT_CHARS_MAX as u64)),
    Key::section("search", SEARCH, "Tools that a model finds by searching instead of having them all in view."),
    Key::new(
        "allowed",
        Shape::ListOrOne,
        "Tools that run without asking, written the same way. A folder has no say in it.",
    ),
    Key::new("confirmationRequired", Shape::ListOrOne, "Tools that always ask, written the same way."),
    Key::new("core", Shape::ListOrOne, "The only built-in tools there are; they run without asking. A folder has no say in it."),
    Key::new("approvalMode", Shape::Word(&APPROVAL_MODES), "The old place of `general.defaultApprovalMode`."),
    Key::new("discoveryCommand", Shape::Text, "Known to other clients: a program that lists tools.").accepted(),
    Key::new("callCommand", Shape::Text, "Known to other clients: a program that calls them.").accepted(),
];

/// The keys of `tools.search`.
pub(crate) const SEARCH: &[Key] = &[
    Key::new(
        "mode",
        Shape::Word(&only_words(&SEARCH_MODES)),
        "When a model searches for tools: above the threshold, always or never.",
    )
    .preset(Preset::Word("auto")),
    Key::new(
        "threshold",
        Shape::at_least(0, "tokens or tools"),
        "Above how much `auto` begins. From 1,000 on it is a number of tokens, below that of tools.",
    )
    .preset(Preset::InWords("10,000 tokens or 100 tools")),
    Key::new(
        "pinned",
        Shape::ListOrOne,
        "Tools that stay in view: as they are shown, by their own name, or `server__tool`.",
    )
    .preset(Preset::InWords("none")),
];

const MODEL: &[Key] = &[
    Key::new(
        "name",
        Shape::Text,
        "The model, such as `gemini-…`, `gpt-…`, `claude-…` or `ollama::…`. Without one a session is a tool shell.",
    ),
    Key::new(
        "baseUrl",
        Shape::Text,
        "The address of the provider, with the path of its version. A folder can name one on this machine only.",
    ),
    Key::new(
        "apiKey",
        Shape::Text,
        "The key of the provider; better a reference such as `${keychain:NAME}`. A folder has no say in it.",
    )
    .preset(Preset::InWords("the provider's usual variable")),
    Key::new("maxTurns", Shape::at_least(1, "turns"), "How often the model may go on by itself.")
        .preset(Preset::Number(50)),
];

const AUDIT: &[Key] = &[
    Key::new("arguments", Shape::Word(&AUDITED_ARGUMENTS), "How the arguments of calls are recorded.")
        .preset(Preset::Word("redacted")),
    Key::new("fsync", Shape::Word(&FSYNC_MODES), "When records are forced to the disk.")
        .preset(Preset::Word("interval")),
    Key::new(
        "alerts",
        Shape::Anything,
        "Limits for calls: a list of objects, see `docs/audit.md`. Ignored in a folder.",
    )
    .preset(Preset::InWords("none"))
    .merged(Merge::Concat),
    Key::new("onAlert", Shape::Text, "A command that receives each alert as JSON on stdin. Ignored in a folder."),
];

const RUNTIME: &[Key] =
    &[Key::new("idleMinutes", Shape::at_least(1, "minutes"), "How long they stay up without work.")
        .preset(Preset::Number(30))];
