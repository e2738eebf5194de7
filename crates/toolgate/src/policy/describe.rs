//! Rules and verdicts in one line of words.

use std::fmt;

use super::decision::{Decision, Mode};
use super::rule::{Condition, Rule, RuleOrigin, ServerPattern};
use super::verdict::{Because, Verdict};
use crate::filter::{ArgumentPattern, NamePattern};

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.decision.as_str())?;
        match &self.tool {
            NamePattern::Any => f.write_str("every tool")?,
            tool => write!(f, "`{tool}`")?,
        }
        match &self.server {
            ServerPattern::Any => {}
            ServerPattern::Named(NamePattern::Any) => f.write_str(" of any server")?,
            ServerPattern::Named(name) => write!(f, " of `{name}`")?,
            ServerPattern::BuiltIn(name) => write!(f, " of the built-in server `{name}`")?,
        }
        for condition in &self.conditions {
            write!(f, ", {condition}")?;
        }
        if !self.modes.is_empty() {
            write!(f, ", in mode {}", self.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(" or "))?;
        }
        match self.interactive {
            Some(true) => f.write_str(", when somebody can be asked")?,
            Some(false) => f.write_str(", when nobody can be asked")?,
            None => {}
        }
        if !self.askers.is_empty() {
            let askers: Vec<_> = self.askers.iter().map(|asker| asker.as_str()).collect();
            write!(f, ", asked for by {}", askers.join(" or "))?;
        }
        if let Some(subagent) = &self.subagent {
            write!(f, ", by the sub-agent `{subagent}`")?;
        }
        if self.allows_redirection { f.write_str(", with redirection") } else { Ok(()) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArgsPattern(pattern) => write!(f, "whose arguments match /{pattern}/"),
            Self::CommandPrefix(prefixes) => write!(f, "whose command begins with `{}`", prefixes.join("` or `")),
            Self::CommandRegex(pattern) => write!(f, "whose command matches /{pattern}/"),
            Self::Entry(ArgumentPattern::Any) => f.write_str("with any arguments"),
            Self::Entry(ArgumentPattern::Text(text)) => write!(f, "with arguments that begin with `{text}`"),
            Self::Entry(ArgumentPattern::Key { key, pattern }) => write!(f, "whose `{key}` begins with `{pattern}`"),
            Self::When(when) => {
                let pointers: Vec<_> = when.pointers().into_iter().map(ToString::to_string).collect();
                write!(f, "when `{}` is as it says", pointers.join("`, `"))
            }
            Self::Annotations(wanted) => {
                let wanted: Vec<_> = wanted.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                write!(f, "whose server says {}", wanted.join(" and "))
            }
        }
    }
}

impl fmt::Display for RuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " ({}:{line})", file.display()),
            (Some(file), None) => write!(f, " ({})", file.display()),
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for Verdict {
    /// What was decided and why, for whoever asked for the call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.asks_nobody() {
            f.write_str("it has to be confirmed, and nobody can be asked")?;
            return match &self.because {
                Because::Rule(rule) => write!(f, " ({}: {rule})", rule.origin),
                Because::Filter(origin) => write!(f, " ({origin})"),
                Because::Remembered(_) | Because::NoRule => f.write_str(" (no rule is about it)"),
            };
        }
        let word = match self.decision {
            Decision::Allow => "allowed",
            Decision::Ask => "to be asked about",
            Decision::Deny => "denied",
        };
        match &self.because {
            Because::Rule(rule) => write!(f, "{word} by {}: {rule}", rule.origin)?,
            Because::Filter(origin) => write!(f, "{word} by {origin}")?,
            Because::Remembered(grant) => write!(f, "{word}: it was allowed before (grant {grant})")?,
            Because::NoRule => write!(f, "{word}: no rule is about it")?,
        }
        self.adjustments.iter().try_for_each(|adjustment| write!(f, "; {adjustment}"))
    }
}

/// How the adjustment begins that turns a question into a no.
const NOBODY: &str = "nobody can be asked";

impl Verdict {
    /// Whether it was a question, and is a no because nobody can be asked.
    #[must_use]
    pub fn asks_nobody(&self) -> bool {
        self.decision == Decision::Deny && self.adjustments.iter().any(|adjustment| adjustment.starts_with(NOBODY))
    }

    /// What whoever asked is to be told, in the words of the rule that denies.
    #[must_use]
    pub fn deny_message(&self) -> Option<&str> {
        match &self.because {
            Because::Rule(rule) if self.decision == Decision::Deny => rule.deny_message.as_deref(),
            _ => None,
        }
    }
}

impl Rule {
    /// Whether it counts in a mode.
    #[must_use]
    pub fn counts_in(&self, mode: Mode) -> bool {
        self.modes.is_empty() || self.modes.contains(&mode)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(name) | Self::Glob(name) => f.write_str(name),
        }
    }
}
