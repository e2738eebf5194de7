//! What an authorization server and the service behind it saw and gave out, to be asserted on.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use crate::auth_server::form::Form;
use crate::guarded::Guarded;
use crate::http::request::Request;
use crate::limits::AUTH_RECORD_POLL_INTERVAL_MS;

/// The record of one server. Clones share it.
#[derive(Clone, Debug)]
pub struct AuthRecord {
    seen: Arc<Guarded<Seen>>,
    started: Instant,
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<AuthRequest>,
    issued: Vec<IssuedToken>,
    client_methods: Vec<(String, String)>,
    secrets: BTreeSet<String>,
    tally: Tally,
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Requests for the service that had what they needed.
    pub authorized: usize,
    /// Requests for the service without a good token.
    pub unauthorized: usize,
    /// Requests for the service whose token was not good enough.
    pub insufficient: usize,
    /// Refresh tokens that were redeemed.
    pub refreshes: usize,
    /// Refresh tokens that were redeemed again.
    pub double_redemptions: usize,
    /// Codes that were redeemed again.
    pub code_replays: usize,
}

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The parameters in the query, decoded.
    pub query: Vec<(String, String)>,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
    /// How long after the start of the server.
    pub at: Duration,
}

impl AuthRequest {
    /// The first header of this name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter in the query or in a form body.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<String> {
        let in_query = self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        in_query.or_else(|| Form::read(&self.body).get(name).map(str::to_owned))
    }

    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// A token that was given out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedToken {
    /// The grant it was given for, such as `refresh_token`.
    pub grant: String,
    /// To whom.
    pub client_id: String,
    /// What it is good for.
    pub scope: String,
    /// The service it was asked for.
    pub resource: Option<String>,
    /// The token.
    pub access_token: String,
    /// What it can be renewed with.
    pub refresh_token: Option<String>,
    /// Whether it is bound to a key.
    pub is_bound: bool,
}

impl Default for AuthRecord {
    fn default() -> Self {
        Self { seen: Arc::default(), started: Instant::now() }
    }
}

impl AuthRecord {
    /// All requests so far, those for the service included.
    #[must_use]
    pub fn requests(&self) -> Vec<AuthRequest> {
        self.seen.lock().requests.clone()
    }

    /// The requests to this path.
    #[must_use]
    pub fn requests_to(&self, path: &str) -> Vec<AuthRequest> {
        self.seen.lock().requests.iter().filter(|request| request.path == path).cloned().collect()
    }

    /// Waits for a request to this path, which may have arrived already; `None` when none came in time.
    pub async fn wait_for_request_to(&self, path: &str, at_most: Duration) -> Option<AuthRequest> {
        let deadline = Instant::now() + at_most;
        loop {
            if let Some(request) = self.requests_to(path).into_iter().next() {
                return Some(request);
            }
            if Instant::now() >= deadline {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(AUTH_RECORD_POLL_INTERVAL_MS)).await;
        }
    }

    /// The tokens given out so far.
    #[must_use]
    pub fn tokens_issued(&self) -> Vec<IssuedToken> {
        self.seen.lock().issued.clone()
    }

    /// How often what happened.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.seen.lock().tally
    }

    /// How often a refresh token was redeemed that had been redeemed before.
    #[must_use]
    pub fn double_redemptions(&self) -> usize {
        self.tally().double_redemptions
    }

    /// How clients showed who they are at the token endpoint: client and method, in order.
    #[must_use]
    pub fn client_methods(&self) -> Vec<(String, String)> {
        self.seen.lock().client_methods.clone()
    }

    /// Every token, code, verifier, secret and signed statement that passed: what must not be found where it does not belong.
    #[must_use]
    pub fn secrets_seen(&self) -> Vec<String> {
        self.seen.lock().secrets.iter().cloned().collect()
    }

    /// The counts in short, for programs that ask from outside.
    #[must_use]
    pub fn summary(&self) -> Value {
        let seen = self.seen.lock();
        let mut paths: BTreeMap<&str, usize> = BTreeMap::new();
        for request in &seen.requests {
            *paths.entry(&request.path).or_default() += 1;
        }
        json!({"tally": seen.tally, "tokens_issued": seen.issued.len(), "requests": paths})
    }

    pub(crate) fn request(&self, request: &Request) {
        let query = request.target.split_once('?').map(|(_, query)| Form::read(query)).unwrap_or_default();
        let entry = AuthRequest {
            method: request.method.clone(),
            path: request.path().to_owned(),
            query: query.0,
            headers: request.headers.clone(),
            body: request.text(),
            at: self.started.elapsed(),
        };
        for name in
            ["code_verifier", "client_secret", "client_assertion", "assertion", "subject_token", "refresh_token"]
        {
            if let Some(secret) = entry.parameter(name) {
                self.secret(&secret);
            }
        }
        if let Some((_, token)) = entry.header("authorization").and_then(|value| value.split_once(' ')) {
            self.secret(token);
        }
        self.seen.lock().requests.push(entry);
    }

    pub(crate) fn issued(&self, token: IssuedToken) {
        self.secret(&token.access_token);
        token.refresh_token.iter().for_each(|refresh| self.secret(refresh));
        self.seen.lock().issued.push(token);
    }

    pub(crate) fn secret(&self, secret: &str) {
        if !secret.is_empty() {
            self.seen.lock().secrets.insert(secret.to_owned());
        }
    }

    pub(crate) fn client(&self, id: &str, method: &str) {
        self.seen.lock().client_methods.push((id.to_owned(), method.to_owned()));
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.seen.lock().tally);
    }
}
