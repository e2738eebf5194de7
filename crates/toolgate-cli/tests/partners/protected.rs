//! A sealed room with one server that wants a login, and somebody with a browser in it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use toolgate_testkit::command::CommandOutput;

use crate::installed::{self, CommandLine};
use crate::room::{Room, texts};
use crate::screen::{self, Seen};

/// The name of the server in the settings.
pub(crate) const SERVER: &str = "guarded";

/// The room.
pub(crate) struct Protected {
    pub(crate) room: Room,
}

impl Protected {
    /// A room without settings; its server needs a place for its log before it can be started.
    pub(crate) fn new() -> Self {
        Self { room: Room::empty() }
    }

    /// With the server at this address.
    pub(crate) fn at(self, url: &str) -> Self {
        let settings = json!({"mcpServers": {SERVER: {"httpUrl": url}}, "mcp": {"excluded": ["workspace"]}});
        self.room.world.write_in_home(".toolgate/settings.json", &settings.to_string()).expect("settings");
        self
    }

    /// Where the authorization server writes down what it does.
    pub(crate) fn log(&self) -> PathBuf {
        self.room.world.root().join("steps")
    }

    /// How often the authorization server has done this.
    pub(crate) fn times(&self, step: &str) -> usize {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter(|line| *line == step).count()
    }

    /// Where the browser writes down what it sees.
    pub(crate) fn pages(&self) -> PathBuf {
        self.room.world.root().join("pages")
    }

    /// The pages that were seen, one per line.
    pub(crate) fn seen(&self) -> Vec<String> {
        let pages = std::fs::read_to_string(self.pages()).unwrap_or_default();
        pages.lines().map(ToOwned::to_owned).collect()
    }

    /// The browser that fills in forms and writes down what it sees.
    pub(crate) fn form_browser(&self) -> CommandLine {
        installed::form_browser().arg("--seen").arg(self.pages().display().to_string())
    }

    /// Runs `toolgate` on a terminal, with a browser that it may open.
    pub(crate) fn on_a_terminal(&mut self, words: &[&str], browser: &CommandLine) -> Seen {
        let script = self.room.world.root().join("browser.sh");
        let mut line = format!("exec '{}'", browser.program.display());
        for arg in &browser.args {
            write!(line, " '{arg}'").expect("a string takes everything");
        }
        std::fs::write(&script, format!("{line} \"$@\"\n")).expect("the browser is written");
        self.room.world.set_variable("BROWSER", format!("sh {}", script.display()));
        let seen = screen::run(&self.room, words, &[]);
        self.room.world.remove_variable("BROWSER");
        assert!(seen.terminal_is_as_before, "{}", seen.text);
        seen
    }

    /// Logs in without a terminal: the address is opened in a browser elsewhere, and what it ended at goes into the pipe. The transcript.
    pub(crate) fn log_in_elsewhere(&self) -> (Option<i32>, String) {
        let world = &self.room.world;
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(["mcp", "auth", SERVER, "--no-browser"])
            .env_clear()
            .envs(world.variables())
            .current_dir(world.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut told = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut transcript = String::new();
        let address = loop {
            let mut line = String::new();
            let size = told.read_line(&mut line).expect("text");
            transcript.push_str(&line);
            assert!(size > 0, "no address was shown:\n{transcript}");
            if line.trim().starts_with("http://") {
                break line.trim().to_owned();
            }
        };
        let browser = self.form_browser().arg("--elsewhere").arg(address);
        let browser = world.command(&browser.program).args(browser.args).run().expect("the browser ends");
        assert_eq!(browser.code(), Some(0), "{}", browser.transcript());
        let mut input = child.stdin.take().expect("stdin is piped");
        input.write_all(browser.stdout.as_bytes()).expect("the address is taken");
        told.read_to_string(&mut transcript).expect("text");
        let output = child.wait_with_output().expect("it ends");
        transcript.push_str(&String::from_utf8_lossy(&output.stdout));
        (output.status.code(), transcript)
    }

    /// Runs `toolgate` where nobody is.
    pub(crate) fn alone(&self, words: &[&str]) -> CommandOutput {
        self.room.toolgate(words)
    }

    /// Calls the tool of the server where nobody is.
    #[track_caller]
    pub(crate) fn call(&self) {
        let report = self.room.call(&["echo", "message=hello wörld ✓"]);
        assert_eq!((&report["server"], texts(&report).as_str()), (&json!(SERVER), "hello wörld ✓"));
    }

    /// Nobody is logged in, and nobody is there to do it.
    #[track_caller]
    pub(crate) fn is_closed(&self) {
        let output = self.alone(&["tools", SERVER]);
        let told = format!("needs a login; run `toolgate mcp auth {SERVER}`");
        assert_eq!(output.code(), Some(5), "{}", output.transcript());
        assert!(output.stderr.contains(&told), "{}", output.transcript());
    }
}
