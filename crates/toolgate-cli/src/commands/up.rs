//! `toolgate up`: keeps servers running between commands.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use clap::Args;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::{RUNTIME_LOG_BYTES_MAX, RUNTIME_LOG_LINES_MAX};
use crate::printer::Form;
use crate::runtime::client::{self, OWN_FOLDER};
use crate::runtime::frames::{VERSION, Wants};
use crate::runtime::place::Place;
use crate::runtime::serve::{Seat, serve};
use crate::runtime::status::RuntimeStatus;
use crate::session::{Session, this_program};

/// How long it stays up without work, when the settings say nothing.
const IDLE_MINUTES: f64 = 30.0;

/// How often, and at which distance, one that starts at the same moment is asked whether it is there.
const OTHER_LOOKS: u32 = 40;
const OTHER_PAUSE: Duration = Duration::from_millis(50);

/// Keep servers running between commands
///
/// Starts one process of yours in the background. `call`, `tools`, `prompts`, `prompt`, `resources` and `read` are run by it from then on,
/// with servers that are started once for each folder and stay up. It ends with `toolgate down`, or after `runtime.idleMinutes` without work.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate up                 start it, if it does not run already
  toolgate up --foreground    run it here, until Ctrl-C
  TOOLGATE_NO_RUNTIME=1 toolgate call …   a command that does without it"
)]
pub(crate) struct Arguments {
    /// Stay in the foreground
    #[arg(long)]
    foreground: bool,
    /// Whoever started it has a terminal that is not for it
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

/// Since when it is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// This command started it.
    New,
    /// It was up already.
    Before,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let place = session.runtime_place();
    if let Some((answer, _)) = client::ask(&place, Wants::Status)? {
        return say_running(session, &answer);
    }
    if arguments.foreground { run_here(session, &place, arguments) } else { start(session, &place) }
}

/// Is the runtime, until it ends.
fn run_here(session: &mut Session, place: &Place, arguments: &Arguments) -> Result<Ending> {
    let configured = session.looked_at()?;
    let minutes = configured.setup().settings.number("runtime.idleMinutes").unwrap_or(IDLE_MINUTES);
    let idle = Duration::try_from_secs_f64(minutes * 60.0).unwrap_or(Duration::MAX);
    let Some(seat) = Seat::take(place.clone()).map_err(|error| cannot(&error))? else {
        let answer = answer_of_other(place)?;
        return say_running(session, &answer);
    };
    if arguments.detached {
        // What happens to the terminal of whoever started it is not for it.
        let _left = rustix::process::setsid().is_ok();
    }
    let user = session.env().dirs.user.clone();
    let said = std::cell::Cell::new(Ok(()));
    serve(seat, user, idle, || said.set(say_up(session, std::process::id(), Standing::New)))
        .map_err(|error| cannot(&error))?;
    said.into_inner().map(|()| Ending::Done)
}

/// What the one says that has the seat. It may have taken it just now.
fn answer_of_other(place: &Place) -> Result<serde_json::Value> {
    for _ in 0..OTHER_LOOKS {
        if let Some((answer, _)) = client::ask(place, Wants::Status)? {
            return Ok(answer);
        }
        std::thread::sleep(OTHER_PAUSE);
    }
    let error =
        CommandError::new(Ending::Unreachable, "runtime", "another one is starting or ending, and does not answer");
    Err(error.hint(format!("its process number is in {}", place.lock().display())))
}

/// Starts it in the background, and waits until it can be reached.
fn start(session: &mut Session, place: &Place) -> Result<Ending> {
    place.prepare().map_err(|error| cannot(&error))?;
    let log = open_log(place).map_err(|error| cannot(&error))?;
    let started = this_program().and_then(|mut program| {
        let program = program.args(["up", "--foreground", "--detached", "--json"]);
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).current_dir("/").spawn()
    });
    let mut child = started.map_err(|error| cannot(&error))?;
    let mut line = String::new();
    // It says one line when it can be reached, or ends.
    let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
    let said: Option<serde_json::Value> = read.and_then(|_| serde_json::from_str(&line).ok());
    let pid = said.as_ref().and_then(|said| said.get("pid")).and_then(serde_json::Value::as_u64);
    match pid.and_then(|pid| u32::try_from(pid).ok()) {
        Some(pid) => say_up(session, pid, if pid == child.id() { Standing::New } else { Standing::Before })
            .map(|()| Ending::Done),
        None => {
            let message = said.as_ref().and_then(|said| said.pointer("/error/message")?.as_str());
            let message = message.map(|message| format!(": {message}")).unwrap_or_default();
            let error = CommandError::new(Ending::Unreachable, "runtime", format!("toolgate did not come up{message}"));
            Err(error.detail(&end_of_log(place)).hint(format!("its log is {}", place.log().display())))
        }
    }
}

/// A log that has grown large is put aside.
fn open_log(place: &Place) -> std::io::Result<File> {
    let log = place.log();
    if std::fs::metadata(&log).is_ok_and(|about| about.len() > RUNTIME_LOG_BYTES_MAX) {
        std::fs::rename(&log, place.old_log())?;
    }
    File::options().create(true).append(true).open(log)
}

fn end_of_log(place: &Place) -> String {
    let text = std::fs::read_to_string(place.log()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(RUNTIME_LOG_LINES_MAX);
    lines.get(last..).unwrap_or_default().join("\n")
}

fn cannot(error: &std::io::Error) -> CommandError {
    let refused = CommandError::new(Ending::Unreachable, "runtime", format!("toolgate cannot stay up: {error}"));
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => refused.hint(OWN_FOLDER),
        _ => refused,
    }
}

/// Says that one runs already.
fn say_running(session: &mut Session, answer: &serde_json::Value) -> Result<Ending> {
    let status: RuntimeStatus = serde_json::from_value(answer.clone()).map_err(|error| {
        CommandError::new(Ending::Unreachable, "runtime", format!("the runtime is not understood: {error}"))
    })?;
    if status.version != VERSION {
        let other = format!("it is version {} and this is {VERSION}: commands do without it", status.version);
        session.printer.talk().line(&format!("warning: {other}"));
    }
    say_up(session, status.pid, Standing::Before).map(|()| Ending::Done)
}

fn say_up(session: &mut Session, pid: u32, standing: Standing) -> Result<()> {
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.number("pid", u64::from(pid))?;
                object.flag("started", standing == Standing::New)
            })
        })?,
        Form::Text if standing == Standing::Before => printer.line(&format!("toolgate is up already (pid {pid})"))?,
        Form::Text => printer.line(&format!("toolgate is up (pid {pid})"))?,
    }
    Ok(printer.flush()?)
}
