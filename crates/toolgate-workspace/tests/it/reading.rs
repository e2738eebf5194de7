//! `read_file`.

use std::time::Duration;

use serde_json::json;

use crate::room::{Room, has};

#[tokio::test]
async fn text_comes_as_it_is_and_notes_stand_apart() {
    let room = Room::with(&[
        ("plain.txt", "one\ntwo\nthree\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("no_end.txt", "one\ntwo"),
        ("empty.txt", ""),
        ("deep/er/file.txt", "deep"),
        ("üml äut.txt", "ü"),
        (".gitignore", "*.log\n"),
        ("build.log", "logged"),
        ("picture.svg", "<svg/>"),
        ("bom.txt", "\u{feff}bom"),
    ])
    .await;
    room.link("link.txt", "deep/er/file.txt");
    room.link("absolute.txt", room.ws().join("deep/er/file.txt"));
    room.link("folder_link", "deep");
    let absolute = room.ws().join("deep/er/file.txt");
    let cases = [
        (json!({"path": "plain.txt"}), "one\ntwo\nthree\n"),
        (json!({"path": "./plain.txt"}), "one\ntwo\nthree\n"),
        (json!({"path": "deep/../plain.txt"}), "one\ntwo\nthree\n"),
        (json!({"path": "plain.txt", "offset": 0, "limit": 3}), "one\ntwo\nthree\n"),
        (
            json!({"path": "plain.txt", "offset": 1.0, "limit": 1}),
            "two\n\n[these are the lines 1 to 1 of 3, counted from 0; read on with offset 2]",
        ),
        (json!({"path": "plain.txt", "offset": 2}), "three\n\n[these are the lines 2 to 2 of 3, counted from 0]"),
        (json!({"path": "crlf.txt"}), "one\r\ntwo\r\n"),
        (json!({"path": "no_end.txt", "offset": null}), "one\ntwo"),
        (json!({"path": "empty.txt"}), "[the file is empty]"),
        (json!({"path": "deep//er/./file.txt"}), "deep"),
        (json!({"path": absolute}), "deep"),
        (json!({"path": "link.txt"}), "deep"),
        (json!({"path": "absolute.txt"}), "deep"),
        (json!({"path": "folder_link/er/file.txt"}), "deep"),
        (json!({"path": "üml äut.txt"}), "ü"),
        (json!({"path": "build.log"}), "logged"),
        (json!({"path": "picture.svg"}), "<svg/>"),
        (json!({"path": "bom.txt"}), "\u{feff}bom"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(room.text("read_file", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_a_reason() {
    let room = Room::with(&[("a.txt", "1\n2\n3\n4\n5\n"), ("folder/x", "")]).await;
    room.put("binary", b"\x7fELF\0\0\0");
    room.put("utf16.txt", b"\xff\xfeh\0i\0");
    room.link("circle", "circle");
    let cases = [
        (json!({"path": "missing.txt"}), vec!["missing.txt", "does not exist", "list_directory"]),
        (json!({"path": "missing/a.txt"}), vec!["does not exist"]),
        (json!({"path": "a.txt/b"}), vec!["not a folder"]),
        (json!({"path": "a.txt/"}), vec!["not a folder"]),
        (json!({"path": "folder"}), vec!["is a folder"]),
        (json!({"path": "."}), vec!["is a folder"]),
        (json!({"path": "binary"}), vec!["binary", "7 bytes"]),
        (json!({"path": "utf16.txt"}), vec!["UTF-16", "iconv"]),
        (json!({"path": "circle"}), vec!["circle"]),
        (json!({"path": "a.txt", "offset": 5}), vec!["`offset` is 5", "5 lines"]),
        (json!({"path": "a.txt", "offset": 18_446_744_073_709_551_615_u64}), vec!["5 lines"]),
        (json!({"path": "x".repeat(300)}), vec!["longer than the system takes"]),
    ];
    for (arguments, parts) in cases {
        has(&room.failure("read_file", arguments).await, &parts);
    }
}

#[tokio::test]
async fn images_come_as_images() {
    let room = Room::with(&[]).await;
    let cases: [(&str, &[u8], &str); 3] = [
        ("a.png", b"\x89PNG\r\n\x1a\nrest", "image/png"),
        ("misnamed.txt", b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        ("a.gif", b"GIF89a rest", "image/gif"),
    ];
    for (name, bytes, mime_type) in cases {
        room.put(name, bytes);
        let told = room.call("read_file", json!({"path": name})).await;
        let block = &told.0["content"][0];
        assert_eq!((&block["type"], &block["mimeType"]), (&json!("image"), &json!(mime_type)));
        use base64::Engine as _;
        let data = base64::engine::general_purpose::STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
        assert_eq!(data, bytes);
    }
    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(5 * 1024 * 1024, 1);
    room.put("large.png", &large);
    has(&room.failure("read_file", json!({"path": "large.png"})).await, &["IMAGE_BYTES_MAX", "5242880 bytes"]);
}

#[tokio::test]
async fn large_and_broken_texts_say_what_was_cut() {
    let room = Room::with(&[]).await;
    room.put("long.txt", "line\n".repeat(5000).as_bytes());
    room.put("wide.txt", "x".repeat(300 * 1024).as_bytes());
    room.put("latin1.txt", b"caf\xe9\n");
    let long = room.text("read_file", json!({"path": "long.txt"})).await;
    has(&long, &["lines 0 to 1999 of 5000", "offset 2000"]);
    let rest = room.text("read_file", json!({"path": "long.txt", "offset": 2000, "limit": 10_000})).await;
    has(&rest, &["lines 2000 to 4999 of 5000"]);
    assert!(!rest.contains("read on"), "nothing is left");
    let wide = room.text("read_file", json!({"path": "wide.txt"})).await;
    has(&wide, &["line 0 is cut after 262144 bytes", "run_shell_command"]);
    assert!(wide.len() < 270 * 1024);
    has(&room.text("read_file", json!({"path": "latin1.txt"})).await, &["caf\u{fffd}", "not UTF-8"]);
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_neither_waited_for_nor_read() {
    let room = Room::with(&[("a.txt", "findme")]).await;
    let ws = room.ws();
    rustix::fs::mkfifoat(rustix::fs::CWD, ws.join("pipe"), rustix::fs::Mode::from_bits_truncate(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(ws.join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        for (tool, arguments) in [
            ("read_file", json!({"path": name})),
            ("replace", json!({"path": name, "old_string": "a", "new_string": "b"})),
            ("write_file", json!({"path": name, "content": "x"})),
            ("list_directory", json!({"path": name})),
            ("search_file_content", json!({"path": name, "pattern": "x"})),
        ] {
            let asked = tokio::time::timeout(Duration::from_secs(20), room.failure(tool, arguments));
            let text = asked.await.unwrap_or_else(|_| panic!("{tool} waits for {name}"));
            has(&text, &[name]);
        }
    }
    let found = room.call("search_file_content", json!({"pattern": "."})).await;
    assert_eq!(found.data()["files_searched"], 1);
    has(&room.text("list_directory", json!({"path": "."})).await, &["pipe (pipe, socket or device)"]);
}
