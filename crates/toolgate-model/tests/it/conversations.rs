//! Conversations that go as they should, and what the model sees of them: one table, all three formats.

use serde_json::{Value, json};
use toolgate::call::Confirmation;
use toolgate_model::{TurnEnd, TurnReport};
use toolgate_testkit::model_server::{SeenRequest, Speaker, WireFormat};
use toolgate_testkit::{ModelAnswer, ModelScript, ModelStop, Said};

use crate::room::{BIG_BYTES, INSTRUCTIONS, Room, Wishes, YES, message};

/// What a conversation came to.
struct Ran {
    room: Room,
    report: TurnReport,
    requests: Vec<SeenRequest>,
}

impl Ran {
    /// What the model was told after its first answer.
    fn told(&self) -> Vec<String> {
        self.requests[1].new_results().into_iter().map(ToOwned::to_owned).collect()
    }
}

async fn check(answers: Vec<ModelAnswer>, wishes: impl Fn(WireFormat) -> Wishes, is_right: impl Fn(&Ran)) {
    for format in WireFormat::ALL {
        let mut room = Room::new(ModelScript::new(answers.clone()), wishes(format)).await;
        let report = room.say("Please.").await;
        let requests = room.requests();
        let refused = requests.iter().find(|request| request.format != format);
        assert!(refused.is_none(), "{format:?} was spoken to in another format");
        is_right(&Ran { room, report, requests });
    }
}

fn done(text: &str) -> ModelAnswer {
    ModelAnswer::text([text])
}

fn quoted(text: &str) -> String {
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

#[tokio::test]
async fn an_answer_comes_piece_by_piece() {
    let answer = ModelAnswer::default()
        .and([Said::Thinking("hm".into()), Said::Text("Hel".into()), Said::Text("lo.".into())])
        .costing(100, 7);
    check(vec![answer], Wishes::new, |ran| {
        assert_eq!((&ran.report.end, ran.report.text.as_str()), (&TurnEnd::Done, "Hello."));
        assert_eq!((ran.report.usage.input, ran.report.usage.output), (100, 7));
        assert_eq!(ran.room.conversation.context_tokens(), 107);
        let expected = ["asked 1", "(hm)", "\"Hel\"", "\"lo.\"", "answered: 0 calls, 100+7 tokens"];
        assert_eq!(ran.room.heard(), expected);
        let request = &ran.requests[0];
        assert!(request.is_streamed);
        assert_eq!(request.key.as_deref(), Some("the-key"));
        assert_eq!(request.model, request.format.model());
    })
    .await;
}

#[tokio::test]
async fn the_model_knows_its_tools_and_how_to_use_them() {
    check(vec![done("ok")], Wishes::new, |ran| {
        let request = &ran.requests[0];
        let names = request.tool_names();
        let expected =
            ["read_result", "echo", "params", "fails", "forbidden", "careful", "picture", "big", "never", "grow"];
        // What would be asked about is hidden where nobody can be asked.
        let shown: Vec<&str> = expected.into_iter().filter(|name| names.contains(name)).collect();
        assert_eq!(names, shown);
        assert!(names.len() >= 9, "{names:?}");
        let echo = request.tools.iter().find(|tool| tool.name == "echo").unwrap();
        assert_eq!(echo.parameters["properties"]["message"]["type"].as_str().unwrap().to_lowercase(), "string");
        for expected in [INSTRUCTIONS, "server=\"tools\"", "It is data", "The folder is /somewhere."] {
            assert!(request.system.contains(expected), "{expected}: {}", request.system);
        }
    })
    .await;
}

#[tokio::test]
async fn several_calls_of_one_answer_are_told_in_their_order() {
    let first = ModelAnswer::text(["Let me see."])
        .and(ModelAnswer::calls([("echo", message("one")), ("fails", json!({})), ("echo", message("two"))]).said);
    check(vec![first.costing(10, 5), done("All done.").costing(20, 6)], Wishes::new, |ran| {
        assert_eq!((&ran.report.end, ran.report.text.as_str()), (&TurnEnd::Done, "All done."));
        assert_eq!((ran.report.requests, ran.report.calls, ran.report.failed_calls), (2, 3, 1));
        assert_eq!((ran.report.usage.input, ran.report.usage.output), (30, 11));
        let failed = format!("The tool fails returned an error:\n{}", quoted("no such thing"));
        assert_eq!(ran.told(), [quoted("one"), failed, quoted("two")]);
        let said = ran.requests[1].messages.iter().find(|message| message.by == Speaker::Model).unwrap();
        assert_eq!(said.text, "Let me see.");
        let calls: Vec<(&str, &Value)> = said.calls.iter().map(|call| (call.name.as_str(), &call.arguments)).collect();
        assert_eq!(calls, [("echo", &message("one")), ("fails", &json!({})), ("echo", &message("two"))]);
    })
    .await;
}

#[tokio::test]
async fn the_person_says_more_and_the_model_remembers() {
    let answers = [ModelAnswer::calls([("echo", message("a"))]), done("First."), done("Second."), done("Third.")];
    for format in WireFormat::ALL {
        let mut room = Room::new(ModelScript::new(answers.clone()), Wishes::new(format)).await;
        assert_eq!(room.say("one").await.text, "First.");
        assert_eq!(room.say("two").await.text, "Second.");
        let requests = room.requests();
        let texts: Vec<&str> = requests[2].messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["one", "", "", "First.", "two"], "{format:?}");
        assert_eq!(room.conversation.messages(), 6);
        room.conversation.clear();
        assert_eq!(room.say("three").await.text, "Third.");
        assert_eq!(room.requests()[3].messages.len(), 1);
    }
}

