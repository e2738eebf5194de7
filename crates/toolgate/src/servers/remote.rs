//! Whether an address and headers can be used for HTTP. What is said about them never repeats them: they may hold secrets.

use http::{HeaderName, HeaderValue, Uri};

use crate::servers::text::ConfigText;
use crate::settings::Part;

/// Headers that belong to HTTP itself; sending them by hand would break the framing of requests.
const HEADERS_OF_HTTP: [&str; 7] =
    ["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/// What is wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: &'static str,
}

impl Refusal {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }
}

/// What stands for a reference while an address is checked: it can be a host, a port, or a part of a path.
const URL_STAND_IN: &str = "1";

/// Checks an address as far as it is known: what its references stand for is seen when it is used.
pub(crate) fn check_written_url(url: &ConfigText) -> Result<(), Refusal> {
    match url.parts() {
        [Part::Secret(_), ..] => {
            let sample = format!("http://{}", url.with_stand_ins(URL_STAND_IN));
            let is_usable = sample.is_ascii() && sample.parse::<Uri>().is_ok();
            if is_usable { Ok(()) } else { Err(Refusal::new("not a URL", "an address looks like https://host/path")) }
        }
        _ => check_url(&url.with_stand_ins(URL_STAND_IN)),
    }
}

/// Checks that an address is one for HTTP.
///
/// # Errors
/// When it is none.
pub fn check_url(url: &str) -> Result<(), Refusal> {
    const HINT: &str = "an address looks like https://host/path";
    if let Some((scheme, _)) = url.split_once("://")
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
    {
        let is_plain = !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
        let message = if is_plain { format!("`{scheme}` addresses cannot be used") } else { "not a URL".to_owned() };
        return Err(Refusal::new(message, "it must start with `https://` or `http://`"));
    }
    if !url.contains("://") {
        return Err(Refusal::new("not a URL", "it must start with `https://` or `http://`"));
    }
    if !url.is_ascii() {
        return Err(Refusal::new(
            "not a URL: it has characters outside ASCII",
            "write them percent-encoded, and a host as punycode",
        ));
    }
    let uri: Uri = url.parse().map_err(|_| Refusal::new("not a URL", HINT))?;
    let authority = uri.authority().ok_or_else(|| Refusal::new("the URL names no host", HINT))?;
    if authority.host().is_empty() {
        return Err(Refusal::new("the URL names no host", HINT));
    }
    let after_host = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
    let has_port = after_host.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
    if has_port && authority.port_u16().is_none() {
        return Err(Refusal::new("the port of the URL is no number up to 65535", HINT));
    }
    Ok(())
}

/// What to do with a header.
#[derive(Debug, PartialEq, Eq)]
pub enum HeaderCheck {
    /// It can be sent.
    Send,
    /// It is HTTP's own, so it is left out.
    LeaveOut,
    /// It cannot be sent.
    Refuse(Refusal),
}

/// Checks a header as far as it is known.
pub(crate) fn check_written_header(name: &str, value: &ConfigText) -> HeaderCheck {
    check_header(name, &value.with_stand_ins("x"))
}

/// Checks that a header can be sent.
#[must_use]
pub fn check_header(name: &str, value: &str) -> HeaderCheck {
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        let hint = "names of headers have letters, digits and `-`";
        return HeaderCheck::Refuse(Refusal::new("not the name of a header", hint));
    }
    if HEADERS_OF_HTTP.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return HeaderCheck::LeaveOut;
    }
    if HeaderValue::from_bytes(value.as_bytes()).is_err() {
        let hint = "a header is one line without control characters";
        return HeaderCheck::Refuse(Refusal::new("the value cannot be sent as a header", hint));
    }
    HeaderCheck::Send
}

#[cfg(test)]
mod tests {
    use super::{HeaderCheck, check_header, check_url};

    #[test]
    fn addresses_for_http_are_told_from_others() {
        let good = [
            "http://localhost",
            "https://a.example:8443/mcp?x=1",
            "HTTPS://A.example/",
            "http://127.0.0.1:1/",
            "http://[::1]:8080/mcp",
            "http://[::1]/mcp",
            "https://ada:sesame@a.example/mcp",
        ];
        for url in good {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
        let start = "it must start with `https://` or `http://`";
        let looks = "an address looks like https://host/path";
        let bad = [
            ("", "not a URL", start),
            ("sesame", "not a URL", start),
            ("localhost:3000/mcp", "not a URL", start),
            ("/mcp", "not a URL", start),
            ("$URL/mcp", "not a URL", start),
            ("ftp://sesame", "`ftp` addresses cannot be used", start),
            ("ws://sesame", "`ws` addresses cannot be used", start),
            ("se same://x", "not a URL", start),
            ("http://", "not a URL", looks),
            ("http:///mcp", "not a URL", looks),
            ("http://ho st/sesame", "not a URL", looks),
            ("http://:80/", "the URL names no host", looks),
            ("http://host:99999/", "the port of the URL is no number up to 65535", looks),
            ("http://host:/", "the port of the URL is no number up to 65535", looks),
            ("http://[::1", "not a URL", looks),
            (
                "https://münchen.example/",
                "not a URL: it has characters outside ASCII",
                "write them percent-encoded, and a host as punycode",
            ),
        ];
        for (url, message, hint) in bad {
            let refusal = check_url(url).expect_err(url);
            assert_eq!((refusal.message.as_str(), refusal.hint), (message, hint), "{url}");
        }
    }

    #[test]
    fn headers_that_cannot_be_sent_are_refused() {
        let checks = |name, value| match check_header(name, value) {
            HeaderCheck::Send => "send".to_owned(),
            HeaderCheck::LeaveOut => "leave out".to_owned(),
            HeaderCheck::Refuse(refusal) => refusal.message,
        };
        let cases = [
            ("Authorization", "Bearer x", "send"),
            ("x-name", "Jörg", "send"),
            ("x-empty", "", "send"),
            ("Content-Length", "1", "leave out"),
            ("transfer-encoding", "chunked", "leave out"),
            ("bad name", "x", "not the name of a header"),
            ("", "x", "not the name of a header"),
            ("naïve", "x", "not the name of a header"),
            ("x-y", "a\r\nx-z: b", "the value cannot be sent as a header"),
            ("x-y", "a\0", "the value cannot be sent as a header"),
        ];
        for (name, value, expected) in cases {
            assert_eq!(checks(name, value), expected, "{name}: {value:?}");
        }
    }
}
