//! Shell commands that were allowed: each as it was written. What many of them begin with is proposed only where it says what is run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::toml_text::{pointer, quoted, value};
use super::{Conditions, Proposal};
use crate::limits::{SUGGESTED_FOLDER_VALUES_MAX, SUGGESTED_VALUES_MAX};
use crate::shell::{self, Risk, SimpleCommand, Wrapping};

/// Arguments of a call beside its command that change nothing about what is run.
const HARMLESS: [&str; 2] = ["timeout", "description"];

/// The argument that says where it is run.
const FOLDER: &str = "cwd";

/// Programs that run what their arguments say, or that do something else with one more option: a beginning says too little about them.
const ANYTHING: [&str; 58] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "yash",
    "rbash",
    "busybox",
    "python",
    "python2",
    "python3",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "tclsh",
    "rscript",
    "julia",
    "ghci",
    "osascript",
    "powershell",
    "pwsh",
    "eval",
    "exec",
    "source",
    "env",
    "xargs",
    "find",
    "fd",
    "parallel",
    "ssh",
    "sudo",
    "doas",
    "su",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "uvx",
    "pipx",
    "git",
    "rm",
    "tar",
    "rsync",
    "curl",
];

/// What was run, under which other arguments.
type Groups<'a> = BTreeMap<String, Group<'a>>;

#[derive(Default)]
struct Group<'a> {
    others: BTreeMap<&'a str, &'a Value>,
    /// By program: the commands, each with how often it was run.
    by_program: BTreeMap<String, BTreeMap<String, (SimpleCommand, usize)>>,
}

/// What is proposed for these calls.
pub(super) fn proposals(calls: &[&Map<String, Value>]) -> Vec<Proposal> {
    let mut groups: Groups<'_> = BTreeMap::new();
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls {
        let others: BTreeMap<&str, &Value> = call
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| *name != "command" && !HARMLESS.contains(name))
            .collect();
        match parts(call.get("command")) {
            Ok(parts) => {
                let id = format!("{others:?}");
                let group = groups.entry(id).or_insert_with(|| Group { others, ..Group::default() });
                parts.into_iter().for_each(|part| group.add(part));
            }
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    let mut proposals: Vec<Proposal> = groups.into_values().flat_map(|group| group.proposals()).collect();
    proposals.extend(left_out.into_iter().map(|(why, calls)| Proposal { calls, conditions: Err(why) }));
    proposals
}

/// The commands of a call that a rule can speak of; rules see each of them alone.
fn parts(command: Option<&Value>) -> Result<Vec<SimpleCommand>, String> {
    let text = command.and_then(Value::as_str).ok_or("its command is no text")?;
    let script =
        shell::read(text).map_err(|unreadable| format!("a command that cannot be taken apart ({unreadable})"))?;
    let is_alone = script.commands.len() == 1;
    let parts: Vec<SimpleCommand> =
        script.commands.into_iter().filter(|part| is_alone || part.wrapping != Wrapping::Transparent).collect();
    for part in &parts {
        let shown = &part.text;
        if part.is_redirected {
            return Err(format!("`{shown}` is redirected, which stays a question"));
        }
        if part.words.is_empty() || part.words.iter().any(|word| word.literal.is_none()) {
            return Err(format!("what `{shown}` does depends on more than its text"));
        }
        // Another folder in front of it would make it another command, and rules see each command alone.
        if let Risk::Dangerous(why) = part.risk() {
            return Err(format!("`{shown}` stays a question: {why}"));
        }
    }
    Ok(parts)
}

impl Group<'_> {
    fn add(&mut self, part: SimpleCommand) {
        let program = part.program().unwrap_or_default().to_ascii_lowercase();
        let commands = self.by_program.entry(program).or_default();
        commands.entry(part.text.clone()).or_insert((part, 0)).1 += 1;
    }

    fn proposals(self) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        for (program, commands) in &self.by_program {
            let calls = commands.values().map(|(_, count)| count).sum();
            let conditions = match (commands.len(), beginning(program, commands.values().map(|(command, _)| command))) {
                (count, Some(words)) if count > SUGGESTED_FOLDER_VALUES_MAX => {
                    let words = words.join(" ");
                    let prefix = format!("commandPrefix = {}\n", quoted(&words));
                    let beyond =
                        format!("every command that begins with `{words}`, not only the {count} that were run");
                    let whole = |conditions: String| Conditions { toml: prefix + &conditions, permits: vec![beyond] };
                    self.conditions("").map(whole)
                }
                (..=SUGGESTED_VALUES_MAX, _) => self.conditions(&exactly(commands.keys())).map(Conditions::exactly),
                (count, _) => {
                    Err(format!("`{program}` was run in {count} ways, and no common beginning shows what it does"))
                }
            };
            proposals.push(Proposal { calls, conditions });
        }
        proposals
    }

    /// The conditions, with those on the other arguments.
    fn conditions(&self, on_command: &str) -> Result<String, String> {
        let mut lines = format!("[rule.when]\n{on_command}");
        for (name, given) in &self.others {
            let key = pointer(name).ok_or_else(|| format!("no condition can name the argument `{name}`"))?;
            let value = value(given).ok_or_else(|| format!("no condition can say what the argument `{name}` was"))?;
            lines.push_str(&format!("{key} = {{ equals = {value} }}\n"));
        }
        if !self.others.contains_key(FOLDER) {
            lines.push_str(&format!("\"/{FOLDER}\" = {{ absent = true }}\n"));
        }
        Ok(lines)
    }
}

fn exactly<'a>(texts: impl Iterator<Item = &'a String>) -> String {
    let texts: Vec<String> = texts.map(|text| quoted(text)).collect();
    match texts.as_slice() {
        [one] => format!("\"/command\" = {{ equals = {one} }}\n"),
        several => format!("\"/command\" = {{ one_of = [{}] }}\n", several.join(", ")),
    }
}

/// The words that all of these commands begin with, when they say what is run: the program and what it is to do.
fn beginning<'a>(program: &str, commands: impl Iterator<Item = &'a SimpleCommand>) -> Option<Vec<String>> {
    if ANYTHING.contains(&program) || program.starts_with("python") {
        return None;
    }
    let mut common: Option<Vec<String>> = None;
    for command in commands {
        let is_plain = command.assignments.is_empty() && command.wrapping == Wrapping::Nothing;
        if !is_plain || matches!(command.risk(), Risk::Dangerous(_)) {
            return None;
        }
        let words = command.words.iter().map_while(|word| word.literal.clone().filter(|literal| *literal == word.raw));
        let words: Vec<String> = words.collect();
        common = Some(match common {
            None => words,
            Some(common) => common.into_iter().zip(words).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
        });
    }
    common.filter(|words| words.len() >= 2 && words.get(1).is_some_and(|word| !word.starts_with('-')))
}
