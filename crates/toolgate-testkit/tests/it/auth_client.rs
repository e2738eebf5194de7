//! A client that logs in by hand: every step is a request that the test can change.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::SocketAddr;
use toolgate_testkit::{AuthScript, AuthServer};

use crate::http_client::{RequestText, Response};
use crate::support::{call, initialize_params, text};

pub(crate) const REDIRECT: &str = "http://127.0.0.1:4711/callback";
pub(crate) const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-of-those";

/// A server and what is needed to talk to it.
pub(crate) struct Room {
    pub(crate) server: AuthServer,
}

/// Parameters in the making; a later one replaces an earlier one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(key, _)| key != name);
        self
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.0 {
            write!(text, "{name}=").unwrap();
            for byte in value.bytes() {
                write!(text, "%{byte:02x}").unwrap();
            }
            text.push('&');
        }
        text
    }
}

pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

/// A parameter of an address.
pub(crate) fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let found = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?;
    Some(found.1.replace("%3A", ":").replace("%2F", "/").replace("%20", " "))
}

impl Room {
    pub(crate) async fn open(script: AuthScript) -> Self {
        Self { server: AuthServer::start(script).await.unwrap() }
    }

    pub(crate) fn issuer_address(&self) -> SocketAddr {
        let rest = self.server.issuer().strip_prefix("http://").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        RequestText::new("GET", path).send(self.issuer_address()).await
    }

    pub(crate) async fn post(&self, path: &str, parameters: &Parameters) -> Response {
        self.post_with(path, parameters, &[]).await
    }

    pub(crate) async fn post_with(&self, path: &str, parameters: &Parameters, headers: &[(&str, &str)]) -> Response {
        let mut request =
            RequestText::new("POST", path).content("application/x-www-form-urlencoded", &parameters.text());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send(self.issuer_address()).await
    }

    /// Registers a client; what the server says about it.
    pub(crate) async fn register(&self) -> Value {
        let asked =
            json!({"client_name": "by hand", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"});
        let request = RequestText::new("POST", "/register").content("application/json", &asked.to_string());
        let response = request.send(self.issuer_address()).await;
        assert_eq!(response.status, 201);
        response.json().await
    }

    pub(crate) fn authorization(&self, client: &str) -> Parameters {
        Parameters::default()
            .with("response_type", "code")
            .with("client_id", client)
            .with("redirect_uri", REDIRECT)
            .with("state", "the-state")
            .with("code_challenge", &sha256(VERIFIER))
            .with("code_challenge_method", "S256")
            .with("scope", "read write")
            .with("resource", self.server.mcp_url())
    }

    /// Where the browser is sent after `/authorize`.
    pub(crate) async fn authorize(&self, parameters: &Parameters) -> String {
        let response = self.get(&format!("/authorize?{}", parameters.text())).await;
        assert_eq!(response.status, 302);
        response.header("location").unwrap().to_owned()
    }

    pub(crate) fn redemption(&self, client: &str, callback: &str) -> Parameters {
        Parameters::default()
            .with("grant_type", "authorization_code")
            .with("client_id", client)
            .with("code", &parameter(callback, "code").unwrap_or_default())
            .with("redirect_uri", REDIRECT)
            .with("code_verifier", VERIFIER)
            .with("resource", self.server.mcp_url())
    }

    /// The status and the document of the token endpoint.
    pub(crate) async fn token(&self, parameters: &Parameters) -> (u16, Value) {
        let response = self.post("/token", parameters).await;
        (response.status, response.json().await)
    }

    pub(crate) async fn refresh(&self, client: &str, token: &str) -> (u16, Value) {
        let parameters = Parameters::default()
            .with("grant_type", "refresh_token")
            .with("client_id", client)
            .with("refresh_token", token);
        self.token(&parameters).await
    }

    /// Registers, logs in, and gives the client and the document with the tokens.
    pub(crate) async fn log_in(&self) -> (String, Value) {
        let client = self.register().await["client_id"].as_str().unwrap().to_owned();
        let callback = self.authorize(&self.authorization(&client)).await;
        let (status, tokens) = self.token(&self.redemption(&client, &callback)).await;
        assert_eq!(status, 200, "{tokens}");
        (client, tokens)
    }

    /// The answer of the service to `initialize`.
    pub(crate) async fn knock(&self, headers: &[(&str, &str)]) -> Response {
        let params = initialize_params("2025-11-25");
        let mut request =
            RequestText::post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        let path = self.server.mcp_url().strip_prefix(self.server.url()).unwrap();
        request.redirect(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send(self.server.address()).await
    }

    /// Opens a session with a token and calls `echo`.
    pub(crate) async fn echo(&self, token: &str) -> Result<String, Response> {
        let authorization = format!("Bearer {token}");
        let response = self.knock(&[("Authorization", &authorization)]).await;
        if response.status != 200 {
            return Err(response);
        }
        let session = response.header("mcp-session-id").unwrap().to_owned();
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("echo", json!({"message": "hi"}))});
        let request = RequestText::post(&message).session(&session).header("Authorization", &authorization);
        let mut response = request.send(self.server.address()).await;
        if response.status != 200 {
            return Err(response);
        }
        Ok(text(&response.message().await).to_owned())
    }
}
