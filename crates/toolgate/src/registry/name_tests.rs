//! Names as tables: what each tool of a few servers is called.

use std::collections::HashSet;

use super::Claim::{Firm, Open};
use super::*;

fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

/// Names tools in the order they are given.
fn name_all(
    book: &mut NameBook,
    naming: Naming,
    servers: &Prefixes,
    tools: &[(&ServerName, &str, Claim)],
) -> Vec<Named> {
    tools.iter().map(|(server, tool, claim)| book.name((naming, *claim), servers, server, tool)).collect()
}

/// Names `tools`, written `server/tool`, in order. `others` are servers that offer nothing.
fn names(naming: Naming, tools: &[&str], others: &[&str]) -> Vec<String> {
    let tools: Vec<(ServerName, &str)> = tools
        .iter()
        .map(|tool| {
            let (name, tool) = tool.split_once('/').unwrap();
            (server(name), tool)
        })
        .collect();
    let mut all: HashSet<ServerName> = others.iter().map(|name| server(name)).collect();
    all.extend(tools.iter().map(|(name, _)| name.clone()));
    let listed: Vec<_> = tools.iter().map(|(name, tool)| (name, *tool, Firm)).collect();
    let named_in = |mut book: NameBook| name_all(&mut book, naming, &Prefixes::of(all.iter()), &listed);
    let named = named_in(NameBook::default());
    let once: Vec<(ExposedName, Option<Why>)> =
        named_in(NameBook::for_once()).into_iter().map(|named| (named.name, named.why)).collect();
    let always: Vec<_> = named.iter().map(|named| (named.name.clone(), named.why.clone())).collect();
    assert_eq!(once, always, "a book for one catalog names alike");
    let shown: Vec<String> = named.iter().map(|named| named.name.to_string()).collect();
    let unique: HashSet<&String> = shown.iter().collect();
    assert_eq!(unique.len(), shown.len(), "two tools share a name: {shown:?}");
    for name in &shown {
        assert!(name.len() <= 63 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)), "{name}");
    }
    shown
}

#[test]
fn a_tool_keeps_its_own_name_and_the_later_one_is_qualified() {
    let cases: [(&[&str], &[&str]); 7] = [
        (&["a/search", "b/search", "b/read"], &["search", "b__search", "read"]),
        (&["a/x", "b/x", "c/x"], &["x", "b__x", "c__x"]),
        (&["mcp/echo", "x/echo"], &["echo", "x__echo"]),
        (&["a/with space", "a/with/slash"], &["with_space", "with_slash"]),
        (&["a/a.b-c_d"], &["a.b-c_d"]),
        (&["my server/x", "other server/x"], &["x", "other_server__x"]),
        (&["a/Echo", "b/echo"], &["Echo", "echo"]),
    ];
    for (tools, expected) in cases {
        assert_eq!(names(Naming::Short, tools, &[]), expected, "{tools:?}");
    }
}

#[test]
fn long_names_keep_their_ends() {
    let long = format!("a/{}{}{}", "h".repeat(100), "-", "t".repeat(99));
    let expected = format!("{}___{}", "h".repeat(28), "t".repeat(32));
    assert_eq!(names(Naming::Short, &[&long], &[]), std::slice::from_ref(&expected));
    // 63 characters are not too many, 64 are.
    let fits = "x".repeat(63);
    assert_eq!(names(Naming::Short, &[&format!("a/{fits}")], &[]), [fits]);
    assert_eq!(names(Naming::Short, &[&format!("a/{}", "x".repeat(64))], &[])[0].len(), 63);
    // Two that look alike after the cut: the later one is qualified, a third gets a hash.
    let also = format!("a/{}{}{}", "h".repeat(100), "+", "t".repeat(99));
    let and_also = format!("a/{}{}{}", "h".repeat(100), "*", "t".repeat(99));
    let shown = names(Naming::Short, &[&long, &also, &and_also], &[]);
    assert_eq!(shown[0], expected);
    assert_eq!(shown[1], format!("a__{}___{}", "h".repeat(25), "t".repeat(32)));
    assert!(shown[2].starts_with(&format!("a_{}_", "h".repeat(25))), "{shown:?}");
}

#[test]
fn names_in_other_scripts_are_told_apart() {
    let shown = names(Naming::Short, &["a/搜索", "a/读取", "a/写入", "b/搜索"], &[]);
    assert_eq!(shown[0], "__");
    assert_eq!(shown[1], "a____");
    assert!(shown[2].starts_with("a_") && shown[2].len() == 10, "a hash tells the third apart: {shown:?}");
    assert_eq!(shown[3], "b____");
    assert_eq!(shown, names(Naming::Short, &["a/搜索", "a/读取", "a/写入", "b/搜索"], &[]), "the same on every run");
}

