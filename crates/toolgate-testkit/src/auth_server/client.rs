//! How a client shows at the token endpoint who it is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::auth_server::answer::Answer;
use crate::auth_server::authorize;
use crate::auth_server::form::{Form, decode};
use crate::auth_server::jwt::Jwt;
use crate::auth_server::script::KnownClient;
use crate::auth_server::world::World;
use crate::http::request::Request;

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client has shown.
struct Shown {
    id: String,
    method: &'static str,
    secret: Option<String>,
    statement: Option<Jwt>,
}

/// The client that a request is from.
pub(crate) fn authenticate(world: &World, request: &Request, form: &Form) -> Result<KnownClient, Box<Answer>> {
    let refused = |words: &str| {
        let body = json!({"error": "invalid_client", "error_description": words});
        Box::new(Answer::json(401, &body).header("WWW-Authenticate", "Basic realm=\"token\""))
    };
    let shown = shown(request, form).map_err(refused)?;
    world.record.client(&shown.id, shown.method);
    shown.secret.iter().for_each(|secret| world.record.secret(secret));
    let client = authorize::client(world, &shown.id).ok_or_else(|| refused("the client is not known"))?;
    if let Some(method) = &client.method
        && method != shown.method
    {
        return Err(refused(&format!("this client has to use `{method}`, not `{}`", shown.method)));
    }
    match &shown.statement {
        Some(statement) => check_statement(world, &client, statement).map_err(|words| refused(&words))?,
        None if client.secret != shown.secret => return Err(refused("the secret is wrong or missing")),
        None => {}
    }
    Ok(client)
}

fn shown(request: &Request, form: &Form) -> Result<Shown, &'static str> {
    let basic = request.header("authorization").and_then(|value| value.strip_prefix("Basic "));
    if let Some(basic) = basic {
        let text = STANDARD.decode(basic).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let (id, secret) = text.as_deref().and_then(|text| text.split_once(':')).ok_or("a broken `Authorization`")?;
        if form.get("client_secret").is_some() || form.get("client_assertion").is_some() {
            return Err("the client shows in two ways who it is");
        }
        return Ok(Shown {
            id: decode(id),
            method: "client_secret_basic",
            secret: Some(decode(secret)),
            statement: None,
        });
    }
    if let Some(statement) = form.get("client_assertion") {
        if form.get("client_assertion_type") != Some(ASSERTION_TYPE) {
            return Err("`client_assertion_type` is wrong");
        }
        let statement = Jwt::read(statement).ok_or("`client_assertion` is not a JWT")?;
        let id = statement.claim("sub").ok_or("`client_assertion` has no `sub`")?.to_owned();
        return Ok(Shown { id, method: "private_key_jwt", secret: None, statement: Some(statement) });
    }
    let id = form.get("client_id").ok_or("there is no `client_id`")?.to_owned();
    let secret = form.get("client_secret").map(str::to_owned);
    let method = if secret.is_some() { "client_secret_post" } else { "none" };
    Ok(Shown { id, method, secret, statement: None })
}

fn check_statement(world: &World, client: &KnownClient, statement: &Jwt) -> Result<(), String> {
    if statement.claim("iss") != Some(&client.id) {
        return Err("`iss` of the statement is not the client".to_owned());
    }
    let token_endpoint = world.address("/token");
    let is_us = |audience: &Value| audience == &json!(world.places.issuer) || audience == &json!(token_endpoint);
    let is_for_us = match statement.claims.get("aud") {
        Some(Value::Array(audiences)) => audiences.iter().any(is_us),
        Some(audience) => is_us(audience),
        None => false,
    };
    if !is_for_us {
        return Err("`aud` of the statement is somebody else".to_owned());
    }
    if statement.claims.get("exp").is_none() || statement.claim("jti").is_none() {
        return Err("`exp` or `jti` of the statement is missing".to_owned());
    }
    match &client.key {
        Some(key) if !statement.is_signed_by(key) => Err("the signature of the statement is wrong".to_owned()),
        _ => Ok(()),
    }
}
