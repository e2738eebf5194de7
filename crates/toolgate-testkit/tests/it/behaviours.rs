//! Every behaviour, over a pipe, in the eras that have it.

use serde_json::{Value, json};
use toolgate_testkit::script::{CacheScope, VERSIONS};
use toolgate_testkit::{Behaviour, Event, PromptScript, ResourceScript, Script, ToolScript};

use crate::support::{PATIENCE, call, modern, start, start_legacy, text};

const LEGACY: &str = "2025-11-25";

fn with_tool(behaviour: Behaviour) -> Script {
    Script::new("demo").versions(&VERSIONS).tool(ToolScript::new("it", behaviour))
}

/// Calls `it` in the legacy and in the modern way and gives both answers.
async fn call_in_both_eras(script: Script) -> [Value; 2] {
    let (mut old, _) = start_legacy(script.clone(), LEGACY).await;
    let (mut new, _) = start(script);
    let params = call("it", json!({"message": "hello"}));
    let answers = [old.request("tools/call", params.clone()).await, new.request("tools/call", modern(params)).await];
    assert_eq!(answers[0]["result"].get("resultType"), None);
    answers
}

#[tokio::test]
async fn each_legacy_version_is_negotiated_and_lists_and_calls() {
    for version in VERSIONS.into_iter().filter(|version| *version < "2026") {
        let script = Script::new("demo").versions(&[version]).tool(ToolScript::echo("echo"));
        let (mut client, record) = start_legacy(script, version).await;
        let listed = client.request("tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"][0]["name"], "echo");
        let answer = client.request("tools/call", call("echo", json!({"message": "hi"}))).await;
        assert_eq!(text(&answer), "hi");
        let methods = record.methods();
        assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    }
}

