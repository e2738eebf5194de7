//! Rules and calls in one line each, for tests.
//!
//! A rule is `u100 deny server/tool word…`: a letter for its tier (`d`, `e`, `w`, `u`, `a`, `r`; with `!` it follows from the settings), its priority,
//! its decision, whose tool (`@name` is a built-in server) and conditions. A call is `flag… server/tool {json}`, or `flag… $ command` for a
//! command of the built-in server, or `flag… box$ command` for one of another server.

use std::path::Path;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Value, json};

use super::when::{Pointer, Test, When};
use super::{
    CallFacts, Condition, Decision, Mode, Presence, Remembered, Rule, RuleKind, RuleOrigin, ServerPattern, Tier,
};
use crate::asker::Asker;
use crate::filter::{ArgumentPattern, Arguments, NamePattern};
use crate::server_name::ServerName;

/// What toolgate brings, as far as tests need it.
pub(super) const DEFAULTS: &str = "d50 allow @workspace/read_file ; d50 allow @workspace/list_directory ; \
    d50 allow @workspace/glob ; d50 allow @workspace/search_file_content ; d10 ask @workspace/write_file ; \
    d10 ask @workspace/replace ; d10 ask @workspace/run_shell_command ; d15 allow @workspace/write_file modes=autoEdit ; \
    d15 allow @workspace/replace modes=autoEdit ; d40 deny */* modes=plan ; \
    d45 ask */* modes=plan interactive=true read-only ; d998 allow */* modes=yolo redirection";

/// Rules, with ` ; ` between them; `defaults` stands for [`DEFAULTS`].
pub(super) fn rules(text: &str) -> Vec<Rule> {
    let one = |text: &str| match text {
        "" => Vec::new(),
        "defaults" => rules(DEFAULTS),
        text => vec![rule(text)],
    };
    text.split(" ; ").map(str::trim).flat_map(one).collect()
}

/// One rule.
pub(super) fn rule(text: &str) -> Rule {
    let words = shlex::split(text).unwrap_or_else(|| panic!("quotes in {text}"));
    let [place, decision, target, more @ ..] = words.as_slice() else { panic!("too short: {text}") };
    let (tier, priority) = place.split_at(1);
    let (kind, priority) = match priority.strip_prefix('!') {
        Some(priority) => (RuleKind::Settings, priority),
        None => (RuleKind::Written, priority),
    };
    let (server, tool) = target.split_once('/').unwrap_or_else(|| panic!("no server in {text}"));
    let server = match server.strip_prefix('@') {
        Some(builtin) => ServerPattern::BuiltIn(builtin.to_owned()),
        None if server == "*" => ServerPattern::Any,
        None => ServerPattern::Named(NamePattern::of(server)),
    };
    let decision = Decision::of(decision).unwrap_or_else(|| panic!("no decision in {text}"));
    let mut rule = Rule {
        tier: Tier::ALL.into_iter().find(|it| it.as_str().starts_with(tier)).unwrap(),
        priority: priority.parse().unwrap_or_else(|_| panic!("no priority in {text}")),
        kind,
        origin: RuleOrigin { label: place.clone(), ..RuleOrigin::default() },
        ..Rule::about(server, NamePattern::of(tool), decision)
    };
    for word in more {
        condition(&mut rule, word);
    }
    rule
}

fn condition(rule: &mut Rule, word: &str) {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let regex = || Regex::new(value).unwrap_or_else(|error| panic!("{error}"));
    let list = || value.split(',');
    match key {
        "prefix" => rule.conditions.push(Condition::CommandPrefix(value.split('|').map(str::to_owned).collect())),
        "regex" => rule.conditions.push(Condition::CommandRegex(regex())),
        "args" => rule.conditions.push(Condition::ArgsPattern(regex())),
        "command" => {
            let (pointer, tests) = (Pointer::new("/command").unwrap(), vec![Test::Matches(regex())]);
            rule.conditions.push(Condition::When(Arc::new(When::Argument { pointer, tests })));
        }
        "entry" => rule.conditions.push(Condition::Entry(ArgumentPattern::parse(value).unwrap())),
        "read-only" => {
            rule.conditions.push(Condition::Annotations(vec![("readOnlyHint".to_owned(), Value::Bool(true))]));
        }
        "annotation" => {
            let (key, value) = value.split_once(':').unwrap();
            let value = serde_json::from_str(value).unwrap();
            rule.conditions.push(Condition::Annotations(vec![(key.to_owned(), value)]));
        }
        "modes" => rule.modes = list().map(|mode| Mode::of(mode).unwrap()).collect(),
        "interactive" => rule.interactive = Some(value == "true"),
        "askers" => rule.askers = list().map(asker).collect(),
        "subagent" => rule.subagent = Some(value.to_owned()),
        "redirection" => rule.allows_redirection = true,
        other => panic!("no such condition: {other}"),
    }
}

