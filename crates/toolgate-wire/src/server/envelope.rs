//! What every result of 2026-07-28 has beside its content: `resultType`, who answered, cache hints. Spliced in; the content stays as it is.

use bytes::BytesMut;

use super::about::About;
use super::context::RequestContext;
use super::service::InputRequired;
use super::state::StateKey;
use crate::error::RpcError;
use crate::meta::SERVER_INFO;
use crate::peer::lock;
use crate::raw::{RawJson, write_string};

/// Results that may be kept for a while.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover" | "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "resources/read"
    )
}

/// A result with everything the version wants. What the handler has already written is kept.
pub(super) fn wrap(result: &RawJson, result_type: &str, cx: &RequestContext) -> RawJson {
    let about = &cx.inside().about;
    let written = Written::by(result);
    let mut head = BytesMut::with_capacity(result.as_bytes().len() + about.result_meta().as_bytes().len() + 128);
    head.extend_from_slice(b"{");
    if !written.result_type {
        head.extend_from_slice(b"\"resultType\":");
        write_string(&mut head, result_type);
        head.extend_from_slice(b",");
    }
    if is_cacheable(cx.method()) {
        let hints = about.cache_hints();
        if !written.ttl {
            head.extend_from_slice(format!("\"ttlMs\":{},", hints.ttl_ms).as_bytes());
        }
        if !written.scope {
            head.extend_from_slice(format!("\"cacheScope\":\"{}\",", hints.scope.as_str()).as_bytes());
        }
    }
    let replaced = written.meta.and_then(|meta| with_server_info(&meta, about)).map(|meta| result.with_member("_meta", &meta));
    let result = replaced.as_ref().unwrap_or(result);
    if memchr::memmem::find(result.as_bytes(), b"\"_meta\"").is_none() || result.member("_meta").is_none() {
        head.extend_from_slice(b"\"_meta\":");
        head.extend_from_slice(about.result_meta().as_bytes());
        head.extend_from_slice(b",");
    }
    let rest = if result.is_object() { &result.as_bytes()[1..] } else { &b"}"[..] };
    if rest.trim_ascii_start() == b"}" && head.len() > 1 {
        head.truncate(head.len() - 1); // Nothing follows the last comma.
    }
    head.extend_from_slice(rest);
    RawJson::assembled(head.freeze())
}

/// What the handler has written of the envelope.
#[derive(Default)]
struct Written {
    result_type: bool,
    ttl: bool,
    scope: bool,
    meta: Option<RawJson>,
}

impl Written {
    fn by(result: &RawJson) -> Self {
        let mentions = |key: &str| memchr::memmem::find(result.as_bytes(), key.as_bytes()).is_some();
        if !["\"resultType\"", "\"_meta\"", "\"ttlMs\"", "\"cacheScope\""].into_iter().any(mentions) {
            return Self::default(); // The usual case, told without parsing.
        }
        let mut written = Self::default();
        for (key, value) in result.members() {
            match key.as_str() {
                "resultType" => written.result_type = true,
                "ttlMs" => written.ttl = true,
                "cacheScope" => written.scope = true,
                "_meta" => written.meta = Some(value),
                _ => {}
            }
        }
        written
    }
}

/// `_meta` with our name in it; `None` when somebody's is there already.
fn with_server_info(meta: &RawJson, about: &About) -> Option<RawJson> {
    let named = meta.member(SERVER_INFO).is_some();
    (!named).then(|| meta.with_member(SERVER_INFO, about.info()))
}

/// The "input required" result, with what must be remembered until the answers come.
pub(super) fn input_required(needed: &InputRequired, key: Option<&StateKey>, cx: &RequestContext) -> Result<RawJson, RpcError> {
    if !matches!(cx.method(), "tools/call" | "prompts/get" | "resources/read") {
        return Err(RpcError::internal(format!("`{}` cannot ask for input", cx.method())));
    }
    super::ask::within_limit(&needed.requests)?;
    let mut requests = RawJson::EMPTY_OBJECT;
    for request in needed.requests.iter().rev() {
        let entry = RawJson::EMPTY_OBJECT.with_member("params", &request.params);
        requests = requests.with_member(&request.key, &entry.with_member("method", &RawJson::string(&request.method)));
    }
    let mut kept = {
        let mut rounds = lock(&cx.inside().progress_of_rounds);
        super::context::Input { answers: std::mem::take(&mut rounds.used), state: rounds.state.take() }
    };
    kept.state = needed.state.clone().or(kept.state);
    let mut result = RawJson::EMPTY_OBJECT;
    if !kept.answers.is_empty() || kept.state.is_some() || needed.requests.is_empty() {
        let key = key.ok_or_else(|| RpcError::internal("no key to sign `requestState` with: the system gives no randomness"))?;
        let state = key.seal(cx.method(), &cx.params(), &kept)?;
        result = result.with_member("requestState", &RawJson::string(&state));
    }
    if !needed.requests.is_empty() {
        result = result.with_member("inputRequests", &requests);
    }
    Ok(wrap(&result, "input_required", cx))
}
