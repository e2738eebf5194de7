//! Calls that run a shell command: every simple command in it is decided on its own, and the strictest decision counts.
//!
//! The text as a whole can only restrict further. What a transparent wrapper runs decides, unless a rule about commands holds back the
//! wrapper itself. So a command is never easier to run because another one stands beside it.

use std::path::Path;

use serde_json::Value;

use super::decision::{Decision, Mode, Tier};
use super::evaluate::{Leeway, Policy, Weighing};
use super::facts::CallFacts;
use super::index::Candidates;
use super::spellings::Spellings;
use super::subject::{Subject, script_of, with_command};
use super::verdict::Verdict;
use super::walk::{Scope, Voice, Walk, Watch};
use crate::limits::SHELL_CALL_BYTES_MAX;
use crate::shell::{Risk, Script, SimpleCommand, Wrapping};

/// The tool whose `command` is a shell command, whoever offers it.
pub const SHELL_TOOL: &str = "run_shell_command";

/// What tools call the folder that a command runs in.
const FOLDER_KEYS: [&str; 10] = [
    "cwd",
    "directory",
    "dir",
    "dir_path",
    "workdir",
    "working_directory",
    "working_dir",
    "workingDirectory",
    "folder",
    "path",
];

/// Whether a call runs a shell command.
pub(super) fn is_shell_call(facts: &CallFacts<'_>) -> bool {
    facts.tool == SHELL_TOOL && facts.arguments.value().get("command").is_some()
}

/// What is decided about such a call.
pub(super) fn judge(policy: &Policy, facts: &CallFacts<'_>, watch: &mut dyn Watch) -> Verdict {
    let candidates = policy.candidates(&Spellings::new(facts.server, facts.tool));
    let mut judge = Judge { policy, candidates, facts, watch, leads_elsewhere: false };
    match facts.arguments.script() {
        Some(Ok(script)) if !script.commands.is_empty() => judge.script(script),
        Some(Err(unreadable)) => judge.unreadable(&unreadable.why),
        Some(Ok(_)) => judge.unreadable("there is no command in it"),
        None => judge.unreadable("`command` is no text"),
    }
}

struct Judge<'j, 'a> {
    policy: &'j Policy,
    candidates: Candidates<'j>,
    facts: &'j CallFacts<'a>,
    watch: &'j mut dyn Watch,
    /// Whether some command of the text may run in another folder than the one that was trusted.
    leads_elsewhere: bool,
}

