//! `Trouble`: one attempt that failed, whether another one may do better, and how long to wait before it.

use std::time::Duration;

use genai::webc;
use jiff::fmt::rfc2822;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use serde_json::Value;
use toolgate::shape::visible;

use crate::config::Retry;
use crate::error::{ModelError, ModelErrorKind};
use crate::limits::{COMPLAINT_CHARS_MAX, RETRY_AFTER_MS_MAX, RETRY_WAIT_MS_MAX};

/// Words of providers for "later".
const PASSING_WORDS: [&str; 7] =
    ["overloaded", "rate_limit", "resource_exhausted", "unavailable", "server_error", "api_error", "timeout"];

/// One attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) error: ModelError,
    /// Whether another attempt may do better.
    is_passing: bool,
    /// What the provider asks to wait.
    retry_after: Option<Duration>,
}

impl Trouble {
    /// The stream ended before the answer did.
    pub(crate) fn cut() -> Self {
        let error = ModelError::new(ModelErrorKind::Unreachable, "the answer of the model was cut off");
        Self { error, is_passing: true, retry_after: None }
    }

    /// The answer does not go on.
    pub(crate) fn silent() -> Self {
        let error = ModelError::new(ModelErrorKind::Unreachable, "the answer of the model does not go on");
        Self { error, is_passing: true, retry_after: None }
    }

    /// The answer is there, and is no good.
    pub(crate) fn unusable(what: impl Into<String>) -> Self {
        let error = ModelError::new(ModelErrorKind::Unusable, what);
        Self { error, is_passing: false, retry_after: None }
    }

    /// How long to wait before attempt number `attempt + 2`, counted from 1; `None` when there is to be none. `jitter` lies between 0 and 1.
    pub(crate) fn wait(&self, retry: Retry, attempt: u32, jitter: f64) -> Option<Duration> {
        if !self.is_passing || attempt >= retry.times {
            return None;
        }
        if let Some(asked) = self.retry_after {
            return (asked <= Duration::from_millis(RETRY_AFTER_MS_MAX)).then_some(asked);
        }
        let longest = Duration::from_millis(RETRY_WAIT_MS_MAX);
        let grown = retry.first_wait.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX)).min(longest);
        // Between half and all of it, so that those who failed together do not come back together.
        Some(grown.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0))
    }
}

impl From<genai::Error> for Trouble {
    fn from(error: genai::Error) -> Self {
        match error {
            genai::Error::WebStream { cause, error, .. } => match error.downcast::<genai::Error>() {
                Ok(inner) => Self::from(*inner),
                Err(error) => Self::on_the_way(&cause, error.as_ref()),
            },
            genai::Error::HttpError { status, body, headers, .. }
            | genai::Error::WebModelCall {
                webc_error: webc::Error::ResponseFailedStatus { status, body, headers },
                ..
            } => Self::of_status(status, &body, &headers),
            genai::Error::WebModelCall { webc_error: webc::Error::Reqwest(error), .. } => {
                Self::on_the_way(&error.to_string(), &error)
            }
            genai::Error::ChatResponse { body, .. } => Self::within_answer(&body),
            other => Self::unusable(format!("the model's answer cannot be understood: {}", shown(&other.to_string()))),
        }
    }
}

impl Trouble {
    fn of_status(status: StatusCode, body: &str, headers: &HeaderMap) -> Self {
        let said = complaint(body);
        let what = format!("the model's provider answered {status}{said}");
        let (kind, hint) = match status.as_u16() {
            401 | 403 => (ModelErrorKind::Denied, Some("check the key of the model")),
            404 => (ModelErrorKind::Refused, Some("check `model.name` and `model.baseUrl`")),
            413 => (ModelErrorKind::Refused, Some("the conversation may have become too long: begin a new one")),
            408 | 425 | 429 | 500.. => (ModelErrorKind::Busy, None),
            _ => (ModelErrorKind::Refused, None),
        };
        let error = ModelError::new(kind, what);
        let error = match hint {
            Some(hint) => error.hinting(hint),
            None => error,
        };
        Self { error, is_passing: kind == ModelErrorKind::Busy, retry_after: retry_after(headers) }
    }

    /// The provider began an answer, and gave up.
    fn within_answer(body: &Value) -> Self {
        let text = body.to_string();
        let code = body.pointer("/error/code").or_else(|| body.get("code")).and_then(Value::as_u64);
        let lower = text.to_lowercase();
        let is_passing = code.is_some_and(|code| code == 429 || code >= 500)
            || PASSING_WORDS.iter().any(|word| lower.contains(word));
        let kind = if is_passing { ModelErrorKind::Busy } else { ModelErrorKind::Refused };
        let error = ModelError::new(kind, format!("the model's provider gave up{}", complaint(&text)));
        Self { error, is_passing, retry_after: None }
    }

    fn on_the_way(cause: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        let mut words = shown(cause);
        let mut source = error.source();
        while let Some(inner) = source {
            let text = shown(&inner.to_string());
            if !words.contains(&text) {
                words = format!("{words}: {text}");
            }
            source = inner.source();
        }
        let error = ModelError::new(ModelErrorKind::Unreachable, format!("the model cannot be reached: {words}"))
            .hinting("check `model.baseUrl` and the network");
        Self { error, is_passing: true, retry_after: None }
    }
}

