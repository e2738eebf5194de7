//! A terminal as a person sees it: what the program writes is drawn on a screen of rows and columns, which can be looked at and resized.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::pseudo_terminal::PseudoTerminal;
use crate::room::Room;
use crate::screen::READING;

/// How long a person looks for the prompt before they type anyway.
const A_MOMENT: Duration = Duration::from_millis(400);

/// How long a text may take to appear.
const PATIENCE: Duration = Duration::from_secs(40);

/// Rows of the screen.
const ROWS: u16 = 30;

/// A program on a screen, with somebody who types.
pub(crate) struct Emulated {
    keyboard: File,
    terminal: Option<PseudoTerminal>,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
    reading: Option<std::thread::JoinHandle<()>>,
    /// Everything that was ever written to the terminal.
    raw: Arc<Mutex<Vec<u8>>>,
}

impl Emulated {
    /// Runs the program on a screen of so many columns.
    pub(crate) fn run(room: &Room, words: &[&str], columns: u16) -> Self {
        Self::run_with(room, words, columns, &[])
    }

    /// The same with variables of its own.
    pub(crate) fn run_with(room: &Room, words: &[&str], columns: u16, variables: &[(&str, &str)]) -> Self {
        let terminal = PseudoTerminal::open(ROWS, columns);
        // With a session of its own, the terminal is the one that Ctrl-C comes from.
        let mut program = Command::new("setsid");
        program.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_toolgate")]).args(words);
        let child = terminal.start(&mut program, room, variables);
        let keyboard = terminal.keyboard.try_clone().unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, columns, 0)));
        let raw = Arc::default();
        let reading = Some(draw_in_thread(keyboard.try_clone().unwrap(), screen.clone(), Arc::clone(&raw)));
        Self { keyboard, terminal: Some(terminal), child, screen, reading, raw }
    }

    /// What is on the screen, without the blanks at the end of lines and the empty lines at the end.
    pub(crate) fn screen(&self) -> String {
        let text = self.screen.lock().unwrap().screen().contents();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.until(&format!("{text:?}"), |screen| screen.contains(text));
    }

    /// Waits until a line is on the screen that has nothing else in it.
    #[track_caller]
    pub(crate) fn sees_line(&self, text: &str) {
        self.until(&format!("the line {text:?}"), |screen| screen.lines().any(|line| line == text));
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.screen()) {
            assert!(Instant::now() < deadline, "{what} never appeared; on the screen:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether a text was ever written.
    pub(crate) fn ever_wrote(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.raw.lock().unwrap()).contains(text)
    }

    /// Types without looking.
    pub(crate) fn bursts(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Types; a command a moment later when nobody reads keys right now, as a person would who looks at the prompt, and anything else when it has
    /// been read what stands there.
    pub(crate) fn presses(&mut self, keys: &str) {
        if !keys.starts_with('/') {
            std::thread::sleep(READING);
        }
        let deadline = Instant::now() + A_MOMENT;
        let reads_keys = || self.screen.lock().unwrap().screen().bracketed_paste();
        while keys.starts_with('/') && !reads_keys() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.bursts(keys);
    }

    /// Clears the line that is typed, and waits for the next one: what is typed before that is lost, as at every terminal.
    pub(crate) fn clears(&mut self) {
        let lines = |screen: &str| screen.lines().filter(|line| line.starts_with("> ")).count();
        let before = lines(&self.screen());
        self.presses("\u{3}");
        self.until("a new line", |screen| lines(screen) > before);
    }

    /// Makes the window narrower or wider.
    pub(crate) fn resize(&mut self, columns: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(ROWS, columns);
        self.terminal.iter().for_each(|terminal| terminal.resize(ROWS, columns));
    }

    /// Leaves with Ctrl-D, typed again until it is heard: while something runs it is the terminal that takes it. How the program ended.
    #[track_caller]
    pub(crate) fn leaves(mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            let _is_gone_already = self.keyboard.write_all(b"\x04").is_err();
            std::thread::sleep(Duration::from_millis(100));
        }
        self.ends()
    }

    /// Sends the program a signal.
    pub(crate) fn gets(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The session of processes that the program and its servers are in.
    pub(crate) fn processes(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the program, which leaves the terminal as it was. How it ended.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the program did not end; on the screen:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        };
        let terminal = self.terminal.take();
        assert!(terminal.is_some_and(|terminal| terminal.is_as_before()), "the terminal is not as it was");
        if let Some(reading) = self.reading.take() {
            reading.join().unwrap();
        }
        status.code()
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ended = self.child.kill().is_ok() && self.child.wait().is_ok();
    }
}

fn draw_in_thread(
    mut terminal: File,
    screen: Arc<Mutex<vt100::Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        // Reading ends with an error when the last program has closed the terminal.
        while let Ok(size @ 1..) = terminal.read(&mut chunk) {
            let new = &chunk[..size];
            raw.lock().unwrap().extend_from_slice(new);
            let mut screen = screen.lock().unwrap();
            screen.process(new);
            // A terminal answers the question where its cursor is.
            for _question in 0..new.windows(4).filter(|part| *part == b"\x1b[6n").count() {
                let (row, column) = screen.screen().cursor_position();
                // At once, so that no key comes in between.
                let place = format!("\x1b[{};{}R", row + 1, column + 1);
                let _answered = terminal.write_all(place.as_bytes()).is_ok();
            }
        }
    })
}
