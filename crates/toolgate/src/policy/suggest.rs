//! The narrowest rules that would have allowed calls which a person allowed, as a policy to look over. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::SHELL_TOOL;
use crate::limits::SUGGESTED_VALUES_MAX;
use crate::shell;

/// A call that a person allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct AllowedCall {
    /// Whose tool.
    pub server: String,
    /// What its server calls it.
    pub tool: String,
    /// With what.
    pub arguments: Value,
}

/// A rule that would have allowed some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Whose tool.
    pub server: String,
    /// Which tool.
    pub tool: String,
    /// How many of the calls it would have allowed.
    pub calls: usize,
    /// The rule, in the language of policies.
    pub toml: String,
}

/// The priority of what is suggested: that of `tools.allowed`.
const PRIORITY: u16 = 100;

/// Suggests rules: one for each tool, or for each program that was run.
#[must_use]
pub fn suggest(calls: &[AllowedCall]) -> Vec<Suggestion> {
    let mut by_tool: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for call in calls {
        by_tool.entry((&call.server, &call.tool)).or_default().push(&call.arguments);
    }
    let mut suggestions = Vec::new();
    for ((server, tool), arguments) in by_tool {
        let (commands, others): (Vec<&Value>, Vec<&Value>) = arguments
            .into_iter()
            .partition(|arguments| tool == SHELL_TOOL && arguments.get("command").and_then(Value::as_str).is_some());
        for (prefix, calls) in prefixes(&commands) {
            let condition = format!("commandPrefix = {}\n", quoted(&prefix));
            suggestions.push(suggestion((server, tool), calls, &condition));
        }
        if !others.is_empty() {
            suggestions.push(suggestion((server, tool), others.len(), &when(&others)));
        }
    }
    suggestions
}

fn suggestion((server, tool): (&str, &str), calls: usize, condition: &str) -> Suggestion {
    let mut toml = String::from("[[rule]]\n");
    let fields = [("mcpName", server), ("toolName", tool), ("decision", "allow")];
    for (key, value) in fields {
        // Writing to a string cannot fail.
        let _written = writeln!(toml, "{key} = {}", quoted(value)).is_ok();
    }
    let _written = write!(toml, "priority = {PRIORITY}\n{condition}").is_ok();
    Suggestion { server: server.to_owned(), tool: tool.to_owned(), calls, toml }
}

/// The words that all commands of one program begin with, and how many commands those are. What cannot be taken apart is left out: it is
/// asked about whatever a rule says.
fn prefixes(calls: &[&Value]) -> Vec<(String, usize)> {
    let mut by_program: BTreeMap<String, (Vec<String>, usize)> = BTreeMap::new();
    let texts = calls.iter().filter_map(|arguments| arguments.get("command")?.as_str());
    for command in texts.filter_map(|text| shell::read(text).ok()).flat_map(|script| script.commands) {
        let words = command.words.iter().map_while(|word| word.literal.clone().filter(|literal| *literal == word.raw));
        let words: Vec<String> = words.collect();
        let Some(program) = words.first().filter(|_| command.assignments.is_empty()).cloned() else { continue };
        by_program
            .entry(program)
            .and_modify(|(common, count)| {
                let shared = common.iter().zip(&words).take_while(|(one, other)| one == other).count();
                common.truncate(shared);
                *count += 1;
            })
            .or_insert((words, 1));
    }
    by_program.into_values().map(|(words, count)| (words.join(" "), count)).collect()
}

/// What all calls have in common, argument by argument.
fn when(calls: &[&Value]) -> String {
    let names: BTreeSet<&String> =
        calls.iter().filter_map(|call| call.as_object()).flat_map(|members| members.keys()).collect();
    let mut conditions = String::new();
    for name in names {
        let values: Vec<&Value> = calls.iter().filter_map(|call| call.get(name)).collect();
        // An argument that some calls go without cannot be asked for.
        if values.len() < calls.len() {
            continue;
        }
        if let Some(condition) = condition(&values) {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let _written = writeln!(conditions, "{} = {condition}", quoted(&pointer)).is_ok();
        }
    }
    if conditions.is_empty() { conditions } else { format!("[rule.when]\n{conditions}") }
}

