//! Secrets in a command line that is given as a list of words: a word is secret by the words before it.

use serde_json::Value;

use super::secret_name::names_a_secret;
use crate::limits::AUDIT_COMMAND_WORDS_MAX;
use crate::servers::secret_text::{self, COVERED};

/// Covers them, and counts them.
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

/// Whether a word is a name, such as that of a header.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// The word behind a part of a command line, covered by what that part says.
fn by_line(line: &str, word: &str) -> Option<String> {
    let whole = format!("{line}{}", quoted(word));
    let clean = secret_text::covered(&whole);
    if clean == whole {
        return None;
    }
    // What stands before it has been covered already, and stays as it is.
    let rest = clean.strip_prefix(line).unwrap_or(COVERED);
    let rest = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(rest);
    (rest != word).then(|| rest.to_owned())
}

/// A word as it would be typed.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+[]".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', ""))
    }
}
