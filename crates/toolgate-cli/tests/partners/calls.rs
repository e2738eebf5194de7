//! One call and more of every server, with the content it really answers.

use serde_json::{Value, json};

use crate::room::{NOTES, Room, read_json, texts};

#[test]
fn time_zones_are_converted() {
    let room = Room::with_every_partner();
    // Neither has summer time, so this holds on every day.
    let words = ["convert_time", "source_timezone=Asia/Tokyo", "time=12:00", "target_timezone=Asia/Kolkata"];
    let report = room.call(&words);
    assert_eq!((&report["server"], &report["tool"]), (&json!("time"), &json!("convert_time")));
    let answer = read_json(&texts(&report));
    assert_eq!(answer["time_difference"], "-3.5h", "{answer:#}");
    assert!(answer["target"]["datetime"].as_str().is_some_and(|at| at.ends_with("T08:30:00+05:30")), "{answer:#}");
}

#[test]
fn a_repository_is_looked_at() {
    let room = Room::with_every_partner();
    let path = format!("repo_path={}", room.in_workspace("repository"));
    let status = texts(&room.call(&["git_status", &path]));
    assert!(status.contains("On branch main") && status.contains("new.txt"), "{status}");
    let log = texts(&room.call(&["git_log", &path, "max_count=1"]));
    assert!(log.contains("the first commit") && log.contains("Room"), "{log}");
}

#[test]
fn files_are_read_and_written_by_two_servers() {
    let room = Room::with_every_partner();
    let notes = format!("path={}", room.in_workspace("notes.txt"));
    let theirs = room.call(&["read_file", &notes]);
    assert_eq!((&theirs["server"], texts(&theirs).as_str()), (&json!("files"), NOTES));
    let ours = room.call(&["workspace__read_file", "path=notes.txt"]);
    assert_eq!((&ours["server"], &ours["tool"]), (&json!("workspace"), &json!("read_file")));
    assert!(texts(&ours).contains("zweite Zeile ✓"), "{ours:#}");
    let new = room.in_workspace("new/written.txt");
    room.call(&["create_directory", &format!("path={}", room.in_workspace("new"))]);
    room.call(&["write_file", &format!("path={new}"), "content=as it is = written"]);
    assert_eq!(std::fs::read_to_string(&new).expect("the file was written"), "as it is = written");
    let folder = texts(&room.call(&["list_directory", &format!("path={}", room.in_workspace(""))]));
    assert!(folder.contains("[FILE] notes.txt") && folder.contains("[DIR] repository"), "{folder}");
}

#[test]
fn what_is_remembered_is_there_in_the_next_run() {
    let room = Room::with_every_partner();
    let entity = json!({"name": "toolgate", "entityType": "program", "observations": ["calls tools"]});
    let arguments = json!({"entities": [entity]}).to_string();
    let created = room.call(&["create_entities", "--args", &arguments]);
    assert_eq!(created["structuredContent"], json!({"entities": [entity]}), "{created:#}");
    assert!(room.graph().exists(), "the server was given its variable");
    let graph = room.call(&["read_graph"]);
    assert_eq!(graph["structuredContent"], json!({"entities": [entity], "relations": []}), "{graph:#}");
}

#[test]
fn a_fastmcp_server_answers_with_structure() {
    let room = Room::with_every_partner();
    let sum = room.call(&["add", "a=2", "b=3"]);
    assert_eq!((&sum["server"], &sum["structuredContent"]), (&json!("fastmcp"), &json!({"sum": 5})));
    assert_eq!(texts(&sum), "5");
    let echo = room.call(&["echo", "message=hello wörld ✓"]);
    assert_eq!((&echo["server"], texts(&echo).as_str()), (&json!("fastmcp"), "hello wörld ✓"));
    assert_eq!(texts(&room.call(&["count", "n=3"])), "counted 3");
}

#[test]
fn the_reference_server_answers_with_every_kind_of_content() {
    let room = Room::with_every_partner();
    let echo = room.call(&["everything__echo", "message=hello wörld ✓"]);
    assert_eq!((&echo["server"], &echo["tool"]), (&json!("everything"), &json!("echo")));
    assert_eq!(echo["display"], "Echo: hello wörld ✓");
    assert_eq!(texts(&room.call(&["get-sum", "a=2", "b=3"])), "The sum of 2 and 3 is 5.");
    let image = room.call(&["get-tiny-image"]);
    let picture = &image["content"][1];
    assert_eq!((&picture["type"], &picture["mimeType"]), (&json!("image"), &json!("image/png")));
    assert!(picture["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")), "the signature of PNG");
    assert!(image["display"].as_str().is_some_and(|text| text.contains("[Image: image/png]")), "{}", image["display"]);
    let weather = room.call(&["get-structured-content", "location=New York"]);
    let expected = json!({"temperature": 33, "conditions": "Cloudy", "humidity": 82});
    assert_eq!(weather["structuredContent"], expected);
    let links = room.call(&["get-resource-links", "count=2"]);
    let shown = links["display"].as_str().expect("a text");
    assert!(shown.contains("demo://resource/dynamic/text/2"), "{shown}");
}

#[test]
fn people_get_the_text_and_nothing_else() {
    let room = Room::with_every_partner();
    assert_eq!(room.prints(&["call", "--yes", "get-sum", "a=40", "b=2"]), "The sum of 40 and 2 is 42.\n");
    let shown = room.prints(&["call", "--yes", "get-tiny-image"]);
    assert!(shown.contains("[Image: image/png]") && !shown.contains("iVBOR"), "{shown}");
}

#[test]
fn what_goes_wrong_is_told_apart() {
    let room = Room::with_every_partner();
    // Who may read what is up to the server; the tool ran and says no.
    let outside = room.toolgate(&["call", "--yes", "--json", "read_file", "path=/etc/hostname"]);
    let report = read_json(&outside.stdout);
    assert_eq!(outside.code(), Some(1), "{}", outside.transcript());
    assert_eq!((&report["outcome"], &report["isError"]), (&json!("tool_error"), &json!(true)), "{report:#}");
    assert!(texts(&report).contains("Access denied"), "{report:#}");
    let unknown = room.toolgate(&["call", "--yes", "--json", "read_fil", "path=notes.txt"]);
    let report = read_json(&unknown.stdout);
    assert_eq!((unknown.code(), &report["error"]["code"]), (Some(7), &json!(7)), "{report:#}");
    assert!(report["error"].to_string().contains("read_file"), "the nearest name is told: {report:#}");
    let wrong = room.toolgate(&["call", "--yes", "--json", "get-sum", "a=two", "b=3"]);
    let report = read_json(&wrong.stdout);
    assert_eq!((wrong.code(), &report["error"]["code"]), (Some(2), &json!(2)), "{report:#}");
    assert_ne!(report["error"]["message"], Value::Null, "{report:#}");
}
