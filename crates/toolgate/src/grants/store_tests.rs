//! What is remembered counts, here and in other processes; what is taken back does not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Grants;
use crate::env::{Clock, HostDirs, HostEnv};
use crate::grants::{Covering, GrantState, GrantSubject, ReadingTools, Remember, RememberOptions};
use crate::policy::Mode;
use crate::server_name::ServerName;

/// A clock that is set by hand.
#[derive(Default)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

struct Room {
    folder: tempfile::TempDir,
    clock: Arc<Hand>,
}

impl Room {
    fn new() -> Self {
        let room = Self { folder: tempfile::tempdir().unwrap(), clock: Arc::default() };
        room.clock.0.store(1_000_500, Ordering::Relaxed);
        room
    }

    fn env(&self) -> HostEnv {
        let at = |name: &str| self.folder.path().join(name);
        let dirs = HostDirs { user: at("user"), system: at("system"), home: None };
        HostEnv { vars: BTreeMap::new(), dirs, workspace: at("work").into(), clock: self.clock.clone() }
    }

    fn grants(&self) -> Grants {
        Grants::open(&self.env())
    }

    fn file(&self) -> std::path::PathBuf {
        Grants::file(&self.env())
    }
}

/// A call of a tool that is as it always was.
struct Call {
    server: ServerName,
    tool: &'static str,
    arguments: Value,
    tools: BTreeMap<String, String>,
    builtin: Option<&'static str>,
}

fn call(tool: &'static str, arguments: Value) -> Call {
    let tools = ["a", "b"].map(|name| (name.to_owned(), "sha256:1".to_owned()));
    Call { server: ServerName::new("s").unwrap(), tool, arguments, tools: BTreeMap::from(tools), builtin: None }
}

impl Call {
    fn subject(&self) -> GrantSubject<'_> {
        GrantSubject {
            server: &self.server,
            server_identity: "sha256:0",
            builtin: self.builtin,
            tool: self.tool,
            definition: "sha256:1",
            arguments: &self.arguments,
            folder: Path::new("/work"),
            mode: Mode::Default,
            all_tools: &self.tools,
        }
    }
}

fn is_covered(grants: &Grants, call: &Call) -> bool {
    matches!(grants.covering(&call.subject()), Covering::Covered { .. })
}

fn always(grants: &Grants, call: &Call, remember: Remember) -> String {
    grants.remember(&call.subject(), remember, RememberOptions::default()).unwrap().unwrap().id
}

#[test]
fn an_answer_counts_as_far_as_it_was_meant() {
    let one = || call("a", json!({"x": 1, "y": 2}));
    let others = [call("a", json!({"y": 2, "x": 1})), call("a", json!({})), call("b", json!({})), call("c", json!({}))];
    let cases = [
        (Remember::No, [false, false, false, false]),
        (Remember::ToolThisSession, [true, true, false, false]),
        (Remember::ToolAlways, [true, true, false, false]),
        (Remember::ServerThisSession, [true, true, true, false]),
        (Remember::ServerAlways, [true, true, true, false]),
        (Remember::TheseArgumentsAlways, [true, false, false, false]),
    ];
    for (remember, expected) in cases {
        let room = Room::new();
        let in_file =
            matches!(remember, Remember::ToolAlways | Remember::ServerAlways | Remember::TheseArgumentsAlways);
        for grants in [room.grants(), Grants::in_memory(&room.env())] {
            grants.remember(&one().subject(), remember, RememberOptions::default()).unwrap();
            assert_eq!(others.each_ref().map(|other| is_covered(&grants, other)), expected, "{remember:?}");
        }
        assert_eq!(room.file().exists(), in_file, "{remember:?}");
        let elsewhere = expected.map(|is_covered| is_covered && in_file);
        assert_eq!(others.each_ref().map(|other| is_covered(&room.grants(), other)), elsewhere, "{remember:?}");
    }
}

#[test]
fn only_exactly_these_arguments_are_told_apart() {
    let (room, one) = (Room::new(), call("a", json!({"x": 1})));
    let grants = room.grants();
    let tool = always(&grants, &one, Remember::ToolAlways);
    let by =
        |grant: &str, is_for_these_arguments| Covering::Covered { grant: grant.to_owned(), is_for_these_arguments };
    assert_eq!(grants.covering(&one.subject()), by(&tool, false));
    let exact = always(&grants, &one, Remember::TheseArgumentsAlways);
    assert_eq!(grants.covering(&one.subject()), by(&exact, true));
    let session = always(&grants, &one, Remember::ToolThisSession);
    assert_eq!(session, "session-1");
    assert_eq!(grants.covering(&one.subject()), by(&exact, true));
}

