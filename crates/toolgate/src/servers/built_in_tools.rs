//! What the tools of the built-in server are called, and the other names that people write for them.

/// The tools of the built-in server.
pub(crate) const WORKSPACE_TOOLS: [&str; 7] =
    ["read_file", "list_directory", "glob", "search_file_content", "write_file", "replace", "run_shell_command"];

/// Other names of tools of the built-in server.
const ALIASES: [(&str, &str); 2] = [("grep_search", "search_file_content"), ("ShellTool", "run_shell_command")];

/// What a tool of the built-in server is really called, when `name` is another name of it.
pub(crate) fn real_name(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, real)| *real)
}

/// The same in any capitals: what a restriction asks.
pub(crate) fn possible_real_name(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name.trim())).map(|(_, real)| *real)
}

#[cfg(test)]
mod tests {
    use super::{possible_real_name, real_name};

    #[test]
    fn other_names_are_known() {
        let cases = [
            ("ShellTool", Some("run_shell_command"), Some("run_shell_command")),
            ("shelltool", None, Some("run_shell_command")),
            ("GREP_SEARCH", None, Some("search_file_content")),
            ("grep_search", Some("search_file_content"), Some("search_file_content")),
            ("run_shell_command", None, None),
        ];
        for (name, certainly, possibly) in cases {
            assert_eq!((real_name(name), possible_real_name(name)), (certainly, possibly), "{name}");
        }
    }
}
