//! What the tools of the built-in server are called, and the other names that people write for them.

use serde_json::Value;

/// The tools of the built-in server.
pub(crate) const WORKSPACE_TOOLS: [&str; 7] =
    ["read_file", "list_directory", "glob", "search_file_content", "write_file", "replace", "run_shell_command"];

/// Alternative names of built-in tools: those of Gemini CLI.
const ALIASES: [(&str, &str); 8] = [
    ("EditTool", "replace"),
    ("GlobTool", "glob"),
    ("GrepTool", "search_file_content"),
    ("LSTool", "list_directory"),
    ("ReadFileTool", "read_file"),
    ("ShellTool", "run_shell_command"),
    ("WriteFileTool", "write_file"),
    ("grep_search", "search_file_content"),
];

/// More names, which only restrictions know: tools of other servers have them too, so no permission reaches that far.
const RESTRICTED_ALIASES: [(&str, &str); 1] = [("edit_file", "replace")];

/// Alternative names of their arguments, those of Gemini CLI, by own name.
const ARGUMENTS: [(&str, &[&str]); 3] = [
    ("path", &["file_path", "dir_path", "absolute_path"]),
    ("include", &["include_pattern"]),
    ("cwd", &["dir_path", "directory"]),
];

/// The own names of an argument with the alternative name `name`.
pub(crate) fn real_arguments(name: &str) -> impl Iterator<Item = &'static str> {
    ARGUMENTS.iter().filter(move |(_, others)| others.contains(&name)).map(|(own, _)| *own)
}

/// The arguments of a call, each under its alternative names too. `None` when there are none.
pub(crate) fn under_all_names(arguments: &Value) -> Option<Value> {
    let members = arguments.as_object()?;
    let mut all = members.clone();
    for (own, others) in ARGUMENTS {
        let Some(value) = members.get(own) else { continue };
        for other in others {
            all.entry(*other).or_insert_with(|| value.clone());
        }
    }
    (all.len() > members.len()).then_some(Value::Object(all))
}

/// The arguments of a call under Gemini CLI names, in every combination.
pub(crate) fn renamed(arguments: &Value) -> Vec<Value> {
    let Some(members) = arguments.as_object() else { return Vec::new() };
    let other_of = |own: &str, at: usize| {
        let others = ARGUMENTS.iter().find(|(name, _)| *name == own).map(|(_, others)| *others)?;
        others.get(at).or_else(|| others.last()).copied()
    };
    let most = ARGUMENTS.iter().filter(|(own, _)| members.contains_key(*own)).map(|(_, others)| others.len()).max();
    let named_at = |at: usize| {
        let member = |(name, value): (&String, &Value)| {
            let other = other_of(name, at).filter(|other| !members.contains_key(*other));
            (other.unwrap_or(name).to_owned(), value.clone())
        };
        Value::Object(members.iter().map(member).collect())
    };
    (0..most.unwrap_or(0)).map(named_at).collect()
}

/// The tool of the built-in server that a name means: its own name, or one that Gemini CLI has for it.
#[must_use]
pub fn built_in_tool(name: &str) -> Option<&'static str> {
    WORKSPACE_TOOLS.into_iter().find(|tool| *tool == name).or_else(|| real_name(name))
}

/// What a tool of the built-in server is really called, when `name` is another name of it.
pub(crate) fn real_name(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, real)| *real)
}

/// The same in any capitals: what a restriction asks.
pub(crate) fn possible_real_name(name: &str) -> Option<&'static str> {
    let mut all = ALIASES.iter().chain(&RESTRICTED_ALIASES);
    all.find(|(alias, _)| alias.eq_ignore_ascii_case(name.trim())).map(|(_, real)| *real)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{built_in_tool, possible_real_name, real_arguments, real_name, renamed, under_all_names};

    #[test]
    fn other_names_are_known() {
        let cases = [
            ("ShellTool", Some("run_shell_command"), Some("run_shell_command")),
            ("shelltool", None, Some("run_shell_command")),
            ("GREP_SEARCH", None, Some("search_file_content")),
            ("grep_search", Some("search_file_content"), Some("search_file_content")),
            ("ReadFileTool", Some("read_file"), Some("read_file")),
            ("WriteFileTool", Some("write_file"), Some("write_file")),
            ("EditTool", Some("replace"), Some("replace")),
            ("edit_file", None, Some("replace")),
            ("GrepTool", Some("search_file_content"), Some("search_file_content")),
            ("GlobTool", Some("glob"), Some("glob")),
            ("LSTool", Some("list_directory"), Some("list_directory")),
            (" lstool ", None, Some("list_directory")),
            ("run_shell_command", None, None),
        ];
        for (name, certainly, possibly) in cases {
            assert_eq!((real_name(name), possible_real_name(name)), (certainly, possibly), "{name}");
        }
        for (name, expected) in super::ALIASES.into_iter().chain(super::WORKSPACE_TOOLS.map(|tool| (tool, tool))) {
            assert_eq!(built_in_tool(name), Some(expected), "{name}");
        }
        assert_eq!(built_in_tool("shelltool"), None, "a permission asks for it letter by letter");
    }

    #[test]
    fn arguments_are_known_by_their_other_names() {
        let cases: [(Value, Option<Value>, Vec<Value>); 4] = [
            (
                json!({"path": "a", "content": "b"}),
                Some(json!({"path": "a", "content": "b", "file_path": "a", "dir_path": "a", "absolute_path": "a"})),
                vec![
                    json!({"file_path": "a", "content": "b"}),
                    json!({"dir_path": "a", "content": "b"}),
                    json!({"absolute_path": "a", "content": "b"}),
                ],
            ),
            (
                json!({"command": "ls", "cwd": "a"}),
                Some(json!({"command": "ls", "cwd": "a", "dir_path": "a", "directory": "a"})),
                vec![json!({"command": "ls", "dir_path": "a"}), json!({"command": "ls", "directory": "a"})],
            ),
            // Arguments that the call has already are not replaced.
            (
                json!({"include": "*.rs", "include_pattern": "x"}),
                None,
                vec![json!({"include": "*.rs", "include_pattern": "x"})],
            ),
            (json!({"command": "ls"}), None, vec![]),
        ];
        for (arguments, all, others) in cases {
            assert_eq!(under_all_names(&arguments), all, "{arguments}");
            assert_eq!(renamed(&arguments), others, "{arguments}");
        }
        assert_eq!(real_arguments("dir_path").collect::<Vec<_>>(), ["path", "cwd"]);
        assert_eq!(real_arguments("path").count(), 0);
    }
}
