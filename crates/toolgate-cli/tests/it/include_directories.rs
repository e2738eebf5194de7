//! `context.includeDirectories` and `--include-directories`: who may name folders beside the workspace, and what they are good for.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::room::Room;
use crate::runtime_room::RuntimeRoom;

/// A room with the folders `inc` and `other` beside the workspace.
fn room() -> Room {
    let room = Room::new();
    for folder in ["inc/deep", "other"] {
        std::fs::create_dir_all(room.world.root().join(folder)).unwrap();
    }
    for (file, text) in [("inc/i.txt", "in inc\n"), ("other/o.txt", "in other\n"), ("outside.txt", "outside\n")] {
        std::fs::write(room.world.root().join(file), text).unwrap();
    }
    room
}

/// The absolute path of something beside the workspace.
fn at(room: &Room, path: &str) -> String {
    room.world.root().canonicalize().unwrap().join(path).display().to_string()
}

fn including(room: Room, folders: &Value) -> Room {
    room.setting("context", json!({"includeDirectories": folders}))
}

#[test]
fn folders_are_named_in_settings_and_on_the_command_line() {
    let (inc, other) = (json!(["../inc"]), json!(["../inc", "../other"]));
    // the settings, the options, which of the two files are read
    let cases = [
        (None, "", [false, false]),
        (Some(&inc), "", [true, false]),
        (Some(&other), "", [true, true]),
        (None, "--include-directories ../inc", [true, false]),
        (None, "--include-directories ../inc,../other", [true, true]),
        (None, "--include-directories ../inc --include-directories ../other", [true, true]),
        (None, "--include-directories=../inc,../inc,.,..", [true, true]),
        (Some(&inc), "--include-directories ../other", [true, true]),
        (None, "--include-directories ..", [true, true]),
        (None, "--include-directories ../gone,../other", [false, true]),
    ];
    for (settings, options, expected) in cases {
        let room = match settings {
            Some(folders) => including(room(), folders),
            None => room(),
        };
        for (file, is_read) in ["inc/i.txt", "other/o.txt"].into_iter().zip(expected) {
            let output = room.run(&format!("call read_file path={} {options}", at(&room, file)));
            assert_eq!(output.code() == Some(0), is_read, "{settings:?} {options}: {}", output.transcript());
        }
        let relative = room.run(&format!("call read_file path=i.txt {options}"));
        assert_ne!(relative.code(), Some(0), "relative paths start at the workspace: {}", relative.transcript());
    }
}

#[test]
fn a_folder_has_no_say_and_what_is_not_there_is_told() {
    let room = room().without_questions();
    room.world
        .write_in_workspace(".toolgate/settings.json", "{\n  \"context\": {\"includeDirectories\": [\"..\"]}\n}")
        .unwrap();
    let line = format!("call read_file path={}", at(&room, "outside.txt"));
    for (trust, is_told) in [("", false), (" --trust-folder", true)] {
        let output = room.run(&format!("{line}{trust}"));
        assert_ne!(output.code(), Some(0), "{}", output.transcript());
        let told = "settings.json:2: context.includeDirectories: a workspace folder has no say in this, so it does not count here";
        assert_eq!(output.stderr.contains(told), is_told, "{}", output.transcript());
    }
    assert_eq!(room.json("doctor --no-connect --trust-folder --json")["includedFolders"], json!([]));
    // The folder's `.env` does not decide what a variable of the person's settings stands for.
    let room = including(self::room(), &json!(["$TARGET"]));
    room.world.write_in_workspace(".env", "TARGET=/\n").unwrap();
    let output = room.run(&format!("{line} --trust-folder"));
    assert_ne!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stderr.contains("`$TARGET` is left out: `TARGET` is not set"), "{}", output.transcript());
    let room = including(self::room(), &json!(["../gone", "../outside.txt"]));
    let output = room.run("call list_directory path=.");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    for told in ["`../gone` is left out: there is no such folder", "`../outside.txt` is left out: it is no folder"] {
        let told = format!("settings.json:1: context.includeDirectories: {told}");
        assert!(output.stderr.contains(&told), "{told}: {}", output.transcript());
    }
}

