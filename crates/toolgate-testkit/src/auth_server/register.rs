//! Dynamic client registration (RFC 7591).

use serde_json::{Value, json};

use crate::auth_server::answer::Answer;
use crate::auth_server::script::{KnownClient, Registration};
use crate::auth_server::world::World;
use crate::http::request::Request;

/// Registers a client; `None` when clients cannot be registered here.
pub(crate) fn answer(world: &World, request: &Request) -> Option<Answer> {
    let method = match world.script.issuer.registration {
        Registration::Public => "none",
        Registration::SecretBasic => "client_secret_basic",
        Registration::SecretPost => "client_secret_post",
        Registration::Refused => {
            let body =
                json!({"error": "invalid_client_metadata", "error_description": "clients are registered by hand"});
            return Some(Answer::json(403, &body));
        }
        Registration::Absent => return None,
    };
    let asked: Value = serde_json::from_str(&request.text()).unwrap_or_default();
    let uris = asked.get("redirect_uris").and_then(Value::as_array).cloned().unwrap_or_default();
    let redirect_uris: Vec<String> = uris.iter().filter_map(|uri| uri.as_str().map(str::to_owned)).collect();
    // Whoever sends no browser needs no address that it comes back to.
    let sends_browsers = asked
        .get("grant_types")
        .and_then(Value::as_array)
        .is_none_or(|grants| grants.iter().any(|grant| grant == "authorization_code"));
    if sends_browsers && redirect_uris.is_empty() {
        let body = json!({"error": "invalid_redirect_uri", "error_description": "there is no `redirect_uris`"});
        return Some(Answer::json(400, &body));
    }
    let number = world.state.lock().fresh_number();
    let mut client = KnownClient {
        id: format!("client-{number}"),
        redirect_uris,
        method: Some(method.to_owned()),
        ..KnownClient::default()
    };
    let mut document = asked;
    document["client_id"] = json!(client.id);
    document["client_id_issued_at"] = json!(1_700_000_000);
    document["token_endpoint_auth_method"] = json!(method);
    if method != "none" {
        let secret = world.secret("secret");
        document["client_secret"] = json!(secret);
        document["client_secret_expires_at"] = json!(0);
        client.secret = Some(secret);
    }
    world.state.lock().clients.insert(client.id.clone(), client);
    Some(Answer::json(201, &world.change(document, &world.script.issuer.registration_members)))
}
