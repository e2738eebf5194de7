//! Questions at the terminal, key by key: one or several of a list, a line, yes or no. A question is left as soon as nobody waits for its answer, so
//! that whoever reads keys next has them for itself.
//!
//! `list.rs` and `typed.rs` decide what a key does and what is shown; this file reads keys and draws.

mod list;
mod typed;

use std::io::Write as _;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::termios::{QueueSelector, tcflush};

pub(crate) use self::list::List;
pub(crate) use self::typed::Typed;

use self::typed::YesOrNo;
use crate::columns::break_line;
use crate::confirm::measured_columns;
use crate::question::{AS_BEFORE, Asker};
use crate::terminal::Paint;

/// How long a key is waited for before it is seen whether anybody waits for the answer.
const LOOK: Duration = Duration::from_millis(50);

/// A question that may take somebody by surprise is not answered within this time: whoever pressed a key had not read it.
const UNREAD: Duration = Duration::from_millis(150);

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

/// The narrowest terminal that is drawn on.
const COLUMNS_MIN: usize = 10;

/// What is pasted arrives as one.
const PASTE_AS_ONE: &str = "\u{1b}[?2004h";

/// A question that ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The person wants to go back: Escape.
    Back,
    /// The person wants out: Ctrl-C.
    Out,
    /// Nobody waits for the answer any more.
    Unwanted,
}

/// What the person does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    Enter,
    Backspace,
    Delete,
    /// Everything that was typed is taken back.
    Clear,
    /// A letter, or all that was pasted.
    Text(String),
}

/// What follows a key.
enum Step<T> {
    Goes,
    Ends(T),
}

/// What is drawn.
#[derive(Debug, Default)]
struct View {
    rows: Vec<String>,
    /// Row and column of the cursor, where there is one.
    cursor: Option<(usize, usize)>,
}

/// Something that is asked.
trait Question {
    type Answer;

    fn press(&mut self, key: Key) -> Step<Self::Answer>;

    fn view(&self, columns: usize, paint: Paint) -> View;

    /// The question and its answer once more, when it has ended.
    fn ended(&self, answer: Option<&Self::Answer>) -> String;
}

/// Puts questions to the person at the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt<'a> {
    /// Who waits for the answers.
    pub(crate) asker: &'a Asker,
    /// How they are coloured.
    pub(crate) paint: Paint,
}

impl Prompt<'_> {
    /// Which one of a list.
    pub(crate) fn pick(&self, list: List<'_>) -> Result<usize, Left> {
        self.ask(list::One(list))
    }

    /// Which ones of a list.
    pub(crate) fn pick_several(&self, list: List<'_>) -> Result<Vec<usize>, Left> {
        self.ask(list::Several(list))
    }

    /// A line.
    pub(crate) fn line(&self, typed: Typed<'_>) -> Result<String, Left> {
        self.ask(typed)
    }

    /// Yes or no. Without a proposal one of them has to be typed.
    pub(crate) fn yes_or_no(&self, question: &str, proposed: Option<bool>, help: Option<&str>) -> Result<bool, Left> {
        let choice = match proposed {
            Some(true) => "(Y/n)",
            Some(false) => "(y/N)",
            None => "(y/n)",
        };
        let asked = format!("{question} {choice}");
        let check = |typed: &str| typed::meant(typed, proposed).map(drop).ok_or_else(|| "y or n".to_owned());
        self.ask(YesOrNo { question, typed: Typed::new(&asked).help(help).checked(&check), proposed })
    }

    fn ask<Q: Question>(&self, mut question: Q) -> Result<Q::Answer, Left> {
        let _raw = RawMode::begin().map_err(|_| Left::Out)?;
        let (mut frame, mut counts_from) = (Frame::default(), None);
        let answer = loop {
            let columns = measured_columns().unwrap_or(COLUMNS).max(COLUMNS_MIN);
            let view = question.view(columns, self.paint);
            if self.asker.takes_forgetting() {
                forget_keys();
                counts_from = Some(Instant::now() + UNREAD);
            }
            frame.draw(&view);
            match self.next_key() {
                // Nobody has read the question yet: it was meant for something else.
                Ok(Some(_)) if counts_from.is_some_and(|from| Instant::now() < from) => {}
                Ok(None) => {}
                Ok(Some(key)) => match question.press(key) {
                    Step::Goes => {}
                    Step::Ends(answer) => break Ok(answer),
                },
                Err(left) => break Err(left),
            }
        };
        // Whoever left it has drawn below it already.
        if !self.asker.is_left() {
            frame.end(&question.ended(answer.as_ref().ok()));
        }
        answer
    }

    /// The next key; nothing when the question is to be drawn again.
    fn next_key(&self) -> Result<Option<Key>, Left> {
        loop {
            if self.asker.is_gone() {
                return Err(Left::Unwanted);
            }
            if !event::poll(LOOK).map_err(|_| Left::Out)? {
                continue;
            }
            match event::read().map_err(|_| Left::Out)? {
                Event::Key(key) if key.kind == KeyEventKind::Press => match key_of(key) {
                    Ok(None) => {}
                    found => return found,
                },
                Event::Paste(text) => {
                    return Ok(Some(Key::Text(text.replace(|letter: char| letter.is_control(), " "))));
                }
                Event::Resize(..) => return Ok(None),
                _ => {}
            }
        }
    }
}

