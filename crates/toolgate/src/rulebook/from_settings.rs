//! The rules that follow from settings and flags. Pure.
//!
//! A workspace folder can restrict and not permit: what it permits is complained about and left out.

use std::sync::Arc;

use crate::filter::{ArgumentPattern, Entry, NamePattern};
use crate::policy::{
    Condition, Decision, Mode, Rule, RuleKind, RuleOrigin, ServerPattern, Target, Tier, pattern_of, targets_of,
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
#[derive(Debug, Default)]
pub(super) struct Derived {
    pub(super) rules: Vec<Rule>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Derives the rules. `allowed_tools` is the flag that stands in place of `tools.allowed`.
pub(super) fn derive(settings: &Settings, servers: &ServerSet, allowed_tools: Option<&[String]>) -> Derived {
    let mut derived = Derived::default();
    derived.servers(settings, servers);
    derived.restrictions(settings);
    derived.permissions(settings, allowed_tools);
    derived.core(settings);
    let unheard = ["tools.allowed", "tools.core", "mcp.allowedApproves", "mcp.autoAllowInHeadless", "policyPaths"];
    for key in unheard {
        derived.diagnostics.extend(settings.unheard(key).map(|origin| no_say(key, &origin)));
    }
    derived
}

impl Derived {
    fn servers(&mut self, settings: &Settings, servers: &ServerSet) {
        for layer in &settings.layers {
            for name in layer.settings.mcp.excluded.iter().flat_map(|list| &list.value) {
                let origin = layer.origin(name.at.line);
                let about = ServerPattern::Named(pattern_of(&name.value));
                self.rules.push(about_server(about, Decision::Deny, EXCLUDED_SERVER, named("mcp.excluded", &origin)));
            }
        }
        for server in servers.active.iter().filter(|server| server.trust) {
            let about = ServerPattern::Named(NamePattern::Exact(server.name.to_string()));
            let label = format!("`trust` of server `{}`", server.name);
            let rule = about_server(about, Decision::Allow, TRUSTED_SERVER, named(&label, &server.origin));
            self.rules.push(Rule { modes: WORKING.to_vec(), ..rule });
        }
        if settings.permitting_switch("mcp.allowedApproves") {
            for layer in settings.layers.iter().filter(|layer| !layer.is_of_workspace()) {
                for name in layer.settings.mcp.allowed.iter().flat_map(|list| &list.value) {
                    let about = ServerPattern::Named(pattern_of(&name.value));
                    let origin = named("mcp.allowed", &layer.origin(name.at.line));
                    let rule = about_server(about, Decision::Allow, ALLOWED_SERVER, origin);
                    self.rules.push(Rule { modes: WORKING.to_vec(), ..rule });
                }
            }
        }
        if settings.permitting_switch("mcp.autoAllowInHeadless") {
            for server in &servers.active {
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
        let (name, arguments) = match Entry::parse(&listed.text) {
            Ok(entry) => (entry.name, entry.arguments),
            Err(error) => {
                let hint = "an entry is a name, `*` for anything, or `name(what its arguments begin with)`";
                self.diagnostics.push(complaint(&listed.origin, list, Severity::Error, error.to_string(), hint));
                if decision == Decision::Allow {
                    return;
                }
                let name = listed.text.split('(').next().unwrap_or_default().trim();
                (pattern_of(&format!("{name}*")), None)
            }
        };
        let conditions = match arguments {
            None | Some(ArgumentPattern::Any) => Vec::new(),
            Some(pattern) => vec![Condition::Entry(pattern)],
        };
        for Target { server, tool } in targets_of(&name.to_string(), decision) {
            let mut rule = about_server(server, decision, priority, named(list, &listed.origin));
            rule.tool = tool;
            rule.conditions.clone_from(&conditions);
            self.rules.push(rule);
        }
    }
}

pub(super) fn about_server(server: ServerPattern, decision: Decision, priority: u16, origin: RuleOrigin) -> Rule {
    Rule {
        server,
        tool: NamePattern::Any,
        conditions: Vec::new(),
        modes: Vec::new(),
        interactive: None,
        askers: Vec::new(),
        subagent: None,
        decision,
        allows_redirection: false,
        deny_message: None,
        tier: Tier::User,
        priority,
        kind: RuleKind::Settings,
        origin,
    }
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
