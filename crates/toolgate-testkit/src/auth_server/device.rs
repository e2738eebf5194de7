//! Login on another device (RFC 8628). Nobody has to come to the page: the script says how asking for the token goes.

use serde_json::json;

use crate::auth_server::answer::Answer;
use crate::auth_server::client;
use crate::auth_server::form::Form;
use crate::auth_server::token::{self, Refused};
use crate::auth_server::world::{Device, Grant, World};
use crate::http::request::Request;

/// Answers the device authorization endpoint; `None` when there is none.
pub(crate) fn answer(world: &World, request: &Request) -> Option<Answer> {
    let script = world.script.issuer.device.as_ref()?;
    let form = Form::read(&request.text());
    let client = match client::authenticate(world, request, &form) {
        Ok(client) => client,
        Err(refusal) => return Some(*refusal),
    };
    let code = world.secret("device");
    let (scope, resource) = (form.get("scope").unwrap_or_default().to_owned(), form.get("resource").map(str::to_owned));
    let number = {
        let mut state = world.state.lock();
        let family = state.fresh_number();
        let grant = Grant { client_id: client.id, scope, resource, key: None, family };
        state.devices.insert(code.clone(), Device { grant, polls: 0 });
        family
    };
    let (user_code, place) = (format!("WDJB-{number:04}"), world.address("/device"));
    Some(Answer::json(
        200,
        &json!({
            "device_code": code,
            "user_code": user_code,
            "verification_uri": place,
            "verification_uri_complete": format!("{place}?user_code={user_code}"),
            "expires_in": script.expires_in,
            "interval": script.interval,
        }),
    ))
}

/// What a person sees.
pub(crate) fn page(world: &World) -> Answer {
    let title = if world.script.issuer.device.is_some() { "Enter the code" } else { "Nothing to enter" };
    Answer::html(200, format!("<!doctype html><title>{title}</title><h1>{title}</h1>"))
}

/// What the device code gives at the token endpoint.
pub(crate) fn redeem(world: &World, client_id: &str, form: &Form) -> Result<Grant, Refused> {
    let code = form.get("device_code").unwrap_or_default();
    let mut state = world.state.lock();
    let Some(device) = state.devices.get_mut(code).filter(|device| device.grant.client_id == client_id) else {
        return Err(token::refused("invalid_grant", "the device code is not known"));
    };
    let polls = world.script.issuer.device.as_ref().map(|script| script.polls.as_slice()).unwrap_or_default();
    let nth = device.polls;
    device.polls += 1;
    if let Some(error) = polls.get(nth) {
        return Err(token::refused(error, "as scripted"));
    }
    let grant = device.grant.clone();
    state.devices.remove(code);
    Ok(grant)
}
