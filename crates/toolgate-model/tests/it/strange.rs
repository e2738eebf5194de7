//! Providers and models that do what nobody expects of them: the conversation can go on, or it is told why not.

use serde_json::{Value, json};
use toolgate_model::{ModelErrorKind, TurnEnd, TurnReport};
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{ModelAnswer, ModelScript, ModelStop, Said};

use crate::room::{Room, Wishes, message};

async fn run(format: WireFormat, answers: impl IntoIterator<Item = ModelAnswer>) -> (Room, TurnReport) {
    let mut room = Room::new(ModelScript::new(answers), Wishes::new(format)).await;
    let report = room.say("Please.").await;
    (room, report)
}

fn done() -> ModelAnswer {
    ModelAnswer::text(["Done."])
}

/// An event with pieces of calls.
fn pieces(pieces: &Value) -> Said {
    Said::Event(json!({"choices": [{"index": 0, "delta": {"tool_calls": pieces}, "finish_reason": null}]}))
}

fn called(index: u64, id: &str, text: &str) -> Value {
    let arguments = message(text).to_string();
    json!({"index": index, "id": id, "type": "function", "function": {"name": "echo", "arguments": arguments}})
}

#[tokio::test]
async fn names_that_nobody_takes_back_do_not_end_the_conversation() {
    for format in WireFormat::ALL {
        let calls = ModelAnswer::calls([("tools/echo me!", json!({})), ("", json!({})), ("echo", message("x"))]);
        let (room, report) = run(format, [calls, done()]).await;
        assert_eq!(report.end, TurnEnd::Done, "{format:?}");
        let told = room.requests()[1].new_results().join("|");
        assert!(told.starts_with("There is no tool `tools/echo me!`.") && told.contains("\nx\n"), "{format:?}: {told}");
    }
}

#[tokio::test]
async fn blanks_are_no_answer_and_are_not_repeated() {
    for format in WireFormat::ALL {
        let calls = ModelAnswer::text(["\n\n"]).and(ModelAnswer::calls([("echo", message("x"))]).said);
        let (room, report) = run(format, [calls, done()]).await;
        assert_eq!(report.end, TurnEnd::Done, "{format:?}");
        assert!(room.requests()[1].messages.iter().all(|said| said.calls.is_empty() || said.text.is_empty()));
        let (room, report) = run(format, [ModelAnswer::text([" \n"])]).await;
        assert!(matches!(report.end, TurnEnd::Failed(_)), "{format:?}");
        assert_eq!(room.conversation.messages(), 0);
    }
}

#[tokio::test]
async fn what_was_malformed_and_never_mended_was_not_said() {
    let malformed = ModelAnswer::default().ending(ModelStop::Other("MALFORMED_FUNCTION_CALL".to_owned()));
    let (room, report) = run(WireFormat::Gemini, [malformed, ModelAnswer::refused(400, None)]).await;
    assert!(matches!(report.end, TurnEnd::Failed(_)));
    assert_eq!(room.conversation.messages(), 0);
}

#[tokio::test]
async fn a_call_without_arguments_at_the_end_of_a_cut_answer_is_not_made() {
    for format in [WireFormat::OpenAi, WireFormat::Anthropic] {
        let begun = ModelAnswer::broken_call("params", "").ending(ModelStop::TooLong);
        // The block of a call that was cut off is not closed.
        let begun = if format == WireFormat::Anthropic {
            let block = json!({"type": "tool_use", "id": "c", "name": "params", "input": {}});
            let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
            ModelAnswer::default().and([Said::Event(start)]).ending(ModelStop::TooLong)
        } else {
            begun
        };
        let (room, report) = run(format, [begun, done()]).await;
        assert_eq!((&report.end, report.failed_calls), (&TurnEnd::Done, 1), "{format:?}: {report:?}");
        assert!(room.called().is_empty(), "{format:?}");
        let (room, _) = run(format, [ModelAnswer::broken_call("params", ""), done()]).await;
        assert_eq!(room.called(), ["params"], "a call that takes nothing, {format:?}");
    }
}

#[tokio::test]
async fn calls_are_told_apart_whatever_their_numbers_and_ids() {
    let no_id = json!({"index": 1, "function": {"name": "echo", "arguments": message("b").to_string()}});
    let cases = [
        json!([called(4_294_967_295, "x", "a")]),
        json!([called(7, "x", "a"), called(3, "y", "b")]),
        json!([called(0, "x", "a"), called(0, "y", "b")]),
        json!([called(0, "", "a"), called(1, "", "b")]),
        json!([called(0, "x", "a"), called(1, "x", "b"), called(2, "call_1", "c")]),
        json!([called(0, "x", "a"), no_id]),
    ];
    for case in cases {
        let answer = ModelAnswer::default().and([pieces(&case)]);
        let (room, report) = run(WireFormat::OpenAi, [answer, done()]).await;
        let count = case.as_array().unwrap().len();
        assert_eq!((report.end, report.calls as usize), (TurnEnd::Done, count), "{case}");
        assert_eq!(room.called().len(), count, "{case}");
        let told = room.requests()[1].new_results().join("");
        let order: Vec<usize> = ["\na\n", "\nb\n", "\nc\n"].iter().filter_map(|text| told.find(text)).collect();
        assert!(order.len() == count && order.is_sorted(), "{case}: {told}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let text = "x".repeat(1024 * 1024);
    let long = ModelAnswer::text(std::iter::repeat_n(text.as_str(), 9));
    let many: Vec<Value> = (0..2_000).map(|index| called(index, "", "a")).collect();
    let mut cases: Vec<(WireFormat, ModelAnswer, &str)> =
        WireFormat::ALL.into_iter().map(|format| (format, long.clone(), "longer than")).collect();
    let many = ModelAnswer::default().and([pieces(&Value::Array(many))]);
    cases.push((WireFormat::OpenAi, many, "calls at once"));
    let calls = std::iter::repeat_n(("echo", json!({})), 2_000);
    cases.push((WireFormat::Gemini, ModelAnswer::calls(calls), "calls at once"));
    for (format, answer, words) in cases {
        let (room, report) = run(format, [answer]).await;
        let TurnEnd::Failed(error) = &report.end else { panic!("{format:?}: {:?}", report.end) };
        assert_eq!(error.kind(), ModelErrorKind::Unusable, "{format:?}: {error}");
        assert!(error.to_string().contains(words), "{format:?}: {error}");
        assert_eq!((room.requests().len(), room.called().len()), (1, 0), "{format:?}");
    }
}

#[tokio::test]
async fn thoughts_go_back_to_those_who_want_them() {
    for (name, expected) in [("deepseek::m", Some("hm")), ("openai::m", None)] {
        let thinks = ModelAnswer::default().and([Said::Thinking("hm".into())]);
        let calls = thinks.and(ModelAnswer::calls([("echo", message("x"))]).said);
        let script = ModelScript::new([calls, done()]);
        let mut room = Room::new(script, Wishes::new(WireFormat::OpenAi)).await;
        room.go_on_with(name, WireFormat::OpenAi);
        assert_eq!(room.say("Please.").await.end, TurnEnd::Done, "{name}");
        let messages = room.requests()[1].body["messages"].clone();
        let thoughts = messages.as_array().unwrap().iter().find_map(|said| said["reasoning_content"].as_str());
        assert_eq!(thoughts, expected, "{name}");
    }
}
