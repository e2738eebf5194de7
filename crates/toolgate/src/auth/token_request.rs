//! What is asked of a token endpoint: every grant, with who we are, what it is for, and a proof of our key.
//!
//! The `oauth2` crate writes the requests of the grants it knows. The others are written here in the same manner. Answers are read by
//! [`token_answer`](super::token_answer) alone, because real servers deviate.

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use oauth2::basic::{BasicClient, BasicRequestTokenError};
use oauth2::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, HttpRequest, HttpResponse, PkceCodeVerifier, RedirectUrl,
    RefreshToken, RequestTokenError, TokenUrl,
};
use url::{Url, form_urlencoded};

use super::assertion::client_assertion;
use super::client::{Form, show, statement};
use super::dpop::{DPOP, Nonces, ProofKey, Proven};
use super::exchange::{Answer, Exchange, shown};
use super::journal::{Journal, StepOutcome};
use super::login::{ClientIdentity, ClientMethod, Login, TokenType};
use super::signature::SigningKey;
use super::token_answer::{Expected, ID_JAG, TokenAnswer, TokenError, read};
use crate::env::Clock;
use crate::secret::Secret;

/// What a person's ID token is called when it is exchanged.
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// What a token is for, as it is said in every request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// What is asked for.
    pub(crate) scopes: &'a [String],
    /// Who the token is for, where the settings say so.
    pub(crate) audiences: &'a [String],
    /// The server it is for (RFC 8707), when the authorization server takes that parameter.
    pub(crate) resource: Option<&'a str>,
}

impl Wanted<'_> {
    /// The parameters for that; `scope` first.
    pub(crate) fn parameters(&self) -> Form {
        let mut form = Form::new();
        for (name, values) in [("scope", self.scopes), ("audience", self.audiences)] {
            if !values.is_empty() {
                form.push((name, values.join(" ")));
            }
        }
        form.extend(self.resource.map(|resource| ("resource", resource.to_owned())));
        form
    }
}

/// What is given for a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grant<'a> {
    /// What the browser brought back.
    Code {
        /// The code.
        code: &'a Secret,
        /// What only whoever began the login knows (PKCE).
        verifier: &'a Secret,
        /// Where the browser came back to.
        redirect_uri: &'a str,
    },
    /// What an earlier answer gave for this purpose.
    Refresh(&'a Secret),
    /// Nothing but who we are.
    ClientCredentials,
    /// What stands for the person's answer on another device.
    DeviceCode(&'a Secret),
    /// A signed statement about a workload or a person (RFC 7523 §2.1).
    JwtBearer(&'a Secret),
    /// A person's ID token, for a statement to another authorization server (RFC 8693).
    TokenExchange(&'a Secret),
}

impl<'a> Grant<'a> {
    /// Its registered name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Code { .. } => "authorization_code",
            Self::Refresh(_) => "refresh_token",
            Self::ClientCredentials => "client_credentials",
            Self::DeviceCode(_) => "urn:ietf:params:oauth:grant-type:device_code",
            Self::JwtBearer(_) => "urn:ietf:params:oauth:grant-type:jwt-bearer",
            Self::TokenExchange(_) => "urn:ietf:params:oauth:grant-type:token-exchange",
        }
    }

    fn secrets(&self) -> Vec<&'a str> {
        match *self {
            Self::Code { code, verifier, .. } => vec![code.expose(), verifier.expose()],
            Self::ClientCredentials => vec![],
            Self::Refresh(secret)
            | Self::DeviceCode(secret)
            | Self::JwtBearer(secret)
            | Self::TokenExchange(secret) => {
                vec![secret.expose()]
            }
        }
    }
}

/// One token endpoint, and all that is needed to ask it something.
#[derive(Clone, Copy)]
pub(crate) struct TokenEndpoint<'a> {
    /// The way there.
    pub(crate) exchange: &'a dyn Exchange,
    /// Its address.
    pub(crate) url: &'a Url,
    /// The authorization server it belongs to.
    pub(crate) issuer: &'a str,
    /// Who we are there.
    pub(crate) client: &'a ClientIdentity,
    /// Our private key, for clients that show who they are with it.
    pub(crate) key: Option<&'a SigningKey>,
    /// The key that tokens are bound to, when the authorization server takes proofs.
    pub(crate) proof: Option<&'a ProofKey>,
    /// What servers asked to see in proofs.
    pub(crate) nonces: &'a Nonces,
    /// The time.
    pub(crate) clock: &'a dyn Clock,
    /// Where the steps are written down.
    pub(crate) journal: &'a Journal,
}

impl fmt::Debug for TokenEndpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenEndpoint")
            .field("url", &shown(self.url))
            .field("client", self.client)
            .finish_non_exhaustive()
    }
}

