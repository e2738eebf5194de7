//! What a server says to somebody it does not know: one request without any credentials, for the challenge in its answer.

use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;

use super::challenge::{Wants, parse, wants};
use super::fetch::{FetchError, Fetched, Fetcher};
use super::journal::{Journal, StepOutcome};
use super::shown::shown;

/// A handshake, which every server wants to be logged in for that wants it for anything.
const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"toolgate","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);

/// What the server asks for; nothing when it does not ask for a login.
pub(crate) async fn probe(fetcher: &Fetcher, url: &Url, journal: &Journal) -> Wants {
    let asked = format!("POST {}", shown(url));
    let answer = match handshake(fetcher, url, HeaderMap::new()).await {
        // The older transport is opened with GET, and says the same there.
        Ok(answer) if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => {
            fetcher.get(url).await
        }
        other => other,
    };
    match answer {
        Ok(answer) => judge(&answer, &asked, journal),
        Err(error) => {
            journal.note(asked, StepOutcome::Nothing, error.to_string(), None);
            Wants::default()
        }
    }
}

/// Begins a handshake, which is never gone on with.
pub(crate) async fn handshake(fetcher: &Fetcher, url: &Url, mut headers: HeaderMap) -> Result<Fetched, FetchError> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    fetcher.post(url, headers, HANDSHAKE.into()).await
}

/// Whether an answer asks for a login.
pub(crate) fn asks_for_login(answer: &Fetched) -> bool {
    let has_challenge = answer.headers.contains_key(WWW_AUTHENTICATE);
    answer.status == StatusCode::UNAUTHORIZED || (answer.status == StatusCode::FORBIDDEN && has_challenge)
}

fn judge(answer: &Fetched, asked: &str, journal: &Journal) -> Wants {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<String> = answer.headers.get_all(WWW_AUTHENTICATE).iter().map(text).collect();
    let status = answer.status.as_u16();
    if !asks_for_login(answer) {
        let detail = format!("HTTP {status}: the server does not ask for a login");
        journal.note(asked, StepOutcome::Nothing, detail, Some("RFC 9728 §5: a challenge comes with 401"));
        return Wants::default();
    }
    let wants = wants(&parse(&headers));
    let metadata = wants.resource_metadata.as_deref().unwrap_or("nothing");
    let detail = format!("HTTP {status}; the challenge points to {metadata}");
    journal.note(asked, StepOutcome::Good, detail, Some("RFC 9728 §5.1: `resource_metadata` says where to look"));
    wants
}
