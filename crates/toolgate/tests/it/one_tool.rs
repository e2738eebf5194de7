//! A tool that a program keeps: whether a call needs a confirmation, the duration of an answer, and the usable tools.

use std::sync::Arc;

use serde_json::json;
use toolgate::call::{Confirmation, ConfirmationKind};
use toolgate::grants::{Lasting, Remember};
use toolgate::policy::{Permissions, Policy, Presence, ServerPermissions, default_rules};
use toolgate::{CallRules, DiscoveredTool, Host, RawJson, ServerName};
use toolgate_testkit::{Script, ToolScript};

use crate::lifecycle_room::{Person, called, only_reads};
use crate::support::{LONG, Room};

fn room() -> Room {
    let script = Script::new("fs")
        .tool(ToolScript::echo("read").annotations(only_reads()))
        .tool(ToolScript::echo("write"))
        .tool(ToolScript::echo("delete_all"));
    Room::new().server("fs", &script)
}

/// A host with a confirmer that refuses, so that only answers of the program count.
async fn host(room: &Room) -> (Host, Arc<Person>) {
    let person = Person::who_says(Confirmation::Refuse { reason: None });
    let rules = CallRules { lasting: Lasting::Always, presence: Presence::Interactive, ..person.rules() };
    let host = room.builder().call_rules(rules).build();
    tokio::time::timeout(LONG, host.connect(room.servers())).await.expect("the servers settle");
    (host, person)
}

fn message(text: &str) -> RawJson {
    json!({"message": text}).into()
}

#[tokio::test]
async fn a_program_asks_first_and_calls_then() {
    // the answer; whether the same call, the next same call, other arguments and another tool need a question then
    let cases = [
        (Confirmation::Proceed(Remember::No), [false, true, true, true]),
        (Confirmation::Proceed(Remember::ToolThisSession), [false, false, false, true]),
        (Confirmation::Proceed(Remember::ServerThisSession), [false, false, false, false]),
        (Confirmation::Proceed(Remember::ServerAlways), [false, false, false, false]),
        (Confirmation::Proceed(Remember::TheseArgumentsAlways), [false, false, true, true]),
        (Confirmation::Refuse { reason: None }, [true, true, true, true]),
    ];
    for (answer, asks) in cases {
        let room = room();
        let (host, person) = host(&room).await;
        let tool = |name: &str| DiscoveredTool::of(&host.catalog(), "fs", name).unwrap();
        let (write, delete) = (tool("write"), tool("delete_all"));
        assert!(tool("read").should_confirm(host.calls(), &message("x")).await.is_none(), "it only reads");
        let confirmation = write.should_confirm(host.calls(), &message("x")).await.expect("it is asked about");
        let request = &confirmation.request;
        assert_eq!((request.kind, request.title), (ConfirmationKind::Mcp, "Confirm MCP Tool Execution"));
        assert_eq!((request.name.as_str(), &*request.tool.id.server), ("write", "fs"));
        assert!(request.choices.contains(&Remember::ServerThisSession), "{:?}", request.choices);
        confirmation.on_confirm(answer.clone()).await;
        let calls = [(&write, "x"), (&write, "x"), (&write, "y"), (&delete, "x")];
        for ((tool, text), asks) in calls.into_iter().zip(asks) {
            let outcome = tool.execute(host.calls(), message(text)).await;
            let expected = if asks { "refused" } else { "completed" };
            assert_eq!(outcome.as_str(), expected, "{answer:?} {} {text}", tool.name());
        }
        assert_eq!(person.asked().len(), asks.iter().filter(|asks| **asks).count(), "{answer:?}");
        assert_eq!(called(&room.record(0), "write") > 0, !asks[0], "{answer:?}");
    }
}

#[tokio::test]
async fn a_tool_that_nothing_lets_through_is_no_tool() {
    let room = room();
    let (host, _) = host(&room).await;
    let permissions = || Permissions::new(Policy::new(default_rules()));
    let is_there = |permissions: &Permissions, name: &str| {
        permissions.secure_tool(DiscoveredTool::of(&host.catalog(), "fs", name).unwrap()).is_some()
    };
    let fs = ServerName::new("fs").unwrap();
    let only = permissions();
    only.set_server(&fs, ServerPermissions::only(["read"]));
    let denied = permissions();
    denied.deny_everywhere("delete_all");
    // permissions, whether `read`, `write` and `delete_all` may be used
    let cases = [(permissions(), [true, true, true]), (only, [true, false, false]), (denied, [true, true, false])];
    for (permissions, expected) in cases {
        assert_eq!(["read", "write", "delete_all"].map(|name| is_there(&permissions, name)), expected);
    }
}
