//! The folder of kept offers: what is found again, by whom, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::KeptOffers;
use crate::connect::Kind;
use crate::discovery::Offered;
use crate::env::{Clock, HostDirs, HostEnv};
use crate::kept::sample::{list, offered, raw, stdio};
use crate::limits::{CATALOGUE_BYTES_MAX, CATALOGUES_NEW_MAX};

const TOOL: &str = r#"{"name":"t","inputSchema":{}}"#;
const ALL: &str = r#"{"tools":{},"prompts":{},"resources":{}}"#;

/// A clock that is set by hand.
#[derive(Clone, Debug)]
struct Watch(Arc<Mutex<SystemTime>>);

impl Clock for Watch {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

struct Room {
    folder: tempfile::TempDir,
    watch: Watch,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), watch: Watch(Arc::new(Mutex::new(SystemTime::now()))) }
    }

    /// As another process would see it: nothing is shared but the disk.
    fn offers(&self) -> KeptOffers {
        let user = self.folder.path().join("user");
        KeptOffers::new(&Arc::new(HostEnv {
            vars: BTreeMap::from([("PATH".to_owned(), "/none".to_owned())]),
            dirs: HostDirs { user, system: "/none".into(), home: None },
            workspace: self.folder.path().into(),
            clock: Arc::new(self.watch.clone()),
        }))
    }

    fn catalogues(&self) -> PathBuf {
        self.folder.path().join("user/catalogues")
    }

    fn names(&self) -> BTreeSet<String> {
        let Ok(entries) = fs::read_dir(self.catalogues()) else { return BTreeSet::new() };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// The files that hold offers.
    fn files(&self) -> Vec<PathBuf> {
        let names = self.names();
        names.iter().filter(|name| name.len() == 64).map(|name| self.catalogues().join(name)).collect()
    }

    fn pass(&self, time: Duration) {
        *self.watch.0.lock().unwrap() += time;
    }
}

