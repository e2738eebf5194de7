//! Logging in on another device (RFC 8628): a code that the person types in there, and questions to the token endpoint until they have answered.
//! When to ask again is decided without waiting or asking, so that it can be read and tested.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use url::Url;

use super::exchange::shown;
use super::journal::StepOutcome;
use super::token_answer::{TokenAnswer, TokenError, TokenErrorKind, fields, seconds};
use super::token_request::{Grant, TokenEndpoint, Wanted};
use crate::limits::{
    DEVICE_INTERVAL_MS_DEFAULT, DEVICE_INTERVAL_MS_MAX, DEVICE_LIFETIME_MS_MAX, DEVICE_SLOWER_MS,
    DEVICE_USER_CODE_CHARS_MAX, TOKEN_BYTES_MAX,
};
use crate::secret::Secret;

/// Waits.
pub(crate) type Sleep<'a> = &'a (dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync);

/// What the person is told, and what we ask with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLogin {
    device_code: Secret,
    /// What the person types in.
    pub(crate) user_code: String,
    /// Where.
    pub(crate) verification_uri: Url,
    /// The same with the code in it, where there is such an address.
    pub(crate) verification_uri_complete: Option<Url>,
    /// When it is too late.
    pub(crate) ends_at: SystemTime,
    interval: Duration,
}

/// Begins a login on another device, at the device authorization endpoint.
pub(crate) async fn begin(
    endpoint: &TokenEndpoint<'_>,
    url: &Url,
    wanted: &Wanted<'_>,
) -> Result<DeviceLogin, TokenError> {
    let answer = endpoint.post_form(url, wanted.parameters()).await;
    let secret = endpoint.client.client_secret.as_ref().map_or("", Secret::expose);
    let begun = answer.and_then(|answer| fields(&answer, &[secret])).and_then(|fields| read(&fields, endpoint.now()));
    let address = shown(url);
    let begun = begun.map_err(|error| error.by(&format!("the device authorization endpoint {address}")));
    let what = format!("POST {address} (device authorization)");
    match &begun {
        Ok(login) => endpoint.journal.good(what, format!("a code to type in at {}", shown(&login.verification_uri))),
        Err(error) => {
            endpoint.journal.note(what, StepOutcome::Failed, error.words.clone(), Some("RFC 8628 §3.2"));
        }
    }
    begun
}

fn read(fields: &Map<String, Value>, now: SystemTime) -> Result<DeviceLogin, TokenError> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let wrong = |what: &str| TokenError::malformed(format!("gave {what}"));
    let device_code = text("device_code").filter(|code| code.len() <= TOKEN_BYTES_MAX);
    let user_code = text("user_code").ok_or_else(|| wrong("no code to type in"))?;
    let is_typed = |letter: char| letter.is_ascii_graphic() || letter.is_alphanumeric() || letter == ' ';
    if user_code.chars().count() > DEVICE_USER_CODE_CHARS_MAX || !user_code.chars().all(is_typed) {
        return Err(wrong("a code that nobody can type in"));
    }
    // The older name is still in use.
    let address = text("verification_uri").or_else(|| text("verification_url"));
    let address = address.ok_or_else(|| wrong("no address to type the code in at"))?;
    let life = fields.get("expires_in").and_then(seconds);
    let life = life.map_or(Duration::from_millis(DEVICE_LIFETIME_MS_MAX), |life| {
        life.min(Duration::from_millis(DEVICE_LIFETIME_MS_MAX))
    });
    let interval = fields.get("interval").and_then(seconds).filter(|interval| !interval.is_zero());
    Ok(DeviceLogin {
        device_code: Secret::new(device_code.ok_or_else(|| wrong("no device code"))?),
        user_code: user_code.to_owned(),
        verification_uri: page(address).ok_or_else(|| wrong("an address that no browser should open"))?,
        verification_uri_complete: text("verification_uri_complete").and_then(page),
        ends_at: now.checked_add(life).unwrap_or(now),
        interval: bounded(interval.unwrap_or(Duration::from_millis(DEVICE_INTERVAL_MS_DEFAULT))),
    })
}

/// An address that a person may be sent to.
fn page(address: &str) -> Option<Url> {
    Url::parse(address).ok().filter(|url| matches!(url.scheme(), "https" | "http") && url.has_host())
}

fn bounded(interval: Duration) -> Duration {
    interval.min(Duration::from_millis(DEVICE_INTERVAL_MS_MAX))
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    /// Ask again after that time.
    Wait(Duration),
    /// It is over.
    Over(Result<TokenAnswer, TokenError>),
}

/// When to ask.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: Duration,
    ends_at: SystemTime,
}

impl Pace {
    /// What to do after an answer.
    fn after(&mut self, outcome: Result<TokenAnswer, TokenError>, now: SystemTime) -> Next {
        let error = match outcome {
            Ok(answer) => return Next::Over(Ok(answer)),
            Err(error) => error,
        };
        match (error.code(), &error.kind) {
            (Some("authorization_pending"), _) => {}
            (Some("slow_down"), _) => self.interval = bounded(self.interval + Duration::from_millis(DEVICE_SLOWER_MS)),
            // RFC 8628 §3.5: whoever cannot be reached is asked less often.
            (None, TokenErrorKind::Transient) => self.interval = bounded(self.interval * 2),
            (Some("expired_token"), _) => return Next::Over(Err(too_late())),
            (Some("access_denied"), _) => {
                let kind = error.kind.clone();
                return Next::Over(Err(TokenError {
                    kind,
                    words: "the login was declined on the other device".to_owned(),
                }));
            }
            _ => return Next::Over(Err(error)),
        }
        let is_too_late = now.checked_add(self.interval).is_none_or(|next| next >= self.ends_at);
        if is_too_late { Next::Over(Err(too_late())) } else { Next::Wait(self.interval) }
    }
}

fn too_late() -> TokenError {
    let kind = TokenErrorKind::Rejected("expired_token".to_owned());
    TokenError { kind, words: "the code was not typed in on the other device in time".to_owned() }
}

/// Asks until the person has answered, or it is too late.
pub(crate) async fn wait(
    endpoint: &TokenEndpoint<'_>,
    login: &DeviceLogin,
    wanted: &Wanted<'_>,
    sleep: Sleep<'_>,
) -> Result<TokenAnswer, TokenError> {
    let mut pace = Pace { interval: login.interval, ends_at: login.ends_at };
    let mut pause = pace.interval;
    loop {
        sleep(pause).await;
        let outcome = endpoint.redeem(Grant::DeviceCode(&login.device_code), wanted).await;
        match pace.after(outcome, endpoint.now()) {
            Next::Wait(longer) => pause = longer,
            Next::Over(outcome) => return outcome,
        }
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