impl<'j> Judge<'j, '_> {
    /// A text that cannot be taken apart is a question. What denies every command denies it too.
    fn unreadable(&mut self, why: &str) -> Verdict {
        let subject = Subject::call(self.facts);
        let weighing = self.weigh(self.walk(&subject), Leeway { unread: true, ..Leeway::default() });
        let mut verdict = weighing.verdict();
        if verdict.decision == Decision::Allow && self.facts.mode != Mode::Yolo && !weighing.leeway.unread {
            verdict.decision = Decision::Ask;
            verdict.adjustments.push(format!("the command cannot be taken apart: {why}"));
        }
        verdict
    }

    fn script(&mut self, script: &Script) -> Verdict {
        self.leads_elsewhere = self.starts_elsewhere() || script.commands.iter().any(SimpleCommand::leads_elsewhere);
        let given = self.facts.arguments;
        if bytes_of(given.value()).saturating_mul(script.commands.len()) > SHELL_CALL_BYTES_MAX {
            return self.unreadable("it has many commands, and large arguments beside them");
        }
        let values: Vec<_> = script.commands.iter().map(|it| with_command(given.value(), &it.text)).collect();
        let pairs = || values.iter().zip(&script.commands);
        let arguments: Vec<_> = pairs().map(|(value, command)| given.with_script(value, script_of(command))).collect();
        let is_wrapper = |command: &SimpleCommand| command.wrapping == Wrapping::Transparent;
        let subjects = arguments.iter().zip(&script.commands);
        let (mut wrappers, mut parts) = (Vec::new(), Vec::new());
        for (arguments, command) in subjects {
            let list = if is_wrapper(command) { &mut wrappers } else { &mut parts };
            list.push(Subject::command(self.facts, command, arguments));
        }
        // A wrapper that is not known to run anything is something by itself.
        if parts.is_empty() {
            parts = std::mem::take(&mut wrappers);
        }
        self.commands(&wrappers, &parts)
    }

    fn commands(&mut self, wrappers: &[Subject<'_>], parts: &[Subject<'_>]) -> Verdict {
        let has_several = parts.len() + wrappers.len() > 1;
        let mut strictest: Option<Weight> = None;
        for subject in parts.iter().chain(wrappers) {
            let Some(command) = subject.command else { continue };
            let weight = if has_several && command.wrapping == Wrapping::Transparent {
                self.held_back(subject, Scope::Wrapper)
            } else {
                Some(self.command(subject, command))
            };
            strictest = heavier(strictest, weight.map(|it| if has_several { it.naming(command) } else { it }));
        }
        let is_all =
            |subject: &Subject<'_>| subject.command.map(|it| it.text.as_str()) == self.facts.arguments.command();
        if has_several || !parts.iter().all(is_all) {
            strictest = heavier(strictest, self.held_back(&Subject::call(self.facts), Scope::Whole(parts)));
        }
        match strictest {
            Some(weight) => weight.verdict,
            None => self.unreadable("there is no command in it"),
        }
    }

    /// One simple command that is something by itself.
    fn command(&mut self, subject: &Subject<'_>, command: &SimpleCommand) -> Weight {
        let concern = self.concern(command);
        let is_of_concern = concern.is_some();
        let is_redirected = command.is_redirected && self.facts.mode < Mode::AutoEdit;
        let weighing = self
            .weigh(self.walk(subject), Leeway { risk: concern.is_some(), redirection: is_redirected, unread: false });
        let mut verdict = weighing.verdict();
        if let Some(concern) = concern.filter(|_| !weighing.leeway.risk) {
            if verdict.decision == Decision::Allow {
                verdict.decision = Decision::Ask;
                verdict.adjustments.push(concern);
            }
        } else if self.facts.builtin.is_some() && is_milder_when_safe(&weighing) && self.only_looks(command) {
            verdict.decision = Decision::Allow;
            verdict.adjustments.push(format!("`{}` is known to look only", command.text));
        }
        if verdict.decision == Decision::Allow && is_redirected && !weighing.leeway.redirection {
            verdict.decision = Decision::Ask;
            verdict.adjustments.push("its input or output is redirected".to_owned());
        }
        Weight { verdict, is_of_concern }
    }

    /// What stands around simple commands, as far as a rule that speaks of it holds it back.
    fn held_back(&mut self, subject: &Subject<'_>, scope: Scope<'_, '_>) -> Option<Weight> {
        let weighing = self.weigh(self.walk(subject).within(scope), Leeway::default());
        let holds_back = match weighing.because {
            Voice::Rule(_) | Voice::Unsure(_) => weighing.decision != Decision::Allow,
            Voice::Remembered(_) | Voice::Nothing => false,
        };
        holds_back.then(|| Weight { verdict: weighing.verdict(), is_of_concern: false })
    }

    /// Whether the call says that the command runs in another folder.
    fn starts_elsewhere(&self) -> bool {
        let is_elsewhere = |value: &Value| match value {
            Value::Null => false,
            Value::String(text) => !matches!(text.as_str(), "" | "." | "./") && Path::new(text) != self.facts.folder,
            _ => true,
        };
        FOLDER_KEYS.iter().filter_map(|key| self.facts.arguments.value().get(key)).any(is_elsewhere)
    }

    /// Whether a command only looks, and only into the folder and those beside it.
    fn only_looks(&self, command: &SimpleCommand) -> bool {
        let CallFacts { arguments, folder, .. } = self.facts;
        !arguments.leads_out() && command.risk() == Risk::KnownSafe && command.stays_in(folder, arguments.included())
    }

    /// Why a command needs a rule that speaks of it in particular.
    fn concern(&self, command: &SimpleCommand) -> Option<String> {
        if command.is_git() && !self.facts.folder_is_trusted {
            return Some("in a folder that is not trusted, `git` may run what the folder says".to_owned());
        }
        let is_elsewhere = command.is_git() && (self.leads_elsewhere || command.is_git_elsewhere());
        if is_elsewhere && self.facts.mode != Mode::Yolo {
            return Some("in another folder than the trusted one, `git` may run what that folder says".to_owned());
        }
        match command.risk() {
            Risk::Dangerous(why) if self.facts.mode != Mode::Yolo => Some(format!("`{}`: {why}", command.text)),
            Risk::Dangerous(_) | Risk::KnownSafe | Risk::Unremarkable => None,
        }
    }

    fn walk<'s, 'a>(&self, subject: &'s Subject<'a>) -> Walk<'j, 's, 'a> {
        self.policy.walk(self.candidates.clone(), subject)
    }

    fn weigh<'a>(&mut self, walk: Walk<'j, '_, 'a>, wanted: Leeway) -> Weighing<'j, 'a> {
        Policy::weigh(walk, wanted, self.watch)
    }
}

/// Whether a command that only looks needs no question: when nothing that is written asks one.
fn is_milder_when_safe(weighing: &Weighing<'_, '_>) -> bool {
    weighing.decision == Decision::Ask
        && match weighing.because {
            Voice::Rule(rule) => rule.tier == Tier::Default && !rule.speaks_of_arguments(),
            Voice::Nothing => true,
            Voice::Unsure(_) | Voice::Remembered(_) => false,
        }
}

/// What one part of a command says, and whether it is a part to be named before others that say the same.
struct Weight {
    verdict: Verdict,
    is_of_concern: bool,
}

impl Weight {
    /// Says which part of a command it is about, when it holds the whole back.
    fn naming(mut self, command: &SimpleCommand) -> Self {
        if self.verdict.decision != Decision::Allow {
            self.verdict.adjustments.push(format!("the part that decides is `{}`", command.text));
        }
        self
    }
}

/// About how much memory a value takes, without the command in it.
fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            members.iter().filter(|(key, _)| *key != "command").map(|(key, value)| key.len() + bytes_of(value)).sum()
        }
        Value::Array(elements) => elements.iter().map(bytes_of).sum(),
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => size_of::<Value>(),
    }
}

/// The stricter of two, or the more worrying; the first, when they are alike.
fn heavier(one: Option<Weight>, other: Option<Weight>) -> Option<Weight> {
    let key = |weight: &Weight| (weight.verdict.decision, weight.is_of_concern);
    match (one, other) {
        (Some(one), Some(other)) => Some(if key(&other) > key(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}
