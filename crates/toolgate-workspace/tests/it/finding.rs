//! `list_directory` and `glob`, and what `.gitignore` leaves out of both.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::room::{Room, has};

/// A folder with rules at two levels.
const FILES: [(&str, &str); 12] = [
    (".gitignore", "*.log\n/target\nbuild/\n!keep.log\n"),
    (".git/config", "git's own"),
    (".github/ci.yml", "ci"),
    ("README.md", "read me"),
    ("src/lib.rs", "lib"),
    ("src/deep/mod.rs", "mod"),
    ("src/deep/.gitignore", "/mod.rs.bak\n!debug.log\n"),
    ("src/deep/mod.rs.bak", "bak"),
    ("src/deep/debug.log", "kept by the deeper rule"),
    ("src/other.log", "log"),
    ("keep.log", "kept"),
    ("target/out.rs", "out"),
];

#[tokio::test]
async fn folders_are_listed_first_with_sizes_and_without_what_is_ignored() {
    let room = Room::with(&FILES).await;
    room.put("build/x", b"");
    room.link("link", "README.md");
    std::fs::create_dir(room.ws().join("empty")).unwrap();
    let cases = [
        (
            ".",
            ".github/\nempty/\nsrc/\n.gitignore (31 bytes)\nREADME.md (7 bytes)\nkeep.log (4 bytes)\nlink (link)\n[3 entries ignored by .gitignore (or .git itself) were left out]",
        ),
        ("src", "deep/\nlib.rs (3 bytes)\n[1 entry ignored by .gitignore (or .git itself) was left out]"),
        (
            "src/deep/",
            ".gitignore (23 bytes)\ndebug.log (23 bytes)\nmod.rs (3 bytes)\n[1 entry ignored by .gitignore (or .git itself) was left out]",
        ),
        ("empty", "[the folder is empty]"),
        ("target", "out.rs (3 bytes)"),
    ];
    for (path, expected) in cases {
        assert_eq!(room.text("list_directory", json!({"path": path})).await, expected, "{path}");
    }
    let data = room.call("list_directory", json!({"path": "src"})).await;
    let entries = json!([{"name": "deep", "kind": "folder"}, {"name": "lib.rs", "kind": "file", "size": 3}]);
    assert_eq!(*data.data(), json!({"entries": entries, "ignored": 1, "cut": 0}));
    for (path, part) in [("README.md", "not a folder"), ("missing", "does not exist")] {
        has(&room.failure("list_directory", json!({"path": path})).await, &[part]);
    }
}

#[tokio::test]
async fn globs_find_files_sorted_and_without_what_is_ignored() {
    let room = Room::with(&FILES).await;
    room.link("src/link.rs", "lib.rs");
    room.link("linked", "src");
    let ws = room.ws();
    let cases: [(serde_json::Value, &[&str]); 17] = [
        (json!({"pattern": "*.md"}), &["README.md"]),
        (json!({"pattern": "./*.md"}), &["README.md"]),
        (json!({"pattern": "*.rs"}), &[]),
        (json!({"pattern": "**/*.rs"}), &["src/deep/mod.rs", "src/lib.rs", "src/link.rs"]),
        (json!({"pattern": "src/*.rs"}), &["src/lib.rs", "src/link.rs"]),
        (json!({"pattern": "*.rs", "path": "src"}), &["src/lib.rs", "src/link.rs"]),
        (json!({"pattern": "*.rs", "path": ws.join("src")}), &["src/lib.rs", "src/link.rs"]),
        (json!({"pattern": ws.join("src/d*/*.rs")}), &["src/deep/mod.rs"]),
        (json!({"pattern": "*.rs", "path": "linked"}), &["src/lib.rs", "src/link.rs"]),
        (json!({"pattern": "linked/*.rs"}), &[]),
        (json!({"pattern": "{src,target}/*.rs"}), &["src/lib.rs", "src/link.rs"]),
        (json!({"pattern": "{src/deep,.github}/*.{rs,yml}"}), &[".github/ci.yml", "src/deep/mod.rs"]),
        (json!({"pattern": "target/*"}), &[]),
        (json!({"pattern": "*", "path": "target"}), &["target/out.rs"]),
        (json!({"pattern": "**/*.log"}), &["keep.log", "src/deep/debug.log"]),
        (json!({"pattern": "**/config"}), &[]),
        (json!({"pattern": "[RS]*.m?"}), &["README.md"]),
    ];
    for (arguments, expected) in cases {
        let told = room.call("glob", arguments.clone()).await;
        assert!(!told.is_error(), "{}", told.text());
        assert_eq!(told.strings("files"), expected, "{arguments}");
        assert_eq!(told.data()["complete"], true);
        let lines: Vec<String> = told.text().lines().take(expected.len()).map(str::to_owned).collect();
        assert_eq!(lines, expected, "{arguments}");
    }
    has(&room.text("glob", json!({"pattern": "*.rs"})).await, &["no file fits", "**/", "ignored"]);
    has(&room.failure("glob", json!({"pattern": "*", "path": "README.md"})).await, &["not a folder"]);
    has(&room.failure("glob", json!({"pattern": ws.join("*"), "path": "src"})).await, &["leave one of them out"]);
}

