//! A line that is typed as the answer to a question. Pure: keys in, rows out.

use unicode_width::UnicodeWidthChar as _;

use super::{Key, Question, Step, View, heading};
use crate::columns::{cut, width};
use crate::terminal::Paint;

/// Stands for a letter that nobody is to read.
const COVERED: char = '*';

/// Says why a line cannot be taken.
type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// A line to be typed.
pub(crate) struct Typed<'a> {
    question: &'a str,
    help: Option<&'a str>,
    check: Option<Check<'a>>,
    is_secret: bool,
    letters: Vec<char>,
    /// Before which letter the cursor is.
    at: usize,
    wrong: Option<String>,
}

impl<'a> Typed<'a> {
    /// An empty line.
    pub(crate) const fn new(question: &'a str) -> Self {
        Self { question, help: None, check: None, is_secret: false, letters: Vec::new(), at: 0, wrong: None }
    }

    /// What is said below it.
    pub(crate) const fn help(mut self, help: Option<&'a str>) -> Self {
        self.help = help;
        self
    }

    /// What stands there at first.
    pub(crate) fn proposing(mut self, text: Option<&str>) -> Self {
        self.letters = text.unwrap_or_default().chars().collect();
        self.at = self.letters.len();
        self
    }

    /// Only what this finds right is taken.
    pub(crate) const fn checked(mut self, check: Check<'a>) -> Self {
        self.check = Some(check);
        self
    }

    /// Nobody is to read it.
    pub(crate) const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    fn text(&self) -> String {
        self.letters.iter().collect()
    }

    fn covered(&self) -> Vec<char> {
        if self.is_secret { vec![COVERED; self.letters.len()] } else { self.letters.clone() }
    }
}

impl Question for Typed<'_> {
    type Answer = String;

    fn press(&mut self, key: Key) -> Step<String> {
        match key {
            Key::Enter => {
                let text = self.text();
                self.wrong = self.check.and_then(|check| check(&text).err());
                if self.wrong.is_none() {
                    return Step::Ends(text);
                }
            }
            Key::Left => self.at = self.at.saturating_sub(1),
            Key::Right => self.at = (self.at + 1).min(self.letters.len()),
            Key::Home => self.at = 0,
            Key::End => self.at = self.letters.len(),
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.letters.remove(self.at);
            }
            Key::Delete if self.at < self.letters.len() => drop(self.letters.remove(self.at)),
            Key::Clear => {
                self.letters.clear();
                self.at = 0;
            }
            Key::Text(text) => {
                let before = self.letters.len();
                self.letters.splice(self.at..self.at, text.chars());
                self.at += self.letters.len() - before;
            }
            Key::Up | Key::Down | Key::Backspace | Key::Delete => {}
        }
        Step::Goes
    }

    fn view(&self, columns: usize, paint: Paint) -> View {
        let mut rows = heading(self.question, columns, paint);
        let heading_width = heading(self.question, columns, Paint::default()).last().map_or(0, |row| width(row)) + 1;
        // A long question has the line below it.
        let (start, room) = match columns.checked_sub(heading_width + columns / 3) {
            Some(_) => (heading_width, columns - heading_width - 1),
            None => {
                rows.push(String::new());
                (0, columns - 1)
            }
        };
        let row = rows.len().saturating_sub(1);
        let (part, before) = window(&self.covered(), self.at, room);
        if let Some(last) = rows.last_mut() {
            last.push_str(if start > 0 { " " } else { "" });
            last.push_str(&part);
        }
        rows.extend(self.wrong.iter().map(|wrong| paint.red(cut(&format!("# {wrong}"), columns - 1)).to_string()));
        rows.extend(self.help.map(|help| paint.dim(cut(&format!("[{help}]"), columns - 1)).to_string()));
        View { rows, cursor: Some((row, start + before)) }
    }

    fn ended(&self, answer: Option<&String>) -> String {
        match answer {
            Some(_) if self.is_secret => format!("> {}", self.question),
            Some(text) => format!("> {} {text}", self.question),
            None => format!("> {} (no answer)", self.question),
        }
    }
}

