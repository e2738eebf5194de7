//! Tables of lines, each with what it is.

use super::{COMMANDS, Line, as_typed_here, find, goes_on, joined, program_words, similar};

#[test]
fn a_line_is_a_command_or_a_text() {
    let slash = |name, rest| Line::Slash { name, rest };
    let cases = [
        ("", Line::Empty),
        (" \t ", Line::Empty),
        ("/", slash("", "")),
        ("/mcp", slash("mcp", "")),
        ("  /mcp  list x ", slash("mcp", "list x")),
        ("/call echo message=\"a b\"", slash("call", "echo message=\"a b\"")),
        ("/call\techo", slash("call", "echo")),
        ("/call\necho", slash("call", "echo")),
        ("/etc/hosts is what?", Line::Text("/etc/hosts is what?")),
        ("hello /mcp", Line::Text("hello /mcp")),
    ];
    for (typed, expected) in cases {
        assert_eq!(Line::of(typed), expected, "{typed:?}");
    }
}

#[test]
fn commands_of_the_session_are_commands_of_the_program() {
    let cases = [
        ("mcp", "", Some("mcp list")),
        ("mcp", "ls", Some("mcp list")),
        ("mcp", "list git", Some("mcp list git")),
        ("mcp", "nodesc git", Some("mcp list git")),
        ("mcp", "desc", Some("mcp list --desc")),
        ("mcp", "description git", Some("mcp list --desc git")),
        ("mcp", "schema git --json", Some("mcp list --schema git --json")),
        ("mcp", "auth git", Some("mcp auth git")),
        ("mcp", "reload", Some("mcp refresh")),
        ("mcp", "refresh", Some("mcp refresh")),
        ("mcp", "disable git --session", Some("mcp disable git --session")),
        ("mcp", "git", Some("mcp list git")),
        ("tools", "git --desc", Some("tools git --desc")),
        ("policy", "", Some("policy list")),
        ("policy", "--json", Some("policy list --json")),
        ("policy", "explain echo", Some("policy explain echo")),
        ("policy", "--help", Some("policy --help")),
        ("grants", "", Some("grants list")),
        ("audit", "", Some("audit show")),
        ("audit", "stats", Some("audit stats")),
        ("quit", "", None),
        ("greet", "x", None),
    ];
    for (name, rest, expected) in cases {
        let rest: Vec<String> = rest.split_whitespace().map(ToOwned::to_owned).collect();
        let words = program_words(name, rest.clone()).map(|words| words.join(" "));
        assert_eq!(words.as_deref(), expected, "/{name} {rest:?}");
    }
}

#[test]
fn lines_go_on_where_they_say_so() {
    let cases = [
        ("", false),
        ("a", false),
        ("a\\", true),
        ("a\\\\", false),
        ("```rust\nfn", true),
        ("```rust\nfn\n```", false),
        ("it's", false),
    ];
    for (typed, expected) in cases {
        assert_eq!(goes_on(typed), expected, "{typed:?}");
    }
    assert_eq!(joined("a\\\nb\nc"), "a\nb\nc");
}

#[test]
fn what_nothing_is_called_is_compared_with_what_there_is() {
    assert_eq!(similar("hlep", std::iter::empty()).first().map(String::as_str), Some("help"));
    assert_eq!(similar("gret", ["greet"].into_iter()).first().map(String::as_str), Some("greet"));
    assert!(similar("zzzzzzzz", ["greet"].into_iter()).is_empty());
}

#[test]
fn names_of_commands_are_their_own() {
    for command in &COMMANDS {
        assert_eq!(find(command.name), Some(command));
        assert!(!command.about.is_empty(), "{}", command.name);
    }
}

#[test]
fn what_can_be_typed_is_named_as_it_is_typed() {
    let cases = [
        ("run `toolgate mcp auth git`", "run `/mcp auth git`"),
        ("`toolgate trust` asks, `toolgate tools x` lists", "`/trust` asks, `/tools x` lists"),
        ("`toolgate down && toolgate up`", "`toolgate down && toolgate up`"),
        ("`toolgate promptly`", "`toolgate promptly`"),
        ("Usage: toolgate call <NAME>", "Usage: /call <NAME>"),
    ];
    for (text, expected) in cases {
        assert_eq!(as_typed_here(text), expected);
    }
}