#[test]
fn links_variables_and_the_home_folder_are_resolved() {
    let room = room();
    std::os::unix::fs::symlink("inc", room.world.root().join("link")).unwrap();
    std::fs::create_dir_all(room.world.home().join("notes")).unwrap();
    let mut room = including(room, &json!(["../link", "~/notes", "${OTHER}"]));
    let other = at(&room, "other");
    room.world.set_variable("OTHER", other);
    let report = room.json("doctor --no-connect --json");
    let paths: Vec<&str> =
        report["includedFolders"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    let home = room.world.home().canonicalize().unwrap().join("notes").display().to_string();
    assert_eq!(paths, [at(&room, "inc"), home, at(&room, "other")]);
    let files = room.run(&format!("call glob pattern={}/*.txt", at(&room, "link")));
    assert_ne!(files.code(), Some(0), "the real path is the one: {}", files.transcript());
    assert_eq!(
        room.run(&format!("call glob pattern={}/*.txt", at(&room, "inc"))).stdout.trim(),
        at(&room, "inc/i.txt")
    );
}

#[test]
fn the_doctor_says_which_folders_and_who_names_them() {
    let room = including(room(), &json!(["../inc"]));
    let report = room.run("doctor --no-connect --include-directories ../other");
    let settings = room.world.home().join(".toolgate/settings.json").display().to_string();
    let inc = format!("included     {} (user: {settings}:1)", at(&room, "inc"));
    let other = format!("included     {} (--include-directories)", at(&room, "other"));
    for line in [inc, other] {
        assert!(report.stdout.contains(&line), "{line}: {}", report.transcript());
    }
    let report = room.json("doctor --no-connect --include-directories ../other --json");
    let expected = json!([
        {"path": at(&room, "inc"), "origin": {"source": "user", "file": settings, "line": 1}},
        {"path": at(&room, "other"), "origin": {"source": "command-line"}},
    ]);
    let found: Vec<Value> = report["includedFolders"].as_array().unwrap().clone();
    for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
        assert_eq!(found["path"], expected["path"]);
        assert_eq!(found["origin"]["source"], expected["origin"]["source"], "{found}");
    }
    assert_eq!(found.len(), 2, "{report}");
}

#[test]
fn servers_are_told_of_the_folders_as_roots() {
    let script = Script::new("asks").tool(ToolScript::new("roots", Behaviour::roots()));
    let room = room().server("asks", &script);
    let alone = room.run("call roots").stdout;
    let both = room.run("call roots --include-directories ../inc").stdout;
    let root = |path: &str| format!("file://{}", at(&room, path));
    assert!(!alone.contains(&root("inc")) && both.contains(&root("inc")), "{alone} {both}");
    assert!(
        both.contains("file://") && both.find(&root("inc")) > both.find("file://"),
        "the workspace is first: {both}"
    );
}

const CHECKED: &str = "[[rule]]\ntoolName = 'read_file'\nwhen = { '/path' = { under = '.' } }\ndecision = 'allow'\npriority = 9\n\
    [[rule]]\ntoolName = 'read_file'\ndecision = 'ask'\npriority = 8\n";

#[test]
fn conditions_stay_about_the_workspace_and_looking_commands_reach_the_folders() {
    let room = including(room().with_questions(), &json!(["../inc"]));
    room.world.write_in_workspace("a.txt", "a").unwrap();
    let cat = |path: &str| format!("cat {}", at(&room, path));
    let run = |command: &str| {
        room.command(["call", "run_shell_command", &format!("command={command}"), "--headless"]).run().unwrap()
    };
    for (command, code) in [
        ("cat a.txt".to_owned(), 0),
        (cat("inc/i.txt"), 0),
        (cat("other/o.txt"), 3),
        ("cat ../inc/i.txt".to_owned(), 3),
    ] {
        let output = run(&command);
        assert_eq!(output.code(), Some(code), "{command}: {}", output.transcript());
    }
    room.world.write_in_home(".toolgate/policies/own.toml", CHECKED).unwrap();
    for (path, code) in [("a.txt".to_owned(), 0), (at(&room, "inc/i.txt"), 3)] {
        let output = room.run(&format!("call read_file path={path} --headless"));
        assert_eq!(output.code(), Some(code), "`under = '.'` is the workspace: {path}: {}", output.transcript());
    }
}