#[tokio::test]
async fn many_files_are_counted_and_the_first_are_shown() {
    let room = Room::with(&[]).await;
    for folder in 0..30 {
        let folder = room.ws().join(format!("f{folder:02}"));
        std::fs::create_dir(&folder).unwrap();
        for file in 0..100 {
            std::fs::write(folder.join(format!("{file:03}.txt")), "").unwrap();
        }
    }
    let told = room.call("glob", json!({"pattern": "**/*.txt"})).await;
    assert_eq!(told.strings("files").len(), 1000);
    assert_eq!(told.strings("files")[0], "f00/000.txt");
    assert_eq!((&told.data()["found"], &told.data()["complete"]), (&json!(3000), &json!(false)));
    has(&told.text(), &["1000 of 3000 files are shown", "narrower"]);
}

#[tokio::test]
async fn a_large_folder_is_cut_and_a_deep_one_is_not_entered_for_ever() {
    let room = Room::with(&[]).await;
    std::fs::create_dir(room.ws().join("large")).unwrap();
    for file in 0..2100 {
        std::fs::write(room.ws().join(format!("large/{file:04}")), "").unwrap();
    }
    let told = room.call("list_directory", json!({"path": "large"})).await;
    assert_eq!((told.strings("entries").len(), &told.data()["cut"]), (2000, &json!(100)));
    has(&told.text(), &["100 further entries are not shown", "glob"]);

    let deep = "d/".repeat(200);
    std::fs::create_dir_all(room.ws().join(&deep)).unwrap();
    room.put(&format!("{deep}bottom"), b"");
    let told = room.call("glob", json!({"pattern": "**/bottom"})).await;
    assert_eq!((told.strings("files").len(), &told.data()["complete"]), (0, &json!(false)));
    has(&told.text(), &["too deep"]);
    let halfway = "d/".repeat(150);
    let told = room.call("glob", json!({"pattern": "**/bottom", "path": halfway})).await;
    assert_eq!(told.strings("files"), [format!("{deep}bottom")]);
}

#[tokio::test]
async fn strange_names_do_not_break_an_answer() {
    let room = Room::with(&[("new\nline.txt", "a"), ("\u{1b}[31mred.txt", "b")]).await;
    std::fs::write(room.ws().join(OsStr::from_bytes(b"b\xffd.txt")), "findme").unwrap();
    std::fs::create_dir(room.ws().join(OsStr::from_bytes(b"d\xffr"))).unwrap();
    std::fs::write(room.ws().join(OsStr::from_bytes(b"d\xffr/in.txt")), "findme").unwrap();
    let listed = room.text("list_directory", json!({"path": "."})).await;
    has(&listed, &["new\\nline.txt (1 byte)", "\\u{1b}[31mred.txt", "b\u{fffd}d.txt (6 bytes)", "d\u{fffd}r/"]);
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let found = room.text("glob", json!({"pattern": "**/*.txt"})).await;
    has(&found, &["new\\nline.txt", "b\u{fffd}d.txt", "d\u{fffd}r/in.txt", "not UTF-8"]);
    let searched = room.call("search_file_content", json!({"pattern": "findme"})).await;
    assert_eq!(searched.data()["matches"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rules_outside_the_workspace_do_not_count() {
    let room = Room::with(&[("a.txt", "")]).await;
    std::fs::write(room.ws().with_file_name(".gitignore"), "*.txt\n").unwrap();
    assert_eq!(room.call("glob", json!({"pattern": "*"})).await.strings("files"), ["a.txt"]);
}
