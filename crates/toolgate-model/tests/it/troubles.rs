//! Providers that refuse, break down or fall silent: what is tried again, what is told, and that nothing is shown as an answer that is none.

use toolgate_model::{ModelErrorKind, TurnEnd, TurnReport};
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{ModelAnswer, ModelScript, ModelStop, Said};

use crate::room::{Room, Wishes, message};

async fn run(format: WireFormat, answers: &[ModelAnswer]) -> (Room, TurnReport) {
    let mut room = Room::new(ModelScript::new(answers.to_vec()), Wishes::new(format)).await;
    let report = room.say("Please.").await;
    (room, report)
}

fn done() -> ModelAnswer {
    ModelAnswer::text(["Done."])
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let busy = ModelAnswer::refused(429, Some("0"));
    let broken = ModelAnswer::refused(503, None);
    let overloaded = ModelAnswer::refused(529, None);
    let cases = [
        vec![busy.clone(), done()],
        vec![broken.clone(), broken.clone(), overloaded, done()],
        vec![busy, ModelAnswer::calls([("echo", message("x"))]), broken, done()],
    ];
    for format in WireFormat::ALL {
        for answers in &cases {
            let (room, report) = run(format, answers).await;
            assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Done, "Done."), "{format:?}: {report:?}");
            assert_eq!(report.requests as usize, answers.len());
            let retries = room.heard().iter().filter(|line| line.starts_with("retry")).count();
            let refusals = answers.iter().filter(|answer| answer.refusal.is_some()).count();
            assert_eq!(retries, refusals);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_begins_again() {
    let half = ModelAnswer::text(["Do"]);
    let stops = [(ModelStop::Cut, true), (ModelStop::Short, true)];
    for format in WireFormat::ALL {
        for (stop, discards) in stops.clone() {
            let (room, report) = run(format, &[half.clone().ending(stop.clone()), done()]).await;
            assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Done, "Done."), "{format:?} {stop:?}");
            let expected = format!("retry 1, discards: {discards}");
            assert!(room.heard().contains(&expected), "{format:?} {stop:?}: {:?}", room.heard());
            // What was cut off was not said.
            assert_eq!(room.requests()[1].messages.len(), 1);
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_made() {
    let call = ModelAnswer::calls([("echo", message("half"))]);
    for format in WireFormat::ALL {
        for stop in [ModelStop::Cut, ModelStop::Short] {
            let (room, report) = run(format, &[call.clone().ending(stop.clone()), done()]).await;
            assert_eq!((report.end, report.calls), (TurnEnd::Done, 0), "{format:?} {stop:?}");
            assert!(room.called().is_empty());
        }
    }
}

#[tokio::test]
async fn what_does_not_pass_ends_the_turn() {
    let cases = [
        (vec![ModelAnswer::refused(401, None)], ModelErrorKind::Denied, "401 Unauthorized: refused by the script"),
        (vec![ModelAnswer::refused(400, Some("0"))], ModelErrorKind::Refused, "400 Bad Request"),
        (vec![ModelAnswer::refused(429, Some("999"))], ModelErrorKind::Busy, "429 Too Many Requests"),
        (vec![ModelAnswer::refused(500, None); 4], ModelErrorKind::Busy, "500 Internal Server Error"),
        (vec![ModelAnswer::default().ending(ModelStop::Cut); 4], ModelErrorKind::Unreachable, "the model"),
        (vec![ModelAnswer::default().ending(ModelStop::Short); 4], ModelErrorKind::Unreachable, "cut off"),
    ];
    for format in WireFormat::ALL {
        for (answers, kind, words) in &cases {
            let (room, report) = run(format, answers).await;
            let TurnEnd::Failed(error) = &report.end else { panic!("{format:?}: {report:?}") };
            assert_eq!(error.kind(), *kind, "{format:?}: {error}");
            assert!(error.to_string().contains(words), "{format:?}: {error}");
            assert_eq!(room.requests().len(), answers.len(), "{format:?}");
            assert_eq!(room.conversation.messages(), 0, "what got no answer was not said");
        }
    }
}

#[tokio::test]
async fn nobody_is_there() {
    for format in WireFormat::ALL {
        let mut room = Room::new(ModelScript::default(), Wishes::new(format)).await;
        let stopped = std::mem::replace(
            &mut room.model,
            toolgate_testkit::ModelServer::start(ModelScript::default()).await.unwrap(),
        );
        drop(stopped);
        let report = room.say("Please.").await;
        let TurnEnd::Failed(error) = &report.end else { panic!("{report:?}") };
        assert_eq!(error.kind(), ModelErrorKind::Unreachable, "{error}");
        assert_eq!(report.requests, 4);
    }
}

#[tokio::test]
async fn thoughts_and_pauses_do_not_disturb() {
    let slow = ModelAnswer::default().and([
        Said::Thinking("first".into()),
        Said::Pause { ms: 20 },
        Said::Text("Do".into()),
        Said::Pause { ms: 20 },
        Said::Text("ne.".into()),
    ]);
    for format in WireFormat::ALL {
        let (_room, report) = run(format, std::slice::from_ref(&slow)).await;
        assert_eq!((report.end, report.text.as_str()), (TurnEnd::Done, "Done."), "{format:?}");
    }
}
