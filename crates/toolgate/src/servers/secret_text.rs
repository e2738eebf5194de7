//! Secrets within a text, by their form: keys, tokens of well-known kinds, addresses with passwords, headers, and what follows a name that
//! says so. Only they are covered; a text in which something is left that looks like a secret is covered as a whole.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use memchr::memmem::Finder;
use regex::{Captures, Regex};

use super::secret_look::value_looks_secret;

/// Stands for a secret.
pub(crate) const COVERED: &str = "[secret]";

/// One form: words of which a text must have one, in small letters, so that most texts cost no more than that; the pattern; and what is left
/// of what it matches.
struct Form {
    hints: &'static [&'static str],
    pattern: &'static str,
    left: Left,
}

/// What is left of what a pattern matches.
enum Left {
    /// This, in which `${1}` is the first group.
    Text(&'static str),
    /// The first group; then the second one covered, in its quotes when it stands in quotes.
    Value,
    /// Keeps the first group. Masks the second one if it is a secret.
    Checked(fn(&str) -> bool),
}

/// A word of a command line, with what is quoted in it; the same where it is no option; and one with a colon. A quote that it begins with goes on
/// to its end, or to that of the text; one further on that never ends may be that of what stands around the word.
macro_rules! word {
    () => {
        concat!(r#"(?:"(?:[^"\\]|\\.)*(?:"|\z)|'[^']*(?:'|\z)|\\.|[^\s"'&;,\\])"#, word!(rest))
    };
    (no option) => {
        concat!(r#"(?:"(?:[^"\\]|\\.)*(?:"|\z)|'[^']*(?:'|\z)|\\.|[^\s"'&;,\\-])"#, word!(rest))
    };
    (rest) => {
        r#"(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'&;,\\])*"#
    };
    (pair) => {
        concat!(r#"(?:"[^":]*:(?:[^"\\]|\\.)*(?:"|\z)|'[^':]*:[^']*(?:'|\z)|[^\s"':]*:"#, word!(), ")")
    };
}

mod by_name;
mod named;
mod programs;
mod tokens;

/// All forms, in the order of their use. Masking too much is preferred to masking too little.
const GROUPS: [&[Form]; 3] = [named::FORMS, programs::FORMS, tokens::FORMS];

impl Left {
    fn of(&self, pattern: &Regex, text: &str) -> String {
        match self {
            Self::Text(left) => pattern.replace_all(text, *left).into_owned(),
            Self::Value => pattern.replace_all(text, covered_value).into_owned(),
            Self::Checked(is_secret) => {
                let cover = |found: &Captures<'_>| {
                    let group = |nth| found.get(nth).map_or("", |group| group.as_str());
                    let value = if is_secret(group(2)) { COVERED } else { group(2) };
                    format!("{}{value}", group(1))
                };
                pattern.replace_all(text, cover).into_owned()
            }
        }
    }
}

fn covered_value(found: &Captures<'_>) -> String {
    let group = |nth| found.get(nth).map_or("", |group| group.as_str());
    let (before, value) = (group(1), group(2));
    // Another form was there first, and knows better where the secret ends.
    if value.trim_start_matches(['"', '\'']).starts_with(COVERED) {
        return group(0).to_owned();
    }
    let quote = value.chars().next().filter(|first| {
        let inner = value.strip_prefix(*first).and_then(|rest| rest.strip_suffix(*first));
        matches!(first, '"' | '\'') && inner.is_some_and(|inner| !inner.contains(*first))
    });
    let quote = quote.map(String::from).unwrap_or_default();
    format!("{before}{quote}{COVERED}{quote}")
}

/// Whether the text after `Basic` is credentials and not the next word of a sentence.
fn is_login(text: &str) -> bool {
    let decoded = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
    let is_pair = decoded.is_ok_and(|bytes| bytes.contains(&b':') && bytes.is_ascii());
    is_pair || text.ends_with('=') || (text.bytes().any(|byte| byte.is_ascii_digit()) && text.len() >= LOGIN_BYTES_MIN)
}

/// Minimum length of a word with digits after `Basic` that counts as credentials.
const LOGIN_BYTES_MIN: usize = 16;

/// Whether a word is none of a sentence: it has digits beside its letters, or signs that no sentence has within a word, or quotes around it.
fn is_unlike_a_word(text: &str) -> bool {
    let quoted = text.starts_with(['"', '\'']);
    let bare = text.trim_matches(['"', '\'']).trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let has = |is_kind: fn(char) -> bool| bare.chars().any(is_kind);
    let is_sign = |letter: char| "!@#$%^&*+=~".contains(letter);
    (quoted && !bare.contains(' '))
        || (bare.chars().count() >= UNLIKE_A_WORD_CHARS
            && (has(is_sign) || (has(|letter| letter.is_ascii_digit()) && has(char::is_alphabetic))))
}

/// Shorter words have digits in them for many reasons.
const UNLIKE_A_WORD_CHARS: usize = 5;

/// A form with its prepared data.
struct Ready {
    form: &'static Form,
    /// Its hints, each with its set of letters.
    hints: Vec<(u64, Finder<'static>)>,
    /// Compiled on first use, because one run needs few forms.
    pattern: OnceLock<Option<Regex>>,
}

/// All prepared forms.
static FORMS: LazyLock<Vec<Ready>> = LazyLock::new(|| {
    let ready = |form: &'static Form| Ready {
        form,
        hints: form.hints.iter().map(|hint| (letters(hint), Finder::new(*hint))).collect(),
        pattern: OnceLock::new(),
    };
    GROUPS.iter().flat_map(|group| group.iter()).map(ready).collect()
});

/// Which letters a text has, roughly: one that lacks a letter of a word is not searched for the word.
fn letters(text: &str) -> u64 {
    text.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63))
}

/// The text with its secrets covered.
pub(crate) fn covered(text: &str) -> Cow<'_, str> {
    let small = text.to_ascii_lowercase();
    let has = letters(&small);
    let mut clean = by_name::blocks_covered(text, &small);
    for ready in FORMS.iter() {
        let has = |(letters, hint): &(u64, Finder<'_>)| letters & !has == 0 && hint.find(small.as_bytes()).is_some();
        if !ready.hints.iter().any(has) {
            continue;
        }
        match ready.pattern.get_or_init(|| Regex::new(ready.form.pattern).ok()) {
            Some(pattern) => clean = Cow::Owned(ready.form.left.of(pattern, &clean)),
            None => return Cow::Borrowed(COVERED),
        }
    }
    clean = by_name::covered(clean, &small);
    // An address whose password is covered looks as if it had one.
    let looks_secret = if clean.contains(COVERED) {
        value_looks_secret(&clean.replace(":[secret]@", "@"))
    } else {
        value_looks_secret(&clean)
    };
    if looks_secret { Cow::Borrowed(COVERED) } else { clean }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::{GROUPS, covered};

    #[test]
    fn every_pattern_is_one() {
        for form in GROUPS.iter().flat_map(|group| group.iter()) {
            assert!(Regex::new(form.pattern).is_ok(), "{}", form.pattern);
            assert!(form.hints.iter().all(|hint| *hint == hint.to_lowercase()), "{:?}", form.hints);
        }
    }

    #[test]
    fn only_the_secret_is_covered() {
        let a = |count| "a1B2".repeat(count);
        let cases = [
            ("ls -l src".to_owned(), "ls -l src"),
            ("basic understanding of the bearer of a token".to_owned(), "basic understanding of the bearer of a token"),
            (
                "max_tokens=5 task-1234567890123456 risk-averse".to_owned(),
                "max_tokens=5 task-1234567890123456 risk-averse",
            ),
            ("https://host:8080/a b@c".to_owned(), "https://host:8080/a b@c"),
            (format!("git clone https://ada:{}@host/x.git", a(3)), "git clone https://ada:[secret]@host/x.git"),
            ("redis://:s3@cache".to_owned(), "redis://:[secret]@cache"),
            (format!("GITHUB_TOKEN={} make release", a(2)), "GITHUB_TOKEN=[secret] make release"),
            ("mysql --user root --password hunter2 -e x".to_owned(), "mysql --user root --password [secret] -e x"),
            ("mysql --password=hunter2".to_owned(), "mysql --password=[secret]"),
            (r#"{"apiKey": "abc", "n": 1}"#.to_owned(), r#"{"apiKey": "[secret]", "n": 1}"#),
            ("curl -H 'Authorization: Basic YWRh' x".to_owned(), "curl -H 'Authorization: [secret]' x"),
            ("curl -H \"X-Api-Key: abc\" x".to_owned(), "curl -H \"X-Api-Key: [secret]\" x"),
            ("see Bearer abcdefghijkl.mn now".to_owned(), "see Bearer [secret] now"),
            (format!("use ghp_{} please", a(9)), "use ghp_[secret] please"),
            (format!("sk-{}", a(5)), "[secret]"),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "[secret]"),
            ("x eyJhbGciOi.eyJzdWIi.c2ln-_ y".to_owned(), "x [secret] y"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest".to_owned(), "[secret]\nrest"),
            ("-----BEGIN PRIVATE KEY-----\nMII".to_owned(), "[secret]"),
            ("http://ada:a/b@host/".to_owned(), "http://[secret]@host/"),
            ("curl -u ada:hunter2 x".to_owned(), "curl -u [secret] x"),
            ("curl -su 'ada:correct horse' x | sort -u".to_owned(), "curl -su '[secret]' x | sort -u"),
            ("curl --user=ada:pw x".to_owned(), "curl --user=[secret] x"),
            ("mysql -uroot -phunter2 db".to_owned(), "mysql -uroot -p[secret] db"),
            ("mysql -P 3306 -p db".to_owned(), "mysql -P 3306 -p db"),
            ("mysqldump -p'correct horse' db".to_owned(), "mysqldump -p'[secret]' db"),
            ("sshpass -p hunter2 ssh host".to_owned(), "sshpass -p [secret] ssh host"),
            ("docker login -u ada -p hunter2 host".to_owned(), "docker login -u ada -p [secret] host"),
            ("docker login --password-stdin host".to_owned(), "docker login --password-stdin host"),
            ("redis-cli -a hunter2 ping".to_owned(), "redis-cli -a [secret] ping"),
            ("openssl rsa -passin pass:hunter2".to_owned(), "openssl rsa -passin pass:[secret]"),
            ("x --password 'correct horse' y".to_owned(), "x --password '[secret]' y"),
            ("x --password \"it's a \\\" horse\" y".to_owned(), "x --password [secret] y"),
            ("x '--password=correct horse' y".to_owned(), "x '--password=[secret]' y"),
            ("DB_PASSWORD=\"one two\" make".to_owned(), "DB_PASSWORD=\"[secret]\" make"),
            ("DB_PASSWORD=one'two three' make".to_owned(), "DB_PASSWORD=[secret] make"),
            ("psql \"host=x password=abc\" -c x".to_owned(), "psql \"host=x password=[secret]\" -c x"),
            ("DB_PASSWORD=one\\ two make".to_owned(), "DB_PASSWORD=[secret] make"),
            ("export DB_PASSWORD='one\ntwo".to_owned(), "export DB_PASSWORD=[secret]"),
        ];
        for (text, expected) in cases {
            let expected = expected.replace("ghp_[secret]", "[secret]");
            assert_eq!(covered(&text), expected, "{text}");
        }
    }
}
