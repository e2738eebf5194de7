//! Text of a server as it may reach a terminal: nothing in it acts, nothing in it hides.
//!
//! One notation for everything: `\e` for the escape character, `\r`, `\0`, in one line also `\n` and `\t`, and `\u{202e}` (hexadecimal)
//! for every other character that a terminal would obey or a reader would not see. A backslash stays as it is, so text that was made
//! visible once is not changed by making it visible again.
//!
//! Invisible characters stay where writing needs them: variation selectors on the character before them, joiners within emoji and
//! between letters of scripts that join, and the flags of England, Scotland and Wales.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use super::invisible::{Glance, is_kept};
use crate::limits::VISIBLE_PIECE_BYTES;

/// One line: line breaks and tabs are shown, too.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    escape(text, |letter| matches!(letter, '\n' | '\t') || is_suspicious(letter))
}

/// Whether a text is made of nothing but letters, digits, signs and blanks of ASCII: each is one column, and none of them acts or hides.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Text of many lines: line breaks (`\r\n` as `\n`) and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    escape(text, is_suspicious)
}

/// The output of [`text`] in pieces, each made on demand. A text whose characters are all escaped would be six times
/// as large.
pub fn pieces(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let (mut at, mut glance) = (0_usize, Glance::default());
    std::iter::from_fn(move || {
        let end = text.ceil_char_boundary(at.saturating_add(VISIBLE_PIECE_BYTES).min(text.len()));
        let piece = (at < end).then(|| escape_part(text, at..end, &mut glance, is_suspicious));
        at = end;
        piece
    })
}

/// Text for a model: shows only what serves to hide a message from people, tag characters and long runs of variation selectors.
///
/// All else stays, since a model has to be able to give back a text exactly as it read it.
pub fn smuggled(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    escape(text, |letter| matches!(letter, '\u{FE00}'..='\u{FE0F}' | '\u{E0000}'..='\u{E01EF}'))
}

/// Replaces the characters that `shows` picks, except where writing needs them.
fn escape(text: &str, shows: impl Fn(char) -> bool) -> Cow<'_, str> {
    escape_part(text, 0..text.len(), &mut Glance::default(), shows)
}

/// Escapes one part of a text. `glance` has seen everything before that part.
fn escape_part<'a>(
    text: &'a str,
    part: Range<usize>,
    glance: &mut Glance,
    shows: impl Fn(char) -> bool,
) -> Cow<'a, str> {
    let start = part.start;
    let part = text.get(part).unwrap_or_default();
    let mut shown: Option<String> = None;
    for (at, letter) in part.char_indices() {
        let after = text.get(start + at..).unwrap_or_default();
        // Where line breaks stay, `\r\n` stays too.
        let is_line_break = letter == '\r' && after.starts_with("\r\n") && shows('\r') && !shows('\n');
        if is_line_break || (shows(letter) && !is_kept(letter, glance, after)) {
            let shown = shown.get_or_insert_with(|| part.get(..at).unwrap_or_default().to_owned());
            if !is_line_break {
                push_visible(shown, letter);
            }
        } else if let Some(shown) = &mut shown {
            shown.push(letter);
        }
        glance.pass(letter, after);
    }
    shown.map_or(Cow::Borrowed(part), Cow::Owned)
}

fn push_visible(out: &mut String, letter: char) {
    match letter {
        '\u{1B}' => out.push_str("\\e"),
        '\0' => out.push_str("\\0"),
        '\n' | '\r' | '\t' => out.extend(letter.escape_default()),
        // Writing to a string cannot fail.
        other => drop(write!(out, "\\u{{{:x}}}", u32::from(other))),
    }
}

