//! Several processes that remember answers and take them back at the same time. `GRANT_SECONDS` makes it longer.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use toolgate::grants::Grants;
use toolgate::{HostDirs, HostEnv, SystemClock};

use crate::audit_processes::{example, how_many};

const PROCESSES: usize = 3;

/// The tools that a process left allowed, by what it said.
fn left_allowed(said: &str) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for line in said.lines() {
        match line.split_at(1) {
            ("+", tool) => assert!(allowed.insert(tool.to_owned()), "{tool} twice"),
            (_, tool) => assert!(allowed.remove(tool), "{tool} was not there"),
        }
    }
    allowed
}

#[test]
fn what_several_processes_remember_and_take_back_at_once_is_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let milliseconds = how_many("GRANT_SECONDS", 2) * 1_000;
    let start = |name: &str| -> Child {
        let mut command = Command::new(example("grant_writer"));
        let command = command.arg(folder.path()).args([name, &milliseconds.to_string()]).stdout(Stdio::piped());
        command.spawn().expect("the example is built")
    };
    let names: Vec<String> = (0..PROCESSES).map(|number| format!("server-{number}")).collect();
    let running: Vec<(&String, Child)> = names.iter().map(|name| (name, start(name))).collect();
    let (mut expected, mut changes) = (BTreeSet::new(), 0);
    for (name, child) in running {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success());
        let said = String::from_utf8(ended.stdout).unwrap();
        changes += said.lines().count();
        expected.extend(left_allowed(&said).into_iter().map(|tool| (name.clone(), tool)));
    }
    let dirs = HostDirs { user: folder.path().to_owned(), system: folder.path().join("system"), home: None };
    let workspace = folder.path().to_owned();
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: workspace.into(), clock: Arc::new(SystemClock) };
    let grants = Grants::open(&env).list().unwrap();
    let of = |(grant, _): &(toolgate::grants::Grant, _)| {
        let tools = grant.tools.keys().cloned().collect::<Vec<_>>();
        (grant.server.to_string(), tools.join(" "))
    };
    assert_eq!(grants.iter().map(of).collect::<BTreeSet<_>>(), expected);
    let ids: BTreeSet<_> = grants.iter().map(|(grant, _)| &grant.id).collect();
    assert_eq!(ids.len(), expected.len(), "every grant has an id of its own");
    assert!(changes > PROCESSES);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["grants.toml"], "neither a lock nor half a file is left");
    println!("{changes} changes by {PROCESSES} processes, {} grants left", grants.len());
}
