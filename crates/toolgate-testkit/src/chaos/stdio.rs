//! A chaos server over stdio. Every request has a thread of its own, so that answers overtake each other.

use std::io::{self, BufRead as _, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::asked::{Asked, flood};
use super::dice::Dice;
use super::fault::{ChaosFault, Mishap, Way};
use super::plan::ChaosPlan;
use super::state::{Chaos, stop_this_process};
use crate::limits::{CHAOS_DELAY_MS_MAX, CHAOS_DRIP_MS, CHAOS_FLOOD_COUNT, CHAOS_HUGE_LINE_BYTES, FILLER_CHUNK_BYTES};
use crate::process::close_stdout;

/// Serves until stdin ends, or something goes wrong.
///
/// # Errors
/// When the files of the plan cannot be written, or stdin cannot be read.
pub fn serve(plan: ChaosPlan) -> io::Result<()> {
    let chaos = Arc::new(Chaos::begin(plan, Way::Stdio)?);
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let Some(asked) = chaos.read(&message) else { continue };
        let chaos = Arc::clone(&chaos);
        // A client that went away is no reason to complain.
        thread::spawn(move || perform(&chaos, &asked).is_ok());
    }
    Ok(())
}

fn perform(chaos: &Chaos, asked: &Asked) -> io::Result<()> {
    let (mishap, mut dice) = chaos.mishap(asked);
    thread::sleep(Duration::from_millis(dice.below(CHAOS_DELAY_MS_MAX)));
    let line = format!("{}\n", asked.answer);
    let Some(Mishap { fault, executes_first }) = mishap else {
        chaos.execute(asked)?;
        return write(line.as_bytes());
    };
    if executes_first {
        chaos.execute(asked)?;
    }
    match fault {
        ChaosFault::Exit => exit(),
        ChaosFault::Stop => {
            stop_this_process();
            if !executes_first {
                chaos.execute(asked)?;
            }
            write(line.as_bytes())
        }
        ChaosFault::CloseStdout => {
            close_stdout();
            Ok(())
        }
        ChaosFault::HalfLine => {
            write(line.as_bytes().get(..line.len() / 2).unwrap_or_default())?;
            exit()
        }
        ChaosFault::WrongId => write(format!("{}\n", asked.answer_with_wrong_id()).as_bytes()),
        ChaosFault::Twice => write(line.repeat(2).as_bytes()),
        ChaosFault::Late => {
            thread::sleep(Duration::from_millis(chaos.plan.late_ms));
            write(line.as_bytes())
        }
        ChaosFault::Drip => drip(line.as_bytes()),
        ChaosFault::Flood => {
            let notes: String = flood(CHAOS_FLOOD_COUNT).map(|note| format!("{note}\n")).collect();
            write(format!("{notes}{line}").as_bytes())
        }
        ChaosFault::Garbage => write(format!("{}\n{line}", garbage(&mut dice)).as_bytes()),
        ChaosFault::HugeLine => {
            write_huge_line()?;
            write(line.as_bytes())
        }
        // What happens to HTTP only.
        _ => write(line.as_bytes()),
    }
}

fn garbage(dice: &mut Dice) -> &'static str {
    let kinds = ["not JSON", "{\"jsonrpc\":\"2.0\",\"id\":", "[1,2", "null", "\u{fffd}\u{0}\u{1b}[2J", "{}"];
    dice.pick(&kinds).copied().unwrap_or_default()
}

/// Writes at once, so that lines never mix.
fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn drip(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for byte in bytes {
        out.write_all(&[*byte])?;
        out.flush()?;
        thread::sleep(Duration::from_millis(CHAOS_DRIP_MS));
    }
    Ok(())
}

fn write_huge_line() -> io::Result<()> {
    let block = vec![b'x'; FILLER_CHUNK_BYTES];
    let mut out = io::stdout().lock();
    for _ in 0..CHAOS_HUGE_LINE_BYTES / FILLER_CHUNK_BYTES {
        out.write_all(&block)?;
    }
    out.write_all(b"\n")
}

#[expect(clippy::exit, reason = "a server that dies in the middle of its work is what this is about")]
fn exit() -> ! {
    std::process::exit(3)
}
