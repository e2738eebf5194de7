//! `Talk`: everything said on stderr — errors, news, progress — and the line that shows who is waited for, only on a terminal.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;
use toolgate::ServerName;
use toolgate::shape::visible;

use crate::columns::cut;
use crate::confirm::measured_columns;
use crate::error::CommandError;
use crate::limits::{HELD_BACK_LINES_MAX, SAID_ONCE_LINES_MAX};
use crate::log_file::LogFile;
use crate::question::{Asker, OpenQuestion};
use crate::terminal::{Paint, Terminal};

/// How often the line that shows who is waited for moves.
const TICK: Duration = Duration::from_millis(100);

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

/// How wide a bar is that shows how far something is.
const BAR: &str = "{spinner} {bar:16} {msg}";

/// The same where nobody knows how far it is.
const SPINNER: &str = "{spinner} {msg}";

/// Columns beside the message: the spinner, the bar, and what a terminal echoes of Ctrl-C, which must not begin a new line.
const BESIDE: usize = 24;

/// Somebody who is talked to through a connection instead of on stderr. Must not block: servers talk too.
pub(crate) trait Listener: fmt::Debug + Send + Sync {
    /// Hears a line.
    fn hears(&self, line: &str);

    /// Sees what is waited for; nothing any more, when it is `None`.
    fn sees_waiting(&self, for_what: Option<&str>);

    /// What was said so far is heard now: the command is about to do something that takes its time.
    fn sees_it_begin(&self);
}

/// What is said beside the results. Shared: servers say something while a command is at work.
#[derive(Debug)]
pub(crate) struct Talk {
    is_terminal: bool,
    paint: Paint,
    /// Whoever is talked to, when they are not here.
    listener: Option<Arc<dyn Listener>>,
    screen: Mutex<Screen>,
    /// Held while a question stands on the screen: one at a time.
    question: Mutex<()>,
    /// Told when nobody types any more.
    typing_ended: Condvar,
    /// What is wrong, in the words of where it is told.
    reworded: OnceLock<fn(&str) -> String>,
    /// Turned on to stop what runs, where commands are typed one after the other.
    stop: OnceLock<watch::Sender<bool>>,
    /// Log file that receives a copy of all output.
    log: OnceLock<LogFile>,
    /// Lines that are printed once only.
    said_once: Mutex<BTreeSet<String>>,
}

/// Somebody types a line, and the screen belongs to it.
#[derive(Debug, Clone)]
pub(crate) struct Typing {
    /// Takes lines that are to be shown above it.
    pub(crate) above: SyncSender<String>,
    /// Has whoever types stop for a moment, to be asked something.
    pub(crate) pause: Arc<AtomicBool>,
}

/// What stands on the terminal.
#[derive(Debug, Default)]
struct Screen {
    /// Shown while something is waited for.
    waiting: Option<ProgressBar>,
    /// The same, where somebody else has the terminal.
    waits_elsewhere: bool,
    /// A question is being answered: nothing else may be written. Whoever wants to is not made to wait, what they say is.
    question: Option<OpenQuestion>,
    /// The command has ended: a question that is still open is left alone, and no other is asked.
    asks_no_more: bool,
    /// How often a command has ended: whoever waits to ask something about an earlier one is not heard.
    ended: usize,
    /// Servers that asked something while nothing ran, of which the person was told.
    unasked: BTreeSet<ServerName>,
    /// Somebody types.
    typing: Option<Typing>,
    held_back: Vec<String>,
    dropped: usize,
}

