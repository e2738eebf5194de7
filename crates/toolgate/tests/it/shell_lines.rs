//! Random command lines from a grammar of wrappers: a rule that denies a command stops every line that really runs it.

use toolgate::policy::{Decision, Mode};
use toolgate_testkit::shell_room::lines::{Milder, compare, line};
use toolgate_testkit::shell_room::{NoShellRoom, ShellRoom};
use toolgate_testkit::shell_room_path;

use crate::audit_processes::how_many;
use crate::shell_rows::{decide, policy};

/// Lines for about twenty seconds of two rooms, unless `SHELL_LINES` is set.
const LINES: u64 = 1_200;

/// Rooms that run lines in parallel.
const ROOMS: usize = 2;

/// Maximum bytes that choose one line.
const BYTES_MAX: usize = 48;

/// Share of the lines that must run something, so that the grammar is not mostly nonsense: one in this many.
const RUNNING_SHARE: usize = 2;

/// Pseudo-random numbers, equal in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::try_from(self.next()).unwrap_or_default() % BYTES_MAX;
        (0..length).map(|_| self.next().to_le_bytes()[3]).collect()
    }
}

/// Whether rules that deny exactly this, and allow everything else, let a line through in no mode.
fn is_held_back(ran: &[String], line: &str) -> bool {
    let prefix = ran.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ");
    let policy = policy(&[&prefix], &[]);
    [Mode::Default, Mode::Yolo].into_iter().all(|mode| decide(&policy, line, mode) != Decision::Allow)
}

/// The number of lines that ran something, and the commands that the rules missed.
fn try_lines(seed: u64, count: usize) -> Result<(usize, Vec<Milder>), NoShellRoom> {
    let mut room = ShellRoom::open(&shell_room_path().unwrap())?;
    let (mut dice, mut running, mut milder) = (Dice(seed), 0, Vec::new());
    for _ in 0..count {
        let line = line(&dice.bytes());
        let compared = compare(&mut room, &line, is_held_back).unwrap_or_else(|error| panic!("{line}: {error}"));
        running += usize::from(compared.ran > 0);
        milder.extend(compared.milder);
    }
    Ok((running, milder))
}

#[test]
fn no_line_runs_what_is_denied() {
    let count = usize::try_from(how_many("SHELL_LINES", LINES)).unwrap_or_default();
    let tried: Result<Vec<_>, NoShellRoom> = std::thread::scope(|scope| {
        let work = |room: usize| move || try_lines(0x9e37_79b9_7f4a_7c15 ^ room as u64, count / ROOMS);
        let running: Vec<_> = (1..=ROOMS).map(|room| scope.spawn(work(room))).collect();
        running.into_iter().map(|work| work.join().unwrap()).collect()
    });
    let tried = match tried {
        Ok(tried) => tried,
        Err(why) => return eprintln!("NOT RUN: no random command line was tried: {why}"),
    };
    let running: usize = tried.iter().map(|(running, _)| running).sum();
    let milder: Vec<String> = tried
        .iter()
        .flat_map(|(_, milder)| milder)
        .map(|one| format!("{} runs {:?}: {}", one.shell, one.ran, one.line.replace('\n', "␤")))
        .collect();
    eprintln!("{count} lines, {running} of them ran something, {} were let through", milder.len());
    assert!(milder.is_empty(), "{} lines were let through:\n{}", milder.len(), milder.join("\n"));
    assert!(running * RUNNING_SHARE >= count, "only {running} of {count} lines ran something");
}