/// Forgets what was typed until now: what the terminal holds, and what was read from it already.
pub(crate) fn forget_keys() {
    let _forgotten = tcflush(std::io::stdin(), QueueSelector::IFlush).is_ok();
    while event::poll(Duration::ZERO).unwrap_or(false) {
        let _forgotten = event::read().is_ok();
    }
}

fn key_of(key: KeyEvent) -> Result<Option<Key>, Left> {
    let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    Ok(Some(match key.code {
        KeyCode::Esc => return Err(Left::Back),
        KeyCode::Char('c') if with_control => return Err(Left::Out),
        // A terminal that read lines a moment ago has an end of line for Enter.
        KeyCode::Char('j') if with_control => Key::Enter,
        KeyCode::Char('p') if with_control => Key::Up,
        KeyCode::Char('n') if with_control => Key::Down,
        KeyCode::Char('a') if with_control => Key::Home,
        KeyCode::Char('e') if with_control => Key::End,
        KeyCode::Char('u' | 'w') if with_control => Key::Clear,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Char(letter) if is_plain => Key::Text(letter.to_string()),
        _ => return Ok(None),
    }))
}

/// Every key is taken as it is pressed, until this is dropped.
struct RawMode;

impl RawMode {
    fn begin() -> std::io::Result<Self> {
        enable_raw_mode()?;
        write(PASTE_AS_ONE);
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        write(AS_BEFORE);
        // A terminal that is gone needs nothing any more.
        let _restored = disable_raw_mode().is_ok();
    }
}

/// What was drawn last.
#[derive(Default)]
struct Frame {
    /// In which of its rows the cursor is.
    row: usize,
}

impl Frame {
    fn draw(&mut self, view: &View) {
        let last = view.rows.len().saturating_sub(1);
        let (row, place) = match view.cursor {
            Some((row, column)) => {
                let up = last.saturating_sub(row);
                let right = if column > 0 { format!("\u{1b}[{column}C") } else { String::new() };
                let up = if up > 0 { format!("\u{1b}[{up}A") } else { String::new() };
                (row, format!("{up}\r{right}\u{1b}[?25h"))
            }
            None => (last, "\u{1b}[?25l".to_owned()),
        };
        write(&format!("{}{}{place}", self.back(), view.rows.join("\r\n")));
        self.row = row;
    }

    /// To the beginning of what was drawn, which is gone then.
    fn back(&self) -> String {
        if self.row > 0 { format!("\u{1b}[{}A\r\u{1b}[J", self.row) } else { "\r\u{1b}[J".to_owned() }
    }

    fn end(&self, line: &str) {
        write(&format!("{}{line}\r\n", self.back()));
    }
}

/// Nobody to read it is no reason to stop.
fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _written = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).is_ok();
}

/// The question itself, on as many rows as it needs.
fn heading(text: &str, columns: usize, paint: Paint) -> Vec<String> {
    let rows = break_line(&format!("? {text}"), columns.saturating_sub(1));
    rows.iter().map(|row| paint.bold(row).to_string()).collect()
}
