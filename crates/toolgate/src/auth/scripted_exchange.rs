//! An authorization server for tests: it gives the answers of a script one after the other, and remembers what it was asked.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use url::{Url, form_urlencoded};

use super::exchange::{Answer, Exchange};
use crate::env::Clock;

/// One answer: status, headers, body; or why there is none.
pub(super) type Scripted = Result<(u16, Vec<(&'static str, &'static str)>, Vec<u8>), &'static str>;

/// A JSON answer.
pub(super) fn json(status: u16, body: &str) -> Scripted {
    Ok((status, vec![("content-type", "application/json")], body.as_bytes().to_vec()))
}

/// What was asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Asked {
    /// The form, decoded and in order, one `name=value` per line.
    pub(super) fn form(&self) -> String {
        let mut lines = String::new();
        for (name, value) in form_urlencoded::parse(self.body.as_bytes()) {
            writeln!(lines, "{name}={value}").unwrap();
        }
        lines
    }

    /// The same by name.
    pub(super) fn fields(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// The script and what came of it.
#[derive(Debug, Default)]
pub(super) struct ScriptedExchange {
    answers: Mutex<VecDeque<Scripted>>,
    asked: Mutex<Vec<Asked>>,
}

impl ScriptedExchange {
    pub(super) fn new(answers: impl IntoIterator<Item = Scripted>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    /// Everything that was asked, in order.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Exchange for ScriptedExchange {
    fn post<'a>(&'a self, url: &'a Url, headers: HeaderMap, body: Vec<u8>) -> BoxFuture<'a, Result<Answer, String>> {
        let body = String::from_utf8(body).unwrap();
        self.asked.lock().unwrap().push(Asked { url: url.to_string(), headers, body });
        let scripted =
            self.answers.lock().unwrap().pop_front().expect("nothing more is asked than the script has answers for");
        Box::pin(async move { scripted.map(|answer| self::answer(&answer)).map_err(str::to_owned) })
    }
}

/// A scripted answer as the network would give it.
pub(super) fn answer((status, headers, body): &(u16, Vec<(&'static str, &'static str)>, Vec<u8>)) -> Answer {
    let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let status = StatusCode::from_u16(*status).unwrap();
    Answer { status, headers: headers.collect(), body: Bytes::from(body.clone()) }
}

/// A clock that a test sets.
#[derive(Debug)]
pub(super) struct SetClock(Mutex<SystemTime>);

impl SetClock {
    /// The moment at which tests happen.
    pub(super) const START: u64 = 1_800_000_000;

    pub(super) fn start() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(Self::START)
    }

    pub(super) fn new() -> Self {
        Self(Mutex::new(Self::start()))
    }

    pub(super) fn pass(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for SetClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}
