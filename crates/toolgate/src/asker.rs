//! `Asker`: who asks for a call. Part of the ground, because rules, confirmations and records all speak of it.

/// Who asks for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Asker {
    /// A model.
    Model,
    /// The person, in a session.
    SlashCommand,
    /// The person or a script, on the command line.
    Cli,
    /// A client of the gateway.
    GatewayClient,
}

impl Asker {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Model, Self::SlashCommand, Self::Cli, Self::GatewayClient];

    /// The word for it in policies, JSON output and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::SlashCommand => "session",
            Self::Cli => "cli",
            Self::GatewayClient => "gateway",
        }
    }
}
