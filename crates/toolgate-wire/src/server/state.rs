//! `requestState` (2026-07-28): what a handler keeps with the client between two rounds, signed so that it comes back as it left.
//!
//! It holds the questions, the handler's own text, and the answers so far, which the client does not send again. It is
//! bound to the method, name and arguments of its request, and is accepted once (`spent.rs`).

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Context, SHA256};
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::context::Input;
use super::service::InputRequest;
use super::spent::{Issued, Spent};
use crate::error::RpcError;
use crate::headers::name_in;
use crate::limits::REQUEST_STATE_BYTES_MAX;
use crate::raw::{RawJson, write_string};

/// The key that signs states. Servers that answer for each other must share one. Its clones share the list of used states;
/// another process with the same secret does not.
#[derive(Clone)]
pub struct StateKey {
    key: hmac::Key,
    spent: Arc<Spent>,
}

impl StateKey {
    /// A key from bytes that nobody else knows.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret), spent: Arc::new(Spent::new()) }
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
        let Issued { by, at } = self.spent.issue();
        text.extend_from_slice(format!(",\"by\":{by},\"at\":{at}").as_bytes());
        if let Some(state) = &kept.state {
            text.extend_from_slice(b",\"state\":");
            write_string(&mut text, state);
        }
        text.extend_from_slice(b",\"asked\":{");
        let asked = kept.asked.iter().map(|(key, question)| (key, RawJson::string(question)));
        write_members(&mut text, asked);
        text.extend_from_slice(b"},\"answers\":{");
        write_members(&mut text, kept.answers.iter().map(|(key, answer)| (key, answer.clone())));
        text.extend_from_slice(b"}}");
        let tag = hmac::sign(&self.key, &text);
        let sealed = format!("{}.{}", URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(tag));
        if sealed.len() > REQUEST_STATE_BYTES_MAX {
            let size = sealed.len();
            return Err(RpcError::internal(format!(
                "what must be kept between two rounds has {size} bytes (limit REQUEST_STATE_BYTES_MAX = {REQUEST_STATE_BYTES_MAX})"
            )));
        }
        Ok(sealed)
    }

    /// Verifies and unpacks. A state opens once.
    pub(super) fn open(&self, method: &str, params: &RawJson, sealed: &str) -> Result<Input, RpcError> {
        #[derive(Deserialize)]
        struct Shape<'a> {
            of: String,
            by: u64,
            at: u64,
            state: Option<String>,
            #[serde(borrow)]
            asked: &'a RawValue,
            #[serde(borrow)]
            answers: &'a RawValue,
        }
        let refused = || RpcError::invalid_params("`requestState` is not one that this server gave for this request");
        let (text, tag) = sealed.split_once('.').ok_or_else(refused)?;
        let (text, tag) = (URL_SAFE_NO_PAD.decode(text), URL_SAFE_NO_PAD.decode(tag));
        let (Ok(text), Ok(tag)) = (text, tag) else { return Err(refused()) };
        hmac::verify(&self.key, &text, &tag).map_err(|_| refused())?;
        let shape: Shape<'_> = serde_json::from_slice(&text).map_err(|_| refused())?;
        if shape.of != subject(method, params) {
            return Err(refused());
        }
        let members = |part: &RawValue| Some(RawJson::from_bytes(part.get().to_owned()).ok()?.members());
        let asked = members(shape.asked).ok_or_else(refused)?;
        let asked = asked.into_iter().map(|(key, question)| Some((key, question.read().ok()?)));
        let asked: Vec<(String, String)> = asked.collect::<Option<_>>().ok_or_else(refused)?;
        let answers = members(shape.answers).ok_or_else(refused)?;
        if !self.spent.spend(Issued { by: shape.by, at: shape.at }) {
            let what = "`requestState` was already used, or is too old: send the request again";
            return Err(RpcError::invalid_params(what));
        }
        Ok(Input { asked, answers, state: shape.state })
    }
}

fn write_members<'a>(text: &mut Vec<u8>, members: impl Iterator<Item = (&'a String, RawJson)>) {
    for (at, (key, value)) in members.enumerate() {
        if at > 0 {
            text.push(b',');
        }
        write_string(text, key);
        text.push(b':');
        text.extend_from_slice(value.as_bytes());
    }
}

/// The request that a state is bound to: the method, the tool, prompt or resource, and the arguments.
fn subject(method: &str, params: &RawJson) -> String {
    let arguments = params.member("arguments").filter(|arguments| !arguments.is_null());
    let arguments = digest(b"", &arguments.unwrap_or(RawJson::EMPTY_OBJECT));
    format!("{method} {} {arguments}", name_in(method, params).unwrap_or_default())
}

