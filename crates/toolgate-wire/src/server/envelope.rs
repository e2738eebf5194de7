//! What every result of 2026-07-28 has beside its content: `resultType`, who answered, cache hints. Spliced in; the content stays as it is.

use bytes::BytesMut;

use super::about::About;
use super::context::{Input, RequestContext};
use super::service::InputRequired;
use super::state::{StateKey, question};
use crate::error::RpcError;
use crate::meta::SERVER_INFO;
use crate::peer::lock;
use crate::raw::{RawJson, mentions, write_string};

/// Results that may be kept for a while.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// What the role writes; the last two only on results that may be kept.
const ENVELOPE: [&str; 4] = ["\"resultType\"", "\"_meta\"", "\"ttlMs\"", "\"cacheScope\""];

/// A result with everything the version wants. What the handler has already written is kept.
pub(super) fn wrap(result: &RawJson, result_type: &str, cx: &RequestContext) -> RawJson {
    let about = &cx.inside().about;
    let cacheable = is_cacheable(cx.method());
    let written = Written::by(result, if cacheable { &ENVELOPE } else { &ENVELOPE[..2] });
    let mut out = BytesMut::with_capacity(result.as_bytes().len() + about.result_meta().as_bytes().len() + 128);
    out.extend_from_slice(b"{");
    if !written.result_type {
        out.extend_from_slice(b"\"resultType\":");
        write_string(&mut out, result_type);
        out.extend_from_slice(b",");
    }
    let hints = about.cache_hints();
    if cacheable && !written.ttl {
        out.extend_from_slice(format!("\"ttlMs\":{},", hints.ttl_ms).as_bytes());
    }
    if cacheable && !written.scope {
        out.extend_from_slice(format!("\"cacheScope\":\"{}\",", hints.scope.as_str()).as_bytes());
    }
    if written.meta.is_none() {
        out.extend_from_slice(b"\"_meta\":");
        out.extend_from_slice(about.result_meta().as_bytes());
        out.extend_from_slice(b",");
    }
    let named =
        written.meta.and_then(|meta| with_server_info(&meta, about)).map(|meta| result.with_member("_meta", &meta));
    let result = named.as_ref().unwrap_or(result);
    let rest = if result.is_object() { &result.as_bytes()[1..] } else { &b"}"[..] };
    if rest.trim_ascii_start() == b"}" && out.len() > 1 {
        out.truncate(out.len() - 1); // Nothing follows the last comma.
    }
    out.extend_from_slice(rest);
    RawJson::assembled(out.freeze())
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
    fn by(result: &RawJson, looked_for: &[&str]) -> Self {
        if !looked_for.iter().any(|key| mentions(result.as_bytes(), key.as_bytes())) {
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
pub(super) fn input_required(
    needed: &InputRequired,
    key: Option<&StateKey>,
    cx: &RequestContext,
) -> Result<RawJson, RpcError> {
    if !matches!(cx.method(), "tools/call" | "prompts/get" | "resources/read") {
        return Err(RpcError::internal(format!("`{}` cannot ask for input", cx.method())));
    }
    cx.may_ask_all(&needed.requests)?;
    let mut requests = RawJson::EMPTY_OBJECT;
    for request in needed.requests.iter().rev() {
        let entry = RawJson::EMPTY_OBJECT.with_member("params", &request.params);
        requests = requests.with_member(&request.key, &entry.with_member("method", &RawJson::string(&request.method)));
    }
    let key = key.ok_or_else(|| RpcError::internal("cannot sign `requestState`: the system provides no randomness"))?;
    let state = key.seal(cx.method(), &cx.params(), &kept(needed, cx))?;
    let mut result = RawJson::EMPTY_OBJECT.with_member("requestState", &RawJson::string(&state));
    if !needed.requests.is_empty() {
        result = result.with_member("inputRequests", &requests);
    }
    Ok(wrap(&result, "input_required", cx))
}

/// The state to keep until the answers come: the questions of this round, and the answers of earlier rounds.
fn kept(needed: &InputRequired, cx: &RequestContext) -> Input {
    let (answers, state) = {
        let mut rounds = lock(&cx.inside().progress_of_rounds);
        (std::mem::take(&mut rounds.used), rounds.state.take())
    };
    let is_open = |key: &str| needed.requests.iter().any(|request| request.key == key);
    let is_answered = |key: &str| answers.iter().any(|(answered, _)| answered == key);
    let earlier = cx.inside().input.asked.iter().filter(|(key, _)| is_answered(key) && !is_open(key)).cloned();
    let now = needed.requests.iter().map(|request| (request.key.clone(), question(request)));
    Input { asked: earlier.chain(now).collect(), answers, state: needed.state.clone().or(state) }
}
