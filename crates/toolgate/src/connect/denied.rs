//! Detects in the output of a stdio server that another service refused its credentials, usually because a variable is missing.

use crate::error::Error;
use crate::limits::DENIED_SEARCHED_BYTES_MAX;
use crate::servers::{ServerConfig, TransportConfig};

/// Statuses of HTTP that refuse credentials, as programs print them.
const NUMBERS: [(&str, &str); 2] = [("401", "HTTP 401"), ("403", "HTTP 403")];

/// The words for them.
const WORDS: [(&str, &str); 2] = [("unauthorized", "HTTP 401"), ("forbidden", "HTTP 403")];

/// Words before a number that make a status of it.
const BEFORE_STATUS: [&str; 8] = ["http", "https", "status", "statuscode", "code", "error", "response", "returned"];

/// The status that a text says, when its beginning says that credentials were refused. A number among other words
/// says nothing without a word about a status before it: it may be that of a line.
#[must_use]
pub fn denied_status(text: &str) -> Option<&'static str> {
    let only = text.trim();
    if let Some((_, status)) = NUMBERS.iter().find(|(sign, _)| *sign == only) {
        return Some(status);
    }
    let looked_at = text.get(..text.floor_char_boundary(DENIED_SEARCHED_BYTES_MAX)).unwrap_or_default();
    let words = looked_at.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    // The word before, without the version in `HTTP/1.1`.
    let mut before = "";
    for word in words {
        let is = |(sign, _): &&(&str, &str)| word.eq_ignore_ascii_case(sign);
        if let Some((_, status)) = WORDS.iter().find(is) {
            return Some(status);
        }
        let is_status = BEFORE_STATUS.iter().any(|one| before.eq_ignore_ascii_case(one));
        if let Some((_, status)) = NUMBERS.iter().find(is).filter(|_| is_status) {
            return Some(status);
        }
        let is_version = before.eq_ignore_ascii_case("http") && word.len() == 1;
        before = if is_version { before } else { word };
    }
    None
}

/// A hint for a stdio server whose output says that its credentials were refused. `None` for any other output or
/// server.
#[must_use]
pub fn env_hint(config: &ServerConfig, output: &str) -> Option<String> {
    let TransportConfig::Stdio(_) = &config.transport else { return None };
    let status = denied_status(output)?;
    let name = &config.name;
    Some(format!(
        "its output says {status}: a key or token may be missing; name it in `env` or `inheritEnv` of `{name}` in {}",
        config.origin
    ))
}

/// The error with that hint, unless it has a hint already.
pub(crate) fn with_env_hint(config: &ServerConfig, error: Error, output: &str) -> Error {
    match env_hint(config, output) {
        Some(hint) if error.hint().is_none() => error.hinting(hint),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::denied_status;

    #[test]
    fn a_refusal_is_known_by_its_status_or_its_word() {
        let cases = [
            ("Error: Request failed with status code 401", Some("HTTP 401")),
            ("GitHub API: 401 Unauthorized", Some("HTTP 401")),
            ("HTTP/1.1 403 Forbidden", Some("HTTP 403")),
            ("fatal: Unauthorized.", Some("HTTP 401")),
            ("{\"status\":403}", Some("HTTP 403")),
            ("[error] FORBIDDEN", Some("HTTP 403")),
            ("listening on port 4010", None),
            ("took 1401 ms", None),
            ("took 401 ms", None),
            ("    at run (index.js:401:12)", None),
            ("Error: x\n    at index.js:403", None),
            ("HTTP/2 403", Some("HTTP 403")),
            ("statusCode=401", Some("HTTP 401")),
            ("the service returned 401", Some("HTTP 401")),
            ("404 Not Found", None),
            ("403", Some("HTTP 403")),
            ("upstream returned 401", Some("HTTP 401")),
            ("403 items loaded", None),
            ("403 items loaded\nerror: no such file", None),
            ("read 401 lines of notes.md", None),
            ("unauthorizedly", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(denied_status(text), expected, "{text}");
        }
    }
}
