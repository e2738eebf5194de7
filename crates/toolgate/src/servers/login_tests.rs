//! What entries say about logging in: every key, what may stand where, what is missing, and every message in full.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::{ADDRESSES, LoginConfig, SECRETS};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::servers::{ServerSet, Switches, resolve};
use crate::settings::diagnostic::Severity;
use crate::settings::raw::{AuthProviderType, GrantKind};
use crate::settings::read::read_text;
use crate::settings::{Diagnostic, SettingsSource};

/// The other keys of `oauth` that hold a text.
const PLAIN: [&str; 4] = ["clientId", "signingAlgorithm", "tokenEndpointAuthMethod", "idpClientId"];

fn resolve_in(source: SettingsSource, keys: &str) -> ServerSet {
    let vars = BTreeMap::from([("SET".to_owned(), "x".to_owned())]);
    let dirs = HostDirs { user: "/u".into(), system: "/s".into(), home: Some("/home/ada".into()) };
    let env = HostEnv { vars, dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) };
    let text = format!(r#"{{"mcpServers": {{"x": {{"url": "https://h/", {keys}}}}}}}"#);
    resolve(&[read_text(&text, Path::new("/s.json"), source).unwrap()], &Switches::default(), &env)
}

fn of_user(keys: &str) -> ServerSet {
    resolve_in(SettingsSource::User, keys)
}

fn login(keys: &str) -> LoginConfig {
    let set = of_user(keys);
    assert!(errors(&set).is_empty(), "{keys}: {:?}", set.diagnostics);
    set.active[0].login().cloned().unwrap_or_default()
}

fn errors(set: &ServerSet) -> Vec<&Diagnostic> {
    set.diagnostics.iter().filter(|one| one.severity == Severity::Error).collect()
}

/// The one problem, with its hint and without its place.
fn problem(set: &ServerSet) -> String {
    assert!(set.active.is_empty(), "{set:?}");
    let [one] = errors(set)[..] else { panic!("{:?}", set.diagnostics) };
    let text = one.to_string();
    let (_, text) = text.split_once(" mcpServers.x.").unwrap();
    format!("{text} ({})", one.hint.as_deref().unwrap_or_default())
}

#[test]
fn an_entry_that_says_nothing_has_no_login() {
    for keys in [r#""type": "http""#, r#""oauth": {}"#, r#""oauth": {"clientId": " "}"#, r#""headersHelper": "  ""#] {
        assert_eq!(of_user(keys).active[0].login(), None, "{keys}");
    }
}

#[test]
fn every_text_is_kept_under_its_key() {
    let texts = SECRETS.iter().chain(&PLAIN).map(|key| (*key, format!(" {key} of $SET ")));
    let addresses = ADDRESSES.iter().map(|key| (*key, format!(" https://a.example/{key} ")));
    let written: BTreeMap<&str, String> = texts.chain(addresses).collect();
    let login = login(&format!("\"oauth\": {}", json!(written)));
    assert_eq!(login.texts.len(), written.len());
    for (key, text) in written {
        let found = login.texts[key].with_stand_ins("!");
        let expected = text.replace("$SET", "x");
        // A key is a text of lines, and stays as it is written.
        let expected = if key == "privateKey" { expected.as_str() } else { expected.trim() };
        assert_eq!(found, expected, "{key}");
    }
}

