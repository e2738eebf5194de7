//! What is generated is what the program prints, in the documents and for editors. `UPDATE_DOCS=1` writes the documents anew.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::room::Room;

const BEGIN: &str = "<!-- Generated from the table of keys;";
const END: &str = "<!-- End of what is generated. -->";

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Compares a document with what it should be, or makes it that.
fn check(name: &str, expected: &str) {
    let path = document(name);
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides whether documents are written")]
    let is_update = std::env::var_os("UPDATE_DOCS").is_some();
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    if is_update && written != expected {
        std::fs::write(&path, expected).expect("the document is written");
    } else {
        let differs = expected.lines().zip(written.lines()).find(|(expected, written)| expected != written);
        assert!(written == expected, "docs/{name} is out of date, from {differs:?}; UPDATE_DOCS=1 writes it anew");
    }
}

fn printed(line: &str) -> String {
    let output = Room::new().run(line);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "{line}");
    output.stdout
}

#[test]
fn the_settings_page_has_the_tables_that_the_program_prints() {
    let page = std::fs::read_to_string(document("settings.md")).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the beginning is marked");
    let (comment, rest) = rest.split_once('\n').expect("the mark has a line of its own");
    let (_, after) = rest.split_once(END).expect("the end is marked");
    check("settings.md", &format!("{before}{BEGIN}{comment}\n\n{}\n{END}{after}", printed("settings reference")));
}

#[test]
fn the_schema_is_the_one_that_the_program_prints() {
    let schema = printed("settings schema");
    check("settings.schema.json", &schema);
    let for_people: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(Room::new().json("settings schema --json"), for_people);
}

#[test]
fn a_broken_settings_file_is_no_reason_not_to_say_what_belongs_into_one() {
    let room = Room::new();
    room.world.write_in_home(".toolgate/settings.json", "{").unwrap();
    for line in ["settings schema", "settings reference"] {
        let output = room.run(line);
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn an_editor_that_goes_by_the_schema_reads_what_the_program_reads() {
    let room = Room::new();
    let text = format!("{{\"$schema\": \"{}\", \"mcpServers\": {{}}}}", document("settings.schema.json").display());
    room.world.write_in_home(".toolgate/settings.json", &text).unwrap();
    let output = room.run("mcp list");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "{}", output.transcript());
}
