//! Which calls of a tool an entry is about, by their arguments: `(pattern)` and `(key=pattern)`.
//!
//! What permits must hold for everything a call says about commands or places; what restricts needs to hold for one of them.

use super::arguments::{Arguments, CommandLine, scalar_text};
use super::command_pattern::{could_assign, permits_all, restricts_any};
use super::entry::EntryError;
use super::leaves::{Found, Leaf, leaves, values_at};
use super::likeness::{Likeness, is_certainly, is_possibly};
use crate::shell::Reach;

/// Which calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentPattern {
    /// `(*)`: every call.
    Any,
    /// `(pattern)`: calls whose command, path or other text begins so.
    Text(String),
    /// `(key=pattern)`: calls whose argument `key` begins so.
    Key {
        /// The argument; `a.b` is the member `b` of the argument `a`.
        key: String,
        /// What it begins with.
        pattern: String,
    },
}

impl ArgumentPattern {
    /// Reads what stands between the parentheses of an entry.
    ///
    /// # Errors
    /// When nothing stands there, or nothing after `key=`; when it is too long or has control characters in it.
    pub fn parse(text: &str) -> Result<Self, EntryError> {
        let pattern = text.trim();
        if pattern.is_empty() {
            let why = "nothing stands between the parentheses; write `(*)` for every call, or leave them away";
            return Err(EntryError::new(text, why));
        }
        if let Some(why) = EntryError::why_unfit(pattern) {
            return Err(EntryError::new(text, &why));
        }
        if is_only_stars(pattern) {
            return Ok(Self::Any);
        }
        match pattern.split_once('=').map(|(key, pattern)| (key.trim(), pattern.trim())) {
            Some((key, "")) if is_key(key) => {
                let why = format!("nothing stands after `{key}=`; write `{key}=*` for any value");
                Err(EntryError::new(text, &why))
            }
            Some((key, pattern)) if is_key(key) => Ok(Self::Key { key: key.to_owned(), pattern: pattern.to_owned() }),
            _ => Ok(Self::Text(pattern.to_owned())),
        }
    }

    /// Whether the call is one of these: certainly, or possibly.
    #[must_use]
    pub fn matches(&self, arguments: &Arguments<'_>, reach: Reach) -> bool {
        match reach {
            Reach::Permission => Self::permit_together(&[self], arguments),
            Reach::Restriction => self.restricts(arguments),
        }
    }

    /// Whether these patterns together certainly cover the call: `ls` and `pwd` cover `ls && pwd`, though none of them does alone.
    #[must_use]
    pub fn permit_together(patterns: &[&Self], arguments: &Arguments<'_>) -> bool {
        let of_commands: Vec<&str> =
            patterns.iter().filter(|one| one.is_of_commands()).map(|one| one.written()).collect();
        let lines = arguments.command_lines();
        if !lines.is_empty() && lines.iter().all(|line| permits_all(&of_commands, line)) {
            return true;
        }
        let texts: Vec<&str> = patterns.iter().filter_map(|pattern| pattern.as_text()).collect();
        if lines.is_empty() && text_is_certain(&texts, arguments) {
            return true;
        }
        patterns.iter().any(|pattern| match pattern {
            Self::Any => true,
            Self::Text(_) => false,
            Self::Key { key, .. } => {
                let of_key = |other: &&&Self| matches!(other, Self::Key { key: other, .. } if other == key);
                let patterns: Vec<&str> = patterns.iter().filter(of_key).map(|pattern| pattern.written()).collect();
                key_is_certain(key, &patterns, arguments)
            }
        })
    }

    fn restricts(&self, arguments: &Arguments<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Text(pattern) => text_is_possible(pattern, arguments),
            Self::Key { key, pattern } => key_is_possible(key, pattern, arguments),
        }
    }

    fn is_of_commands(&self) -> bool {
        match self {
            Self::Any => false,
            Self::Text(_) => true,
            Self::Key { key, .. } => key == "command",
        }
    }

    fn as_text(&self) -> Option<&str> {
        if let Self::Text(pattern) = self { Some(pattern) } else { None }
    }

    fn written(&self) -> &str {
        match self {
            Self::Any => "*",
            Self::Text(pattern) | Self::Key { pattern, .. } => pattern,
        }
    }
}

