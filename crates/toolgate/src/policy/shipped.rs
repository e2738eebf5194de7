//! The policies that toolgate brings: the rules of the lowest tier, and starting files for people.

use std::path::Path;
use std::sync::LazyLock;

use super::decision::Tier;
use super::file::{self, FileSource, ParsedFile};
use super::rule::{Rule, RuleOrigin};
use super::suggest::quoted;

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
    /// The scope of the policy.
    pub kind: PresetKind,
    /// What it does, in a line.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The scope of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetKind {
    /// All calls, by strictness.
    General,
    /// All calls, in one environment.
    Surroundings,
    /// One server, named in its rules.
    Server {
        /// Name of the server in the rules.
        name: &'static str,
    },
}

impl PresetKind {
    /// The word in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Surroundings => "environment",
            Self::Server { .. } => "server",
        }
    }
}

impl Preset {
    /// The text for a server of this name. A preset that is not for one server is unchanged.
    #[must_use]
    pub fn text_for(&self, server: &str) -> String {
        match self.kind {
            PresetKind::General | PresetKind::Surroundings => self.text.to_owned(),
            PresetKind::Server { name } => {
                let (own, other) = (format!("mcpName = \"{name}\""), format!("mcpName = {}", quoted(server)));
                let comment = format!("`{name}` is its name in your settings.");
                self.text.replace(&own, &other).replace(&comment, "Each rule uses its name in your settings.")
            }
        }
    }
}

/// All presets: by strictness, then for environments, then for servers; within each group the strictest first.
pub const PRESETS: [Preset; 11] = [
    Preset {
        name: "locked-down",
        kind: PresetKind::General,
        about: "nothing runs but what the file names",
        text: include_str!("presets/locked-down.toml"),
    },
    Preset {
        name: "read-only",
        kind: PresetKind::General,
        about: "tools may look, and change nothing",
        text: include_str!("presets/read-only.toml"),
    },
    Preset {
        name: "developer",
        kind: PresetKind::General,
        about: "everyday work without questions, and a question before what cannot be undone",
        text: include_str!("presets/developer.toml"),
    },
    Preset {
        name: "production",
        kind: PresetKind::Surroundings,
        about: "live systems: changes need a confirmation, deletions are denied",
        text: include_str!("presets/production.toml"),
    },
    Preset {
        name: "ci",
        kind: PresetKind::Surroundings,
        about: "an unattended job: builds and tests run, everything else is denied",
        text: include_str!("presets/ci.toml"),
    },
    Preset {
        name: "development",
        kind: PresetKind::Surroundings,
        about: "your own machine: edits, builds and tests run, deleting and publishing need a confirmation",
        text: include_str!("presets/development.toml"),
    },
    Preset {
        name: "files",
        kind: PresetKind::Server { name: "files" },
        about: "a file server: reading runs, changes need a confirmation, secrets are denied",
        text: include_str!("presets/files.toml"),
    },
    Preset {
        name: "git",
        kind: PresetKind::Server { name: "git" },
        about: "a Git server: history runs, commits and resets need a confirmation",
        text: include_str!("presets/git.toml"),
    },
    Preset {
        name: "code-hosting",
        kind: PresetKind::Server { name: "github" },
        about: "issues, pull requests and code: reading runs, writing needs a confirmation, deleting is denied",
        text: include_str!("presets/code-hosting.toml"),
    },
    Preset {
        name: "database",
        kind: PresetKind::Server { name: "database" },
        about: "an SQL server: listing tables runs, queries need a confirmation, drops are denied",
        text: include_str!("presets/database.toml"),
    },
    Preset {
        name: "browser",
        kind: PresetKind::Server { name: "browser" },
        about: "a browser: viewing runs, clicks need a confirmation, code and uploads are denied",
        text: include_str!("presets/browser.toml"),
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
