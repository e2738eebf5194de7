//! The `chaos-server` program: every fault does what it says, and what was executed stands in the ledger.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolgate_testkit::chaos::{ChaosFault, ChaosPlan, Ledger, faults, lives};
use toolgate_testkit::chaos_server_path;

use crate::support::PATIENCE;

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"act","arguments":{"nonce":"n"}}}"#;

/// A server in which only one thing goes wrong, every time.
struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    fn start(fault: Option<ChaosFault>, more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let plan = ChaosPlan {
            call_faults_per_mille: if fault.is_some() { 1_000 } else { 0 },
            only: fault.into_iter().collect(),
            late_ms: 10,
            ..ChaosPlan::in_folder(folder.path(), "one", 1)
        };
        let mut command = Command::new(chaos_server_path().unwrap());
        command.arg("--plan").arg(plan.to_json()).args(more);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { child, folder }
    }

    fn executed(&self) -> usize {
        Ledger::read(&self.folder.path().join("ledger")).count("n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What a line is, in one word.
fn word(line: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(message) if message["id"] == 7 && text.contains(r#"\"n\""#) => "answer",
        Ok(message) if message["id"].is_number() => "wrong id",
        Ok(message) if message["method"].is_string() => "news",
        _ if text.len() > 1_000_000 => "huge",
        _ if !text.ends_with('\n') => "half",
        _ => "garbage",
    }
}

/// Reads until there is the last of `expected`, or the end. Words that come several times in a row are told once.
fn read_words(server: &mut Server, expected: &[&str]) -> Vec<&'static str> {
    let mut words = Vec::new();
    let mut reader = BufReader::new(server.child.stdout.take().unwrap());
    let mut left = expected.iter().filter(|word| **word == "answer").count();
    loop {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).unwrap();
        let word = if line.is_empty() { "end" } else { word(&line) };
        if word == "answer" || words.last() != Some(&word) {
            words.push(word);
        }
        left = left.saturating_sub(usize::from(word == "answer"));
        let is_done = left == 0 && expected.last() == Some(&word);
        if word == "end" || is_done {
            return words;
        }
    }
}

#[test]
fn every_fault_of_a_pipe_is_seen() {
    let cases: &[(Option<ChaosFault>, &[&str])] = &[
        (None, &["answer"]),
        (Some(ChaosFault::Exit), &["end"]),
        (Some(ChaosFault::CloseStdout), &["end"]),
        (Some(ChaosFault::HalfLine), &["half", "end"]),
        (Some(ChaosFault::WrongId), &["wrong id"]),
        (Some(ChaosFault::Twice), &["answer", "answer"]),
        (Some(ChaosFault::Late), &["answer"]),
        (Some(ChaosFault::Drip), &["answer"]),
        (Some(ChaosFault::Flood), &["news", "answer"]),
        (Some(ChaosFault::Garbage), &["garbage", "answer"]),
        (Some(ChaosFault::HugeLine), &["huge", "answer"]),
    ];
    for (fault, expected) in cases {
        let mut server = Server::start(*fault, &[]);
        let mut stdin = server.child.stdin.take().unwrap();
        writeln!(stdin, "{CALL}").unwrap();
        assert_eq!(read_words(&mut server, expected), *expected, "{fault:?}");
        let is_left_to_chance = matches!(fault, Some(ChaosFault::Exit | ChaosFault::CloseStdout));
        assert!(server.executed() == 1 || is_left_to_chance, "{fault:?}");
    }
}

/// The first line of the answer to a call over HTTP, whether the call was answered, and how the connection ended.
fn over_http(server: &mut Server) -> (String, bool) {
    let mut url = String::new();
    BufReader::new(server.child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let begin = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let (begun, _) = post(&address, "", begin);
    let session = begun.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: ")).expect("a session").to_owned();
    let (answer, is_whole) = post(&address, &format!("mcp-session-id: {session}\r\n"), CALL);
    (answer.lines().next().unwrap_or_default().to_owned(), is_whole)
}

/// Posts a message; what came back until the answer was whole or the connection ended, and which of both it was.
fn post(address: &str, headers: &str, body: &str) -> (String, bool) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        // A connection that is reset gives nothing more, as one that is closed.
        let size = stream.read(&mut piece).unwrap_or(0);
        answer.extend_from_slice(&piece[..size]);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let is_empty = text.contains("Content-Length: 0\r\n") && text.ends_with("\r\n\r\n");
        let is_whole = text.ends_with("\r\n0\r\n\r\n") || is_empty || is_whole_json(&text);
        if size == 0 || is_whole {
            return (text, is_whole);
        }
    }
}

