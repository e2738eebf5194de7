//! The rules that follow from settings and flags. Pure.
//!
//! A workspace folder can restrict and not permit: what it permits is complained about and left out.

use std::sync::Arc;

use crate::filter::{ArgumentPattern, Entry, NamePattern};
use crate::policy::{
    Condition, Decision, Mode, Rule, RuleKind, RuleOrigin, ServerPattern, Target, splits_of, targets_of,
};
use crate::servers::{BUILT_IN_SERVERS, ServerSet};
use crate::settings::diagnostic::Severity;
use crate::settings::{Diagnostic, ListedEntry, Settings, SettingsOrigin, SettingsSource};

const EXCLUDED_SERVER: u16 = 900;
const EXCLUDED_TOOL: u16 = 200;
const CONFIRMATION_REQUIRED: u16 = 150;
const ALLOWED_TOOL: u16 = 100;
const CORE_TOOL: u16 = 95;
const NOT_CORE: u16 = 94;
const TRUSTED_SERVER: u16 = 90;
const ALLOWED_SERVER: u16 = 85;

/// The modes in which something that permits counts: all but the one that only looks.
const WORKING: [Mode; 3] = [Mode::Default, Mode::AutoEdit, Mode::Yolo];

/// What follows from settings and flags.
#[derive(Debug)]
pub(super) struct Derived<'s> {
    servers: &'s ServerSet,
    /// Whether the folder is trusted. `trust` of a server counts only in a trusted folder.
    is_trusted: bool,
    pub(super) rules: Vec<Rule>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Derives the rules. `is_trusted` is the trust in the folder; `allowed_tools` is the flag that replaces `tools.allowed`.
pub(super) fn derive<'s>(
    settings: &Settings,
    servers: &'s ServerSet,
    is_trusted: bool,
    allowed_tools: Option<&[String]>,
) -> Derived<'s> {
    let mut derived = Derived { servers, is_trusted, rules: Vec::new(), diagnostics: Vec::new() };
    derived.servers(settings);
    derived.restrictions(settings);
    derived.permissions(settings, allowed_tools);
    derived.core(settings);
    let unheard = ["tools.allowed", "tools.core", "mcp.allowedApproves", "mcp.autoAllowInHeadless", "policyPaths"];
    for key in unheard {
        derived.diagnostics.extend(settings.unheard(key).map(|origin| no_say(key, &origin)));
    }
    derived
}

