//! Who we are to an authorization server, in the order of the specification: a client from the settings, a published document about us, a client
//! that was registered before, a new one (RFC 7591), or words that say what to do by hand.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use url::Url;

use super::account::LoginOptions;
use super::client::{Means, choose_method};
use super::exchange::{Exchange, shown};
use super::guide::EnteredClient;
use super::journal::{Journal, StepOutcome};
use super::login::{ClientIdentity, ClientMethod, ClientOrigin};
use super::token_answer::{TokenError, TokenErrorKind, fields, seconds, visible};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{CLIENT_ID_BYTES_MAX, TOKEN_BYTES_MAX};
use crate::secret::Secret;

/// Where a document about this program is published. There is none yet.
const PUBLISHED_DOCUMENT: Option<&str> = None;

/// What an authorization server says about its clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientRules<'a> {
    /// The authorization server.
    pub(crate) issuer: &'a str,
    /// How clients may show who they are (`token_endpoint_auth_methods_supported`).
    pub(crate) methods: Option<&'a [String]>,
    /// Whether the address of a published document is a name for a client (`client_id_metadata_document_supported`).
    pub(crate) takes_documents: bool,
    /// Where clients are registered (`registration_endpoint`).
    pub(crate) registration_endpoint: Option<&'a Url>,
}

/// Who we are, as far as it is known without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// It is known.
    Known(ClientIdentity),
    /// We have to be registered there first.
    Register(Url),
    /// Only the person can know: the authorization server registers nobody by itself.
    Ask,
}

/// Decides who we are. `kept` is an identity from before, of any authorization server.
pub(crate) fn choose(
    options: &LoginOptions,
    rules: &ClientRules<'_>,
    redirect_uri: Option<&str>,
    kept: Option<&ClientIdentity>,
    now: SystemTime,
) -> Result<Choice> {
    let key = options.private_key.is_some();
    let wish = options.client_method.as_deref();
    if let Some(client_id) = &options.client_id {
        let means = Means { secret: options.client_secret.is_some(), key };
        let method = choose_method(wish, rules.methods, means)?;
        let client_secret = options.client_secret.clone();
        return Ok(Choice::Known(known(rules.issuer, client_id, client_secret, method, ClientOrigin::Settings)));
    }
    if rules.takes_documents
        && let Some(document) = options.client_metadata_url.as_deref().or(PUBLISHED_DOCUMENT)
    {
        check_document(document)?;
        let method = choose_method(wish, rules.methods, Means { secret: false, key })?;
        return Ok(Choice::Known(known(rules.issuer, document, None, method, ClientOrigin::Document)));
    }
    if let Some(kept) = kept.filter(|kept| is_usable(kept, rules.issuer, redirect_uri, now)) {
        return Ok(Choice::Known(kept.clone()));
    }
    if let Some(endpoint) = rules.registration_endpoint {
        return Ok(Choice::Register(endpoint.clone()));
    }
    Ok(Choice::Ask)
}

fn known(
    issuer: &str,
    client_id: &str,
    client_secret: Option<Secret>,
    method: ClientMethod,
    origin: ClientOrigin,
) -> ClientIdentity {
    let (issuer, client_id) = (issuer.to_owned(), client_id.to_owned());
    ClientIdentity { issuer, client_id, client_secret, method, origin, redirect_uri: None, expires_at: None }
}

/// Names are only names at the authorization server that gave them, for the address they were given for.
fn is_usable(kept: &ClientIdentity, issuer: &str, redirect_uri: Option<&str>, now: SystemTime) -> bool {
    kept.origin == ClientOrigin::Registered
        && kept.issuer == issuer
        && kept.redirect_uri.as_deref() == redirect_uri
        && kept.expires_at.is_none_or(|end| end > now)
}

/// The address of a document is a name only if it cannot be mistaken for a whole site, and nobody on the way can change it.
fn check_document(address: &str) -> Result<()> {
    let is_fitting = Url::parse(address).is_ok_and(|url| {
        let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        url.scheme() == "https" && url.path() != "/" && is_bare
    });
    if is_fitting {
        return Ok(());
    }
    let message = format!("`oauth.clientMetadataUrl` is `{address}`, which cannot name a client");
    Err(Error::new(ErrorKind::Settings, message).hinting("it looks like `https://example.com/oauth/client.json`"))
}

/// The state when no client is known and none can be registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoClient<'a> {
    /// The authorization server.
    pub(crate) issuer: &'a str,
    /// The address to which the browser returns.
    pub(crate) redirect_uri: Option<&'a str>,
    /// Failed attempts to find a registration endpoint, one message each.
    pub(crate) tried: &'a [String],
    /// Whether no metadata of the authorization server was found.
    pub(crate) is_silent: bool,
    /// Whether it takes the address of a published document as a client id.
    pub(crate) takes_documents: bool,
}

