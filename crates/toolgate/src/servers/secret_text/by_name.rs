//! Values behind names, wherever both stand in a text: assignments, options, calls, elements, blocks. Which names say that they are secret is one
//! question with one answer for texts and for members of JSON.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::{COVERED, is_unlike_a_word, letters};
use crate::servers::secret_name::{is_ambiguous, names_a_secret_in_text};

/// A way in which a name stands before a value.
struct Way {
    /// The name is the first group, and the value begins where the match ends. Without a group the value is secret whatever it is.
    head: &'static str,
    value: ValueKind,
    ready: OnceLock<Option<Regex>>,
}

/// The extent of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    /// One word.
    Word,
    /// One word that is no option.
    Operand,
    /// One word that looks like no ordinary one.
    Unlikely,
    /// A text in quotes.
    Quoted,
    /// What stands before the next element.
    Element,
    /// The lines that are further in.
    Block,
    /// The lines up to a word in capitals.
    Document,
    /// The rest of the line.
    Line,
}

const fn way(head: &'static str, value: ValueKind) -> Way {
    Way { head, value, ready: OnceLock::new() }
}

/// A name.
macro_rules! name {
    () => {
        r#"((?:(?:api|access|secret|secret access|private|account|signing|encryption|master|license) key|(?:seed|recovery|secret) phrase|mot de passe)|[^\s"'`=:,;(){}\[\]<>&?/\\|%#!*+^~]{1,80})"#
    };
}

/// A quote, as it is or as addresses and pages write it.
macro_rules! quote {
    () => {
        r#"(?:\\*["'`]|&quot;|&\#34;|%22)?"#
    };
}

