//! `run_shell_command`: what comes back.

use serde_json::{Value, json};

use crate::room::{Room, has};

#[tokio::test]
async fn output_and_ending_come_back() {
    let room = Room::with(&[("sub/file", "content")]).await;
    room.link("inside", "sub");
    let ws = room.ws().to_str().unwrap().to_owned();
    let sub = format!("{ws}/sub");
    // Command, folder, text, exit code, whether it is an error.
    let cases: [(&str, Value, String, Value, bool); 15] = [
        ("echo hi", Value::Null, "hi\n".to_owned(), json!(0), false),
        ("true", Value::Null, "[exit code 0]".to_owned(), json!(0), false),
        ("printf a; printf b >&2", Value::Null, "a\n[stderr]\nb".to_owned(), json!(0), false),
        ("echo out; exit 3", Value::Null, "out\n[exit code 3]".to_owned(), json!(3), true),
        ("no_such_program_at_all 2>/dev/null", Value::Null, "[exit code 127]".to_owned(), json!(127), true),
        ("kill -9 $$", Value::Null, "[ended by signal 9]".to_owned(), Value::Null, true),
        ("pwd -P", Value::Null, format!("{ws}\n"), json!(0), false),
        ("pwd", json!("sub"), format!("{sub}\n"), json!(0), false),
        ("pwd", json!("inside"), format!("{sub}\n"), json!(0), false),
        ("cat file", json!(sub), "content".to_owned(), json!(0), false),
        ("cat", Value::Null, "[exit code 0]".to_owned(), json!(0), false),
        ("echo $GREETING ${HOME-none}", Value::Null, "hello none\n".to_owned(), json!(0), false),
        ("echo 'a b' | tr a-z A-Z; echo \"$0\"", Value::Null, "A B\n/bin/sh\n".to_owned(), json!(0), false),
        ("printf '\\377'", Value::Null, "\u{fffd}".to_owned(), json!(0), false),
        ("ls -l /proc/self/fd | grep -c /ws; true", Value::Null, "0\n".to_owned(), json!(0), false),
    ];
    for (command, cwd, text, code, is_error) in cases {
        let told = room.call("run_shell_command", json!({"command": command, "cwd": cwd})).await;
        assert_eq!(told.text(), text, "{command}");
        assert_eq!((&told.data()["exit_code"], told.is_error()), (&code, is_error), "{command}");
        assert_eq!(told.data()["timed_out"], false);
    }
    let told = room.call("run_shell_command", json!({"command": "echo o; echo e >&2; kill -15 $$"})).await;
    let data =
        json!({"exit_code": null, "signal": 15, "stdout": "o\n", "stderr": "e\n", "timed_out": false, "cut_bytes": 0});
    assert_eq!(*told.data(), data);
}

#[tokio::test]
async fn folders_that_cannot_be_entered_are_refused() {
    let room = Room::with(&[("file", "")]).await;
    for (cwd, part) in [("file", "not a folder"), ("missing", "does not exist"), ("", "empty")] {
        has(&room.failure("run_shell_command", json!({"command": "echo ran", "cwd": cwd})).await, &[part]);
    }
}

#[tokio::test]
async fn endless_output_is_drained_and_its_ends_are_kept() {
    let room = Room::with(&[]).await;
    let command = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last; echo warned >&2";
    let told = room.call("run_shell_command", json!({"command": command})).await;
    assert!(!told.is_error(), "{}", told.text());
    let stdout = told.data()["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("first\nxxx") && stdout.ends_with("xxx\nlast\n"));
    assert!(stdout.len() < 70_000, "{}", stdout.len());
    assert_eq!(told.data()["stderr"], "warned\n");
    assert_eq!(told.data()["cut_bytes"], 20_000_000 + 12 - 64 * 1024);
    has(stdout, &["bytes were cut here"]);
}