#[test]
fn what_is_allowed_again_is_not_kept_twice() {
    let room = Room::new();
    let grants = room.grants();
    let first = always(&grants, &call("a", json!({})), Remember::ToolAlways);
    assert_eq!(first.len(), 6);
    room.clock.0.store(5_000_000, Ordering::Relaxed);
    let expires_at = Some(UNIX_EPOCH + Duration::from_secs(6_000));
    let one = call("a", json!({"other": "arguments"}));
    let changed = GrantSubject { definition: "sha256:2", mode: Mode::Plan, ..one.subject() };
    let again = grants.remember(&changed, Remember::ToolAlways, RememberOptions { expires_at }).unwrap().unwrap();
    assert_eq!(again.id, first);
    let listed = room.grants().list().unwrap();
    assert_eq!(listed, [(again.clone(), GrantState::Active)]);
    assert_eq!((again.tools["a"].as_str(), again.mode, again.expires_at), ("sha256:2", Mode::Plan, expires_at));
    assert_eq!(again.given_at, UNIX_EPOCH + Duration::from_secs(5_000));
    assert_eq!(again.given_in, Path::new("/work"));
    room.clock.0.store(6_000_000, Ordering::Relaxed);
    assert_eq!(room.grants().list().unwrap()[0].1, GrantState::Expired);
    assert_eq!(grants.covering(&changed), Covering::None);
    for (tool, remember) in [
        ("b", Remember::ToolAlways),
        ("a", Remember::ServerAlways),
        ("b", Remember::ServerAlways),
        ("a", Remember::TheseArgumentsAlways),
        ("a", Remember::TheseArgumentsAlways),
    ] {
        always(&grants, &call(tool, json!({})), remember);
    }
    assert_eq!(grants.list().unwrap().len(), 4);
    let moved = GrantSubject { server_identity: "sha256:9", ..one.subject() };
    grants.remember(&moved, Remember::ToolAlways, RememberOptions::default()).unwrap();
    assert_eq!(grants.list().unwrap().len(), 5, "another server of that name is another one");
}

#[test]
fn what_one_is_told_the_others_know() {
    let room = Room::new();
    let (one, other) = (room.grants(), room.grants());
    let asked = call("a", json!({}));
    assert!(!is_covered(&other, &asked));
    let id = always(&one, &asked, Remember::ToolAlways);
    assert!(is_covered(&other, &asked));
    assert_eq!(other.revoke(&[&id, "unknown"]).unwrap().len(), 1);
    assert!(!is_covered(&one, &asked));
    assert_eq!(one.revoke(&[&id]).unwrap(), []);
}

#[test]
fn what_is_taken_back_does_not_count() {
    let room = Room::new();
    let grants = room.grants();
    assert_eq!(grants.revoke_all().unwrap(), []);
    assert!(!room.env().dirs.user.exists(), "nothing is made for nothing");
    let fill = || {
        always(&grants, &call("a", json!({})), Remember::ToolAlways);
        always(&grants, &call("b", json!({})), Remember::ToolThisSession);
        let server = ServerName::new("other").unwrap();
        always(&grants, &Call { server, ..call("a", json!({})) }, Remember::ServerAlways)
    };
    let others = fill();
    let names = |grants: Vec<crate::grants::Grant>| {
        grants.into_iter().map(|grant| (grant.server.to_string(), grant.scope.as_str())).collect::<Vec<_>>()
    };
    let of = |server: &str, scope| (server.to_owned(), scope);
    assert_eq!(names(grants.revoke_server("s").unwrap()), [of("s", "tool"), of("s", "tool")]);
    assert_eq!(grants.list().unwrap().len(), 1);
    fill();
    assert_eq!(names(grants.revoke(&[&others, "session-2"]).unwrap()), [of("s", "tool"), of("other", "server")]);
    fill();
    assert_eq!(grants.revoke_all().unwrap().len(), 3);
    assert_eq!(grants.list().unwrap(), []);
    assert!(!is_covered(&grants, &call("a", json!({}))));
}

#[test]
fn a_file_that_cannot_be_read_grants_nothing_and_is_left_alone() {
    let room = Room::new();
    let (grants, asked) = (room.grants(), call("a", json!({})));
    let id = always(&grants, &asked, Remember::ToolAlways);
    let good = fs::read_to_string(room.file()).unwrap();
    for broken in [format!("{good}\nsurprise = 1\n"), good.replace("scope = \"tool\"", "scope = \"\""), "\0".to_owned()]
    {
        fs::write(room.file(), &broken).unwrap();
        assert!(!is_covered(&grants, &asked));
        let errors = [
            grants.trouble().unwrap(),
            grants.list().unwrap_err(),
            grants.remember(&asked.subject(), Remember::ToolAlways, RememberOptions::default()).unwrap_err(),
            grants.revoke(&[&id]).unwrap_err(),
            grants.revoke_all().unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("grants.toml:"), "{error}");
        }
        assert_eq!(fs::read_to_string(room.file()).unwrap(), broken);
        always(&grants, &asked, Remember::ToolThisSession);
        assert!(is_covered(&grants, &asked), "the session does not need the file");
        assert!(grants.revoke(&["session-1", "session-2", "session-3"]).is_err());
        assert!(!is_covered(&grants, &asked), "and what it allows can be taken back");
    }
    fs::write(room.file(), &good).unwrap();
    assert!(is_covered(&grants, &asked) && grants.trouble().is_none());
    fs::remove_file(room.file()).unwrap();
    assert!(!is_covered(&grants, &asked) && grants.trouble().is_none());
    fs::create_dir(room.file()).unwrap();
    assert!(!is_covered(&grants, &asked) && grants.trouble().is_some());
}

