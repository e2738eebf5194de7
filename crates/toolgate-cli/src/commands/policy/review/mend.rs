//! Applies the findings of a review: revokes grants, and replaces rules in their files by narrower ones.

use std::collections::BTreeMap;
use std::path::Path;

use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::rulebook::{edit_policy, replace_rules};
use toolgate::{Error, ErrorKind};

use super::findings::{Finding, Mend};
use crate::error::{CommandError, Result};
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::session::Session;

/// Applies all findings. Returns their number.
pub(super) fn all(session: &Session, reason: &Reason, found: &[Finding]) -> Result<usize> {
    let mut mended = 0;
    let mut by_file: BTreeMap<&Path, Vec<(usize, &str)>> = BTreeMap::new();
    let mut ids = Vec::new();
    for one in found {
        match &one.mend {
            Mend::Revoke(id) => ids.push(id.as_str()),
            Mend::Rule { file, line, replacement } => by_file.entry(file).or_default().push((*line, replacement)),
        }
    }
    if !ids.is_empty() {
        for grant in session.grants(session.env()).revoke(&ids)? {
            let change = PermissionChange::new(PermissionKind::Revoke, format!("{} of {}", grant.id, grant.server));
            let tools: Vec<&str> = grant.tools.keys().map(String::as_str).collect();
            reason.record(session, change.before(tools.join(", ")));
            mended += 1;
        }
    }
    for (file, rules) in by_file {
        let edited = edit_policy(session.env(), file, |text| match replace_rules(text, &rules) {
            Some(text) => Ok(Some(text)),
            None => {
                let message = format!("{}: its rules cannot be rewritten without changing others", file.display());
                Err(Error::new(ErrorKind::Policy, message).hinting("change the rules by hand"))
            }
        });
        let edited = match edited {
            Ok(edited) => edited,
            // The other files can be mended all the same; what is left is counted.
            Err(error) => {
                session.printer.talk().error(&CommandError::from(error));
                continue;
            }
        };
        if let Some(edited) = edited {
            let what = format!("{} of `policy review`", counted(rules.len(), "rule"));
            let changed = ChangedFile::of_texts(file, edited.before.as_deref(), Some(&edited.after));
            reason.record(session, PermissionChange::new(PermissionKind::Rules, what).files([changed]));
            mended += rules.len();
        }
    }
    Ok(mended)
}