impl Talk {
    /// Talks on stderr.
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let (screen, question, typing_ended) = (Mutex::default(), Mutex::default(), Condvar::new());
        let paint = terminal.paint_talk();
        let (reworded, stop, log) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let said_once = Mutex::default();
        let is_terminal = terminal.stderr;
        Self { is_terminal, paint, listener: None, screen, question, typing_ended, reworded, stop, log, said_once }
    }

    /// Talks to somebody elsewhere, at a terminal like that.
    pub(crate) fn to(listener: Arc<dyn Listener>, terminal: &Terminal) -> Self {
        Self { listener: Some(listener), ..Self::new(terminal) }
    }

    /// How talk is coloured.
    pub(crate) const fn paint(&self) -> Paint {
        self.paint
    }

    /// Whether somebody reads along.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Prints a line, unless it was printed before.
    pub(crate) fn line_once(&self, line: &str) {
        let is_new = {
            let mut said = self.said_once.lock().unwrap_or_else(PoisonError::into_inner);
            said.len() < SAID_ONCE_LINES_MAX && said.insert(line.to_owned())
        };
        if is_new {
            self.line(line);
        }
    }

    /// Says a line. Whoever calls has made what servers wrote visible.
    pub(crate) fn line(&self, line: &str) {
        self.log(line);
        if let Some(listener) = &self.listener {
            return listener.hears(line);
        }
        let mut screen = self.screen();
        if let Some(typing) = &screen.typing {
            if typing.above.try_send(line.to_owned()).is_err() {
                screen.hold_back(line);
            }
            return;
        }
        if screen.is_asking() {
            screen.hold_back(line);
            return;
        }
        match &screen.waiting {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    /// Starts copying all output to the file.
    pub(crate) fn logs_to(&self, file: LogFile) {
        let _is_first = self.log.set(file).is_ok();
    }

    /// Whether a log file is in use.
    pub(crate) fn has_log(&self) -> bool {
        self.log.get().is_some()
    }

    /// Writes a line only to the log file.
    pub(crate) fn log(&self, line: &str) {
        if let Some(log) = self.log.get() {
            log.line(line);
        }
    }

    /// From now on somebody types: what is said stands above that. Returns when whoever reads keys for a question has let go of them.
    pub(crate) fn somebody_types(&self, typing: Typing) {
        let _nobody_asks = self.question.lock().unwrap_or_else(PoisonError::into_inner);
        let mut screen = self.screen();
        screen.clear();
        screen.typing = Some(typing);
    }

    /// Whether somebody types at this moment.
    pub(crate) fn is_typed_at(&self) -> bool {
        self.screen().typing.is_some()
    }

    /// Nobody types any more. Returns when whoever waited to ask something has been answered.
    pub(crate) fn nobody_types(&self) {
        {
            let mut screen = self.screen();
            screen.typing = None;
            screen.let_go();
        }
        self.typing_ended.notify_all();
        self.nobody_asks();
    }

    /// Returns when whoever reads keys for a question has let go of them.
    pub(crate) fn nobody_asks(&self) {
        drop(self.question.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// After a command of many: questions may be asked again.
    pub(crate) fn asks_again(&self) {
        let mut screen = self.screen();
        screen.asks_no_more = false;
        screen.unasked.clear();
    }

    /// Whether a server may ask something. While nothing runs that it could be about, the person is told once that it wanted to.
    pub(crate) fn may_ask(&self, server: &ServerName) -> bool {
        let is_new = {
            let mut screen = self.screen();
            if !screen.asks_no_more {
                return true;
            }
            screen.unasked.insert(server.clone())
        };
        if is_new {
            let name = visible::line(server);
            self.line(&format!("{name} asked for something while nothing of it was running; declined"));
        }
        false
    }

    /// From now on errors are put into these words.
    pub(crate) fn reword_errors(&self, words: fn(&str) -> String) {
        let _is_first = self.reworded.set(words).is_ok();
    }

    /// From now on this stops what runs.
    pub(crate) fn stops_with(&self, stop: watch::Sender<bool>) {
        let _is_first = self.stop.set(stop).is_ok();
    }

    /// Somebody pressed Ctrl-C at a question, where it is a key like others: what runs is to stop. Whether anything does.
    pub(crate) fn stop(&self) -> bool {
        let Some(stop) = self.stop.get() else { return false };
        // Whoever waits to ask something is to stop, too.
        self.screen().ended += 1;
        stop.send_replace(true);
        true
    }

    /// Says why something was not done.
    pub(crate) fn error(&self, error: &CommandError) {
        let lines = error.lines(self.paint);
        lines.iter().for_each(|line| self.line(&self.reworded(line)));
    }

    /// Words about what to type, as it is typed here.
    pub(crate) fn reworded(&self, text: &str) -> String {
        self.reworded.get().map_or_else(|| text.to_owned(), |words| words(text))
    }

    /// Shows what is waited for, on a terminal; anywhere else nothing.
    pub(crate) fn waits(&self, for_what: &str) {
        self.waits_with(for_what, None);
    }

    /// The same, unless something is shown already.
    pub(crate) fn waits_unless_told(&self, for_what: &str) {
        let is_told = {
            let screen = self.screen();
            screen.waiting.is_some() || screen.waits_elsewhere
        };
        if !is_told {
            self.waits(for_what);
        }
    }

    /// The same, with how far it is, in percent, where that is known.
    pub(crate) fn waits_with(&self, for_what: &str, percent: Option<f64>) {
        let mut screen = self.screen();
        if !self.is_terminal || screen.is_asking() || screen.typing.is_some() {
            return;
        }
        if let Some(listener) = &self.listener {
            screen.waits_elsewhere = true;
            return listener.sees_waiting(Some(for_what));
        }
        let bar = screen.waiting.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
            bar
        });
        if let Ok(style) = ProgressStyle::with_template(if percent.is_some() { BAR } else { SPINNER }) {
            bar.set_style(style.progress_chars("██░"));
        }
        bar.set_position(whole_percent(percent.unwrap_or_default()));
        let room = measured_columns().unwrap_or(COLUMNS).saturating_sub(BESIDE);
        bar.set_message(cut(&visible::line(for_what), room).into_owned());
    }

    /// The command is about to do what it is for, and that may take its time.
    pub(crate) fn begins(&self) {
        self.listener.iter().for_each(|listener| listener.sees_it_begin());
    }

    /// Nothing is waited for any more.
    pub(crate) fn waits_no_more(&self) {
        let mut screen = self.screen();
        screen.clear();
        let was_seen = std::mem::take(&mut screen.waits_elsewhere);
        self.listener.iter().filter(|_| was_seen).for_each(|listener| listener.sees_waiting(None));
    }

    /// Writes results while nothing else is drawn on the terminal they may share.
    pub(crate) fn undisturbed<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.screen().waiting {
            Some(bar) => bar.suspend(act),
            None => act(),
        }
    }

    /// Gives the terminal to a question until it is answered. Blocks while another one stands there; nothing is asked when nobody waits
    /// for the answer by then.
    pub(crate) fn asking<T>(&self, asker: &Asker, ask: impl FnOnce() -> T) -> Option<T> {
        let ended = self.screen().ended;
        let _one_at_a_time = self.question.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut screen = self.screen();
            while let Some(typing) = &screen.typing {
                typing.pause.store(true, Ordering::Relaxed);
                screen = self.typing_ended.wait(screen).unwrap_or_else(PoisonError::into_inner);
            }
            if asker.is_gone() || screen.asks_no_more || screen.ended != ended {
                return None;
            }
            screen.clear();
            screen.question = Some(OpenQuestion::new(asker));
        }
        let answer = ask();
        let mut screen = self.screen();
        screen.question = None;
        screen.let_go();
        Some(answer)
    }

    /// The command has ended: a question that still stands on the terminal is left, and what was held back because of it is said.
    pub(crate) fn give_up_question(&self) {
        let mut screen = self.screen();
        screen.asks_no_more = true;
        screen.ended += 1;
        screen.question.iter().for_each(OpenQuestion::leave);
        screen.let_go();
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screen {
    fn clear(&mut self) {
        if let Some(bar) = self.waiting.take() {
            bar.finish_and_clear();
        }
    }

    const fn is_asking(&self) -> bool {
        self.question.is_some() && !self.asks_no_more
    }

    /// Says what was held back.
    fn let_go(&mut self) {
        for line in std::mem::take(&mut self.held_back) {
            say(&line);
        }
        match std::mem::take(&mut self.dropped) {
            0 => {}
            dropped => say(&format!("({dropped} more lines were not kept while the question was open)")),
        }
    }

    fn hold_back(&mut self, line: &str) {
        if self.held_back.len() < HELD_BACK_LINES_MAX {
            self.held_back.push(line.to_owned());
        } else {
            self.dropped += 1;
        }
    }
}

/// Between nothing and all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 100")]
fn whole_percent(percent: f64) -> u64 {
    if percent.is_finite() { percent.clamp(0.0, 100.0) as u64 } else { 0 }
}

/// One write for one line, so that lines of several programs on the same terminal stay lines.
fn say(line: &str) {
    let mut text = String::with_capacity(line.len() + 1);
    text.push_str(line);
    text.push('\n');
    // Nobody to talk to is no reason to stop working.
    let _said = std::io::stderr().lock().write_all(text.as_bytes()).is_ok();
}