fn is_whole_json(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    length.is_some_and(|length| length.parse() == Ok(body.len()))
}

#[test]
fn every_fault_of_http_is_seen() {
    let ok = "HTTP/1.1 200 OK";
    let cases = [
        (None, (ok, true), Some(1)),
        (Some(ChaosFault::Exit), ("", false), None),
        (Some(ChaosFault::ResetBeforeReading), ("", false), Some(0)),
        (Some(ChaosFault::ResetBeforeExecuting), ("", false), Some(0)),
        (Some(ChaosFault::ResetBeforeHead), ("", false), Some(1)),
        (Some(ChaosFault::CutHead), (ok, false), Some(1)),
        (Some(ChaosFault::CutBody), (ok, false), Some(1)),
        (Some(ChaosFault::CutStream), (ok, false), Some(1)),
        (Some(ChaosFault::SessionLost), ("HTTP/1.1 404 Chaos", true), Some(0)),
        (Some(ChaosFault::ServerError), ("HTTP/1.1 500 Chaos", true), Some(0)),
        (Some(ChaosFault::BadRequest), ("HTTP/1.1 400 Chaos", true), Some(1)),
        (Some(ChaosFault::IdOfAnother), (ok, true), Some(1)),
        (Some(ChaosFault::OtherTools), ("", false), Some(0)),
        (Some(ChaosFault::WrongId), (ok, true), Some(1)),
        (Some(ChaosFault::Twice), (ok, true), Some(1)),
        (Some(ChaosFault::Late), (ok, true), Some(1)),
        (Some(ChaosFault::Drip), (ok, true), Some(1)),
        (Some(ChaosFault::Flood), (ok, true), Some(1)),
        (Some(ChaosFault::Garbage), (ok, true), Some(1)),
    ];
    for (fault, (status, is_whole), executed) in cases {
        let mut server = Server::start(fault, &["--port", "0"]);
        // Cut by a reset, what was sent before it may be lost.
        let (seen, was_whole) = over_http(&mut server);
        assert!(seen == status || (!is_whole && seen.is_empty()), "{fault:?}: {seen}");
        assert_eq!(was_whole, is_whole, "{fault:?}");
        assert!(executed.is_none_or(|executed| executed == server.executed()), "{fault:?}");
    }
}

#[test]
fn a_server_that_stops_answers_when_it_is_let_go_on() {
    let mut server = Server::start(Some(ChaosFault::Stop), &[]);
    let mut stdin = server.child.stdin.take().unwrap();
    writeln!(stdin, "{CALL}").unwrap();
    let status = format!("/proc/{}/status", server.child.id());
    let started = std::time::Instant::now();
    while !std::fs::read_to_string(&status).unwrap().contains("State:\tT") {
        assert!(started.elapsed() < PATIENCE, "it does not stop");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(read_words(&mut server, &["answer"]), ["answer"]);
    assert_eq!(server.executed(), 1);
    let seen = faults(&server.folder.path().join("faults"));
    assert_eq!(seen, [("one".to_owned(), ChaosFault::Stop)]);
}

#[test]
fn what_is_to_go_wrong_surely_goes_wrong_once() {
    let folder = TempDir::new().unwrap();
    let surely = vec![ChaosFault::Twice, ChaosFault::Flood];
    let plan = ChaosPlan { surely: surely.clone(), ..ChaosPlan::in_folder(folder.path(), "one", 1) };
    let mut command = Command::new(chaos_server_path().unwrap());
    command.arg("--plan").arg(plan.to_json()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = Server { child: command.spawn().unwrap(), folder };
    let mut stdin = server.child.stdin.take().unwrap();
    for sent in 1..=10 {
        writeln!(stdin, "{CALL}").unwrap();
        let started = std::time::Instant::now();
        while server.executed() < sent {
            assert!(started.elapsed() < PATIENCE, "call {sent} is not executed");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
    let seen: Vec<ChaosFault> =
        faults(&server.folder.path().join("faults")).into_iter().map(|(_, fault)| fault).collect();
    assert_eq!(seen, surely);
}

#[test]
fn nothing_goes_wrong_while_it_is_calm() {
    let mut server = Server::start(Some(ChaosFault::Exit), &[]);
    std::fs::write(server.folder.path().join("calm"), "").unwrap();
    let mut stdin = server.child.stdin.take().unwrap();
    writeln!(stdin, "{CALL}").unwrap();
    assert_eq!(read_words(&mut server, &["answer"]), ["answer"]);
    let lives = lives(&server.folder.path().join("lives"));
    assert_eq!((lives.len(), lives[0].pid), (1, server.child.id()));
}