fn condition(values: &[&Value]) -> Option<String> {
    let mut different: Vec<&Value> = Vec::new();
    for value in values {
        if !different.contains(value) {
            different.push(value);
        }
    }
    let scalars: Option<Vec<String>> = different.iter().map(|value| scalar(value)).collect();
    match scalars {
        Some(scalars) if scalars.len() == 1 => Some(format!("{{ equals = {} }}", scalars.join(""))),
        Some(_) if common_folder(&different).is_some() => {
            common_folder(&different).map(|folder| format!("{{ under = {} }}", quoted(&folder)))
        }
        Some(scalars) if scalars.len() <= SUGGESTED_VALUES_MAX => {
            Some(format!("{{ one_of = [{}] }}", scalars.join(", ")))
        }
        _ => None,
    }
}

/// The folder that all of these paths are in.
fn common_folder(values: &[&Value]) -> Option<String> {
    let mut texts = values.iter().map(|value| value.as_str());
    let is_plain =
        |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
    let folder_of = |text: &str| {
        let path = Path::new(text);
        (text.contains('/') && is_plain(path)).then(|| path.parent().map(Path::to_owned)).flatten()
    };
    let first = folder_of(texts.next()??)?;
    let common = texts.try_fold(first, |common: PathBuf, text| {
        let folder = folder_of(text?)?;
        let shared: PathBuf =
            common.components().zip(folder.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        Some(shared)
    })?;
    let has_name = common.components().any(|part| matches!(part, Component::Normal(_)));
    has_name.then(|| common.to_str().map(ToOwned::to_owned)).flatten()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(quoted(text)),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) if number.as_i64().is_some() => Some(number.to_string()),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AllowedCall, suggest};

    fn conditions(tool: &str, calls: &[serde_json::Value]) -> Vec<String> {
        let call = |arguments: &serde_json::Value| AllowedCall {
            server: "s".to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        };
        let calls: Vec<AllowedCall> = calls.iter().map(call).collect();
        let suggestions = suggest(&calls);
        suggestions.iter().map(|one| one.toml.split("priority = 100\n").nth(1).unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn what_all_calls_have_in_common_is_asked_for() {
        let cases = [
            ("t", vec![json!({})], vec![""]),
            ("t", vec![json!({"a": 1})], vec!["[rule.when]\n\"/a\" = { equals = 1 }\n"]),
            (
                "t",
                vec![json!({"a": "x"}), json!({"a": "y"})],
                vec!["[rule.when]\n\"/a\" = { one_of = [\"x\", \"y\"] }\n"],
            ),
            ("t", vec![json!({"a": "x"}), json!({})], vec![""]),
            (
                "t",
                vec![json!({"p": "src/a.rs"}), json!({"p": "src/b/c.rs"})],
                vec!["[rule.when]\n\"/p\" = { under = \"src\" }\n"],
            ),
            (
                "t",
                vec![json!({"p": "../a"}), json!({"p": "../b"})],
                vec!["[rule.when]\n\"/p\" = { one_of = [\"../a\", \"../b\"] }\n"],
            ),
            ("t", vec![json!({"a": [1]})], vec![""]),
            (
                "run_shell_command",
                vec![json!({"command": "git status -s"})],
                vec!["commandPrefix = \"git status -s\"\n"],
            ),
            (
                "run_shell_command",
                vec![json!({"command": "git status -s && npm test"}), json!({"command": "git status"})],
                vec!["commandPrefix = \"git status\"\n", "commandPrefix = \"npm test\"\n"],
            ),
        ];
        for (tool, calls, expected) in cases {
            assert_eq!(conditions(tool, &calls), expected, "{calls:?}");
        }
    }
}