#[tokio::test]
async fn a_modern_server_discovers_lists_and_calls() {
    let script = Script::new("demo")
        .versions(&["2026-07-28"])
        .instructions("be kind")
        .caching(5000, CacheScope::Public)
        .tool(ToolScript::echo("echo"));
    let (mut client, _) = start(script);
    let found = client.request("server/discover", modern(json!({}))).await;
    let found = &found["result"];
    assert_eq!(found["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["instructions"], "be kind");
    assert_eq!((&found["ttlMs"], &found["cacheScope"]), (&json!(5000), &json!("public")));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
    let listed = client.request("tools/list", modern(json!({}))).await;
    assert_eq!(listed["result"]["ttlMs"], 5000);
    let answer = client.request("tools/call", modern(call("echo", json!({"message": "hi"})))).await;
    assert_eq!(text(&answer), "hi");
    assert_eq!(answer["result"].get("ttlMs"), None);
}

#[tokio::test]
async fn a_modern_server_refuses_what_a_modern_server_must_refuse() {
    let script = with_tool(Behaviour::elicit_text("name")).versions(&["2026-07-28"]);
    let (mut client, _) = start(script);
    let mut other_version = modern(json!({}));
    other_version["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let refused = client.request("tools/list", other_version).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");

    let mut no_capabilities = modern(call("it", json!({})));
    no_capabilities["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let refused = client.request("tools/call", no_capabilities).await;
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));

    let half = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    assert_eq!(client.request("tools/list", half).await["error"]["code"], -32602);
    assert_eq!(client.request("initialize", json!({})).await["error"]["code"], -32022);
    assert_eq!(client.request("tools/list", json!({})).await["error"]["code"], -32602);
    assert_eq!(client.request("ping", modern(json!({}))).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_legacy_server_wants_initialize_first_and_knows_no_discover() {
    let (mut client, _) = start(Script::new("demo").versions(&[LEGACY]));
    assert_eq!(client.request("server/discover", modern(json!({}))).await["error"]["code"], -32601);
    assert_eq!(client.request("tools/list", json!({})).await["error"]["code"], -32600);
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    let params = json!({"protocolVersion": "2026-07-28", "capabilities": {}});
    let answer = client.request("initialize", params).await;
    assert_eq!(answer["result"]["protocolVersion"], LEGACY);
    assert_eq!(client.request("prompts/list", json!({})).await["error"]["code"], -32601);
}

#[tokio::test]
async fn lists_come_in_pages_and_strange_cursors_are_refused() {
    let names = ["a", "b", "c", "d", "e"];
    let script =
        names.iter().fold(Script::new("demo").page_size(2), |script, name| script.tool(ToolScript::echo(*name)));
    let (mut client, _) = start_legacy(script, LEGACY).await;
    let mut seen = Vec::new();
    let mut params = json!({});
    loop {
        let page = client.request("tools/list", params).await;
        let tools = page["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.len() <= 2);
        seen.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert_eq!(seen, names);
    let refused = client.request("tools/list", json!({"cursor": "mine"})).await;
    assert_eq!(refused["error"]["code"], -32602);
}

#[tokio::test]
async fn answers_that_need_no_more_than_the_request() {
    let cases = [
        (Behaviour::Echo, "hello".to_owned()),
        (Behaviour::text("fixed"), "fixed".to_owned()),
        (Behaviour::Big { bytes: 100_000 }, "x".repeat(100_000)),
        (Behaviour::Count, "1".to_owned()),
        (Behaviour::delay(1, Behaviour::text("later")), "later".to_owned()),
        (Behaviour::progress(3, 0, Behaviour::text("no token")), "no token".to_owned()),
    ];
    for (behaviour, expected) in cases {
        for answer in call_in_both_eras(with_tool(behaviour)).await {
            assert_eq!(text(&answer), expected);
        }
    }
    for answer in call_in_both_eras(with_tool(Behaviour::error(-5, "no"))).await {
        assert_eq!(answer["error"], json!({"code": -5, "message": "no"}));
    }
    for answer in call_in_both_eras(with_tool(Behaviour::tool_error("broken"))).await {
        assert_eq!(answer["result"]["isError"], true);
    }
    for answer in call_in_both_eras(with_tool(Behaviour::structured(json!({"a": 1})))).await {
        assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}));
    }
}

#[tokio::test]
async fn raw_text_goes_out_byte_for_byte_with_the_id_put_in() {
    let raw = r#"{"jsonrpc":"2.0",  "id":$ID, "result":{"z":1.0,"a":12345678901234567890123}}"#;
    let (mut client, _) = start_legacy(with_tool(Behaviour::Raw(raw.to_owned())), LEGACY).await;
    let id = client.ask("tools/call", call("it", json!({}))).await;
    let line = String::from_utf8(client.line().await).unwrap();
    assert_eq!(line.trim_end(), raw.replace("$ID", &id.to_string()));
}

#[tokio::test]
async fn count_and_turns_count_calls() {
    let turns = Behaviour::Turns(vec![Behaviour::text("first"), Behaviour::text("later")]);
    let script = with_tool(Behaviour::Count).tool(ToolScript::new("turns", turns));
    let (mut client, record) = start_legacy(script, LEGACY).await;
    for expected in ["1", "2", "3"] {
        assert_eq!(text(&client.request("tools/call", call("it", json!({}))).await), expected);
    }
    for expected in ["first", "later", "later"] {
        assert_eq!(text(&client.request("tools/call", call("turns", json!({}))).await), expected);
    }
    assert_eq!(record.count("tools/call"), 6);
}

#[tokio::test]
async fn progress_carries_the_token_and_comes_before_the_answer() {
    let script = with_tool(Behaviour::progress(3, 1, Behaviour::text("done")));
    let (mut client, _) = start_legacy(script, LEGACY).await;
    let mut params = call("it", json!({}));
    params["_meta"] = json!({"progressToken": "tok"});
    client.ask("tools/call", params).await;
    for number in 1..=3 {
        let note = client.next().await;
        assert_eq!(note["method"], "notifications/progress");
        assert_eq!(note["params"]["progressToken"], "tok");
        assert_eq!((&note["params"]["progress"], &note["params"]["total"]), (&json!(number), &json!(3)));
    }
    assert_eq!(text(&client.next().await), "done");
}

#[tokio::test]
async fn never_answers_until_it_is_cancelled_and_the_others_go_on() {
    let script = with_tool(Behaviour::Never).tool(ToolScript::echo("echo"));
    let (mut client, record) = start_legacy(script, LEGACY).await;
    let id = client.ask("tools/call", call("it", json!({}))).await;
    let answer = client.request("tools/call", call("echo", json!({"message": "still here"}))).await;
    assert_eq!(text(&answer), "still here");
    let params = json!({"requestId": id, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    record.wait_for_method("notifications/cancelled", PATIENCE).await.unwrap();
    let cancelled = Event::Cancelled { id: id.to_string() };
    record.wait_for_event(|event| *event == cancelled, PATIENCE).await.unwrap();
    client.expect_silence().await;
}

#[tokio::test]
async fn log_messages_follow_the_level() {
    let script = with_tool(Behaviour::log("warning", json!("careful"), Behaviour::text("done")));
    let (mut client, _) = start_legacy(script.clone(), LEGACY).await;
    client.ask("tools/call", call("it", json!({}))).await;
    let note = client.next().await;
    assert_eq!((&note["method"], &note["params"]["data"]), (&json!("notifications/message"), &json!("careful")));
    client.next().await;
    client.request("logging/setLevel", json!({"level": "error"})).await;
    assert_eq!(text(&client.request("tools/call", call("it", json!({}))).await), "done");

    let (mut client, _) = start(script);
    let mut params = modern(call("it", json!({})));
    assert_eq!(text(&client.request("tools/call", params.clone()).await), "done");
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    client.ask("tools/call", params).await;
    assert_eq!(client.next().await["method"], "notifications/message");
    assert_eq!(text(&client.next().await), "done");
}

#[tokio::test]
async fn prompts_resources_templates_and_completions_are_offered() {
    let script = Script::new("demo")
        .prompt(PromptScript::text("greet", "hello"))
        .resource(ResourceScript::text("test://one", "contents"))
        .template(json!({"uriTemplate": "test://{name}", "name": "any"}))
        .completion(json!({"completion": {"values": ["x"]}}))
        .method("custom/thing", Behaviour::Params);
    let (mut client, _) = start_legacy(script, LEGACY).await;
    let prompts = client.request("prompts/list", json!({})).await;
    assert_eq!(prompts["result"]["prompts"][0]["name"], "greet");
    let prompt = client.request("prompts/get", json!({"name": "greet"})).await;
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "hello");
    let read = client.request("resources/read", json!({"uri": "test://one"})).await;
    assert_eq!(read["result"]["contents"][0]["text"], "contents");
    let missing = client.request("resources/read", json!({"uri": "test://two"})).await;
    assert_eq!(missing["error"]["code"], -32002);
    let templates = client.request("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["name"], "any");
    let completed = client.request("completion/complete", json!({})).await;
    assert_eq!(completed["result"]["completion"]["values"][0], "x");
    let custom = client.request("custom/thing", json!({"k": 1})).await;
    assert_eq!(text(&custom), r#"{"k":1}"#);
}
