//! Tools that come while a model works, and models that change while a conversation goes on.

use serde_json::json;
use toolgate_model::TurnEnd;
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{ModelAnswer, ModelScript, Said};

use crate::room::{Room, Wishes, message};

#[tokio::test]
async fn a_tool_that_appears_is_offered_next_time() {
    for format in WireFormat::ALL {
        let script = ModelScript::new([
            ModelAnswer::calls([("grow", json!({}))]),
            ModelAnswer::text(["Wait."]),
            ModelAnswer::calls([("grown", json!({}))]),
            ModelAnswer::text(["Done."]),
        ]);
        let mut room = Room::new(script, Wishes::new(format)).await;
        room.say("grow").await;
        let mut events = room.host.events();
        while room.host.catalog().find("grown").is_none() {
            assert!(events.next().await.is_some());
        }
        let report = room.say("use it").await;
        assert_eq!(report.end, TurnEnd::Done, "{format:?}");
        let requests = room.requests();
        assert!(!requests[0].tool_names().contains(&"grown"));
        assert_eq!(requests[2].tool_names().last(), Some(&"grown"), "{format:?}");
        assert_eq!(requests[3].new_results(), ["<untrusted_context>\nit grew\n</untrusted_context>"]);
        // What was offered before stands where it stood.
        assert!(requests[2].tool_names().starts_with(&requests[0].tool_names()));
    }
}

#[tokio::test]
async fn another_model_goes_on_where_the_first_one_stopped() {
    for (from, to) in [
        (WireFormat::Gemini, WireFormat::OpenAi),
        (WireFormat::OpenAi, WireFormat::Anthropic),
        (WireFormat::Anthropic, WireFormat::Gemini),
    ] {
        let script = ModelScript::new([
            ModelAnswer::default()
                .and([Said::Thinking("hm".into())])
                .and(ModelAnswer::calls([("echo", message("a")), ("no.such:tool", json!({}))]).said),
            ModelAnswer::calls([("echo", message("b")), ("echo", message("c"))]),
            ModelAnswer::text(["First."]),
            ModelAnswer::text(["Second."]),
        ]);
        let mut room = Room::new(script, Wishes::new(from)).await;
        assert_eq!(room.say("one").await.end, TurnEnd::Done);
        assert_eq!(room.go_on_with(to.model(), to), 0, "no picture is lost");
        let report = room.say("two").await;
        assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Done, "Second."), "{from:?} to {to:?}: {report:?}");
        let last = room.requests().pop().unwrap();
        assert_eq!(last.format, to);
        let results: Vec<&str> =
            last.messages.iter().flat_map(|said| &said.results).map(|told| told.text.as_str()).collect();
        let order: Vec<bool> = ["\na\n", "no.such:tool", "\nb\n", "\nc\n"]
            .iter()
            .zip(results)
            .map(|(text, told)| told.contains(text))
            .collect();
        assert_eq!(order, [true; 4], "{from:?} to {to:?}");
    }
}

#[tokio::test]
async fn pictures_are_named_to_a_model_that_does_not_take_them() {
    let script = ModelScript::new([
        ModelAnswer::calls([("picture", json!({}))]),
        ModelAnswer::text(["First."]),
        ModelAnswer::text(["Second."]),
    ]);
    let mut room = Room::new(script, Wishes::new(WireFormat::OpenAi)).await;
    assert_eq!(room.say("one").await.end, TurnEnd::Done);
    assert_eq!(room.go_on_with("ollama::m", WireFormat::OpenAi), 1);
    assert_eq!(room.say("two").await.end, TurnEnd::Done);
    let requests = room.requests();
    let media = |number: usize| requests[number].messages.iter().flat_map(|said| &said.media).count();
    assert_eq!((media(1), media(2)), (1, 0));
    assert!(
        requests[2]
            .messages
            .iter()
            .any(|said| said.text.contains("[image/png, 6 bytes, which this model does not take]"))
    );
}
