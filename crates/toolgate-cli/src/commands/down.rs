//! `toolgate down`: ends the process that keeps servers running, and the servers.

use std::time::Duration;

use clap::Args;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::RUNTIME_CHANGE_MS;
use crate::printer::Form;
use crate::runtime::client;
use crate::runtime::frames::Wants;
use crate::session::Session;

/// End the servers that `toolgate up` keeps running
///
/// Calls that are being made are cancelled.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate down")]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let pid = match client::ask(&session.runtime_place(), Wants::Down)? {
        None => None,
        Some((pid, connection)) => {
            if !connection.wait_for_end(Duration::from_millis(RUNTIME_CHANGE_MS)) {
                let error =
                    format!("toolgate (pid {pid}) was asked to end, and has not within {} s", RUNTIME_CHANGE_MS / 1000);
                return Err(CommandError::new(Ending::Unreachable, "runtime", error));
            }
            pid.as_u64()
        }
    };
    let printer = &mut session.printer;
    match (printer.form(), pid) {
        (Form::Json, pid) => printer.json(|json| {
            json.object(|object| {
                object.flag("ended", pid.is_some())?;
                object.optional_number("pid", pid)
            })
        })?,
        (Form::Text, Some(pid)) => printer.line(&format!("toolgate is down (pid {pid} has ended)"))?,
        (Form::Text, None) => printer.line("toolgate is not up")?,
    }
    Ok(Ending::Done)
}
