//! What may be shown of a server's stderr: neither the secrets that it was given, nor what looks like one by itself.

use std::sync::Arc;

use toolgate_wire::transport::child::Mask;

use crate::limits::MASKED_SECRET_MIN_CHARS;
use crate::secret::Secret;
use crate::servers::secret_text::{COVERED, covered};

/// Covers these secrets and whatever looks like one. Short texts are no secrets, and stand in many words.
pub(super) fn mask(given: Vec<Secret>) -> Mask {
    let mut given: Vec<Secret> = given.into_iter().filter(|secret| is_long_enough(secret.expose())).collect();
    // The longest first: one may be a part of another.
    given.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    Arc::new(move |text| {
        let known = given.iter().fold(text.to_owned(), |text, secret| without(&text, secret.expose()));
        covered(&known).into_owned()
    })
}

fn is_long_enough(text: &str) -> bool {
    text.chars().count() >= MASKED_SECRET_MIN_CHARS
}

/// The text without the secret. At its start and its end the secret may have been cut.
fn without(text: &str, secret: &str) -> String {
    let mut text = text.replace(secret, COVERED);
    let mut ends = secret.char_indices().skip(1).filter_map(|(at, _)| secret.get(at..));
    if let Some(rest) =
        ends.find(|end| is_long_enough(end) && text.starts_with(end)).and_then(|end| text.strip_prefix(end))
    {
        text = format!("{COVERED}{rest}");
    }
    let mut starts = secret.char_indices().rev().filter_map(|(at, _)| secret.get(..at));
    if let Some(rest) =
        starts.find(|start| is_long_enough(start) && text.ends_with(start)).and_then(|start| text.strip_suffix(start))
    {
        text = format!("{rest}{COVERED}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_and_the_rest_is_left() {
        let given = ["hunter2-hunter2", "hunter2", "short", "two\nlines"].map(Secret::new);
        let mask = mask(given.into());
        let rows = [
            ("nothing to see\nhere", "nothing to see\nhere"),
            ("the key hunter2-hunter2 is wrong", "the key [secret] is wrong"),
            ("hunter2hunter2, hunter2", "[secret][secret], [secret]"),
            ("a short word", "a short word"),
            ("it has two\nlines", "it has [secret]"),
            ("2-hunter2 was cut", "[secret] was cut"),
            ("it will be cut: hunter2-hunt", "it will be cut: [secret]"),
            ("unter2 and hunter", "[secret] and [secret]"),
            ("password=correct-horse", "password=[secret]"),
            ("", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(mask(text), expected, "{text}");
        }
    }
}
