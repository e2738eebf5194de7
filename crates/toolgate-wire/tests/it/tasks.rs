//! Calls that become tasks: they have the time of the call, are looked at until they end, and are given up with it.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, HttpAnswer, Script, ToolScript, What, When};
use toolgate_wire::{Call, Error};

use crate::support::{Met, PATIENCE, Way, raw, within};

const LOOK: When = When::Method("tasks/get");

/// One look at a task.
fn task(status: &str, more: Value) -> Behaviour {
    let mut task = json!({"taskId": "t1", "status": status, "pollIntervalMs": 20, "ttlMs": null});
    if let Value::Object(more) = more {
        task.as_object_mut().unwrap().extend(more);
    }
    Behaviour::Reply(task)
}

fn done() -> Behaviour {
    task("completed", json!({"result": {"content": [{"type": "text", "text": "done"}]}}))
}

/// A tool that becomes a task, which looks like this from one look to the next.
fn job(looks: Vec<Behaviour>) -> Script {
    Script::new("demo")
        .versions(&["2026-07-28"])
        .tool(ToolScript::new("job", task("working", json!({"resultType": "task"}))))
        .method("tasks/get", Behaviour::Turns(looks))
        .method("tasks/cancel", Behaviour::Reply(json!({})))
        .fault(When::Method("tasks/update"), What::AnswerWith(json!({"resultType": "complete"})))
}

/// Calls the tool; how that ended in words.
async fn call(met: &Met, idle_ms: u64, total_ms: u64) -> String {
    let call = Call::tool("job", &raw(json!({})));
    let call = call.idle_limit(Duration::from_millis(idle_ms)).total_limit(Duration::from_millis(total_ms));
    match within("the end of a task", met.client().finish_tool_call(call)).await {
        Ok(result) => result.text(),
        Err(Error::TimedOut { idle, after, .. }) => format!("timed out, idle {idle}, {after:?}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_task_has_the_time_of_its_call() {
    let working = |message: String| task("working", json!({"statusMessage": message}));
    let updated = |at: usize| task("working", json!({"lastUpdatedAt": at}));
    let long = 60_000;
    // What is seen of it, the two time limits, and how the call ends.
    let rows = [
        ("it says nothing new", vec![working("busy".to_owned()); 2], (300, long), "timed out, idle true, 300ms"),
        (
            "it never ends",
            (0..500).map(|n| working(n.to_string())).collect(),
            (long, 400),
            "timed out, idle false, 400ms",
        ),
        ("it goes on", (0..120).map(updated).chain([done()]).collect(), (2_000, long), "done"),
    ];
    for (name, looks, (idle, total), expected) in rows {
        for way in [Way::Child, Way::HttpJson] {
            let met = way.meet(job(looks.clone())).await;
            assert_eq!(call(&met, idle, total).await, expected, "{name}, {way:?}");
            if expected != "done" {
                let cancelled = met.record.wait_for_method("tasks/cancel", PATIENCE).await.unwrap();
                assert_eq!(cancelled["params"]["taskId"], "t1", "{name}, {way:?}: the server is told");
            }
            assert_eq!(met.record.count("tools/call"), 1, "{name}, {way:?}");
        }
    }
}

#[tokio::test]
async fn a_look_that_is_lost_is_made_again_and_the_call_never_is() {
    let statuses = [502, 408, 429].map(|status| What::HttpStatus(HttpAnswer::status(status)));
    for fault in [What::Reset, What::Close].into_iter().chain(statuses) {
        let met = Way::HttpJson.meet(job(vec![done()]).fault(LOOK.nth(1), fault.clone())).await;
        assert_eq!(call(&met, 10_000, 60_000).await, "done", "{fault:?}");
        assert_eq!((met.record.count("tools/call"), met.record.count("tasks/cancel")), (1, 0), "{fault:?}");
    }
}

#[tokio::test]
async fn a_task_that_the_server_tells_nothing_of_is_lost() {
    let looks = || job(vec![task("working", json!({}))]);
    let gone = What::HttpStatus(HttpAnswer::status(410));
    let rows = [
        (job(vec![Behaviour::error(-32602, "unknown task")]), "unknown task (code -32602)"),
        (job(vec![task("sleeping", json!({}))]), "unknown status"),
        (looks().fault(LOOK, gone), "HTTP 410 Gone"),
        (looks().fault(LOOK, What::HttpStatus(HttpAnswer::status(200).body("not JSON"))), "unusable answer"),
    ];
    for (script, why) in rows {
        let met = Way::HttpJson.meet(script).await;
        let ended = within("the end of a task", met.client().call_tool("job", raw(json!({})))).await;
        assert!(matches!(ended, Err(Error::TaskLost(_))), "{why}: {ended:?}");
        let said = ended.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
        assert!(said.starts_with("the server tells no more about the task `t1`: ") && said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn a_task_that_never_stops_asking_is_stopped() {
    let ask = |n: usize| {
        let question = json!({"method": "elicitation/create", "params": {"message": "?"}});
        task("input_required", json!({"inputRequests": {format!("q{n}"): question}}))
    };
    let met = Way::HttpJson.meet(job((0..50).map(ask).collect())).await;
    let expected = "too much: rounds of input in one task (limit INPUT_ROUNDS_MAX = 16)";
    assert_eq!(call(&met, 10_000, 60_000).await, expected);
    assert_eq!(met.side.heard().questions.len(), 17);
    met.record.wait_for_method("tasks/cancel", PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_task_given_up_in_the_last_moment_is_cancelled_at_the_server() {
    for way in [Way::Child, Way::HttpJson, Way::HttpEvents] {
        let met = way.meet(job(vec![task("working", json!({}))])).await;
        let mut call = Box::pin(met.client().call_tool("job", raw(json!({}))));
        tokio::select! {
            ended = &mut call => panic!("{way:?}: {ended:?}"),
            looked = met.record.wait_for_method("tasks/get", PATIENCE) => drop(looked.unwrap()),
        }
        drop(call);
        within("closing", met.client().close()).await;
        assert_eq!(met.record.count("tasks/cancel"), 1, "{way:?}");
    }
}
