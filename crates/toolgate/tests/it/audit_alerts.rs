//! Limits of `audit.alerts`: the calls that pass them, during a run and afterwards, and the reports.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolgate::audit::{
    Alert, AlertCommands, AlertReplay, AlertRules, AuditRecord, AuditSink as _, FileAudit, Query, StoredCall,
};
use toolgate::settings::{LoadOptions, load};

use crate::audit::LogRoom;

/// The limits of the person's settings.
fn rules(room: &LogRoom, audit: &Value) -> AlertRules {
    fs::create_dir_all(room.user()).unwrap();
    fs::write(room.user().join("settings.json"), json!({ "audit": audit }).to_string()).unwrap();
    AlertRules::of(&load(&room.env(), &LoadOptions::default()))
}

/// The log with these limits, and its alerts.
fn watched(room: &LogRoom, rules: &AlertRules) -> (FileAudit, Arc<Mutex<Vec<Alert>>>) {
    let told: Arc<Mutex<Vec<Alert>>> = Arc::default();
    let hears = Arc::clone(&told);
    let rules = Arc::new(rules.clone());
    (room.audit().on_alert(&rules, move |alert| hears.lock().unwrap().push(alert.clone())), told)
}

/// Measure, value and limit.
fn shown(alerts: &[Alert]) -> Vec<String> {
    alerts.iter().map(|alert| format!("{} {} {} > {}", alert.name, alert.tool, alert.value, alert.limit)).collect()
}

/// A call some seconds after the previous one.
type Call = (u64, fn(&mut AuditRecord));

fn quick(_: &mut AuditRecord) {}

fn denied(record: &mut AuditRecord) {
    record.outcome = "denied";
}

fn failed(record: &mut AuditRecord) {
    record.outcome = "tool_error";
}

fn large(record: &mut AuditRecord) {
    record.result_bytes = Some(5_000);
}

fn slow(record: &mut AuditRecord) {
    record.took = Duration::from_secs(9);
}

fn other_tool(record: &mut AuditRecord) {
    record.tool = "write".to_owned();
}

const DAY: u64 = 24 * 60 * 60;

#[test]
fn calls_that_pass_a_limit_are_told_flagged_and_found_again() {
    let many = |count: usize, call: Call| vec![call; count];
    let cases: Vec<(Value, Vec<Call>, Vec<&str>)> = vec![
        (json!([{"callsPerMinute": 3}]), many(6, (1, quick)), vec!["callsPerMinute read 4 > 3"]),
        (json!([{"callsPerMinute": 3}]), many(6, (30, quick)), vec![]),
        (
            json!([{"name": "busy", "callsPerMinute": 3, "server": "files"}]),
            many(4, (1, quick)),
            vec!["busy read 4 > 3"],
        ),
        (json!([{"callsPerMinute": 3, "server": "web"}]), many(6, (1, quick)), vec![]),
        (json!([{"callsPerMinute": 3, "tool": "wr*"}]), many(6, (1, quick)), vec![]),
        (
            json!([{"callsPerMinute": 2, "per": "tool"}]),
            vec![(1, quick), (1, other_tool), (1, quick), (1, other_tool), (1, quick)],
            vec!["callsPerMinute read 3 > 2"],
        ),
        (
            json!([{"denialsPerMinute": 1}]),
            vec![(1, denied), (1, quick), (1, denied)],
            vec!["denialsPerMinute read 2 > 1"],
        ),
        (json!([{"errorPercent": 50}]), many(9, (1, failed)), vec![]),
        (json!([{"errorPercent": 50}]), many(12, (1, failed)), vec!["errorPercent read 100 > 50"]),
        (json!([{"resultBytes": 4_000}]), vec![(1, quick), (1, large)], vec!["resultBytes read 5000 > 4000"]),
        (json!([{"latencyMs": 500}]), vec![(1, quick), (1, slow)], vec!["latencyMs read 9000 > 500"]),
        (json!([{"newToolAfterDays": 7}]), vec![(1, quick), (DAY, other_tool)], vec![]),
        (
            json!([{"newToolAfterDays": 7}]),
            vec![(1, quick), (8 * DAY, other_tool)],
            vec!["newToolAfterDays write 8 > 7"],
        ),
        (json!([{"hours": "00:00-24:00"}]), many(2, (1, quick)), vec![]),
        (json!([{"hours": "00:00-00:00"}]), vec![(1, quick)], vec!["hours read 0 > 0"]),
        (json!([{"flag": false, "resultBytes": 10}]), vec![(1, quick)], vec!["resultBytes read 34 > 10"]),
        (json!([]), many(3, (1, quick)), vec![]),
    ];
    for (limits, calls, expected) in cases {
        let room = LogRoom::new();
        // The test begins at midnight.
        let into_day = room.clock().now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() % DAY;
        room.clock().advance(Duration::from_secs(DAY - into_day));
        let rules = rules(&room, &json!({ "alerts": limits }));
        assert_eq!(rules.problems, Vec::<String>::new(), "{limits}");
        let (audit, told) = watched(&room, &rules);
        for (nth, (after, change)) in calls.iter().enumerate() {
            if nth > 0 {
                room.clock().advance(Duration::from_secs(*after));
            }
            let mut record = room.record("read");
            change(&mut record);
            audit.record(&record);
        }
        assert_eq!(shown(&told.lock().unwrap()), expected, "{limits}");
        let stored = room.calls(&Query::default());
        let is_flagged = limits[0]["flag"] != json!(false);
        let flagged = stored.iter().filter(|call| !call.alerts.is_empty()).count();
        assert_eq!(flagged, if is_flagged { expected.len() } else { 0 }, "{limits}");
        if !is_flagged {
            assert!(!room.text("audit.jsonl").contains("\"alerts\""), "{limits}: absent when none is flagged");
        }
        let mut replay = AlertReplay::new(rules);
        let again: Vec<Alert> = stored.iter().flat_map(|call: &StoredCall| replay.add(call)).collect();
        assert_eq!(shown(&again), expected, "{limits}: the log tells the same");
        assert!(room.verify().is_sound());
    }
}

