//! A script over the standard input and output of a process of its own, and how tests find that program.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::engine::server::Server;
use crate::pipe::{self, Ending, Home};
use crate::record::{Event, Record};
use crate::script::Script;
use crate::shell_room::SHELL_ROOM_PROGRAM;

/// The program is not where it is built.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no {program} beside {}; `cargo nextest run --workspace` builds it, \
     or build it with `cargo build -p toolgate-testkit --bin {program}`",
    .looked_from.display()
)]
pub struct NoScriptedServer {
    program: &'static str,
    looked_from: PathBuf,
}

/// Where the `scripted-server` program is, seen from a running test of any crate of this workspace.
///
/// Cargo tells a test only where the programs of its own package are, so this looks beside the test itself: in the folder
/// above `deps`. A run of the whole workspace builds the program.
///
/// # Errors
/// When the program was not built.
pub fn scripted_server_path() -> Result<PathBuf, NoScriptedServer> {
    program_path("scripted-server")
}

/// Where the `auth-server` program is, found in the same way.
///
/// # Errors
/// When the program was not built.
pub fn auth_server_path() -> Result<PathBuf, NoScriptedServer> {
    program_path("auth-server")
}

/// Where the `chaos-server` program is, found in the same way.
///
/// # Errors
/// When the program was not built.
pub fn chaos_server_path() -> Result<PathBuf, NoScriptedServer> {
    program_path("chaos-server")
}

/// The path of the `shell-room` program, found in the same way.
///
/// # Errors
/// Returns an error if the program was not built.
pub fn shell_room_path() -> Result<PathBuf, NoScriptedServer> {
    program_path(SHELL_ROOM_PROGRAM)
}

fn program_path(program: &'static str) -> Result<PathBuf, NoScriptedServer> {
    let test = std::env::current_exe().unwrap_or_default();
    let beside = test.ancestors().skip(1).take(2);
    let mut places = beside.map(|folder| folder.join(program));
    places.find(|place| place.is_file()).ok_or(NoScriptedServer { program, looked_from: test })
}

/// Serves a script on this process' stdio; the exit code is the script's.
///
/// # Errors
/// When the log file cannot be opened.
pub async fn serve(script: Script, log: Option<&Path>) -> io::Result<ExitCode> {
    let (file, life) = match log {
        Some(path) => (Some(open_log(path)?), lives_in(path) + 1),
        None => (None, 1),
    };
    let server = Server::new(script, Record::in_memory(file), life);
    let ending = pipe::serve(server, tokio::io::stdin(), tokio::io::stdout(), Home::Process).await;
    Ok(match ending {
        Ending::Exit(code) => ExitCode::from(code),
        Ending::EndOfInput | Ending::Reset => ExitCode::SUCCESS,
    })
}

fn open_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn lives_in(log: &Path) -> u32 {
    let events = Record::of_log(log).events();
    let lives = events.iter().filter(|event| matches!(event, Event::Started { .. })).count();
    u32::try_from(lives).unwrap_or(u32::MAX)
}
