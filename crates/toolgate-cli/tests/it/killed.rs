//! What is left of the servers, and of what they started, when the program ends: nothing, however it ends.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_testkit::{What, When};

use crate::room::{Room, sample};
use crate::runtime_room::{self, eventually};

/// What is promised: so long after the end of the program, however it came, nobody is left. This is no stop-watch of ours, but the one of whoever
/// starts it again. Servers have half a second of it to leave by themselves, so that a loaded machine has the rest.
const PROMISE: Duration = Duration::from_secs(2);

/// The latest moment at which the program is killed: by then it has done all it had to.
const LATEST_MS: u64 = 1_000;

/// Rounds that run at the same time.
const AT_ONCE: u64 = 4;

/// A command that is deaf and has started something; by the file it can be told that it runs.
const DEAF_COMMAND: &str = "trap '' TERM; sleep 1000 & : >../told; sleep 1000";

/// The same for the built-in server.
const SHELL: [&str; 3] = ["call", "run_shell_command", "command=trap '' TERM; sleep 1000 & : >../told; sleep 1000"];

const CALL: [&str; 3] = ["call", "echo", "message=hi"];

/// Servers that leave by themselves, that are deaf, and that started something before.
fn servers() -> Room {
    let deaf = sample("deaf").fault(When::Start, What::IgnoreEof).fault(When::Start, What::IgnoreTerm);
    let room = Room::new().server("polite", &sample("polite")).server("deaf", &deaf).without_workspace();
    let parent = "sleep 1000 & exec ../server --script ../polite.json --log ../parent.log";
    let deaf_parent = "trap '' TERM; sleep 1000 & exec ../server --script ../deaf.json --log ../deaf_parent.log";
    room.entry("parent", json!({"command": "sh", "args": ["-c", parent]}))
        .entry("deaf_parent", json!({"command": "sh", "args": ["-c", deaf_parent]}))
}

/// A server beside the built-in one.
fn with_built_in() -> Room {
    runtime_room::prepared(Room::new().server("polite", &sample("polite")))
}

/// A server whose secret takes long to come.
fn with_secret() -> Room {
    let room = Room::new().server("polite", &sample("polite")).without_workspace();
    room.with("polite", "env", json!({"KEY": format!("${{cmd:{DEAF_COMMAND}}}")}))
}

/// A server whose headers take long to come.
fn with_helper() -> Room {
    let remote = json!({"url": "http://127.0.0.1:1/mcp", "type": "http", "headersHelper": DEAF_COMMAND});
    Room::new().entry("remote", remote).without_workspace()
}

/// A way to have the program do something: in which room, which commands one after the other, and what is typed.
struct Way {
    name: &'static str,
    room: fn() -> Room,
    runs: &'static [&'static [&'static str]],
    typed: &'static str,
}

const WAYS: [Way; 6] = [
    Way { name: "a call", room: servers, runs: &[&CALL], typed: "" },
    Way { name: "a shell", room: with_built_in, runs: &[&SHELL], typed: "" },
    Way { name: "a secret", room: with_secret, runs: &[&CALL], typed: "" },
    Way { name: "headers", room: with_helper, runs: &[&CALL], typed: "" },
    Way {
        name: "a session",
        room: with_built_in,
        runs: &[&[]],
        typed: "/call polite__echo message=hi\n/call run_shell_command 'command=sleep 1000 & : >../told; sleep 1000'\n",
    },
    Way { name: "a runtime", room: with_built_in, runs: &[&["up", "--foreground"], &SHELL], typed: "" },
];

impl Way {
    /// Begins all of it. What comes second needs that the first can be reached.
    fn begin(&self, room: &Room) -> Vec<Child> {
        let mut programs = Vec::new();
        for words in self.runs {
            if !programs.is_empty() {
                eventually("the runtime is up", || runtime_room::socket_of(room).is_some());
            }
            programs.push(start(room, words, self.typed));
        }
        programs
    }
}

/// Kills all of them at once; nobody may be left of any.
fn kill(mut programs: Vec<Child>, when: &str) {
    for program in &mut programs {
        program.kill().expect("it is ours");
    }
    let killed = Instant::now();
    for program in &mut programs {
        program.wait().expect("it ends");
    }
    programs.iter().for_each(|program| expect_nobody_since(killed, program.id(), when));
}

#[test]
fn what_a_server_leaves_behind_out_of_reach_is_named() {
    // With a parent that lives, and without one.
    for left in ["setsid sleep 20 >&- 2>&- <&- &", "(setsid sleep 20 >&- 2>&- <&- &);"] {
        let script = format!("{left} exec ../server --script ../polite.json --log ../leaves.log");
        let room = Room::new().server("polite", &sample("polite")).without_workspace();
        let room = room.entry("leaves", json!({"command": "sh", "args": ["-c", script]}));
        let said = room.run("tools leaves --fresh").stderr;
        let named: Vec<&str> = said.lines().filter(|line| line.contains("it is out of reach")).collect();
        assert_eq!(named.len(), 1, "{left}: {said}");
        for part in ["a process has left the group of its server", "leaves"] {
            assert!(named[0].contains(part), "{left}: {said}");
        }
        // On a busy machine, the process may not have become `sleep` yet.
        assert!(["sleep", "setsid"].iter().any(|program| named[0].contains(program)), "{left}: {said}");
        assert!(!room.run("tools polite --fresh").stderr.contains("out of reach"), "nobody else is meant");
    }
}

/// Starts the program in a session of its own, by which everything that comes of it can be found.
fn start(room: &Room, words: &[&str], typed: &str) -> Child {
    let mut program = Command::new("setsid")
        .arg(env!("CARGO_BIN_EXE_toolgate"))
        .args(words)
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .stdin(if typed.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    if let Some(stdin) = &mut program.stdin {
        stdin.write_all(typed.as_bytes()).expect("it fits into the pipe");
    }
    program
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
    expect_nobody_since(Instant::now(), session, when);
}

#[track_caller]
fn expect_nobody_since(end: Instant, session: u32, when: &str) {
    loop {
        let is_due = end.elapsed() >= PROMISE;
        let left = members(session);
        if left.is_empty() {
            return;
        }
        assert!(!is_due, "left behind {when}: {left:?}");
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
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let rooms = WAYS.map(|way| ((way.room)(), way));
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= rounds {
                        return;
                    }
                    let at = moment_ms(seed, round);
                    let (room, way) = &rooms[usize::try_from(round).expect("it is small") % rooms.len()];
                    let programs = way.begin(room);
                    std::thread::sleep(Duration::from_millis(at));
                    kill(programs, &format!("by {} in round {round}, killed after {at} ms (seed {seed})", way.name));
                }
            });
        }
    });
}

#[test]
fn nothing_is_left_of_a_command_that_was_being_run() {
    for way in &WAYS[1..] {
        let room = (way.room)();
        let programs = way.begin(&room);
        eventually(way.name, || room.world.root().join("told").exists());
        kill(programs, &format!("by {}", way.name));
    }
}

#[test]
fn nothing_is_left_when_the_program_ends() {
    let room = servers();
    std::thread::scope(|scope| {
        for words in [&["tools"][..], &["call", "polite__echo", "message=hi"], &["mcp", "list"]] {
            let room = &room;
            scope.spawn(move || {
                let mut program = start(room, words, "");
                program.wait().expect("it ends");
                expect_nobody(program.id(), &format!("after {words:?}"));
            });
        }
    });
}