#[test]
fn what_can_do_anything_is_never_allowed_for_good() {
    let room = Room::new();
    let grants = room.grants();
    let mut shell = call("run_shell_command", json!({"command": "ls"}));
    shell.builtin = Some("workspace");
    shell.tools.insert("run_shell_command".to_owned(), "sha256:1".to_owned());
    for remember in [Remember::ToolAlways, Remember::ServerAlways] {
        let error = grants.remember(&shell.subject(), remember, RememberOptions::default()).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("these arguments")), "{error}");
    }
    assert!(!room.file().exists());
    always(&grants, &shell, Remember::TheseArgumentsAlways);
    assert!(is_covered(&grants, &shell));
    shell.arguments = json!({"command": "ls; rm -rf /"});
    assert!(!is_covered(&grants, &shell));
    always(&grants, &shell, Remember::ToolThisSession);
    assert!(is_covered(&grants, &shell));
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    always(&room.grants(), &call("a", json!({})), Remember::ToolAlways);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&room.file()), mode(&room.env().dirs.user)), (0o600, 0o700));
}

#[test]
fn a_folder_cannot_grant_anything() {
    let room = Room::new();
    always(&room.grants(), &call("a", json!({})), Remember::ToolAlways);
    let brought = room.env().workspace.join(".toolgate");
    fs::create_dir_all(&brought).unwrap();
    fs::rename(room.file(), brought.join("grants.toml")).unwrap();
    assert!(!is_covered(&room.grants(), &call("a", json!({}))));
}

#[test]
fn answers_of_many_threads_are_all_kept() {
    let room = Room::new();
    let names: Vec<ServerName> = (0..16).map(|number| ServerName::new(&format!("s{number}")).unwrap()).collect();
    std::thread::scope(|scope| {
        for server in &names {
            let grants = room.grants();
            scope.spawn(move || {
                always(&grants, &Call { server: server.clone(), ..call("a", json!({})) }, Remember::ToolAlways)
            });
        }
    });
    assert_eq!(room.grants().list().unwrap().len(), names.len());
}

#[test]
fn the_hints_of_a_server_are_believed_of_the_tools_that_it_had() {
    let room = Room::new();
    let grants = room.grants();
    let server = ServerName::new("s").unwrap();
    let reading = |tools: &[(&str, &str)], way: &'static str, folder: &'static str| ReadingTools {
        server: &server,
        server_identity: way,
        tools: tools.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect(),
        folder: Path::new(folder),
        expires_at: None,
    };
    assert!(grants.trust_hints(reading(&[], "sha256:0", "/work")).is_err());
    let first = grants.trust_hints(reading(&[("a", "sha256:1"), ("old", "sha256:1")], "sha256:0", "/work")).unwrap();
    assert!(matches!(grants.covering(&call("a", json!({"x": 1})).subject()), Covering::Covered { .. }));
    assert_eq!(grants.covering(&call("b", json!({})).subject()), Covering::None, "it was not marked");
    let plan = |call: &Call| grants.covering(&GrantSubject { mode: Mode::Plan, ..call.subject() });
    assert!(matches!(plan(&call("a", json!({}))), Covering::Covered { .. }));
    // From another folder it is the same server; reached in another way it is another one.
    let again = grants.trust_hints(reading(&[("a", "sha256:2")], "sha256:0", "/elsewhere")).unwrap();
    assert_eq!((again.id, grants.list().unwrap().len()), (first.id, 1));
    assert!(
        matches!(grants.covering(&call("a", json!({})).subject()), Covering::Suspended { .. }),
        "it is defined otherwise"
    );
    grants.trust_hints(reading(&[("a", "sha256:1")], "sha256:9", "/work")).unwrap();
    assert_eq!(room.grants().list().unwrap().len(), 2, "also in the file");
    assert!(matches!(grants.covering(&call("a", json!({})).subject()), Covering::Suspended { .. }));
    grants.remember(&call("b", json!({})).subject(), Remember::ToolAlways, RememberOptions::default()).unwrap();
    assert_eq!(grants.distrust_hints("other").unwrap().len(), 0);
    assert_eq!(grants.distrust_hints("s").unwrap().len(), 2);
    assert_eq!(grants.list().unwrap().len(), 1, "what was allowed otherwise stays");
}
