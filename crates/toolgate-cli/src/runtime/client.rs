//! The program in front of the runtime: sends what was typed, shows what comes back, and does nothing else, so that it costs next to nothing.

use std::io::{self, Read, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use toolgate::{ElicitationAnswer, ServerName};

use super::frames::{FrameReader, Request, ToClient, ToRuntime, Wants};
use super::place::{Found, Place};
use super::server_question::{ServerAnswer, ServerQuestion};
use crate::ask;
use crate::confirm;
use crate::error::CommandError;
use crate::exit_code::Ending;
use crate::interrupt::heeded;
use crate::limits::{ARGUMENTS_BYTES_MAX, RUNTIME_CHANGE_MS, RUNTIME_STOP_MS, RUNTIME_TAKEN_MS};
use crate::printer::{Form, Printer};
use crate::question::{Asker, Waiting};
use crate::session;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// What to do about a place that is not ours alone.
pub(crate) const OWN_FOLDER: &str = "only a folder of your own that nobody else can enter is used";

/// What to do about a runtime that does not answer.
const ABOUT_SILENCE: &str =
    "`toolgate down` ends it; its process number is in `run/toolgate.lock` beside your settings";

/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Has the runtime run what was typed. Nothing when it is not for the runtime, or there is none.
pub(crate) fn run_there() -> Option<ExitCode> {
    let place = session::runtime_for_words()?;
    let stream = match place.connect() {
        Found::Runtime(stream) => stream,
        Found::Nobody => return None,
        Found::NotOurs(reason) => {
            Talk::new(&Terminal::default()).line(&format!("warning: the runtime is not used: {reason}"));
            return None;
        }
    };
    let (errand, form) = session::errand()?;
    let terminal = errand.terminal;
    let is_call = errand.words.iter().any(|word| word == "call");
    let mut connection = Connection::new(stream);
    let said = connection.say(Wants::Run(Box::new(errand)), RUNTIME_TAKEN_MS);
    // What takes a moment is done while the runtime is at work.
    let (talk, heeded) = (Arc::new(Talk::new(&terminal)), heeded().collect());
    let relay = Relay { form, terminal, is_call, talk, heeded, asks: Vec::new(), stdin: None };
    match connection.hear(said) {
        First::Said(ToClient::Taken, connection) => Some(relay.run(connection)),
        // It ended before it began, or wants us to do it.
        First::Said(..) | First::Nothing => None,
        First::Silence(connection) => match connection.withdraw() {
            Withdrawn::InTime => {
                relay.talk.line("warning: the runtime is not used: it does not answer");
                relay.talk.line(&format!("hint: {ABOUT_SILENCE}"));
                None
            }
            Withdrawn::TooLate => Some(relay.lost()),
            Withdrawn::Unknown => Some(Printer::new(form, terminal).report(&silent()).into()),
        },
    }
}

/// It may have begun or not.
fn silent() -> CommandError {
    let error = CommandError::new(Ending::Unreachable, "runtime", "the runtime does not answer");
    error.hint(ABOUT_SILENCE).hint("`TOOLGATE_NO_RUNTIME=1` does without it")
}

/// What the runtime there says about itself; nothing when there is none.
pub(crate) fn status(place: &Place) -> Result<Option<serde_json::Value>, CommandError> {
    let asked = ask(place, Wants::Status(Box::new(session::conditions())))?;
    Ok(asked.map(|(status, _)| status))
}

/// Asks the runtime there for something that is no command; nothing when there is none. What it said, and the connection it said it on.
pub(crate) fn ask(place: &Place, wants: Wants) -> Result<Option<(serde_json::Value, Connection)>, CommandError> {
    let stream = match place.connect() {
        Found::Runtime(stream) => stream,
        Found::Nobody => return Ok(None),
        Found::NotOurs(reason) => {
            let error = CommandError::new(Ending::Unreachable, "runtime", format!("the runtime is not used: {reason}"));
            return Err(error.hint(OWN_FOLDER));
        }
    };
    let mut connection = Connection::new(stream);
    let said = connection.say(wants, RUNTIME_CHANGE_MS);
    match connection.hear(said) {
        First::Said(ToClient::Answer(value), connection) => Ok(Some((value, connection))),
        First::Said(..) => {
            Err(CommandError::new(Ending::Unreachable, "runtime", "the runtime speaks another version of toolgate")
                .hint("`toolgate down && toolgate up` starts it anew"))
        }
        First::Nothing => Ok(None),
        First::Silence(_) => Err(silent()),
    }
}

/// What the runtime says first.
enum First {
    Said(ToClient, Connection),
    /// It has ended.
    Nothing,
    /// It has taken the request and says nothing.
    Silence(Connection),
}

/// Whether a request was taken back before anything was done.
enum Withdrawn {
    InTime,
    TooLate,
    /// This system does not tell.
    Unknown,
}

/// A connection to the runtime.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    reader: FrameReader,
    piece: Vec<u8>,
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Self { stream, reader: FrameReader::default(), piece: vec![0; PIECE_BYTES] }
    }

    /// Says what is wanted.
    fn say(&mut self, wants: Wants, limit_ms: u64) -> io::Result<()> {
        let request = ToRuntime::Request(Box::new(Request::new(wants)));
        let limit = Some(Duration::from_millis(limit_ms));
        self.stream.set_read_timeout(limit)?;
        self.stream.set_write_timeout(limit)?;
        self.stream.write_all(&request.bytes())
    }

    /// Waits for the first frame, when what is wanted could be said.
    fn hear(mut self, said: io::Result<()>) -> First {
        match said.and_then(|()| self.next()) {
            Ok(Some(frame)) => {
                let stream = &self.stream;
                let _unlimited = stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None)).is_ok();
                First::Said(frame, self)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                First::Silence(self)
            }
            Ok(None) | Err(_) => First::Nothing,
        }
    }

    /// Takes a request back that was not answered. The runtime says that it begins before it does; when it cannot say so any more, and has not
    /// said it, it never will.
    fn withdraw(mut self) -> Withdrawn {
        // Elsewhere what has arrived may be thrown away by this.
        if !cfg!(target_os = "linux") || self.stream.shutdown(Shutdown::Read).is_err() {
            return Withdrawn::Unknown;
        }
        match self.next() {
            Ok(Some(ToClient::Taken)) => Withdrawn::TooLate,
            _ => Withdrawn::InTime,
        }
    }

    /// The next frame; nothing at the end.
    fn next(&mut self) -> io::Result<Option<ToClient>> {
        loop {
            if let Some(frame) = self.buffered()? {
                return Ok(Some(frame));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// A frame that has arrived already.
    fn buffered(&mut self) -> io::Result<Option<ToClient>> {
        self.reader.next().map_err(|bad| io::Error::other(bad.to_string()))
    }

    /// Reads what has arrived. False at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let count = match self.stream.read(&mut self.piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            read => read?,
        };
        self.reader.take(self.piece.get(..count).unwrap_or_default());
        Ok(count > 0)
    }

    /// Waits until the runtime has ended, or that long. Whether it has.
    pub(crate) fn wait_for_end(mut self, limit: Duration) -> bool {
        let limited = self.stream.set_read_timeout(Some(limit)).is_ok();
        limited && matches!(self.fill(), Ok(false))
    }
}