/// Before times of calls were kept, nothing said since when a server is used.
#[test]
fn a_server_whose_first_use_is_unknown_is_not_settled() {
    let old = r#"{"asker":"cli","server":"files","tool":"read","readOnly":false}"#;
    let dated = r#"{"asker":"model","server":"files","tool":"read","readOnly":false,"at":1}"#;
    // lines of the file, whether another tool is news
    for (lines, is_news) in [(vec![old], false), (vec![old, dated], true), (vec![dated, old], true)] {
        let room = LogRoom::new();
        let rules = rules(&room, &json!({"alerts": [{"newToolAfterDays": 14}]}));
        fs::create_dir_all(room.user().join("audit")).unwrap();
        fs::write(room.path("seen.jsonl"), format!("{}\n", lines.join("\n"))).unwrap();
        let (audit, told) = watched(&room, &rules);
        audit.record(&room.record("write"));
        assert_eq!(!told.lock().unwrap().is_empty(), is_news, "{lines:?}");
        let flags = room.text("audit.jsonl");
        assert_eq!(flags.contains("new_tool"), is_news, "{lines:?}: {flags}");
    }
}

#[test]
fn calls_of_other_processes_count() {
    let room = LogRoom::new();
    let rules = rules(&room, &json!({"alerts": [{"callsPerMinute": 3}]}));
    let mut told = Vec::new();
    for _ in 0..6 {
        let (audit, heard) = watched(&room, &rules);
        audit.record(&room.record("read"));
        drop(audit);
        told.extend(shown(&heard.lock().unwrap()));
    }
    assert_eq!(told, ["callsPerMinute read 4 > 3"]);
}

#[test]
fn a_mistake_in_a_limit_is_told_with_its_place() {
    let cases = [
        (json!({"alerts": 7}), "expected a list of limits"),
        (json!({"alerts": ["x"]}), "expected an object"),
        (json!({"alerts": [{"server": "x"}]}), "no limit is set"),
        (json!({"alerts": [{"callsPerMinute": "many"}]}), "`callsPerMinute` takes a whole number"),
        (json!({"alerts": [{"callsPerMinut": 3}]}), "unknown key `callsPerMinut`; did you mean `callsPerMinute`?"),
        (json!({"alerts": [{"errorPercent": 101}]}), "`errorPercent` takes a whole number up to 100"),
        (json!({"alerts": [{"hours": "9 to 5"}]}), "`hours` takes a text such as \"08:00-18:00\""),
        (json!({"alerts": [{"per": "day", "latencyMs": 1}]}), "`per` takes \"server\", \"tool\" or \"all\""),
        (json!({"alerts": [{"hours": "08:00-24:59"}]}), "`hours` takes a text such as \"08:00-18:00\""),
        (
            json!({"alerts": [{"callsPerMinute": 10_000}]}),
            "no call can pass this `callsPerMinute`: at most 10000 calls",
        ),
        (json!({"alerts": [{"denialsPerMinute": 20_000}]}), "no call can pass this `denialsPerMinute`: at most 10000"),
        (json!({"alerts": [{"errorPercent": 100}]}), "no call can pass this `errorPercent`: no more than 100 %"),
    ];
    for (audit, expected) in cases {
        let room = LogRoom::new();
        let rules = rules(&room, &audit);
        let found =
            rules.problems.iter().any(|problem| problem.contains("settings.json:1") && problem.contains(expected));
        assert!(found, "{audit}: {:?}", rules.problems);
    }
}

#[test]
fn a_folder_sets_no_limits() {
    let room = LogRoom::new();
    let folder = room.env().workspace.join(".toolgate");
    fs::create_dir_all(&folder).unwrap();
    let text = json!({"audit": {"alerts": [{"callsPerMinute": 0}], "onAlert": "touch pwned"}}).to_string();
    fs::write(folder.join("settings.json"), text).unwrap();
    let mut settings = load(&room.env(), &LoadOptions::default());
    settings.layers.append(&mut settings.brought.layers.clone());
    assert!(AlertRules::of(&settings).is_empty());
}

#[cfg(unix)]
#[test]
fn a_command_is_told_and_does_not_run_for_ever() {
    let room = LogRoom::new();
    let told = room.user().join("told.jsonl");
    let command = format!("cat >> '{}'", told.display());
    let rules =
        rules(&room, &json!({"onAlert": command, "alerts": [{"resultBytes": 10}, {"latencyMs": 1, "command": false}]}));
    let (audit, heard) = watched(&room, &rules);
    audit.record(&room.record("read"));
    let mut env = room.env();
    env.vars.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let commands = AlertCommands::new(&env);
    heard.lock().unwrap().iter().for_each(|alert| commands.tell(alert));
    drop(commands);
    let lines: Vec<Value> =
        fs::read_to_string(&told).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "the other limit has no command");
    let alert = (&lines[0]["alert"], &lines[0]["server"], &lines[0]["value"], &lines[0]["limit"]);
    assert_eq!(alert, (&json!("resultBytes"), &json!("files"), &json!(34), &json!(10)));
    let commands = AlertCommands::new(&env);
    let alert = Alert { command: Some("true".to_owned()), ..heard.lock().unwrap()[0].clone() };
    (0..100).for_each(|_| commands.tell(&alert));
    let begun = std::time::Instant::now();
    drop(commands);
    assert!(begun.elapsed() < Duration::from_secs(15));
}