/// The identity of a question: a digest of its method and its parameters.
pub(super) fn question(request: &InputRequest) -> String {
    digest(request.method.as_bytes(), &request.params)
}

/// A digest that is equal for equal values in any notation.
fn digest(kind: &[u8], value: &RawJson) -> String {
    let mut context = Context::new(&SHA256);
    context.update(kind);
    context.update(b"\0");
    match value.read::<Value>() {
        Ok(value) => hash(&mut context, &value),
        Err(_) => context.update(value.as_bytes()),
    }
    URL_SAFE_NO_PAD.encode(context.finish())
}

fn hash(context: &mut Context, value: &Value) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            context.update(format!("{{{}:", members.len()).as_bytes());
            for (key, value) in members {
                text(context, key);
                hash(context, value);
            }
        }
        Value::Array(elements) => {
            context.update(format!("[{}:", elements.len()).as_bytes());
            elements.iter().for_each(|element| hash(context, element));
        }
        Value::String(string) => text(context, string),
        Value::Null | Value::Bool(_) | Value::Number(_) => context.update(format!("{value};").as_bytes()),
    }
}

/// The length comes first, so that different sequences of texts have different digests.
fn text(context: &mut Context, text: &str) {
    context.update(format!("\"{}:", text.len()).as_bytes());
    context.update(text.as_bytes());
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(****)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::from_bytes(text.to_owned()).unwrap()
    }

    #[test]
    fn a_state_comes_back_only_to_its_own_request_and_once() {
        let key = StateKey::new(&[7; 32]);
        let params = raw(r#"{"name":"a","arguments":{"x":1,"y":[true,"z"]}}"#);
        let kept = Input {
            asked: vec![("q".to_owned(), "d".to_owned())],
            answers: vec![("q".to_owned(), raw(r#"{"n":1e2}"#))],
            state: Some("\"mine\"\n".to_owned()),
        };
        let sealed = key.seal("tools/call", &params, &kept).unwrap();
        let refused = [
            ("tools/call", r#"{"name":"b","arguments":{"x":1,"y":[true,"z"]}}"#, "another tool"),
            ("prompts/get", r#"{"name":"a","arguments":{"x":1,"y":[true,"z"]}}"#, "another method"),
            ("tools/call", r#"{"name":"a","arguments":{"x":2,"y":[true,"z"]}}"#, "another argument"),
            ("tools/call", r#"{"name":"a","arguments":{"x":1,"y":[true,"z"],"w":0}}"#, "one argument more"),
            ("tools/call", r#"{"name":"a","arguments":{"x":1,"y":["z",true]}}"#, "another order of elements"),
            ("tools/call", r#"{"name":"a"}"#, "no arguments"),
        ];
        for (method, params, what) in refused {
            assert!(key.open(method, &raw(params), &sealed).is_err(), "{what}");
        }
        assert!(key.open("tools/call", &params, &format!("{sealed}-TAMPERED")).is_err());
        assert!(key.open("tools/call", &params, &sealed.replace('e', "f")).is_err());
        assert!(StateKey::new(&[8; 32]).open("tools/call", &params, &sealed).is_err(), "another key");

        let same = raw(r#"{"arguments":{"y":[ true, "\u007a" ],"x":1},"name":"a"}"#);
        let opened = key.open("tools/call", &same, &sealed).unwrap();
        assert_eq!((opened.state, opened.answers, opened.asked), (kept.state, kept.answers, kept.asked));
        let clone = key.clone();
        assert!(key.open("tools/call", &params, &sealed).is_err());
        let again = clone.open("tools/call", &params, &sealed).unwrap_err();
        assert!(again.message.contains("already used"), "{again}");
        assert_eq!(format!("{key:?}"), "StateKey(****)");
    }

    #[test]
    fn another_process_with_the_secret_goes_on_with_it() {
        let (one, other) = (StateKey::new(&[7; 32]), StateKey::new(&[7; 32]));
        let params = raw(r#"{"name":"a"}"#);
        let sealed = one.seal("tools/call", &params, &Input::default()).unwrap();
        assert!(other.open("tools/call", &params, &sealed).is_ok());
        assert!(other.open("tools/call", &params, &sealed).is_err(), "once there, too");
    }

    #[test]
    fn too_much_to_keep_is_refused() {
        let kept = Input { state: Some("x".repeat(REQUEST_STATE_BYTES_MAX)), ..Input::default() };
        let error = StateKey::new(&[7; 32]).seal("tools/call", &RawJson::EMPTY_OBJECT, &kept).unwrap_err();
        assert!(error.message.contains("REQUEST_STATE_BYTES_MAX"), "{error}");
    }
}