/// One command that the runtime runs for us.
#[derive(Debug)]
struct Relay {
    form: Form,
    terminal: Terminal,
    is_call: bool,
    talk: Arc<Talk>,
    /// The signals that ask us to stop.
    heeded: Vec<i32>,
    /// Those who wait for answers of the person.
    asks: Vec<Waiting>,
    /// Who reads stdin, when the command wants it.
    stdin: Option<JoinHandle<Vec<u8>>>,
}

/// What is to be done with a frame.
enum Next {
    Go,
    End(ExitCode),
}

impl Relay {
    fn run(mut self, mut connection: Connection) -> ExitCode {
        let (Ok(says), Ok(signals)) = (connection.stream.try_clone(), signals(&self.heeded)) else {
            return self.lost();
        };
        let says = Arc::new(Mutex::new(says));
        let mut interrupted: Option<Instant> = None;
        loop {
            loop {
                match connection.buffered() {
                    Ok(Some(frame)) => match self.take(frame, &says) {
                        Next::Go => {}
                        Next::End(code) => return code,
                    },
                    Ok(None) => break,
                    Err(_) => return self.lost(),
                }
            }
            let limit = interrupted.map(|since| left_of(Duration::from_millis(RUNTIME_STOP_MS), since));
            if limit.is_some_and(|left| left == Timespec::default()) {
                return self.give_up(); // That the connection ends tells it the same.
            }
            let mut waiting = [PollFd::new(&connection.stream, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
            if poll(&mut waiting, limit.as_ref()).is_err() {
                continue; // A signal; the pipe says which.
            }
            let [arrived, signalled] = waiting.map(|one| !one.revents().is_empty());
            if signalled {
                let _which = (&signals).read(&mut [0; 64]).is_ok();
                if interrupted.replace(Instant::now()).is_some() {
                    return self.give_up(); // Whoever says it twice means it.
                }
                // What is being said to a runtime that does not listen must not keep us here.
                let says = says.clone();
                std::thread::spawn(move || say(&says, &ToRuntime::Interrupt));
            }
            if arrived && !connection.fill().unwrap_or(false) {
                return self.lost();
            }
        }
    }

    fn give_up(&mut self) -> ExitCode {
        self.talk.give_up_question();
        Ending::Stopped.into()
    }

    fn take(&mut self, frame: ToClient, says: &Arc<Mutex<UnixStream>>) -> Next {
        match frame {
            ToClient::Out(piece) => {
                if let Err(error) = self.talk.undisturbed(|| show(&piece)) {
                    return Next::End(Printer::new(Form::Text, self.terminal).report(&error.into()).into());
                }
            }
            ToClient::Said(line) => self.talk.line(&line),
            ToClient::Waits(Some(for_what)) => self.talk.waits(&for_what),
            ToClient::Waits(None) => self.talk.waits_no_more(),
            ToClient::Question(question) => {
                let says = says.clone();
                self.ask(move |talk, asker| {
                    say(&says, &ToRuntime::Answer(confirm::ask(talk, asker, || question)));
                });
            }
            ToClient::ServerQuestion(question) => {
                let says = says.clone();
                self.ask(move |talk, asker| {
                    say(&says, &ToRuntime::ServerAnswer(answer_server(talk, asker, question)));
                });
            }
            ToClient::WantsStdin => self.stdin = Some(feed(says.clone())),
            ToClient::End(code) => {
                self.leave();
                return Next::End(code.into());
            }
            ToClient::Yourself => {
                self.leave();
                // Whoever begins anew waits for the end of stdin as well.
                let stdin = self.stdin.take().map(|read| read.join().unwrap_or_default());
                return Next::End(session::run_again_here(stdin).into());
            }
            ToClient::Taken | ToClient::Answer(_) => {}
        }
        Next::Go
    }

    fn leave(&mut self) {
        self.asks.clear();
        self.talk.waits_no_more();
        self.talk.give_up_question();
    }

    /// Asks the person, while everything else goes on.
    fn ask(&mut self, ask: impl FnOnce(&Talk, &Asker) + Send + 'static) {
        let (asker, waiting) = Asker::new();
        self.asks.push(waiting);
        let talk = self.talk.clone();
        std::thread::spawn(move || ask(&talk, &asker));
    }

    /// The runtime is gone before it has said how it ended.
    fn lost(mut self) -> ExitCode {
        self.leave();
        let error = CommandError::new(
            Ending::Unreachable,
            "runtime",
            match self.is_call {
                true => "the runtime ended before the call had; whether the tool has done its work is not known",
                false => "the runtime ended before the command had",
            },
        );
        let error = error.hint("the next command does without it; `toolgate up` starts it again");
        Printer::new(self.form, self.terminal).report(&error).into()
    }
}

/// How much of a time is left.
fn left_of(limit: Duration, since: Instant) -> Timespec {
    let left = limit.saturating_sub(since.elapsed());
    Timespec::try_from(left).unwrap_or_default()
}

/// Puts a question of a server to the person. Blocks until they have decided.
fn answer_server(talk: &Talk, asker: &Asker, question: ServerQuestion) -> ServerAnswer {
    let id = question.id;
    let answer = match ServerName::new(&question.server) {
        Ok(server) => ask::ask(talk, asker, &server, &question.into()),
        Err(_) => ElicitationAnswer::Cancel,
    };
    ServerAnswer { id, answer: answer.into() }
}

/// Where these signals are read from.
fn signals(heeded: &[i32]) -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    for signal in heeded {
        signal_hook::low_level::pipe::register(*signal, write.try_clone()?)?;
    }
    Ok(read)
}

fn show(piece: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(piece)?;
    stdout.flush()
}

fn say(says: &Mutex<UnixStream>, frame: &ToRuntime) {
    let mut stream = says.lock().unwrap_or_else(PoisonError::into_inner);
    // A runtime that is gone is noticed where it is read from.
    let _said = stream.write_all(&frame.bytes()).is_ok();
}

/// Passes on what stands in stdin, while everything else goes on. All of it, in the end.
fn feed(says: Arc<Mutex<UnixStream>>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // One byte too many says that it is too much.
        let mut stdin = io::stdin().lock().take(ARGUMENTS_BYTES_MAX + 1);
        let mut piece = vec![0; PIECE_BYTES];
        let why = loop {
            match stdin.read(&mut piece) {
                Ok(0) => break None,
                Ok(count) => {
                    let read = piece.get(..count).unwrap_or_default();
                    all.extend_from_slice(read);
                    say(&says, &ToRuntime::Stdin(read.to_vec()));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        say(&says, &ToRuntime::StdinEnd(why));
        all
    })
}
