//! Which tools of a server are shown: its include and exclude lists, by name and by glob. Pure.
//!
//! Entries that speak of arguments, such as `run_shell_command(ls)`, cannot be decided by name. As long as nothing enforces them when a tool
//! is called, a tool that has one is left out: a rule that is written must never be weaker than it reads.

use crate::servers::ServerConfig;

/// Whether a tool is shown, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    /// It is shown.
    Shown,
    /// It is not; the text says which rule hides it.
    Hidden(String),
}

/// Decides about one tool by its own name.
pub(crate) fn visibility(server: &ServerConfig, tool: &str) -> Visibility {
    let excluded = server.exclude_tools.iter().find(|entry| matches(name_of(entry), tool));
    if let Some(entry) = excluded {
        return Visibility::Hidden(hidden_by("excludeTools", entry));
    }
    let Some(include) = &server.include_tools else { return Visibility::Shown };
    let named: Vec<&String> = include.iter().filter(|entry| matches(name_of(entry), tool)).collect();
    if named.iter().any(|entry| !speaks_of_arguments(entry)) {
        return Visibility::Shown;
    }
    match named.first() {
        Some(entry) => Visibility::Hidden(hidden_by("includeTools", entry)),
        None => Visibility::Hidden("it is not in `includeTools`".to_owned()),
    }
}

fn hidden_by(list: &str, entry: &str) -> String {
    if speaks_of_arguments(entry) {
        format!("`{entry}` in `{list}` is a rule about arguments, which is not enforced yet, so the tool is left out")
    } else {
        format!("`{entry}` in `{list}` hides it")
    }
}

fn speaks_of_arguments(entry: &str) -> bool {
    entry.trim_end().ends_with(')') && entry.contains('(')
}

/// The entry without its arguments.
fn name_of(entry: &str) -> &str {
    if speaks_of_arguments(entry) { entry.split('(').next().unwrap_or_default().trim() } else { entry.trim() }
}

/// Whether `pattern`, in which `*` stands for anything, is `name`. Linear in both for any number of stars.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        let cases = [
            ("read", "read", true),
            ("read", "read_file", false),
            ("*", "anything", true),
            ("*", "", true),
            ("read_*", "read_file", true),
            ("*_file", "read_file", true),
            ("r*d*e", "read_file", true),
            ("r*x*e", "read_file", false),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("a**b", "ab", true),
            ("Read", "read", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