#[tokio::test]
async fn what_the_rules_deny_is_told() {
    let answers = vec![ModelAnswer::calls([("forbidden", json!({"a": "x"}))]), done("I may not.")];
    check(answers, Wishes::new, |ran| {
        let told = &ran.told()[0];
        assert!(told.starts_with("The call was denied by the person's rules: "), "{told}");
        assert!(told.ends_with("Ask the owner."), "{told}");
        assert_eq!(ran.room.endings(), ["forbidden: denied"]);
        assert!(ran.room.called().is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_person_is_asked_and_what_they_say_counts() {
    let refusal = Confirmation::Refuse { reason: Some("not today".into()) };
    let cases = [
        (Some(YES), "careful: completed", quoted("was done")),
        (
            Some(refusal),
            "careful: refused",
            "The call was not made: the person was asked and said no: not today.".into(),
        ),
        (
            None,
            "careful: denied",
            "The call was denied: it needs the person's confirmation, and nobody can be asked here.".to_owned(),
        ),
    ];
    for (person, ending, told) in cases {
        let wishes = |format| Wishes { person: person.clone(), ..Wishes::new(format) };
        let answers = vec![ModelAnswer::calls([("careful", json!({}))]), done("ok")];
        check(answers, wishes, |ran| {
            assert_eq!(ran.room.endings(), [ending]);
            assert_eq!(ran.told(), [told.as_str()]);
            assert_eq!(ran.room.called().len(), usize::from(person == Some(YES)));
        })
        .await;
    }
}

#[tokio::test]
async fn arguments_are_mended_or_what_is_wrong_is_told() {
    let cases = [
        ("{\"message\": \"a\nb\",}", "echo: completed", "a\nb"),
        ("```json\n{\"message\": \"c\"}\n```", "echo: completed", "c"),
        ("{\"message\": \"cut of", "echo: malformed", "The call was not made: the arguments are not a JSON object"),
        ("[1]", "echo: malformed", "The call was not made: the arguments"),
        ("{\"message\": 7}", "echo: failed", "The call was not made: the arguments do not fit `echo`"),
        ("{}", "echo: failed", "The call was not made: the arguments do not fit `echo`"),
    ];
    for (arguments, ending, told) in cases {
        check(vec![ModelAnswer::broken_call("echo", arguments), done("ok")], Wishes::new, |ran| {
            assert_eq!(ran.room.endings(), [ending], "{arguments}");
            assert!(ran.told()[0].contains(told), "{arguments}: {:?}", ran.told());
            assert_eq!(ran.report.end, TurnEnd::Done);
        })
        .await;
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_told_with_its_neighbours() {
    check(vec![ModelAnswer::calls([("ecko", json!({}))]), done("ok")], Wishes::new, |ran| {
        assert_eq!(ran.told(), ["There is no tool `ecko`. Did you mean `echo`?"]);
        assert_eq!(ran.room.endings(), ["ecko: unknown_tool"]);
    })
    .await;
}

#[tokio::test]
async fn pictures_are_shown_and_other_data_is_told_by_its_size() {
    check(vec![ModelAnswer::calls([("picture", json!({}))]), done("nice")], Wishes::new, |ran| {
        let told = &ran.told()[0];
        assert!(told.contains("[It is shown behind the results of all calls.]"), "{told}");
        assert!(told.contains("[It is not shown: 6 bytes that this model does not take.]"), "{told}");
        let last = ran.requests[1].messages.last().unwrap();
        assert_eq!(last.media, ["image/png"]);
        assert_eq!(ran.report.end, TurnEnd::Done);
    })
    .await;
}

/// The handle that a result names.
fn handle(told: &str) -> String {
    let (_, behind) = told.rsplit_once("is kept as ").unwrap();
    behind.trim_end_matches(']').to_owned()
}

#[tokio::test]
async fn a_large_result_is_read_in_parts() {
    for format in WireFormat::ALL {
        for (chars_max, most) in [(None, 50_000), (Some(1_000), 2_000)] {
            let wishes = Wishes { result_chars_max: chars_max, ..Wishes::new(format) };
            let call = ModelAnswer::calls([("big", json!({}))]);
            let mut room = Room::new(ModelScript::new([call.clone(), done("kept")]), wishes).await;
            room.say("big").await;
            let requests = room.requests();
            let told = requests[1].new_results()[0];
            assert!(told.len() < most, "{} characters", told.len());
            let handle = handle(told);
            // The same result has the same handle, so that a second model can be told of it beforehand.
            let reads = ModelAnswer::calls([
                ("read_result", json!({"handle": handle, "offset": BIG_BYTES - 10, "limit": "20"})),
                ("read_result", json!({"handle": handle, "find": "nowhere"})),
                ("read_result", json!({"handle": "sha256:0000000000000000"})),
                ("read_result", json!({})),
            ]);
            let wishes = Wishes { result_chars_max: chars_max, ..Wishes::new(format) };
            let mut room = Room::new(ModelScript::new([call, reads, done("read")]), wishes).await;
            let report = room.say("big").await;
            assert_eq!((report.end, report.failed_calls), (TurnEnd::Done, 2), "{format:?}");
            let requests = room.requests();
            let told = requests[2].new_results();
            assert!(told[0].contains("this is the end]") && told[0].starts_with("<untrusted_context>"), "{}", told[0]);
            assert!(told[1].contains("[0 places, 0 shown]"), "{}", told[1]);
            assert!(told[2].contains("no kept result begins with"), "{}", told[2]);
            assert!(told[3].contains("`handle` is missing"), "{}", told[3]);
        }
    }
}

#[tokio::test]
async fn a_model_that_never_stops_is_stopped() {
    let again = ModelAnswer::calls([("echo", message("again"))]);
    let wishes = |format| Wishes { max_turns: 3, ..Wishes::new(format) };
    check(vec![again; 5], wishes, |ran| {
        assert_eq!((&ran.report.end, ran.report.requests, ran.report.calls), (&TurnEnd::TurnLimit(3), 3, 3));
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_the_provider_ended_says_so() {
    let cases = [
        (ModelAnswer::text(["half"]).ending(ModelStop::TooLong), "half", "as long as the provider lets it be"),
        (
            ModelAnswer::text(["half"]).ending(ModelStop::Other("odd".into())),
            "half",
            "the provider ended the answer: odd",
        ),
        (ModelAnswer::default(), "", "the model gave an empty answer"),
        (ModelAnswer::default().ending(ModelStop::Other("odd".into())), "", "the model gave an empty answer: odd"),
    ];
    for (answer, text, expected) in cases {
        check(vec![answer], Wishes::new, |ran| {
            let said = match &ran.report.end {
                TurnEnd::CutShort(why) => why.clone(),
                TurnEnd::Failed(error) => error.to_string(),
                other => format!("{other:?}"),
            };
            assert!(said.contains(expected), "{said}");
            assert_eq!(ran.report.text, text);
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_that_the_provider_could_not_read_is_made_again() {
    let malformed = ModelAnswer::default().ending(ModelStop::Other("MALFORMED_FUNCTION_CALL".into()));
    let answers = vec![malformed, ModelAnswer::calls([("echo", message("x"))]), done("ok")];
    check(answers, Wishes::new, |ran| {
        assert_eq!((&ran.report.end, ran.report.requests), (&TurnEnd::Done, 3));
        assert!(ran.requests[1].messages.last().unwrap().text.contains("malformed"));
    })
    .await;
}
