//! `search_file_content`.

use serde_json::json;

use crate::room::{Room, has};

#[tokio::test]
async fn lines_are_found_where_they_stand() {
    let room = Room::with(&[
        ("a.rs", "fn main() {}\n\tlet x = 1;\n"),
        ("src/b.rs", "// main\nfn other() {}"),
        ("src/c.txt", "Main text\r\nmain\r\n"),
        ("ignored.log", "main"),
        (".gitignore", "*.log\n"),
        (".git/config", "main"),
        ("empty", ""),
    ])
    .await;
    room.link("link.rs", "a.rs");
    let ws = room.ws();
    let cases: [(serde_json::Value, &[&str]); 15] = [
        (json!({"pattern": "main"}), &["a.rs:1: fn main() {}", "src/b.rs:1: // main", "src/c.txt:2: main"]),
        (json!({"pattern": "(?i)^main$"}), &["src/c.txt:2: main"]),
        (json!({"pattern": "^\\s*let"}), &["a.rs:2: \tlet x = 1;"]),
        (json!({"pattern": "fn \\w+\\("}), &["a.rs:1: fn main() {}", "src/b.rs:2: fn other() {}"]),
        (json!({"pattern": "main", "path": "src"}), &["src/b.rs:1: // main", "src/c.txt:2: main"]),
        (json!({"pattern": "main", "path": ws.join("src")}), &["src/b.rs:1: // main", "src/c.txt:2: main"]),
        (json!({"pattern": "main", "path": "src/c.txt"}), &["src/c.txt:2: main"]),
        (json!({"pattern": "main", "path": ws.join("src/c.txt")}), &["src/c.txt:2: main"]),
        (json!({"pattern": "main", "path": "ignored.log"}), &["ignored.log:1: main"]),
        (json!({"pattern": "main", "path": "./link.rs"}), &["link.rs:1: fn main() {}"]),
        (json!({"pattern": "main", "include": "*.rs"}), &["a.rs:1: fn main() {}", "src/b.rs:1: // main"]),
        (json!({"pattern": "main", "include": "src/**/*.{rs,txt}"}), &["src/b.rs:1: // main", "src/c.txt:2: main"]),
        (json!({"pattern": "main", "path": "src", "include": "src/*.rs"}), &[]),
        (json!({"pattern": "main", "path": "a.rs", "include": "*.txt"}), &[]),
        (json!({"pattern": "nowhere"}), &[]),
    ];
    for (arguments, expected) in cases {
        let told = room.call("search_file_content", arguments.clone()).await;
        assert!(!told.is_error(), "{}", told.text());
        let text = told.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('[')).collect();
        assert_eq!(lines, expected, "{arguments}");
        assert_eq!(told.data()["matches"].as_array().unwrap().len(), expected.len());
        assert_eq!(told.data()["complete"], true);
    }
    let told = room.call("search_file_content", json!({"pattern": "other"})).await;
    assert_eq!(told.data()["matches"], json!([{"path": "src/b.rs", "line": 2, "text": "fn other() {}"}]));
    has(&room.text("search_file_content", json!({"pattern": "nowhere"})).await, &["no line fits, in 5 files"]);
    has(&room.failure("search_file_content", json!({"pattern": "a", "path": "missing"})).await, &["does not exist"]);
}

#[tokio::test]
async fn what_is_not_searched_or_shown_is_said() {
    let room = Room::with(&[]).await;
    room.put("binary", b"findme\0\0");
    room.put("latin1.txt", b"findme caf\xe9\n");
    room.put("utf16.txt", b"\xff\xfef\0i\0n\0d\0m\0e\0");
    let wide = format!("{}findme{}\n", "ä".repeat(300), "b".repeat(1000));
    room.put("wide.txt", wide.as_bytes());
    let told = room.call("search_file_content", json!({"pattern": "findme"})).await;
    let text = told.text();
    has(
        &text,
        &["latin1.txt:1: findme caf\u{fffd}", "utf16.txt:1: findme", "1 file was not searched because it is binary"],
    );
    let line = text.lines().find(|line| line.starts_with("wide.txt")).unwrap();
    has(line, &["findme", "more bytes]"]);
    assert!(line.chars().count() < 450, "{line}");

    room.put("many.txt", "hit\n".repeat(3000).as_bytes());
    let told = room.call("search_file_content", json!({"pattern": "hit"})).await;
    assert_eq!(told.data()["matches"].as_array().unwrap().len(), 500);
    assert_eq!(told.data()["complete"], false);
    has(&told.text(), &["ended after 500 lines", "narrower"]);

    room.put("one_line.txt", &vec![b'x'; 9 * 1024 * 1024]);
    std::fs::File::create(room.ws().join("huge.txt")).unwrap().set_len(65 * 1024 * 1024).unwrap();
    let told = room.call("search_file_content", json!({"pattern": "zzz"})).await;
    assert_eq!(told.data()["complete"], false);
    has(&told.text(), &["because of its size", "a line is too long"]);
}

#[tokio::test]
async fn no_pattern_takes_all_memory_or_all_time() {
    let room = Room::with(&[]).await;
    room.put("one_line.txt", &vec![b'a'; 3 * 1024 * 1024]);
    room.put("short.txt", "aab\n".as_bytes());
    // The pattern and the expected message.
    let cases = [
        ("a{1000}{100}", "SEARCH_PATTERN_BYTES_MAX"),
        ("(\\w{1,100}){100}", "SEARCH_PATTERN_BYTES_MAX"),
        ("(a?){900}b$", "short.txt:1: aab"),
        ("(a*)*b", "short.txt:1: aab"),
        ("(a|a|a)+$", "one_line.txt:1: aaa"),
        ("(?:a{0,90}){0,90}b", "short.txt:1: aab"),
    ];
    for (pattern, expected) in cases {
        let started = std::time::Instant::now();
        let told = room.call("search_file_content", json!({"pattern": pattern})).await;
        has(&told.text(), &[expected]);
        if !told.is_error() {
            assert_eq!(told.data()["complete"], false, "{pattern}");
            has(&told.text(), &["1 file was searched in part because a line is too long"]);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(40), "{pattern}: {:?}", started.elapsed());
    }
}
