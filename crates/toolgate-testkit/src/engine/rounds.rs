//! Questions to the client in the middle of a request. A legacy client is sent requests; a modern one gets an
//! `input_required` result and comes back with a new request, which must carry the request state byte for byte.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use crate::behaviour::Behaviour;
use crate::engine::dispatch::Outcome;
use crate::engine::exchange::{Exchange, META_CAPABILITIES};
use crate::guarded::Guarded;
use crate::record::Event;

/// What the server waits for after `input_required`, by the state it gave out (or by target, where it gave none).
#[derive(Debug, Default)]
pub(crate) struct IssuedStates(Guarded<BTreeMap<Expected, Issued>>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expected {
    State(String),
    Target(String),
}

#[derive(Clone, Debug)]
struct Issued {
    first_id: Value,
    requests: Map<String, Value>,
    reports: Vec<Value>,
    then: Behaviour,
}

/// Where a request goes on.
#[derive(Debug)]
pub(crate) struct Continuation {
    pub(crate) behaviour: Behaviour,
    pub(crate) reports: Vec<Value>,
    /// Whether this is the same call going on after its questions.
    pub(crate) is_retry: bool,
}

/// Questions, and what comes after them.
#[derive(Debug)]
pub(crate) struct Questions<'a> {
    pub(crate) requests: Map<String, Value>,
    pub(crate) state: Option<String>,
    pub(crate) then: &'a Behaviour,
}

/// A state that an echo which is not byte for byte does not survive.
pub(crate) fn awkward_state(number: u64) -> String {
    format!("state {number} / \\ \"quoted\" \u{e9} \u{2603} \u{1d11e} \t +==%20")
}

/// Where a request begins: at its behaviour, or, when it is a retry, after the questions it answers.
pub(crate) fn begin(exchange: &Exchange, target: &str, behaviour: &Behaviour) -> Result<Continuation, Outcome> {
    let fresh = Continuation { behaviour: behaviour.clone(), reports: Vec::new(), is_retry: false };
    if exchange.modern_version().is_none() {
        return Ok(fresh);
    }
    let state = exchange.params.get("requestState");
    let responses = exchange.params.get("inputResponses");
    if state.is_none() && responses.is_none() {
        return Ok(fresh);
    }
    let expected = match state {
        Some(state) => Expected::State(state.as_str().unwrap_or_default().to_owned()),
        None => Expected::Target(target.to_owned()),
    };
    let issued = exchange.server.issued.0.lock().get(&expected).cloned();
    let Some(issued) = issued else {
        let got = state.unwrap_or(&Value::Null).to_string();
        exchange.server.record.event(Event::StateNotEchoed { got: got.clone() });
        return Err(Outcome::error(-32602, format!("requestState was not echoed as given: {got}")));
    };
    resume(exchange, expected, issued, responses.unwrap_or(&Value::Null))
}

fn resume(
    exchange: &Exchange,
    expected: Expected,
    mut issued: Issued,
    responses: &Value,
) -> Result<Continuation, Outcome> {
    if issued.first_id == exchange.id {
        return Err(Outcome::error(-32600, "a retry needs an id of its own"));
    }
    let missing: Map<String, Value> = issued
        .requests
        .iter()
        .filter(|(key, _)| responses.get(key.as_str()).is_none())
        .map(|(key, request)| (key.clone(), request.clone()))
        .collect();
    if !missing.is_empty() {
        let state = match expected {
            Expected::State(state) => Some(state),
            Expected::Target(_) => None,
        };
        return Err(Outcome::Result(input_required(&missing, state.as_deref())));
    }
    let answers = issued.requests.keys().map(|key| responses[key.as_str()].clone());
    issued.reports.extend(answers);
    Ok(Continuation { behaviour: issued.then, reports: issued.reports, is_retry: true })
}

/// Asks. `Ok` carries the answers of a legacy client; `Err` is how this request of a modern client ends.
pub(crate) async fn ask(
    exchange: &Exchange,
    target: &str,
    questions: Questions<'_>,
    reports: &[Value],
) -> Result<Vec<Value>, Outcome> {
    if exchange.modern_version().is_none() {
        return Ok(ask_by_requests(exchange, &questions.requests).await);
    }
    if let Some(refusal) = missing_capability(exchange, &questions.requests) {
        return Err(refusal);
    }
    let expected = match &questions.state {
        Some(state) => Expected::State(state.clone()),
        None => Expected::Target(target.to_owned()),
    };
    let result = input_required(&questions.requests, questions.state.as_deref());
    let issued = Issued {
        first_id: exchange.id.clone(),
        requests: questions.requests,
        reports: reports.to_vec(),
        then: questions.then.clone(),
    };
    exchange.server.issued.0.lock().insert(expected, issued);
    Err(Outcome::Result(result))
}

async fn ask_by_requests(exchange: &Exchange, requests: &Map<String, Value>) -> Vec<Value> {
    let mut answers = Vec::new();
    for request in requests.values() {
        answers.push(ask_one(exchange, request).await);
    }
    answers
}

/// Sends one request to the client and waits for its answer: the result, or `{"error": …}`.
pub(crate) async fn ask_one(exchange: &Exchange, request: &Value) -> Value {
    let id = json!(format!("ask-{}", exchange.server.fresh_number()));
    let answer = exchange.session.expect_answer(&id);
    let mut message = request.clone();
    message["jsonrpc"] = json!("2.0");
    message["id"] = id;
    exchange.say(message.to_string());
    let Ok(mut answer) = answer.await else {
        return json!({"error": {"message": "the connection ended before the answer"}});
    };
    match answer.get_mut("result") {
        Some(result) => result.take(),
        None => json!({"error": answer.get("error").cloned().unwrap_or_default()}),
    }
}

fn input_required(requests: &Map<String, Value>, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required"});
    if !requests.is_empty() {
        result["inputRequests"] = json!(requests);
    }
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

fn missing_capability(exchange: &Exchange, requests: &Map<String, Value>) -> Option<Outcome> {
    let declared = exchange.meta(META_CAPABILITIES)?;
    let mut required = Map::new();
    for request in requests.values() {
        let capability = match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => "elicitation",
            Some("sampling/createMessage") => "sampling",
            Some("roots/list") => "roots",
            _ => continue,
        };
        if declared.get(capability).is_none() {
            required.insert(capability.to_owned(), json!({}));
        }
    }
    if required.is_empty() {
        return None;
    }
    let refusal = Outcome::error(-32021, "the client did not declare what this request needs");
    Some(refusal.with_data(json!({"requiredCapabilities": required})).with_status(400))
}
