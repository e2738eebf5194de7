//! A terminal with somebody at it: a pseudo-terminal, what is shown on it, and the keys that are pressed when a text appears.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::pseudo_terminal::PseudoTerminal;
use crate::room::Room;

/// How long a text may take to appear.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a person reads before they press a key: one that is pressed at once is no answer.
pub(crate) const READING: Duration = Duration::from_millis(200);

/// What was seen on the terminal, and how the program ended.
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
    /// Whether keys and lines are treated as they were before the program ran.
    pub(crate) terminal_is_as_before: bool,
}

impl Seen {
    /// The text without the sequences that move the cursor and colour it.
    pub(crate) fn plain(&self) -> String {
        let mut plain = String::new();
        let mut letters = self.text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                // Ours all have the form `ESC [ … letter`, or `ESC letter`.
                '\u{1b}' => {
                    if letters.next() == Some('[') {
                        let _last = letters.by_ref().find(|letter| letter.is_ascii_alphabetic());
                    }
                }
                '\r' => {}
                other => plain.push(other),
            }
        }
        plain
    }
}

/// Somebody who looks at the terminal and presses keys.
pub(crate) struct Person {
    keyboard: File,
    program: Pid,
    shown: Arc<Mutex<Vec<u8>>>,
    /// How much of what is shown they have read.
    from: usize,
    /// Until when they read what they saw.
    reads_until: Instant,
}

impl Person {
    /// Waits until a text has appeared since they last looked.
    pub(crate) fn sees(&mut self, text: &str) {
        self.from = wait_for(&self.shown, self.from, text);
        self.reads_until = Instant::now() + READING;
    }

    pub(crate) fn presses(&mut self, keys: &str) {
        std::thread::sleep(self.reads_until.saturating_duration_since(Instant::now()));
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Presses Ctrl-C while the terminal reads lines: it does not reach the program as a key then.
    pub(crate) fn interrupts(&self) {
        kill_process(self.program, Signal::INT).unwrap();
    }

    /// Everything on the screen so far.
    pub(crate) fn screen(&self) -> String {
        so_far(&self.shown)
    }
}

/// Runs the program on a terminal of 80 columns. Each key is pressed when its text has appeared since the key before.
pub(crate) fn run(room: &Room, words: &[&str], keys: &[(&str, &str)]) -> Seen {
    attended(room, words, |person| {
        for (text, key) in keys {
            person.sees(text);
            person.presses(key);
        }
    })
}

/// The same with somebody who does more than to press keys.
pub(crate) fn attended(room: &Room, words: &[&str], acts: impl FnOnce(&mut Person)) -> Seen {
    let terminal = PseudoTerminal::open(24, 80);
    let mut program = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    let mut child = terminal.start(program.args(words), room, &[]);
    // It holds the other end of the terminal too.
    drop(program);
    let keyboard = terminal.keyboard.try_clone().unwrap();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let reading = read_in_thread(keyboard.try_clone().unwrap(), shown.clone());
    let program = Pid::from_child(&child);
    acts(&mut Person { keyboard, program, shown: shown.clone(), from: 0, reads_until: Instant::now() });
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the program did not end; on the screen:\n{}", so_far(&shown));
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let terminal_is_as_before = terminal.is_as_before();
    drop(terminal);
    reading.join().unwrap();
    Seen { text: so_far(&shown), code: status.code(), terminal_is_as_before }
}

fn so_far(shown: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&shown.lock().unwrap()).into_owned()
}

fn wait_for(shown: &Mutex<Vec<u8>>, from: usize, text: &str) -> usize {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let all = so_far(shown);
        if let Some(at) = all.get(from..).and_then(|new| new.find(text)) {
            return from + at + text.len();
        }
        assert!(Instant::now() < deadline, "{text:?} never appeared; on the screen:\n{all}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn read_in_thread(mut terminal: File, shown: Arc<Mutex<Vec<u8>>>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        // Reading ends with an error when the last program has closed the terminal.
        while let Ok(size) = terminal.read(&mut chunk) {
            if size == 0 {
                return;
            }
            let new = &chunk[..size];
            shown.lock().unwrap().extend_from_slice(new);
            // A terminal answers the question where its cursor is.
            if new.windows(4).any(|part| part == b"\x1b[6n") {
                let _answered = terminal.write_all(b"\x1b[1;1R").is_ok();
            }
        }
    })
}