#[test]
fn words_and_lists() {
    let cases = [
        (r#""a b""#, vec!["a", "b"]),
        (r#"["a", "b"]"#, vec!["a", "b"]),
        (r#"["a b", "$SET"]"#, vec!["a", "b", "x"]),
        (r#""""#, vec![]),
        ("[]", vec![]),
    ];
    for (written, expected) in cases {
        let found = login(&format!(r#""oauth": {{"scopes": {written}, "audiences": {written}}}"#));
        assert_eq!(found.scopes, expected, "{written}");
        assert_eq!(found.audiences, expected, "{written}");
    }
}

#[test]
fn kinds_of_logins() {
    let grants = [
        (r#""authorization_code""#, GrantKind::AuthorizationCode),
        (r#""device_code""#, GrantKind::DeviceCode),
        (r#""client_credentials", "clientId": "a", "clientSecret": "b""#, GrantKind::ClientCredentials),
        (r#""client_credentials", "clientId": "a", "privateKey": "b""#, GrantKind::ClientCredentials),
        (r#""workload_identity", "clientId": "a", "assertion": "b""#, GrantKind::WorkloadIdentity),
        (
            r#""enterprise", "clientId": "a", "assertion": "b", "idpTokenUrl": "https://idp.example/""#,
            GrantKind::Enterprise,
        ),
    ];
    for (written, expected) in grants {
        assert_eq!(login(&format!(r#""oauth": {{"grantType": {written}}}"#)).grant, expected, "{written}");
    }
    for (written, expected) in [("true", Some(true)), ("false", Some(false))] {
        assert_eq!(login(&format!(r#""oauth": {{"enabled": {written}}}"#)).enabled, expected);
    }
    let acting = login(
        r#""authProviderType": "service_account_impersonation", "targetAudience": "a", "targetServiceAccount": "s""#,
    );
    assert_eq!(acting.provider, AuthProviderType::ServiceAccountImpersonation);
    assert_eq!((acting.target_audience.as_deref(), acting.target_service_account.as_deref()), (Some("a"), Some("s")));
    let google = login(r#""authProviderType": "google_credentials", "oauth": {"scopes": "a"}"#);
    assert_eq!(google.provider, AuthProviderType::GoogleCredentials);
    assert_eq!(login(r#""headersHelper": "print $HEADERS""#).headers_helper.as_deref(), Some("print $HEADERS"));
}

#[test]
fn only_secrets_refer_to_secrets() {
    for key in SECRETS {
        for reference in ["${env:SET}", "${file:~/x}", "${keychain:x}", "${cmd:x}"] {
            let found = login(&format!(r#""oauth": {{"{key}": "{reference}"}}"#));
            let references: Vec<String> = found.texts[key].references().map(ToString::to_string).collect();
            assert_eq!(references, [reference], "{key}");
        }
    }
    let hint = "references stand in `args`, `url`, the values of `env` and `headers`, and secrets of `oauth`";
    for key in ADDRESSES.iter().chain(&PLAIN).chain(&["scopes", "audiences"]) {
        let set = of_user(&format!(r#""oauth": {{"{key}": "https://h/${{env:SET}}"}}"#));
        let expected = format!("oauth.{key}: a reference to a secret cannot stand here ({hint})");
        assert_eq!(problem(&set), expected);
    }
}

#[test]
fn what_others_wrote_reaches_no_secret_and_runs_nothing() {
    for (source, of) in [(SettingsSource::Workspace, "a workspace folder"), (SettingsSource::Extension, "an extension")]
    {
        for key in SECRETS {
            let set = resolve_in(source, &format!(r#""oauth": {{"{key}": "${{keychain:x}}"}}"#));
            let found = problem(&set);
            let expected = format!("oauth.{key}: `${{keychain:…}}` cannot stand in the settings of {of}");
            assert!(found.starts_with(&expected), "{found}");
        }
        let set = resolve_in(source, r#""headersHelper": "touch pwned""#);
        let expected = "headersHelper: only your own settings and those of the administrator can name a command here \
                        (write it in your own settings)";
        assert_eq!(problem(&set), expected);
    }
    for source in [SettingsSource::User, SettingsSource::SystemDefaults, SettingsSource::SystemOverrides] {
        let set = resolve_in(source, r#""headersHelper": "print-headers""#);
        assert_eq!(set.active[0].login().unwrap().headers_helper.as_deref(), Some("print-headers"));
    }
}

#[test]
fn addresses_are_addresses() {
    let start = "it must start with `https://` or `http://`";
    for key in ADDRESSES {
        for (written, why, hint) in [
            ("as.example/token", "not a URL", start),
            ("ftp://as.example/", "`ftp` addresses cannot be used", start),
            ("https:///x", "not a URL", "an address looks like https://host/path"),
        ] {
            let set = of_user(&format!(r#""oauth": {{"{key}": "{written}"}}"#));
            assert_eq!(problem(&set), format!("oauth.{key}: {why} ({hint})"), "{written}");
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let impersonation = r#""authProviderType": "service_account_impersonation""#;
    let cases = [
        (r#""oauth": {"grantType": "client_credentials"}"#, "oauth: this `grantType` needs `clientId` (add it)"),
        (
            r#""oauth": {"grantType": "client_credentials", "clientId": "a"}"#,
            "oauth: this `grantType` needs `clientSecret` or `privateKey` (add one of them)",
        ),
        (r#""oauth": {"grantType": "workload_identity"}"#, "oauth: this `grantType` needs `clientId` (add it)"),
        (
            r#""oauth": {"grantType": "workload_identity", "clientId": "a"}"#,
            "oauth: this `grantType` needs `assertion` (add it)",
        ),
        (r#""oauth": {"grantType": "enterprise"}"#, "oauth: this `grantType` needs `clientId` (add it)"),
        (
            r#""oauth": {"grantType": "enterprise", "clientId": "a"}"#,
            "oauth: this `grantType` needs `assertion` (add it)",
        ),
        (
            r#""oauth": {"grantType": "enterprise", "clientId": "a", "assertion": "b"}"#,
            "oauth: this `grantType` needs `idpTokenUrl` (add it)",
        ),
        (
            r#""authProviderType": "google_credentials""#,
            "authProviderType: these credentials need `oauth.scopes` (add it)",
        ),
        (impersonation, "authProviderType: these credentials need `targetAudience` (add it)"),
        (
            &format!(r#"{impersonation}, "targetAudience": "a""#),
            "authProviderType: these credentials need `targetServiceAccount` (add it)",
        ),
    ];
    for (keys, expected) in cases {
        assert_eq!(problem(&of_user(keys)), expected, "{keys}");
    }
}
