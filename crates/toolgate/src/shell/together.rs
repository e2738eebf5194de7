//! What the commands of one line do together: a text that one of them sets, and another one runs as a part of its own.

use super::acting::long_options;
use super::script::{SimpleCommand, Word};
use super::wrappers::plain_name;

/// Marks commands that may run what the rest of the line puts into their words.
pub(super) fn mark(text: &str, commands: &mut [SimpleCommand]) {
    let values: Vec<String> = commands.iter().flat_map(set_values).collect();
    for command in commands.iter_mut().filter(|command| !command.runs_unseen) {
        let Some(program) = command.words.first().and_then(|word| word.literal.as_deref()) else { continue };
        let name = plain_name(program);
        let is_open = command.words.iter().skip(1).any(|word| word.literal.is_none());
        if !is_open {
            continue;
        }
        let rest = text.replacen(&command.text, "", 1);
        command.runs_unseen = match name.as_str() {
            "sed" => sets_sed_flag(&rest),
            name if name.ends_with("awk") => sets_awk_call(&rest, &values) || command.words.iter().any(is_composed),
            name => takes_file_names(command) && has_option(&rest, name),
        };
    }
}

/// Values that a command gives to variables.
fn set_values(command: &SimpleCommand) -> Vec<String> {
    let words = command.words.iter().skip(1).map(Word::shown).filter_map(|word| word.split_once('='));
    let set = command.assignments.iter().filter_map(|assignment| assignment.split_once('='));
    set.chain(words).map(|(_, value)| value.to_owned()).collect()
}

/// Whether a text has letters by their numbers, so that it cannot be looked through.
fn has_coded_letters(text: &str) -> bool {
    let is_code = |behind: &str| behind.starts_with(|sign: char| sign.is_digit(8) || sign == 'x');
    text.match_indices('\\').any(|(at, _)| text.get(at + 1..).is_some_and(is_code))
}

/// Whether a text ends a substitution of `sed` with the flag that runs it, and goes on behind that: `/e;`, `/e #`.
fn sets_sed_flag(text: &str) -> bool {
    let ends_flags = |(at, sign): (usize, char)| {
        // `set -e;` is common.
        if !sign.is_ascii_punctuation() || "-$.'\"\\_".contains(sign) {
            return false;
        }
        let behind = text.get(at + 1..).unwrap_or_default();
        let rest = behind.trim_start_matches(|flag: char| flag.is_ascii_digit() || "gIiMmpe".contains(flag));
        let flags = behind.get(..behind.len() - rest.len()).unwrap_or_default();
        flags.contains('e') && rest.trim_start_matches([' ', '\t']).starts_with([';', '#', '}', '\n'])
    };
    text.char_indices().any(ends_flags) || has_coded_letters(text)
}

/// Whether a text has what runs a program in `awk`.
fn sets_awk_call(text: &str, values: &[String]) -> bool {
    let calls = |text: &str| text.split("system").skip(1).any(|behind| behind.trim_start().starts_with('('));
    calls(text)
        || text.contains("getline")
        || values.iter().any(|value| value.contains(['|', '@']))
        || has_coded_letters(text)
}

/// Whether a name in front of a bracket is put together: `syst${x}(…)`.
fn is_composed(word: &Word) -> bool {
    if word.literal.is_some() {
        return false;
    }
    let mut rest = word.raw.as_str();
    while let Some((before, behind)) = rest.split_once('$') {
        rest = behind;
        if before.ends_with('\\') {
            continue;
        }
        let end = match behind.chars().next() {
            Some('{') => behind.find('}').map(|at| at + 1),
            // What is printed there may be such a name.
            Some('(') if behind.contains(['%', '\\']) => return true,
            Some('(') => behind.rfind(')').map(|at| at + 1),
            _ => behind.find(|sign: char| !sign.is_alphanumeric() && sign != '_'),
        };
        let Some(behind) = end.and_then(|end| behind.get(end..)) else { return false };
        let behind = behind.trim_start_matches(|sign: char| sign.is_alphanumeric() || sign == '_');
        if behind.trim_start().starts_with('(') || behind.starts_with('$') {
            return true;
        }
    }
    false
}

/// Whether names of files that it finds become words, also such that look like options.
fn takes_file_names(command: &SimpleCommand) -> bool {
    command.words.iter().skip(1).any(|word| word.literal.is_none() && word.raw.starts_with(['*', '?', '[']))
}

/// Whether the rest of the line has the name of an option with which a program runs a text: a file may be called so.
fn has_option(text: &str, program: &str) -> bool {
    long_options(program).any(|option| text.contains(option))
}