#[test]
fn no_name_reads_like_a_tool_of_another_server() {
    // `b__x` could be called by that name, whether or not b is there already.
    assert_eq!(names(Naming::Short, &["a/b__x"], &["b"]), ["a__b__x"]);
    assert_eq!(names(Naming::Short, &["a/b__x"], &["c"]), ["b__x"]);
    assert_eq!(names(Naming::Short, &["a/a__x", "a/x"], &[]), ["a__x", "x"]);
    // Not even when the qualified name is taken on purpose, or reads like another server itself.
    let shown = names(Naming::Short, &["evil/evil__github__search", "evil/github__search"], &["github"]);
    assert!(shown[0] == "evil__github__search" && shown[1].starts_with("evil_github_search_"), "{shown:?}");
    let shown = names(Naming::Short, &["x/c", "a/b__c", "a__b/c"], &[]);
    assert!(shown[1] == "b__c" && shown[2].starts_with("a_b_c_"), "{shown:?}");
    let shown = names(Naming::Short, &["x/b__c", "a/b__c", "a__b/c"], &[]);
    assert!(shown[1].starts_with("a_b_c_"), "{shown:?}");
}

#[test]
fn qualified_names_hold_the_server() {
    let shown = names(Naming::Qualified, &["mcp/x", "mcp_x/y", "x/y", "my server/a/b"], &[]);
    assert_eq!(shown, ["mcp_mcp_x", "mcp_mcp_x_y", "mcp_x_y", "mcp_my_server_a_b"]);
    // `a_b` + `c` and `a` + `b_c` would be one name.
    let shown = names(Naming::Qualified, &["a_b/c", "a/b_c"], &[]);
    assert_eq!(shown[0], "mcp_a_b_c");
    assert!(shown[1].starts_with("mcp_a_b_c_"), "{shown:?}");
}

#[test]
fn a_name_once_given_stays() {
    let (a, b) = (server("a"), server("b"));
    let all = Prefixes::of([a.clone(), b.clone()].iter());
    let mut book = NameBook::default();
    let mut name = |tools: &[(&ServerName, &str, Claim)]| -> Vec<String> {
        let named = name_all(&mut book, Naming::Short, &all, tools);
        named.iter().map(|named| named.name.to_string()).collect()
    };
    assert_eq!(name(&[(&b, "x", Firm)]), ["x"]);
    assert_eq!(name(&[(&a, "x", Firm), (&b, "x", Firm)]), ["a__x", "x"], "b was shown first under that name");
    assert_eq!(name(&[(&a, "x", Firm)]), ["a__x"], "also while b is away");
    assert_eq!(name(&[(&b, "y", Open), (&b, "z", Open)]), ["b__y", "b__z"], "while a may claim them");
    assert_eq!(name(&[(&a, "y", Firm), (&b, "y", Firm), (&b, "z", Firm)]), ["y", "b__y", "z"], "a has claimed one");
    assert_eq!(name(&[(&b, "z", Open)]), ["z"], "what is given stays");
}

#[test]
fn the_reason_for_a_name_is_known() {
    let (a, b) = (server("a"), server("b"));
    let all = Prefixes::of([a.clone(), b.clone()].iter());
    let tools = [(&a, "x", Firm), (&b, "x", Firm), (&b, "a b", Firm), (&b, "a__q", Firm), (&b, "y", Open)];
    let named = name_all(&mut NameBook::default(), Naming::Short, &all, &tools);
    let why: Vec<String> =
        named.iter().map(|named| named.why.as_ref().map(Why::to_string).unwrap_or_default()).collect();
    assert_eq!(
        why,
        [
            "",
            "`a` has that name",
            "its own name is too long or has characters that names may not have",
            "its own name reads like a tool of `a`",
            "a server that is still starting may have that name",
        ]
    );
}

#[test]
fn prompts_keep_their_names_too() {
    let (a, b) = (server("a"), server("b"));
    let mut book = NameBook::default();
    let steps = [
        (Claim::Firm, &b, "review", "review"),
        (Claim::Firm, &a, "review", "a.review"),
        (Claim::Firm, &b, "a.review", "b.a.review"),
        (Claim::Firm, &b, "review", "review"),
        // What an earlier server may still have is not given away, and is given when it has not.
        (Claim::Open, &b, "explain", "b.explain"),
        (Claim::Open, &b, "explain", "b.explain"),
        (Claim::Open, &a, "explain", "a.explain"),
        (Claim::Firm, &a, "explain", "explain"),
        (Claim::Firm, &b, "explain", "b.explain"),
        (Claim::Open, &a, "explain", "explain"),
    ];
    for (claim, server, prompt, expected) in steps {
        assert_eq!(&*book.name_prompt(claim, server, prompt), expected, "{claim:?} {server} {prompt}");
    }
}
