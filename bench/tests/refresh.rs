//! Processes that keep one login never use a refresh token twice, and none of them loses the login. Nothing is timed here.

use std::process::Command;

#[test]
fn processes_share_one_login() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate-bench"));
    let output = command.args(["refresh", "--processes", "4", "--refreshes", "42"]).output().expect("it starts");
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{told}");
    let row: Vec<&str> = said.lines().last().expect("a row").split('|').map(str::trim).collect();
    let [_, processes, refreshes, _, twice, lost, ..] = row.as_slice() else { panic!("{said}") };
    assert_eq!((*processes, *refreshes, *twice, *lost), ("4", "42", "0", "0"), "{said}");
}
