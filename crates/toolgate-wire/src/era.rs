//! The five protocol versions, and what each may send and receive.
//!
//! *Modern* is 2026-07-28 and later: stateless, no handshake. *Legacy* is everything before. Code asks a `Version` what it
//! allows instead of comparing dates.

use std::fmt;

/// A version of MCP. Variants are in order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the dates")]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest with a handshake; what `initialize` offers.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The version of that name, if we know it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == name)
    }

    /// All names, for messages.
    pub(crate) fn list() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Stateless: no handshake, no session, no requests from the server.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether JSON-RPC batches exist.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether HTTP requests carry `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a server may ask the person for input.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether results may carry `structuredContent`.
    pub fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether `sender` may send `method`. What no version knows is an extension and may always be sent.
    pub fn allows(self, sender: Role, method: &str) -> bool {
        let mut rules = RULES.iter().filter(|rule| rule.method == method).peekable();
        rules.peek().is_none()
            || rules.any(|rule| rule.senders.includes(sender) && (rule.from..=rule.until).contains(&self))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a server wants to be spoken to, as far as that must be found out. Worth remembering: it saves the probe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Era {
    /// Without a handshake (2026-07-28).
    Modern,
    /// With `initialize`.
    Legacy,
    /// With `initialize`, over the HTTP+SSE transport of 2024-11-05.
    LegacySse,
}

/// The two sides of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Asks for tools, prompts and resources.
    Client,
    /// Offers them.
    Server,
}

#[derive(Clone, Copy)]
enum Senders {
    Client,
    Server,
    Both,
}

impl Senders {
    fn includes(self, role: Role) -> bool {
        matches!((self, role), (Self::Both, _) | (Self::Client, Role::Client) | (Self::Server, Role::Server))
    }
}

struct Rule {
    method: &'static str,
    senders: Senders,
    from: Version,
    until: Version,
}

const OLDEST: Version = Version::V2024_11_05;
const MODERN: Version = Version::V2026_07_28;
const LEGACY_END: Version = Version::V2025_11_25;

const fn rule(method: &'static str, senders: Senders, from: Version, until: Version) -> Rule {
    Rule { method, senders, from, until }
}

/// Who may send what, from which version to which.
const RULES: &[Rule] = &[
    rule("initialize", Senders::Client, OLDEST, LEGACY_END),
    rule("notifications/initialized", Senders::Client, OLDEST, LEGACY_END),
    rule("ping", Senders::Both, OLDEST, LEGACY_END),
    rule("server/discover", Senders::Client, MODERN, MODERN),
    rule("tools/list", Senders::Client, OLDEST, MODERN),
    rule("tools/call", Senders::Client, OLDEST, MODERN),
    rule("prompts/list", Senders::Client, OLDEST, MODERN),
    rule("prompts/get", Senders::Client, OLDEST, MODERN),
    rule("resources/list", Senders::Client, OLDEST, MODERN),
    rule("resources/templates/list", Senders::Client, OLDEST, MODERN),
    rule("resources/read", Senders::Client, OLDEST, MODERN),
    rule("resources/subscribe", Senders::Client, OLDEST, LEGACY_END),
    rule("resources/unsubscribe", Senders::Client, OLDEST, LEGACY_END),
    rule("subscriptions/listen", Senders::Client, MODERN, MODERN),
    rule("completion/complete", Senders::Client, OLDEST, MODERN),
    rule("logging/setLevel", Senders::Client, OLDEST, LEGACY_END),
    rule("tasks/get", Senders::Both, LEGACY_END, LEGACY_END),
    rule("tasks/get", Senders::Client, MODERN, MODERN),
    rule("tasks/cancel", Senders::Both, LEGACY_END, LEGACY_END),
    rule("tasks/cancel", Senders::Client, MODERN, MODERN),
    rule("tasks/list", Senders::Both, LEGACY_END, LEGACY_END),
    rule("tasks/result", Senders::Both, LEGACY_END, LEGACY_END),
    rule("tasks/update", Senders::Client, MODERN, MODERN),
    rule("sampling/createMessage", Senders::Server, OLDEST, LEGACY_END),
    rule("roots/list", Senders::Server, OLDEST, LEGACY_END),
    rule("elicitation/create", Senders::Server, Version::V2025_06_18, LEGACY_END),
    rule("notifications/cancelled", Senders::Both, OLDEST, MODERN),
    rule("notifications/progress", Senders::Both, OLDEST, LEGACY_END),
    rule("notifications/progress", Senders::Server, MODERN, MODERN),
    rule("notifications/message", Senders::Server, OLDEST, MODERN),
    rule("notifications/tools/list_changed", Senders::Server, OLDEST, MODERN),
    rule("notifications/prompts/list_changed", Senders::Server, OLDEST, MODERN),
    rule("notifications/resources/list_changed", Senders::Server, OLDEST, MODERN),
    rule("notifications/resources/updated", Senders::Server, OLDEST, MODERN),
    rule("notifications/roots/list_changed", Senders::Client, OLDEST, LEGACY_END),
    rule("notifications/elicitation/complete", Senders::Server, LEGACY_END, LEGACY_END),
    rule("notifications/subscriptions/acknowledged", Senders::Server, MODERN, MODERN),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for version in Version::ALL {
            assert_eq!(Version::parse(version.as_str()), Some(version));
        }
        assert_eq!(Version::parse("2019-01-01"), None);
    }

    #[test]
    fn each_version_allows_what_it_defines() {
        use Role::{Client, Server};
        use Version::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
        let cases = [
            (V2024_11_05, Client, "initialize", true),
            (V2026_07_28, Client, "initialize", false),
            (V2026_07_28, Client, "server/discover", true),
            (V2025_11_25, Client, "server/discover", false),
            (V2025_03_26, Server, "elicitation/create", false),
            (V2025_06_18, Server, "elicitation/create", true),
            (V2026_07_28, Server, "elicitation/create", false),
            (V2025_11_25, Client, "elicitation/create", false),
            (V2025_11_25, Server, "ping", true),
            (V2026_07_28, Client, "ping", false),
            (V2025_11_25, Client, "tasks/result", true),
            (V2026_07_28, Client, "tasks/result", false),
            (V2026_07_28, Client, "tasks/update", true),
            (V2025_06_18, Client, "tasks/get", false),
            (V2026_07_28, Client, "resources/subscribe", false),
            (V2024_11_05, Client, "acme/custom", true),
        ];
        for (version, role, method, allowed) in cases {
            assert_eq!(version.allows(role, method), allowed, "{version} {role:?} {method}");
        }
    }
}
