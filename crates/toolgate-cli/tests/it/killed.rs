//! What is left of the servers, and of what they started, when the program ends: nothing, however it ends.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_testkit::{What, When};

use crate::room::{Room, sample};

/// Long enough for a loaded machine; what is left behind stays for much longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The latest moment at which the program is killed: by then it has done all it had to.
const LATEST_MS: u64 = 1_000;

/// Rounds that run at the same time.
const AT_ONCE: u64 = 4;

/// Servers that leave by themselves, that are deaf, and that started something before.
fn room() -> Room {
    let deaf = sample("deaf").fault(When::Start, What::IgnoreEof).fault(When::Start, What::IgnoreTerm);
    let room = Room::new().server("polite", &sample("polite")).server("deaf", &deaf).without_workspace();
    let parent = "sleep 1000 & exec ../server --script ../polite.json --log ../parent.log";
    let deaf_parent = "trap '' TERM; sleep 1000 & exec ../server --script ../deaf.json --log ../deaf_parent.log";
    room.entry("parent", json!({"command": "sh", "args": ["-c", parent]}))
        .entry("deaf_parent", json!({"command": "sh", "args": ["-c", deaf_parent]}))
}

#[test]
fn what_a_server_leaves_behind_out_of_reach_is_named() {
    let script = "setsid sleep 20 >&- 2>&- <&- & exec ../server --script ../polite.json --log ../leaves.log";
    let room = Room::new().server("polite", &sample("polite")).without_workspace();
    let room = room.entry("leaves", json!({"command": "sh", "args": ["-c", script]}));
    let said = room.run("tools leaves --fresh").stderr;
    let named = said.lines().find(|line| line.contains("it is out of reach")).unwrap_or_else(|| panic!("{said}"));
    assert!(named.contains("a process has left the group of its server") && named.contains("sleep"), "{named}");
    assert!(!room.run("tools polite --fresh").stderr.contains("out of reach"), "nobody else is meant");
}

/// Starts the program in a session of its own, by which everything that comes of it can be found.
fn start(room: &Room, words: &[&str]) -> Child {
    Command::new("setsid")
        .arg(env!("CARGO_BIN_EXE_toolgate"))
        .args(words)
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// The processes of a session, zombies aside.
fn members(session: u32) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("processes are listed").flatten();
    let member = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (before, rest) = stat.rsplit_once(") ")?;
        let mut rest = rest.split(' ');
        let (state, its_session) = (rest.next()?, rest.nth(2)?);
        (its_session == session.to_string() && state != "Z").then(|| format!("{before})"))
    };
    processes.filter_map(member).collect()
}

#[track_caller]
pub(crate) fn expect_nobody(session: u32, when: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = members(session);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind {when}: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A number that whoever runs the tests may choose.
fn chosen(variable: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides how long they take")]
    std::env::var(variable).ok()?.parse().ok()
}

/// The moments of the kills, spread without a pattern.
fn moment_ms(seed: u64, round: u64) -> u64 {
    let mut mixed = seed.wrapping_add(round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % LATEST_MS
}

#[test]
fn nothing_is_left_when_the_program_is_killed() {
    let rounds = chosen("KILL_ROUNDS").unwrap_or(20);
    let seed = chosen("KILL_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        u64::from(now.subsec_nanos())
    });
    println!("KILL_SEED={seed} KILL_ROUNDS={rounds}");
    let room = room();
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= rounds {
                        return;
                    }
                    let at = moment_ms(seed, round);
                    let mut program = start(&room, &["call", "echo", "message=hi"]);
                    std::thread::sleep(Duration::from_millis(at));
                    program.kill().expect("it is ours");
                    program.wait().expect("it ends");
                    expect_nobody(program.id(), &format!("in round {round}, killed after {at} ms (seed {seed})"));
                }
            });
        }
    });
}

#[test]
fn nothing_is_left_when_the_program_ends() {
    let room = room();
    std::thread::scope(|scope| {
        for words in [&["tools"][..], &["call", "polite__echo", "message=hi"], &["mcp", "list"]] {
            let room = &room;
            scope.spawn(move || {
                let mut program = start(room, words);
                program.wait().expect("it ends");
                expect_nobody(program.id(), &format!("after {words:?}"));
            });
        }
    });
}
