//! Whether a call is covered by what was allowed before. Pure: the time is handed in.

use std::time::SystemTime;

use super::grant::{Grant, GrantScope, GrantState, GrantSubject};
use crate::canonical_json;

/// Whether a call is covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covering {
    /// It is.
    Covered {
        /// By which grant.
        grant: String,
        /// Whether that was given for exactly these arguments.
        is_for_these_arguments: bool,
    },
    /// It would be, but what was allowed is not what is there now.
    Suspended {
        /// Which grant.
        grant: String,
        /// What has changed, in words.
        why: String,
    },
    /// It is not.
    None,
}

impl Covering {
    /// The better of two: what covers before what is suspended, what is for these arguments before what is for any.
    fn or_better(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Suspended { .. } => 1,
            Self::Covered { is_for_these_arguments: false, .. } => 2,
            Self::Covered { is_for_these_arguments: true, .. } => 3,
        }
    }
}

/// What the grants say about a call.
pub(super) fn covering<'g>(
    grants: impl Iterator<Item = &'g Grant>,
    subject: &GrantSubject<'_>,
    now: SystemTime,
) -> Covering {
    let mut arguments: Option<String> = None;
    let mut found = Covering::None;
    for grant in grants.filter(|grant| grant.is_about(subject)) {
        if !counts(grant, subject, now) {
            continue;
        }
        let Some(definition) = grant.tools.get(subject.tool) else { continue };
        if let GrantScope::Arguments(given) = &grant.scope
            && given != arguments.get_or_insert_with(|| canonical_json::text(subject.arguments))
        {
            continue;
        }
        found = found.or_better(judge(grant, definition, subject));
    }
    found
}

/// Whether some call of a tool may be covered, whatever its arguments.
pub(super) fn covers_some_call<'g>(
    grants: impl Iterator<Item = &'g Grant>,
    subject: &GrantSubject<'_>,
    now: SystemTime,
) -> bool {
    let mut active = grants.filter(|grant| grant.is_about(subject) && counts(grant, subject, now));
    active.any(|grant| {
        let definition = grant.tools.get(subject.tool);
        definition.is_some_and(|it| matches!(judge(grant, it, subject), Covering::Covered { .. }))
    })
}

fn counts(grant: &Grant, subject: &GrantSubject<'_>, now: SystemTime) -> bool {
    grant.state_at(now) == GrantState::Active && subject.mode >= grant.mode
}

/// A grant that speaks of the call: whether everything is still as it was when it was given.
fn judge(grant: &Grant, definition: &str, subject: &GrantSubject<'_>) -> Covering {
    let suspended = |why: String| Covering::Suspended { grant: grant.id.clone(), why };
    if grant.server_identity != subject.server_identity {
        return suspended(format!("server `{}` is started or reached in another way than it was then", subject.server));
    }
    if definition != subject.definition {
        return suspended(format!("the definition of `{}` has changed since", subject.tool));
    }
    let is_for_these_arguments = matches!(grant.scope, GrantScope::Arguments(_));
    Covering::Covered { grant: grant.id.clone(), is_for_these_arguments }
}

#[cfg(test)]
#[path = "covering_tests.rs"]
mod tests;