/// The part of a line around the cursor that fits, and how wide what stands before the cursor is.
fn window(letters: &[char], at: usize, columns: usize) -> (String, usize) {
    let wide = |letter: &char| letter.width().unwrap_or(0);
    let (mut first, mut before): (usize, usize) = (at, 0);
    while let Some(earlier) = first.checked_sub(1).and_then(|at| letters.get(at)) {
        if before + wide(earlier) >= columns {
            break;
        }
        before += wide(earlier);
        first -= 1;
    }
    let mut taken = 0;
    let fits = |letter: &&char| {
        taken += wide(letter);
        taken <= columns
    };
    (letters.iter().skip(first).take_while(fits).collect(), before)
}

/// A line that is yes or no.
pub(super) struct YesOrNo<'a> {
    pub(super) question: &'a str,
    pub(super) typed: Typed<'a>,
    pub(super) proposed: Option<bool>,
}

impl Question for YesOrNo<'_> {
    type Answer = bool;

    fn press(&mut self, key: Key) -> Step<bool> {
        match self.typed.press(key) {
            Step::Ends(typed) => meant(&typed, self.proposed).map_or(Step::Goes, Step::Ends),
            Step::Goes => Step::Goes,
        }
    }

    fn view(&self, columns: usize, paint: Paint) -> View {
        self.typed.view(columns, paint)
    }

    fn ended(&self, answer: Option<&bool>) -> String {
        let answer = match answer {
            Some(true) => "Yes",
            Some(false) => "No",
            None => "(no answer)",
        };
        format!("> {} {answer}", self.question)
    }
}

/// What was meant by what was typed; nothing, when that cannot be said.
pub(super) fn meant(typed: &str, proposed: Option<bool>) -> Option<bool> {
    match typed.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        "" => proposed,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Question as _, Step, Typed, meant};
    use crate::terminal::Paint;

    #[test]
    fn keys_edit_the_line() {
        let text = |text: &str| Key::Text(text.to_owned());
        let cases: [(&[Key], &str); 6] = [
            (&[], "old"),
            (&[Key::Clear, text("new")], "new"),
            (&[Key::Backspace, Key::Left, text("x")], "oxl"),
            (&[Key::Home, Key::Delete, Key::End, text("er")], "lder"),
            (&[Key::Home, Key::Backspace, Key::Left, Key::Right, Key::Right, text("é工")], "olé工d"),
            (&[Key::Clear, Key::Backspace, Key::Delete, Key::Right], ""),
        ];
        for (keys, expected) in cases {
            let mut line = Typed::new("Name:").proposing(Some("old"));
            assert!(keys.iter().all(|key| matches!(line.press(key.clone()), Step::Goes)), "{keys:?}");
            assert!(matches!(line.press(Key::Enter), Step::Ends(typed) if typed == expected), "{keys:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_what_is_secret_is_covered() {
        let check = |typed: &str| if typed.len() > 2 { Ok(()) } else { Err("too short".to_owned()) };
        let mut line = Typed::new("Secret:").secret().checked(&check);
        assert!(matches!(line.press(Key::Text("ab".to_owned())), Step::Goes));
        assert!(matches!(line.press(Key::Enter), Step::Goes));
        let view = line.view(40, Paint::default());
        assert_eq!(
            (view.rows, view.cursor),
            (vec!["? Secret: **".to_owned(), "# too short".to_owned()], Some((0, 12)))
        );
        assert_eq!(line.ended(Some(&"ab".to_owned())), "> Secret:");
    }

    #[test]
    fn a_long_line_is_seen_around_the_cursor() {
        let line = Typed::new("A:").proposing(Some("0123456789abcdefghijklmnopqrst"));
        let view = line.view(20, Paint::default());
        assert_eq!((view.rows, view.cursor), (vec!["? A: gijklmnopqrst".replace("gi", "hi")], Some((0, 18))));
    }

    #[test]
    fn yes_and_no_are_told_apart() {
        let cases = [
            ("y", None, Some(true)),
            (" NO ", Some(true), Some(false)),
            ("", Some(false), Some(false)),
            ("", None, None),
            ("maybe", Some(true), None),
        ];
        for (typed, proposed, expected) in cases {
            assert_eq!(meant(typed, proposed), expected, "{typed:?}");
        }
    }
}
