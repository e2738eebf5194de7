//! What travels in `_meta`: the keys of 2026-07-28, progress tokens, trace context.

use bytes::BytesMut;

use crate::era::Version;
use crate::error::Result;
use crate::message::write_number;
use crate::raw::{RawJson, mentions};

/// The version a request is written in.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// From which level on log messages are wanted.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What every request of one client says about itself (2026-07-28), written once.
#[derive(Debug, Clone)]
pub(crate) struct Introduction(Vec<u8>);

impl Introduction {
    pub(crate) fn new(version: Version, info: &RawJson, capabilities: &RawJson) -> Self {
        let text = format!(
            "\"{PROTOCOL_VERSION}\":\"{version}\",\"{CLIENT_INFO}\":{info},\"{CLIENT_CAPABILITIES}\":{capabilities}"
        );
        Self(text.into_bytes())
    }
}

/// `params` with `_meta` filled in; what the caller put there stays, byte for byte, and wins.
pub(crate) fn decorate(
    params: Option<&RawJson>,
    introduction: Option<&Introduction>,
    progress: Option<u64>,
) -> Option<RawJson> {
    if introduction.is_none() && progress.is_none() {
        return params.cloned();
    }
    let empty = RawJson::EMPTY_OBJECT;
    let params = params.unwrap_or(&empty);
    let own = if mentions(params.as_bytes(), b"_meta\"") { params.member("_meta") } else { None };
    let introduction_bytes = introduction.map_or(0, |introduction| introduction.0.len());
    let mut out = BytesMut::with_capacity(params.as_bytes().len() + introduction_bytes + 64);
    if own.is_none() {
        out.extend_from_slice(b"{\"_meta\":");
    }
    let meta_start = out.len();
    out.extend_from_slice(b"{");
    if let Some(Introduction(text)) = introduction {
        out.extend_from_slice(text);
    }
    if let Some(token) = progress {
        separate(&mut out);
        out.extend_from_slice(b"\"progressToken\":");
        write_number(&mut out, token);
    }
    for (key, value) in own.as_ref().map(RawJson::members).unwrap_or_default() {
        if introduction.is_some() && [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES].contains(&key.as_str()) {
            continue; // Written above; saying it twice would be invalid.
        }
        separate(&mut out);
        crate::raw::write_string(&mut out, &key);
        out.extend_from_slice(b":");
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(b"}");
    if own.is_some() {
        return Some(params.with_member("_meta", &RawJson::assembled(out.split_off(meta_start))));
    }
    let rest = params.as_bytes().get(1..).filter(|_| params.is_object()).unwrap_or(b"}");
    if rest.trim_ascii_start() != b"}" {
        out.extend_from_slice(b",");
    }
    out.extend_from_slice(rest);
    Some(RawJson::assembled(out))
}

fn separate(meta: &mut BytesMut) {
    if meta.last() != Some(&b'{') {
        meta.extend_from_slice(b",");
    }
}

/// Where a request stands in somebody's trace (W3C trace context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate`.
    pub state: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Reads it from the `_meta` of a request.
    pub fn read(params: &RawJson) -> Option<Self> {
        let meta = params.member("_meta")?;
        let text = |key: &str| meta.member(key).and_then(|value| value.read::<String>().ok());
        Some(Self { parent: text("traceparent")?, state: text("tracestate"), baggage: text("baggage") })
    }

    /// `params` with this context in their `_meta`.
    pub fn write(&self, params: &RawJson) -> Result<RawJson> {
        let mut meta = params.member("_meta").unwrap_or(RawJson::EMPTY_OBJECT);
        meta = meta.with_member("traceparent", &RawJson::string(&self.parent));
        if let Some(state) = &self.state {
            meta = meta.with_member("tracestate", &RawJson::string(state));
        }
        if let Some(baggage) = &self.baggage {
            meta = meta.with_member("baggage", &RawJson::string(baggage));
        }
        Ok(params.with_member("_meta", &meta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_filled_in_and_the_callers_own_survives() {
        let introduction = Introduction::new(
            Version::V2026_07_28,
            &RawJson::from_bytes(r#"{"name":"t"}"#).unwrap(),
            &RawJson::EMPTY_OBJECT,
        );
        let params = RawJson::from_bytes(r#"{"name":"x","_meta":{"acme/k":1e3,"traceparent":"00-a"}}"#).unwrap();
        let out = decorate(Some(&params), Some(&introduction), Some(7)).unwrap();
        let meta = out.member("_meta").unwrap();
        assert_eq!(meta.member(PROTOCOL_VERSION).unwrap().as_str(), "\"2026-07-28\"");
        assert_eq!(meta.member("progressToken").unwrap().as_str(), "7");
        assert_eq!(meta.member("acme/k").unwrap().as_str(), "1e3");
        assert_eq!(TraceContext::read(&out).unwrap().parent, "00-a");
        assert_eq!(decorate(Some(&params), None, None), Some(params), "nothing to add, nothing touched");
        assert_eq!(decorate(None, None, Some(1)).unwrap().as_str(), r#"{"_meta":{"progressToken":1}}"#);
    }
}
