//! Somebody with a browser: opens the address that the program shows, and pastes what the browser ended at.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::json;
use toolgate_testkit::auth_server::browser::{self, Page};
use toolgate_testkit::snapshot::{assert_snapshot, hide_times};
use toolgate_testkit::{AuthScript, AuthServer};

use crate::room::Room;

/// A protected server.
pub(crate) async fn protected(script: AuthScript) -> AuthServer {
    AuthServer::start(script).await.unwrap()
}

/// A room in which it is called `gated`.
pub(crate) fn room(server: &AuthServer) -> Room {
    let room = Room::new().entry("gated", json!({"url": server.mcp_url(), "type": "http"}));
    room.without_workspace()
}

/// Opens an address, as a browser on this machine does.
pub(crate) fn open(url: &str) -> Page {
    let opening = browser::open(url);
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(opening)).unwrap()
}

/// The address in what is shown: a line of its own.
pub(crate) fn address(shown: &str) -> Option<String> {
    shown.lines().map(str::trim).find(|line| line.starts_with("http")).map(str::to_owned)
}

/// What came out of a run.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Compares everything, with the addresses of this run hidden.
    #[track_caller]
    pub(crate) fn assert(&self, server: &AuthServer, expected: &str) {
        let Self { code, stdout, stderr } = self;
        let code = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let all = format!("--- stdout\n{stdout}--- stderr\n{stderr}--- exit {code}\n");
        assert_snapshot(&hidden(server, &all), expected);
    }
}

/// A text without what differs from run to run.
pub(crate) fn hidden(server: &AuthServer, text: &str) -> String {
    let text = hide_times(text).replace(server.url(), "[SERVER]");
    let line = |line: &str| match (line.split_once("/authorize?"), line.rsplit_once(", ")) {
        (Some((before, _)), _) => format!("{before}/authorize?…"),
        (_, Some((before, size))) if size.ends_with(" bytes") => format!("{before}, [SIZE]"),
        _ => line.to_owned(),
    };
    text.lines().map(|one| line(one) + "\n").collect()
}

/// Runs the program; `visit` is given the address when it is shown, and says what is typed then.
pub(crate) fn run(room: &Room, line: &str, visit: impl FnOnce(&str) -> Option<String>) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(line.split_whitespace())
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reading = thread::spawn(move || {
        let mut stdout = String::new();
        out.read_to_string(&mut stdout).unwrap();
        stdout
    });
    let mut stderr = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    while address(&stderr).is_none() && lines.read_line(&mut stderr).unwrap() > 0 {}
    // Whoever types nothing keeps the keyboard open all the same.
    if let Some(pasted) = address(&stderr).and_then(|address| visit(&address)) {
        stdin.write_all(format!("{pasted}\n").as_bytes()).unwrap();
    }
    lines.read_to_string(&mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    drop(stdin);
    Ended { code, stdout: reading.join().unwrap(), stderr }
}

/// Runs a login to the end, with a browser on the same machine.
#[track_caller]
pub(crate) fn log_in(room: &Room, name: &str) {
    let ended = run(room, &format!("mcp auth {name} --no-browser"), |url| {
        open(url);
        None
    });
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}