/// What a terminal obeys or a reader does not see, line breaks and tabs apart.
fn is_suspicious(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        ' '..='~' => false,
        _ => letter.is_control() || super::invisible::is_invisible(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_or_hides_is_shown() {
        let cases = [
            ("plain text, 1 + 1 = 2 ~", "plain text, 1 + 1 = 2 ~"),
            ("größer 漢字 العربية हिन्दी ñ", "größer 漢字 العربية हिन्दी ñ"),
            ("\u{1b}[31mred\u{1b}[0m", r"\e[31mred\e[0m"),
            ("\u{1b}]0;title\u{7}", r"\e]0;title\u{7}"),
            ("\u{1b}]8;;http://a\u{1b}\\x", r"\e]8;;http://a\e\x"),
            ("\u{9b}2J", r"\u{9b}2J"),
            ("a\u{7f}\u{8}b\0c", r"a\u{7f}\u{8}b\0c"),
            ("over\rwritten", r"over\rwritten"),
            ("user\u{202e}txt.exe", r"user\u{202e}txt.exe"),
            ("\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}", r"\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}"),
            ("zero\u{200b}width\u{2060}\u{feff}", r"zero\u{200b}width\u{2060}\u{feff}"),
            ("soft\u{ad}hyphen \u{3164}\u{ffa0}\u{115f}", r"soft\u{ad}hyphen \u{3164}\u{ffa0}\u{115f}"),
            ("sep\u{2028}a\u{2029}b\u{85}", r"sep\u{2028}a\u{2029}b\u{85}"),
            ("tag\u{e0041}\u{e007f}", r"tag\u{e0041}\u{e007f}"),
            ("l\u{200d}o", r"l\u{200d}o"),
            ("👩\u{200d}💻 👨🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥", "👩\u{200d}💻 👨🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥"),
            ("👩\u{200d}\u{200d}💻", r"👩\u{200d}\u{200d}💻"),
            ("می\u{200c}خواهم क्\u{200d}ष", "می\u{200c}خواهم क्\u{200d}ष"),
            ("葛\u{e0100}", "葛\u{e0100}"),
            ("😀\u{e0100}\u{e0101}", r"😀\u{e0100}\u{e0101}"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}\\u{e0101}"),
            ("☺\u{fe0f}\u{fe0f}", "☺\u{fe0f}\\u{fe0f}"),
            ("\u{fe0f}", r"\u{fe0f}"),
            (
                "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
                "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            ),
            ("🏴\u{e0068}\u{e0069}\u{e007f}", r"🏴\u{e0068}\u{e0069}\u{e007f}"),
        ];
        for (given, expected) in cases {
            assert_eq!(line(given), expected, "line of {given:?}");
            assert_eq!(text(given), expected, "text of {given:?}");
            assert_eq!(line(expected), expected, "made visible twice: {given:?}");
        }
    }

    #[test]
    fn pieces_are_the_text_whatever_stands_where_they_are_cut() {
        let beginnings = ["", "a", "\u{1b}", "ä", "漢", "👩", "\r"];
        for beginning in beginnings {
            for unit in [
                "\r\n",
                "👩\u{200d}💻",
                "\u{7f}x",
                "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
                "葛\u{e0100}",
            ] {
                let given = format!("{beginning}{}", unit.repeat(2 * VISIBLE_PIECE_BYTES / unit.len()));
                let whole: String = pieces(&given).collect();
                assert!(whole == text(&given), "{beginning:?} and {unit:?} many times");
                let longest = pieces(&given).map(|piece| piece.len()).max();
                assert!(longest.is_some_and(|longest| longest < 10 * VISIBLE_PIECE_BYTES), "{longest:?}");
            }
        }
    }

    #[test]
    fn line_breaks_and_tabs_are_shown_in_one_line_only() {
        let cases = [
            ("a\nb\tc", "a\\nb\\tc", "a\nb\tc"),
            ("a\r\nb\r\n", "a\\r\\nb\\r\\n", "a\nb\n"),
            ("a\r\r\nb", "a\\r\\r\\nb", "a\\r\nb"),
            ("\r\n\u{1b}", "\\r\\n\\e", "\n\\e"),
        ];
        for (given, in_one_line, in_many) in cases {
            assert_eq!(line(given), in_one_line);
            assert_eq!(text(given), in_many);
        }
    }

    #[test]
    fn clean_text_is_not_copied() {
        for clean in ["", "plain", "größer 漢字 👩\u{200d}💻"] {
            assert!(matches!(line(clean), Cow::Borrowed(_)), "{clean}");
            assert!(matches!(text(clean), Cow::Borrowed(_)), "{clean}");
            assert!(matches!(smuggled(clean), Cow::Borrowed(_)), "{clean}");
        }
        assert!(matches!(text("two\nlines"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_control_character_is_left_whatever_the_text() {
        let all: String = ('\0'..=char::MAX).collect();
        let selector = '\u{fe00}'; // It selects a form of the character that stands before it here.
        assert!(
            line(&all).chars().all(|letter| letter == selector || (!is_suspicious(letter) && !letter.is_control()))
        );
        assert!(text(&all).chars().all(|letter| letter == selector || !is_suspicious(letter)));
    }

    #[test]
    fn a_model_sees_smuggled_text_and_keeps_all_else() {
        let cases = [
            ("hi\u{e0068}\u{e0069}", r"hi\u{e0068}\u{e0069}"),
            ("😀\u{e0110}\u{e0111}\u{fe01}", r"😀\u{e0110}\u{e0111}\u{fe01}"),
            ("\u{feff}a\u{200b}b\r\n\u{202e}\u{1b}[0m", "\u{feff}a\u{200b}b\r\n\u{202e}\u{1b}[0m"),
        ];
        for (given, expected) in cases {
            assert_eq!(smuggled(given), expected);
        }
    }
}