#[test]
fn the_checker_lets_paths_into_the_folders() {
    let script = Script::new("any").tool(ToolScript::echo("take"));
    let room = including(room().server("any", &script), &json!(["../inc"]));
    let policy = "[[rule]]\ntoolName = 'take'\ndecision = 'allow'\npriority = 9\n\
        [[safety_checker]]\ntoolName = 'take'\n\
        [safety_checker.checker]\ntype = 'in-process'\nname = 'allowed-path'\n\
        [safety_checker.checker.config]\nincluded_args = ['message']\n";
    room.world.write_in_home(".toolgate/policies/room.toml", policy).unwrap();
    for (path, code) in [("a", 0), ("inc/i.txt", 0), ("inc/new", 0), ("other/o.txt", 3), ("outside.txt", 3)] {
        let path = if path == "a" { path.to_owned() } else { at(&room, path) };
        let output = room.run(&format!("call take message={path}"));
        assert_eq!(output.code(), Some(code), "{path}: {}", output.transcript());
    }
}

#[test]
fn own_files_stay_unread_whatever_is_included() {
    let room = including(room(), &json!(["~", "/"]));
    room.world.write_in_home(".toolgate/logins.json", "the secret\n").unwrap();
    room.world.write_in_home("notes.txt", "notes\n").unwrap();
    let home = room.world.home().canonicalize().unwrap();
    let read = |path: &str| room.run(&format!("call read_file path={}", home.join(path).display()));
    assert_eq!(read("notes.txt").stdout, "notes\n");
    let output = read(".toolgate/logins.json");
    assert!(output.code() != Some(0) && !output.transcript().contains("the secret"), "{}", output.transcript());
    let found = room.run(&format!("call search_file_content pattern=secret path={}", home.display()));
    assert!(found.stdout.contains("no line fits"), "{}", found.transcript());
    let room = room.with_questions();
    let command = format!("command=cat {}", home.join(".toolgate/logins.json").display());
    let output = room.command(["call", "run_shell_command", &command, "--headless"]).run().unwrap();
    assert_eq!(output.code(), Some(3), "it is asked about: {}", output.transcript());
}

#[test]
fn the_server_for_other_clients_takes_folders_too() {
    let room = room();
    let program = env!("CARGO_BIN_EXE_toolgate");
    let args = json!(["workspace-server", "--include-directories", "../inc"]);
    let room = room.entry("inner", json!({"command": program, "args": args}));
    let read = |file: &str| room.run(&format!("call inner__read_file path={}", at(&room, file)));
    assert_eq!(read("inc/i.txt").stdout, "in inc\n");
    assert_eq!(read("other/o.txt").code(), Some(1));
}

#[test]
fn the_runtime_keeps_commands_with_other_folders_apart() {
    let script = Script::new("asks").tool(ToolScript::new("roots", Behaviour::roots()));
    let room = RuntimeRoom::up(room().server("asks", &script));
    let said = |options: &str| room.run(&format!("call roots {options}")).stdout;
    let (inc, other) = (format!("file://{}", at(&room, "inc")), format!("file://{}", at(&room, "other")));
    for _ in 0..2 {
        let (none, first, second) =
            (said(""), said("--include-directories ../inc"), said("--include-directories ../other"));
        assert!(!none.contains(&inc) && !none.contains(&other), "{none}");
        assert!(first.contains(&inc) && !first.contains(&other), "{first}");
        assert!(second.contains(&other) && !second.contains(&inc), "{second}");
    }
    assert_eq!(room.status()["hosts"].as_array().unwrap().len(), 3, "{}", room.status());
    let line = format!("call read_file path={}", at(&room, "inc/i.txt"));
    assert_eq!(room.run(&format!("{line} --include-directories ../inc")).stdout, "in inc\n");
    assert_ne!(room.run(&line).code(), Some(0));
}
