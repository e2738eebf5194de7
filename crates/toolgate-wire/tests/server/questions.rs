//! One handler, two eras: what it asks the client is a request of the server in the older versions, "input required" in the newest.

use serde_json::{Value, json};

use crate::room::{Pipe, Room, modern, modern_headers};

async fn call(room: &Room, tool: &str, more: Value) -> Value {
    let mut params = json!({"name": tool});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    room.post(&modern_headers("tools/call", Some(tool)), &modern(1, "tools/call", params)).await.json()
}

fn accepted(x: &str) -> Value {
    json!({"action": "accept", "content": {"x": x}})
}

#[tokio::test]
async fn the_newest_version_is_asked_by_its_answer() {
    let room = Room::new();
    let asked = call(&room, "ask", json!({})).await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required");
    let question = json!({"method": "elicitation/create", "params": {
        "message": "first?", "requestedSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}});
    assert_eq!(result["inputRequests"], json!({"first": question}));
    assert!(result["requestState"].is_string(), "answers count only with it");

    let answers = [
        (json!({"inputResponses": {"first": accepted("a"), "unknown": {}}}), Ok("a")),
        (json!({"inputResponses": {"other": accepted("a")}}), Err("input_required")),
        (json!({"inputResponses": null}), Err("input_required")),
        (json!({"inputResponses": {"first": 12345}}), Err("-32602")),
        (json!({"inputResponses": {"first": {"content": {}}}}), Err("-32602")),
        (json!({"inputResponses": [1]}), Err("-32602")),
    ];
    for (mut params, expected) in answers {
        let asked = call(&room, "ask", json!({})).await;
        params["requestState"] = asked["result"]["requestState"].clone();
        let answer = call(&room, "ask", params.clone()).await;
        match expected {
            Ok(x) => assert_eq!(answer["result"]["x"], x, "{params}"),
            Err("input_required") => assert_eq!(answer["result"]["resultType"], "input_required", "{params}"),
            Err(code) => assert_eq!(answer["error"]["code"].to_string(), code, "{params}"),
        }
    }
}

/// Answers to questions that were not asked in this form. None of them counts.
#[tokio::test]
async fn what_was_not_asked_is_not_answered() {
    let room = Room::new();
    let answer = json!({"first": accepted("a"), "second": accepted("b")});
    for tool in ["ask", "ask_in_turn", "ask_at_once"] {
        let asked = call(&room, tool, json!({"inputResponses": answer})).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{tool}: {asked}");
        let repeated = call(&room, tool, json!({"inputResponses": answer, "requestState": null})).await;
        assert_eq!(repeated["result"]["resultType"], "input_required", "{tool}: {repeated}");
    }

    // An early answer to a later question.
    let asked = call(&room, "ask_in_turn", json!({})).await;
    let params = json!({"inputResponses": answer, "requestState": asked["result"]["requestState"]});
    let second = call(&room, "ask_in_turn", params).await;
    assert_eq!(second["result"]["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["second"]);

    // The question depends on the arguments, and so does its state.
    let asked_of = |text: &'static str| call(&room, "ask_about", json!({"arguments": {"what": text}}));
    let harmless = asked_of("harmless").await["result"]["requestState"].clone();
    let grave = asked_of("grave").await["result"]["requestState"].clone();
    let cases = [
        (json!({"what": "grave"}), &harmless, "-32602"),
        (json!({}), &grave, "-32602"),
        (json!({"what": "grave", "more": 1}), &grave, "-32602"),
        (json!({"what": "grave"}), &grave, "ran"),
        (json!({"what": "grave"}), &grave, "-32602"),
        (json!({"what": "grave"}), &json!(null), "input_required"),
    ];
    for (arguments, state, expected) in cases {
        let params = json!({"arguments": arguments, "inputResponses": {"q": accepted("yes")}, "requestState": state});
        let got = call(&room, "ask_about", params).await;
        let code = got["error"]["code"].to_string();
        let became = match got["result"]["resultType"].as_str() {
            Some("complete") => "ran",
            Some(kind) => kind,
            None => &code,
        };
        assert_eq!(became, expected, "{arguments}: {got}");
    }
}

/// A question that changed before its answer arrived is asked again.
#[tokio::test]
async fn another_question_of_the_same_key_is_asked_again() {
    let room = Room::new();
    let asked = call(&room, "ask_how_often", json!({})).await;
    let params = json!({"inputResponses": {"q": accepted("yes")}, "requestState": asked["result"]["requestState"]});
    let again = call(&room, "ask_how_often", params).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let of = |result: &Value| result["result"]["inputRequests"]["q"]["params"]["message"].clone();
    assert_ne!(of(&asked), of(&again));
}

#[tokio::test]
async fn answers_of_earlier_rounds_are_remembered() {
    let room = Room::new();
    let state_of = |result: &Value| result["result"]["requestState"].clone();
    let first = state_of(&call(&room, "ask_in_turn", json!({})).await);
    let answer = json!({"inputResponses": {"first": accepted("a")}, "requestState": first});
    let second = call(&room, "ask_in_turn", answer).await;
    let keys: Vec<_> = second["result"]["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["second"]);
    let state = state_of(&second);

    let tampered = json!({"inputResponses": {"second": accepted("b")}, "requestState": format!("{}-TAMPERED", state.as_str().unwrap())});
    assert_eq!(call(&room, "ask_in_turn", tampered).await["error"]["code"], -32602);
    let elsewhere = json!({"inputResponses": {"first": accepted("b")}, "requestState": state});
    assert_eq!(call(&room, "ask", elsewhere).await["error"]["code"], -32602, "a state belongs to one tool");
    assert_eq!(call(&room, "ask", json!({"requestState": 7})).await["error"]["code"], -32602);

    let last = json!({"inputResponses": {"second": accepted("b")}, "requestState": state});
    let done = call(&room, "ask_in_turn", last.clone()).await;
    assert_eq!((&done["result"]["x"], &done["result"]["state"]), (&json!(["a", "b"]), &json!("half way")));
    assert_eq!(call(&room, "ask_in_turn", last).await["error"]["code"], -32602, "a state is good once");
}

#[tokio::test]
async fn several_questions_may_be_answered_bit_by_bit() {
    let room = Room::new();
    let asked = call(&room, "ask_at_once", json!({})).await;
    assert_eq!(asked["result"]["inputRequests"].as_object().unwrap().len(), 2);
    let state = &asked["result"]["requestState"];
    let answer = json!({"inputResponses": {"second": accepted("b")}, "requestState": state});
    let half = call(&room, "ask_at_once", answer).await;
    assert_eq!(half["result"]["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["first"]);
    let state = half["result"]["requestState"].clone();
    let done =
        call(&room, "ask_at_once", json!({"inputResponses": {"first": accepted("a")}, "requestState": state})).await;
    assert_eq!(done["result"]["x"], json!(["a", "b"]));
}

#[tokio::test]
async fn older_versions_are_asked_by_requests() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    pipe.initialize("2025-11-25", json!({"elicitation": {}})).await;
    let request = r#"{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"ask_in_turn"}}"#;
    let mut message = pipe.ask(request).await;
    for x in ["a", "b"] {
        assert_eq!(message["method"], "elicitation/create");
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": accepted(x)});
        message = pipe.ask(&answer.to_string()).await;
    }
    assert_eq!(message["result"], json!({"x": ["a", "b"], "state": null}), "the handler was never begun again");

    let first = pipe.ask(&request.replace("ask_in_turn", "ask_at_once")).await;
    let second = pipe.receive().await;
    for (question, x) in [(second, "b"), (first, "a")] {
        pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted(x)}).to_string()).await;
    }
    assert_eq!(
        pipe.receive().await["result"]["x"],
        json!(["a", "b"]),
        "in the order of the questions, not of the answers"
    );

    let question = pipe.ask(&request.replace("ask_in_turn", "ask")).await;
    let refused = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32001, "message": "not now"}});
    assert_eq!(pipe.ask(&refused.to_string()).await["error"], json!({"code": -32001, "message": "not now"}));
}

#[tokio::test]
async fn nobody_is_asked_what_they_cannot_answer() {
    let room = Room::new();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#;
    let cases = [
        ("2025-11-25", json!({}), Some(-32021)),
        ("2025-11-25", json!({"elicitation": {"url": {}}}), Some(-32021)),
        ("2025-11-25", json!({"elicitation": {"form": {}, "url": {}}}), None),
        ("2025-03-26", json!({"elicitation": {}}), Some(-32603)),
    ];
    for (version, capabilities, code) in cases {
        let mut pipe = Pipe::to(&room.server);
        pipe.initialize(version, capabilities.clone()).await;
        let answer = pipe.ask(request).await;
        assert_eq!(answer["error"]["code"].as_i64(), code, "{version} {capabilities}: {answer}");
    }
}
