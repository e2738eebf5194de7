//! The keys that a policy file may have, and the one that a mistyped key was probably meant to be.

pub(super) const TOP: &[&str] = &["rule", "safety_checker"];

/// What both kinds of entries say about the calls they are about.
macro_rules! matching_keys {
    ($($more:literal),* $(,)?) => {
        &[
            "name", "description", "toolName", "mcpName", "builtin", "argsPattern", "commandPrefix", "commandRegex", "when",
            "priority", "modes", "toolAnnotations", $($more),*
        ]
    };
}

pub(super) const RULE: &[&str] = matching_keys![
    "decision",
    "interactive",
    "askers",
    "subagent",
    "allowRedirection",
    "allow_redirection",
    "denyMessage",
    "deny_message",
];

pub(super) const SAFETY_CHECKER: &[&str] = matching_keys!["checker"];

pub(super) const CHECKER: &[&str] = &["type", "name", "required_context", "config"];

pub(super) const CHECKER_CONFIG: &[&str] = &["included_args", "excluded_args"];

pub(super) const TEST: &[&str] = &["under", "equals", "one_of", "matches", "glob", "max", "min", "present", "absent"];

pub(super) const COMBINATION: &[&str] = &["all", "any", "not"];

/// What to do about a word that is none of `known`.
pub(super) fn hint_for(word: &str, known: &[&str]) -> String {
    const FEW: usize = 9;
    match nearest(word, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.len() <= FEW => format!("it can be {}", listed(known)),
        None => "remove it; nothing is ignored silently".to_owned(),
    }
}

/// Words as a list for a sentence.
pub(super) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The known word that a mistyped one was probably meant to be.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let longest = known.iter().map(|known| known.len()).max().unwrap_or(0);
    // Far longer than any known word: no typo, and not worth comparing.
    if word.len() > 2 * longest {
        return None;
    }
    let word = folded(word);
    let allowed = (word.chars().count() / 3).max(1);
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(&word, &folded(known)), *known));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= allowed && !word.is_empty()).then_some(name)
}