impl Derived<'_> {
    fn servers(&mut self, settings: &Settings) {
        for layer in &settings.layers {
            for name in layer.settings.mcp.excluded.iter().flat_map(|list| &list.value) {
                let origin = layer.origin(name.at.line);
                let about = ServerPattern::Named(NamePattern::of(&name.value));
                self.rules.push(about_server(about, Decision::Deny, EXCLUDED_SERVER, named("mcp.excluded", &origin)));
            }
        }
        for server in self.servers.active.iter().filter(|server| server.trust) {
            if server.comes_with_folder() {
                self.diagnostics.push(no_say(&format!("mcpServers.{}.trust", server.name), &server.origin));
                continue;
            }
            if !self.is_trusted {
                continue;
            }
            let about = ServerPattern::Named(NamePattern::Exact(server.name.to_string()));
            let label = format!("`trust` of server `{}`", server.name);
            let rule = about_server(about, Decision::Allow, TRUSTED_SERVER, named(&label, &server.origin));
            self.rules.push(Rule { modes: WORKING.to_vec(), ..rule });
        }
        if settings.permitting_switch("mcp.allowedApproves") {
            for layer in settings.layers.iter().filter(|layer| !layer.is_of_workspace()) {
                let names = layer.settings.mcp.allowed.iter().flat_map(|list| &list.value);
                // The built-in server is always connected, so its name in the list permits nothing.
                let servers = self.servers;
                for name in names.filter(|name| !is_built_in(servers, &name.value)) {
                    let about = ServerPattern::Named(NamePattern::of(&name.value));
                    let origin = named("mcp.allowed", &layer.origin(name.at.line));
                    let rule = about_server(about, Decision::Allow, ALLOWED_SERVER, origin);
                    self.rules.push(Rule { modes: WORKING.to_vec(), ..rule });
                }
            }
        }
        if settings.permitting_switch("mcp.autoAllowInHeadless") {
            for server in self.servers.active.iter().filter(|server| server.transport.builtin().is_none()) {
                let about = ServerPattern::Named(NamePattern::Exact(server.name.to_string()));
                let origin = RuleOrigin { label: "mcp.autoAllowInHeadless".to_owned(), ..RuleOrigin::default() };
                let rule = about_server(about, Decision::Allow, ALLOWED_SERVER, origin);
                self.rules.push(Rule { modes: WORKING.to_vec(), interactive: Some(false), ..rule });
            }
        }
    }

    fn restrictions(&mut self, settings: &Settings) {
        for listed in settings.excluded_tools() {
            self.entry(&listed, "tools.exclude", Decision::Deny, EXCLUDED_TOOL);
        }
        for listed in settings.restricting_list("tools.confirmationRequired") {
            self.entry(&listed, "tools.confirmationRequired", Decision::Ask, CONFIRMATION_REQUIRED);
        }
    }

    fn permissions(&mut self, settings: &Settings, allowed_tools: Option<&[String]>) {
        let of_flag = allowed_tools.map(|entries| {
            let origin = SettingsOrigin { source: SettingsSource::CommandLine, path: None, line: None };
            let listed =
                |text: &String| ListedEntry { text: text.clone(), origin: origin.clone(), is_of_workspace: false };
            ("--allowed-tools", entries.iter().map(listed).collect())
        });
        let (list, entries) = of_flag.unwrap_or_else(|| ("tools.allowed", settings.permitting_list("tools.allowed")));
        for listed in entries {
            self.entry(&listed, list, Decision::Allow, ALLOWED_TOOL);
        }
    }

    /// `tools.core` names the built-in tools there are: those run, and the others do not exist.
    fn core(&mut self, settings: &Settings) {
        let entries = settings.permitting_list("tools.core");
        let Some(first) = entries.first() else { return };
        let origin = named("tools.core", &first.origin);
        for listed in &entries {
            let from = self.rules.len();
            self.entry(listed, "tools.core", Decision::Allow, CORE_TOOL);
            let mut built_in = Vec::new();
            for rule in self.rules.drain(from..) {
                built_in.extend(BUILT_IN_SERVERS.iter().map(|server| Rule {
                    server: ServerPattern::BuiltIn((*server).to_owned()),
                    modes: WORKING.to_vec(),
                    ..rule.clone()
                }));
            }
            self.rules.append(&mut built_in);
        }
        for server in BUILT_IN_SERVERS {
            let about = ServerPattern::BuiltIn((*server).to_owned());
            let rule = about_server(about, Decision::Deny, NOT_CORE, origin.clone());
            // Unlike other denials of the settings, this one is for what the list leaves out.
            self.rules.push(Rule { modes: WORKING.to_vec(), kind: RuleKind::Written, ..rule });
        }
    }

    /// The rules of one entry of a list. One that cannot be understood restricts everything that it could mean, and permits nothing.
    fn entry(&mut self, listed: &ListedEntry, list: &str, decision: Decision, priority: u16) {
        let (names, arguments) = match Entry::parse(&listed.text) {
            Ok(entry) => (vec![entry.name], entry.arguments),
            Err(error) => {
                let hint = "an entry is a name, `*` for anything, or `name(what its arguments begin with)`";
                self.diagnostics.push(complaint(&listed.origin, list, Severity::Error, error.to_string(), hint));
                if decision == Decision::Allow {
                    return;
                }
                (Entry::possible_names(&listed.text), None)
            }
        };
        let conditions = match arguments {
            None | Some(ArgumentPattern::Any) => Vec::new(),
            Some(pattern) => vec![Condition::Entry(pattern)],
        };
        for name in names.iter().map(ToString::to_string) {
            let mut targets = targets_of(&name, decision);
            if targets.is_empty() {
                targets = self.certain(&name, listed, list);
            }
            for Target { server, tool } in targets {
                let rule = about_server(server, decision, priority, named(list, &listed.origin));
                self.rules.push(Rule { tool, conditions: conditions.clone(), ..rule });
            }
        }
    }

    /// What a permission is about whose name could mean several tools: the one whose server there is.
    fn certain(&mut self, name: &str, listed: &ListedEntry, list: &str) -> Vec<Target> {
        let is_there = |target: &Target| match &target.server {
            ServerPattern::Named(pattern) => self.servers.active.iter().any(|server| pattern.matches(&server.name)),
            ServerPattern::Any | ServerPattern::BuiltIn(_) => false,
        };
        let found: Vec<Target> = splits_of(name).into_iter().filter(is_there).collect();
        if found.len() == 1 {
            return found;
        }
        let which = if found.is_empty() { "and no server of such a name is configured" } else { "of several servers" };
        let message = format!("`{name}` could mean several tools, {which}, so it permits nothing");
        let hint = "write `SERVER__TOOL`, or a rule in a policy file with `mcpName` and `toolName`";
        self.diagnostics.push(complaint(&listed.origin, list, Severity::Warning, message, hint));
        Vec::new()
    }
}

pub(super) fn about_server(server: ServerPattern, decision: Decision, priority: u16, origin: RuleOrigin) -> Rule {
    Rule { priority, kind: RuleKind::Settings, origin, ..Rule::about(server, NamePattern::Any, decision) }
}

fn is_built_in(servers: &ServerSet, name: &str) -> bool {
    let mut built_in = servers.active.iter().filter(|server| server.transport.builtin().is_some());
    built_in.any(|server| server.name.as_str().eq_ignore_ascii_case(name.trim()))
}

fn named(list: &str, origin: &SettingsOrigin) -> RuleOrigin {
    RuleOrigin { label: list.to_owned(), file: origin.path.clone().map(Arc::new), line: origin.line, name: None }
}

fn no_say(key: &str, origin: &SettingsOrigin) -> Diagnostic {
    let message = "a workspace folder has no say in this, so it does not count here".to_owned();
    let hint = "a folder can restrict and not permit; write it into your own settings";
    complaint(origin, key, Severity::Warning, message, hint)
}

fn complaint(origin: &SettingsOrigin, key: &str, severity: Severity, message: String, hint: &str) -> Diagnostic {
    Diagnostic {
        severity,
        origin: origin.clone(),
        column: None,
        server: None,
        key: Some(key.to_owned()),
        message,
        hint: Some(hint.to_owned()),
    }
}

#[cfg(test)]
#[path = "from_settings_tests.rs"]
mod tests;
