//! One host's servers behind somebody else's rules, and results that are too large for a model.

use std::sync::Arc;

use serde_json::json;
use toolgate::results::{ResultStore, SliceContent};
use toolgate::{Asker, CallRules, ErrorKind, RunOptions, ServerStatus};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::lifecycle_room::{Notes, connected, in_time, prepared, starts};
use crate::support::{Room, call, lets_everything_through, names, text};

fn two() -> Room {
    let script = |tool: &str| Script::new(tool).tool(ToolScript::echo(tool)).tool(ToolScript::echo("same"));
    Room::new().server("one", &script("first")).server("two", &script("second"))
}

#[tokio::test]
async fn others_may_do_other_things_on_the_same_connections() {
    let room = two();
    let (ours, theirs) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
    let host = connected(&room, room.builder().call_rules(ours.rules())).await;
    let rules = CallRules { audit: theirs.clone(), ..CallRules::default() };
    let facade = host.with_rules(rules, &room.env());
    in_time(facade.connect(room.servers())).await;
    assert_eq!(names(&facade.catalog_now()), names(&host.catalog_now()));
    let arguments = || json!({"message": "x"});
    assert_eq!(call(&facade, "first", arguments()).await.as_str(), "denied");
    assert_eq!(text(&call(&host, "first", arguments()).await), "x");
    assert_eq!((theirs.told(), ours.told()), (vec!["denied first".to_owned()], vec!["completed first".to_owned()]));
    in_time(facade.shutdown()).await;
    drop(facade);
    assert!(host.servers().iter().all(|view| view.status == ServerStatus::Connected));
    assert_eq!(text(&call(&host, "second", arguments()).await), "x");
    assert_eq!((starts(&room.record(0)), starts(&room.record(1))), (1, 1));
}

#[tokio::test]
async fn only_what_was_asked_for_is_shown() {
    let room = two();
    let host = room.host().await;
    let facade = host.with_rules(lets_everything_through(), &room.env());
    assert!(facade.servers().is_empty());
    in_time(facade.connect(room.servers().only(|server| server.name.as_str() == "two"))).await;
    assert_eq!(names(&facade.catalog_now()), ["second", "same"], "as if there were no others");
    assert_eq!(names(&facade.catalog()), ["second", "same"]);
    assert_eq!(facade.servers().len(), 1);
    let outcome = facade.read_resource("one", "note://1").await.unwrap_err();
    assert_eq!((outcome.kind(), outcome.hint()), (ErrorKind::UnknownServer, Some("there is `two`")));
    assert_eq!(facade.line("one").unwrap_err().kind(), ErrorKind::UnknownServer);
    assert_eq!(facade.ping("one").await.unwrap_err().kind(), ErrorKind::UnknownServer);
    assert_eq!(facade.settled("one").await.unwrap_err().kind(), ErrorKind::UnknownServer);
    assert_eq!(facade.stderr_tail("one"), "");
    let removed = facade.reconcile(room.servers().only(|_| false)).removed;
    assert_eq!((removed.len(), host.servers().len()), (0, 2), "the servers are the other one's");
    assert_eq!(text(&call(&host, "first", json!({"message": "x"})).await), "x");
}

#[tokio::test]
async fn a_name_means_what_it_was_shown_as() {
    let room = two();
    let host = room.host().await;
    assert_eq!(names(&host.catalog()), ["first", "same", "second", "two__same"]);
    let rules = CallRules { session: Some(host.calls().session().clone()), ..lets_everything_through() };
    let facade = host.with_rules(rules, &room.env()).keeping_names();
    in_time(facade.connect(room.servers().only(|server| server.name.as_str() == "two"))).await;
    assert_eq!(names(&facade.catalog_now()), ["second", "two__same"]);
    assert_eq!(facade.calls().session(), host.calls().session());
    in_time(facade.connect(room.servers())).await;
    assert_eq!(names(&facade.catalog_now()), names(&host.catalog()));
}

#[tokio::test]
async fn a_large_result_is_kept_for_a_model_and_read_in_parts() {
    let script = Script::new("big")
        .tool(ToolScript::new("big", Behaviour::Big { bytes: 300_000 }))
        .tool(ToolScript::text("umlauts", "äöü€𝄞".repeat(20_000)))
        .tool(ToolScript::new("broken", Behaviour::tool_error("no ".repeat(50_000))))
        .tool(ToolScript::text("small", "little"));
    let room = Room::new().server("one", &script);
    let store = Arc::new(ResultStore::new(&room.env()));
    let rules = CallRules { results: Some(store.clone()), ..lets_everything_through() };
    let host = connected(&room, room.builder().call_rules(rules)).await;
    for (tool, is_large) in [("big", true), ("umlauts", true), ("broken", true), ("small", false)] {
        for asker in [Asker::Model, Asker::Cli] {
            let outcome = in_time(host.run(prepared(&host, tool, json!({}), asker), RunOptions::default())).await;
            let report = outcome.report().unwrap();
            assert_eq!(report.kept.is_some(), is_large && asker == Asker::Model, "{tool} {asker:?}");
            let Some(kept) = &report.kept else { continue };
            let told = report.for_model().text();
            assert!(told.contains(&format!("is kept as {}", kept.short())) && told.len() < 200_000, "{tool}");
            let (whole, mut read, mut at) = (report.result.text(), String::new(), Some(0));
            while let Some(offset) = at {
                let slice = store.read(&kept.short(), offset, 10_001).unwrap();
                let SliceContent::Text(text) = slice.content else { panic!("{tool}") };
                read.push_str(&text);
                at = slice.next;
            }
            assert!(read == whole, "{tool}: {} and {} bytes", read.len(), whole.len());
        }
    }
}
