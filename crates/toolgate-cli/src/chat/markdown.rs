//! Markdown as it streams in, coloured for a terminal: each letter is shown as soon as it is clear what it means, and nothing is ever taken back.
//!
//! Headings, lists, quotes, emphasis, code with the colours of its language. Everything else stays as it was written.

use super::code_colours::{CodeColours, text_length};
use crate::terminal::Paint;

pub(super) const OFF: &str = "\u{1b}[0m";
const BOLD: &str = "\u{1b}[1m";
pub(super) const DIM: &str = "\u{1b}[2m";
const ITALIC: &str = "\u{1b}[3m";
const UNDERLINE: &str = "\u{1b}[4m";
const RED: &str = "\u{1b}[31m";
pub(super) const GREEN: &str = "\u{1b}[32m";
pub(super) const YELLOW: &str = "\u{1b}[33m";
pub(super) const CYAN: &str = "\u{1b}[36m";

/// What begins and ends a block of code.
const FENCE: &str = "```";

/// Markdown on its way to a terminal.
#[derive(Debug)]
pub(super) struct Markdown {
    is_coloured: bool,
    /// The line so far: all of it within code, else only until it is clear what kind of line it is.
    line: String,
    place: Place,
    look: Look,
    /// A star that may be one of two.
    star: bool,
}

/// Where in the text we are.
#[derive(Debug, Clone, Copy)]
enum Place {
    LineStart,
    InLine,
    Code(Language),
}

/// What a block of code is written in, as far as it is coloured.
#[derive(Debug, Clone, Copy)]
enum Language {
    Json,
    Diff,
    Source(CodeColours),
    Other,
}

/// How letters look at the moment.
#[derive(Debug, Default, Clone, Copy)]
struct Look {
    heading: bool,
    bold: bool,
    italic: bool,
    code: bool,
}

impl Look {
    fn codes(self) -> String {
        let heading = if self.heading { [BOLD, UNDERLINE].concat() } else { String::new() };
        let on = [(self.bold, BOLD), (self.italic, ITALIC), (self.code, CYAN)];
        let on: String = on.into_iter().filter(|(is_on, _)| *is_on).map(|(_, code)| code).collect();
        format!("{OFF}{heading}{on}")
    }
}

impl Markdown {
    /// For a terminal that is coloured like that; where nothing is coloured, the text stays as it is.
    pub(super) fn new(paint: Paint) -> Self {
        let (line, place, look) = (String::new(), Place::LineStart, Look::default());
        Self { is_coloured: paint.is_on(), line, place, look, star: false }
    }

