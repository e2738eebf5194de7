//! The person gives up: the stream ends, calls are cancelled at their servers, and the conversation can go on.

use serde_json::json;
use tokio::sync::oneshot;
use toolgate_model::TurnEnd;
use toolgate_testkit::model_server::{Speaker, WireFormat};
use toolgate_testkit::{ModelAnswer, ModelScript, ModelStop};

use crate::room::{LONG, Room, Wishes, message};

fn done() -> ModelAnswer {
    ModelAnswer::text(["Go on."])
}

#[tokio::test]
async fn in_the_middle_of_an_answer() {
    for format in WireFormat::ALL {
        let hangs = ModelAnswer::text(["Well, "]).ending(ModelStop::Hang);
        let mut room = Room::new(ModelScript::new([hangs, done()]), Wishes::new(format)).await;
        let (heard_text, text_heard) = oneshot::channel::<()>();
        let heard_text = std::sync::Mutex::new(Some(heard_text));
        let events = |event| {
            if matches!(event, toolgate_model::TurnEvent::Text(_)) {
                heard_text.lock().unwrap().take().unwrap().send(()).unwrap();
            }
        };
        let cancel = async move { text_heard.await.unwrap() };
        let turn = room.conversation.turn(&room.host, "one".into(), &events, cancel);
        let report = tokio::time::timeout(LONG, turn).await.unwrap();
        assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Cancelled, "Well, "), "{format:?}");
        room.model.record().wait_until_abandoned().await;
        assert_eq!(room.say("two").await.end, TurnEnd::Done, "{format:?}");
        let requests = room.requests();
        let texts: Vec<&str> = requests[1].messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["one", "Well, ", "two"], "{format:?}");
    }
}

#[tokio::test]
async fn while_tools_are_at_work() {
    for format in WireFormat::ALL {
        let calls =
            ModelAnswer::calls([("never", json!({"n": 1})), ("echo", message("quick")), ("never", json!({"n": 2}))]);
        let mut room = Room::new(ModelScript::new([calls, done()]), Wishes::new(format)).await;
        let record = room.tools.record().clone();
        // Both are under way at once, and the quick one has ended.
        let (ended, echo_ended) = oneshot::channel::<()>();
        let ended = std::sync::Mutex::new(Some(ended));
        let endings = std::sync::Mutex::new(Vec::new());
        let events = |event| {
            if let toolgate_model::TurnEvent::CallEnded(call, ending) = event {
                endings.lock().unwrap().push(format!("{} {} {}", call.id, call.name, ending.word));
                if let Some(ended) = ended.lock().unwrap().take() {
                    ended.send(()).unwrap();
                }
            }
        };
        let seen = record.clone();
        let cancel = async move {
            for number in 1..=2 {
                let is_it = |message: &serde_json::Value| message["params"]["arguments"] == json!({ "n": number });
                seen.wait_for(is_it, LONG).await.unwrap();
            }
            echo_ended.await.unwrap();
        };
        let turn = room.conversation.turn(&room.host, "one".into(), &events, cancel);
        let report = tokio::time::timeout(LONG, turn).await.unwrap();
        assert_eq!((report.end, report.calls, report.failed_calls), (TurnEnd::Cancelled, 3, 2), "{format:?}");
        let expected = ["2 echo completed", "1 never cancelled", "3 never cancelled"];
        assert_eq!(*endings.lock().unwrap(), expected, "{format:?}: every call has an end");
        record.wait_for_method("notifications/cancelled", LONG).await.unwrap();
        assert_eq!(room.say("two").await.end, TurnEnd::Done, "{format:?}");
        let requests = room.requests();
        let results: Vec<&str> = requests[1]
            .messages
            .iter()
            .flat_map(|message| &message.results)
            .map(|result| result.text.as_str())
            .collect();
        let cancelled = "The call was cancelled by the person.";
        assert_eq!(results, [cancelled, "<untrusted_context>\nquick\n</untrusted_context>", cancelled], "{format:?}");
        assert_eq!(requests[1].messages.last().unwrap().by, Speaker::User);
    }
}

#[tokio::test]
async fn before_the_next_attempt() {
    for format in WireFormat::ALL {
        let waits = ModelAnswer::refused(429, Some("100"));
        let mut room = Room::new(ModelScript::new([waits, done()]), Wishes::new(format)).await;
        let (retries, will_retry) = oneshot::channel::<()>();
        let retries = std::sync::Mutex::new(Some(retries));
        let events = |event| {
            if matches!(event, toolgate_model::TurnEvent::Retry { .. }) {
                retries.lock().unwrap().take().unwrap().send(()).unwrap();
            }
        };
        let cancel = async move { will_retry.await.unwrap() };
        let turn = room.conversation.turn(&room.host, "one".into(), &events, cancel);
        let report = tokio::time::timeout(LONG, turn).await.unwrap();
        assert_eq!(report.end, TurnEnd::Cancelled, "{format:?}");
        assert_eq!(room.conversation.messages(), 0);
        assert_eq!(room.say("two").await.end, TurnEnd::Done, "{format:?}");
    }
}

#[tokio::test]
async fn whoever_just_leaves_leaves_a_conversation_that_can_go_on() {
    for format in WireFormat::ALL {
        let calls = ModelAnswer::calls([("never", json!({}))]);
        let mut room = Room::new(ModelScript::new([calls, done()]), Wishes::new(format)).await;
        let record = room.tools.record().clone();
        {
            let events = |_| {};
            let turn = room.conversation.turn(&room.host, "one".into(), &events, std::future::pending());
            tokio::select! {
                report = turn => panic!("{report:?}"),
                called = record.wait_for_method("tools/call", LONG) => drop(called.unwrap()),
            }
        }
        record.wait_for_method("notifications/cancelled", LONG).await.unwrap();
        assert_eq!(room.say("two").await.end, TurnEnd::Done, "{format:?}");
    }
}