/// The error in that state.
pub(crate) fn unknown_client(without: NoClient<'_>) -> Error {
    let issuer = visible(without.issuer, &[]);
    let mut message = match without.is_silent {
        true => {
            format!("no metadata of the authorization server {issuer} was found, so no client can be registered there")
        }
        false => format!("the authorization server {issuer} registers no clients by itself"),
    };
    for (at, one) in without.tried.iter().enumerate() {
        message.push_str(if at == 0 { ": " } else { "; " });
        message.push_str(&visible(one, &[]));
    }
    let mut hint = by_hand(without.redirect_uri);
    if without.is_silent {
        hint = format!("set `oauth.issuer` to the address of its metadata, or {hint}");
    }
    if without.takes_documents {
        hint.push_str("; it also takes a published client document, named by `oauth.clientMetadataUrl`");
    }
    Error::new(ErrorKind::LoginFailed, message).hinting(hint)
}

/// A client that the person registered by hand, to be kept like one of ours.
pub(crate) fn entered(
    client: EnteredClient,
    options: &LoginOptions,
    rules: &ClientRules<'_>,
    redirect_uri: Option<&str>,
) -> Result<ClientIdentity> {
    let EnteredClient { client_id, client_secret } = client;
    let means = Means { secret: client_secret.is_some(), key: options.private_key.is_some() };
    let method = choose_method(options.client_method.as_deref(), rules.methods, means)?;
    let identity = known(rules.issuer, &client_id, client_secret, method, ClientOrigin::Registered);
    Ok(ClientIdentity { redirect_uri: redirect_uri.map(str::to_owned), ..identity })
}

fn by_hand(redirect_uri: Option<&str>) -> String {
    match redirect_uri {
        Some(address) => {
            format!("register a client there by hand with the redirect URI `{address}`, and set `oauth.clientId`")
        }
        None => "register a client there by hand, and set `oauth.clientId`".to_owned(),
    }
}

/// What is said when a client is registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registration<'a> {
    /// What the authorization server says about clients.
    pub(crate) rules: ClientRules<'a>,
    /// How we want to show who we are, when the settings say so.
    pub(crate) wish: Option<&'a str>,
    /// The address to which the browser returns.
    pub(crate) redirect_uri: Option<&'a str>,
    /// What will be asked for.
    pub(crate) scopes: &'a [String],
    /// Whether the person may log in on another device.
    pub(crate) on_another_device: bool,
}

impl Registration<'_> {
    /// What we ask to be taken as. A program on somebody's machine keeps no secret, so no secret is asked for where that is taken.
    fn method(&self) -> Result<ClientMethod> {
        let means = Means { secret: true, key: false };
        let takes_none = self.rules.methods.is_none_or(|list| list.iter().any(|name| name == "none"));
        match self.wish {
            None if takes_none => Ok(ClientMethod::None),
            wish => choose_method(wish, self.rules.methods, means),
        }
    }

    fn document(&self, method: ClientMethod) -> Value {
        let mut grants = Vec::new();
        let mut document = json!({
            "client_name": "toolgate",
            "application_type": "native",
            "token_endpoint_auth_method": method.as_str(),
        });
        if let Some(address) = self.redirect_uri {
            grants.push("authorization_code");
            document["redirect_uris"] = json!([address]);
            document["response_types"] = json!(["code"]);
        } else {
            // Left out, it stands for `code`, which needs an address to come back to (RFC 7591 §2).
            document["response_types"] = json!([]);
        }
        grants.push("refresh_token");
        if self.on_another_device {
            grants.push("urn:ietf:params:oauth:grant-type:device_code");
        }
        document["grant_types"] = json!(grants);
        if !self.scopes.is_empty() {
            document["scope"] = json!(self.scopes.join(" "));
        }
        document
    }
}

/// Registers a client.
///
/// Some authorization servers know only their own scopes and not those of the services behind them, and take no client that names others. Scopes
/// are what a client can go without saying, so it is said without them then.
pub(crate) async fn register(
    exchange: &dyn Exchange,
    endpoint: &Url,
    registration: &Registration<'_>,
    journal: &Journal,
) -> Result<ClientIdentity> {
    let address = shown(endpoint);
    let what = format!("POST {address} (registration)");
    let mut identity = ask(exchange, endpoint, registration).await?;
    if let Err(error) = &identity
        && error.code() == Some("invalid_client_metadata")
        && !registration.scopes.is_empty()
    {
        let detail = format!("{}; asking again without scopes", error.words);
        journal.note(what.clone(), StepOutcome::Nothing, detail, None);
        identity = ask(exchange, endpoint, &Registration { scopes: &[], ..*registration }).await?;
    }
    match identity {
        Ok(identity) => {
            let detail = format!("client `{}` by `{}`", visible(&identity.client_id, &[]), identity.method.as_str());
            journal.good(what, detail);
            Ok(identity)
        }
        Err(error) => {
            let error = explained(error, registration).by(&format!("the registration endpoint {address}"));
            journal.note(what, StepOutcome::Failed, error.words.clone(), Some("RFC 7591 §3.2"));
            let is_passing = error.kind == TokenErrorKind::Transient;
            let hint = if is_passing { "try again later".to_owned() } else { by_hand(registration.redirect_uri) };
            Err(Error::new(ErrorKind::LoginFailed, error.words).hinting(hint))
        }
    }
}

