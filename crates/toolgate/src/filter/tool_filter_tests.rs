//! The six steps, in their order: what is shown, which calls pass, and what is said about it. Every case names the section it proves.

use serde_json::json;

use super::*;

/// Lists are written with ` ; ` between their entries; `-` is no list.
fn list(text: &str) -> Option<Vec<String>> {
    let entries = || text.split(" ; ").filter(|entry| !entry.is_empty()).map(str::to_owned).collect();
    (text != "-").then(entries)
}

fn filter(include: &str, exclude: &str, strictness: Strictness) -> ToolFilter {
    ToolFilter::of(list(include).as_deref(), &list(exclude).unwrap_or_default(), strictness)
}

/// `hidden`, or what happens to the call: `passes` or `denied`.
fn outcome(filter: &ToolFilter, tool: &str, call: &str) -> &'static str {
    let value = match call.split_once(':') {
        Some((key, text)) => json!({key: text}),
        None => json!({}),
    };
    match (filter.visibility(tool), filter.judge(tool, &Arguments::new(&value))) {
        (Visibility::Shown, FilterVerdict::Permitted) => "passes",
        (Visibility::Shown, FilterVerdict::Denied { .. }) => "denied",
        (Visibility::Hidden(_), FilterVerdict::Denied { .. }) => "hidden",
        (Visibility::Hidden(why), FilterVerdict::Permitted) => panic!("{tool} is hidden ({why}) and {call} passes"),
    }
}

