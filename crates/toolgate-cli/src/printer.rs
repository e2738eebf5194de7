//! `Printer`: results to stdout, in text for people or as one JSON object for programs. What is said beside them is `Talk`.

use std::fmt;
use std::io::{BufWriter, Result, Stdout, Write};
use std::sync::Arc;

use toolgate::shape::visible;

use crate::error::CommandError;
use crate::exit_code::Ending;
use crate::json::{ForTerminal, JsonWriter};
use crate::talk::Talk;
use crate::terminal::{Paint, Terminal};

/// Results are written in pieces of this size.
const PIECE_BYTES: usize = 64 * 1024;

/// In which form results are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Where results go.
enum Sink {
    Stdout(Stdout),
    /// To whoever is at the other end of a connection.
    Elsewhere(Box<dyn Write + Send>),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout(_) => "Stdout",
            Self::Elsewhere(_) => "Elsewhere",
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Elsewhere(sink) => sink.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Elsewhere(sink) => sink.flush(),
        }
    }
}

/// Writes results.
#[derive(Debug)]
pub(crate) struct Printer {
    form: Form,
    terminal: Terminal,
    talk: Arc<Talk>,
    out: BufWriter<Sink>,
}

impl Printer {
    /// Prints to stdout.
    pub(crate) fn new(form: Form, terminal: Terminal) -> Self {
        let out = BufWriter::with_capacity(PIECE_BYTES, Sink::Stdout(std::io::stdout()));
        Self { form, terminal, talk: Arc::new(Talk::new(&terminal)), out }
    }

    /// Prints to stdout, for one command of many that share their talk.
    pub(crate) fn beside(form: Form, terminal: Terminal, talk: Arc<Talk>) -> Self {
        Self { talk, ..Self::new(form, terminal) }
    }

    /// Prints to somebody elsewhere, who has a terminal like that.
    pub(crate) fn to(form: Form, terminal: Terminal, talk: Talk, out: Box<dyn Write + Send>) -> Self {
        let out = BufWriter::with_capacity(PIECE_BYTES, Sink::Elsewhere(out));
        Self { form, terminal, talk: Arc::new(talk), out }
    }

    /// In which form results are wanted.
    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// What the streams are.
    pub(crate) const fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// How results are coloured.
    pub(crate) const fn paint(&self) -> Paint {
        self.terminal.paint_results()
    }

    /// What is said beside the results.
    pub(crate) const fn talk(&self) -> &Arc<Talk> {
        &self.talk
    }

    /// A line of our own words. What servers wrote in it has been made visible.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// A text of a server that may have many lines, each behind `indent`.
    pub(crate) fn text(&mut self, indent: &str, text: &str) -> Result<()> {
        for line in text.lines() {
            if !line.is_empty() {
                self.out.write_all(indent.as_bytes())?;
                visible::pieces(line).try_for_each(|piece| self.out.write_all(piece.as_bytes()))?;
            }
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// A result of a tool for a person: nothing in it acts on a terminal, wherever it is read in the end.
    pub(crate) fn result(&mut self, text: &str) -> Result<()> {
        visible::pieces(text).try_for_each(|piece| self.out.write_all(piece.as_bytes()))?;
        self.end_of(text)
    }

    /// A result of a tool as it is, for the program that reads it; on a terminal it is for a person all the same.
    pub(crate) fn raw_result(&mut self, text: &str) -> Result<()> {
        if self.terminal.stdout { self.result(text) } else { self.whole(text) }
    }

    /// A piece of what a model says, at once: as it is for a program, and harmless on a terminal.
    pub(crate) fn piece(&mut self, text: &str) -> Result<()> {
        let shown = if self.terminal.stdout { visible::text(text) } else { text.into() };
        self.out.write_all(shown.as_bytes())?;
        self.flush()
    }

    fn whole(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.end_of(text)
    }

    /// Ends the last line, if the text does not.
    fn end_of(&mut self, text: &str) -> Result<()> {
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.out.write_all(b"\n") }
    }

    /// One JSON value, and the end of its line.
    pub(crate) fn json(&mut self, write: impl FnOnce(&mut JsonWriter<'_>) -> Result<()>) -> Result<()> {
        if self.terminal.stdout {
            write(&mut JsonWriter::new(&mut ForTerminal::new(&mut self.out)))?;
        } else {
            write(&mut JsonWriter::new(&mut self.out))?;
        }
        self.out.write_all(b"\n")
    }

    /// Tells why something was not done, in the form that is wanted. How the program ends because of it.
    pub(crate) fn report(&mut self, error: &CommandError) -> Ending {
        if !error.is_quiet() {
            let told = match self.form {
                Form::Text => self.flush(),
                Form::Json => self.json(|json| error.write(json)).and_then(|()| self.flush()),
            };
            if self.form == Form::Text || told.is_err() {
                self.talk.error(error);
            }
        }
        error.ending()
    }

    /// Everything written so far reaches its reader now.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let Self { out, talk, .. } = self;
        talk.undisturbed(|| out.flush())
    }
}

/// Prints what was asked about the program itself. A reader who has seen enough of it may leave.
pub(crate) fn show(text: &str) -> Ending {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Ending::Output,
        _ => Ending::Done,
    }
}
