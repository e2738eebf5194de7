//! `toolgate up`: keeps servers running between commands.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::io::FdFlags;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::{RUNTIME_CHANGE_MS, RUNTIME_LOG_BYTES_MAX, RUNTIME_LOG_LINES_MAX};
use crate::printer::Form;
use crate::runtime::client::{self, OWN_FOLDER};
use crate::runtime::place::Place;
use crate::runtime::serve::{Seat, serve};
use crate::runtime::status::RuntimeStatus;
use crate::session::{Session, are_absolute, this_program};

/// How long it stays up without work, when the settings say nothing.
const IDLE_MINUTES: f64 = 30.0;

/// The last descriptor that every program has.
const STDERR: RawFd = 2;

/// How often one that starts or ends at the same moment is looked for.
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
    if !are_absolute(&session.env().dirs) {
        let what = "a runtime is for one place: HOME, TOOLGATE_HOME and TOOLGATE_SYSTEM_DIR have to be whole paths";
        return Err(CommandError::usage(what));
    }
    let place = session.runtime_place();
    if let Some(answer) = client::status(&place)? {
        return say_running(session, &answer);
    }
    keep_to_ourselves();
    if arguments.foreground { run_here(session, &place, arguments) } else { start(session, &place) }
}

/// Whatever somebody left open for this command, such as a lock, is neither for the runtime nor for its servers: they would hold it long after.
#[expect(unsafe_code, reason = "what was left open by others has no owner here")]
fn keep_to_ourselves() {
    let open = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers: Vec<RawFd> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > STDERR) {
        // SAFETY: it is used for nothing but this call, which changes nothing that anybody reads or writes. The one that listed them is closed by
        // now, and that is all that can be said about it.
        let left_open = unsafe { BorrowedFd::borrow_raw(number) };
        let _it_is_closed = rustix::io::fcntl_setfd(left_open, FdFlags::CLOEXEC).is_err();
    }
}

/// Is the runtime, until it ends.
fn run_here(session: &mut Session, place: &Place, arguments: &Arguments) -> Result<Ending> {
    let configured = session.looked_at()?;
    let minutes = configured.setup().settings.number("runtime.idleMinutes").unwrap_or(IDLE_MINUTES);
    let idle = Duration::try_from_secs_f64(minutes * 60.0).unwrap_or(Duration::MAX);
    let seat = match seat(place)? {
        Seating::Own(seat) => seat,
        Seating::Taken(answer) => return say_running(session, &answer),
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

/// Who has the seat.
enum Seating {
    Own(Seat),
    /// Somebody else, who says this.
    Taken(serde_json::Value),
}

/// Takes the seat. One that is starting at the same moment answers soon, and one that is ending leaves soon.
fn seat(place: &Place) -> Result<Seating> {
    let deadline = Instant::now() + Duration::from_millis(RUNTIME_CHANGE_MS);
    loop {
        if let Some(seat) = Seat::take(place.clone()).map_err(|error| cannot(&error))? {
            return Ok(Seating::Own(seat));
        }
        if let Some(answer) = client::status(place)? {
            return Ok(Seating::Taken(answer));
        }
        if Instant::now() >= deadline {
            let what = "another one runs that cannot be reached";
            return Err(CommandError::new(Ending::Unreachable, "runtime", what).hint("`toolgate down` ends it"));
        }
        std::thread::sleep(OTHER_PAUSE);
    }
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
    let said: Option<serde_json::Value> = first_line(&mut child).and_then(|line| serde_json::from_str(&line).ok());
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

/// What it says when it can be reached, or why it cannot; nothing when it ends without a word. One that says nothing for long is ended.
fn first_line(child: &mut Child) -> Option<String> {
    let stdout = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        // Nobody may be waiting any more.
        let _heard = read.is_ok() && tell.send(line).is_ok();
    });
    // It may have to wait for another one to end.
    let line = told.recv_timeout(Duration::from_millis(2 * RUNTIME_CHANGE_MS)).ok();
    if line.is_none() {
        let _ended = child.kill().and_then(|()| child.wait()).is_ok();
    }
    line
}

/// A log that has grown large is put aside.
fn open_log(place: &Place) -> std::io::Result<File> {
    let log = place.log();
    if std::fs::metadata(&log).is_ok_and(|about| about.len() > RUNTIME_LOG_BYTES_MAX) {
        std::fs::rename(&log, place.old_log())?;
    }
    File::options().create(true).append(true).mode(0o600).open(log)
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
    if let Some(why) = status.why_not() {
        session.printer.talk().line(&format!("warning: {why}"));
        session.printer.talk().line("hint: `toolgate down && toolgate up` starts it anew from here");
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
