//! Whether a shell command is what a pattern says: the words it begins with, where `*` stands for anything within a word.

use super::arguments::CommandLine;
use super::harmless_redirection::is_only_harmless;
use crate::glob::glob;
use crate::shell::{Reach, SimpleCommand, Wrapping};

/// Whether every simple command is certainly one that some pattern permits. What a transparent wrapper runs stands in its place.
///
/// A pattern speaks of programs, not of files, so `echo` does not permit `echo x > file`.
pub(super) fn permits_all(patterns: &[&str], line: &CommandLine<'_>) -> bool {
    let Ok(script) = line.script.as_ref() else { return false };
    let mut deciding = script.commands.iter().filter(|command| command.wrapping != Wrapping::Transparent).peekable();
    deciding.peek().is_some()
        && deciding.all(|command| patterns.iter().any(|pattern| certainly(pattern, command)))
        && (script.commands.iter().all(|command| !command.is_redirected) || is_only_harmless(&line.text, script))
}

/// Whether some simple command could be one that the pattern restricts. What cannot be read, and what runs others unseen, could be anything.
pub(super) fn restricts_any(pattern: &str, line: &CommandLine<'_>) -> bool {
    let Ok(script) = line.script.as_ref() else { return true };
    script.commands.iter().any(|command| command.runs_unseen || possibly(pattern, command) || holds(pattern, command))
}

/// Whether some simple command could be given a variable with such a value.
pub(super) fn could_assign(name: &str, value: &str, line: &CommandLine<'_>) -> bool {
    let Ok(script) = line.script.as_ref() else { return true };
    let assigns = |text: &str| {
        let given = text.split_once('=').filter(|(given, _)| given.trim_end_matches('+') == name);
        given.is_some_and(|(_, given)| given.contains(['$', '`', '\\', '\'', '"']) || glob(&format!("{value}*"), given))
    };
    script.commands.iter().any(|command| {
        let words = command.words.iter().map(|word| word.literal.as_deref().unwrap_or(&word.raw));
        command.assignments.iter().map(String::as_str).chain(words).any(assigns)
    })
}

fn certainly(pattern: &str, command: &SimpleCommand) -> bool {
    if !pattern.contains('*') {
        return command.begins_with(pattern, Reach::Permission);
    }
    let wanted: Vec<&str> = without_last_stars(pattern).split_whitespace().collect();
    let is_word = |(at, wanted): (usize, &&str)| {
        let literal = command.words.get(at).and_then(|word| word.literal.as_deref());
        literal.is_some_and(|literal| glob(wanted, literal))
    };
    let is_plain = command.words.first().is_some_and(|program| program.literal.as_ref() == Some(&program.raw));
    is_plain && command.assignments.is_empty() && wanted.iter().enumerate().all(is_word)
}

fn possibly(pattern: &str, command: &SimpleCommand) -> bool {
    let beginning = without_last_stars(pattern);
    if !beginning.contains('*') {
        return command.begins_with(beginning, Reach::Restriction);
    }
    let text = command.text.split_whitespace().collect::<Vec<_>>().join(" ");
    glob(&format!("{beginning}*"), &text) || command.could_be_like(beginning)
}

/// Whether a command contains these words where they may be run.
fn holds(pattern: &str, command: &SimpleCommand) -> bool {
    let beginning = without_last_stars(pattern);
    if beginning.contains('*') { command.could_hold_like(beginning) } else { command.could_hold(beginning) }
}

/// A pattern is a beginning anyway, so `git *` is `git`.
fn without_last_stars(pattern: &str) -> &str {
    let mut rest = pattern.trim_end();
    loop {
        let shorter = rest.trim_end_matches('*');
        // `git*` is about programs that begin so.
        if shorter.len() == rest.len() || !(shorter.is_empty() || shorter.ends_with(char::is_whitespace)) {
            return rest;
        }
        rest = shorter.trim_end();
    }
}
