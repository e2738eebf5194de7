//! What is checked before a body is read: who is asked for (`Host`), from where (`Origin`), in which form, and how much.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::body::{ResponseBody, error, refused};
use crate::error::RpcError;
use crate::limits::{HEADER_BYTES_MAX, REQUEST_BODY_BYTES_MAX, REQUEST_BODY_MS};

type Refused = Box<Response<ResponseBody>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The names under which a server on this machine may be reached.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Which hosts or origins are let in.
#[derive(Debug, Clone)]
pub(super) enum Allowed {
    Any,
    Listed(Vec<String>),
}

/// Who may ask. A page of another site must not reach a server on the machine of its visitor.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) hosts: Allowed,
    pub(super) origins: Allowed,
}

impl Default for Gate {
    fn default() -> Self {
        let loopback = LOOPBACK.map(str::to_owned).to_vec();
        Self { hosts: Allowed::Listed(loopback), origins: Allowed::Listed(Vec::new()) }
    }
}

impl Allowed {
    pub(super) fn add(&mut self, entry: String) {
        if let Self::Listed(list) = self {
            list.push(entry);
        }
    }
}

impl Gate {
    pub(super) fn check(&self, parts: &Parts) -> Result<(), Refused> {
        let forbidden = |why: String| Box::new(refused(StatusCode::FORBIDDEN, why));
        let host = parts.headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
        let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
        if !self.host_allowed(host.unwrap_or_default()) {
            return Err(forbidden(format!("host `{}` is not allowed here", host.unwrap_or_default())));
        }
        let mut origins = parts.headers.get_all(ORIGIN).iter().map(|origin| origin.to_str().unwrap_or_default());
        match origins.find(|origin| !self.origin_allowed(origin)) {
            Some(origin) => Err(forbidden(format!("origin `{origin}` is not allowed here"))),
            None => Ok(()),
        }
    }

    fn host_allowed(&self, host: &str) -> bool {
        let Allowed::Listed(list) = &self.hosts else { return true };
        let name = without_port(host);
        list.iter().any(|entry| entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(name))
    }

    /// A page served under one of our own names is one of us.
    fn origin_allowed(&self, origin: &str) -> bool {
        let Allowed::Listed(list) = &self.origins else { return true };
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let ours = matches!(self.hosts, Allowed::Listed(_)) && host.is_some_and(|host| self.host_allowed(host));
        ours || list.iter().any(|entry| entry.eq_ignore_ascii_case(origin))
    }
}

/// `name` of `name:port`; brackets of IPv6 stay.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether all headers together are of a sensible size.
pub(super) fn header_size(headers: &HeaderMap) -> Result<(), Refused> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes <= HEADER_BYTES_MAX {
        return Ok(());
    }
    let why = format!("headers of {bytes} bytes (limit HEADER_BYTES_MAX = {HEADER_BYTES_MAX})");
    Err(Box::new(refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why)))
}

/// Whether the body is JSON and both forms of answer are understood.
pub(super) fn post_forms(headers: &HeaderMap) -> Result<(), Refused> {
    let form = headers.get(CONTENT_TYPE).and_then(|form| form.to_str().ok()).unwrap_or_default();
    let form = form.split(';').next().unwrap_or_default().trim();
    if !form.eq_ignore_ascii_case("application/json") {
        let why = format!("Content-Type must be application/json, not `{form}`");
        return Err(Box::new(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why)));
    }
    if accepts(headers, "application/json") && accepts(headers, "text/event-stream") {
        return Ok(());
    }
    let why = "Accept must name both application/json and text/event-stream";
    Err(Box::new(refused(StatusCode::NOT_ACCEPTABLE, why)))
}

/// Whether the client takes a form of answer. One that does not say takes any.
pub(super) fn accepts(headers: &HeaderMap, form: &str) -> bool {
    let mut said = headers.get_all(ACCEPT).iter().peekable();
    if said.peek().is_none() {
        return true;
    }
    let family = form.split('/').next().unwrap_or_default();
    said.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|entry| {
        let entry = entry.split(';').next().unwrap_or_default().trim();
        let whole_family = entry.strip_suffix("/*").is_some_and(|entry| entry.eq_ignore_ascii_case(family));
        entry == "*/*" || whole_family || entry.eq_ignore_ascii_case(form)
    })
}

/// Reads the body, up to the limits of size and time.
pub(super) async fn read_body<B>(headers: &HeaderMap, body: B) -> Result<Bytes, Refused>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > REQUEST_BODY_BYTES_MAX as u64) {
        return Err(too_large());
    }
    let limit = std::time::Duration::from_millis(REQUEST_BODY_MS);
    match tokio::time::timeout(limit, Limited::new(body, REQUEST_BODY_BYTES_MAX).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(problem)) if problem.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(problem)) => {
            Err(Box::new(refused(StatusCode::BAD_REQUEST, format!("the body cannot be read: {problem}"))))
        }
        Err(_) => {
            let why = format!("the body did not arrive in time (limit REQUEST_BODY_MS = {REQUEST_BODY_MS})");
            Err(Box::new(refused(StatusCode::REQUEST_TIMEOUT, why)))
        }
    }
}

fn too_large() -> Refused {
    let why = format!("the body is too large (limit REQUEST_BODY_BYTES_MAX = {REQUEST_BODY_BYTES_MAX})");
    Box::new(error(StatusCode::PAYLOAD_TOO_LARGE, None, RpcError::new(RpcError::INVALID_REQUEST, why)))
}
