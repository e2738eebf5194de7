//! Tests of kept logins: real files in folders of their own, every way to seal them, and every way in which they can be broken.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LoginKey, LoginStore, Replaced, SealedWith, TokenStore};
use crate::auth::login::samples::{client, login};
use crate::auth::login::{Login, TokenType};
use crate::env::{Clock, HostDirs, HostEnv};
use crate::error::ErrorKind;
use crate::secret::Secret;
use crate::server_name::ServerName;

#[derive(Debug)]
struct At(u64);

impl Clock for At {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0)
    }
}

struct Room {
    folder: TempDir,
    vars: BTreeMap<String, String>,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), vars: BTreeMap::new() }
    }

    fn with_passphrase(mut self, passphrase: &str) -> Self {
        self.vars.insert("TOOLGATE_PASSPHRASE".to_owned(), passphrase.to_owned());
        self
    }

    /// As another process would open it.
    fn open(&self, choice: TokenStore) -> LoginStore {
        let dirs = HostDirs { user: self.folder.path().join("home"), system: "/none".into(), home: None };
        let workspace = self.folder.path().to_owned();
        let clock = Arc::new(At(2_000));
        LoginStore::open(
            Arc::new(HostEnv { vars: self.vars.clone(), dirs, workspace: workspace.into(), clock }),
            choice,
        )
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("home/mcp-oauth-tokens.json")
    }

    fn key_file(&self) -> std::path::PathBuf {
        self.folder.path().join("home/mcp-oauth-tokens.key")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// What an error says, without where the folder is, and its hint.
    fn said(&self, error: &crate::Error) -> (String, String) {
        let folder = self.folder.path().display().to_string();
        assert_eq!(error.kind(), ErrorKind::State);
        (error.to_string().replace(&folder, "[F]"), error.hint().unwrap_or_default().replace(&folder, "[F]"))
    }
}

fn key(server: &str) -> LoginKey {
    LoginKey::new(&ServerName::new(server).unwrap(), &format!("https://{server}.example/mcp").parse().unwrap())
}

/// A login in which everything is set, and everything secret can be searched for.
fn full() -> Login {
    Login {
        token_type: TokenType::Dpop,
        refresh_token: Some(Secret::new("refresh-sesame")),
        expires_at: Some(UNIX_EPOCH + Duration::from_millis(1_234_567)),
        proof_key: Some(Secret::new("proof-sesame")),
        ..login("access-sesame")
    }
}

