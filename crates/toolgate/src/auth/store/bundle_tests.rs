//! Tests of bundles: out of one machine and into another, and every way in which they cannot be opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use age::secrecy::ExposeSecret as _;
use tempfile::TempDir;

use super::{BundleKey, BundleLock};
use crate::auth::login::Login;
use crate::auth::login::samples::{client, login};
use crate::auth::store::{LoginKey, LoginStore, TokenStore};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::LOGIN_BUNDLE_BYTES_MAX;
use crate::secret::Secret;
use crate::server_name::ServerName;

fn machine() -> (TempDir, LoginStore) {
    let folder = tempfile::tempdir().unwrap();
    let dirs = HostDirs { user: folder.path().join("home"), system: "/none".into(), home: None };
    let (workspace, clock) = (folder.path().to_owned(), Arc::new(SystemClock));
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: workspace.into(), clock };
    (folder, LoginStore::open(Arc::new(env), TokenStore::Auto))
}

fn name(server: &str) -> ServerName {
    ServerName::new(server).unwrap()
}

fn key(server: &str) -> LoginKey {
    LoginKey::new(&name(server), &format!("https://{server}.example/mcp?x=1").parse().unwrap())
}

fn renewable() -> Login {
    Login { refresh_token: Some(Secret::new("refresh-sesame")), ..login("access-sesame") }
}

#[test]
fn logins_travel_to_another_machine() {
    let identity = age::x25519::Identity::generate();
    let lines = format!("# created: today\n{}\n", identity.to_string().expose_secret());
    let cases = [
        (BundleLock::Passphrase(Secret::new("open it")), BundleKey::Passphrase(Secret::new("open it"))),
        (BundleLock::Recipient(format!(" {}\n", identity.to_public())), BundleKey::Identity(Secret::new(lines))),
    ];
    let (_here, from) = machine();
    for server in ["a", "b", "c"] {
        from.put(&key(server), renewable()).unwrap();
    }
    from.put_client(&client()).unwrap();
    for (lock, open) in cases {
        let bundle = from.export(&[name("a"), name("c")], &lock).unwrap();
        assert!(bundle.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") && !bundle.contains("sesame"), "{bundle}");
        let (_there, to) = machine();
        to.put(&key("a"), login("old")).unwrap();
        assert_eq!(to.import(&bundle, &open).unwrap(), [key("a"), key("c")]);
        assert_eq!(to.get(&key("a")).unwrap(), Some(Login { generation: 2, ..renewable() }));
        assert_eq!(to.get(&key("c")).unwrap(), Some(Login { generation: 1, ..renewable() }));
        assert_eq!(to.get(&key("b")).unwrap(), None);
        assert_eq!(to.client("https://as.example", None).unwrap(), Some(client()));
    }
    let all = from.export(&[], &BundleLock::Passphrase(Secret::new("x"))).unwrap();
    let (_there, to) = machine();
    assert_eq!(to.import(&all, &BundleKey::Passphrase(Secret::new("x"))).unwrap().len(), 3);
}

#[test]
fn what_cannot_be_exported_is_told() {
    let passphrase = BundleLock::Passphrase(Secret::new("x"));
    let (_here, store) = machine();
    let said = |servers: &[ServerName], lock: &BundleLock| store.export(servers, lock).unwrap_err().to_string();
    assert_eq!(said(&[], &passphrase), "there are no logins to export");
    store.put(&key("a"), login("one")).unwrap();
    assert_eq!(said(&[name("a"), name("b")], &passphrase), "there is no login to `b` to export");
    let empty = BundleLock::Passphrase(Secret::new(""));
    assert_eq!(said(&[], &empty), "logins cannot be exported: the passphrase is empty");
    let nobody = BundleLock::Recipient("age1nobody".to_owned());
    assert_eq!(said(&[], &nobody), "logins cannot be exported: `age1nobody` is no recipient of age");
}

#[test]
fn what_cannot_be_imported_is_told_and_changes_nothing() {
    let right = Secret::new("right");
    let locked = |text: &str| crate::auth::passphrase::lock(text, &right).unwrap();
    let identity = age::x25519::Identity::generate();
    let for_identity = age::encrypt_and_armor(&identity.to_public(), b"{}").unwrap();
    let by_passphrase = |text: &str| BundleKey::Passphrase(Secret::new(text));
    let by_identity = BundleKey::Identity(Secret::new(identity.to_string().expose_secret()));
    let other = age::x25519::Identity::generate();
    let by_other = BundleKey::Identity(Secret::new(other.to_string().expose_secret()));
    let good = locked(r#"{"version": 1, "logins": [], "clients": []}"#);
    let bad_login = locked(r#"{"version": 1, "logins": [{"server": "a", "address": "x", "login": 7}], "clients": []}"#);
    let cases = [
        (good.clone(), by_passphrase("wrong"), "the passphrase is not the one it was locked with"),
        (good.clone(), by_identity.clone(), "it was locked with a passphrase"),
        (for_identity.clone(), by_passphrase("right"), "it was locked for a recipient"),
        (for_identity.clone(), by_other, "it was locked for others than this identity"),
        (for_identity, by_identity, "it holds no logins"),
        (
            good.clone(),
            BundleKey::Identity(Secret::new("# only words")),
            "what was given to open it is no identity of age",
        ),
        (good.replace('\n', " "), by_passphrase("right"), "it is no bundle, or not as it was"),
        ("{}".to_owned(), by_passphrase("right"), "it is no bundle, or not as it was"),
        (locked("[]"), by_passphrase("right"), "it holds no logins"),
        (locked(r#"{"version": 2}"#), by_passphrase("right"), "it has version 2, where only 1 is known"),
        (bad_login, by_passphrase("right"), "a login in it cannot be understood"),
        (
            "x".repeat(LOGIN_BUNDLE_BYTES_MAX + 1),
            by_passphrase("right"),
            "larger than 4194304 bytes, the most it may have",
        ),
    ];
    let (_here, store) = machine();
    for (bundle, key, expected) in cases {
        let error = store.import(&bundle, &key).unwrap_err();
        assert_eq!(error.to_string(), format!("the bundle of logins cannot be imported: {expected}"));
        assert!(!store.path().exists());
    }
}
