//! Which variables and secrets of the person a text refers to, read from the text alone.

use std::collections::BTreeSet;

use crate::limits::{SURVEY_ITEMS_MAX, SURVEY_TEXT_CHARS_MAX};

/// Everything that `$NAME`, `${NAME…}` and `${kind:…}` in these texts name, each once, in the order of the alphabet. A default beside a
/// variable is left out; it may be a password.
pub(crate) fn references<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for text in texts {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            rest = after;
            if before.ends_with('\\') {
                continue;
            }
            if let Some(reference) = reference(after)
                && found.len() < SURVEY_ITEMS_MAX
            {
                found.insert(reference);
            }
        }
    }
    found.into_iter().collect()
}

fn reference(after_dollar: &str) -> Option<String> {
    let (inside, has_braces) = match after_dollar.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        Some((inside, _)) => (inside, true),
        None => (after_dollar, false),
    };
    let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(inside.len());
    let (name, operator) = inside.split_at(end);
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let is_default = [":-", ":+"].iter().any(|sign| operator.starts_with(sign));
    if has_braces && operator.starts_with(':') && !is_default {
        let whole: String = inside.chars().take(SURVEY_TEXT_CHARS_MAX).collect();
        return Some(format!("${{{whole}}}"));
    }
    Some(format!("${name}"))
}

#[cfg(test)]
mod tests {
    use super::references;

    #[test]
    fn variables_and_secrets_are_named_without_their_defaults() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("plain $ $1 ${} $$", &[]),
            ("$TOKEN/${HOME}x", &["$HOME", "$TOKEN"]),
            ("${TOKEN:-sesame}${OTHER-sesame}${X:+sesame}", &["$OTHER", "$TOKEN", "$X"]),
            (
                "${keychain:github} ${cmd:touch pwned} ${file:~/.ssh/id}",
                &["${cmd:touch pwned}", "${file:~/.ssh/id}", "${keychain:github}"],
            ),
            ("\\$NOT $YES", &["$YES"]),
            ("${OPEN", &[]),
            ("$A$A", &["$A"]),
        ];
        for (text, expected) in cases {
            assert_eq!(references([*text]), *expected, "{text}");
        }
    }
}
