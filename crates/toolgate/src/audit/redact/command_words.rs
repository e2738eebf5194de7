//! Secrets in a command line given as a list of words: the words before decide whether a word is secret.

use serde_json::{Map, Value};

use crate::limits::{AUDIT_COMMAND_WORD_BYTES_MAX, AUDIT_COMMAND_WORDS_MAX};
use crate::servers::secret_name::names_a_secret;
use crate::servers::secret_text::{self, COVERED};

/// Members with the program of a command.
const PROGRAMS: [&str; 8] = ["command", "cmd", "program", "executable", "exec", "binary", "file", "path"];

/// Members with the words behind it.
const WORDS: [&str; 6] = ["args", "argv", "arguments", "params", "parameters", "options"];

/// Covers them in a command whose program stands in another member.
pub(super) fn cover_members(members: &mut Map<String, Value>) -> usize {
    let program = PROGRAMS.iter().find_map(|key| members.get(*key)?.as_str()).map(str::to_owned);
    let Some(program) = program.filter(|program| program.len() <= AUDIT_COMMAND_WORD_BYTES_MAX) else { return 0 };
    let words = WORDS.iter().find(|key| members.get(**key).is_some_and(Value::is_array));
    let Some(Value::Array(words)) = words.and_then(|key| members.get_mut(*key)) else { return 0 };
    cover_behind(&format!("{program} "), words)
}

/// Masks the secrets and counts them.
pub(super) fn cover(elements: &mut [Value]) -> usize {
    cover_behind("", elements)
}

/// Masks the secrets in words that follow the beginning of a command line, and counts them.
fn cover_behind(start: &str, elements: &mut [Value]) -> usize {
    let is_pair = elements.len() == 2;
    if !elements.iter().all(Value::is_string) {
        return 0;
    }
    let has_options = elements.iter().any(|one| one.as_str().is_some_and(|word| word.starts_with(['-', '/'])));
    let is_headers = names_headers(elements);
    let says_more = says_more(start, elements);
    if !has_options && !is_pair && !is_headers && !says_more {
        return 0;
    }
    let mut covered = 0;
    let mut line = start.to_owned();
    for at in 0..elements.len() {
        let before = at.checked_sub(1).and_then(|at| elements.get(at)).and_then(Value::as_str).unwrap_or_default();
        let is_named = names_its_value(before)
            || (is_pair && at == 1 && is_name(before) && names_a_secret(before))
            || (is_headers && at % 2 == 1 && names_a_secret(before));
        let Some(word) = elements.get(at).and_then(Value::as_str) else { continue };
        let clean = match word {
            COVERED => None,
            word if is_named && !word.starts_with('-') => Some(COVERED.to_owned()),
            word if at < AUDIT_COMMAND_WORDS_MAX && (says_more || word.starts_with('-') || before.starts_with('-')) => {
                by_line(&line, word)
            }
            _ => None,
        };
        if let (Some(clean), Some(element)) = (clean, elements.get_mut(at)) {
            *element = Value::from(clean);
            covered += 1;
        }
        if at < AUDIT_COMMAND_WORDS_MAX {
            let word = elements.get(at).and_then(Value::as_str).unwrap_or_default();
            line.push_str(&quoted(word));
            line.push(' ');
        }
    }
    covered
}

/// Whether they are names and values of headers in turns.
fn names_headers(elements: &[Value]) -> bool {
    let mut names = elements.iter().step_by(2).filter_map(Value::as_str);
    elements.len() > 2 && elements.len().is_multiple_of(2) && names.all(is_name) && {
        elements.iter().step_by(2).filter_map(Value::as_str).any(|name| name.contains('-') && names_a_secret(name))
    }
}

/// Whether the words as one line have a secret that the words by themselves do not show.
fn says_more(start: &str, elements: &[Value]) -> bool {
    let words = elements.iter().take(AUDIT_COMMAND_WORDS_MAX).filter_map(Value::as_str);
    let line = words.map(quoted).fold(start.to_owned(), |line, word| line + &word + " ");
    secret_text::covered(&line) != line
}

/// Whether a word is an option whose value is secret.
fn names_its_value(word: &str) -> bool {
    word.starts_with(['-', '/']) && !word.contains(['=', ' ']) && names_a_secret(word)
}

/// Whether a word names the next one, such as a header name.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// Masks a word according to the part of the command line before it.
fn by_line(line: &str, word: &str) -> Option<String> {
    // Its form was looked at before.
    if word.len() > AUDIT_COMMAND_WORD_BYTES_MAX {
        return None;
    }
    let whole = format!("{line}{}", quoted(word));
    let clean = secret_text::covered(&whole);
    if clean == whole {
        return None;
    }
    // The part before was masked already.
    let rest = clean.strip_prefix(line).unwrap_or(COVERED);
    let rest = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(rest);
    (rest != word).then(|| rest.to_owned())
}

/// A word as it would be typed. What is long is no name of anything.
fn quoted(word: &str) -> String {
    if word.len() > AUDIT_COMMAND_WORD_BYTES_MAX {
        return "…".to_owned();
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+[]".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', ""))
    }
}
