//! Sections that other clients keep many keys in. The few that are documented are checked; the others are left alone.

use crate::settings::keys::key::{Key, Merge, Preset, Shape};
use crate::settings::keys::words::APPROVAL_MODES;

/// Variables that are not taken from the `.env` file of a project unless the settings say otherwise: they would turn on the debug output
/// of whatever reads them.
pub(crate) const EXCLUDED_ENV_VARS: &[&str] = &["DEBUG", "DEBUG_MODE"];

/// The keys of `advanced`.
pub(crate) const ADVANCED: &[Key] = &[
    Key::new("ignoreLocalEnv", Shape::Truth, "Whether `.env` files of projects are left unread.")
        .preset(Preset::Truth(false)),
    Key::new("excludedEnvVars", Shape::ListOrOne, "Variables that are not taken from the `.env` files of projects.")
        .preset(Preset::Texts(EXCLUDED_ENV_VARS))
        .merged(Merge::Union),
];

/// The keys of `general`.
pub(crate) const GENERAL: &[Key] = &[
    Key::new(
        "defaultApprovalMode",
        Shape::Word(&APPROVAL_MODES),
        "What is asked about when a session begins. The mode that asks nothing is only for the command line.",
    )
    .preset(Preset::Word("default")),
    Key::open_section("plan", PLAN, "The mode that changes nothing."),
];

const PLAN: &[Key] = &[Key::new("enabled", Shape::Truth, "Whether there is such a mode.").preset(Preset::Truth(true))];

/// The keys of `context`.
pub(crate) const CONTEXT: &[Key] =
    &[Key::new(
        "includeDirectories",
        Shape::ListOrOne,
        "Folders beside the workspace: for the built-in tools, for `allowed-path`, and as roots of servers. Not in a folder's settings.",
    )
    .merged(Merge::Concat)];

/// The keys of `experimental`.
pub(crate) const EXPERIMENTAL: &[Key] = &[
    Key::new("extensionConfig", Shape::Truth, "Whether extensions have settings.")
        .preset(Preset::Truth(true))
        .accepted(),
    Key::new("extensionReloading", Shape::Truth, "Whether extensions come and go during a session.")
        .preset(Preset::Truth(false))
        .accepted(),
];
