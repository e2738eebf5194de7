//! An HTTP answer as data, of any kind a bad server can think of, and the address it is given at.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::BodyOddity;

/// What is answered at an address, in place of what would be right there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerAt {
    /// Only for this method.
    #[serde(default)]
    pub method: Option<String>,
    /// The path; a `*` at its end stands for anything.
    pub path: String,
    /// How many requests are answered rightly before.
    #[serde(default)]
    pub skip: u32,
    /// How many requests are answered so; `None` for all.
    #[serde(default)]
    pub times: Option<u32>,
    /// Whether the request is handled all the same, so that only its answer is lost.
    #[serde(default)]
    pub is_handled: bool,
    /// The answer.
    pub answer: Answer,
}

impl AnswerAt {
    /// For every request to this path.
    pub fn new(path: impl Into<String>, answer: Answer) -> Self {
        Self { method: None, path: path.into(), skip: 0, times: None, is_handled: false, answer }
    }

    /// Only for this method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// Only the Nth time, counted from 1.
    #[must_use]
    pub const fn nth(mut self, nth: u32) -> Self {
        self.skip = nth.saturating_sub(1);
        self.times = Some(1);
        self
    }

    /// Only the first so many times.
    #[must_use]
    pub const fn first(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Handles the request and loses only its answer.
    #[must_use]
    pub const fn handled(mut self) -> Self {
        self.is_handled = true;
        self
    }

    pub(crate) fn fits(&self, method: &str, path: &str) -> bool {
        let is_method = self.method.as_deref().is_none_or(|wanted| wanted == method);
        let is_path = match self.path.strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => self.path == path,
        };
        is_method && is_path
    }
}

/// An HTTP answer. In headers and body `$STATE` and `$REDIRECT` stand for those parameters of the request and `$N` for a number that
/// no answer had before, beside the addresses that all texts of a script may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// The body in Base64, in place of the other one: for what is not UTF-8.
    pub bytes: Option<String>,
    /// That many bytes of filler after the body; never held in memory.
    pub filler_bytes: u64,
    /// How long it takes to begin.
    pub delay_ms: u64,
    /// Slowly, piece by piece.
    pub drip: Option<Drip>,
    /// An unusual or broken way to send the body.
    pub oddity: Option<BodyOddity>,
    /// How the connection ends in place of an answer.
    pub ending: Option<Ending>,
}

/// How slowly a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drip {
    /// Bytes in one piece.
    pub bytes: usize,
    /// Pause before each.
    pub every_ms: u64,
}

/// How a connection ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It is closed.
    Close,
    /// It is reset.
    Reset,
    /// Nothing comes, until the client gives up.
    Silence,
}

impl Default for Answer {
    fn default() -> Self {
        Self::status(200)
    }
}

impl Answer {
    /// An answer without a body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
            bytes: None,
            filler_bytes: 0,
            delay_ms: 0,
            drip: None,
            oddity: None,
            ending: None,
        }
    }

    /// A JSON document.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status).header("Content-Type", "application/json").body(body.to_string())
    }

    /// A page.
    #[must_use]
    pub fn html(status: u16, body: impl Into<String>) -> Self {
        Self::status(status).header("Content-Type", "text/html; charset=utf-8").body(body)
    }

    /// A redirect that a browser follows.
    #[must_use]
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::status(302).header("Location", to)
    }

    /// The end of the connection in place of an answer.
    #[must_use]
    pub fn ending(ending: Ending) -> Self {
        Self { ending: Some(ending), ..Self::status(200) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a body that need not be text.
    #[must_use]
    pub fn bytes(mut self, body: &[u8]) -> Self {
        self.bytes = Some(STANDARD.encode(body));
        self
    }

    /// Adds filler after the body.
    #[must_use]
    pub const fn filler(mut self, bytes: u64) -> Self {
        self.filler_bytes = bytes;
        self
    }

    /// Takes so long to begin.
    #[must_use]
    pub const fn delay(mut self, ms: u64) -> Self {
        self.delay_ms = ms;
        self
    }

    /// Writes the body in pieces with pauses.
    #[must_use]
    pub const fn drip(mut self, bytes: usize, every_ms: u64) -> Self {
        self.drip = Some(Drip { bytes, every_ms });
        self
    }

    /// Sends the body in an unusual or broken way.
    #[must_use]
    pub const fn oddity(mut self, oddity: BodyOddity) -> Self {
        self.oddity = Some(oddity);
        self
    }

    /// The body as it is sent, without the filler.
    pub(crate) fn content(&self) -> Vec<u8> {
        match &self.bytes {
            Some(text) => STANDARD.decode(text).unwrap_or_default(),
            None => self.body.clone().into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_at_its_address() {
        let at = |path: &str| AnswerAt::new(path, Answer::default());
        assert!(at("/token").fits("POST", "/token"));
        assert!(!at("/token").fits("POST", "/token/x"));
        assert!(at("/loop*").fits("GET", "/loop/7") && at("/loop*").fits("GET", "/loop"));
        assert!(!at("/token").method("GET").fits("POST", "/token"));
    }
}
