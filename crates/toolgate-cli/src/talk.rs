//! `Talk`: everything said on stderr — errors, news, progress — and the line that shows who is waited for, only on a terminal.

use std::fmt;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use toolgate::shape::visible;

use crate::error::CommandError;
use crate::limits::HELD_BACK_LINES_MAX;
use crate::question::{Asker, OpenQuestion};
use crate::terminal::{Paint, Terminal};

/// How often the line that shows who is waited for moves.
const TICK: Duration = Duration::from_millis(100);

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
    held_back: Vec<String>,
    dropped: usize,
}

impl Talk {
    /// Talks on stderr.
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let (screen, question) = (Mutex::default(), Mutex::default());
        Self { is_terminal: terminal.stderr, paint: terminal.paint_talk(), listener: None, screen, question }
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

    /// Says a line. Whoever calls has made what servers wrote visible.
    pub(crate) fn line(&self, line: &str) {
        if let Some(listener) = &self.listener {
            return listener.hears(line);
        }
        let mut screen = self.screen();
        if screen.is_asking() {
            screen.hold_back(line);
            return;
        }
        match &screen.waiting {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    /// Says why something was not done.
    pub(crate) fn error(&self, error: &CommandError) {
        error.lines(self.paint).iter().for_each(|line| self.line(line));
    }

    /// Shows what is waited for, on a terminal; anywhere else nothing.
    pub(crate) fn waits(&self, for_what: &str) {
        let mut screen = self.screen();
        if !self.is_terminal || screen.is_asking() {
            return;
        }
        if let Some(listener) = &self.listener {
            screen.waits_elsewhere = true;
            return listener.sees_waiting(Some(for_what));
        }
        let bar = screen.waiting.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(TICK);
            bar
        });
        bar.set_message(visible::line(for_what).into_owned());
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
        let _one_at_a_time = self.question.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut screen = self.screen();
            if asker.is_gone() || screen.asks_no_more {
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
        let is_again = std::mem::replace(&mut screen.asks_no_more, true);
        match &screen.question {
            Some(question) if is_again => question.leave_again(),
            Some(question) => question.leave(),
            None => {}
        }
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

/// One write for one line, so that lines of several programs on the same terminal stay lines.
fn say(line: &str) {
    let mut text = String::with_capacity(line.len() + 1);
    text.push_str(line);
    text.push('\n');
    // Nobody to talk to is no reason to stop working.
    let _said = std::io::stderr().lock().write_all(text.as_bytes()).is_ok();
}
