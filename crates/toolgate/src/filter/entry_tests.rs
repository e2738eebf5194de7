//! The grammar of entries, case by case.

use super::*;
use crate::filter::NamePattern::{Any, Exact, Glob};

fn text(pattern: &str) -> Option<ArgumentPattern> {
    Some(ArgumentPattern::Text(pattern.to_owned()))
}

fn key(key: &str, pattern: &str) -> Option<ArgumentPattern> {
    Some(ArgumentPattern::Key { key: key.to_owned(), pattern: pattern.to_owned() })
}

#[test]
fn entries_are_read() {
    let exact = |name: &str| Exact(name.to_owned());
    let glob = |name: &str| Glob(name.to_owned());
    let cases = [
        ("*", Any, None),
        ("**", Any, None),
        ("read_file", exact("read_file"), None),
        ("  read_file\t", exact("read_file"), None),
        ("read_*", glob("read_*"), None),
        ("ns/tool.v2-x", exact("ns/tool.v2-x"), None),
        ("outil été", exact("outil été"), None),
        ("run(*)", exact("run"), Some(ArgumentPattern::Any)),
        ("run( ** )", exact("run"), Some(ArgumentPattern::Any)),
        ("*(*)", Any, Some(ArgumentPattern::Any)),
        ("run(rm -rf)", exact("run"), text("rm -rf")),
        ("run ( rm -rf ) ", exact("run"), text("rm -rf")),
        ("write_*(/etc/passwd)", glob("write_*"), text("/etc/passwd")),
        ("run(echo $(date))", exact("run"), text("echo $(date)")),
        ("get(path=src)", exact("get"), key("path", "src")),
        ("get( path = src )", exact("get"), key("path", "src")),
        ("get(path=*)", exact("get"), key("path", "*")),
        ("get(options.dry-run=true)", exact("get"), key("options.dry-run", "true")),
        ("get(a=b=c)", exact("get"), key("a", "b=c")),
        ("run(git log --format=x)", exact("run"), text("git log --format=x")),
        ("get(https://x/?a=b)", exact("get"), text("https://x/?a=b")),
        ("get(=x)", exact("get"), text("=x")),
        ("get(1=x)", exact("get"), text("1=x")),
    ];
    for (written, name, arguments) in cases {
        let expected = Entry { name, arguments, text: written.trim().to_owned() };
        assert_eq!(Entry::parse(written), Ok(expected.clone()), "{written}");
        assert_eq!(Entry::parse(&expected.to_string()), Ok(expected), "{written}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let long = "x".repeat(FILTER_ENTRY_BYTES_MAX + 1);
    let shown = format!("{}…", "x".repeat(EXCERPT_CHARS_MAX));
    let cases = [
        ("", "", "nothing is named"),
        ("   ", "", "nothing is named"),
        ("(ls)", "(ls)", "no tool is named"),
        ("()", "()", "no tool is named"),
        ("run()", "run()", "nothing stands between"),
        ("run(  )", "run(  )", "nothing stands between"),
        ("run(", "run(", "not closed"),
        ("run(ls", "run(ls", "not closed"),
        ("run(a(b)", "run(a(b)", "not closed"),
        ("run)", "run)", "never opened"),
        ("run)(", "run)(", "closed before"),
        ("run(ls))", "run(ls))", "after the closing"),
        ("run(ls) x", "run(ls) x", "after the closing"),
        ("run(ls)(pwd)", "run(ls)(pwd)", "after the closing"),
        ("run(ls), run(pwd)", "run(ls), run(pwd)", "after the closing"),
        ("run(path=)", "run(path=)", "nothing stands after `path=`"),
        ("a\nb", "a\\nb", "control character"),
        ("run(a\0b)", "run(a\\u{0}b)", "control character"),
        (long.as_str(), shown.as_str(), "longer than"),
    ];
    for (written, entry, why) in cases {
        let error = Entry::parse(written).unwrap_err();
        assert_eq!(error.entry, entry, "{written}");
        assert!(error.why.contains(why), "{written}: {error}");
    }
}

#[test]
fn a_list_is_checked_entry_by_entry() {
    let errors = check(&["*", "run(", "read_file", "()"]);
    assert_eq!(errors.iter().map(|error| error.entry.as_str()).collect::<Vec<_>>(), ["run(", "()"]);
    assert_eq!(
        errors.first().map(ToString::to_string).as_deref(),
        Some("`run(`: a parenthesis is not closed; end the entry with `)`")
    );
}

#[test]
fn an_unreadable_entry_could_be_about_all_names_that_begin_so() {
    let cases = [
        ("run(", "run", true),
        ("run(", "run_shell", true),
        ("run(", "read", false),
        ("r*n(", "rain_2", true),
        ("", "anything", true),
        ("run)x", "run", true),
        (" run ()", "runs", true),
        ("run\nls", "run", true),
        ("ShellTool(rm", "run_shell_command", true),
        ("shelltool)", "run_shell_command", true),
        ("ShellTool(rm", "read", false),
    ];
    for (written, tool, expected) in cases {
        let names = Entry::possible_names(written);
        assert_eq!(names.iter().any(|name| name.matches(tool)), expected, "{written} {tool}");
    }
}