/// Whether it can be the name of an argument, so that `FOO=1 make` is no key but `path=src` is one.
fn is_key(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$'))
}

fn is_only_stars(pattern: &str) -> bool {
    pattern.bytes().all(|byte| byte == b'*')
}

/// How a text is compared that stands under some key.
fn likeness_of(leaf: &Leaf<'_>) -> Likeness {
    if leaf.is_place() { Likeness::Place } else { Likeness::Text }
}

/// For a call without a command.
fn text_is_certain(patterns: &[&str], arguments: &Arguments<'_>) -> bool {
    let leaves = leaves(arguments.value());
    let names_place = leaves.iter().any(|leaf| leaf.is_well_known_place && !leaf.value.is_null());
    let mut deciding = leaves
        .iter()
        .filter(|leaf| leaf.is_well_known_place && !leaf.value.is_null() || leaf.value.is_string())
        .filter(|leaf| !names_place || leaf.is_place())
        .peekable();
    let is_covered = |leaf: &Leaf<'_>| {
        scalar_text(leaf.value).is_some_and(|text| {
            patterns.iter().any(|pattern| is_certainly(pattern, &text, likeness_of(leaf), arguments))
        })
    };
    deciding.peek().is_some() && deciding.all(is_covered)
}

fn text_is_possible(pattern: &str, arguments: &Arguments<'_>) -> bool {
    let lines = arguments.command_lines();
    if lines.iter().any(|line| restricts_any(pattern, line)) {
        return true;
    }
    // A folder that a program comes from.
    let is_from = |program: &str| is_possibly(pattern, program, Likeness::Aside, arguments);
    if lines.iter().flat_map(CommandLine::programs).any(is_from) {
        return true;
    }
    let leaves = leaves(arguments.value());
    let names_place = leaves.iter().any(Leaf::is_place) || !lines.is_empty();
    leaves.iter().filter(|leaf| lines.is_empty() || !leaf.is_command).any(|leaf| {
        let likeness = match likeness_of(leaf) {
            Likeness::Text if names_place => Likeness::Aside,
            likeness => likeness,
        };
        scalar_text(leaf.value).is_some_and(|text| is_possibly(pattern, &text, likeness, arguments))
    })
}

fn key_is_certain(key: &str, patterns: &[&str], arguments: &Arguments<'_>) -> bool {
    let found = values_at(arguments.value(), key);
    if found.is_empty() || found.iter().any(|found| matches!(found, Found::Missing)) {
        return false;
    }
    if patterns.iter().any(|pattern| is_only_stars(pattern)) {
        return true;
    }
    // Commands were looked at already, all patterns together.
    key != "command"
        && found.iter().all(|found| {
            let Found::Leaf(leaf) = found else { return false };
            scalar_text(leaf.value).is_some_and(|text| {
                patterns.iter().any(|pattern| is_certainly(pattern, &text, likeness_of(leaf), arguments))
            })
        })
}

fn key_is_possible(key: &str, pattern: &str, arguments: &Arguments<'_>) -> bool {
    let found = values_at(arguments.value(), key);
    if found.is_empty() {
        // What looks like a key could be a variable that a command is given: `LD_PRELOAD=x`.
        return arguments.command_lines().iter().any(|line| could_assign(key, pattern, line));
    }
    if is_only_stars(pattern) {
        return true;
    }
    if key == "command" {
        return arguments.command_lines().iter().any(|line| restricts_any(pattern, line));
    }
    found.iter().any(|found| {
        let Found::Leaf(leaf) = found else { return false };
        scalar_text(leaf.value).is_some_and(|text| is_possibly(pattern, &text, likeness_of(leaf), arguments))
    })
}

#[cfg(test)]
#[path = "argument_pattern_tests.rs"]
mod tests;