/// Asks once: who we are from now on, or why not. An error outside is one of the settings.
async fn ask(
    exchange: &dyn Exchange,
    endpoint: &Url,
    registration: &Registration<'_>,
) -> Result<Result<ClientIdentity, TokenError>> {
    let document = registration.document(registration.method()?);
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let answer = exchange.post(endpoint, headers, document.to_string().into_bytes()).await;
    let answer = answer.map_err(|why| TokenError::transient(format!("cannot be reached: {why}")));
    Ok(answer.and_then(|answer| fields(&answer, &[])).and_then(|fields| read(&fields, registration)))
}

/// What a code means, where its name alone does not tell a person enough.
fn explained(error: TokenError, registration: &Registration<'_>) -> TokenError {
    let meaning = match (error.code(), registration.redirect_uri) {
        (Some("invalid_redirect_uri"), Some(address)) => format!("it does not take the redirect URI `{address}`"),
        (Some("invalid_client_metadata"), _) => "it does not take clients like this one".to_owned(),
        (Some("invalid_software_statement" | "unapproved_software_statement"), _) => {
            "it takes only programs that were approved before".to_owned()
        }
        (Some("invalid_token" | "access_denied" | "unauthorized"), _) => {
            "it registers only clients of people it knows".to_owned()
        }
        _ => return error,
    };
    TokenError { words: format!("{} ({meaning})", error.words), ..error }
}

/// Reads what was registered: it may differ from what was asked for, and only what we cannot live with is refused.
fn read(fields: &Map<String, Value>, registration: &Registration<'_>) -> Result<ClientIdentity, TokenError> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let client_id = text("client_id").ok_or_else(|| TokenError::malformed("gave no client ID"))?;
    if client_id.len() > CLIENT_ID_BYTES_MAX || client_id.chars().any(char::is_control) {
        return Err(TokenError::malformed("gave a client ID that cannot be used"));
    }
    check_redirect(fields, registration.redirect_uri)?;
    let secret = text("client_secret").filter(|secret| secret.len() <= TOKEN_BYTES_MAX);
    let method = decided(text("token_endpoint_auth_method"), secret.is_some(), &registration.rules)?;
    let end = fields.get("client_secret_expires_at").and_then(seconds).filter(|end| !end.is_zero());
    Ok(ClientIdentity {
        issuer: registration.rules.issuer.to_owned(),
        client_id: client_id.to_owned(),
        client_secret: secret.map(Secret::new),
        method,
        origin: ClientOrigin::Registered,
        redirect_uri: registration.redirect_uri.map(str::to_owned),
        // Without a secret there is nothing that could end.
        expires_at: secret.and(end).and_then(|end| UNIX_EPOCH.checked_add(end)),
    })
}

/// The answer says what was registered. Where our address is missing, every login would fail later, with less to go by.
fn check_redirect(fields: &Map<String, Value>, ours: Option<&str>) -> Result<(), TokenError> {
    let registered = fields.get("redirect_uris").and_then(Value::as_array).filter(|list| !list.is_empty());
    let (Some(registered), Some(ours)) = (registered, ours) else { return Ok(()) };
    let is_ours = |address: &str| {
        address == ours || matches!((Url::parse(address), Url::parse(ours)), (Ok(address), Ok(ours)) if address == ours)
    };
    if registered.iter().filter_map(Value::as_str).any(is_ours) {
        return Ok(());
    }
    Err(TokenError::malformed(format!("registered other redirect URIs than `{ours}`")))
}

/// How we show who we are, as the server decided.
fn decided(said: Option<&str>, has_secret: bool, rules: &ClientRules<'_>) -> Result<ClientMethod, TokenError> {
    let Some(said) = said else {
        return Ok(choose_method(None, rules.methods, Means { secret: has_secret, key: false })?);
    };
    match ClientMethod::named(said) {
        Some(ClientMethod::None) => Ok(ClientMethod::None),
        Some(method @ (ClientMethod::SecretBasic | ClientMethod::SecretPost)) if has_secret => Ok(method),
        Some(ClientMethod::SecretBasic | ClientMethod::SecretPost) => {
            Err(TokenError::malformed(format!("wants `{said}` and gave no client secret")))
        }
        Some(ClientMethod::PrivateKeyJwt) | None => {
            let said = visible(said, &[]);
            Err(TokenError::malformed(format!(
                "wants clients to show who they are by `{said}`, which was not asked for"
            )))
        }
    }
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
