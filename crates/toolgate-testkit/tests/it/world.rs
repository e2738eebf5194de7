//! Sealed rooms and the programs run in them.

use std::io::ErrorKind;
use std::time::Duration;
use toolgate_testkit::{TestWorld, scripted_server_path};

#[test]
fn a_world_is_made_and_removed() {
    let mut world = TestWorld::new().unwrap();
    let (root, home) = (world.root(), world.home());
    assert_eq!(world.variables()["HOME"], home.display().to_string());
    let file = world.write_in_home(".toolgate/settings.json", "{}").unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
    assert!(world.write_in_workspace("a/b.txt", "x").unwrap().starts_with(world.workspace()));
    world.set_variable("COLOUR", "blue");
    world.remove_variable("HOME");
    let start = world.clock().now();
    let clock = world.clock().clone();
    clock.advance(Duration::from_secs(60));
    assert_eq!(world.clock().now(), start + Duration::from_secs(60));
    clock.set(start);
    assert_eq!(world.clock().now(), start);
    drop(world);
    assert!(!root.exists());
}

#[test]
fn a_program_sees_only_its_world() {
    let mut world = TestWorld::new().unwrap();
    world.set_variable("COLOUR", "blue");
    let output = world.command("/usr/bin/env").env("EXTRA", "1").run().unwrap();
    let mut lines: Vec<String> = output.shown_stdout().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        ["COLOUR=blue", "EXTRA=1", "HOME=[HOME]", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=[WORLD]/tmp"]
    );
}

#[test]
fn a_transcript_shows_everything_that_does_not_change() {
    let world = TestWorld::new().unwrap();
    let talk = "pwd; echo $HOME; cat; echo took 0.25s >&2; printf oops >&2; exit 3";
    let output = world.command("/bin/sh").args(["-c", talk]).input("typed\n").run().unwrap();
    assert_eq!(output.code(), Some(3));
    output.assert_transcript(
        "
        --- stdout
        [WORKSPACE]
        [HOME]
        typed
        --- stderr
        took [TIME]
        oops(no newline)
        --- exit 3
        ",
    );
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let world = TestWorld::new().unwrap();
    let run = |script: &str, ms: u64| {
        let command = world.command("/bin/sh").args(["-c", script]);
        command.timeout(Duration::from_millis(ms)).run().unwrap_err()
    };
    let ended = run("exec sleep 600", 200);
    assert_eq!(ended.kind(), ErrorKind::TimedOut);
    assert!(ended.to_string().contains("did not end in time"), "{ended}");
    let held = run("sleep 10 & exit 0", 3000);
    assert!(held.to_string().contains("keeps its output open"), "{held}");
    let missing = world.command("/no/such/program").run().unwrap_err();
    assert!(missing.to_string().contains("/no/such/program"), "{missing}");
}

#[test]
fn the_scripted_server_says_how_it_is_used() {
    let world = TestWorld::new().unwrap();
    let output = world.command(scripted_server_path().unwrap()).arg("--wrong").arg("x").run().unwrap();
    output.assert_transcript(
        "
        --- stderr
        scripted-server: unknown argument `--wrong`
        usage: scripted-server --script FILE|JSON [--log FILE]
        --- exit 2
        ",
    );
}
