//! `toolgate ps`: what the process that `toolgate up` started keeps running.

use std::time::Duration;

use clap::Args;
use toolgate::RawJson;
use toolgate::shape::visible;

use crate::columns::table;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::{Form, Printer};
use crate::runtime::client;
use crate::runtime::status::{RuntimeStatus, ServerStatus};
use crate::session::Session;

/// Bytes in the unit that memory is shown in.
const MIB: u64 = 1024 * 1024;

/// Show the servers that `toolgate up` keeps running
#[derive(Debug, Args)]
#[command(
    after_help = "CALLS were made, NOW is what runs at the moment, STARTS counts connections, and LATE are answers that came when nobody waited
for them any more. A server that is resting is started when it is used.

Examples:
  toolgate ps
  toolgate ps --json"
)]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let answer = client::status(&session.runtime_place())?;
    let printer = &mut session.printer;
    match (printer.form(), answer) {
        (Form::Json, None) => printer.json(|json| json.object(|object| object.flag("running", false)))?,
        (Form::Text, None) => {
            printer.line("toolgate is not up; every command starts the servers it needs (`toolgate up` keeps them)")?;
        }
        (Form::Json, Some(answer)) => {
            let status = RawJson::from(answer);
            printer.json(|json| {
                json.object(|object| {
                    object.flag("running", true)?;
                    object.raw("runtime", Some(&status))
                })
            })?;
        }
        (Form::Text, Some(answer)) => {
            let status = serde_json::from_value(answer).map_err(|error| {
                let message = format!("what the runtime says is not understood: {error}");
                CommandError::new(Ending::Unreachable, "runtime", message)
            })?;
            print(printer, &status)?;
        }
    }
    Ok(Ending::Done)
}

fn print(printer: &mut Printer, status: &RuntimeStatus) -> Result<()> {
    let RuntimeStatus { pid, version, up_ms, requests, running, memory_bytes, hosts, .. } = status;
    let up = ago(*up_ms);
    let (mut requests, memory) =
        (counted(usize::try_from(*requests).unwrap_or(usize::MAX), "request"), mebibytes(*memory_bytes));
    if *running > 0 {
        requests.push_str(&format!(" ({running} running)"));
    }
    printer.line(&format!("toolgate {version} is up (pid {pid}) for {up}, {requests}, {memory}"))?;
    if let Some(why) = status.why_not() {
        printer.line(&why)?;
    }
    for host in hosts {
        printer.line("")?;
        let paint = printer.paint();
        printer.line(&paint.bold(visible::line(&host.folder)).to_string())?;
        let rows: Vec<Vec<String>> = host.servers.iter().map(row).collect();
        let headings = ["SERVER", "STATUS", "SINCE", "PID", "MEMORY", "CALLS", "NOW", "STARTS", "LATE"];
        for line in table(&headings, rows, printer.terminal().columns) {
            printer.line(&line)?;
        }
    }
    Ok(())
}

fn row(server: &ServerStatus) -> Vec<String> {
    let ServerStatus { name, status, since_ms, pid, memory_bytes, calls, running, waiting, connections, late_answers } =
        server;
    let now = if *waiting == 0 { running.to_string() } else { format!("{running} + {waiting} waiting") };
    vec![
        visible::line(name).into_owned(),
        status.clone(),
        ago(*since_ms),
        pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        mebibytes(*memory_bytes),
        calls.to_string(),
        now,
        connections.to_string(),
        late_answers.to_string(),
    ]
}

fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} MiB", bytes.div_ceil(MIB)))
}

/// How long ago, in the two largest units that say something.
fn ago(ms: u64) -> String {
    let seconds = Duration::from_millis(ms).as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (1.., ..) => format!("{days} d {} h", hours % 24),
        (_, 1.., _) => format!("{hours} h {} min", minutes % 60),
        (_, _, 1..) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ago, mebibytes};

    #[test]
    fn times_and_sizes_are_short() {
        let cases =
            [(0, "0 s"), (59_999, "59 s"), (61_000, "1 min 1 s"), (3_600_000, "1 h 0 min"), (90_000_000, "1 d 1 h")];
        for (ms, expected) in cases {
            assert_eq!(ago(ms), expected);
        }
        assert_eq!([None, Some(1), Some(3 * 1024 * 1024)].map(mebibytes), ["-", "1 MiB", "3 MiB"]);
    }
}
