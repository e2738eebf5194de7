//! Where the browser comes: checks what the client asks for, lets the person decide, and sends the browser back.

use crate::auth_server::answer::Answer;
use crate::auth_server::form::{Form, escape_html};
use crate::auth_server::script::{Consent, KnownClient};
use crate::auth_server::world::{Asked, Code, World};
use crate::http::request::Request;

/// Answers `/authorize`.
pub(crate) fn answer(world: &World, request: &Request) -> Answer {
    let query = request.target.split_once('?').map(|(_, query)| Form::read(query)).unwrap_or_default();
    let asked = match read(world, &query) {
        Ok(asked) => asked,
        Err(words) => {
            return Answer::html(400, format!("<h1>This login cannot go on</h1><p>{}</p>", escape_html(&words)));
        }
    };
    if let Err((error, words)) = check(world, &query, &asked) {
        return send_back(world, &asked, &[("error", error), ("error_description", words)]);
    }
    match world.script.issuer.consent {
        Consent::AtOnce => allow(world, asked),
        Consent::Denied => deny(world, &asked),
        Consent::Page => page(world, asked),
    }
}

/// Who asks, and where the browser goes. While that is not certain the browser is sent nowhere.
fn read(world: &World, query: &Form) -> Result<Asked, String> {
    let text = |name: &str| query.get(name).map(str::to_owned);
    let client_id = text("client_id").ok_or("`client_id` is missing")?;
    let client = client(world, &client_id).ok_or_else(|| format!("the client `{client_id}` is not known"))?;
    let redirect_uri = text("redirect_uri").ok_or("`redirect_uri` is missing")?;
    let is_fine = if client.redirect_uris.is_empty() {
        without_loopback_port(&redirect_uri) != redirect_uri
    } else {
        client.redirect_uris.iter().any(|uri| without_loopback_port(uri) == without_loopback_port(&redirect_uri))
    };
    if !is_fine {
        return Err(format!("`{redirect_uri}` is not registered for the client `{client_id}`"));
    }
    let scope = text("scope").unwrap_or_default();
    let (state, resource, challenge) = (text("state"), text("resource"), text("code_challenge"));
    Ok(Asked { client_id, redirect_uri, state, scope, resource, challenge })
}

/// A client that was registered, or is described by a document.
pub(crate) fn client(world: &World, id: &str) -> Option<KnownClient> {
    if let Some(client) = world.state.lock().clients.get(id) {
        return Some(client.clone());
    }
    let is_document = world.script.issuer.client_documents && (id.starts_with("https://") || id.starts_with("http://"));
    is_document.then(|| KnownClient { id: id.to_owned(), ..KnownClient::default() })
}

/// The port of a loopback address is chosen when the client starts, so it is not compared (RFC 8252).
fn without_loopback_port(uri: &str) -> String {
    for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] {
        if let Some(rest) = uri.strip_prefix(host).and_then(|rest| rest.strip_prefix(':')) {
            return format!("{host}{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        }
    }
    uri.to_owned()
}

fn check(world: &World, query: &Form, asked: &Asked) -> Result<(), (&'static str, &'static str)> {
    if query.get("response_type") != Some("code") {
        return Err(("unsupported_response_type", "`response_type` is not `code`"));
    }
    if world.script.issuer.needs_pkce {
        if asked.challenge.as_ref().is_none_or(|challenge| challenge.len() != 43) {
            return Err(("invalid_request", "`code_challenge` is missing"));
        }
        if query.get("code_challenge_method") != Some("S256") {
            return Err(("invalid_request", "`code_challenge_method` is not `S256`"));
        }
    }
    if asked.state.is_none() {
        return Err(("invalid_request", "`state` is missing"));
    }
    if world.script.issuer.needs_resource && asked.resource.as_deref() != Some(&world.places.mcp) {
        return Err(("invalid_target", "`resource` is not this service"));
    }
    Ok(())
}

fn allow(world: &World, asked: Asked) -> Answer {
    let code = world.secret("code");
    let callback = asked.clone();
    {
        let mut state = world.state.lock();
        let family = state.fresh_number();
        state.codes.insert(code.clone(), Code { asked, family, is_used: false });
    }
    send_back(world, &callback, &[("code", &code)])
}

fn deny(world: &World, asked: &Asked) -> Answer {
    send_back(world, asked, &[("error", "access_denied"), ("error_description", "the person said no")])
}

/// Sends the browser back, with what the script changes.
fn send_back(world: &World, asked: &Asked, parameters: &[(&str, &str)]) -> Answer {
    let changes = &world.script.issuer.callback;
    let mut pairs: Vec<(String, String)> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    pairs.extend(asked.state.clone().map(|state| ("state".to_owned(), state)));
    pairs.push(("iss".to_owned(), world.places.issuer.clone()));
    pairs.retain(|(name, _)| !changes.parameters.contains_key(name));
    let added = changes.parameters.iter().filter_map(|(name, value)| Some((name.clone(), world.fill(value.as_ref()?))));
    pairs.extend(added);
    let to = changes.to.as_ref().map_or_else(|| asked.redirect_uri.clone(), |to| world.fill(to));
    let glue = if to.contains('?') { '&' } else { '?' };
    Answer::redirect(format!("{to}{glue}{}", Form(pairs).write()))
}

fn page(world: &World, asked: Asked) -> Answer {
    let ticket = world.secret("consent");
    let (client, scope) = (escape_html(&asked.client_id), escape_html(&asked.scope));
    world.state.lock().consents.insert(ticket.clone(), asked);
    let action = world.path("/consent");
    Answer::html(
        200,
        format!(
            "<!doctype html><html lang=\"en\"><head><title>Allow access?</title></head><body>\
             <h1>Allow access?</h1><p id=\"client\">{client}</p><p id=\"scope\">{scope}</p>\
             <form method=\"post\" action=\"{action}\"><input type=\"hidden\" name=\"ticket\" value=\"{ticket}\">\
             <button id=\"allow\" name=\"decision\" value=\"allow\">Allow</button>\
             <button id=\"deny\" name=\"decision\" value=\"deny\">Deny</button></form></body></html>"
        ),
    )
}

/// Answers the form of the page.
pub(crate) fn decide(world: &World, request: &Request) -> Answer {
    let form = Form::read(&request.text());
    let asked = form.get("ticket").and_then(|ticket| world.state.lock().consents.remove(ticket));
    let Some(asked) = asked else { return Answer::html(400, "<p>This question was answered before.</p>") };
    if form.get("decision") == Some("allow") { allow(world, asked) } else { deny(world, &asked) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_port_of_a_loopback_address_is_free() {
        let cases = [
            ("http://127.0.0.1:1234/callback", "http://127.0.0.1/callback"),
            ("http://[::1]:7/x", "http://[::1]/x"),
            ("http://localhost:80/?a=1", "http://localhost/?a=1"),
            ("http://127.0.0.1.evil.example:1/", "http://127.0.0.1.evil.example:1/"),
            ("https://example.com:8443/", "https://example.com:8443/"),
        ];
        for (uri, expected) in cases {
            assert_eq!(without_loopback_port(uri), expected);
        }
    }
}