fn tools(seconds: u64) -> Offered {
    Offered { tools: Some(list(&[TOOL], seconds)), ..offered(r#"{"tools":{}}"#) }
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn what_is_kept_is_found_by_others_until_it_is_forgotten() {
    let room = Room::new();
    let (server, other) = (stdio("x", &["secret-value"]), stdio("y", &[]));
    assert!(room.offers().load(&server).is_none());
    assert!(!room.offers().forget(&server) && room.offers().forget_all() == 0);
    assert!(room.names().is_empty(), "nothing is made before something is kept");
    room.offers().keep(&server, &tools(5));
    let kept = room.offers().load(&server).unwrap();
    assert_eq!(kept.server, "s");
    assert_eq!(format!("{:?}", kept.offered), format!("{:?}", tools(5)));
    assert!(room.offers().load(&other).is_none());
    let names = room.names();
    assert_eq!(
        (room.files().len(), names.len()),
        (1, 4),
        "an offer, the key, when it was swept, and how many were added: {names:?}"
    );
    for name in &names {
        let text = fs::read_to_string(room.catalogues().join(name)).unwrap();
        assert!(!text.contains("secret-value") && !name.contains("secret"), "{name}: {text}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&room.catalogues()), mode(&room.files()[0])), (0o700, 0o600));
    }
    assert!(room.offers().forget(&server) && !room.offers().forget(&server));
    assert!(room.offers().load(&server).is_none());
    room.offers().keep(&server, &tools(5));
    room.offers().keep(&other, &tools(5));
    assert_eq!((room.offers().forget_all(), room.offers().forget_all()), (2, 0));
    assert!(room.names().contains("key"));
}

#[test]
fn names_of_files_differ_between_people() {
    let (one, other) = (Room::new(), Room::new());
    // The workspace is part of what is kept, so both have the same.
    let server = crate::kept::sample::server(crate::servers::TransportConfig::Http(crate::kept::sample::address(
        "https://a.example",
    )));
    one.offers().keep(&server, &tools(1));
    other.offers().keep(&server, &tools(1));
    assert_ne!(one.files()[0].file_name(), other.files()[0].file_name());
}

#[test]
fn an_edited_script_is_asked_again_and_a_running_server_stays_where_it_was() {
    let room = Room::new();
    let script = room.folder.path().join("server.py");
    fs::write(&script, "one").unwrap();
    let server = stdio("python", &["server.py"]);
    let offers = room.offers();
    let started = offers.place(&server);
    offers.keep(&server, &tools(1));
    fs::write(&script, "two, and longer").unwrap();
    assert!(offers.load(&server).is_none());
    started.keep(&tools(2));
    assert!(offers.load(&server).is_none(), "the one that runs is the one from before");
    assert!(started.load().is_some());
    offers.keep(&server, &tools(3));
    assert!(offers.load(&server).is_some());
}

#[test]
fn lists_that_were_not_asked_for_stay() {
    let room = Room::new();
    let (server, offers) = (stdio("x", &[]), room.offers());
    let everything = Offered {
        tools: Some(list(&[TOOL], 1)),
        prompts: Some(list(&[r#"{"name":"p"}"#], 1)),
        resources: Some(list(&[r#"{"uri":"a:b"}"#], 1)),
        templates: Some(list(&[], 1)),
        ..offered(ALL)
    };
    let only_tools = Offered { tools: Some(list(&[], 2)), ..offered(ALL) };
    let times = |offers: &KeptOffers| {
        let Offered { tools, prompts, resources, templates, .. } = offers.load(&server).unwrap().offered;
        [
            tools.map(|list| list.read_at),
            prompts.map(|list| list.read_at),
            resources.map(|list| list.read_at),
            templates.map(|list| list.read_at),
        ]
        .map(|time| time.map(|time| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()))
    };
    let (first, second) = (Some(1), Some(2));
    let cases = [
        ("another list", only_tools.clone(), [second, first, first, first]),
        (
            "another instruction",
            Offered { instructions: Some("new".to_owned()), ..only_tools.clone() },
            [second, first, first, first],
        ),
        (
            "another version",
            Offered { version: toolgate_wire::Version::V2025_06_18, ..only_tools.clone() },
            [second, None, None, None],
        ),
        (
            "another server",
            Offered { info: raw(r#"{"name":"sample","version":"2"}"#), ..only_tools },
            [second, None, None, None],
        ),
        ("other capabilities", tools(2), [second, None, None, None]),
        ("everything", everything.clone(), [first, first, first, first]),
        (
            "resources",
            Offered { resources: Some(list(&[], 2)), templates: Some(list(&[], 2)), ..offered(ALL) },
            [first, first, second, second],
        ),
        (
            "tools that were asked for and could not be read",
            Offered { prompts: Some(list(&[], 2)), unread: vec![Kind::Tools], ..offered(ALL) },
            [None, second, first, first],
        ),
        (
            "a change that could not be read",
            Offered { unread: vec![Kind::Tools, Kind::Resources], ..everything.clone() },
            [None, first, None, None],
        ),
    ];
    for (what, offered, expected) in cases {
        offers.forget(&server);
        offers.keep(&server, &everything);
        offers.keep(&server, &offered);
        assert_eq!(times(&offers), expected, "{what}");
    }
}

#[test]
fn what_is_broken_is_like_none_and_replaced() {
    let room = Room::new();
    let (server, offers) = (stdio("x", &[]), room.offers());
    offers.keep(&server, &tools(1));
    let path = room.files().remove(0);
    let good = fs::read(&path).unwrap();
    let elsewhere = room.folder.path().join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();
    let remove = || drop(fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)));
    let cases: [(&str, &dyn Fn()); 7] = [
        ("empty", &|| fs::write(&path, "").unwrap()),
        ("torn", &|| fs::write(&path, &good[..good.len() / 2]).unwrap()),
        ("not text", &|| fs::write(&path, [0xff; 100]).unwrap()),
        ("brackets", &|| fs::write(&path, "[".repeat(1_000_000)).unwrap()),
        ("another format", &|| fs::write(&path, r#"{"format":1}"#).unwrap()),
        ("a folder", &|| {
            remove();
            fs::create_dir(&path).unwrap();
        }),
        ("too large", &|| fs::File::create(&path).unwrap().set_len(CATALOGUE_BYTES_MAX + 1).unwrap()),
    ];
    for (what, breaks) in cases {
        breaks();
        assert!(offers.load(&server).is_none(), "{what}");
        offers.keep(&server, &Offered { prompts: None, ..tools(2) });
        assert!(offers.load(&server).is_some(), "{what} is replaced");
    }
    #[cfg(unix)]
    {
        remove();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(offers.load(&server).is_none(), "a link");
        offers.keep(&server, &tools(2));
        assert!(offers.load(&server).is_some() && !path.is_symlink());
        assert_eq!(fs::read(&elsewhere).unwrap(), good, "what a link led to is not touched");
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let is_all_powerful = fs::read(&path).is_ok();
        assert!(is_all_powerful || offers.load(&server).is_none(), "not readable");
        offers.keep(&server, &tools(2));
        assert!(offers.load(&server).is_some());
    }
}

#[cfg(unix)]
#[test]
fn a_file_of_somebody_else_is_not_believed() {
    let room = Room::new();
    let (server, offers) = (stdio("x", &[]), room.offers());
    offers.keep(&server, &tools(1));
    let path = room.files().remove(0);
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
        return; // Only the administrator can give files away.
    }
    assert!(offers.load(&server).is_none());
    offers.keep(&server, &tools(1));
    assert!(offers.load(&server).is_some());
}

#[test]
fn where_nothing_can_be_written_nothing_is_kept_and_nothing_breaks() {
    let room = Room::new();
    fs::write(room.folder.path().join("user"), "a file where the folder should be").unwrap();
    let (server, offers) = (stdio("x", &[]), room.offers());
    offers.keep(&server, &tools(1));
    assert!(offers.load(&server).is_none() && !offers.forget(&server) && offers.forget_all() == 0);
}

#[test]
fn an_offer_that_is_too_large_is_not_kept_and_the_old_one_neither() {
    let room = Room::new();
    let (server, offers) = (stdio("x", &[]), room.offers());
    offers.keep(&server, &tools(1));
    let large = usize::try_from(CATALOGUE_BYTES_MAX).unwrap();
    let entry = format!(r#"{{"name":"t","inputSchema":{{}},"description":"{}"}}"#, "x".repeat(large));
    offers.keep(&server, &Offered { tools: Some(list(&[&entry], 1)), ..tools(1) });
    assert!(offers.load(&server).is_none());
    assert!(room.files().is_empty());
}

#[test]
fn what_nobody_asks_for_is_swept_when_many_are_added() {
    let room = Room::new();
    let (old, offers) = (stdio("old", &[]), room.offers());
    offers.keep(&old, &tools(1));
    set_time(&room.files()[0], room.watch.now() - Duration::from_secs(31 * 24 * 60 * 60));
    let last = CATALOGUES_NEW_MAX - 1;
    for nth in 1..last {
        let new = stdio(&format!("new{nth}"), &[]);
        offers.keep(&new, &tools(1));
        offers.keep(&new, &tools(2));
    }
    assert!(offers.load(&old).is_some(), "what was known before is not counted");
    offers.keep(&stdio("last", &[]), &tools(1));
    assert!(offers.load(&old).is_none());
    assert_eq!(u64::try_from(room.files().len()).unwrap(), last);
}

#[test]
fn what_nobody_asks_for_is_swept_once_a_day() {
    let room = Room::new();
    let day = Duration::from_secs(24 * 60 * 60);
    let (old, young, now) = (stdio("old", &[]), stdio("young", &[]), stdio("now", &[]));
    let offers = room.offers();
    let now_is = room.watch.now();
    offers.keep(&old, &tools(1));
    set_time(&room.files()[0], now_is - 31 * day);
    let torn = room.catalogues().join("torn.0123.new");
    fs::write(&torn, "half").unwrap();
    set_time(&torn, now_is - day);
    offers.keep(&young, &tools(1));
    assert!(offers.load(&old).is_some() && torn.exists(), "it was swept a moment ago");
    room.pass(day);
    assert!(offers.load(&old).is_some(), "reading sweeps nothing");
    offers.keep(&now, &tools(1));
    assert!(offers.load(&old).is_none() && !torn.exists());
    assert!(offers.load(&young).is_some() && offers.load(&now).is_some());
    room.pass(40 * day);
    room.offers().keep(&now, &tools(2));
    assert!(offers.load(&young).is_none());
    assert!(room.names().contains("key"));
}

#[test]
fn several_processes_keep_at_once() {
    let room = Room::new();
    let servers: Vec<_> = (0..4).map(|number| stdio("x", &[&number.to_string()])).collect();
    let large = format!(r#"{{"name":"t","inputSchema":{{}},"description":"{}"}}"#, "x".repeat(50_000));
    std::thread::scope(|scope| {
        for writer in 1..=4_u64 {
            let (room, servers, large) = (&room, &servers, &large);
            scope.spawn(move || {
                let offers = room.offers();
                for round in 0..5 {
                    for server in servers {
                        let tools = list(&[large], writer * 100 + round);
                        offers.keep(server, &Offered { tools: Some(tools), ..offered(r#"{"tools":{}}"#) });
                        let kept = offers.load(server).unwrap();
                        assert_eq!(kept.offered.tools.unwrap().entries.len(), 1);
                    }
                }
            });
        }
    });
    assert_eq!(room.files().len(), servers.len(), "one key, so one file each");
    assert!(room.names().iter().all(|name| !name.ends_with(".new")));
}
