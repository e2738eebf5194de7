//! Detects in the output of a stdio server that another service refused its credentials, usually because a variable is missing.

use crate::error::Error;
use crate::servers::{ServerConfig, TransportConfig};

/// HTTP statuses that refuse credentials, and the words that programs print for them.
const SIGNS: [(&str, &str); 4] =
    [("401", "HTTP 401"), ("unauthorized", "HTTP 401"), ("403", "HTTP 403"), ("forbidden", "HTTP 403")];

/// Words that tell a status from any other number, on the same line.
const ABOUT_A_STATUS: [&str; 20] = [
    "http",
    "https",
    "status",
    "statuscode",
    "code",
    "error",
    "err",
    "failed",
    "failure",
    "denied",
    "refused",
    "rejected",
    "response",
    "responded",
    "returned",
    "auth",
    "authentication",
    "authorization",
    "credentials",
    "token",
];

/// The status in a text, if it reports refused credentials.
#[must_use]
pub fn denied_status(text: &str) -> Option<&'static str> {
    text.lines().find_map(status_of_line)
}

fn status_of_line(line: &str) -> Option<&'static str> {
    let lower = line.to_lowercase();
    let words: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_status = words.len() == 1 || words.iter().any(|word| ABOUT_A_STATUS.contains(word));
    let is_number = |sign: &str| sign.bytes().all(|byte| byte.is_ascii_digit());
    let found = SIGNS.iter().find(|(sign, _)| words.contains(sign) && (is_status || !is_number(sign)));
    found.map(|(_, status)| *status)
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
