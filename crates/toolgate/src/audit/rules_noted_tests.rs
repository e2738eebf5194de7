//! Tests of rules that are noted from one process to the next.

use std::fs;

use super::*;
use crate::env::{HostDirs, HostEnv, SystemClock};

/// Notes the rules of one policy file, whose text is given. The changes that are recorded, each with what the file was before.
fn noted(home: &Path, text: Option<&str>, by: &NotedRules) -> Vec<(Option<String>, Option<String>)> {
    let (file, policy) = (home.join("p.toml"), Policy::default());
    let policies = text.map(|text| PolicyInForce { path: &file, text: Some(text) }).into_iter().collect();
    let rules = RulesInForce {
        folder: home,
        policies,
        settings: Vec::new(),
        has_options: false,
        policy: &policy,
        servers: &[],
        folder_is_trusted: true,
    };
    let mut recorded = Vec::new();
    let dirs = HostDirs { user: home.to_owned(), system: "/y".into(), home: None };
    let env = HostEnv { vars: [].into(), dirs, workspace: home.to_owned().into(), clock: Arc::new(SystemClock) };
    note_change(&AuditFolder::of(&env), &rules, (by, SystemTime::now()), |change| {
        recorded.extend(change.files.iter().map(|file| (file.before.clone(), file.after.clone())));
        Ok(())
    })
    .unwrap();
    recorded
}

#[test]
fn a_file_is_looked_into_only_when_its_state_changed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let file = home.join("p.toml");
    fs::write(&file, "a").unwrap();
    let tomorrow = SystemTime::now() + Duration::from_secs(24 * 60 * 60);
    let settled = NotedRules { folders: BTreeMap::new(), settled: tomorrow };
    let young = NotedRules::default();
    let hash = |text: &str| Some(hash_of(text.as_bytes()));
    assert_eq!(noted(home, Some("a"), &settled), [(None, hash("a"))]);
    assert_eq!(noted(home, Some("b"), &settled), [], "the state of the file is the same, so it is not looked into");
    assert_eq!(noted(home, Some("b"), &young), [(hash("a"), hash("b"))], "what is in force counts, not what is there");
    assert_eq!(noted(home, Some("b"), &young), []);
    fs::write(&file, "longer").unwrap();
    assert_eq!(noted(home, Some("longer"), &settled), [(hash("b"), hash("longer"))]);
    fs::remove_file(&file).unwrap();
    assert_eq!(noted(home, None, &settled), [(hash("longer"), None)]);
    assert_eq!(noted(home, None, &settled), []);
    fs::write(&file, "a").unwrap();
    assert_eq!(noted(home, Some("a"), &young), [(None, hash("a"))]);
    fs::remove_file(&file).unwrap();
    assert_eq!(noted(home, None, &settled), [(hash("a"), None)], "as before it came, and yet another state");
}

#[test]
fn what_makes_room_is_nothing_of_this_run() {
    let mut entries: BTreeMap<String, String> =
        (0..AUDIT_NOTED_RULES_MAX + 5).map(|nth| (format!("{nth:06}"), String::new())).collect();
    make_room(&mut entries, &["000000".to_owned(), "000001".to_owned()]);
    let first: Vec<&str> = entries.keys().take(3).map(String::as_str).collect();
    assert_eq!((entries.len(), first), (AUDIT_NOTED_RULES_MAX, vec!["000000", "000001", "000007"]));
}
