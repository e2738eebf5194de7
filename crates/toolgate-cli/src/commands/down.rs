//! `toolgate down`: ends the process that keeps servers running, and the servers.

use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::RUNTIME_CHANGE_MS;
use crate::printer::Form;
use crate::runtime::client;
use crate::runtime::frames::Wants;
use crate::runtime::place::Place;
use crate::session::Session;

/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// End the servers that `toolgate up` keeps running
///
/// Calls that are being made are cancelled.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate down")]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let place = session.runtime_place();
    let pid = match client::ask(&place, Wants::Down) {
        Ok(Some((pid, connection))) => match connection.wait_for_end(limit()) {
            true => pid.as_u64(),
            false => end_unheard(&place)?.map(u64::from).or(pid.as_u64()),
        },
        // Its socket is gone, or it is ending already.
        Ok(None) => end_unheard(&place)?.map(u64::from),
        Err(error) => Some(end_unheard(&place)?.map(u64::from).ok_or(error)?),
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

fn limit() -> Duration {
    Duration::from_millis(RUNTIME_CHANGE_MS)
}

/// Ends one that runs and does not listen: in order, and by force when that does not help; its servers end with it. Nothing when none runs.
fn end_unheard(place: &Place) -> Result<Option<u32>> {
    let Some(holder) = steady_holder(place) else { return Ok(None) };
    let pid = i32::try_from(holder).ok().and_then(Pid::from_raw);
    for signal in [Signal::TERM, Signal::KILL] {
        // Whoever is gone by now needs no signal.
        let _told = pid.is_some_and(|pid| kill_process(pid, signal).is_ok());
        let deadline = Instant::now() + limit();
        while Instant::now() < deadline {
            if place.holder() != Some(holder) {
                return Ok(Some(holder));
            }
            std::thread::sleep(LOOK);
        }
    }
    let seconds = 2 * limit().as_secs();
    let error = format!("toolgate (pid {holder}) was told to end, and has not within {seconds} s");
    Err(CommandError::new(Ending::Unreachable, "runtime", error))
}

/// Whoever has the lock for longer than a moment: one that has just taken it has not yet written who it is.
fn steady_holder(place: &Place) -> Option<u32> {
    let first = place.holder()?;
    std::thread::sleep(LOOK);
    place.holder().filter(|second| *second == first)
}
