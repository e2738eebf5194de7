//! `requestState` (2026-07-28): what a handler keeps with the client between two rounds, signed so that it comes back as it left.
//!
//! It holds the handler's own text and the answers given so far, which the client does not send twice, and is bound to the method and name
//! of its request.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::context::Input;
use crate::error::RpcError;
use crate::headers::name_in;
use crate::limits::REQUEST_STATE_BYTES_MAX;
use crate::raw::{RawJson, write_string};

/// The key that signs what travels with clients. Servers that answer for each other must share one.
#[derive(Clone)]
pub struct StateKey(hmac::Key);

impl StateKey {
    /// A key from bytes that nobody else knows.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// A key that no other process has; `None` when the system has no randomness to give.
    pub(super) fn random() -> Option<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).ok()?;
        Some(Self::new(&secret))
    }

    /// Packs and signs.
    pub(super) fn seal(&self, method: &str, params: &RawJson, kept: &Input) -> Result<String, RpcError> {
        let mut text = Vec::with_capacity(256);
        text.extend_from_slice(b"{\"of\":");
        write_string(&mut text, &subject(method, params));
        if let Some(state) = &kept.state {
            text.extend_from_slice(b",\"state\":");
            write_string(&mut text, state);
        }
        text.extend_from_slice(b",\"answers\":{");
        for (at, (key, answer)) in kept.answers.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            write_string(&mut text, key);
            text.push(b':');
            text.extend_from_slice(answer.as_bytes());
        }
        text.extend_from_slice(b"}}");
        let tag = hmac::sign(&self.0, &text);
        let sealed = format!("{}.{}", URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(tag));
        if sealed.len() > REQUEST_STATE_BYTES_MAX {
            let size = sealed.len();
            return Err(RpcError::internal(format!(
                "what must be kept between two rounds has {size} bytes (limit REQUEST_STATE_BYTES_MAX = {REQUEST_STATE_BYTES_MAX})"
            )));
        }
        Ok(sealed)
    }

    /// Verifies and unpacks.
    pub(super) fn open(&self, method: &str, params: &RawJson, sealed: &str) -> Result<Input, RpcError> {
        #[derive(Deserialize)]
        struct Shape<'a> {
            of: String,
            state: Option<String>,
            #[serde(borrow)]
            answers: &'a RawValue,
        }
        let refused = || RpcError::invalid_params("`requestState` is not one that this server gave for this request");
        let (text, tag) = sealed.split_once('.').ok_or_else(refused)?;
        let (text, tag) = (URL_SAFE_NO_PAD.decode(text), URL_SAFE_NO_PAD.decode(tag));
        let (Ok(text), Ok(tag)) = (text, tag) else { return Err(refused()) };
        hmac::verify(&self.0, &text, &tag).map_err(|_| refused())?;
        let shape: Shape<'_> = serde_json::from_slice(&text).map_err(|_| refused())?;
        if shape.of != subject(method, params) {
            return Err(refused());
        }
        let answers = RawJson::from_bytes(shape.answers.get().to_owned()).map_err(|_| refused())?;
        Ok(Input { answers: answers.members(), state: shape.state })
    }
}

/// What a state belongs to: the method and the tool, prompt or resource.
fn subject(method: &str, params: &RawJson) -> String {
    format!("{method} {}", name_in(method, params).unwrap_or_default())
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(****)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_only_to_its_own_request() {
        let key = StateKey::new(&[7; 32]);
        let params = RawJson::from_bytes(r#"{"name":"a"}"#).unwrap();
        let kept = Input {
            answers: vec![("q".to_owned(), RawJson::from_bytes(r#"{"n":1e2}"#).unwrap())],
            state: Some("\"mine\"\n".to_owned()),
        };
        let sealed = key.seal("tools/call", &params, &kept).unwrap();
        let opened = key.open("tools/call", &params, &sealed).unwrap();
        assert_eq!(opened.state, kept.state);
        assert_eq!(opened.answers, kept.answers);

        let other = RawJson::from_bytes(r#"{"name":"b"}"#).unwrap();
        assert!(key.open("tools/call", &other, &sealed).is_err(), "another tool");
        assert!(key.open("prompts/get", &params, &sealed).is_err(), "another method");
        assert!(key.open("tools/call", &params, &format!("{sealed}-TAMPERED")).is_err());
        assert!(key.open("tools/call", &params, &sealed.replace('e', "f")).is_err());
        assert!(StateKey::new(&[8; 32]).open("tools/call", &params, &sealed).is_err(), "another key");
        assert_eq!(format!("{key:?}"), "StateKey(****)");
    }

    #[test]
    fn too_much_to_keep_is_refused() {
        let kept = Input { answers: Vec::new(), state: Some("x".repeat(REQUEST_STATE_BYTES_MAX)) };
        let error = StateKey::new(&[7; 32]).seal("tools/call", &RawJson::EMPTY_OBJECT, &kept).unwrap_err();
        assert!(error.message.contains("REQUEST_STATE_BYTES_MAX"), "{error}");
    }
}
