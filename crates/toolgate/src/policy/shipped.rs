//! The policies that toolgate brings: the rules of the lowest tier, and starting files for people.

use std::path::Path;
use std::sync::LazyLock;

use super::decision::Tier;
use super::file::{self, FileSource, ParsedFile};
use super::rule::{Rule, RuleOrigin};

const DEFAULT_RULES: &str = include_str!("default_rules.toml");

/// Where these rules are written, in words: nobody has the file.
const OWN_LABEL: &str = "toolgate's own rules";

static PARSED_DEFAULT_RULES: LazyLock<ParsedFile> =
    LazyLock::new(|| file::parse(DEFAULT_RULES, &FileSource::new(Tier::Default, Path::new("default_rules.toml"))));

/// The rules that hold when nobody wrote any.
#[must_use]
pub fn default_rules() -> Vec<Rule> {
    let own = |rule: &Rule| {
        let origin =
            RuleOrigin { label: OWN_LABEL.to_owned(), name: rule.origin.name.clone(), ..RuleOrigin::default() };
        Rule { origin, ..rule.clone() }
    };
    PARSED_DEFAULT_RULES.rules.iter().map(own).collect()
}

/// A policy to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What it is called.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

/// All of them, the strictest first.
pub const PRESETS: [Preset; 3] = [
    Preset {
        name: "locked-down",
        about: "nothing runs but what the file names",
        text: include_str!("presets/locked-down.toml"),
    },
    Preset {
        name: "read-only",
        about: "tools may look, and change nothing",
        text: include_str!("presets/read-only.toml"),
    },
    Preset {
        name: "developer",
        about: "everyday work without questions, and a question before what cannot be undone",
        text: include_str!("presets/developer.toml"),
    },
];

/// The one of that name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
#[path = "shipped_tests.rs"]
mod tests;
