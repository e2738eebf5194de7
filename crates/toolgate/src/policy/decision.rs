//! The words of policies: what is decided, in which mode, and how much a rule's source weighs.

/// What is decided about a call. The variants are in order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It is made.
    Allow,
    /// The person is asked.
    Ask,
    /// It is not made.
    Deny,
}

impl Decision {
    /// The word for it in JSON output and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The decision that a policy file or a record calls `word`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" | "ask_user" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// How much is let through without a question. The variants are in order, the tightest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Only looking.
    Plan,
    /// Questions before anything is changed.
    #[default]
    Default,
    /// Files are changed without a question.
    AutoEdit,
    /// No questions.
    Yolo,
}

impl Mode {
    /// All of them, the tightest first.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Default, Self::AutoEdit, Self::Yolo];

    /// The word for it in flags, settings, policies and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AutoEdit => "autoEdit",
            Self::Yolo => "yolo",
        }
    }

    /// The mode that is called `word`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "auto_edit" => Some(Self::AutoEdit),
            word => Self::ALL.into_iter().find(|mode| mode.as_str() == word),
        }
    }
}

/// Where a rule comes from, which decides whom it outranks. The variants are in order, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// What toolgate brings.
    Default,
    /// An extension; it can only restrict.
    Extension,
    /// The workspace folder; it can only restrict.
    Workspace,
    /// The person: their policies and settings.
    User,
    /// The administrator.
    Admin,
    /// The files of `--admin-policy`. They last for one run and only restrict.
    Run,
}

impl Tier {
    /// All of them, the weakest first.
    pub const ALL: [Self; 6] = [Self::Default, Self::Extension, Self::Workspace, Self::User, Self::Admin, Self::Run];

    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Extension => "extension",
            Self::Workspace => "workspace",
            Self::User => "user",
            Self::Admin => "admin",
            Self::Run => "run",
        }
    }

    /// Whether its rules can only make a decision stricter.
    #[must_use]
    pub const fn only_restricts(self) -> bool {
        matches!(self, Self::Extension | Self::Workspace | Self::Run)
    }
}
