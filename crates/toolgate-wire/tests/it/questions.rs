//! What a server may ask of a client in each version, beyond the matrix: roots and pings, and questions that a
//! version does not have.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript};
use toolgate_wire::{DefectKind, Version};

use crate::support::{Met, Way, raw, within};

fn server(version: Version) -> Script {
    let news = Behaviour::Notify {
        method: "notifications/elicitation/complete".to_owned(),
        params: json!({"elicitationId": "e"}),
        then: Box::new(Behaviour::text("told")),
    };
    Script::new("demo")
        .versions(&[version.as_str()])
        .tool(ToolScript::new("roots", Behaviour::roots()))
        .tool(ToolScript::new("ping", Behaviour::ping()))
        .tool(ToolScript::new("elicit", Behaviour::elicit_text("name")))
        .tool(ToolScript::new("news", news))
}

async fn call(met: &Met, tool: &str) -> Value {
    let result = within(tool, met.client().call_tool(tool, raw(json!({})))).await.unwrap();
    serde_json::from_str(&result.text()).unwrap_or(Value::Null)
}

#[tokio::test]
async fn roots_and_pings_are_answered_in_every_version_that_has_them() {
    for version in Version::ALL {
        for way in [Way::Duplex, Way::HttpJson, Way::HttpEvents] {
            let met = way.meet(server(version)).await;
            let roots = call(&met, "roots").await;
            assert_eq!(roots["roots"], json!([{"uri": "file:///srv", "name": "srv"}]), "{version} {way:?}: {roots}");
            if !version.is_modern() {
                assert_eq!(call(&met, "ping").await, json!({}), "{version} {way:?}");
                assert_eq!(met.side.heard().questions.len(), 1, "a ping is nobody's business but the wire's");
            }
        }
    }
}

#[tokio::test]
async fn a_question_that_the_version_does_not_have_is_refused() {
    for version in Version::ALL.into_iter().filter(|version| !version.has_elicitation()) {
        let met = Way::Duplex.meet(server(version)).await;
        let result = within("the refusal", met.client().call_tool("elicit", raw(json!({})))).await;
        let said = result.map_or_else(|error| error.to_string(), |result| result.raw.to_string());
        assert!(said.contains("-32601") && said.contains("elicitation/create"), "{version}: {said}");
        assert_eq!(met.side.heard().questions.len(), 0, "{version}: our side is not bothered with it");
    }
}

#[tokio::test]
async fn news_that_the_version_does_not_have_are_reported_and_ignored() {
    for version in Version::ALL {
        let met = Way::Duplex.meet(server(version)).await;
        call(&met, "news").await;
        let heard = met.side.heard();
        let kinds: Vec<_> = heard.defects.iter().map(|defect| defect.kind).collect();
        if version == Version::V2025_11_25 {
            assert_eq!((heard.notifications.len(), kinds.len()), (1, 0), "{version}");
        } else {
            assert_eq!((heard.notifications.len(), kinds), (0, vec![DefectKind::NotInThisVersion]), "{version}");
        }
    }
}

#[tokio::test]
async fn what_the_version_does_not_have_is_not_sent() {
    let rows = [
        (Version::V2026_07_28, "ping"),
        (Version::V2026_07_28, "logging/setLevel"),
        (Version::V2026_07_28, "resources/subscribe"),
        (Version::V2026_07_28, "initialize"),
        (Version::V2025_11_25, "subscriptions/listen"),
        (Version::V2025_11_25, "server/discover"),
        (Version::V2024_11_05, "tasks/get"),
        (Version::V2025_11_25, "sampling/createMessage"),
    ];
    for (version, method) in rows {
        let met = Way::Duplex.meet(server(version)).await;
        let before = met.record.received().len();
        let error = met.client().request(toolgate_wire::Call::new(method, None)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("`{method}` does not exist in MCP {version}"));
        assert_eq!(met.record.received().len(), before, "{version} {method}");
    }
}