/// What a provider says about a failure, as far as it can be repeated.
fn complaint(body: &str) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|body| {
        // Some put the object into a list.
        let body = body.get(0).cloned().unwrap_or(body);
        let places = ["/error/message", "/message", "/error", "/detail"];
        places.iter().find_map(|place| body.pointer(place)?.as_str().map(ToOwned::to_owned))
    });
    match shown(&message.unwrap_or_else(|| body.to_owned())) {
        said if said.is_empty() => String::new(),
        said => format!(": {said}"),
    }
}

fn shown(text: &str) -> String {
    let short: String = text.trim().chars().take(COMPLAINT_CHARS_MAX).collect();
    visible::line(&short).into_owned()
}

/// What `Retry-After` and its kin ask for: a number, or a date. The date is read beside that of the answer, so that no clock but the
/// provider's counts; an answer without one is followed by the usual wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |name: &str, each: f64| {
        let number = text(name)?.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)?;
        Some(Duration::try_from_secs_f64(number * each).unwrap_or(Duration::MAX))
    };
    let date = |name: HeaderName| rfc2822::DateTimeParser::new().parse_timestamp(text(name.as_str())?).ok();
    let until = || {
        let wait = date(RETRY_AFTER)?.duration_since(date(DATE)?);
        Some(Duration::try_from(wait).unwrap_or_default())
    };
    seconds("retry-after-ms", 0.001).or_else(|| seconds(RETRY_AFTER.as_str(), 1.0)).or_else(until)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::StatusCode;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    use super::Trouble;
    use crate::config::Retry;
    use crate::error::ModelErrorKind;

    fn of(status: u16, header: Option<(&'static str, &str)>) -> Trouble {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value.parse().unwrap());
        }
        Trouble::of_status(StatusCode::from_u16(status).unwrap(), r#"{"error": {"message": "said"}}"#, &headers)
    }

    #[test]
    fn what_passes_is_tried_again_after_a_while() {
        let retry = Retry::default();
        let seconds = |trouble: &Trouble, attempt| trouble.wait(retry, attempt, 1.0).map(|wait| wait.as_secs_f64());
        let cases = [
            (of(429, None), 0, Some(1.0)),
            (of(503, None), 2, Some(4.0)),
            (of(500, None), 4, Some(16.0)),
            (of(500, None), 5, None),
            (of(529, Some(("retry-after", "7"))), 1, Some(7.0)),
            (of(429, Some(("retry-after-ms", "250"))), 1, Some(0.25)),
            (of(429, Some(("retry-after", "0"))), 0, Some(0.0)),
            (of(429, Some(("retry-after", "600"))), 0, None),
            (of(429, Some(("retry-after", "1e300"))), 0, None),
            (of(429, Some(("retry-after", "-1"))), 0, Some(1.0)),
            (of(400, Some(("retry-after", "1"))), 0, None),
            (of(401, None), 0, None),
            (Trouble::cut(), 0, Some(1.0)),
            (Trouble::unusable("x"), 0, None),
        ];
        for (trouble, attempt, expected) in cases {
            assert_eq!(seconds(&trouble, attempt), expected, "{trouble:?}");
        }
        let least = of(500, None).wait(retry, 0, 0.0);
        assert_eq!(least, Some(Duration::from_millis(500)));
    }

    #[test]
    fn a_date_counts_from_that_of_the_answer() {
        let cases = [
            ("Wed, 21 Oct 2015 07:28:09 GMT", Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some(9.0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0.0)),
            ("Wed, 21 Oct 2015 07:27:00 GMT", Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0.0)),
            ("Thu, 22 Oct 2015 07:28:00 GMT", Some("Wed, 21 Oct 2015 07:28:00 GMT"), None),
            ("Wed, 01 Jan 9000 00:00:00 GMT", Some("Thu, 01 Jan 1970 00:00:00 GMT"), None),
            ("Wed, 21 Oct 2015 07:28:09 GMT", None, Some(1.0)),
            ("Wed, 21 Oct 2015 07:28:09 GMT", Some("yesterday"), Some(1.0)),
            ("soon", Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1.0)),
        ];
        for (asked, date, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", asked.parse().unwrap());
            if let Some(date) = date {
                headers.insert("date", date.parse().unwrap());
            }
            let trouble = Trouble::of_status(StatusCode::TOO_MANY_REQUESTS, "", &headers);
            let wait = trouble.wait(Retry::default(), 0, 1.0).map(|wait| wait.as_secs_f64());
            assert_eq!(wait, expected, "{asked} {date:?}");
        }
    }

    #[test]
    fn providers_are_quoted() {
        let trouble = of(401, None);
        assert_eq!(trouble.error.to_string(), "the model's provider answered 401 Unauthorized: said");
        assert_eq!(trouble.error.kind(), ModelErrorKind::Denied);
        let cases = [
            (json!({"error": {"type": "overloaded_error", "message": "later"}}), true),
            (json!({"error": {"code": 503, "message": "later", "status": "X"}}), true),
            (json!({"error": {"type": "invalid_request_error", "message": "never"}}), false),
        ];
        for (body, is_passing) in cases {
            assert_eq!(Trouble::within_answer(&body).is_passing, is_passing, "{body}");
        }
    }
}
