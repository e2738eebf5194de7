//! The examples of the page on policies: every policy on it is read without a finding, and every call below one says what it means.

use std::path::Path;

use serde_json::Value;
use toolgate::filter::Arguments;
use toolgate::policy::file::{FileSource, lint, parse};
use toolgate::policy::{CallFacts, Decision, Mode, Policy, Presence, Remembered, Rule, Tier, default_rules};
use toolgate::{Asker, ServerName};

const PAGE: &str = include_str!("../../../../docs/policy.md");

/// A part of the page below one heading: the rules of its policies, and calls with the line they stand on.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) rules: Vec<Rule>,
    pub(crate) calls: Vec<(usize, ExampleCall)>,
}

/// `DECISION SERVER TOOL ARGUMENTS -- FLAGS`
#[derive(Debug)]
pub(crate) struct ExampleCall {
    pub(crate) decision: Decision,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) annotations: Value,
    pub(crate) mode: Mode,
    pub(crate) asker: Asker,
    pub(crate) is_headless: bool,
    pub(crate) is_granted: bool,
}

impl ExampleCall {
    pub(crate) fn read(line: &str) -> Self {
        let (call, flags) = line.split_once(" -- ").unwrap_or((line, ""));
        let mut words = call.splitn(2, char::is_whitespace);
        let decision = words.next().and_then(Decision::of).unwrap_or_else(|| panic!("{line}: no decision"));
        let (names, arguments) =
            words.next().and_then(|rest| rest.split_once('{')).unwrap_or_else(|| panic!("{line}: no arguments"));
        let [server, tool] = names.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}: no server and tool")
        };
        let arguments =
            serde_json::from_str(&format!("{{{arguments}")).unwrap_or_else(|error| panic!("{line}: {error}"));
        let mut read = Self {
            decision,
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments,
            annotations: Value::Null,
            mode: Mode::Default,
            asker: Asker::Model,
            is_headless: false,
            is_granted: false,
        };
        flags.split_whitespace().for_each(|flag| read.flag(flag));
        read
    }

    fn flag(&mut self, flag: &str) {
        let asker = |word: &str| Asker::ALL.into_iter().find(|asker| asker.as_str() == word);
        match flag.split_once('=') {
            Some(("annotations", json)) => self.annotations = serde_json::from_str(json).unwrap(),
            Some(("asker", word)) => self.asker = asker(word).unwrap(),
            None if flag == "headless" => self.is_headless = true,
            None if flag == "granted" => self.is_granted = true,
            _ => self.mode = Mode::of(flag).unwrap_or_else(|| panic!("{flag} is no flag")),
        }
    }
}

/// The page, taken apart. A policy is of the user tier unless the line above it says otherwise.
pub(crate) fn sections() -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut fence: Option<(usize, &str, String)> = None;
    for (index, line) in PAGE.lines().enumerate() {
        match (line.strip_prefix("```"), &mut fence) {
            (Some(info), None) => fence = Some((index + 1, info, String::new())),
            (Some(_), open @ Some(_)) => {
                let (at, info, text) = open.take().unwrap();
                add(sections.last_mut().unwrap(), at, info, &text);
            }
            (None, Some((_, _, text))) => *text += &format!("{line}\n"),
            // Examples that follow one another without calls between them belong together.
            (None, None) if line.starts_with('#') => sections.push(Section::default()),
            (None, None) if !line.is_empty() && sections.last().is_some_and(|last| !last.calls.is_empty()) => {
                sections.push(Section::default());
            }
            (None, None) => {}
        }
    }
    assert!(fence.is_none(), "a block is not closed");
    sections
}

fn add(section: &mut Section, at: usize, info: &str, text: &str) {
    match info.split_whitespace().collect::<Vec<_>>()[..] {
        ["toml", ref tier @ ..] => {
            let tier = tier
                .first()
                .map_or(Tier::User, |word| Tier::ALL.into_iter().find(|tier| tier.as_str() == *word).unwrap());
            let parsed = parse(text, &FileSource::new(tier, Path::new("policy.md")));
            assert_eq!(parsed.findings, [], "the policy on line {at}");
            assert!(!parsed.rules.is_empty() || !parsed.checkers.is_empty(), "the policy on line {at} says nothing");
            section.rules.extend(parsed.rules);
        }
        ["calls"] => {
            let lines = text.lines().enumerate().map(|(index, line)| (at + index + 1, ExampleCall::read(line)));
            section.calls.extend(lines);
        }
        _ => panic!("line {at}: what is a block of `{info}`?"),
    }
}

#[test]
fn every_policy_on_the_page_is_without_fault() {
    let sections = sections();
    for section in &sections {
        assert_eq!(lint(&section.rules), []);
        assert_eq!(section.rules.is_empty(), section.calls.is_empty(), "{section:?}");
    }
    let calls: usize = sections.iter().map(|section| section.calls.len()).sum();
    assert!(calls >= 60, "{calls} calls");
}

#[test]
fn every_call_on_the_page_is_decided_as_it_says() {
    for section in sections() {
        let policy = Policy::new(default_rules().into_iter().chain(section.rules).collect());
        for (line, call) in section.calls {
            let server = ServerName::new(&call.server).unwrap();
            let grant = Remembered { grant: "example", is_for_these_arguments: false };
            let folder = Path::new("/home/me/project");
            let verdict = policy.decide(&CallFacts {
                server: &server,
                builtin: (call.server == "workspace").then_some("workspace"),
                tool: &call.tool,
                arguments: &Arguments::new(&call.arguments).in_folder(folder),
                annotations: &call.annotations,
                mode: call.mode,
                presence: if call.is_headless { Presence::Headless } else { Presence::Interactive },
                asker: call.asker,
                subagent: None,
                folder,
                folder_is_trusted: true,
                remembered: call.is_granted.then_some(grant),
            });
            assert_eq!(verdict.decision, call.decision, "line {line}: {verdict}");
        }
    }
}