    /// A piece of the text; what can be shown by now. What could act on a terminal has been made visible.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if !self.is_coloured {
            return piece.to_owned();
        }
        let mut shown = String::with_capacity(piece.len());
        for letter in piece.chars() {
            match self.place {
                Place::Code(language) => self.in_code(letter, language, &mut shown),
                Place::LineStart => self.at_start(letter, &mut shown),
                Place::InLine => self.in_line(letter, &mut shown),
            }
        }
        shown
    }

    /// The end of the text: what was held back, without colours that would go on.
    pub(super) fn finish(&mut self) -> String {
        if !self.is_coloured {
            return String::new();
        }
        let mut shown = String::new();
        let is_open = matches!(self.place, Place::InLine) || !self.line.is_empty();
        match self.place {
            Place::Code(mut language) => shown.push_str(&language.line(&self.line)),
            Place::LineStart if is_open => self.begin_line(&mut shown),
            Place::LineStart | Place::InLine => {}
        }
        if std::mem::take(&mut self.star) {
            shown.push('*');
        }
        self.line.clear();
        if is_open {
            shown.push_str(OFF);
        }
        (self.place, self.look) = (Place::LineStart, Look::default());
        shown
    }

    fn in_code(&mut self, letter: char, mut language: Language, shown: &mut String) {
        if letter != '\n' {
            return self.line.push(letter);
        }
        let line = std::mem::take(&mut self.line);
        if line.trim() == FENCE {
            shown.push_str(&format!("{DIM}{line}{OFF}\n"));
            self.place = Place::LineStart;
        } else {
            shown.push_str(&language.line(&line));
            shown.push('\n');
            // A comment may go on in the next line.
            self.place = Place::Code(language);
        }
    }

    /// Letters are held back until it is clear what kind of line they begin.
    fn at_start(&mut self, letter: char, shown: &mut String) {
        if letter == '\n' {
            if let Some(language) = self.line.trim_start().strip_prefix(FENCE) {
                self.place = Place::Code(Language::of(language));
                shown.push_str(&format!("{DIM}{}{OFF}\n", self.line));
                self.line.clear();
                return;
            }
            self.begin_line(shown);
            return self.in_line('\n', shown);
        }
        self.line.push(letter);
        if !may_go_on(&self.line) {
            self.begin_line(shown);
        }
    }

    /// Shows what was held back, as the beginning of the kind of line it is.
    fn begin_line(&mut self, shown: &mut String) {
        let line = std::mem::take(&mut self.line);
        self.place = Place::InLine;
        let text = line.trim_start();
        let indent = line.strip_suffix(text).unwrap_or_default();
        let hashes = text.chars().take_while(|letter| *letter == '#').count();
        let (start, rest) = match text.split_once(' ') {
            Some((mark, rest)) if (1..=6).contains(&hashes) && mark.len() == hashes => {
                self.look.heading = true;
                (self.look.codes(), rest)
            }
            Some(("-" | "*" | "+", rest)) => (format!("{indent}{CYAN}•{OFF} "), rest),
            Some((">", rest)) => (format!("{indent}{DIM}│{OFF} "), rest),
            _ => (indent.to_owned(), text),
        };
        shown.push_str(&start);
        for letter in rest.chars() {
            self.in_line(letter, shown);
        }
    }

    fn in_line(&mut self, letter: char, shown: &mut String) {
        if std::mem::take(&mut self.star) {
            if letter == '*' {
                self.look.bold ^= true;
                return shown.push_str(&self.look.codes());
            }
            self.single_star(letter, shown);
        }
        match letter {
            '\n' => {
                if self.look.heading || self.look.bold || self.look.italic || self.look.code {
                    shown.push_str(OFF);
                }
                // Emphasis that was never closed must not colour the rest.
                self.look = Look::default();
                self.place = Place::LineStart;
                shown.push('\n');
            }
            '`' => {
                self.look.code ^= true;
                shown.push_str(&self.look.codes());
            }
            '*' if !self.look.code => self.star = true,
            letter => shown.push(letter),
        }
    }

    /// One star begins or ends what is said with emphasis, or is a star.
    fn single_star(&mut self, after: char, shown: &mut String) {
        let begins = !self.look.italic && after.is_alphanumeric();
        if self.look.italic || begins {
            self.look.italic ^= true;
            shown.push_str(&self.look.codes());
        } else {
            shown.push('*');
        }
    }
}

/// Whether a line that begins so may still be of another kind than plain.
fn may_go_on(line: &str) -> bool {
    let text = line.trim_start();
    let is_fence = text.starts_with(FENCE) || FENCE.starts_with(text);
    let is_heading = text.len() <= 6 && text.chars().all(|letter| letter == '#');
    is_fence || is_heading || matches!(text, "" | "-" | "*" | "+" | ">")
}

impl Language {
    /// The first word after the fence says it.
    fn of(info: &str) -> Self {
        match info.split_whitespace().next().unwrap_or_default().to_lowercase().as_str() {
            "json" | "jsonc" => Self::Json,
            "diff" | "patch" => Self::Diff,
            name => CodeColours::of(name).map_or(Self::Other, Self::Source),
        }
    }

    fn line(&mut self, line: &str) -> String {
        match self {
            Self::Diff => diff_line(line),
            Self::Json => json_line(line),
            Self::Source(colours) => colours.line(line),
            Self::Other => format!("{YELLOW}{line}{OFF}"),
        }
    }
}

