//! Tools that come while a model works, and models that change while a conversation goes on.

use serde_json::json;
use toolgate_model::{Model, ModelConfig, Retry, TurnEnd};
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
                .and(ModelAnswer::calls([("echo", message("a"))]).said),
            ModelAnswer::text(["First."]),
            ModelAnswer::text(["Second."]),
        ]);
        let mut room = Room::new(script, Wishes::new(from)).await;
        assert_eq!(room.say("one").await.end, TurnEnd::Done);
        let config = ModelConfig {
            name: to.model().to_owned(),
            base_url: Some(format!("{}/", room.model.base_url(to)).parse().unwrap()),
            key: toolgate::Secret::new("another-key"),
            max_turns: 5,
            result_chars_max: None,
            retry: Retry::default(),
        };
        assert_eq!(room.conversation.set_model(Model::new(config, room.env()).unwrap()), 0, "no picture is lost");
        let report = room.say("two").await;
        assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Done, "Second."), "{from:?} to {to:?}: {report:?}");
        assert_eq!(room.requests()[2].format, to);
    }
}
