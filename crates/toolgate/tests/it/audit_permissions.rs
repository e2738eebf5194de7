//! Changes of permissions in the log: written, read, verified.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::audit::{
    AuditLog, AuditSink as _, ChangedFile, ImpactCase, PermissionChange, PermissionImpact, PermissionKind, Query,
    RecordedPerson, StoredChange,
};

use crate::audit::LogRoom;

fn changes(room: &LogRoom, query: &Query) -> Vec<StoredChange> {
    let mut changes = Vec::new();
    let unreadable = AuditLog::open(&room.env()).unwrap().each_change(query, |change| {
        changes.push(change);
        true
    });
    assert_eq!(unreadable.unwrap(), 0);
    changes
}

#[test]
fn a_change_says_everything_and_no_secret() {
    let room = LogRoom::new();
    let mut env = room.env();
    env.vars.insert("USER".to_owned(), "ada".to_owned());
    let case = ImpactCase {
        server: "files".to_owned(),
        tool: "write".to_owned(),
        was: "allow".to_owned(),
        now: "deny".to_owned(),
        calls: 3,
    };
    let change = PermissionChange::new(PermissionKind::Rules, "policies")
        .reason(Some("password=hunter2 was in it"))
        .before("old")
        .after("new")
        .in_session("s1")
        .files([ChangedFile::of_texts("/p/a.toml", None, Some("abc"))])
        .impact(PermissionImpact { days: 7, calls: 9, different: 3, cases: vec![case] });
    assert_eq!(change.write(&env).unwrap(), 2);
    let stored = changes(&room, &Query::default()).remove(0);
    let line: Value = serde_json::from_str(&stored.line).unwrap();
    let mut said = line.as_object().unwrap().clone();
    for key in ["at", "pid", "prev", "hash", "v"] {
        assert!(said.remove(key).is_some(), "{key}");
    }
    let uid = said["by"].as_object_mut().unwrap().remove("uid");
    assert_eq!(uid.is_some_and(|uid| uid.is_u64()), cfg!(unix));
    let expected = json!({
        "seq": 2, "kind": "permission", "change": "rules", "subject": "policies", "by": {"principal": null, "user": "ada"},
        "session": "s1", "folder": env.workspace.main(), "reason": "password=[secret] was in it", "before": "old", "after": "new",
        "files": [{"path": "/p/a.toml", "before": null,
            "after": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}],
        "moreFiles": 0, "impact": {"days": 7, "calls": 9, "different": 3, "cases": [
            {"server": "files", "tool": "write", "was": "allow", "now": "deny", "calls": 3}]}
    });
    assert_eq!(Value::Object(said), expected);
    assert_eq!((stored.by.shown().as_str(), stored.impact.unwrap().different), ("ada", 3));
    assert!(room.verify().is_sound());
}

#[test]
fn changes_stand_among_calls_and_are_picked_by_time_and_session() {
    let room = LogRoom::new();
    let audit = room.audit();
    let principal = RecordedPerson { principal: Some("ada@example.test".to_owned()), user: None, uid: None };
    audit.record(&room.record("read"));
    for (nth, kind) in PermissionKind::ALL.into_iter().enumerate() {
        let change = PermissionChange::new(kind, format!("subject {nth}")).by(principal.clone());
        audit.permission_changed(&change.in_session(format!("s{}", nth % 2))).unwrap();
        room.clock().advance(Duration::from_secs(60));
        audit.record(&room.record("read"));
    }
    assert_eq!(room.calls(&Query::default()).len(), 12, "calls are listed as before");
    let all = changes(&room, &Query::default());
    let words: Vec<&str> = all.iter().map(|one| one.change.as_str()).collect();
    assert_eq!(words, PermissionKind::ALL.map(PermissionKind::as_str));
    assert_eq!(all[0].by.shown(), "ada@example.test");
    let third = all[2].at;
    let cases = [
        (Query { since: Some(third), ..Query::default() }, 9),
        (Query { until: Some(third), ..Query::default() }, 2),
        (Query { session: Some("s1".to_owned()), ..Query::default() }, 5),
        (Query { last: Some(4), ..Query::default() }, 4),
        (Query { last: Some(0), ..Query::default() }, 0),
    ];
    for (query, count) in cases {
        assert_eq!(changes(&room, &query).len(), count, "{query:?}");
    }
}

/// Changes to the lines of the log.
type Edit = fn(&mut Vec<String>);

#[test]
fn a_change_that_was_edited_removed_or_moved_is_found() {
    let cases: [(Edit, &str); 3] = [
        (|lines| lines[2] = lines[2].replace("\"grant\"", "\"revoke\""), "record 3 was edited"),
        (|lines| drop(lines.remove(2)), "record 3 is missing"),
        (|lines| lines.swap(2, 3), "missing before record 4"),
    ];
    for (edit, expected) in cases {
        let room = LogRoom::new();
        let audit = room.audit();
        for nth in 0..4 {
            let change = PermissionChange::new(PermissionKind::Grant, format!("grant {nth}"));
            audit.permission_changed(&change).unwrap();
        }
        drop(audit);
        let mut lines: Vec<String> = room.text("audit.jsonl").lines().map(|line| format!("{line}\n")).collect();
        edit(&mut lines);
        fs::write(room.path("audit.jsonl"), lines.concat()).unwrap();
        let findings = room.findings();
        assert!(findings.iter().any(|finding| finding.contains(expected)), "{expected}: {findings:?}");
    }
}

#[test]
fn a_change_that_cannot_be_written_is_an_error() {
    let room = LogRoom::new();
    fs::create_dir_all(room.user()).unwrap();
    fs::write(room.user().join("audit"), "in the way").unwrap();
    let error = PermissionChange::new(PermissionKind::Trust, "/work").write(&room.env()).unwrap_err();
    assert!(error.to_string().starts_with("cannot write the audit log in "), "{error}");
}
