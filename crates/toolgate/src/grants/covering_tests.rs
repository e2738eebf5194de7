//! Which calls are covered by what was allowed, as a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Covering, covering};
use crate::grants::{Grant, GrantScope, GrantSubject};
use crate::policy::Mode;
use crate::server_name::ServerName;

const NOW_SECONDS: u64 = 1_000;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A grant for `tool` of server `s`, reached by way 1, with definition 1.
fn grant(id: &str, scope: GrantScope) -> Grant {
    Grant {
        id: id.to_owned(),
        server: ServerName::new("s").unwrap(),
        server_identity: "way 1".to_owned(),
        scope,
        tools: BTreeMap::from([("tool".to_owned(), "definition 1".to_owned())]),
        mode: Mode::Default,
        given_at: at(1),
        given_in: "/w".into(),
        expires_at: None,
    }
}

/// One call.
struct Call {
    server: &'static str,
    way: &'static str,
    tool: &'static str,
    definition: &'static str,
    arguments: Value,
    mode: Mode,
    folder: &'static str,
    builtin: Option<&'static str>,
}

fn call() -> Call {
    Call {
        server: "s",
        way: "way 1",
        tool: "tool",
        definition: "definition 1",
        arguments: json!({"b": [1, {"y": 1, "x": 2}], "a": 1}),
        mode: Mode::Default,
        folder: "/elsewhere",
        builtin: None,
    }
}

fn judged(grants: &[Grant], call: &Call) -> Covering {
    let server = ServerName::new(call.server).unwrap();
    let subject = GrantSubject {
        server: &server,
        server_identity: call.way,
        builtin: call.builtin,
        tool: call.tool,
        definition: call.definition,
        arguments: &call.arguments,
        folder: Path::new(call.folder),
        mode: call.mode,
        all_tools: &BTreeMap::new(),
    };
    covering(grants.iter(), &subject, at(NOW_SECONDS))
}

fn tool() -> Grant {
    grant("t", GrantScope::Tool)
}

fn server() -> Grant {
    let tools = ["tool", "other"].map(|name| (name.to_owned(), "definition 1".to_owned()));
    Grant { tools: BTreeMap::from(tools), ..grant("s", GrantScope::Server) }
}

fn arguments(text: &str) -> Grant {
    grant("a", GrantScope::Arguments(text.to_owned()))
}

const THESE: &str = r#"{"a":1,"b":[1,{"x":2,"y":1}]}"#;

#[test]
fn a_call_is_covered_by_what_is_still_what_was_allowed() {
    let changed = "t: the definition of `tool` has changed since";
    let moved = "t: server `s` is started or reached in another way than it was then";
    let cases: Vec<(&str, Grant, Call, &str)> = vec![
        ("as it was", tool(), call(), "t"),
        ("another tool", tool(), Call { tool: "other", ..call() }, "-"),
        ("another server", tool(), Call { server: "S", ..call() }, "-"),
        ("a changed definition", tool(), Call { definition: "definition 2", ..call() }, changed),
        ("another server of that name", tool(), Call { way: "way 2", ..call() }, moved),
        ("a tighter mode", tool(), Call { mode: Mode::Plan, ..call() }, "-"),
        ("a more permissive mode", tool(), Call { mode: Mode::AutoEdit, ..call() }, "t"),
        ("given in the tightest mode", Grant { mode: Mode::Plan, ..tool() }, Call { mode: Mode::Yolo, ..call() }, "t"),
        (
            "given in a permissive mode",
            Grant { mode: Mode::Yolo, ..tool() },
            Call { mode: Mode::AutoEdit, ..call() },
            "-",
        ),
        ("a built-in server", tool(), Call { builtin: Some("workspace"), folder: "/w", ..call() }, "t"),
        ("a built-in server in another folder", tool(), Call { builtin: Some("workspace"), ..call() }, "-"),
        ("its last second", Grant { expires_at: Some(at(NOW_SECONDS + 1)), ..tool() }, call(), "t"),
        ("its time is over", Grant { expires_at: Some(at(NOW_SECONDS)), ..tool() }, call(), "-"),
        (
            "over, and changed",
            Grant { expires_at: Some(at(1)), ..tool() },
            Call { definition: "definition 2", ..call() },
            "-",
        ),
        ("the whole server", server(), call(), "s"),
        ("another tool of it", server(), Call { tool: "other", ..call() }, "s"),
        ("a tool it has got since", server(), Call { tool: "new", ..call() }, "-"),
        (
            "a changed tool of it",
            server(),
            Call { tool: "other", definition: "definition 2", ..call() },
            "s: the definition of `other` has changed since",
        ),
        ("these arguments in another order", arguments(THESE), call(), "a exactly"),
        ("other arguments", arguments(r#"{"a":2}"#), call(), "-"),
        ("fewer arguments", arguments(THESE), Call { arguments: json!({"a": 1}), ..call() }, "-"),
        ("more arguments", arguments(r#"{"a":1}"#), call(), "-"),
        ("a text instead of a number", arguments(r#"{"a":"1"}"#), Call { arguments: json!({"a": 1}), ..call() }, "-"),
        (
            "these arguments of a changed tool",
            arguments(THESE),
            Call { definition: "definition 2", ..call() },
            "a: the definition of `tool` has changed since",
        ),
        ("other arguments of a changed tool", arguments("{}"), Call { definition: "definition 2", ..call() }, "-"),
    ];
    for (what, grant, call, expected) in cases {
        assert_eq!(shown(&judged(&[grant], &call)), expected, "{what}");
    }
}

#[test]
fn of_several_grants_the_one_that_says_most_counts() {
    let stale = || Grant { server_identity: "way 0".to_owned(), ..grant("old", GrantScope::Tool) };
    let cases: Vec<(Vec<Grant>, &str)> = vec![
        (vec![], "-"),
        (vec![stale(), tool()], "t"),
        (vec![tool(), stale()], "t"),
        (vec![tool(), server()], "t"),
        (vec![server(), arguments(THESE), tool()], "a exactly"),
        (vec![server(), arguments("{}")], "s"),
        (vec![stale(), arguments("{}")], "old: server `s` is started or reached in another way than it was then"),
    ];
    for (grants, expected) in cases {
        assert_eq!(shown(&judged(&grants, &call())), expected, "{grants:?}");
    }
}

fn shown(covering: &Covering) -> String {
    match covering {
        Covering::Covered { grant, is_for_these_arguments: true } => format!("{grant} exactly"),
        Covering::Covered { grant, is_for_these_arguments: false } => grant.clone(),
        Covering::Suspended { grant, why } => format!("{grant}: {why}"),
        Covering::None => "-".to_owned(),
    }
}