fn diff_line(line: &str) -> String {
    let colour = match line.chars().next() {
        Some('+') => GREEN,
        Some('-') => RED,
        Some('@') => CYAN,
        _ => return line.to_owned(),
    };
    format!("{colour}{line}{OFF}")
}

/// Names, texts and other values of one line of JSON.
fn json_line(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let (token, colour) = if letter == '"' {
            let end = text_length(rest, letter);
            let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            (token, Some(if after.trim_start().starts_with(':') { CYAN } else { GREEN }))
        } else {
            let is_value = |letter: char| letter.is_alphanumeric() || "+-.".contains(letter);
            let end = rest.find(|other| is_value(other) != is_value(letter) || other == '"').unwrap_or(rest.len());
            let (token, _) = rest.split_at_checked(end.max(letter.len_utf8())).unwrap_or((rest, ""));
            (token, is_value(letter).then_some(YELLOW))
        };
        match colour {
            Some(colour) => shown.push_str(&format!("{colour}{token}{OFF}")),
            None => shown.push_str(token),
        }
        rest = rest.strip_prefix(token).unwrap_or_default();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::Markdown;
    use crate::terminal::Paint;

    /// Colours as words, so that they can be read.
    fn rendered(text: &str, piece: usize) -> String {
        let mut markdown = Markdown::new(Paint::always());
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(piece).map(|letters| markdown.push(&letters.iter().collect::<String>()));
        let mut shown: String = pieces.collect::<Vec<_>>().concat();
        shown.push_str(&markdown.finish());
        let names = [
            ("0", "/"),
            ("1", "b"),
            ("2", "d"),
            ("3", "i"),
            ("4", "u"),
            ("31", "r"),
            ("32", "g"),
            ("33", "y"),
            ("36", "c"),
        ];
        names.iter().fold(shown, |text, (code, name)| text.replace(&format!("\u{1b}[{code}m"), &format!("<{name}>")))
    }

    #[test]
    fn markdown_is_shown_as_it_is_meant_however_it_arrives() {
        let cases = [
            ("plain", "plain</>"),
            ("a\n\nb\n", "a\n\nb\n"),
            ("# Title\ntext", "</><b><u>Title</>\ntext</>"),
            ("#hash", "#hash</>"),
            ("- one\n* two\n  + three\n", "<c>•</> one\n<c>•</> two\n  <c>•</> three\n"),
            ("> said", "<d>│</> said</>"),
            ("a **b** c", "a </><b>b</> c</>"),
            ("**b**", "</><b>b</></>"),
            ("*i* 2 * 3", "</><i>i</> 2 * 3</>"),
            ("snake_case_name", "snake_case_name</>"),
            ("`a*b`", "</><c>a*b</></>"),
            ("**open\nrest", "</><b>open</>\nrest</>"),
            ("```\nx = *1*\n```\ny", "<d>```</>\n<y>x = *1*</>\n<d>```</>\ny</>"),
            ("```diff\n-a\n+b\n c\n```\n", "<d>```diff</>\n<r>-a</>\n<g>+b</>\n c\n<d>```</>\n"),
            (
                "```py title=x\n\"\"\"a\nb\"\"\"\n```\n",
                "<d>```py title=x</>\n<g>\"\"\"a</>\n<g>b\"\"\"</>\n<d>```</>\n",
            ),
            (
                "```json\n{\"a\\\"\": [\"b\", -1.5, true]}\n```\n",
                "<d>```json</>\n{<c>\"a\\\"\"</>: [<g>\"b\"</>, <y>-1.5</>, <y>true</>]}\n<d>```</>\n",
            ),
            ("---\n1. one", "---\n1. one</>"),
            ("", ""),
        ];
        for (text, expected) in cases {
            for piece in [1, 2, 3, 1000] {
                assert_eq!(rendered(text, piece), expected, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn without_colours_it_stays_as_it_was_written() {
        let mut markdown = Markdown::new(Paint::default());
        assert_eq!(markdown.push("# **a**\n") + &markdown.finish(), "# **a**\n");
    }
}