fn asker(word: &str) -> Asker {
    Asker::ALL.into_iter().find(|asker| asker.as_str() == word).unwrap_or_else(|| panic!("no asker {word}"))
}

/// A call, which owns what its facts borrow.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) server: ServerName,
    pub(super) builtin: Option<&'static str>,
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) annotations: Value,
    pub(super) mode: Mode,
    pub(super) presence: Presence,
    pub(super) asker: Asker,
    pub(super) subagent: Option<String>,
    pub(super) folder_is_trusted: bool,
    pub(super) remembered: Option<Remembered<'static>>,
}

impl Call {
    /// Hands its facts to `look`.
    pub(super) fn with_facts<T>(&self, look: impl FnOnce(&CallFacts<'_>) -> T) -> T {
        let arguments = Arguments::new(&self.arguments);
        look(&CallFacts {
            server: &self.server,
            builtin: self.builtin,
            tool: &self.tool,
            arguments: &arguments,
            annotations: &self.annotations,
            mode: self.mode,
            presence: self.presence,
            asker: self.asker,
            subagent: self.subagent.as_deref(),
            folder: Path::new("/work"),
            folder_is_trusted: self.folder_is_trusted,
            remembered: self.remembered,
        })
    }

    /// The same with another command.
    pub(super) fn running(&self, command: &str) -> Self {
        Self { arguments: json!({ "command": command }), ..self.clone() }
    }
}

/// A call.
pub(super) fn call(text: &str) -> Call {
    let mut call = Call {
        server: ServerName::new("workspace").unwrap(),
        builtin: Some("workspace"),
        tool: "run_shell_command".to_owned(),
        arguments: json!({}),
        annotations: Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder_is_trusted: true,
        remembered: None,
    };
    let mut rest = text.trim();
    loop {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after.trim();
        if word == "$" {
            return call.running(rest);
        }
        if let Some(server) = word.strip_suffix('$') {
            return Call { server: ServerName::new(server).unwrap(), builtin: None, ..call.running(rest) };
        }
        if let Some((server, tool)) = word.split_once('/') {
            call.builtin = server.starts_with('@').then_some("workspace");
            // A blank cannot be written in a line of words.
            call.server = ServerName::new(&server.trim_start_matches('@').replace('·', " ")).unwrap();
            call.tool = tool.replace('·', " ");
            if !rest.is_empty() {
                call.arguments = serde_json::from_str(rest).unwrap_or_else(|error| panic!("{rest}: {error}"));
            }
            return call;
        }
        flag(&mut call, word);
    }
}

fn flag(call: &mut Call, word: &str) {
    match word {
        "headless" => call.presence = Presence::Headless,
        "untrusted" => call.folder_is_trusted = false,
        "read-only" => call.annotations = json!({ "readOnlyHint": true }),
        "granted" => call.remembered = Some(Remembered { grant: "g1", is_for_these_arguments: false }),
        "granted-exactly" => call.remembered = Some(Remembered { grant: "g1", is_for_these_arguments: true }),
        word => match word.split_once('=') {
            Some(("by", who)) => call.asker = asker(who),
            Some(("subagent", who)) => call.subagent = Some(who.to_owned()),
            Some(("says", json)) => call.annotations = serde_json::from_str(json).unwrap(),
            _ => call.mode = Mode::of(word).unwrap_or_else(|| panic!("no such flag: {word}")),
        },
    }
}
