//! The token endpoint: each grant is checked and answered with tokens.

use serde_json::{Value, json};

use crate::auth_server::answer::Answer;
use crate::auth_server::dpop::{self, Fault, Proof};
use crate::auth_server::form::Form;
use crate::auth_server::jwt::sha256;
use crate::auth_server::record::IssuedToken;
use crate::auth_server::script::{Dpop, Refresh, TokenFormat};
use crate::auth_server::world::{Access, Grant, RefreshToken, World};
use crate::auth_server::{client, device};
use crate::http::request::Request;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// An answer that refuses.
pub(crate) type Refused = Box<Answer>;

/// A refusal with its code and words.
pub(crate) fn refused(error: &str, words: &str) -> Refused {
    Box::new(Answer::json(400, &json!({"error": error, "error_description": words})))
}

/// Answers the token endpoint.
pub(crate) fn answer(world: &World, request: &Request) -> Answer {
    let form = Form::read(&request.text());
    let answer = match check_form(request, &form).and_then(|()| respond(world, request, &form)) {
        Ok(document) => write(world, &document),
        Err(refusal) => *refusal,
    };
    answer.delay(world.script.issuer.token_delay_ms)
}

fn check_form(request: &Request, form: &Form) -> Result<(), Refused> {
    let kind = request.header("content-type").unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(refused("invalid_request", "the body is not a form"));
    }
    match form.repeated() {
        Some(name) => Err(refused("invalid_request", &format!("`{name}` is given twice"))),
        None => Ok(()),
    }
}

fn respond(world: &World, request: &Request, form: &Form) -> Result<Value, Refused> {
    let client = client::authenticate(world, request, form)?;
    let key = key_of(world, request)?;
    let grant_type = form.get("grant_type").unwrap_or_default();
    let own = || {
        let family = world.state.lock().fresh_number();
        let (scope, resource) =
            (form.get("scope").unwrap_or_default().to_owned(), form.get("resource").map(str::to_owned));
        Grant { client_id: client.id.clone(), scope, resource, key: None, family }
    };
    let (grant, may_renew) = match grant_type {
        "authorization_code" => (redeem_code(world, &client.id, form)?, true),
        "refresh_token" => (redeem_refresh_token(world, &client.id, form)?, true),
        DEVICE_CODE => (device::redeem(world, &client.id, form)?, true),
        "client_credentials" if client.secret.is_some() || client.key.is_some() => (own(), false),
        "client_credentials" => return Err(refused("unauthorized_client", "this client has no secret and no key")),
        JWT_BEARER => {
            check_statement(world, form.get("assertion"))?;
            (own(), false)
        }
        TOKEN_EXCHANGE => {
            check_statement(world, form.get("subject_token"))?;
            return Ok(exchanged(world, form));
        }
        other => return Err(refused("unsupported_grant_type", &format!("`{other}` is not offered"))),
    };
    if grant.key.is_some() && grant.key != key {
        return Err(refused("invalid_dpop_proof", "the token is bound to another key"));
    }
    if world.script.issuer.needs_resource && grant.resource.as_deref() != Some(&world.places.mcp) {
        return Err(refused("invalid_target", "`resource` is not this service"));
    }
    Ok(issue(world, grant_type, Grant { key, ..grant }, may_renew))
}

/// The key that the token will be bound to.
fn key_of(world: &World, request: &Request) -> Result<Option<String>, Refused> {
    let dpop = world.script.issuer.dpop;
    let nonce = (dpop == Dpop::WithNonce).then(|| dpop::nonce(world, "issuer"));
    let address = world.address("/token");
    match dpop::check(world, request, &Proof { address: &address, token: None, nonce: nonce.as_deref() }) {
        Ok(None) if dpop != Dpop::Accepted => Err(refused("invalid_dpop_proof", "there is no proof")),
        Ok(key) => Ok(key),
        Err(Fault::Invalid(words)) => Err(refused("invalid_dpop_proof", words)),
        Err(Fault::Nonce) => {
            let answer = refused("use_dpop_nonce", "the nonce of this server is needed");
            Err(Box::new(answer.header("DPoP-Nonce", nonce.unwrap_or_default())))
        }
    }
}

fn redeem_code(world: &World, client_id: &str, form: &Form) -> Result<Grant, Refused> {
    let wrong = |words: &str| refused("invalid_grant", words);
    let mut state = world.state.lock();
    let Some(code) = state.codes.get_mut(form.get("code").unwrap_or_default()) else {
        return Err(wrong("the code is not known"));
    };
    let (asked, family) = (code.asked.clone(), code.family);
    if std::mem::replace(&mut code.is_used, true) {
        state.end_family(family);
        world.record.count(|tally| tally.code_replays += 1);
        return Err(wrong("the code was used before"));
    }
    if asked.client_id != client_id {
        return Err(wrong("the code is another client's"));
    }
    if form.get("redirect_uri") != Some(&asked.redirect_uri) {
        return Err(wrong("`redirect_uri` is not what it was"));
    }
    let proven = form.get("code_verifier").map(sha256);
    if proven != asked.challenge {
        return Err(wrong("`code_verifier` does not fit"));
    }
    let resource = form.get("resource").map(str::to_owned).or(asked.resource);
    Ok(Grant { client_id: asked.client_id, scope: asked.scope, resource, key: None, family })
}

