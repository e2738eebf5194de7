//! `write_file` and `replace`.

use serde_json::{Value, json};

use crate::room::{Room, has};

#[tokio::test]
async fn files_are_written_whole_and_folders_made() {
    let room = Room::with(&[("old.txt", "before"), ("real/x", "")]).await;
    room.link("link.txt", "old.txt");
    room.link("absolute_link.txt", room.ws().join("real/x"));
    room.link("dangling", "real/new");
    room.link("folder", "real");
    let ws = room.ws();
    let cases = [
        (json!("new.txt"), "new.txt", "was made"),
        (json!("a/b/c/new.txt"), "a/b/c/new.txt", "was made"),
        (json!(ws.join("abs/new.txt")), "abs/new.txt", "was made"),
        (json!("real/../up.txt"), "up.txt", "was made"),
        (json!("old.txt"), "old.txt", "was replaced"),
        (json!("link.txt"), "old.txt", "was replaced"),
        (json!("absolute_link.txt"), "real/x", "was replaced"),
        (json!("dangling"), "real/new", "was made"),
        (json!("folder/in.txt"), "real/in.txt", "was made"),
        (json!("back\\slash"), "back\\slash", "was made"),
    ];
    for (at, (path, file, what)) in cases.into_iter().enumerate() {
        let content = format!("ä\r\n{at}\0");
        has(&room.text("write_file", json!({"path": path, "content": content})).await, &[what]);
        assert_eq!(room.content(file), content, "{path}");
    }
    assert!(room.ws().join("link.txt").is_symlink() && room.ws().join("dangling").is_symlink());
    assert_eq!(
        room.text("write_file", json!({"path": "empty", "content": ""})).await,
        "`empty` was made, with 0 bytes."
    );
    assert_eq!(room.content("empty"), "");
    let hidden = std::fs::read_dir(&ws)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".toolgate-"));
    assert_eq!(hidden.count(), 0, "no draft is left behind");
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_and_nothing_changes() {
    let room = Room::with(&[("file", "x"), ("folder/y", "")]).await;
    room.link("circle", "circle");
    let large = "x".repeat(17 * 1024 * 1024);
    let cases = [
        (json!({"path": "folder", "content": ""}), "is a folder"),
        (json!({"path": ".", "content": ""}), "is a folder"),
        (json!({"path": "new/", "content": ""}), "is a folder"),
        (json!({"path": "file/below", "content": ""}), "not a folder"),
        (json!({"path": "file/below/it", "content": ""}), "not a folder"),
        (json!({"path": "circle", "content": ""}), "circle"),
        (json!({"path": "x".repeat(300), "content": ""}), "longer than the system takes"),
        (json!({"path": "large", "content": large}), "WRITE_BYTES_MAX"),
    ];
    for (arguments, part) in cases {
        has(&room.failure("write_file", arguments).await, &[part]);
    }
    assert_eq!(room.content("file"), "x");
    assert_eq!(std::fs::read_dir(room.ws()).unwrap().count(), 3);
}

/// Content, old, new, expected number, content after.
type Replacement = (&'static [u8], &'static str, &'static str, Value, &'static [u8]);

#[tokio::test]
async fn replacing_keeps_everything_else() {
    let cases: [Replacement; 11] = [
        (b"one two one", "two", "2", Value::Null, b"one 2 one"),
        (b"one two one", "one", "1", json!(2), b"1 two 1"),
        (b"aaaa", "aa", "b", json!(2), b"bb"),
        (b"text", "text", "", Value::Null, b""),
        (b"a\r\nb\r\nc\r\n", "b", "x", Value::Null, b"a\r\nx\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", Value::Null, b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", Value::Null, b"x\r\ny\r\n"),
        (b"a\r\nb\nc\n", "b\n", "x\n", Value::Null, b"a\r\nx\nc\n"),
        (b"caf\xe9 old \xff\0", "old", "new", Value::Null, b"caf\xe9 new \xff\0"),
        ("ä ö ü".as_bytes(), "ö", "o", Value::Null, "ä o ü".as_bytes()),
        (b"$1 \\1", "$1", "${2}", json!(1.0), b"${2} \\1"),
    ];
    let room = Room::with(&[]).await;
    for (before, old, new, expected, after) in cases {
        room.put("file", before);
        let arguments =
            json!({"path": "file", "old_string": old, "new_string": new, "expected_replacements": expected});
        has(&room.text("replace", arguments).await, &["replaced", "line"]);
        assert_eq!(std::fs::read(room.ws().join("file")).unwrap(), after, "{old:?} by {new:?}");
    }
}

#[tokio::test]
async fn a_wrong_number_changes_nothing_and_is_said() {
    let room = Room::with(&[("file", "one\ntwo\none\n"), ("empty", ""), ("folder/x", "")]).await;
    room.link("link", "file");
    let with = |path: &str, old: &str, expected: u64| json!({"path": path, "old_string": old, "new_string": "new", "expected_replacements": expected});
    let cases = [
        (with("file", "three", 1), vec!["found 0 times", "expected 1", "Read the file first"]),
        (with("file", "one", 1), vec!["found 2 times", "lines 1, 3", "expected 1"]),
        (with("file", "one", 3), vec!["found 2 times", "expected 3"]),
        (with("file", "ONE", 1), vec!["found 0 times"]),
        (with("empty", "x", 1), vec!["found 0 times"]),
        (with("missing", "x", 1), vec!["does not exist"]),
        (with("folder", "x", 1), vec!["is a folder"]),
    ];
    for (arguments, parts) in cases {
        has(&room.failure("replace", arguments).await, &parts);
    }
    assert_eq!(room.content("file"), "one\ntwo\none\n");
    room.text("replace", with("link", "two", 1)).await;
    assert_eq!(room.content("file"), "one\nnew\none\n");
    assert!(room.ws().join("link").is_symlink());
}

#[tokio::test]
async fn a_file_that_grows_too_large_is_refused() {
    let room = Room::with(&[]).await;
    room.put("file", "x".repeat(100_000).as_bytes());
    let arguments =
        json!({"path": "file", "old_string": "x", "new_string": "y".repeat(1000), "expected_replacements": 100_000});
    has(&room.failure("replace", arguments).await, &["WRITE_BYTES_MAX"]);
    assert_eq!(room.content("file").len(), 100_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_at_the_same_time_do_not_lose_each_other() {
    let room = Room::with(&[]).await;
    let words: Vec<String> = (0..40).map(|number| format!("<{number}>")).collect();
    room.put("file", words.concat().as_bytes());
    let changes = words.iter().map(|word| {
        let new = word.replace('<', "[");
        room.text("replace", json!({"path": "file", "old_string": word, "new_string": new}))
    });
    futures_util::future::join_all(changes).await;
    assert_eq!(room.content("file"), words.concat().replace('<', "["));
}

#[tokio::test]
async fn a_hard_link_elsewhere_keeps_its_content() {
    let room = Room::with(&[]).await;
    std::fs::hard_link(room.outside().join("secret.txt"), room.ws().join("shared")).unwrap();
    room.text("write_file", json!({"path": "shared", "content": "mine"})).await;
    assert_eq!(std::fs::read_to_string(room.outside().join("secret.txt")).unwrap(), crate::room::SECRET);
}
