//! What nobody here understands passes through byte for byte: unknown fields, unknown kinds of content, odd spellings
//! of JSON.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate_testkit::{PromptScript, ResourceScript, Script, ToolScript, What, When};
use toolgate_wire::view::Content;
use toolgate_wire::{Call, Direction, RawJson, Tap};

use crate::support::{Met, Way, raw, within};

const WAYS: [Way; 3] = [Way::Duplex, Way::HttpJson, Way::HttpEvents];
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// JSON that every reader would write differently: white space, order, escapes, numbers beyond floats.
const ODD: &str = r#"{"z" : 1e2, "a":[ 1.50 ,-0.0], "big":123456789012345678901234567890, "esc":"\u00e9\/ä", "deep":{"n":null , "t":true}}"#;

fn server(version: &str) -> Script {
    Script::new("demo")
        .versions(&[version])
        .tool(ToolScript::echo("echo"))
        .prompt(PromptScript::text("greet", "hi"))
        .resource(ResourceScript::text("demo://one", "one"))
}

/// A server that answers `method` with exactly this result.
async fn answering(way: Way, version: &str, method: &'static str, result: &str) -> Met {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#);
    within(method, way.meet(server(version).fault(When::Method(method), What::AnswerText(answer)))).await
}

/// Runs a check over every transport and both eras.
async fn everywhere(check: impl AsyncFn(Way, &str)) {
    for way in WAYS {
        for version in VERSIONS {
            check(way, version).await;
        }
    }
}