fn redeem_refresh_token(world: &World, client_id: &str, form: &Form) -> Result<Grant, Refused> {
    let wrong = |words: &str| refused("invalid_grant", words);
    let mut state = world.state.lock();
    let Some(token) = state.refresh.get_mut(form.get("refresh_token").unwrap_or_default()) else {
        return Err(wrong("the refresh token is not known"));
    };
    if token.grant.client_id != client_id {
        return Err(wrong("the refresh token is another client's"));
    }
    let mut grant = token.grant.clone();
    if token.is_used {
        world.record.count(|tally| tally.double_redemptions += 1);
        state.end_family(grant.family);
        return Err(wrong("the refresh token was used before"));
    }
    token.is_used = world.script.issuer.refresh == Refresh::Rotating;
    world.record.count(|tally| tally.refreshes += 1);
    if let Some(scope) = form.get("scope").filter(|scope| !scope.is_empty()) {
        let granted: Vec<&str> = grant.scope.split_whitespace().collect();
        if !scope.split_whitespace().all(|one| granted.contains(&one)) {
            return Err(refused("invalid_scope", "more than was granted"));
        }
        scope.clone_into(&mut grant.scope);
    }
    Ok(grant)
}

/// A signed statement that somebody else has made.
fn check_statement(world: &World, statement: Option<&str>) -> Result<(), Refused> {
    let accepted = &world.script.issuer.assertions;
    match statement {
        Some(statement) if accepted.is_empty() || accepted.iter().any(|one| one == statement) => Ok(()),
        Some(_) => Err(refused("invalid_grant", "the statement is not accepted")),
        None => Err(refused("invalid_request", "there is no statement")),
    }
}

/// A statement in exchange for another one.
fn exchanged(world: &World, form: &Form) -> Value {
    let kind = form.get("requested_token_type").unwrap_or("urn:ietf:params:oauth:token-type:access_token");
    let document = json!({
        "access_token": world.secret("exchanged"), "issued_token_type": kind, "token_type": "N_A", "expires_in": 300,
    });
    world.change(document, &world.script.issuer.token_members)
}

fn issue(world: &World, grant_type: &str, mut grant: Grant, may_renew: bool) -> Value {
    let issuer = &world.script.issuer;
    if let Some(scope) = &issuer.grants_scopes {
        grant.scope.clone_from(scope);
    }
    let access_token = world.secret("access");
    // A static refresh token is given once; what renews with it keeps it.
    let is_first = grant_type != "refresh_token";
    let is_given =
        may_renew && (issuer.refresh == Refresh::Rotating || (issuer.refresh == Refresh::Static && is_first));
    let refresh_token = is_given.then(|| world.secret("refresh"));
    {
        let mut state = world.state.lock();
        state.access.insert(access_token.clone(), Access { grant: grant.clone(), ends: world.token_end() });
        if let Some(token) = &refresh_token {
            state.refresh.insert(token.clone(), RefreshToken { grant: grant.clone(), is_used: false });
        }
    }
    let mut document = json!({
        "access_token": access_token,
        "token_type": if grant.key.is_some() { "DPoP" } else { "Bearer" },
        "expires_in": 3600,
    });
    if !grant.scope.is_empty() {
        document["scope"] = json!(grant.scope);
    }
    if let Some(token) = &refresh_token {
        document["refresh_token"] = json!(token);
    }
    world.record.issued(IssuedToken {
        grant: grant_type.to_owned(),
        client_id: grant.client_id,
        scope: grant.scope,
        resource: grant.resource,
        access_token,
        refresh_token,
        is_bound: grant.key.is_some(),
    });
    world.change(document, &issuer.token_members)
}

fn write(world: &World, document: &Value) -> Answer {
    let answer = match world.script.issuer.token_format {
        TokenFormat::Json => Answer::json(200, document),
        TokenFormat::JsonAsText => Answer::status(200).header("Content-Type", "text/plain").body(document.to_string()),
        TokenFormat::Form => {
            let members = document.as_object().into_iter().flatten();
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let form = Form(members.map(|(name, value)| (name.clone(), text(value))).collect());
            Answer::status(200).header("Content-Type", "application/x-www-form-urlencoded").body(form.write())
        }
    };
    let answer = answer.header("Cache-Control", "no-store");
    if world.script.issuer.dpop == Dpop::WithNonce {
        return answer.header("DPoP-Nonce", dpop::nonce(world, "issuer"));
    }
    answer
}
