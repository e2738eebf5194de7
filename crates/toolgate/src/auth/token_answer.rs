//! What a token endpoint answered. Pure, and lenient where real servers deviate without harm: JSON or form whatever the header says, numbers as
//! texts, errors with status 200. What is left is either a token that can be used, or words that say why there is none.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::exchange::Answer;
use super::login::TokenType;
pub(crate) use super::token_error::{TokenError, TokenErrorKind};
use crate::limits::{LOGIN_SCOPES_MAX, TOKEN_BYTES_MAX, TOKEN_ERROR_CHARS_MAX, TOKEN_LIFETIME_MS_MAX};
use crate::secret::Secret;

/// What a statement is called that one identity provider makes for another authorization server.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// A token, as the endpoint gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenAnswer {
    /// What requests carry.
    pub(crate) access_token: Secret,
    /// How they carry it.
    pub(crate) token_type: TokenType,
    /// What it is renewed with.
    pub(crate) refresh_token: Option<Secret>,
    /// How long it is good for.
    pub(crate) expires_in: Option<Duration>,
    /// What it is good for, where the server says so.
    pub(crate) scopes: Option<Vec<String>>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A token that whoever has it may use.
    Bearer,
    /// A token for the key of which a proof was sent. A server that knows nothing of proofs gives one without.
    Dpop,
    /// A statement for another authorization server ([`ID_JAG`]).
    Statement,
}

/// Reads an answer. `unsaid` are the secrets of the request: what the server repeats of them is not told.
pub(crate) fn read(answer: &Answer, expected: Expected, unsaid: &[&str]) -> Result<TokenAnswer, TokenError> {
    token(&fields(answer, unsaid)?, expected)
}

/// What an answer says, name by name, unless it is an error.
pub(crate) fn fields(answer: &Answer, unsaid: &[&str]) -> Result<Map<String, Value>, TokenError> {
    let status = answer.status;
    let fields = parse(&answer.body);
    if let Some(error) = fields.as_ref().ok().and_then(|fields| refusal(status, fields, unsaid)) {
        return Err(error);
    }
    let number = status.as_u16();
    if is_passing(status) {
        return Err(TokenError::transient(format!("answered {number}")));
    }
    if status.is_redirection() {
        let words = format!("answered {number}, and what is posted there is not sent anywhere else");
        return Err(TokenError::malformed(words));
    }
    let fields = fields.map_err(|what| TokenError::malformed(format!("answered {number} with {what}")))?;
    if status.is_success() {
        Ok(fields)
    } else {
        Err(TokenError::malformed(format!("answered {number} without a reason")))
    }
}

/// Whether that status says that it may work later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}

/// Reads a body by its looks; the header that says what it is lies too often.
fn parse(body: &[u8]) -> Result<Map<String, Value>, &'static str> {
    let text = std::str::from_utf8(body).map_err(|_| "bytes that are not text")?;
    let text = text.trim_start_matches('\u{feff}').trim();
    match text.chars().next() {
        None => Err("nothing"),
        Some('{') => serde_json::from_str(text).map_err(|_| "broken JSON"),
        Some('<') => Err("a page instead of data"),
        Some('[' | '"') => Err("JSON that is not an object"),
        Some(_) if text.contains('=') && !text.contains(char::is_whitespace) => {
            Ok(form_urlencoded::parse(text.as_bytes()).map(|(name, value)| (name.into(), Value::from(value))).collect())
        }
        Some(_) => Err("text that is neither JSON nor a form"),
    }
}

