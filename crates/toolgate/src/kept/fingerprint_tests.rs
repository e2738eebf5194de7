//! What makes a server another one for the memory, and what does not.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::{FileMark, Fingerprint, Surroundings, fingerprint, look};
use crate::kept::sample::{address, program, server, stdio};
use crate::servers::{ConfigText, HttpConfig, LoginConfig, ServerConfig, ServerName, StdioConfig, TransportConfig};
use crate::settings::raw::{AuthProviderType, GrantKind};
use crate::settings::source::{SettingsOrigin, SettingsSource};

/// The fingerprint in a world where these files are, as (path, mark, whether it runs).
fn with_files(config: &ServerConfig, files: &[(&str, &str, bool)]) -> Fingerprint {
    let look = |path: &Path| {
        let found = files.iter().find(|(at, _, _)| Path::new(at) == path);
        found.map(|(_, mark, runs)| FileMark { mark: (*mark).to_owned(), runs: *runs })
    };
    let variables = BTreeMap::from([("PATH".to_owned(), "/bin:/usr/bin".to_owned())]);
    fingerprint(config, &Surroundings { workspace: Path::new("/w"), variables: &variables, look: &look })
}

/// The fingerprint where a variable of the host has that value.
fn with_token(config: &ServerConfig, value: &str) -> Fingerprint {
    let variables = BTreeMap::from([("TOKEN".to_owned(), value.to_owned()), ("OTHER".to_owned(), value.to_owned())]);
    fingerprint(config, &Surroundings { workspace: Path::new("/w"), variables: &variables, look: &|_| None })
}

#[test]
fn whoever_has_another_token_is_somebody_else() {
    let token = texts(&[("A", "Bearer ${env:TOKEN}")]);
    let http = |headers: &BTreeMap<String, ConfigText>| {
        let http = HttpConfig { headers: headers.clone(), ..address("https://a.example/mcp") };
        server(TransportConfig::Http(http))
    };
    let of = |program: StdioConfig| server(TransportConfig::Stdio(program));
    let servers = [
        (http(&token), true),
        (of(StdioConfig { env: token.clone(), ..program("x", &[]) }), true),
        (stdio("x", &["--token=${env:TOKEN}"]), true),
        (http(&texts(&[("A", "Bearer")])), false),
        (stdio("x", &["TOKEN"]), false),
    ];
    for (config, is_another) in servers {
        let (one, other) = (with_token(&config, "mine"), with_token(&config, "yours"));
        assert_eq!(one != other, is_another, "{:?}", config.transport);
        assert!(one == with_token(&config, "mine"));
    }
}

fn alone(config: &ServerConfig) -> Fingerprint {
    with_files(config, &[])
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, ConfigText> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), ConfigText::as_written(value))).collect()
}

fn all_differ(cases: &[(&str, Fingerprint)]) {
    for (at, (what, one)) in cases.iter().enumerate() {
        for (other, another) in &cases[..at] {
            assert!(one != another, "{what} is taken for {other}");
        }
    }
}

