//! Calls that become tasks at their server: they end in a known way, and are made once.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, HttpAnswer, Script, ScriptedHttp, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::{Notes, called, connected, spawned};
use crate::support::{LONG, Room, call, text};

fn task(status: &str, more: Value) -> Behaviour {
    let mut task = json!({"taskId": "t1", "status": status, "pollIntervalMs": 20, "ttlMs": null});
    if let Value::Object(more) = more {
        task.as_object_mut().unwrap().extend(more);
    }
    Behaviour::Reply(task)
}

/// A tool that becomes a task, which looks like this from one look to the next.
fn job(looks: Vec<Behaviour>) -> Script {
    Script::new("one")
        .versions(&["2026-07-28"])
        .tool(ToolScript::new("job", task("working", json!({"resultType": "task"}))))
        .method("tasks/get", Behaviour::Turns(looks))
        .method("tasks/cancel", Behaviour::Reply(json!({})))
}

#[tokio::test]
async fn how_a_call_ends_that_has_become_a_task() {
    let done = task("completed", json!({"result": {"content": [{"type": "text", "text": "done"}]}}));
    let failed = task("failed", json!({"error": {"code": -5, "message": "it broke"}}));
    let works = |count: u32| (0..count).map(|n| task("working", json!({"statusMessage": n.to_string()})));
    let refused = What::HttpStatus(HttpAnswer::status(401));
    let look = || When::Method("tasks/get").nth(1);
    let plain = json!({});
    // The settings, the server, and how the call ends.
    let rows: [(Value, Script, &str); 7] = [
        (plain.clone(), job(vec![task("working", json!({})), done.clone()]), "completed"),
        (plain.clone(), job(vec![failed]), "failed"),
        (json!({"timeout": 300}), job(vec![task("working", json!({}))]), "timed_out"),
        (json!({"maxDuration": 400}), job(works(500).collect()), "timed_out"),
        (plain.clone(), job(vec![done.clone()]).fault(look(), What::Reset), "completed"),
        (plain.clone(), job(vec![Behaviour::error(-32602, "unknown task")]), "unknown"),
        (plain, job(vec![done]).fault(look(), refused), "unknown"),
    ];
    for (settings, script, expected) in rows {
        let http = ScriptedHttp::start(script).await.unwrap();
        let mut entry = json!({"url": http.url(), "type": "http"});
        entry.as_object_mut().unwrap().extend(settings.as_object().cloned().unwrap());
        let room = Room::new().entry("one", entry);
        let notes = Arc::new(Notes::default());
        let host = connected(&room, room.builder().call_rules(notes.rules())).await;
        let outcome = call(&host, "job", json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{settings}: {outcome:?}");
        assert_eq!(called(http.record(), "job"), 1, "{settings}: {outcome:?}");
        assert_eq!(notes.told(), [format!("{expected} job")]);
        if expected == "completed" {
            assert_eq!(text(&outcome), "done");
        }
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_task_ends_with_the_call_that_is_given_up_also_when_the_host_ends() {
    for ends_host in [false, true] {
        let room = Room::new().server("one", &job(vec![task("working", json!({}))]));
        let host = Arc::new(room.host().await);
        let running = spawned(&host, "job", json!({}));
        let record = room.record(0);
        until("a look at the task", LONG, || record.count("tasks/get") > 0).await;
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        if ends_host {
            host.shutdown().await;
        }
        record.wait_for_method("tasks/cancel", LONG).await.unwrap();
    }
}