impl TokenEndpoint<'_> {
    /// Gives `grant` for a token. When the server asks to see a nonce, it is shown, once.
    pub(crate) async fn redeem(&self, grant: Grant<'_>, wanted: &Wanted<'_>) -> Result<TokenAnswer, TokenError> {
        let (mut outcome, has_new_nonce) = self.attempt(grant, wanted).await;
        let asks_for_nonce = |outcome: &Result<_, TokenError>| {
            outcome.as_ref().is_err_and(|error| error.code() == Some("use_dpop_nonce"))
        };
        if has_new_nonce && asks_for_nonce(&outcome) {
            (outcome, _) = self.attempt(grant, wanted).await;
        }
        let address = shown(self.url);
        let outcome = outcome.map_err(|error| error.by(&format!("the token endpoint {address}")));
        let what = format!("POST {address} ({})", grant.name());
        match &outcome {
            Ok(answer) => self.journal.good(what, described(answer, grant)),
            // Whoever waits for a person hears this many times.
            Err(error) if matches!(error.code(), Some("authorization_pending" | "slow_down")) => {}
            Err(error) => self.journal.note(what, StepOutcome::Failed, error.words.clone(), Some("RFC 6749 §5")),
        }
        outcome
    }

    /// One request and its answer, and whether a new nonce came with it.
    async fn attempt(&self, grant: Grant<'_>, wanted: &Wanted<'_>) -> (Result<TokenAnswer, TokenError>, bool) {
        let answer = match self.written(grant, wanted) {
            Ok(request) => self.post(self.url, request).await,
            Err(error) => Err(error),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return (Err(error), false),
        };
        let is_new = self.proof.is_some() && self.nonces.note(self.url, &answer.headers);
        let mut unsaid = grant.secrets();
        unsaid.extend(self.client.client_secret.as_ref().map(Secret::expose));
        (read(&answer, self.expected(grant), &unsaid), is_new)
    }

    fn expected(&self, grant: Grant<'_>) -> Expected {
        match grant {
            Grant::TokenExchange(_) => Expected::Statement,
            _ if self.proof.is_some() => Expected::Dpop,
            _ => Expected::Bearer,
        }
    }

    /// Posts a request, with a fresh proof when it goes to the token endpoint.
    async fn post(&self, url: &Url, request: HttpRequest) -> Result<Answer, TokenError> {
        let (parts, body) = request.into_parts();
        let mut headers = parts.headers;
        if let Some(key) = self.proof.filter(|_| url == self.url) {
            let nonce = self.nonces.get(url);
            let now = self.clock.now();
            let proven = Proven { method: "POST", url, access_token: None, nonce: nonce.as_deref(), now };
            let proof = HeaderValue::try_from(key.proof(&proven)?);
            headers.insert(DPOP, proof.map_err(|_| TokenError::unasked("the proof does not fit into a header"))?);
        }
        let answer = self.exchange.post(url, headers, body).await;
        answer.map_err(|why| TokenError::transient(format!("cannot be reached: {why}")))
    }

    /// Posts a form with who we are to another endpoint of the same authorization server.
    pub(crate) async fn post_form(&self, url: &Url, form: Form) -> Result<Answer, TokenError> {
        let request = self.by_hand(form)?;
        self.post(url, request).await
    }

    /// The request for a grant.
    fn written(&self, grant: Grant<'_>, wanted: &Wanted<'_>) -> Result<HttpRequest, TokenError> {
        let client = client_of(self);
        let mut also = wanted.parameters();
        if matches!(grant, Grant::Code { .. } | Grant::DeviceCode(_)) {
            // What is asked for was said when the login began.
            also.retain(|(name, _)| *name != "scope");
        }
        let by_crate = match grant {
            Grant::Code { code, verifier, redirect_uri } => {
                let redirect = RedirectUrl::new(redirect_uri.to_owned());
                let redirect = redirect.map_err(|_| TokenError::unasked("`oauth.redirectUri` is not an address"))?;
                let request = client.exchange_code(AuthorizationCode::new(code.expose().to_owned()));
                let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.expose().to_owned()));
                caught(request.set_redirect_uri(Cow::Owned(redirect)).request(&catch))?
            }
            Grant::Refresh(token) => {
                let token = RefreshToken::new(token.expose().to_owned());
                caught(client.exchange_refresh_token(&token).request(&catch))?
            }
            Grant::ClientCredentials => caught(client.exchange_client_credentials().request(&catch))?,
            Grant::DeviceCode(code) => {
                return self.by_hand(named(grant, vec![("device_code", code.expose().to_owned())], also));
            }
            Grant::JwtBearer(statement) => {
                return self.by_hand(named(grant, vec![("assertion", statement.expose().to_owned())], also));
            }
            Grant::TokenExchange(token) => {
                let form = vec![
                    ("requested_token_type", ID_JAG.to_owned()),
                    ("subject_token", token.expose().to_owned()),
                    ("subject_token_type", ID_TOKEN.to_owned()),
                ];
                return self.by_hand(named(grant, form, also));
            }
        };
        if let Some(assertion) = self.assertion()? {
            also.extend(statement(&assertion));
        }
        if self.client.method == ClientMethod::SecretBasic {
            // The crate leaves our name out of the form then, where many servers look for it.
            also.push(("client_id", self.client.client_id.clone()));
        }
        Ok(by_crate.map(|body| extended(body, &also)))
    }

    /// A request of a kind that the crate has none for.
    fn by_hand(&self, mut form: Form) -> Result<HttpRequest, TokenError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        show(self.client, self.assertion()?.as_ref(), &mut headers, &mut form);
        let mut request = HttpRequest::new(extended(Vec::new(), &form));
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// What our private key signs, where we show who we are with it.
    fn assertion(&self) -> Result<Option<Secret>, TokenError> {
        if self.client.method != ClientMethod::PrivateKeyJwt {
            return Ok(None);
        }
        let key = self.key.ok_or_else(|| {
            TokenError::unasked("this client logs in with a private key, and `oauth.privateKey` is not set")
        })?;
        Ok(Some(client_assertion(key, &self.client.client_id, self.issuer, self.clock.now())?))
    }

    /// The login that an answer makes. A renewal without a new refresh token keeps the `old` one.
    pub(crate) fn login(&self, answer: TokenAnswer, wanted: &Wanted<'_>, old: Option<&Login>) -> Login {
        let now = self.clock.now();
        let scopes_before = || old.map_or_else(|| wanted.scopes.to_vec(), |old| old.scopes.clone());
        let resource = wanted.resource.map(str::to_owned);
        let proof_key = self.proof.filter(|_| answer.token_type == TokenType::Dpop).map(|key| key.kept().clone());
        Login {
            access_token: answer.access_token,
            token_type: answer.token_type,
            refresh_token: answer.refresh_token.or_else(|| old.and_then(|old| old.refresh_token.clone())),
            expires_at: answer.expires_in.and_then(|life| now.checked_add(life)),
            obtained_at: now,
            scopes: answer.scopes.unwrap_or_else(scopes_before),
            issuer: self.issuer.to_owned(),
            token_endpoint: self.url.to_string(),
            resource,
            client: self.client.clone(),
            proof_key,
            generation: old.map_or(0, |old| old.generation.saturating_add(1)),
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> SystemTime {
        self.clock.now()
    }
}

type CrateClient = BasicClient<
    oauth2::EndpointNotSet,
    oauth2::EndpointNotSet,
    oauth2::EndpointNotSet,
    oauth2::EndpointNotSet,
    oauth2::EndpointSet,
>;

fn client_of(endpoint: &TokenEndpoint<'_>) -> CrateClient {
    let identity = endpoint.client;
    let client = BasicClient::new(ClientId::new(identity.client_id.clone()));
    let client = client.set_token_uri(TokenUrl::from_url(endpoint.url.clone()));
    let secret = ClientSecret::new(identity.client_secret.as_ref().map_or("", Secret::expose).to_owned());
    match identity.method {
        ClientMethod::SecretBasic => client.set_auth_type(AuthType::BasicAuth).set_client_secret(secret),
        ClientMethod::SecretPost => client.set_auth_type(AuthType::RequestBody).set_client_secret(secret),
        ClientMethod::None | ClientMethod::PrivateKeyJwt => client.set_auth_type(AuthType::RequestBody),
    }
}

/// A request that the crate wrote, on its way out of the crate: it only gives requests to whoever sends them.
struct Caught(Box<HttpRequest>);

impl fmt::Debug for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caught(…)")
    }
}

