//! What only 2026-07-28 has: parameters as headers, rounds of input, subscriptions, tasks, cache hints.

use serde_json::{Value, json};
use toolgate_testkit::script::CacheScope;
use toolgate_testkit::{Behaviour, Change, Event, ResourceScript, Script, ToolScript, What, When};
use toolgate_wire::Watch;

use crate::support::{Met, PATIENCE, Way, raw, within};

fn server() -> Script {
    Script::new("demo").versions(&["2026-07-28"]).tool(ToolScript::echo("echo"))
}

fn with_headers() -> ToolScript {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "inner": {"type": "object", "properties": {"deep": {"type": "string", "x-mcp-header": "Deep"}}},
            "plain": {"type": "string"},
        },
    });
    ToolScript::new("deploy", Behaviour::text("deployed")).input_schema(schema)
}

/// The headers of the last call, in order.
fn param_headers(met: &Met) -> Vec<(String, String)> {
    let last = met.record.requests().into_iter().rfind(|request| request.header("mcp-method") == Some("tools/call"));
    let headers = last.unwrap().headers;
    let mut headers: Vec<_> = headers.into_iter().filter(|(name, _)| name.starts_with("mcp-param-")).collect();
    headers.sort();
    headers
}

async fn deploy(met: &Met, arguments: Value) -> String {
    within("deploying", met.client().call_tool("deploy", raw(arguments))).await.unwrap().text()
}

