//! What the parts of an authorization server share: its script, where everything is, and what it has given out so far.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

use crate::auth_server::answer::Answer;
use crate::auth_server::form::Form;
use crate::auth_server::record::AuthRecord;
use crate::auth_server::script::{AuthScript, KnownClient, Members};
use crate::guarded::Guarded;
use crate::http::request::Request;

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The origin of the service.
    pub(crate) origin: String,
    /// The origin of the authorization server.
    pub(crate) issuer_origin: String,
    pub(crate) issuer: String,
    pub(crate) mcp: String,
}

/// One authorization server with the service it protects.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) script: AuthScript,
    pub(crate) places: Places,
    pub(crate) record: AuthRecord,
    pub(crate) state: Guarded<State>,
}

/// What was given out so far.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) clients: BTreeMap<String, KnownClient>,
    pub(crate) codes: BTreeMap<String, Code>,
    pub(crate) consents: BTreeMap<String, Asked>,
    pub(crate) access: BTreeMap<String, Access>,
    pub(crate) refresh: BTreeMap<String, RefreshToken>,
    pub(crate) devices: BTreeMap<String, Device>,
    pub(crate) proofs: BTreeSet<String>,
    /// How many requests each scripted answer was meant for so far.
    pub(crate) requests_seen: Vec<u32>,
    /// Counts up when the nonces change.
    pub(crate) nonce: u32,
    number: u64,
}

/// What a client may do, and who it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grant {
    pub(crate) client_id: String,
    pub(crate) scope: String,
    pub(crate) resource: Option<String>,
    /// The thumbprint of the key it is bound to.
    pub(crate) key: Option<String>,
    /// All tokens that came from the same decision of a person.
    pub(crate) family: u64,
}

/// What an authorization request asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) client_id: String,
    pub(crate) redirect_uri: String,
    pub(crate) state: Option<String>,
    pub(crate) scope: String,
    pub(crate) resource: Option<String>,
    pub(crate) challenge: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) asked: Asked,
    pub(crate) family: u64,
    pub(crate) is_used: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) grant: Grant,
    pub(crate) ends: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(crate) struct RefreshToken {
    pub(crate) grant: Grant,
    pub(crate) is_used: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) grant: Grant,
    pub(crate) polls: usize,
}

impl World {
    pub(crate) fn new(script: AuthScript, places: Places) -> Self {
        let record = AuthRecord::default();
        let mut state = State { requests_seen: vec![0; script.answers.len()], ..State::default() };
        for client in &script.issuer.clients {
            client.secret.iter().for_each(|secret| record.secret(secret));
            state.clients.insert(client.id.clone(), client.clone());
        }
        for before in &script.issuer.refresh_tokens {
            record.secret(&before.refresh_token);
            let (client_id, scope) = (before.client_id.clone(), before.scope.clone());
            let grant = Grant { client_id, scope, family: state.fresh_number(), ..Grant::default() };
            state.refresh.insert(before.refresh_token.clone(), RefreshToken { grant, is_used: false });
        }
        Self { script, places, record, state: Guarded::new(state) }
    }

    /// The path of one of the authorization server's endpoints.
    pub(crate) fn path(&self, endpoint: &str) -> String {
        format!("{}{endpoint}", self.script.issuer.path)
    }

    /// The address of one of the authorization server's endpoints.
    pub(crate) fn address(&self, endpoint: &str) -> String {
        format!("{}{}", self.places.issuer_origin, self.path(endpoint))
    }

    /// A new secret, written down as one.
    pub(crate) fn secret(&self, kind: &str) -> String {
        let mut bytes = [0; 18];
        // Without randomness two secrets would be the same, which the tests that look at them would see.
        let _filled = SystemRandom::new().fill(&mut bytes).is_ok();
        let secret = format!("{kind}-{}", URL_SAFE_NO_PAD.encode(bytes));
        self.record.secret(&secret);
        secret
    }

    /// Puts addresses in place of the words that stand for them.
    pub(crate) fn fill(&self, text: &str) -> String {
        let places = &self.places;
        text.replace("$ORIGIN", &places.origin)
            .replace("$ISSUER", &places.issuer)
            .replace("$MCP", &places.mcp)
            .replace("$AS", &places.issuer_origin)
    }

    /// The same in every text of a document.
    pub(crate) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(members) => {
                let filled = members.iter().map(|(name, value)| (name.clone(), self.fill_value(value)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    /// Puts members in place of those of a document.
    pub(crate) fn change(&self, document: Value, members: &Members) -> Value {
        let mut changed = match document {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        for (name, value) in members {
            match value {
                Some(value) => changed.insert(name.clone(), self.fill_value(value)),
                None => changed.remove(name),
            };
        }
        Value::Object(changed)
    }

    /// The scripted answer for a request, if one is due, and whether the request is handled all the same.
    pub(crate) fn scripted(&self, request: &Request) -> Option<(Answer, bool)> {
        let mut state = self.state.lock();
        let number = state.fresh_number();
        let mut first = None;
        // Each counts for itself, also when another one is given.
        for (at, seen) in self.script.answers.iter().zip(&mut state.requests_seen) {
            if !at.fits(&request.method, request.path()) {
                continue;
            }
            *seen += 1;
            let is_due = *seen > at.skip && at.times.is_none_or(|times| *seen <= at.skip.saturating_add(times));
            if is_due && first.is_none() {
                first = Some(at);
            }
        }
        first.map(|at| (self.fill_answer(&at.answer, request, number), at.is_handled))
    }

    fn fill_answer(&self, answer: &Answer, request: &Request, number: u64) -> Answer {
        let query = request.target.split_once('?').map(|(_, query)| Form::read(query)).unwrap_or_default();
        let fill = |text: &str| {
            self.fill(text)
                .replace("$STATE", query.get("state").unwrap_or_default())
                .replace("$REDIRECT", query.get("redirect_uri").unwrap_or_default())
                .replace("$N", &number.to_string())
        };
        let headers = answer.headers.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        Answer { headers, body: fill(&answer.body), ..answer.clone() }
    }

    /// When a token that is given out now ends.
    pub(crate) fn token_end(&self) -> Option<Instant> {
        self.script.issuer.lifetime_ms.map(|ms| Instant::now() + Duration::from_millis(ms))
    }
}

impl State {
    /// A number that was not given before.
    pub(crate) fn fresh_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Ends everything that came from one decision of a person.
    pub(crate) fn end_family(&mut self, family: u64) {
        self.access.retain(|_, access| access.grant.family != family);
        self.refresh.retain(|_, refresh| refresh.is_used || refresh.grant.family != family);
    }
}
