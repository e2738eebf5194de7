//! Rules that follow from the settings of Gemini CLI, as a policy file. Its lists have other priorities there than here.
//! Beside imported policies, the same lists as settings would therefore restrict less.

use std::path::Path;

use serde_json::Value;
use toolgate::formats::{Restrictions, shell_command};
use toolgate::policy::file::{self, FileSource, ParsedFile, Severity};
use toolgate::policy::{Decision, Tier};
use toolgate::servers::built_in_tool;

/// Priorities of rules made from the lists of Gemini CLI. They match the priorities that it gives each list itself.
const CONFIRMATION_REQUIRED: u16 = 350;
const ALLOWED_TOOL: u16 = 300;
const NOT_ALLOWED: u16 = 290;
const CORE_TOOL: u16 = 250;
const NOT_CORE: u16 = 240;

/// Modes in which `tools.core` counts in Gemini CLI.
const WORKING: &str = "modes = [\"default\", \"autoEdit\", \"yolo\"]\n";

/// The tool whose commands settings can tell apart.
const SHELL_TOOL: &str = "run_shell_command";

/// Items that the import carries over besides settings keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    /// Policies are imported.
    pub(crate) policies: bool,
    /// Something is not imported, and it may deny what another rule permits.
    pub(crate) losses: bool,
}

/// The rules as TOML. `None` when the imported settings keys restrict enough by themselves.
pub(crate) fn rules_of(restrictions: &Restrictions, beside: Beside) -> Option<String> {
    let permits = if beside.losses { "ask" } else { "allow" };
    let mut text = String::from(
        "# Restrictions from the settings of Gemini CLI, with the priorities that they have there. Written by `toolgate mcp import`.\n",
    );
    let before = text.len();
    // Imported allows keep the priorities of Gemini CLI, so these restrictions must have higher ones.
    if beside.policies || restrictions.narrows_the_shell() || restrictions.core_tools.is_some() {
        for entry in restrictions.confirmation_required.iter().filter(|entry| !entry.contains('(')) {
            rule(&mut text, "", entry, ("ask", CONFIRMATION_REQUIRED), "");
        }
    }
    if restrictions.narrows_the_shell() {
        let allowed = restrictions.allowed_tools.iter();
        allowed
            .filter(|entry| is_shell(entry))
            .for_each(|entry| built_in(&mut text, entry, (permits, ALLOWED_TOOL), ""));
        rule(&mut text, "builtin = \"workspace\"\n", SHELL_TOOL, ("deny", NOT_ALLOWED), "");
    }
    if let Some(core) = &restrictions.core_tools {
        core.iter().for_each(|entry| built_in(&mut text, entry, (permits, CORE_TOOL), WORKING));
        rule(&mut text, "", "*", ("deny", NOT_CORE), WORKING);
    }
    (text.len() > before).then_some(text)
}

/// The first error in a policy file, worded for the import report. A file with an error would block every command that
/// needs rules.
pub(crate) fn trouble_of(text: &str, path: &Path) -> Option<String> {
    let parsed = parsed(text, path);
    let first = parsed.findings.iter().find(|finding| finding.severity == Severity::Error)?;
    Some(format!("line {}: {}", first.line, first.message))
}

/// Whether a policy file permits something.
pub(crate) fn permits(text: &str, path: &Path) -> bool {
    parsed(text, path).rules.iter().any(|rule| rule.decision == Decision::Allow)
}

fn parsed(text: &str, path: &Path) -> ParsedFile {
    file::parse(text, &FileSource::new(Tier::User, path))
}

fn is_shell(entry: &str) -> bool {
    built_in_tool(entry) == Some(SHELL_TOOL) || shell_command(entry).is_some()
}

/// The tool of the built-in server that a permission is about. Of the names of classes, the policies there know that of the shell only: a tool
/// that is listed by another one is offered there, and each of its calls is denied.
fn permitted_there(name: &str) -> Option<&'static str> {
    let is_class = name.ends_with("Tool");
    built_in_tool(name).filter(|tool| !is_class || *tool == SHELL_TOOL)
}

