//! `Query`: which calls of the log are wanted.

use std::time::SystemTime;

use super::stored::StoredCall;

/// Which calls are wanted: those for which all of this holds.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Asked for at that time or later.
    pub since: Option<SystemTime>,
    /// Asked for before that time.
    pub until: Option<SystemTime>,
    /// Of this server.
    pub server: Option<String>,
    /// Of this tool, by the name its server gives it or the one it was called by.
    pub tool: Option<String>,
    /// That ended so.
    pub outcome: Option<String>,
    /// That were decided so.
    pub decision: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Asked for by them.
    pub asker: Option<String>,
    /// Only the last so many of them.
    pub last: Option<usize>,
}

impl Query {
    /// Whether a call is wanted, apart from how many there are.
    pub(super) fn wants(&self, call: &StoredCall) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        self.since.is_none_or(|since| call.at >= since)
            && self.until.is_none_or(|until| call.at < until)
            && is(&self.server, &call.server)
            && (is(&self.tool, &call.tool) || is(&self.tool, &call.name))
            && is(&self.outcome, &call.outcome)
            && is(&self.decision, &call.decision)
            && is(&self.session, &call.session)
            && is(&self.asker, &call.asker)
    }
}
