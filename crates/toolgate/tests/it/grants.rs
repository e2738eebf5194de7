//! Several processes that remember answers at the same time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;

use toolgate::grants::Grants;
use toolgate::{HostDirs, HostEnv, SystemClock};

const PROCESSES: usize = 3;
const EACH: usize = 20;

/// Examples are built beside the tests.
fn writer() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/grant_writer")
}

#[test]
fn what_several_processes_remember_at_once_is_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let start = |name: String| -> Child {
        Command::new(writer()).arg(folder.path()).arg(name).arg(EACH.to_string()).spawn().expect("the example is built")
    };
    let running: Vec<Child> = (0..PROCESSES).map(|number| start(format!("server-{number}"))).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let dirs = HostDirs { user: folder.path().to_owned(), system: folder.path().join("system"), home: None };
    let workspace = folder.path().to_owned();
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace, clock: Arc::new(SystemClock) };
    let grants = Grants::open(&env).list().unwrap();
    assert_eq!(grants.len(), PROCESSES * EACH);
    let mut ids: Vec<_> = grants.iter().map(|(grant, _)| &grant.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), PROCESSES * EACH, "every grant has an id of its own");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["grants.toml"], "neither a lock nor half a file is left");
}