/// An allow rule for one list entry and the built-in server. An entry that no rule can express permits nothing.
fn built_in(text: &mut String, entry: &str, (permits, priority): (&str, u16), more: &str) {
    let (name, _) = entry.split_once('(').unwrap_or((entry, ""));
    let Some(name) = permitted_there(name) else { return };
    let mut condition = more.to_owned();
    if let Some(command) = shell_command(entry) {
        condition.push_str(&format!("commandPrefix = {}\n", quoted(command)));
    }
    let mut one = String::new();
    rule(&mut one, "builtin = \"workspace\"\n", name, (permits, priority), &condition);
    if trouble_of(&one, Path::new("import.toml")).is_none() {
        text.push_str(&one);
    }
}

fn rule(text: &mut String, server: &str, tool: &str, (decision, priority): (&str, u16), more: &str) {
    let tool = quoted(tool);
    text.push_str(&format!(
        "\n[[rule]]\n{server}toolName = {tool}\ndecision = \"{decision}\"\npriority = {priority}\n{more}"
    ));
}

/// A TOML string. TOML escapes the same characters as JSON, and DEL.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn texts(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    #[test]
    fn tools_are_permitted_by_the_names_that_policies_there_know() {
        // the name in the settings, the tool that its rule is about; none where that program denies it
        let cases = [
            ("EditTool", None),
            ("GlobTool", None),
            ("GrepTool", None),
            ("LSTool", None),
            ("ReadFileTool", None),
            ("WriteFileTool", None),
            ("ShellTool", Some("run_shell_command")),
            ("ShellTool(git status)", Some("run_shell_command")),
            ("grep_search", Some("search_file_content")),
            ("read_file", Some("read_file")),
            ("list_directory", Some("list_directory")),
            ("glob", Some("glob")),
            ("search_file_content", Some("search_file_content")),
            ("write_file", Some("write_file")),
            ("replace", Some("replace")),
            ("run_shell_command", Some("run_shell_command")),
        ];
        for (entry, tool) in cases {
            let core = Restrictions { core_tools: Some(texts(&[entry])), ..Restrictions::default() };
            let parsed = parsed(&rules_of(&core, Beside::default()).unwrap(), Path::new("a.toml"));
            let tools: Vec<String> = parsed.rules.iter().map(|rule| rule.tool.to_string()).collect();
            let expected: Vec<&str> = tool.into_iter().chain(["*"]).collect();
            assert_eq!(tools, expected, "{entry}");
        }
    }

    #[test]
    fn what_follows_is_a_policy_that_can_be_read() {
        let confirmed =
            || Restrictions { confirmation_required: texts(&["write_file", "x(y)"]), ..Restrictions::default() };
        let core = |entries: &[&str]| Restrictions { core_tools: Some(texts(entries)), ..Restrictions::default() };
        let shell = ["run_shell_command(git)", "run_shell_command(a | b)", "read_file"];
        let narrowed = || Restrictions { allowed_tools: texts(&shell), ..confirmed() };
        let (alone, beside) = (Beside::default(), Beside { policies: true, losses: false });
        let losses = Beside { policies: false, losses: true };
        let cases: [(Restrictions, Beside, &[&str]); 6] = [
            (confirmed(), alone, &[]),
            (confirmed(), beside, &["ask write_file 350"]),
            (
                core(&["read_file", "ShellTool(git \"x\")", "web_fetch", "a\u{7f}"]),
                alone,
                &["allow read_file 250", "allow run_shell_command 250", "deny * 240"],
            ),
            (core(&[]), alone, &["deny * 240"]),
            (narrowed(), alone, &["ask write_file 350", "allow run_shell_command 300", "deny run_shell_command 290"]),
            (narrowed(), losses, &["ask write_file 350", "ask run_shell_command 300", "deny run_shell_command 290"]),
        ];
        for (restrictions, beside, expected) in cases {
            let text = rules_of(&restrictions, beside).unwrap_or_default();
            let parsed = parsed(&text, Path::new("a.toml"));
            assert_eq!(trouble_of(&text, Path::new("a.toml")), None, "{text}");
            let rules =
                parsed.rules.iter().map(|rule| format!("{} {} {}", rule.decision.as_str(), rule.tool, rule.priority));
            assert_eq!(rules.collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
