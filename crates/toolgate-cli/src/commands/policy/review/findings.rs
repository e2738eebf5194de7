//! The findings of a review, and the checks of grants. Pure: the record and the settings are parameters.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use toolgate::audit::StoredCall;
use toolgate::grants::{Grant, GrantState};
use toolgate::servers::{ServerSet, identity};

/// A permission that is not needed.
#[derive(Debug)]
pub(super) struct Finding {
    /// The kind in JSON output.
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) mend: Mend,
}

/// The change that removes the permission.
#[derive(Debug)]
pub(super) enum Mend {
    /// Revokes a grant.
    Revoke(String),
    /// Takes a rule out of its file and puts narrower ones in its place.
    Rule { file: PathBuf, line: usize, replacement: String },
}

impl Finding {
    pub(super) fn file(&self) -> Option<String> {
        match &self.mend {
            Mend::Rule { file, .. } => Some(file.display().to_string()),
            Mend::Revoke(_) => None,
        }
    }

    pub(super) const fn line(&self) -> Option<u64> {
        match &self.mend {
            Mend::Rule { line, .. } => Some(*line as u64),
            Mend::Revoke(_) => None,
        }
    }

    /// The proposed rules.
    pub(super) fn replacement(&self) -> Option<&str> {
        match &self.mend {
            Mend::Rule { replacement, .. } => Some(replacement.as_str()).filter(|text| !text.is_empty()),
            Mend::Revoke(_) => None,
        }
    }
}

/// The grants that recorded calls used.
#[derive(Debug, Default)]
pub(super) struct Used {
    calls: usize,
    /// Last use, by grant id.
    grants: HashMap<String, SystemTime>,
    /// Last time that a grant was suspended, and the reason, by grant id.
    suspended: HashMap<String, (SystemTime, String)>,
}

/// Text in a record that marks a suspended grant.
const DOES_NOT_COUNT: &str = ") does not count: ";

impl Used {
    pub(super) fn add(&mut self, call: &StoredCall) {
        self.calls += 1;
        if let Some(grant) = &call.grant {
            self.grants.insert(grant.clone(), call.at);
        }
        for adjustment in &call.adjustments {
            let Some((before, why)) = adjustment.split_once(DOES_NOT_COUNT) else { continue };
            let Some((_, id)) = before.rsplit_once("(grant ") else { continue };
            self.suspended.insert(id.to_owned(), (call.at, why.to_owned()));
        }
    }

    pub(super) const fn calls(&self) -> usize {
        self.calls
    }
}

/// The grants that are not needed.
pub(super) fn grants(
    listed: &[(Grant, GrantState)],
    used: &Used,
    servers: &ServerSet,
    since: SystemTime,
) -> Vec<Finding> {
    let one = |(grant, state): &(Grant, GrantState)| {
        let (kind, why) = if *state == GrantState::Expired {
            ("expired_grant", "expired".to_owned())
        } else if let Some(why) = suspended(grant, used, servers) {
            ("suspended_grant", format!("suspended: {why}"))
        } else if grant.given_at < since && !used.grants.contains_key(&grant.id) {
            ("unused_grant", "not used in that time".to_owned())
        } else {
            return None;
        };
        let tools: Vec<&str> = grant.tools.keys().map(String::as_str).collect();
        let message = format!("grant {} for {} of {}: {why}", grant.id, tools.join(", "), grant.server);
        Some(Finding { kind, message, mend: Mend::Revoke(grant.id.clone()) })
    };
    listed.iter().filter_map(one).collect()
}

fn suspended(grant: &Grant, used: &Used, servers: &ServerSet) -> Option<String> {
    let server = servers.active.iter().find(|server| server.name == grant.server);
    if server.is_some_and(|server| identity(server) != grant.server_identity) {
        return Some("the command or address of its server changed".to_owned());
    }
    let (at, why) = used.suspended.get(&grant.id)?;
    let is_newer = used.grants.get(&grant.id).is_none_or(|last| last < at) && grant.given_at < *at;
    is_newer.then(|| why.clone())
}
