//! The program in front of the runtime: sends what was typed, shows what comes back, and does nothing else, so that it costs next to nothing.

use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inquire::ui::RenderConfig;
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use toolgate::{ElicitationAnswer, ServerName};

use super::frames::{FrameReader, Request, ToClient, ToRuntime, Wants};
use super::place::{Found, Place};
use super::server_question::{ServerAnswer, ServerQuestion};
use crate::ask;
use crate::confirm;
use crate::error::CommandError;
use crate::exit_code::Ending;
use crate::limits::{ARGUMENTS_BYTES_MAX, RUNTIME_CHANGE_MS, RUNTIME_TAKEN_MS};
use crate::printer::{Form, Printer};
use crate::question::{Asker, Waiting};
use crate::session;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// What to do about a place that is not ours alone.
pub(crate) const OWN_FOLDER: &str = "only a folder of your own that nobody else can enter is used";

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
    let first = Connection::new(stream).ask(Wants::Run(errand), RUNTIME_TAKEN_MS);
    match first {
        Ok(Some((ToClient::Taken, connection))) => {
            let relay = Relay { form, terminal, is_call, talk: Arc::new(Talk::new(&terminal)), asks: Vec::new() };
            Some(relay.run(connection))
        }
        // It ended before it began, or wants us to do it.
        Ok(_) => None,
        Err(error) => Some(Printer::new(form, terminal).report(&error).into()),
    }
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
    match Connection::new(stream).ask(wants, RUNTIME_CHANGE_MS)? {
        Some((ToClient::Answer(value), connection)) => Ok(Some((value, connection))),
        Some(_) => {
            Err(CommandError::new(Ending::Unreachable, "runtime", "the runtime speaks another version of toolgate")
                .hint("end its process, and start it again with `toolgate up`"))
        }
        None => Ok(None),
    }
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

    /// Says what is wanted, and waits for the first frame; nothing when the runtime ended instead.
    fn ask(mut self, wants: Wants, limit_ms: u64) -> Result<Option<(ToClient, Self)>, CommandError> {
        let request = ToRuntime::Request(Box::new(Request::new(wants)));
        let limited = self.stream.set_read_timeout(Some(Duration::from_millis(limit_ms)));
        if limited.and_then(|()| self.stream.write_all(&request.bytes())).is_err() {
            return Ok(None);
        }
        match self.next() {
            Ok(Some(frame)) => {
                let _unlimited = self.stream.set_read_timeout(None).is_ok();
                Ok(Some((frame, self)))
            }
            Ok(None) => Ok(None),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(CommandError::new(Ending::Unreachable, "runtime", "the runtime does not answer")
                    .hint("its process number is in `run/toolgate.lock` beside your settings")
                    .hint("`TOOLGATE_NO_RUNTIME=1` does without it"))
            }
            Err(_) => Ok(None),
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
    /// Those who wait for answers of the person.
    asks: Vec<Waiting>,
}

/// What is to be done with a frame.
enum Next {
    Go,
    End(ExitCode),
}

impl Relay {
    fn run(mut self, mut connection: Connection) -> ExitCode {
        let (Ok(says), Ok(signals)) = (connection.stream.try_clone(), signals()) else { return self.lost() };
        let says = Arc::new(Mutex::new(says));
        let mut is_interrupted = false;
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
            let mut waiting = [PollFd::new(&connection.stream, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
            if poll(&mut waiting, None).is_err() {
                continue; // A signal; the pipe says which.
            }
            let [arrived, signalled] = waiting.map(|one| !one.revents().is_empty());
            if signalled {
                let _which = (&signals).read(&mut [0; 64]).is_ok();
                if std::mem::replace(&mut is_interrupted, true) {
                    // Whoever says it twice means it.
                    self.talk.give_up_question();
                    return Ending::Stopped.into();
                }
                say(&says, &ToRuntime::Interrupt);
            }
            if arrived && !connection.fill().unwrap_or(false) {
                return self.lost();
            }
        }
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
            ToClient::WantsStdin => feed(says.clone()),
            ToClient::End(code) => {
                self.leave();
                return Next::End(code.into());
            }
            ToClient::Yourself => {
                self.leave();
                return Next::End(session::run_again_here().into());
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
        if !self.terminal.colours {
            inquire::set_global_render_config(RenderConfig::empty());
        }
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

/// Puts a question of a server to the person. Blocks until they have decided.
fn answer_server(talk: &Talk, asker: &Asker, question: ServerQuestion) -> ServerAnswer {
    let id = question.id;
    let answer = match ServerName::new(&question.server) {
        Ok(server) => ask::ask(talk, asker, &server, &question.into()),
        Err(_) => ElicitationAnswer::Cancel,
    };
    ServerAnswer { id, answer: answer.into() }
}

/// Where signals are read from that ask us to stop.
fn signals() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
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

/// Passes on what stands in stdin, while everything else goes on.
fn feed(says: Arc<Mutex<UnixStream>>) {
    std::thread::spawn(move || {
        // One byte too many says that it is too much.
        let mut stdin = io::stdin().lock().take(ARGUMENTS_BYTES_MAX + 1);
        let mut piece = vec![0; PIECE_BYTES];
        let why = loop {
            match stdin.read(&mut piece) {
                Ok(0) => break None,
                Ok(count) => say(&says, &ToRuntime::Stdin(piece.get(..count).unwrap_or_default().to_vec())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        say(&says, &ToRuntime::StdinEnd(why));
    });
}
