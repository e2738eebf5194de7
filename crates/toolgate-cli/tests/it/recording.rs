//! The recording in the README: its first commands in an empty home, run here and compared.
//!
//! `UPDATE_RECORDING=1` writes what they print today to `recording.txt`; the README shows that text between its two marks.

use std::path::{Path, PathBuf};

use crate::room::Room;

/// What is typed, in this order.
const LINES: [&str; 3] = [
    "toolgate tools",
    "toolgate call --yes write_file path=hello.txt content=hello",
    "toolgate call read_file path=hello.txt",
];

const BEGIN: &str = "<!-- recording: begin -->";
const END: &str = "<!-- recording: end -->";

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

fn record() -> String {
    let room = Room::new().with_questions();
    let mut text = String::from("```console\n");
    for line in LINES {
        let words = line.split(' ').skip(1);
        let output = room.command(words).env("COLUMNS", "100").run().unwrap();
        assert_eq!(output.code(), Some(0), "{line}: {}", output.transcript());
        assert_eq!(output.stderr, "", "{line}");
        text.push_str(&format!("$ {line}\n{}", output.shown_stdout()));
    }
    text.push_str("```\n");
    text
}

#[test]
fn the_readme_shows_what_happens() {
    let recorded = record();
    let file = beside("recording.txt");
    if std::env::vars_os().any(|(name, _)| name == "UPDATE_RECORDING") {
        std::fs::write(&file, &recorded).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), recorded, "run this test with UPDATE_RECORDING=1");
    let readme = std::fs::read_to_string(beside("../../../../README.md")).unwrap();
    let (_, after) = readme.split_once(BEGIN).expect("the README has the recording");
    let (shown, _) = after.split_once(END).expect("the recording in the README ends");
    assert_eq!(shown.trim(), recorded.trim(), "the README shows another recording than {}", file.display());
}