#[test]
fn what_is_put_is_found_by_other_processes_and_nothing_of_it_is_in_the_file() {
    let cases = [
        (TokenStore::Auto, "", SealedWith::File),
        (TokenStore::Auto, "open it", SealedWith::Passphrase),
        (TokenStore::File, "open it", SealedWith::File),
        (TokenStore::Passphrase, "open it", SealedWith::Passphrase),
        (TokenStore::Plain, "", SealedWith::Nothing),
    ];
    for (choice, passphrase, expected) in cases {
        let room = Room::new().with_passphrase(passphrase);
        let store = room.open(choice);
        assert_eq!(store.get(&key("a")).unwrap(), None);
        assert_eq!((store.sealed_with().unwrap(), store.list().unwrap().len()), (None, 0));
        assert!(!room.folder.path().join("home").exists(), "looking makes nothing");
        let kept = store.put(&key("a"), full()).unwrap();
        assert_eq!(kept, Login { generation: 1, ..full() });
        store.put_client(&client()).unwrap();
        let other = room.open(TokenStore::Auto);
        assert_eq!(other.get(&key("a")).unwrap(), Some(kept), "{choice:?}");
        assert_eq!(other.client("https://as.example", None).unwrap(), Some(client()));
        assert_eq!(other.sealed_with().unwrap(), Some(expected));
        assert_eq!(room.json()["sealedWith"], expected.as_str());
        let texts = fs::read_dir(room.folder.path().join("home")).unwrap();
        let texts: String = texts.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let is_readable = expected == SealedWith::Nothing;
        for secret in ["access-sesame", "refresh-sesame", "proof-sesame", "client-sesame", "open it"] {
            assert_eq!(texts.contains(secret), is_readable && secret != "open it", "{choice:?}: {secret}");
        }
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    room.open(TokenStore::Auto).put(&key("a"), full()).unwrap();
    for path in [room.file(), room.key_file()] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(fs::metadata(room.folder.path().join("home")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_login_is_found_only_for_its_address_and_taken_away_alone() {
    let room = Room::new();
    let store = room.open(TokenStore::Auto);
    let server = ServerName::new("a").unwrap();
    let elsewhere = LoginKey::new(&server, &"https://evil.example/mcp".parse().unwrap());
    store.put(&key("a"), login("one")).unwrap();
    store.put(&key("b"), login("two")).unwrap();
    assert_eq!(store.get(&elsewhere).unwrap(), None);
    assert!(!store.remove(&elsewhere).unwrap());
    store.put(&elsewhere, full()).unwrap();
    let kept = store.list().unwrap();
    let shown: Vec<_> = kept.iter().map(|one| (one.server.as_str(), one.url.as_str(), one.can_renew)).collect();
    let expected = [
        ("a", "https://a.example/mcp", false),
        ("a", "https://evil.example/mcp", true),
        ("b", "https://b.example/mcp", false),
    ];
    assert_eq!(shown, expected);
    assert_eq!((kept[1].expires_at, kept[1].scopes.join(" ")), (full().expires_at, "read".to_owned()));
    assert_eq!(store.remove_server(&server).unwrap(), 2);
    assert!(store.remove(&key("b")).unwrap() && !store.remove(&key("b")).unwrap());
    assert_eq!(store.list().unwrap().len(), 0);
    store.put(&key("b"), full()).unwrap();
    store.put_client(&client()).unwrap();
    assert_eq!((store.remove_all().unwrap(), store.remove_all().unwrap()), (1, 0));
    assert_eq!(store.client("https://as.example", None).unwrap(), None);
}

#[test]
fn every_put_is_a_later_generation_and_replacing_wants_what_is_there() {
    let room = Room::new();
    let store = room.open(TokenStore::Auto);
    let first = store.put(&key("a"), login("one")).unwrap();
    let second = store.put(&key("a"), login("two")).unwrap();
    assert_eq!((first.generation, second.generation), (1, 2));
    let late = store.replace(&key("a"), Some(&first), login("three")).unwrap();
    assert_eq!(late, Replaced::Other(second.clone()), "somebody logged in meanwhile");
    let third = Login { generation: 3, ..login("three") };
    assert_eq!(store.replace(&key("a"), Some(&second), login("three")).unwrap(), Replaced::Kept(third.clone()));
    assert_eq!(store.replace(&key("a"), None, login("four")).unwrap(), Replaced::Other(third.clone()));
    store.remove(&key("a")).unwrap();
    assert_eq!(store.replace(&key("a"), Some(&third), login("four")).unwrap(), Replaced::Gone);
    assert_eq!(store.get(&key("a")).unwrap(), None, "a login that was taken away stays away");
    assert!(matches!(store.replace(&key("a"), None, login("five")).unwrap(), Replaced::Kept(_)));
}

#[test]
fn a_client_is_found_for_its_issuer_and_redirect_while_its_secret_is_good() {
    let room = Room::new();
    let store = room.open(TokenStore::Auto);
    store.put_client(&client()).unwrap();
    let mut ending = client();
    ending.issuer = "https://ending.example".to_owned();
    ending.expires_at = Some(UNIX_EPOCH + Duration::from_secs(2_000));
    store.put_client(&ending).unwrap();
    let cases = [
        ("https://as.example", None, true),
        ("https://as.example", Some("http://127.0.0.1:7777/callback"), true),
        ("https://as.example", Some("http://127.0.0.1:8888/callback"), false),
        ("https://as.example/", None, false),
        ("https://ending.example", None, false),
    ];
    for (issuer, redirect, expected) in cases {
        assert_eq!(store.client(issuer, redirect).unwrap().is_some(), expected, "{issuer} {redirect:?}");
    }
    assert!(store.remove_client("https://as.example").unwrap() && !store.remove_client("https://as.example").unwrap());
}

#[test]
fn what_cannot_be_used_is_told_and_left_as_it_is() {
    let anew = "`toolgate mcp logout --all` moves it aside and starts anew; then log in again";
    let broken = "[F]/home/mcp-oauth-tokens.json: not a file of logins that toolgate wrote: ";
    let cases = [
        ("{\"version\": 1,\n \"access-sesame\"", format!("{broken}no JSON at line 2, column 16"), anew),
        ("", format!("{broken}no JSON at line 1, column 0"), anew),
        ("[]", format!("{broken}it has no `version`"), anew),
        ("{\"version\": 1}", format!("{broken}line 1, column 14"), anew),
        (
            "{\"version\": 1, \"sealedWith\": \"access-sesame\"}",
            format!("{broken}`sealedWith` is none of `keychain`, `file`, `passphrase`, `none`"),
            anew,
        ),
        (
            "{\"version\": 2, \"other\": {}}",
            "[F]/home/mcp-oauth-tokens.json: version 2 of the file of logins, where only 1 is known".to_owned(),
            "a newer toolgate wrote it; use that one",
        ),
        (
            "{\"version\": 1, \"sealedWith\": \"file\", \"logins\": {\"a https://a.example/mcp\": \"AAAA\"}}",
            "[F]/home/mcp-oauth-tokens.json is sealed with the key in [F]/home/mcp-oauth-tokens.key, which is not there"
                .to_owned(),
            "bring it back, or start anew: `toolgate mcp logout --all`, and log in again",
        ),
        (
            "{\"version\": 1, \"sealedWith\": \"keychain\", \"logins\": {\"a https://a.example/mcp\": \"AAAA\"}}",
            "[F]/home/mcp-oauth-tokens.json is sealed with a key in the keychain, which cannot be reached: \
             there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)"
                .to_owned(),
            "run this within a desktop session or `dbus-run-session`, or start anew: `toolgate mcp logout --all`, \
             and log in again",
        ),
    ];
    for (text, expected, hint) in cases {
        let room = Room::new();
        fs::create_dir(room.folder.path().join("home")).unwrap();
        fs::write(room.file(), text).unwrap();
        let store = room.open(TokenStore::Auto);
        let told = (expected, hint.to_owned());
        assert_eq!(room.said(&store.get(&key("a")).unwrap_err()), told);
        assert_eq!(room.said(&store.put(&key("a"), full()).unwrap_err()), told);
        assert_eq!(fs::read_to_string(room.file()).unwrap(), text, "it is never overwritten");
        let aside = store.reset().unwrap().unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
        store.put(&key("a"), full()).unwrap();
        assert!(store.get(&key("a")).unwrap().is_some());
    }
    assert_eq!(Room::new().open(TokenStore::Auto).reset().unwrap(), None);
}

#[test]
fn entries_that_were_changed_or_swapped_do_not_open_and_the_others_do() {
    let room = Room::new();
    let store = room.open(TokenStore::Auto);
    for server in ["a", "b", "c"] {
        store.put(&key(server), login(server)).unwrap();
    }
    store.put_client(&client()).unwrap();
    let mut text = room.json();
    let name = |server: &str| format!("{server} https://{server}.example/mcp");
    let a = text["logins"][name("a")].clone();
    text["logins"][name("b")] = a.clone();
    text["logins"][name("d")] = json!({"accessToken": "planted"});
    text["clients"]["https://as.example"] = a;
    fs::write(room.file(), text.to_string()).unwrap();
    let other = room.open(TokenStore::Auto);
    assert!(other.get(&key("a")).unwrap().is_some() && other.get(&key("c")).unwrap().is_some());
    let path = "in [F]/home/mcp-oauth-tokens.json it was changed, or sealed with another key";
    for server in ["b", "d"] {
        let error = other.get(&key(server)).unwrap_err();
        let expected = format!("the login to `{server}` cannot be opened: {path}");
        assert_eq!(room.said(&error), (expected, format!("log in again: `toolgate mcp auth {server}`")));
    }
    let error = other.client("https://as.example", None).unwrap_err();
    assert_eq!(
        room.said(&error).0,
        format!("the client registered with `https://as.example` cannot be opened: {path}")
    );
    let problems: Vec<bool> = other.list().unwrap().iter().map(|one| one.problem.is_some()).collect();
    assert_eq!(problems, [false, true, false, true]);
    other.put(&key("b"), login("new")).unwrap();
    assert_eq!(other.get(&key("b")).unwrap().unwrap().access_token.expose(), "new");
}

#[test]
fn a_passphrase_that_is_wrong_or_missing_is_told() {
    let mut room = Room::new().with_passphrase("right");
    room.open(TokenStore::Passphrase).put(&key("a"), full()).unwrap();
    let cases = [
        (
            "wrong",
            "[F]/home/mcp-oauth-tokens.key: the passphrase in `TOOLGATE_PASSPHRASE` is not the one that the key is wrapped by",
            "set the right one, or start anew: `toolgate mcp logout --all`, and log in again",
        ),
        (
            "",
            "[F]/home/mcp-oauth-tokens.key: the key is wrapped by a passphrase, and `TOOLGATE_PASSPHRASE` is not set",
            "set it, or start anew: `toolgate mcp logout --all`, and log in again",
        ),
    ];
    for (passphrase, expected, hint) in cases {
        room = room.with_passphrase(passphrase);
        let error = room.open(TokenStore::Auto).get(&key("a")).unwrap_err();
        assert_eq!(room.said(&error), (expected.to_owned(), hint.to_owned()));
    }
    assert!(room.open(TokenStore::Auto).list().unwrap()[0].problem.is_some(), "it is listed all the same");
    assert!(room.open(TokenStore::Auto).remove(&key("a")).unwrap(), "and can be taken away");
    let error = Room::new().open(TokenStore::Passphrase).put(&key("a"), full()).unwrap_err();
    let expected = "logins cannot be sealed with a key that a passphrase wraps: `TOOLGATE_PASSPHRASE` is not set";
    assert_eq!(error.to_string(), expected);
    let error = Room::new().open(TokenStore::Keychain).put(&key("a"), full()).unwrap_err();
    let expected = "logins cannot be sealed with a key in the keychain: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn another_choice_seals_everything_again() {
    let room = Room::new().with_passphrase("right");
    let choices = [TokenStore::Plain, TokenStore::File, TokenStore::Passphrase, TokenStore::File, TokenStore::Plain];
    for (step, choice) in choices.into_iter().enumerate() {
        let store = room.open(choice);
        store.put(&key(&format!("s{step}")), full()).unwrap();
        store.put_client(&client()).unwrap();
        let other = room.open(TokenStore::Auto);
        for earlier in 0..=step {
            assert!(other.get(&key(&format!("s{earlier}"))).unwrap().is_some(), "{choice:?} {earlier}");
        }
        assert!(other.client("https://as.example", None).unwrap().is_some());
        let is_readable = fs::read_to_string(room.file()).unwrap().contains("sesame");
        assert_eq!(is_readable, choice == TokenStore::Plain, "{choice:?}");
    }
}

#[test]
fn many_at_once_make_one_key_and_lose_nothing() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let store = room.open(TokenStore::Auto);
            scope.spawn(move || store.put(&key(&format!("s{number}")), full()).unwrap());
        }
    });
    let kept = room.open(TokenStore::Auto).list().unwrap();
    assert_eq!((kept.len(), kept.iter().filter(|one| one.problem.is_some()).count()), (16, 0));
    let left: Vec<_> = fs::read_dir(room.folder.path().join("home")).unwrap().map(|one| one.unwrap().path()).collect();
    assert!(left.iter().all(|path| path == &room.file() || path == &room.key_file()), "{left:?}");
}

#[test]
fn nothing_secret_is_printed() {
    let room = Room::new();
    let store = room.open(TokenStore::File);
    let kept = store.put(&key("a"), full()).unwrap();
    let printed = format!("{store:?} {kept:?} {:?}", store.list().unwrap());
    let key_text = fs::read_to_string(room.key_file()).unwrap();
    let key_itself = key_text.split_whitespace().last().unwrap();
    assert!(!printed.contains("sesame") && !printed.contains(key_itself), "{printed}");
}
