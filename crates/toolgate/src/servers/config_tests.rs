//! Tests of names, and of what is shown of a server.

use std::collections::BTreeMap;

use super::{ConfigText, HttpConfig, ServerName, ServerNameError, StdioConfig, TransportConfig};
use crate::limits::SERVER_NAME_CHARS_MAX;
use crate::settings::expand::{Unset, expand};

#[test]
fn timeout_covers_connecting() {
    use super::StartLimit;
    use std::time::Duration;
    let seconds = Duration::from_secs;
    // `connectTimeout`, `timeout`, the limit, and the limit of a busy program.
    let cases = [
        (None, None, 30, Some(600)),
        (None, Some(120), 120, None),
        (None, Some(5), 30, None),
        (Some(10), None, 10, None),
        (Some(10), Some(120), 10, None),
        (Some(300), Some(120), 300, None),
    ];
    for (connect, timeout, limit, while_busy) in cases {
        let found = StartLimit::of(connect.map(seconds), timeout.map(seconds));
        let expected = StartLimit { limit: seconds(limit), while_busy: while_busy.map(seconds) };
        assert_eq!(found, expected, "{connect:?} {timeout:?}");
    }
}

#[test]
fn names_are_free_but_for_what_cannot_be_shown() {
    let longest = "漢".repeat(SERVER_NAME_CHARS_MAX);
    for name in ["a", "mcp", "_", "__", "my server", "文件", "a.b/c", "ext:x", " padded ", "🦀", longest.as_str()] {
        assert_eq!(ServerName::new(name).unwrap().as_str(), name);
    }
    let too_long = format!("{longest}x");
    let cases = [
        ("", ServerNameError::Blank, "a server needs a name"),
        (" \u{a0}", ServerNameError::Blank, "a server needs a name"),
        ("a\nb", ServerNameError::ControlCharacter, "the name of a server has no control characters"),
        ("\u{1b}[2J", ServerNameError::ControlCharacter, "the name of a server has no control characters"),
        ("a\u{9b}", ServerNameError::ControlCharacter, "the name of a server has no control characters"),
        (too_long.as_str(), ServerNameError::TooLong, "the name of a server has at most 256 characters"),
    ];
    for (name, error, text) in cases {
        assert_eq!(ServerName::new(name), Err(error), "{name:?}");
        assert_eq!(error.to_string(), text);
    }
}

fn text(written: &str) -> ConfigText {
    ConfigText::new(expand(written, &BTreeMap::new(), Unset::Keep, 1000).unwrap().parts)
}

fn stdio(command: &str, args: &[&str]) -> TransportConfig {
    let env = [("TOKEN".to_owned(), "sesame".into())].into();
    let args = args.iter().map(|arg| text(arg)).collect();
    TransportConfig::Stdio(StdioConfig {
        command: command.to_owned(),
        args,
        env,
        inherit_env: Vec::new(),
        cwd: Some("/w".into()),
    })
}

fn http(url: &str) -> HttpConfig {
    let headers = [("Authorization".to_owned(), "Bearer sesame".into())].into();
    HttpConfig { url: text(url), headers, login: None }
}

fn check(transport: &TransportConfig, kind: &str, target: &str) {
    assert_eq!((transport.kind(), transport.target().as_str()), (kind, target));
    let printed = format!("{transport:?}");
    assert!(!printed.contains("sesame"), "{printed}");
}

#[test]
fn targets_say_what_is_reached() {
    let token = format!("ghp_{}sesame", "a".repeat(36));
    let cases = [
        (stdio("npx", &["-y", "x"]), "stdio", "npx -y x"),
        (stdio("sh", &["-c", "echo hi", ""]), "stdio", "sh -c 'echo hi' ''"),
        (stdio("s", &["--api-key", "sesame", "--port", "1"]), "stdio", "s --api-key **** --port 1"),
        (
            stdio("s", &["--api-key=sesame", "TOKEN=sesame", "TOKEN="]),
            "stdio",
            "s --api-key=**** TOKEN=**** TOKEN=****",
        ),
        (stdio("s", &["--header", "Authorization: Bearer sesame"]), "stdio", "s --header 'Authorization: ****'"),
        (stdio("s", &["--token", "--verbose"]), "stdio", "s --token --verbose"),
        (stdio("s", &[&token, "postgres://ada:sesame@db/x"]), "stdio", "s **** ****"),
        (stdio("s", &["https://x.example/mcp?key=sesame"]), "stdio", "s 'https://x.example/mcp?key=****'"),
        (TransportConfig::Http(http("https://a.example/mcp")), "http", "https://a.example/mcp"),
        (TransportConfig::HttpOrSse(http("http://ada:sesame@h:8/m?k=sesame")), "http", "http://h:8/m?…"),
        (TransportConfig::Sse(http("https://a.example")), "sse", "https://a.example/"),
        (TransportConfig::Sse(http("no url sesame")), "sse", "(not a URL)"),
        (TransportConfig::BuiltIn("workspace".into()), "builtin", "workspace"),
    ];
    for (transport, kind, target) in cases {
        check(&transport, kind, target);
    }
}

#[test]
fn references_are_shown_as_they_are_written() {
    let token = format!("ghp_{}sesame", "a".repeat(36));
    let commands: &[(&[&str], &str)] = &[
        (&["${keychain:github}"], "'${keychain:github}'"),
        (&["--token", "${env:A}"], "--token '${env:A}'"),
        (&["--token", "sesame${env:A}sesame"], "--token '****${env:A}****'"),
        (&["--token=${env:A}", "x"], "'--token=${env:A}' x"),
        (&["--token=sesame${env:A}"], "'--token=****${env:A}'"),
        (&["Authorization: Bearer ${cmd:pass show x}"], "'Authorization: ****${cmd:pass show x}'"),
        (&["--to=${file:~/x}/y"], "'--to=${file:~/x}/y'"),
        (&["${env:A}", &token], "'${env:A}' ****"),
        (&[&format!("{token} ${{env:A}}")], "'****${env:A}'"),
        (&["postgres://ada:${keychain:pw}@db/x"], "'postgres://ada:${keychain:pw}@db/x'"),
    ];
    for (args, expected) in commands {
        check(&stdio("s", args), "stdio", &format!("s {expected}"));
    }
    let urls = [
        ("https://h/${keychain:x}/mcp", "https://h/${keychain:x}/mcp"),
        ("https://${env:HOST}:${env:PORT}/mcp", "https://${env:HOST}:${env:PORT}/mcp"),
        ("https://h/mcp?key=${keychain:x}&more=sesame", "https://h/mcp?…"),
        ("https://ada:${keychain:x}@h/mcp/${env:A}", "https://h/mcp/${env:A}"),
        ("https://ada:sesame@${env:HOST}/", "https://${env:HOST}/"),
        ("https://ada:sesame${env:REST}", "https://ada:…"),
        ("https://[::1]:80/${env:A}", "https://[::1]:80/${env:A}"),
        ("${file:~/url}", "${file:~/url}"),
        ("${env:BASE}/mcp?k=sesame", "${env:BASE}/mcp?…"),
        ("${env:BASE}/mcp#sesame", "${env:BASE}/mcp?…"),
        ("https://münchen.example/${env:A}", "(not a URL)"),
    ];
    for (url, expected) in urls {
        check(&TransportConfig::Http(http(url)), "http", expected);
    }
}
