//! Questions to the client: server-sent requests (legacy), `input_required` rounds (2026-07-28), subscriptions, batches.

use serde_json::{Value, json};
use toolgate_testkit::script::VERSIONS;
use toolgate_testkit::{Behaviour, Change, Event, ListKind, ResourceScript, Script, ToolScript};

use crate::support::{PipeClient, call, modern, start, start_legacy, text};

const LEGACY: &str = "2025-11-25";

fn with_tool(behaviour: Behaviour) -> Script {
    Script::new("demo").versions(&VERSIONS).tool(ToolScript::new("it", behaviour))
}

/// Answers the next server-sent request, which must have this method.
async fn answer_next(client: &mut PipeClient, method: &str, result: Value) {
    let request = client.next().await;
    assert_eq!(request["method"], method, "{request}");
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
}

#[tokio::test]
async fn a_legacy_client_is_asked_by_requests() {
    let cases = [
        (Behaviour::elicit_text("name"), "elicitation/create", json!({"action": "decline"})),
        (Behaviour::sample("why?"), "sampling/createMessage", json!({"model": "m", "role": "assistant"})),
        (Behaviour::roots(), "roots/list", json!({"roots": []})),
        (Behaviour::ping(), "ping", json!({})),
    ];
    for (behaviour, method, result) in cases {
        let (mut client, _) = start_legacy(with_tool(behaviour), LEGACY).await;
        client.ask("tools/call", call("it", json!({}))).await;
        answer_next(&mut client, method, result.clone()).await;
        assert_eq!(text(&client.next().await), result.to_string());
    }
}

#[tokio::test]
async fn a_refusal_of_the_client_is_reported() {
    let (mut client, _) = start_legacy(with_tool(Behaviour::roots()), LEGACY).await;
    client.ask("tools/call", call("it", json!({}))).await;
    let request = client.next().await;
    let error = json!({"code": -32601, "message": "no roots"});
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    assert_eq!(text(&client.next().await), json!({"error": error}).to_string());
}

/// Sends a call that ends in `input_required`; gives its parameters and that result.
async fn first_round(client: &mut PipeClient) -> (Value, Value) {
    let params = modern(call("it", json!({})));
    let answer = client.request("tools/call", params.clone()).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    (params, answer["result"].clone())
}

#[tokio::test]
async fn a_modern_client_is_asked_by_a_result_and_must_echo_the_state() {
    let (mut client, record) = start(with_tool(Behaviour::elicit_text("name")));
    let (mut params, asked) = first_round(&mut client).await;
    assert_eq!(asked["inputRequests"]["elicit"]["method"], "elicitation/create");
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    params["inputResponses"] = json!({"elicit": answer});
    params["requestState"] = asked["requestState"].clone();
    let done = client.request("tools/call", params.clone()).await;
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(text(&done), answer.to_string());

    params["requestState"] = json!(asked["requestState"].as_str().unwrap().replace('\t', " "));
    let refused = client.request("tools/call", params.clone()).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert!(record.events().iter().any(|event| matches!(event, Event::StateNotEchoed { .. })));

    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({});
    let again = client.request("tools/call", params).await;
    assert_eq!(again["result"]["inputRequests"], asked["inputRequests"]);
}

#[tokio::test]
async fn a_retry_with_the_old_id_is_refused() {
    let (mut client, _) = start(with_tool(Behaviour::elicit_text("name")));
    let (mut params, asked) = first_round(&mut client).await;
    params["inputResponses"] = json!({"elicit": {"action": "cancel"}});
    params["requestState"] = asked["requestState"].clone();
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
}

