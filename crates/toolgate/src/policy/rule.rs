//! `Rule`: conditions, a decision and a priority, and where all that is written.

use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::decision::{Decision, Mode, Tier};
use super::when::When;
use crate::asker::Asker;
use crate::filter::{ArgumentPattern, NamePattern};
use crate::shell::Reach;

/// The priority at which Gemini CLI saves "always allow".
pub(crate) const SAVED_APPROVAL_PRIORITY: u16 = 950;

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Whose tools.
    pub server: ServerPattern,
    /// Which tools, by the names their servers give them.
    pub tool: NamePattern,
    /// Which calls of them: all of these hold.
    pub conditions: Vec<Condition>,
    /// Only these modes; all, when empty.
    pub modes: Vec<Mode>,
    /// Only with somebody who can be asked, or only without.
    pub interactive: Option<bool>,
    /// Only these askers; all, when empty.
    pub askers: Vec<Asker>,
    /// Only calls of this sub-agent.
    pub subagent: Option<String>,
    /// What is decided.
    pub decision: Decision,
    /// Whether a redirection needs no question of its own.
    pub allows_redirection: bool,
    /// What whoever asked is told when it denies.
    pub deny_message: Option<String>,
    /// How much its source weighs.
    pub tier: Tier,
    /// From 0 to 999; the higher one is looked at first within a tier.
    pub priority: u16,
    /// How it came to be.
    pub kind: RuleKind,
    /// Where it is written.
    pub origin: RuleOrigin,
}

impl Rule {
    /// A rule about all calls of these tools, of the person, at the lowest priority; `..` fills in what a rule has besides.
    #[must_use]
    pub fn about(server: ServerPattern, tool: NamePattern, decision: Decision) -> Self {
        Self {
            server,
            tool,
            conditions: Vec::new(),
            modes: Vec::new(),
            interactive: None,
            askers: Vec::new(),
            subagent: None,
            decision,
            allows_redirection: false,
            deny_message: None,
            tier: Tier::User,
            priority: 0,
            kind: RuleKind::Written,
            origin: RuleOrigin::default(),
        }
    }

    /// Whether the rule looks like a saved answer of Gemini CLI: an allow at this priority.
    #[must_use]
    pub fn is_saved_approval(&self) -> bool {
        (self.decision, self.priority, self.tier) == (Decision::Allow, SAVED_APPROVAL_PRIORITY, Tier::User)
    }

    /// How far it reaches: one that lets through only to what is certainly meant, one that holds back to all that could be meant.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        match self.decision {
            Decision::Allow => Reach::Permission,
            Decision::Ask | Decision::Deny => Reach::Restriction,
        }
    }

    /// Whether it may deny a call that is made in this mode.
    pub(super) fn denies_in(&self, mode: Mode) -> bool {
        self.decision == Decision::Deny && (self.modes.is_empty() || self.modes.contains(&mode))
    }

    /// Whether it is about some calls of its tools only, by their arguments.
    #[must_use]
    pub fn speaks_of_arguments(&self) -> bool {
        self.conditions.iter().any(Condition::speaks_of_arguments)
    }

    /// Whether it looks at arguments as texts, so that of a shell command it sees more than its simple commands.
    #[must_use]
    pub fn speaks_of_text(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition, Condition::ArgsPattern(_) | Condition::When(_)))
    }

    /// Whether it is an allow of a source that can only restrict: then it means nothing.
    #[must_use]
    pub fn has_no_effect(&self) -> bool {
        self.decision == Decision::Allow && self.tier.only_restricts()
    }
}

/// Whose tools a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ServerPattern {
    /// Every server's.
    Any,
    /// Those of servers whose names are so. A restriction does not look at upper and lower case.
    Named(NamePattern),
    /// Those of a built-in server, whatever the settings call it.
    BuiltIn(String),
}

/// How a rule came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Written in a policy.
    Written,
    /// It follows from the settings or from flags. A deny of these is not outranked by an allow of the same tier.
    Settings,
    /// A program added it while it runs.
    Added,
}

/// What must hold for a rule to apply.
#[derive(Clone, Debug)]
pub enum Condition {
    /// `argsPattern`: matches the arguments as canonical JSON.
    ArgsPattern(Regex),
    /// `commandPrefix`: a simple command begins with one of these, word by word.
    CommandPrefix(Vec<String>),
    /// `commandRegex`: a simple command begins so.
    CommandRegex(Regex),
    /// `name(pattern)` of the settings.
    Entry(ArgumentPattern),
    /// `toolAnnotations`: each of these is equal in what the server says about its tool.
    Annotations(Vec<(String, Value)>),
    /// `when`: holds of the arguments.
    When(Arc<When>),
}

impl Condition {
    /// What it is called where rules are written.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::ArgsPattern(_) => "argsPattern",
            Self::CommandPrefix(_) => "commandPrefix",
            Self::CommandRegex(_) => "commandRegex",
            Self::Entry(_) => "arguments",
            Self::Annotations(_) => "toolAnnotations",
            Self::When(_) => "when",
        }
    }

    /// Whether it looks at the arguments: `(*)` does not, and what a server says of its tool is the same for every call.
    #[must_use]
    pub const fn speaks_of_arguments(&self) -> bool {
        match self {
            Self::Annotations(_) | Self::Entry(ArgumentPattern::Any) => false,
            Self::ArgsPattern(_) | Self::CommandPrefix(_) | Self::CommandRegex(_) | Self::Entry(_) | Self::When(_) => {
                true
            }
        }
    }
}

/// Where a rule is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOrigin {
    /// In words: `User: shell.toml`, `tools.exclude`.
    pub label: String,
    /// The file.
    pub file: Option<Arc<PathBuf>>,
    /// The line in it, counted from 1.
    pub line: Option<usize>,
    /// What it is called there.
    pub name: Option<String>,
}
