//! How many calls run on a server at once, in which order, and what becomes of those that wait.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolgate::connect::WireTap;
use toolgate::{CallOutcome, ErrorKind};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::chaos_room::until;
use crate::lifecycle_room::{Notes, called, connected, in_time, spawned};
use crate::support::{LONG, Room, call, text};

fn script() -> Script {
    Script::new("busy")
        .tool(ToolScript::new("slow", Behaviour::delay(50, Behaviour::text("done"))))
        .tool(ToolScript::new("never", Behaviour::Never))
        .tool(ToolScript::text("quick", "done"))
}

fn room(most: u32, more: &Value) -> Room {
    let mut settings = json!({"maxConcurrency": most});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Room::new().server_with("one", &script(), &settings)
}

/// How many calls were under way at most, as the frames went to and fro.
#[derive(Default)]
struct UnderWay(Mutex<(Vec<Value>, usize)>);

impl UnderWay {
    fn see(&self, frame: &[u8]) {
        let Ok(frame) = serde_json::from_slice::<Value>(frame) else { return };
        let (running, most) = &mut *self.0.lock().unwrap();
        if frame["method"] == "tools/call" {
            running.push(frame["id"].clone());
            *most = running.len().max(*most);
        } else if frame.get("method").is_none() {
            running.retain(|id| *id != frame["id"]);
        }
    }

    fn tap(self: &Arc<Self>) -> WireTap {
        let seen = self.clone();
        Arc::new(move |_, _, frame: &[u8]| seen.see(frame))
    }
}

#[tokio::test]
async fn no_more_run_at_once_than_may_and_they_go_in_order() {
    let room = room(2, &json!({}));
    let under_way = Arc::new(UnderWay::default());
    let host = connected(&room, room.builder().tap(under_way.tap())).await;
    let all = join_all((0..10).map(|number| call(&host, "slow", json!({"number": number})))).await;
    assert!(all.iter().all(|outcome| outcome.as_str() == "completed"));
    assert_eq!(under_way.0.lock().unwrap().1, 2);
    let calls = room.record(0).received().into_iter().filter(|message| message["method"] == "tools/call");
    let order: Vec<u64> = calls.map(|call| call["params"]["arguments"]["number"].as_u64().unwrap()).collect();
    assert_eq!(order, (0..10).collect::<Vec<_>>());
    let traffic = host.line("one").unwrap().traffic();
    assert_eq!((traffic.calls, traffic.running, traffic.waiting), (10, 0, 0));
}

#[tokio::test]
async fn a_server_that_lets_nobody_wait_says_so() {
    let room = room(1, &json!({"onBusy": "reject"}));
    let notes = Arc::new(Notes::default());
    let host = Arc::new(connected(&room, room.builder().call_rules(notes.rules())).await);
    let running = spawned(&host, "never", json!({}));
    until("the first call at the server", LONG, || called(&room.record(0), "never") == 1).await;
    let CallOutcome::Failed(error) = call(&host, "quick", json!({})).await else { panic!("it was made") };
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Busy, "the server already runs 1 calls"));
    assert!(error.hint().unwrap().contains("`maxConcurrency`"));
    assert_eq!((called(&room.record(0), "quick"), notes.told()), (0, vec!["failed quick".to_owned()]));
    running.abort();
    until("the free place", LONG, || host.line("one").unwrap().traffic().running == 0).await;
    assert_eq!(text(&call(&host, "quick", json!({})).await), "done");
}

#[tokio::test]
async fn one_who_gives_up_leaves_the_queue() {
    let room = room(1, &json!({}));
    let notes = Arc::new(Notes::default());
    let host = Arc::new(connected(&room, room.builder().call_rules(notes.rules())).await);
    let line = host.line("one").unwrap();
    let running = spawned(&host, "never", json!({}));
    until("the first call at the server", LONG, || called(&room.record(0), "never") == 1).await;
    let gives_up = spawned(&host, "slow", json!({}));
    until("one who waits", LONG, || line.traffic().waiting == 1).await;
    let stays = spawned(&host, "quick", json!({}));
    until("two who wait", LONG, || line.traffic().waiting == 2).await;
    gives_up.abort();
    until("one who waits", LONG, || line.traffic().waiting == 1).await;
    running.abort();
    assert_eq!(text(&in_time(stays).await.unwrap()), "done");
    assert_eq!(called(&room.record(0), "slow"), 0, "nothing was sent");
    assert_eq!(notes.told(), ["cancelled slow", "cancelled never", "completed quick"]);
}

#[tokio::test]
async fn waiting_for_a_place_is_not_waiting_for_an_answer() {
    let slow = Behaviour::delay(400, Behaviour::text("done"));
    let script = Script::new("one").tool(ToolScript::new("slow", slow));
    let settings = json!({"maxConcurrency": 1, "timeout": 1500, "maxDuration": 1500});
    let room = Room::new().server_with("one", &script, &settings);
    let host = room.host().await;
    // Six take longer than one may.
    let all = join_all((0..6).map(|_| call(&host, "slow", json!({})))).await;
    let words: Vec<&str> = all.iter().map(CallOutcome::as_str).collect();
    assert_eq!(words, ["completed"; 6]);
}

#[tokio::test]
async fn a_busy_server_holds_up_no_other() {
    let other = Script::new("other").tool(ToolScript::text("other", "at once"));
    let room = room(1, &json!({})).server("two", &other);
    let host = Arc::new(room.host().await);
    let busy: Vec<_> = (0..3).map(|_| spawned(&host, "never", json!({}))).collect();
    until("two who wait", LONG, || host.line("one").unwrap().traffic().waiting == 2).await;
    assert_eq!(text(&call(&host, "other", json!({})).await), "at once");
    let traffic = host.line("two").unwrap().traffic();
    assert_eq!((traffic.calls, traffic.waiting), (1, 0));
    assert!(busy.iter().all(|call| !call.is_finished()));
    busy.iter().for_each(tokio::task::JoinHandle::abort);
}