#[tokio::test]
async fn several_rounds_and_rounds_without_a_state() {
    let second = Behaviour::Ask {
        requests: json!({"r": {"method": "roots/list"}, "e": {"method": "elicitation/create"}})
            .as_object()
            .unwrap()
            .clone(),
        state: None,
        then: Box::new(Behaviour::Report),
    };
    let first = Behaviour::Sample { params: json!({}), then: Box::new(second) };
    let (mut client, _) = start(with_tool(first));
    let (mut params, asked) = first_round(&mut client).await;
    params["inputResponses"] = json!({"sample": {"model": "m"}});
    params["requestState"] = asked["requestState"].clone();
    let asked = client.request("tools/call", params.clone()).await;
    assert_eq!(asked["result"].get("requestState"), None);
    assert_eq!(asked["result"]["inputRequests"].as_object().unwrap().len(), 2);
    params.as_object_mut().unwrap().remove("requestState");
    params["inputResponses"] = json!({"r": {"roots": []}, "e": {"action": "decline"}});
    let done = client.request("tools/call", params).await;
    let texts: Vec<&str> =
        done["result"]["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!(texts, [r#"{"model":"m"}"#, r#"{"roots":[]}"#, r#"{"action":"decline"}"#]);
}

#[tokio::test]
async fn a_legacy_client_hears_of_changes_at_once() {
    let added = ToolScript::echo("new");
    let script = with_tool(Behaviour::add_tool(added))
        .tool(ToolScript::new(
            "touch",
            Behaviour::ResourceUpdated { uri: "test://one".to_owned(), then: Box::new(Behaviour::text("touched")) },
        ))
        .resource(ResourceScript::text("test://one", "contents"));
    let (mut client, _) = start_legacy(script, LEGACY).await;
    client.ask("tools/call", call("it", json!({}))).await;
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(text(&client.next().await), "added");
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][2]["name"], "new");

    assert_eq!(text(&client.request("tools/call", call("touch", json!({}))).await), "touched");
    client.request("resources/subscribe", json!({"uri": "test://one"})).await;
    client.ask("tools/call", call("touch", json!({}))).await;
    let note = client.next().await;
    assert_eq!(
        (&note["method"], &note["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("test://one"))
    );
}

#[tokio::test]
async fn a_modern_client_hears_of_changes_only_where_it_listens() {
    let announce = Behaviour::change(Change::Announce(ListKind::Tools), Behaviour::text("done"));
    let end = Behaviour::EndSubscriptions { then: Box::new(Behaviour::text("ended")) };
    let script = with_tool(announce).tool(ToolScript::new("end", end));
    let (mut client, _) = start(script);
    assert_eq!(text(&client.request("tools/call", modern(call("it", json!({})))).await), "done");

    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let id = client.ask("subscriptions/listen", modern(wanted)).await;
    let subscription = json!({"io.modelcontextprotocol/subscriptionId": id});
    let acknowledged = client.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(acknowledged["params"]["_meta"], subscription);

    client.ask("tools/call", modern(call("it", json!({})))).await;
    let note = client.next().await;
    assert_eq!(note["method"], "notifications/tools/list_changed");
    assert_eq!(note["params"]["_meta"], subscription);
    assert_eq!(text(&client.next().await), "done");

    client.ask("tools/call", modern(call("end", json!({})))).await;
    let mut last = [client.next().await, client.next().await];
    last.sort_by_key(|message| message["id"] != id);
    assert_eq!(last[0]["id"], id);
    assert_eq!(last[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    assert_eq!(text(&last[1]), "ended");
}

#[tokio::test]
async fn batches_go_out_and_come_in_with_2025_03_26() {
    let batch = Behaviour::batch(Behaviour::log("info", json!("x"), Behaviour::text("done")));
    let (mut client, _) = start_legacy(with_tool(batch), "2025-03-26").await;
    let id = client.ask("tools/call", call("it", json!({}))).await;
    let together = client.next().await;
    assert_eq!(together[0]["method"], "notifications/message");
    assert_eq!(together[1]["id"], id);

    client
        .send(&json!([
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
        ]))
        .await;
    let answers = client.next().await;
    assert_eq!(answers[0]["id"], "a");
    assert_eq!(answers[1]["result"]["tools"][0]["name"], "it");
}

#[tokio::test]
async fn batches_are_refused_by_other_versions() {
    let (mut client, record) = start_legacy(with_tool(Behaviour::Echo), "2025-06-18").await;
    client.send(&json!([{"jsonrpc": "2.0", "id": "a", "method": "ping"}])).await;
    let refused = client.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32700)));
    client.send_text("this is not JSON").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    let malformed = |event: &Event| matches!(event, Event::Malformed { .. });
    assert_eq!(record.events().into_iter().filter(malformed).count(), 2);
}