/// Values that reach over lines. They come before every form that knows words only.
static BLOCKS: [Way; 5] = [
    way(concat!("(?i)", name!(), r#"["']?[ \t]*:[ \t]*[|>][-+0-9]*[ \t]*\n"#), ValueKind::Block),
    way(concat!("(?i)", name!(), r#"[ \t]*=[ \t]*<<[-~]?["']?[a-z_]+["']?\n"#), ValueKind::Document),
    way(concat!("(?i)", name!(), r#"["']?[ \t]*:[ \t]*\n[ \t]+value[ \t]*:[ \t]*"#), ValueKind::Word),
    way(r"(?i)stringData:[ \t]*\n", ValueKind::Block),
    way(r"(?is)kind:\s*Secret(?-u:\b).*?\ndata:[ \t]*\n", ValueKind::Block),
];

/// Values that are words. They come behind every form.
static WORDS: [Way; 14] = [
    way(r"(?i)(mnemonic|(?:seed|recovery) phrase)\s*[:=]\s*", ValueKind::Line),
    // `name: X, value: x`, `- name: X\n  value: x`.
    way(
        concat!(r#"(?i)(?:name|key)["']?\s*[:=]\s*["']?"#, name!(), r#"["']?,?\s+["']?val(?:ue)?["']?\s*[:=]\s*"#),
        ValueKind::Word,
    ),
    // `password: String = `.
    way(concat!("(?i)", name!(), r"\s*:\s*[a-z&][a-z0-9_<>&\[\].]{0,40}\??\s*=\s*"), ValueKind::Word),
    way(
        concat!(
            "(?i)",
            name!(),
            r"(?:\[[0-9]+\])?",
            quote!(),
            r"\]?\s*(?:\+=|\?=|::=|:=|=>|->|={1,3}|:|%3[ad])\s*(?:&quot;|&\#34;|%22)?"
        ),
        ValueKind::Word,
    ),
    way(concat!("(?i)", name!(), r"\s*\|\s*"), ValueKind::Operand),
    way(concat!(r#"(?i)(?:\A|[\s"'])[-/]{1,2}"#, name!(), r#"["']?,?\s+"#), ValueKind::Operand),
    // `setPassword("x")`, `define('PASSWORD', 'x')`.
    way(concat!("(?i)", name!(), r"\s*\(\s*"), ValueKind::Quoted),
    way(concat!(r#"(?i)["']"#, name!(), r#"["']\s*,\s*"#), ValueKind::Quoted),
    // `set PASSWORD x`.
    way(
        concat!(
            r"(?i)(?-u:\b)(?:env|setenv|setx|set|export|fastcgi_param|proxy_set_header|connect\s+\S+|insert)\s+(?:-[a-z]+\s+)*",
            name!(),
            r"\s+"
        ),
        ValueKind::Unlikely,
    ),
    way(r"(?i)(bindpw|rootpw|requirepass|masterauth|default password|(?-u:\b)password)[ \t]+", ValueKind::Unlikely),
    way(
        r"(?i)(password|passwd|passcode|passphrase|passwort|token|secret|api key)\s+(?:is|was|are|ist)\s*:?\s+",
        ValueKind::Unlikely,
    ),
    // `<entry key="password">x`, `<password><![CDATA[x`.
    way(
        concat!(
            r#"(?i)<[a-z0-9:_.-]+\s[^<>]*(?-u:\b)(?:name|key|id)\s*=\s*["']"#,
            name!(),
            r#"["'][^<>]*>(?:\s*(?:<!\[CDATA\[|<value[^<>]*>))?\s*"#
        ),
        ValueKind::Element,
    ),
    way(concat!("(?i)<", name!(), r"\s+value\s*=\s*"), ValueKind::Quoted),
    way(concat!("(?i)<", name!(), r"(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[|<value[^<>]*>)\s*"), ValueKind::Element),
];

/// Parts of names that say it, in small letters: a text without any of them is not searched.
const HINTS: [&str; 38] = [
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "auth",
    "credential",
    "creds",
    "cookie",
    "bearer",
    "otp",
    "_pat",
    "-pat",
    "pat=",
    "pat:",
    "jwt",
    "psk",
    "csrf",
    "_sas",
    "sas=",
    "sas:",
    "mnemonic",
    "phrase",
    "recovery",
    "sessid",
    "sessionid",
    "connect.sid",
    "kennwort",
    "contras",
    "senha",
    "wachtwoord",
    "stringdata",
    "webhook",
    "pswd",
    "sharedaccess",
    "shared_access",
    "parola",
    "mfa",
];

/// The same in other scripts.
const OTHER_HINTS: [&str; 8] = ["парол", "ПАРОЛ", "Парол", "密码", "密碼", "パスワード", "비밀번호", "hasło"];

fn may_name_one(text: &str, small: &str) -> bool {
    let has = letters(small);
    HINTS.iter().any(|hint| letters(hint) & !has == 0 && small.contains(hint))
        || (!text.is_ascii() && OTHER_HINTS.iter().any(|hint| text.contains(hint)))
}

/// The text without its secrets that reach over lines.
pub(super) fn blocks_covered<'t>(text: &'t str, small: &str) -> Cow<'t, str> {
    if text.contains('\n') && may_name_one(text, small) {
        BLOCKS.iter().fold(Cow::Borrowed(text), |text, way| way.applied(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text without its secrets that are words.
pub(super) fn covered<'t>(text: Cow<'t, str>, small: &str) -> Cow<'t, str> {
    if may_name_one(&text, small) { WORDS.iter().fold(text, |text, way| way.applied(text)) } else { text }
}

impl Way {
    fn applied<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        let Some(head) = self.ready.get_or_init(|| Regex::new(self.head).ok()) else { return Cow::Borrowed(COVERED) };
        let mut clean = String::new();
        let (mut kept, mut at) = (0, 0);
        while let Some(found) = head.captures_at(&text, at) {
            let Some(whole) = found.get(0) else { break };
            // What stands behind a name that is none may be the name.
            at = found.get(1).map_or(whole.end(), |name| name.end());
            let is_named = found.get(1).is_none_or(|name| names_a_secret_in_text(name.as_str()));
            let rest = text.get(whole.end()..).unwrap_or_default();
            let Some(length) = is_named.then(|| self.value.length(rest)).flatten() else { continue };
            let value = rest.get(..length).unwrap_or_default();
            let is_ambiguous = found.get(1).is_some_and(|name| is_ambiguous(name.as_str()));
            let is_doubtful = self.value == ValueKind::Unlikely || (is_ambiguous && !whole.as_str().contains('='));
            if value.contains(COVERED) || (is_doubtful && !is_unlike_a_word(value)) {
                continue;
            }
            let quote = value.chars().next().filter(|first| matches!(first, '"' | '\'') && value.ends_with(*first));
            let quote = quote.filter(|_| length > 1).map(String::from).unwrap_or_default();
            clean.push_str(text.get(kept..whole.end()).unwrap_or_default());
            clean.extend([&quote, COVERED, &quote]);
            if value.ends_with('\n') {
                clean.push('\n');
            }
            kept = whole.end() + length;
            at = kept;
        }
        if kept == 0 {
            return text;
        }
        clean.push_str(text.get(kept..).unwrap_or_default());
        Cow::Owned(clean)
    }
}

impl ValueKind {
    /// How long the value at the beginning is.
    fn length(self, rest: &str) -> Option<usize> {
        static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(concat!(r"(?s)\A", word!())).ok());
        static QUOTED: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r#"\A(?:"(?:[^"\\]|\\.)+"|'[^']+')"#).ok());
        let by = |pattern: &Option<Regex>| match pattern {
            Some(pattern) => pattern.find(rest).map(|found| found.end()),
            None => Some(rest.len()),
        };
        let until = |end: Option<usize>| Some(end.unwrap_or(rest.len())).filter(|length| *length > 0);
        match self {
            Self::Word | Self::Unlikely => by(&WORD),
            Self::Operand if rest.starts_with('-') => None,
            Self::Operand => by(&WORD),
            Self::Quoted => by(&QUOTED),
            Self::Element => until(rest.find(['<', ']'])),
            Self::Line => until(rest.find('\n')),
            Self::Block => {
                let lines =
                    rest.split_inclusive('\n').take_while(|line| line.starts_with([' ', '\t']) || *line == "\n");
                Some(lines.map(str::len).sum()).filter(|length| *length > 0)
            }
            Self::Document => {
                let is_end =
                    |line: &&str| line.trim().chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
                let lines = rest.split_inclusive('\n').take_while(|line| !is_end(line));
                Some(lines.map(str::len).sum()).filter(|length| *length > 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, WORDS};
    use regex::Regex;

    #[test]
    fn every_head_is_a_pattern() {
        for way in BLOCKS.iter().chain(&WORDS) {
            assert!(Regex::new(way.head).is_ok(), "{}", way.head);
        }
    }
}
