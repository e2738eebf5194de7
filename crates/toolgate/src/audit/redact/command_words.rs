//! Secrets in a command line given as a list of words: the words before decide whether a word is secret.

use serde_json::Value;

use super::secret_name::names_a_secret;
use crate::limits::AUDIT_COMMAND_WORDS_MAX;
use crate::servers::secret_text::{self, COVERED};

/// Masks the secrets and counts them.
pub(super) fn cover(elements: &mut [Value]) -> usize {
    let has_options = elements.iter().any(|one| one.as_str().is_some_and(|word| word.starts_with(['-', '/'])));
    let is_pair = elements.len() == 2;
    if (!has_options && !is_pair) || !elements.iter().all(Value::is_string) {
        return 0;
    }
    let mut covered = 0;
    let mut line = String::new();
    for at in 0..elements.len() {
        let before = at.checked_sub(1).and_then(|at| elements.get(at)).and_then(Value::as_str).unwrap_or_default();
        let is_named = names_its_value(before) || (is_pair && at == 1 && is_name(before) && names_a_secret(before));
        let Some(word) = elements.get(at).and_then(Value::as_str) else { continue };
        let clean = match word {
            COVERED => None,
            word if is_named && !word.starts_with('-') => Some(COVERED.to_owned()),
            word if at < AUDIT_COMMAND_WORDS_MAX && (word.starts_with('-') || before.starts_with('-')) => {
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

/// A word as a person would type it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+[]".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', ""))
    }
}