#[test]
fn everything_that_decides_what_a_program_offers_counts() {
    let of = |program: StdioConfig| server(TransportConfig::Stdio(program));
    let with = |pairs: &[(&str, &str)]| alone(&of(StdioConfig { env: texts(pairs), ..program("x", &["a"]) }));
    let elsewhere = Surroundings { workspace: Path::new("/v"), variables: &BTreeMap::new(), look: &|_| None };
    let base = stdio("x", &["a"]);
    let named = ServerConfig { name: ServerName::new("t").unwrap(), ..base.clone() };
    let mut brought = base.clone();
    brought.origin.source = SettingsSource::Workspace;
    let mut text = program("x", &[]);
    text.args.push(ConfigText::from("${env:A}"));
    all_differ(&[
        ("base", alone(&base)),
        ("another program", alone(&stdio("y", &["a"]))),
        ("another argument", alone(&stdio("x", &["b"]))),
        ("one more argument", alone(&stdio("x", &["a", "b"]))),
        ("a reference", alone(&stdio("x", &["${env:A}"]))),
        ("a text like a reference", alone(&of(text))),
        ("a variable", with(&[("A", "1")])),
        ("another value", with(&[("A", "2")])),
        ("another variable", with(&[("B", "1")])),
        ("a reference in a variable", with(&[("A", "${env:X}")])),
        ("another reference", with(&[("A", "${env:Y}")])),
        ("two variables", with(&[("A", "1"), ("B", "1")])),
        ("a folder", alone(&of(StdioConfig { cwd: Some("/c".into()), ..program("x", &["a"]) }))),
        ("another workspace", fingerprint(&base, &elsewhere)),
        ("another name", alone(&named)),
        ("brought by a folder", alone(&brought)),
        ("a built-in server", alone(&server(TransportConfig::BuiltIn("workspace".into())))),
    ]);
}

#[test]
fn everything_that_decides_what_an_address_offers_counts() {
    let url = "https://a.example/mcp";
    let of = |http: HttpConfig| alone(&server(TransportConfig::Http(http)));
    let header = |value: &str| of(HttpConfig { headers: texts(&[("X", value)]), ..address(url) });
    let login = |login: LoginConfig| of(HttpConfig { login: Some(Box::new(login)), ..address(url) });
    let words = || vec!["a".to_owned()];
    all_differ(&[
        ("base", of(address(url))),
        ("another address", of(address("https://b.example/mcp"))),
        ("the older transport", alone(&server(TransportConfig::Sse(address(url))))),
        ("a header", header("1")),
        ("another value", header("2")),
        ("a reference", header("${keychain:a}")),
        ("another reference", header("${keychain:b}")),
        ("a login", login(LoginConfig::default())),
        ("a grant", login(LoginConfig { grant: GrantKind::DeviceCode, ..LoginConfig::default() })),
        ("a provider", login(LoginConfig { provider: AuthProviderType::GoogleCredentials, ..LoginConfig::default() })),
        ("enabled", login(LoginConfig { enabled: Some(true), ..LoginConfig::default() })),
        ("disabled", login(LoginConfig { enabled: Some(false), ..LoginConfig::default() })),
        ("a client", login(LoginConfig { texts: texts(&[("clientId", "a")]), ..LoginConfig::default() })),
        ("another client", login(LoginConfig { texts: texts(&[("clientId", "b")]), ..LoginConfig::default() })),
        ("a scope", login(LoginConfig { scopes: words(), ..LoginConfig::default() })),
        ("an audience", login(LoginConfig { audiences: words(), ..LoginConfig::default() })),
        ("who it is for", login(LoginConfig { target_audience: Some("a".into()), ..LoginConfig::default() })),
        ("who is acted for", login(LoginConfig { target_service_account: Some("a".into()), ..LoginConfig::default() })),
        ("a command", login(LoginConfig { headers_helper: Some("a".into()), ..LoginConfig::default() })),
    ]);
}

#[test]
fn how_a_server_is_tuned_does_not_count() {
    let base = stdio("x", &["a"]);
    let mut tuned = base.clone();
    tuned.call_timeout = Duration::from_secs(9);
    tuned.connect_timeout = Duration::from_secs(9);
    tuned.max_concurrency = 9;
    tuned.trust = true;
    tuned.strict = Some(SettingsOrigin { source: SettingsSource::User, path: None, line: None });
    tuned.description = Some("d".to_owned());
    tuned.include_tools = Some(vec!["x".to_owned()]);
    tuned.exclude_tools = vec!["y".to_owned()];
    tuned.origin.line = Some(7);
    tuned.origin.path = Some("/elsewhere.json".into());
    assert!(alone(&tuned) == alone(&base));
    let url = "https://a.example/mcp";
    let [one, other] =
        [TransportConfig::Http(address(url)), TransportConfig::HttpOrSse(address(url))].map(|one| alone(&server(one)));
    assert!(one == other, "which of both transports is found out does not matter");
    assert_eq!(format!("{one:?}"), "Fingerprint(…)");
}