#[track_caller]
fn check(strictness: Strictness, cases: &[(&str, &str, &str, &str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (section, include, exclude, tool, call, expected) in cases {
        let found = outcome(&filter(include, exclude, strictness), tool, call);
        if found != *expected {
            wrong.push(format!("{section} +[{include}] -[{exclude}] {tool} {call}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn plain_lists() {
    // section, include, exclude, tool, call, outcome
    check(
        Strictness::Open,
        &[
            ("5.1-2", "-", "a", "a", "", "hidden"),
            ("5.1-2", "-", "a", "b", "", "passes"),
            ("5.1-2 wins", "a", "a", "a", "", "hidden"),
            ("5.1-2 wins", "*", "a", "a", "", "hidden"),
            ("5.1-2 wins", "a(x)", "a", "a", "path:x", "hidden"),
            ("5.1-3", "-", "", "a", "", "passes"),
            ("5.1-3 empty", "", "", "a", "", "hidden"),
            ("5.1-4", "a", "", "a", "", "passes"),
            ("5.1-4", "a ; b", "", "b", "", "passes"),
            ("5.1-4", "a", "", "b", "", "hidden"),
            ("5.1-4", "a", "", "A", "", "hidden"),
            ("5.1-4 whole names", "read", "", "read_file", "", "hidden"),
            ("5.1-2 capitals", "-", "drop_table", "Drop_Table", "", "hidden"),
            ("5.1-2 capitals", "-", "Drop*", "drop", "", "hidden"),
            ("5.1-2 as shown", "-", "delete_all", "delete all", "", "hidden"),
            ("5.1-2 as shown", "-", "delete_*", "delete all", "", "hidden"),
            ("5.1-2 as shown", "*", "delete_all(x)", "delete all", "path:x", "denied"),
            ("5.1-2 as shown", "*", "delete_all(x)", "delete all", "path:y", "passes"),
            ("5.1-2 as it is", "-", "delete all", "delete all", "", "hidden"),
            ("5.1-2 as it is", "-", "delete all", "delete_all", "", "passes"),
            ("5.1-2 alias", "-", "ShellTool", "run_shell_command", "", "hidden"),
            ("5.1-2 alias", "-", "shelltool(rm)", "run_shell_command", "command:rm x", "denied"),
            ("5.1-2 alias", "-", "grep_search(*)", "search_file_content", "", "hidden"),
            ("5.1-4 exact", "delete_all", "", "delete all", "", "hidden"),
            ("5.1-4 alias", "ShellTool", "", "run_shell_command", "", "hidden"),
            ("5.1-4 whole names", "-", "read", "read_file", "", "passes"),
            ("5.1-4 parentheses", "a(x)", "", "a", "path:y", "denied"),
            ("5.1-4 parentheses", "a(x)", "", "b", "path:x", "hidden"),
            ("14-2", "-", "", "anything", "", "passes"),
            ("14-3", "*", "", "anything", "", "passes"),
            ("14-3", "read_*", "", "read_file", "", "passes"),
            ("14-3", "read_*", "", "write_file", "", "hidden"),
            ("14-3", "-", "*", "anything", "", "hidden"),
            ("14-3", "-", "*_file", "read_file", "", "hidden"),
            ("14-6", "dangerous", "dangerous", "dangerous", "", "hidden"),
            ("14-7", "-", "of_settings ; of_extension", "of_extension", "", "hidden"),
            ("14-7", "-", "of_settings ; of_extension", "of_settings", "", "hidden"),
        ],
    );
}

#[test]
fn argument_lists() {
    check(
        Strictness::Open,
        &[
            ("5.3-1", "a(x)", "a ; a(x)", "a", "path:x", "hidden"),
            ("5.3-1", "*", "a*", "abc", "", "hidden"),
            ("5.3-2", "-", "w(/etc/passwd)", "w", "path:/etc/passwd", "denied"),
            ("5.3-2", "-", "w(/etc/passwd)", "w", "path:/etc/hosts", "passes"),
            ("5.3-2", "-", "w(/etc/passwd)", "w", "", "passes"),
            ("5.3-2", "-", "w(/etc/passwd)", "v", "path:/etc/passwd", "passes"),
            ("5.3-2 before 3", "w(src)", "w(src/secret)", "w", "path:src/secret/x", "denied"),
            ("5.3-2 before 3", "w(src)", "w(src/secret)", "w", "path:src/a", "passes"),
            ("5.3-2 before 3", "w(src/a)", "w(src)", "w", "path:src/a", "hidden"),
            ("5.3-2 before 3", "w(src)", "w(src)", "w", "path:src", "hidden"),
            ("5.3-2 before 5", "w", "w(src)", "w", "path:src/a", "denied"),
            ("5.3-2 before 5", "w", "w(src)", "w", "path:lib/a", "passes"),
            ("5.3-2 glob", "*", "*(/etc)", "any", "path:/etc/x", "denied"),
            ("5.3-2 glob", "*", "*(/etc)", "any", "path:/usr/x", "passes"),
            ("5.3-2 key", "-", "push(branch=main)", "push", "branch:main", "denied"),
            ("5.3-2 key", "-", "push(branch=main)", "push", "branch:dev", "passes"),
            ("5.3-3", "r(src)", "", "r", "path:src/a", "passes"),
            ("5.3-3", "r(src)", "", "r", "path:lib/a", "denied"),
            ("5.3-3", "r(src)", "", "r", "", "denied"),
            ("5.3-3 others", "r(src) ; r(docs)", "", "r", "path:docs/a", "passes"),
            ("5.3-3 others", "r(src) ; r", "", "r", "path:lib/a", "passes"),
            ("5.3-3 others", "r(src) ; *", "", "r", "path:lib/a", "passes"),
            ("5.3-3 others", "r(src) ; q", "", "r", "path:lib/a", "denied"),
            ("5.3-3 glob", "r*(src)", "", "read", "path:src", "passes"),
            ("5.3-3 key", "push(branch=dev)", "", "push", "branch:dev", "passes"),
            ("5.3-3 key", "push(branch=dev)", "", "push", "branch:main", "denied"),
            ("5.3-3 climbing", "r(src)", "", "r", "path:src/../etc/x", "denied"),
            ("5.3-4", "-", "r(*)", "r", "path:x", "hidden"),
            ("5.3-4", "-", "r(*)", "q", "path:x", "passes"),
            ("5.3-4", "r", "r(*)", "r", "path:x", "hidden"),
            ("5.3-4", "*", "r(*)", "r", "path:x", "hidden"),
            ("5.3-4", "r(*)", "r(*)", "r", "path:x", "hidden"),
            ("5.3-4 after 3", "r(src)", "r(*)", "r", "path:src/a", "passes"),
            ("5.3-4 after 3", "r(src)", "r(*)", "r", "path:lib/a", "denied"),
            ("5.3-4 after 3", "r(src) ; r", "r(*)", "r", "path:lib/a", "denied"),
            ("5.3-4 after 3", "r(src)", "*(*)", "r", "path:src/a", "passes"),
            ("5.3-4 after 2", "r(src)", "r(*) ; r(src/x)", "r", "path:src/x", "denied"),
            ("5.3-5", "r(*)", "", "r", "path:x", "passes"),
            ("5.3-5", "r", "", "r", "path:x", "passes"),
            ("5.3-5", "*(*)", "", "r", "path:x", "passes"),
            ("5.3-6", "q", "", "r", "path:x", "hidden"),
            ("5.3-6", "q(x)", "", "r", "path:x", "hidden"),
            ("5.3-6", "-", "q(x)", "r", "path:x", "passes"),
        ],
    );
}

#[test]
fn shell_cases() {
    check(
        Strictness::Open,
        &[
            ("14-4", "*", "sh(rm -rf)", "sh", "command:rm -rf /", "denied"),
            ("14-4", "*", "sh(rm -rf)", "sh", "command:ls", "passes"),
            ("14-4", "*", "sh(rm -rf)", "sh", "command:cd x && rm -rf y", "denied"),
            ("14-4", "*", "sh(rm -rf)", "sh", "command:bash -c \"rm -rf y\"", "denied"),
            ("14-4", "*", "sh(rm -rf)", "sh", "command:rm 'unfinished", "denied"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:ls -l", "passes"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:pwd", "passes"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:ls && pwd", "passes"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:ls && id", "denied"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:ls $(id)", "denied"),
            ("14-5", "sh(ls) ; sh(pwd)", "sh(*)", "sh", "command:lsof", "denied"),
            ("5.3-2", "-", "sh(git push)", "sh", "command:git status", "passes"),
            ("5.3-2", "-", "sh(git push)", "sh", "command:git status; git push", "denied"),
            ("5.3-3", "sh(git)", "sh(git push)", "sh", "command:git log", "passes"),
            ("5.3-3", "sh(git)", "sh(git push)", "sh", "command:git push", "denied"),
            ("5.3-3", "sh(git push)", "sh(git)", "sh", "command:git push", "denied"),
            ("5.3-3", "sh(command=ls)", "", "sh", "command:ls", "passes"),
            ("5.3-3", "sh(command=ls)", "sh(ls)", "sh", "command:ls", "hidden"),
        ],
    );
}

#[test]
fn with_strict_security_only_what_is_included_is_shown() {
    check(
        Strictness::Strict,
        &[
            ("14-2 strict", "-", "", "a", "", "hidden"),
            ("14-2 strict", "-", "a(x)", "a", "", "hidden"),
            ("14-2 strict", "-", "b", "a", "", "hidden"),
            ("14-2 strict", "a", "", "a", "", "passes"),
            ("14-2 strict", "*", "", "a", "", "passes"),
            ("14-2 strict", "a(x)", "", "a", "path:x", "passes"),
            ("14-2 strict", "", "", "a", "", "hidden"),
        ],
    );
}

#[test]
fn entries_that_cannot_be_read_fail_closed() {
    check(
        Strictness::Open,
        &[
            ("5.3 unreadable", "-", "run(rm", "run", "command:ls", "hidden"),
            ("5.3 unreadable", "-", "run(rm", "run_shell", "", "hidden"),
            ("5.3 unreadable", "-", "run(rm", "read", "", "passes"),
            ("5.3 unreadable", "run(ls)", "run()", "run", "path:ls", "hidden"),
            ("5.3 unreadable", "-", "(rm)", "anything", "", "hidden"),
            ("5.3 unreadable", "run(", "", "run", "", "hidden"),
            ("5.3 unreadable", "-", "Run(rm", "run_shell", "", "hidden"),
            ("5.3 unreadable", "-", "ShellTool(rm", "run_shell_command", "", "hidden"),
            ("5.3 unreadable", "run( ; read", "", "read", "", "passes"),
        ],
    );
    let filter = filter("run( ; read", "x) ; y", Strictness::Open);
    let entries: Vec<&str> = filter.problems().iter().map(|problem| problem.entry.as_str()).collect();
    assert_eq!(entries, ["run(", "x)"]);
}

#[test]
fn tools_of_the_built_in_server_are_included_by_their_other_names() {
    let cases = [
        ("ShellTool", "run_shell_command", "", "passes"),
        ("shelltool", "run_shell_command", "", "hidden"),
        ("ShellTool(ls)", "run_shell_command", "command:ls", "passes"),
        ("ShellTool(ls)", "run_shell_command", "command:rm x", "denied"),
        ("grep_search ; glob", "search_file_content", "", "passes"),
        ("grep_search", "glob", "", "hidden"),
    ];
    for (include, tool, call, expected) in cases {
        let filter = ToolFilter::of_built_in(list(include).as_deref(), &[], Strictness::Open);
        assert_eq!(outcome(&filter, tool, call), expected, "{include} {tool} {call}");
    }
}

#[test]
fn what_is_said() {
    let cases = [
        ("-", "w*", "write", "", "`w*` in `excludeTools` hides it", "`w*` in `excludeTools` excludes the tool"),
        ("-", "r(*)", "r", "", "`r(*)` in `excludeTools` hides it", "`r(*)` in `excludeTools` excludes every call"),
        ("x", "", "r", "", "it is not in `includeTools`", "it is not in `includeTools`"),
        ("-", "r(a)", "r", "path:a", "shown", "`r(a)` in `excludeTools` excludes calls like this one"),
        ("r(a) ; r(b)", "", "r", "", "shown", "`includeTools` has only certain calls of it: `r(a)`, `r(b)`"),
        ("r(a)", "r(*)", "r", "", "shown", "`r(*)` in `excludeTools` excludes every call but `r(a)`"),
        (
            "r(a)",
            "r(a)",
            "r",
            "path:b",
            "every call of it that is in `includeTools` is excluded",
            "`includeTools` has only certain calls of it: `r(a)`",
        ),
        (
            "-",
            "r(",
            "read",
            "",
            "`r(` in `excludeTools` cannot be read, so every tool that begins so is hidden",
            "`r(` in `excludeTools` cannot be read: a parenthesis is not closed; end the entry with `)`",
        ),
    ];
    for (include, exclude, tool, call, hidden, denied) in cases {
        let filter = filter(include, exclude, Strictness::Open);
        let shown = match filter.visibility(tool) {
            Visibility::Shown => "shown".to_owned(),
            Visibility::Hidden(why) => why,
        };
        assert_eq!(shown, hidden);
        let value = call.split_once(':').map_or_else(|| json!({}), |(key, text)| json!({key: text}));
        let FilterVerdict::Denied { why, .. } = filter.judge(tool, &Arguments::new(&value)) else {
            panic!("{tool} {call} passes")
        };
        assert_eq!(why, denied);
    }
    let strict = filter("-", "", Strictness::Strict).visibility("a");
    assert_eq!(strict, Visibility::Hidden("`security.strict` is on, and the server has no `includeTools`".to_owned()));
    let many = filter("t(1) ; t(2) ; t(3) ; t(4) ; t(5) ; t(6) ; t(7)", "", Strictness::Open);
    let FilterVerdict::Denied { why, list, entry } = many.judge("t", &Arguments::new(&json!({}))) else { panic!() };
    assert!(why.ends_with("`t(5)`, 2 more"), "{why}");
    assert_eq!((list, entry), (FilterList::Include, None));
}
