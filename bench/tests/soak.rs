//! A soak of a few seconds does its work and draws its picture. Whether memory stays flat is told by longer ones.

use std::process::Command;

#[test]
fn a_soak_answers_every_call_and_draws_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("soak.svg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate-bench"));
    let output = command.args(["soak", "--seconds", "5", "--out"]).arg(&picture).output().expect("it starts");
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!told.contains("went wrong"), "{told}");
    let row: Vec<&str> = said.lines().last().expect("a row").split('|').map(str::trim).collect();
    let [_, _, answered, ..] = row.as_slice() else { panic!("{said}{told}") };
    assert!(answered.parse::<u64>().is_ok_and(|answered| answered > 0), "{said}{told}");
    assert!(std::fs::read_to_string(picture).expect("a picture").contains("descriptors"));
}