/// The error in an answer. It counts whatever the status is; what may pass is no refusal.
fn refusal(status: StatusCode, fields: &Map<String, Value>, unsaid: &[&str]) -> Option<TokenError> {
    let (code, nested) = match fields.get("error")? {
        Value::String(code) => (code.clone(), None),
        Value::Number(code) => (code.to_string(), None),
        Value::Object(nested) => {
            let code = ["code", "type", "status"].into_iter().find_map(|name| nested.get(name)?.as_str());
            (code.unwrap_or("unknown").to_owned(), Some(nested))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    let code = visible(&code, unsaid);
    if code.is_empty() {
        return None;
    }
    let said = ["error_description", "error_message", "message"];
    let said = said.into_iter().find_map(|name| nested.unwrap_or(fields).get(name)?.as_str());
    let why = said.map(|said| visible(said, unsaid)).filter(|why| !why.is_empty());
    let words = match why {
        Some(why) => format!("refused with `{code}`: {why}"),
        None => format!("refused with `{code}`"),
    };
    if is_passing(status) || matches!(code.as_str(), "temporarily_unavailable" | "server_error") {
        let words = format!("answered {} and {words}", status.as_u16());
        return Some(TokenError::transient(words));
    }
    Some(TokenError { kind: TokenErrorKind::Rejected(code), words })
}

/// Foreign words as they may stand in a message: on one line, visible, not too many, and without what must not be told.
pub(crate) fn visible(text: &str, unsaid: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in unsaid.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "…");
    }
    let is_plain = |letter: char| letter.is_ascii_graphic() || letter.is_alphanumeric() || letter == '…';
    let plain: String = text.chars().map(|letter| if is_plain(letter) { letter } else { ' ' }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.chars().count() <= TOKEN_ERROR_CHARS_MAX {
        return plain;
    }
    plain.chars().take(TOKEN_ERROR_CHARS_MAX).chain(['…']).collect()
}

fn token(fields: &Map<String, Value>, expected: Expected) -> Result<TokenAnswer, TokenError> {
    let access_token = access_token(fields.get("access_token"))?;
    let token_type = if expected == Expected::Statement {
        statement_type(fields.get("issued_token_type"))?
    } else {
        token_type(fields.get("token_type"), expected)?
    };
    let refresh_token = fields.get("refresh_token").and_then(Value::as_str).map(str::trim);
    let refresh_token = refresh_token.filter(|token| !token.is_empty() && token.len() <= TOKEN_BYTES_MAX);
    Ok(TokenAnswer {
        access_token,
        token_type,
        refresh_token: refresh_token.map(Secret::new),
        expires_in: fields.get("expires_in").and_then(lifetime),
        scopes: fields.get("scope").and_then(scopes),
    })
}

/// The token itself, if it can stand in a header.
fn access_token(value: Option<&Value>) -> Result<Secret, TokenError> {
    let wrong = |what: &str| Err(TokenError::malformed(format!("gave {what}")));
    let token = match value {
        None | Some(Value::Null) => return wrong("no access token"),
        Some(Value::String(token)) => token.trim(),
        Some(_) => return wrong("an access token that is not text"),
    };
    if token.is_empty() {
        return wrong("an empty access token");
    }
    if token.len() > TOKEN_BYTES_MAX {
        return wrong(&format!("an access token of {} bytes; {TOKEN_BYTES_MAX} are taken", token.len()));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return wrong("an access token with characters that no request can carry");
    }
    Ok(Secret::new(token))
}

fn token_type(value: Option<&Value>, expected: Expected) -> Result<TokenType, TokenError> {
    let name = match value {
        None | Some(Value::Null) => "",
        Some(Value::String(name)) => name.trim(),
        Some(_) => return Err(TokenError::malformed("gave a token whose type is not text")),
    };
    match name.to_ascii_lowercase().as_str() {
        "" | "bearer" => Ok(TokenType::Bearer),
        "dpop" if expected == Expected::Dpop => Ok(TokenType::Dpop),
        "dpop" => Err(TokenError::malformed("gave a token of the type `DPoP`, and no proof was sent")),
        _ => {
            let name = visible(name, &[]);
            Err(TokenError::malformed(format!(
                "gave a token of the type `{name}`; only `Bearer` and `DPoP` can be used"
            )))
        }
    }
}

/// A statement is used once, in a form; its type says only that it is one.
fn statement_type(value: Option<&Value>) -> Result<TokenType, TokenError> {
    match value {
        None | Some(Value::Null) => Ok(TokenType::Bearer),
        Some(Value::String(issued)) if issued == ID_JAG => Ok(TokenType::Bearer),
        Some(other) => {
            let issued = visible(other.as_str().unwrap_or("?"), &[]);
            Err(TokenError::malformed(format!("gave a token of the type `{issued}` instead of `{ID_JAG}`")))
        }
    }
}

/// A number of seconds, however it is written; less than none is none.
pub(crate) fn seconds(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse::<f64>().ok()?,
        _ => return None,
    };
    // The largest number of seconds that both kinds of numbers have exactly.
    Duration::try_from_secs_f64(seconds.clamp(0.0, f64::from(u32::MAX))).ok()
}

/// How long a token is good for, and nothing beyond reason. Whoever says that it is good for no time means that it has no end, or does not
/// know; taken by the word, it would be renewed for every request.
fn lifetime(value: &Value) -> Option<Duration> {
    let life = seconds(value).filter(|life| !life.is_zero())?;
    Some(life.min(Duration::from_millis(TOKEN_LIFETIME_MS_MAX)))
}

/// Scopes as a text with spaces, as a text with commas, or as a list. None at all is the same as nothing said.
fn scopes(value: &Value) -> Option<Vec<String>> {
    let names: Vec<String> = match value {
        Value::String(text) if text.contains(char::is_whitespace) => {
            text.split_whitespace().map(str::to_owned).collect()
        }
        Value::String(text) => text.split(',').map(str::to_owned).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(|name| name.trim().to_owned()).collect(),
        _ => return None,
    };
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).take(LOGIN_SCOPES_MAX).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
#[path = "token_answer_tests.rs"]
mod tests;