#[tokio::test]
async fn annotated_parameters_travel_as_headers() {
    let met = Way::HttpJson.meet(server().tool(with_headers())).await;
    met.client().list_tools().await.unwrap();
    let rows: [(Value, &[(&str, &str)]); 5] = [
        (json!({"region": "eu-1", "plain": "x"}), &[("mcp-param-region", "eu-1")]),
        (json!({"region": "Zürich"}), &[("mcp-param-region", "=?base64?WsO8cmljaA==?=")]),
        (json!({"count": 42, "dry": true}), &[("mcp-param-count", "42"), ("mcp-param-dry", "true")]),
        (json!({"inner": {"deep": "d"}}), &[("mcp-param-deep", "d")]),
        (json!({"region": null}), &[]),
    ];
    for (arguments, expected) in rows {
        assert_eq!(deploy(&met, arguments.clone()).await, "deployed", "{arguments}");
        let expected: Vec<_> = expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(param_headers(&met), expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_headers_refreshes_what_is_known_of_the_tool() {
    let met = Way::HttpJson.meet(server().tool(with_headers())).await;
    assert_eq!(deploy(&met, json!({"region": "eu-1"})).await, "deployed", "the tools were never listed");
    assert_eq!((met.record.count("tools/call"), met.record.count("tools/list")), (2, 1));
    assert_eq!(param_headers(&met), [("mcp-param-region".to_owned(), "eu-1".to_owned())]);
}

#[tokio::test]
async fn tools_with_invalid_headers_are_set_aside_where_headers_are_used() {
    let bad = |name: &str, property: Value| {
        ToolScript::echo(name).input_schema(json!({"type": "object", "properties": {"p": property}}))
    };
    let script = server()
        .tool(bad("empty", json!({"type": "string", "x-mcp-header": ""})))
        .tool(bad("spaced", json!({"type": "string", "x-mcp-header": "a b"})))
        .tool(bad("object", json!({"type": "object", "x-mcp-header": "O"})))
        .tool(with_headers());
    let over_http = Way::HttpJson.meet(script.clone()).await.client().list_tools().await.unwrap();
    assert_eq!(over_http.entries.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["echo", "deploy"]);
    let reasons: Vec<_> = over_http.defects.iter().map(|defect| defect.name.clone().unwrap_or_default()).collect();
    assert_eq!(reasons, ["empty", "spaced", "object"]);
    assert!(over_http.defects.iter().all(|defect| defect.reason.contains("x-mcp-header")), "{:?}", over_http.defects);
    let over_pipes = Way::Duplex.meet(script).await.client().list_tools().await.unwrap();
    assert_eq!((over_pipes.entries.len(), over_pipes.defects.len()), (5, 0), "no headers, no harm");
}

fn ask(state: Option<&str>, then: Behaviour) -> Behaviour {
    let form =
        json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let requests = json!({"who": {"method": "elicitation/create", "params": form}, "where": {"method": "roots/list", "params": {}}});
    Behaviour::Ask {
        requests: requests.as_object().cloned().unwrap(),
        state: state.map(str::to_owned),
        then: Box::new(then),
    }
}

#[tokio::test]
async fn rounds_of_input_echo_the_state_and_keep_the_questions_apart() {
    for way in [Way::Child, Way::HttpJson, Way::HttpEvents] {
        for state in [None, Some("opaque \"state\" \u{1F511}")] {
            let met = way.meet(server().tool(ToolScript::new("ask", ask(state, ask(state, Behaviour::Report))))).await;
            let result = within("two rounds", met.client().call_tool("ask", raw(json!({"k": 1})))).await.unwrap();
            assert_eq!(result.content.len(), 4, "two questions in each of two rounds");
            let calls: Vec<Value> =
                met.record.received().into_iter().filter(|message| message["method"] == "tools/call").collect();
            assert_eq!(calls.len(), 3, "{way:?}");
            assert!(calls.iter().all(|call| call["params"]["arguments"] == json!({"k": 1})), "{way:?}");
            let ids: std::collections::HashSet<_> = calls.iter().map(|call| call["id"].to_string()).collect();
            assert_eq!(ids.len(), 3, "each round is a request of its own");
            let answers = &calls[1]["params"]["inputResponses"];
            assert_eq!(answers["who"]["content"]["name"], "Ada", "{way:?}: {answers}");
            assert_eq!(answers["where"]["roots"][0]["name"], "srv", "{way:?}: {answers}");
            assert_eq!(calls[1]["params"].get("requestState").and_then(Value::as_str), state, "{way:?}");
            assert!(!met.record.events().iter().any(|event| matches!(event, Event::StateNotEchoed { .. })), "{way:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_never_stops_asking_is_stopped() {
    let endless = (0..20).fold(Behaviour::text("at last"), |then, _| ask(Some("s"), then));
    let met = Way::Duplex.meet(server().tool(ToolScript::new("ask", endless))).await;
    let error = within("the limit", met.client().call_tool("ask", raw(json!({})))).await.unwrap_err();
    assert_eq!(error.to_string(), "too much: rounds of input in one `tools/call` (limit INPUT_ROUNDS_MAX = 16)");
    let empty = r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required"}}"#;
    let met = Way::Duplex.meet(server().fault(When::Method("tools/call"), What::AnswerText(empty.to_owned()))).await;
    let error = within("nothing asked", met.client().call_tool("echo", raw(json!({})))).await.unwrap_err();
    assert_eq!(error.to_string(), "the server requires input but asks for nothing");
}

#[tokio::test]
async fn subscriptions_tell_end_and_are_given_up() {
    let end = Behaviour::EndSubscriptions { then: Box::new(Behaviour::text("ended")) };
    let touch = Behaviour::ResourceUpdated { uri: "demo://one".to_owned(), then: Box::new(Behaviour::text("touched")) };
    let script = server()
        .capabilities(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}))
        .resource(ResourceScript::text("demo://one", "one"))
        .tool(ToolScript::new(
            "grow",
            Behaviour::change(Change::AddTool(ToolScript::text("grown", "x")), Behaviour::text("added")),
        ))
        .tool(ToolScript::new("touch", touch))
        .tool(ToolScript::new("end", end));
    for way in [Way::Child, Way::HttpJson, Way::HttpEvents] {
        let met = way.meet(script.clone()).await;
        let client = met.client();
        let watch = Watch { tools: true, prompts: true, uris: vec!["demo://one".to_owned()], ..Watch::default() };
        let mut subscription = within("listening", client.watch(&watch)).await.unwrap();
        let honoured: Value = subscription.honoured.read().unwrap();
        assert_eq!(
            honoured,
            json!({"toolsListChanged": true, "resourceSubscriptions": ["demo://one"]}),
            "{way:?}: no prompts here"
        );
        for (tool, news) in [("grow", "notifications/tools/list_changed"), ("touch", "notifications/resources/updated")]
        {
            client.call_tool(tool, raw(json!({}))).await.unwrap();
            let heard =
                met.side.wait_until(news, |heard| heard.notifications.iter().any(|note| note.method == news)).await;
            let params: Value = heard.notifications.last().unwrap().params.as_ref().unwrap().read().unwrap();
            assert!(params["_meta"]["io.modelcontextprotocol/subscriptionId"].is_number(), "{way:?}: {params}");
        }
        client.call_tool("end", raw(json!({}))).await.unwrap();
        within("the end", subscription.ended()).await.unwrap();
        let second = within("listening again", client.watch(&watch)).await.unwrap();
        drop(second);
        let given_up = |event: &Event| match event {
            Event::Cancelled { .. } => way == Way::Child,
            Event::StreamClosedByClient { method, .. } => method == "subscriptions/listen",
            _ => false,
        };
        met.record.wait_for_event(given_up, PATIENCE).await.unwrap_or_else(|error| panic!("{way:?}: {error}"));
    }
}

#[tokio::test]
async fn a_subscription_that_nobody_waits_for_any_more_is_given_up_before_it_is_acknowledged() {
    let script = server()
        .capabilities(json!({"tools": {"listChanged": true}}))
        .method("subscriptions/listen", Behaviour::Never)
        .tool(ToolScript::text("quick", "done"));
    for way in [Way::Child, Way::HttpEvents] {
        let met = way.meet(script.clone()).await;
        let watch = Watch { tools: true, ..Watch::default() };
        tokio::select! {
            watched = met.client().watch(&watch) => panic!("{way:?}: {watched:?}"),
            seen = met.record.wait_for_method("subscriptions/listen", PATIENCE) => drop(seen.unwrap()),
        }
        let given_up = |event: &Event| match event {
            Event::Cancelled { .. } => way == Way::Child,
            Event::StreamClosedByClient { method, .. } => method == "subscriptions/listen",
            _ => false,
        };
        met.record.wait_for_event(given_up, PATIENCE).await.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let result = within("calling", met.client().call_tool("quick", raw(json!({})))).await.unwrap();
        assert_eq!(result.text(), "done", "{way:?}: the connection goes on");
    }
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_followed_to_its_end() {
    let task = |status: &str, more: Value| {
        let mut task = json!({"taskId": "t1", "status": status, "pollIntervalMs": 20, "createdAt": "2026-01-01T00:00:00Z", "ttlMs": null});
        for (key, value) in more.as_object().cloned().unwrap_or_default() {
            task[&key] = value;
        }
        Behaviour::Reply(task)
    };
    let question = json!({"inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "?"}}}});
    let result = json!({"result": {"content": [{"type": "text", "text": "done at last"}]}});
    let error = json!({"error": {"code": -5, "message": "it broke"}});
    let rows = [
        (
            "it ends",
            vec![task("working", json!({})), task("input_required", question), task("completed", result)],
            "done at last",
        ),
        ("it fails", vec![task("working", json!({})), task("failed", error)], "it broke (code -5)"),
        ("it is cancelled", vec![task("cancelled", json!({}))], "the task `t1` was cancelled (code -32603)"),
        (
            "it is unheard of",
            vec![task("dreaming", json!({}))],
            "the server tells no more about the task `t1`: the task `t1` has the unknown status Some(\"dreaming\")",
        ),
    ];
    for (name, turns, expected) in rows {
        let asks = turns.len() == 3;
        let script = server()
            .tool(ToolScript::new("job", task("working", json!({"resultType": "task"}))))
            .method("tasks/get", Behaviour::Turns(turns))
            .fault(When::Method("tasks/update"), What::AnswerWith(json!({"resultType": "complete"})));
        let met = Way::HttpJson.meet(script).await;
        let outcome = within(name, met.client().call_tool("job", raw(json!({})))).await;
        assert_eq!(outcome.map_or_else(|error| error.to_string(), |result| result.text()), expected, "{name}");
        if asks {
            let update = met.record.wait_for_method("tasks/update", PATIENCE).await.unwrap();
            assert_eq!(update["params"]["inputResponses"]["who"]["content"]["name"], "Ada", "{name}");
            let get = met
                .record
                .requests()
                .into_iter()
                .find(|request| request.header("mcp-method") == Some("tasks/get"))
                .unwrap();
            assert_eq!(get.header("mcp-name"), Some("t1"), "{name}");
        }
    }
}

#[tokio::test]
async fn cache_hints_are_those_of_the_strictest_page() {
    let script = (0..5).fold(server(), |script, n| script.tool(ToolScript::text(format!("tool-{n}"), "x")));
    let met = Way::HttpJson.meet(script.page_size(2).caching(60_000, CacheScope::Public)).await;
    let list = met.client().list_tools().await.unwrap();
    assert_eq!((list.entries.len(), list.cache.ttl_ms, list.cache.is_public), (6, Some(60_000), true));
    let legacy = Way::HttpJson
        .meet(Script::new("old").tool(ToolScript::echo("echo")))
        .await
        .client()
        .list_tools()
        .await
        .unwrap();
    assert_eq!((legacy.cache.ttl_ms, legacy.cache.is_public), (None, false), "no word is no permission");
}