#[test]
fn the_files_a_program_is_made_of_count() {
    let cwd = |config: StdioConfig| server(TransportConfig::Stdio(StdioConfig { cwd: Some("/c".into()), ..config }));
    let path = |value: &str| {
        server(TransportConfig::Stdio(StdioConfig { env: texts(&[("PATH", value)]), ..program("node", &[]) }))
    };
    let script = stdio("node", &["server.js", "--port=7", "--config=conf.json"]);
    // A server, files, and whether the first of them counts: whether another mark of it is another server.
    type Case<'a> = (&'a str, ServerConfig, &'a [(&'a str, &'a str, bool)], bool);
    let cases: [Case<'_>; 18] = [
        ("a script", script.clone(), &[("/w/server.js", "1", false)], true),
        ("after an equals sign", script.clone(), &[("/w/conf.json", "1", false)], true),
        ("an argument that is no file", script.clone(), &[("/w/--port=7", "1", true)], true),
        ("the program", script.clone(), &[("/bin/node", "1", true)], true),
        ("one that cannot run", script.clone(), &[("/bin/node", "1", false)], false),
        ("the second place", script.clone(), &[("/usr/bin/node", "1", true)], true),
        ("hidden by the first", script.clone(), &[("/usr/bin/node", "1", true), ("/bin/node", "x", true)], false),
        ("not hidden", script.clone(), &[("/usr/bin/node", "1", true), ("/bin/node", "x", false)], true),
        ("another file", script, &[("/w/other.js", "1", false)], false),
        ("in its own folder", cwd(program("./run", &["a"])), &[("/c/./run", "1", false)], true),
        ("in another folder", cwd(program("./run", &["a"])), &[("/w/./run", "1", false)], false),
        ("a full path", stdio("/opt/run", &["/opt/a"]), &[("/opt/a", "1", true)], true),
        ("what it works on", stdio("x", &["--db", "/opt/a.db", "b"]), &[("/opt/a.db", "1", false)], false),
        ("an ending in capitals", stdio("x", &["/opt/A.PY"]), &[("/opt/A.PY", "1", false)], true),
        ("a reference", stdio("x", &["${file:/opt/a}"]), &[("/opt/a", "1", false)], false),
        ("a search path of its own", path("/own"), &[("/own/node", "1", true)], true),
        ("instead of ours", path("/own"), &[("/bin/node", "1", true)], false),
        ("one that is not known", path("${env:P}"), &[("/bin/node", "1", true)], false),
    ];
    for (what, config, files, counts) in cases {
        let (first, others) = files.split_first().unwrap();
        let mut changed = vec![(first.0, "2", first.2)];
        changed.extend(others);
        let (before, after) = (with_files(&config, files), with_files(&config, &changed));
        assert_eq!(before != after, counts, "{what}");
        assert_eq!(with_files(&config, others) != before, counts, "{what}, when it is not there");
    }
}

#[test]
fn the_mark_of_a_file_changes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.py");
    assert_eq!(look(&path), None);
    assert_eq!(look(folder.path()), None, "a folder is no file");
    std::fs::write(&path, "one").unwrap();
    let time = |seconds| {
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::new(seconds, 123);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    time(10);
    let first = look(&path).unwrap();
    assert_eq!(look(&path), Some(first.clone()));
    time(11);
    let touched = look(&path).unwrap();
    std::fs::write(&path, "three").unwrap();
    time(10);
    let longer = look(&path).unwrap();
    std::fs::write(folder.path().join("new"), "one").unwrap();
    std::fs::rename(folder.path().join("new"), &path).unwrap();
    time(10);
    let replaced = look(&path).unwrap();
    for other in [touched, longer, replaced] {
        assert_ne!(other, first);
    }
}