impl fmt::Display for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request that is sent elsewhere")
    }
}

impl std::error::Error for Caught {}

fn catch(request: HttpRequest) -> Result<HttpResponse, Caught> {
    Err(Caught(Box::new(request)))
}

fn caught<T>(result: Result<T, BasicRequestTokenError<Caught>>) -> Result<HttpRequest, TokenError> {
    match result {
        Err(RequestTokenError::Request(Caught(request))) => Ok(*request),
        _ => Err(TokenError::unasked("the request to the token endpoint cannot be written")),
    }
}

/// The form for a grant that the crate does not know.
fn named(grant: Grant<'_>, form: Form, also: Form) -> Form {
    [vec![("grant_type", grant.name().to_owned())], form, also].concat()
}

/// The form with more in it.
fn extended(body: Vec<u8>, form: &Form) -> Vec<u8> {
    let body = String::from_utf8(body).unwrap_or_default();
    form_urlencoded::Serializer::for_suffix(body, 0).extend_pairs(form).finish().into_bytes()
}

fn described(answer: &TokenAnswer, grant: Grant<'_>) -> String {
    let kind = match (grant, answer.token_type) {
        (Grant::TokenExchange(_), _) => "a statement for the authorization server",
        (_, TokenType::Bearer) => "a Bearer token",
        (_, TokenType::Dpop) => "a DPoP token",
    };
    let life = answer.expires_in.map_or_else(String::new, |life| format!(" for {} s", life.as_secs()));
    let renewable = if answer.refresh_token.is_some() { ", with a refresh token" } else { "" };
    format!("{kind}{life}{renewable}")
}

#[cfg(test)]
#[path = "token_request_tests.rs"]
mod tests;
