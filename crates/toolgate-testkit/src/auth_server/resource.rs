//! The check in front of the service: who may pass, what those hear who may not, and the document about the service.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::auth_server::answer::Answer;
use crate::auth_server::dpop::{self, Proof};
use crate::auth_server::script::{Dpop, ResourceMetadata};
use crate::auth_server::world::{Grant, World};
use crate::http::gate::Verdict;
use crate::http::request::Request;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What happens to a request for the service; `None` when it is for somebody else. The engine behind knows the endpoint as `/mcp`.
pub(crate) fn judge(world: &World, request: &mut Request) -> Option<Verdict> {
    let path = request.path();
    if metadata_path(world).is_some_and(|place| place == path) {
        return Some(Verdict::Answer(Answer::json(200, &metadata(world))));
    }
    let is_endpoint = path == world.script.protection.mcp_path;
    if !is_endpoint && !matches!(path, "/sse" | "/messages") {
        return None;
    }
    if let Err(refusal) = check(world, request) {
        return Some(Verdict::Answer(*refusal));
    }
    if is_endpoint {
        let query = request.target.split_once('?').map(|(_, query)| format!("?{query}")).unwrap_or_default();
        request.target = format!("/mcp{query}");
    }
    Some(Verdict::Pass)
}

fn metadata_path(world: &World) -> Option<String> {
    match world.script.protection.metadata {
        ResourceMetadata::AtPath => Some(format!("{WELL_KNOWN}{}", world.script.protection.mcp_path)),
        ResourceMetadata::AtRoot => Some(WELL_KNOWN.to_owned()),
        ResourceMetadata::Nowhere => None,
    }
}

fn metadata(world: &World) -> Value {
    let protection = &world.script.protection;
    let mut document = json!({
        "resource": world.places.mcp,
        "authorization_servers": [world.places.issuer],
        "bearer_methods_supported": ["header"],
    });
    if !protection.scopes.is_empty() {
        document["scopes_supported"] = json!(protection.scopes);
    }
    if protection.dpop != Dpop::Accepted {
        document["dpop_bound_access_tokens_required"] = json!(true);
    }
    world.change(document, &protection.metadata_members)
}

fn check(world: &World, request: &Request) -> Result<(), Box<Answer>> {
    let calls = calls_in(&request.text());
    let protection = &world.script.protection;
    if !calls.is_empty() && calls.iter().all(|(method, _)| protection.open_methods.contains(method)) {
        return Ok(());
    }
    let grant = match grant_of(world, request) {
        Ok(grant) => grant,
        Err(why) => {
            world.record.count(|tally| tally.unauthorized += 1);
            return Err(Box::new(refusal(world, request, &why)));
        }
    };
    // A token from outside is good for everything.
    let Some(grant) = grant else {
        world.record.count(|tally| tally.authorized += 1);
        return Ok(());
    };
    let granted: Vec<&str> = grant.scope.split_whitespace().collect();
    let needed = needed(world, &calls);
    if needed.iter().all(|scope| granted.contains(&scope.as_str())) {
        world.record.count(|tally| tally.authorized += 1);
        return Ok(());
    }
    world.record.count(|tally| tally.insufficient += 1);
    let scope = needed.join(" ");
    let parameters = format!("error=\"insufficient_scope\", scope=\"{scope}\"{}", metadata_parameter(world));
    let body = json!({"error": "insufficient_scope", "scope": scope});
    Err(Box::new(Answer::json(403, &body).header("WWW-Authenticate", format!("Bearer {parameters}"))))
}

/// Why a token is not taken.
#[derive(Debug, PartialEq, Eq)]
enum Why {
    /// There is none.
    Absent,
    /// It is unknown, has ended, or is bound to another key.
    Invalid,
    /// The proof of its key lacks the nonce of this server.
    NeedsNonce,
}

/// What the token of a request allows; `None` when it is one that was not issued here and is taken all the same.
fn grant_of(world: &World, request: &Request) -> Result<Option<Grant>, Why> {
    let (scheme, token) = request.header("authorization").and_then(|value| value.split_once(' ')).ok_or(Why::Absent)?;
    if world.script.protection.accepts.iter().any(|accepted| accepted == token) {
        return Ok(None);
    }
    let access = world.state.lock().access.get(token).cloned().ok_or(Why::Invalid)?;
    if access.ends.is_some_and(|ends| Instant::now() >= ends) {
        return Err(Why::Invalid);
    }
    let Some(key) = &access.grant.key else {
        let is_enough = scheme.eq_ignore_ascii_case("bearer") && world.script.protection.dpop == Dpop::Accepted;
        return if is_enough { Ok(Some(access.grant)) } else { Err(Why::Invalid) };
    };
    let nonce = (world.script.protection.dpop == Dpop::WithNonce).then(|| dpop::nonce(world, "resource"));
    let address = format!("{}{}", world.places.origin, request.path());
    match dpop::check(world, request, &Proof { address: &address, token: Some(token), nonce: nonce.as_deref() }) {
        Ok(Some(shown)) if shown == *key && scheme.eq_ignore_ascii_case("dpop") => Ok(Some(access.grant)),
        Err(dpop::Fault::Nonce) => Err(Why::NeedsNonce),
        _ => Err(Why::Invalid),
    }
}

fn refusal(world: &World, request: &Request, why: &Why) -> Answer {
    let protection = &world.script.protection;
    let mut answer = Answer::json(401, &json!({"error": "invalid_token"}));
    if *why == Why::NeedsNonce {
        let nonce = dpop::nonce(world, "resource");
        return answer.header("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"").header("DPoP-Nonce", nonce);
    }
    if let Some(challenges) = &protection.challenges {
        for challenge in challenges {
            answer = answer.header("WWW-Authenticate", world.fill(challenge));
        }
        return answer;
    }
    let scheme = if protection.dpop == Dpop::Accepted { "Bearer" } else { "DPoP" };
    let mut parameters = Vec::new();
    if request.header("authorization").is_some() {
        parameters.push("error=\"invalid_token\"".to_owned());
    }
    parameters.extend(Some(metadata_parameter(world).trim_start_matches([',', ' ']).to_owned()));
    if !protection.scopes.is_empty() {
        parameters.push(format!("scope=\"{}\"", protection.scopes.join(" ")));
    }
    parameters.retain(|parameter| !parameter.is_empty());
    answer.header("WWW-Authenticate", format!("{scheme} {}", parameters.join(", ")).trim())
}

fn metadata_parameter(world: &World) -> String {
    let place = metadata_path(world).map(|path| format!("{}{path}", world.places.origin));
    place.map(|place| format!(", resource_metadata=\"{place}\"")).unwrap_or_default()
}

/// Methods in a body, with the tool for a tool call.
fn calls_in(body: &str) -> Vec<(String, Option<String>)> {
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let messages = match message {
        Value::Array(messages) => messages,
        one => vec![one],
    };
    let call = |message: &Value| {
        let method = message.get("method")?.as_str()?.to_owned();
        let tool = message.pointer("/params/name").and_then(Value::as_str).map(|tool| format!("{method}:{tool}"));
        Some((method, tool))
    };
    messages.iter().filter_map(call).collect()
}

fn needed(world: &World, calls: &[(String, Option<String>)]) -> Vec<String> {
    let protection = &world.script.protection;
    let mut needed = protection.scopes.clone();
    for (method, tool) in calls {
        for name in [Some(method), tool.as_ref()].into_iter().flatten() {
            needed.extend(protection.needs.get(name).into_iter().flatten().cloned());
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    needed.retain(|scope| seen.insert(scope.clone()));
    needed
}
