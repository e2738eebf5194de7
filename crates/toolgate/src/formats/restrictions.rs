//! `Restrictions`: restrictions in a settings file of Gemini CLI. They must be imported together with its servers.

use crate::servers::built_in_tool;
use crate::settings::SettingsLayer;
use crate::settings::diagnostic::{Diagnostic, Severity};
use crate::settings::raw::{RawList, RawValue};

/// Settings keys that restrict, without the switches.
const LISTS: [&str; 5] = ["tools.exclude", "tools.confirmationRequired", "tools.core", "mcp.allowed", "mcp.excluded"];

/// The tool whose entries can name a command.
const SHELL_TOOL: &str = "run_shell_command";

/// Switches that restrict when they are on.
const SWITCHES: [&str; 3] = ["security.disableYoloMode", "security.disableAlwaysAllow", "admin.secureModeEnabled"];

/// Restricting keys of old versions, each with the key that has its meaning now.
const OUTDATED: [(&str, &str); 4] = [
    ("excludeTools", "tools.exclude"),
    ("coreTools", "tools.core"),
    ("allowMCPServers", "mcp.allowed"),
    ("excludeMCPServers", "mcp.excluded"),
];

/// The keys of the mode that a session begins with, and the mode that restricts.
const MODES: [&str; 2] = ["general.defaultApprovalMode", "tools.approvalMode"];
const RESTRICTING_MODE: &str = "plan";

/// Restrictions in a settings file of Gemini CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// `tools.exclude`.
    pub excluded_tools: Vec<String>,
    /// `tools.confirmationRequired`.
    pub confirmation_required: Vec<String>,
    /// `tools.core`; an empty list leaves no tool.
    pub core_tools: Option<Vec<String>>,
    /// `tools.allowed`. It restricts too: one shell command in it denies all others.
    pub allowed_tools: Vec<String>,
    /// `mcp.allowed`; an empty list leaves no server.
    pub allowed_servers: Option<Vec<String>>,
    /// `mcp.excluded`.
    pub excluded_servers: Vec<String>,
    /// Switches that are on, such as `security.disableYoloMode`.
    pub switches: Vec<&'static str>,
    /// Whether `admin.mcp.enabled` is false: no server is used.
    pub is_without_servers: bool,
    /// Whether a session begins in the mode `plan`.
    pub begins_in_plan: bool,
    /// Keys of old versions, each with its name of today.
    pub outdated: Vec<(&'static str, &'static str)>,
    /// Whether `policyPaths` replaces the policies beside the settings.
    pub names_policies: bool,
    /// Restricting keys with invalid values.
    pub unreadable: Vec<String>,
}

impl Restrictions {
    /// Whether there are no restrictions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { allowed_tools: self.allowed_tools.clone(), ..Self::default() } && !self.narrows_the_shell()
    }

    /// Whether `tools.allowed` names single shell commands.
    #[must_use]
    pub fn narrows_the_shell(&self) -> bool {
        self.allowed_tools.iter().any(|entry| shell_command(entry).is_some())
    }

    pub(super) fn of(layer: &SettingsLayer) -> Self {
        let listed = |key: &str| layer.entries(key).map(|all| all.into_iter().map(|one| one.text).collect::<Vec<_>>());
        let raw = |list: &Option<RawList>| {
            list.as_ref().map(|list| list.value.iter().map(|one| one.value.clone()).collect::<Vec<_>>())
        };
        let is_on = |key: &&str| layer.kept(key).is_some_and(|value| matches!(value.value, RawValue::Bool(true)));
        let is_meant = |one: &&Diagnostic| {
            let restricts = |key: &str| LISTS.iter().chain(&SWITCHES).any(|known| key.starts_with(known));
            one.severity == Severity::Error && one.key.as_deref().is_some_and(restricts)
        };
        let is_off = |key: &str| layer.kept(key).is_some_and(|value| matches!(value.value, RawValue::Bool(false)));
        let word = |key: &&str| match &layer.kept(key)?.value {
            RawValue::Text(text) => Some(text.as_str()),
            _ => None,
        };
        // An unknown key leaves nothing but a finding.
        let is_unknown = |key: &str| layer.diagnostics.iter().any(|one| one.key.as_deref() == Some(key));
        let unreadable = layer.diagnostics.iter().filter(is_meant).filter_map(|one| one.key.clone()).collect();
        Self {
            excluded_tools: raw(&layer.settings.tools.exclude).unwrap_or_default(),
            confirmation_required: listed("tools.confirmationRequired").unwrap_or_default(),
            core_tools: listed("tools.core"),
            allowed_tools: listed("tools.allowed").unwrap_or_default(),
            allowed_servers: raw(&layer.settings.mcp.allowed),
            excluded_servers: raw(&layer.settings.mcp.excluded).unwrap_or_default(),
            switches: SWITCHES.into_iter().filter(is_on).collect(),
            is_without_servers: is_off("admin.mcp.enabled"),
            begins_in_plan: MODES.iter().find_map(word) == Some(RESTRICTING_MODE),
            outdated: OUTDATED.into_iter().filter(|(key, _)| is_unknown(key)).collect(),
            names_policies: listed("policyPaths").is_some_and(|paths| !paths.is_empty()),
            unreadable,
        }
    }
}

/// The command of an entry such as `run_shell_command(git status)`.
#[must_use]
pub fn shell_command(entry: &str) -> Option<&str> {
    let (name, inside) = entry.split_once('(')?;
    let is_shell = built_in_tool(name) == Some(SHELL_TOOL);
    is_shell.then_some(inside)?.strip_suffix(')')
}