#[tokio::test]
async fn listed_entries_keep_every_byte_and_bad_ones_harm_nobody_else() {
    let good = format!(
        r#"{{"inputSchema" : {{"type":"object","x-order":1.0}},"name":"odd","x-acme":{ODD},"annotations":{{"readOnlyHint":true,"later":[]}}}}"#
    );
    let entries = [
        good.as_str(),
        r#"{"name":7,"inputSchema":{}}"#,
        r#"{"name":"bad","inputSchema":"x"}"#,
        "null",
        r#"{"name":"plain"}"#,
    ];
    let result = format!(r#"{{"tools": [{}], "x-list":1, "ttlMs":5, "cacheScope":"public"}}"#, entries.join(" , "));
    everywhere(async |way, version| {
        let met = answering(way, version, "tools/list", &result).await;
        let list = met.client().list_tools().await.unwrap();
        assert_eq!(
            list.entries.iter().map(|tool| tool.raw.as_str()).collect::<Vec<_>>(),
            [entries[0], entries[4]],
            "{way:?} {version}"
        );
        assert_eq!(list.entries[0].input_schema.as_ref().unwrap().as_str(), r#"{"type":"object","x-order":1.0}"#);
        assert_eq!(list.entries[0].hints.read_only_hint, Some(true));
        let defects: Vec<_> =
            list.defects.iter().map(|defect| (defect.index, defect.raw.as_str(), defect.reason.as_str())).collect();
        let expected = [
            (1, entries[1], "`name` is not a string"),
            (2, entries[2], "`inputSchema` is not a schema"),
            (3, entries[3], "it is not an object"),
        ];
        assert_eq!(defects, expected, "{way:?} {version}");
        assert_eq!((list.cache.ttl_ms, list.cache.is_public), (Some(5), true));
    })
    .await;
}

#[tokio::test]
async fn results_of_tools_keep_every_byte() {
    let hologram = format!(r#"{{ "type":"hologram","payload":{ODD} }}"#);
    let text = r#"{"text":"caf\u00e9","annotations":{"audience":["user"]},"type":"text","x":1.0}"#;
    let structured = format!("[ {ODD} ]");
    let result = format!(
        r#"{{"resultType":"complete","content":[{hologram} ,{text}],"structuredContent":{structured},"x-more":{ODD},"isError":false}}"#
    );
    everywhere(async |way, version| {
        let met = answering(way, version, "tools/call", &result).await;
        let outcome = met.client().call_tool("echo", raw(json!({}))).await.unwrap();
        assert_eq!(outcome.raw.as_str(), result, "{way:?} {version}");
        assert_eq!(
            outcome.content.iter().map(|block| block.raw.as_str()).collect::<Vec<_>>(),
            [hologram.as_str(), text]
        );
        assert!(matches!(&outcome.content[0].content, Content::Unknown { kind, .. } if kind == "hologram"));
        assert_eq!((outcome.text().as_str(), outcome.is_error), ("café", false));
        assert_eq!(outcome.structured.unwrap().as_str(), structured, "{way:?} {version}");
    })
    .await;
}

#[tokio::test]
async fn prompts_resources_and_anything_else_keep_every_byte() {
    let block = format!(r#"{{"type":"hologram","payload":{ODD}}}"#);
    let prompt =
        format!(r#"{{"messages":[{{"role":"oracle" ,"content":{block},"x":1.0}}],"description":"d","x-more":{ODD}}}"#);
    let part = format!(r#"{{"uri":"demo://one","text":"one" ,"x-part":{ODD}}}"#);
    let read = format!(r#"{{"contents":[ {part},{{"uri":"demo://one"}}],"x-more":{ODD}}}"#);
    everywhere(async |way, version| {
        let met = answering(way, version, "prompts/get", &prompt).await;
        let got = met.client().get_prompt("greet", None).await.unwrap();
        assert_eq!((got.raw.as_str(), got.messages[0].role.as_str()), (prompt.as_str(), "oracle"), "{way:?} {version}");
        assert_eq!(got.messages[0].block.raw.as_str(), block);
        let met = answering(way, version, "resources/read", &read).await;
        let got = met.client().read_resource("demo://one").await.unwrap();
        assert_eq!(got.raw.as_str(), read, "{way:?} {version}");
        assert_eq!((got.contents.len(), got.contents[0].raw.as_str()), (1, part.as_str()));
        assert_eq!(got.defects.len(), 1, "a part without contents is a defect of its own");
        let met = answering(way, version, "acme/anything", ODD).await;
        let got = met.client().request(Call::new("acme/anything", None)).await.unwrap();
        assert_eq!(got.as_str(), ODD, "{way:?} {version}");
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_keeps_every_byte() {
    let arguments = RawJson::from_bytes(ODD).unwrap();
    everywhere(async |way, version| {
        let met = way.meet(server(version)).await;
        met.client().call_tool("echo", arguments.clone()).await.unwrap();
        let own_meta = format!(
            r#"{{"acme/trace":{ODD},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#
        );
        let params = format!(r#"{{"name":"echo","arguments":{{}},"_meta":{own_meta},"x-more":{ODD}}}"#);
        met.client().request(Call::new("tools/call", Some(RawJson::from_bytes(params).unwrap()))).await.unwrap();
        let sent: Vec<String> =
            met.record.received_texts().into_iter().filter(|text| text.contains("tools/call")).collect();
        assert!(sent[0].contains(&format!(r#""arguments":{ODD}"#)), "{way:?} {version}: {}", sent[0]);
        assert!(sent[1].contains(&format!(r#""acme/trace":{ODD}"#)), "{way:?} {version}: {}", sent[1]);
        assert!(
            sent[1].contains(&format!(r#""x-more":{ODD}"#)) && sent[1].contains(r#""traceparent":"00-0af"#),
            "{way:?} {version}: {}",
            sent[1]
        );
    })
    .await;
}

#[tokio::test]
async fn unknown_notifications_and_errors_arrive_as_they_were_sent() {
    let error = format!(r#"{{"code":-32099,"message":"m","data":{ODD}}}"#);
    let text = format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{error}}}"#);
    everywhere(async |way, version| {
        let met = way.meet(server(version).fault(When::Method("tools/call"), What::AnswerText(text.clone()))).await;
        let failure = met.client().call_tool("echo", raw(json!({}))).await.unwrap_err();
        assert_eq!(failure.rpc_code(), Some(-32099), "{way:?} {version}");
        let toolgate_wire::Error::Rpc(failure) = failure else { panic!("not an answer: {failure}") };
        assert_eq!(failure.data.unwrap().as_str(), ODD, "{way:?} {version}");
    })
    .await;
    let note = format!(r#"{{"jsonrpc":"2.0","method":"notifications/acme/news","params":{ODD}}}"#);
    let met = Way::Duplex.meet(server("2025-11-25").fault(When::Method("tools/call"), What::Junk(vec![note]))).await;
    within("the news", journey_with_news(&met)).await;
}

async fn journey_with_news(met: &Met) {
    let _answered = met
        .client()
        .request(Call::tool("echo", &raw(json!({}))).idle_limit(std::time::Duration::from_millis(200)))
        .await;
    let heard = met.side.wait_until("the news", |heard| !heard.notifications.is_empty()).await;
    assert_eq!(heard.notifications[0].method, "notifications/acme/news");
    assert_eq!(heard.notifications[0].params.as_ref().unwrap().as_str(), ODD);
}

#[tokio::test]
async fn a_tap_sees_every_frame_as_it_travels() {
    for way in [Way::Child, Way::Duplex, Way::HttpJson, Way::HttpEvents, Way::Sse] {
        let frames = Arc::new(Mutex::new(Vec::new()));
        let seen = frames.clone();
        let tap: Tap = Arc::new(move |direction, bytes| {
            seen.lock().unwrap().push((direction, String::from_utf8_lossy(bytes).into_owned()))
        });
        let met = way.meet_with(server("2025-06-18"), |options| options.tap = Some(tap)).await;
        met.client().call_tool("echo", raw(json!({"message": "tapped"}))).await.unwrap();
        let frames = frames.lock().unwrap().clone();
        let sent: Vec<_> = frames
            .iter()
            .filter(|(direction, _)| *direction == Direction::Sent)
            .map(|(_, text)| text.clone())
            .collect();
        assert_eq!(sent, met.record.received_texts(), "{way:?}");
        let answer =
            frames.iter().find(|(direction, text)| *direction == Direction::Received && text.contains("tapped"));
        assert!(answer.is_some_and(|(_, text)| text.starts_with('{') && text.ends_with('}')), "{way:?}: {frames:?}");
    }
}
