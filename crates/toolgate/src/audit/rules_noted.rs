//! The rules in force when calls were last made: policy files by hash, and rules derived from settings. Changed rules become a
//! record of their own, with the recent calls that they decide differently.
//!
//! The check costs one `stat` per file while nothing changes.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chain::hash_of;
use super::folder::AuditFolder;
use super::log::AuditLog;
use super::permission::{ChangedFile, ImpactCase, PermissionChange, PermissionImpact, PermissionKind};
use super::query::Query;
use super::stored::StoredCall;
use crate::asker::Asker;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::Arguments as Facts;
use crate::limits::{
    AUDIT_IMPACT_BYTES_MAX, AUDIT_IMPACT_DAYS_COUNT, AUDIT_NOTED_FOLDERS_MAX, AUDIT_NOTED_RULES_BYTES_MAX,
    AUDIT_NOTED_RULES_MAX, POLICY_FILE_BYTES_MAX,
};
use crate::policy::{CallFacts, Decision, Mode, Policy, Presence, RuleKind};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;
use crate::state_file::{self, Privacy};

/// The rules of a run, in the form that the record needs.
#[derive(Clone, Debug)]
pub struct RulesInForce<'a> {
    /// The workspace folder.
    pub folder: &'a Path,
    /// The policy files, without those named for this run only.
    pub policies: Vec<&'a Path>,
    /// The settings files from which rules are derived.
    pub settings: Vec<&'a Path>,
    /// Whether options of this run also affect the rules.
    pub has_options: bool,
    /// The complete rules.
    pub policy: &'a Policy,
    /// The configured servers.
    pub servers: &'a [Arc<ServerConfig>],
    /// Whether the folder is trusted.
    pub folder_is_trusted: bool,
}

/// The state of a file from its metadata.
type Stamp = Option<(SystemTime, u64, u64)>;

/// The last rules recorded by this process, by folder.
#[derive(Debug, Default)]
pub(super) struct NotedRules(BTreeMap<PathBuf, Vec<(PathBuf, Stamp)>>);

/// The file with the last rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Policy files, each with the hash of its text.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Hash of the rules derived from settings, by folder.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// Version of the program that made the hash. Another version may describe the same rules differently.
    #[serde(default)]
    version: String,
}

impl NotedRules {
    /// Whether these files are unchanged since they were recorded.
    pub(super) fn are(&self, rules: &RulesInForce<'_>) -> bool {
        self.0.get(rules.folder).is_some_and(|noted| *noted == stamps(rules))
    }

    /// Stores the state.
    pub(super) fn note(&mut self, rules: &RulesInForce<'_>) {
        if self.0.len() >= AUDIT_NOTED_FOLDERS_MAX {
            self.0.clear();
        }
        self.0.insert(rules.folder.to_owned(), stamps(rules));
    }
}

fn stamps(rules: &RulesInForce<'_>) -> Vec<(PathBuf, Stamp)> {
    let files = rules.policies.iter().chain(&rules.settings);
    files.map(|path| ((*path).to_owned(), stamp(path))).collect()
}

fn stamp(path: &Path) -> Stamp {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len(), number_of(&about)))
}

#[cfg(unix)]
fn number_of(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number_of(_about: &Metadata) -> u64 {
    0
}

/// The change since the last check, and the state to store. `None` when nothing changed.
pub(super) fn change(folder: &AuditFolder, rules: &RulesInForce<'_>, now: SystemTime) -> Result<Option<Noted>> {
    let text = state_file::read(&folder.rules(), AUDIT_NOTED_RULES_BYTES_MAX)?;
    // An invalid file counts as absent: everything is then recorded as new.
    let before: Known = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut after = before.clone();
    let mut changed = Vec::new();
    for path in &rules.policies {
        let text = state_file::read(path, POLICY_FILE_BYTES_MAX).ok().flatten();
        let hash = hash_of(text.as_deref().unwrap_or("unreadable").as_bytes());
        let old = after.files.insert(name_of(path), hash.clone());
        if old.as_ref() != Some(&hash) {
            changed.push(ChangedFile { path: (*path).to_owned(), before: old, after: Some(hash) });
        }
    }
    let is_gone = |path: &String| !rules.policies.iter().any(|one| name_of(one) == *path) && is_absent(path);
    let gone: Vec<String> = after.files.keys().filter(|path| is_gone(path)).cloned().collect();
    for path in gone {
        let old = after.files.remove(&path);
        changed.push(ChangedFile { path: path.into(), before: old, after: None });
    }
    let derived = note_derived(&before, &mut after, rules);
    if before == after {
        return Ok(None);
    }
    let is_first = before == Known::default();
    let change = (!changed.is_empty() || derived == Derived::Changed).then(|| {
        let subject = match (changed.is_empty(), derived) {
            (false, Derived::Changed) => "policies and settings",
            (false, _) => "policies",
            (true, _) => "settings",
        };
        let change = PermissionChange::new(PermissionKind::Rules, subject).in_folder(rules.folder).files(changed);
        // Rules that are seen for the first time are not a change.
        if is_first { change } else { change.impact(impact(folder, rules, now)) }
    });
    while after.files.len() > AUDIT_NOTED_RULES_MAX {
        after.files.pop_first();
    }
    while after.settings.len() > AUDIT_NOTED_RULES_MAX {
        after.settings.pop_first();
    }
    Ok(Some(Noted { known: after, change }))
}

/// Changed rules.
pub(super) struct Noted {
    known: Known,
    /// The record to write. `None` when the rules are seen for the first time.
    pub(super) change: Option<PermissionChange>,
}

impl Noted {
    /// Stores the new state.
    pub(super) fn keep(&self, folder: &AuditFolder) -> Result<()> {
        let text = serde_json::to_string(&self.known)
            .map_err(|error| Error::new(ErrorKind::State, format!("cannot save the hashes of the rules: {error}")))?;
        let write = |_: Option<&str>| Ok(Some(text));
        state_file::update(&folder.rules(), Privacy::Owner, AUDIT_NOTED_RULES_BYTES_MAX, write)
    }
}

/// The comparison of rules derived from settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Derived {
    New,
    AsBefore,
    Changed,
}

/// Compares the rules derived from settings. Options of one run do not count as a change.
fn note_derived(before: &Known, after: &mut Known, rules: &RulesInForce<'_>) -> Derived {
    if rules.has_options {
        return Derived::AsBefore;
    }
    let of_settings = rules.policy.rules().filter(|rule| rule.kind == RuleKind::Settings);
    let mut lines: Vec<String> = of_settings
        .map(|rule| {
            let tier_and_order = (rule.tier, rule.priority, rule.decision, rule.allows_redirection);
            let reach = (&rule.server, &rule.tool, &rule.conditions, &rule.modes, rule.interactive, &rule.askers);
            format!("{tier_and_order:?} {reach:?}")
        })
        .collect();
    lines.sort_unstable();
    let version = env!("CARGO_PKG_VERSION");
    let hash = hash_of(lines.join("\n").as_bytes());
    let is_same_version = before.version == version;
    if !is_same_version {
        after.settings.clear();
        version.clone_into(&mut after.version);
    }
    let old = after.settings.insert(name_of(rules.folder), hash.clone());
    match old {
        Some(old) if old == hash => Derived::AsBefore,
        Some(_) => Derived::Changed,
        None => Derived::New,
    }
}

fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn is_absent(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Decides the recent calls again. An unreadable log has no result.
fn impact(folder: &AuditFolder, rules: &RulesInForce<'_>, now: SystemTime) -> PermissionImpact {
    let mut impact = PermissionImpact { days: AUDIT_IMPACT_DAYS_COUNT, ..PermissionImpact::default() };
    let mut cases: BTreeMap<(String, String, String, &'static str), u64> = BTreeMap::new();
    let since = now.checked_sub(Duration::from_secs(AUDIT_IMPACT_DAYS_COUNT * 24 * 60 * 60));
    let query = Query { since, ..Query::default() };
    let Ok(log) = AuditLog::without_lock(folder) else { return impact };
    let read = log.newest(AUDIT_IMPACT_BYTES_MAX).each(&query, |call| {
        if let Some(decided) = decided_now(rules, &call) {
            impact.calls += 1;
            if let Some((was, now)) = decided {
                impact.different += 1;
                *cases.entry((call.server, call.tool, was.as_str().to_owned(), now.as_str())).or_default() += 1;
            }
        }
        true
    });
    if let Err(error) = read {
        tracing::warn!("the impact of changed rules is not known: {error}");
    }
    let mut cases: Vec<ImpactCase> = cases
        .into_iter()
        .map(|((server, tool, was, now), calls)| ImpactCase { server, tool, was, now: now.to_owned(), calls })
        .collect();
    cases.sort_by_key(|case| std::cmp::Reverse(case.calls));
    impact.cases = cases;
    impact
}

/// The recorded decision and the new one, if they differ. `None` when the rules do not decide the call.
fn decided_now(rules: &RulesInForce<'_>, call: &StoredCall) -> Option<Option<(Decision, Decision)>> {
    let folder = Path::new(&call.folder);
    if call.filter.is_some() || folder != rules.folder {
        return None;
    }
    let server = ServerName::new(&call.server).ok()?;
    let config = rules.servers.iter().find(|one| one.name == server);
    let annotations = if call.read_only { json!({"readOnlyHint": true}) } else { Value::Null };
    let verdict = rules.policy.decide(&CallFacts {
        server: &server,
        builtin: config.and_then(|config| config.transport.builtin()),
        tool: &call.tool,
        arguments: &Facts::new(&call.arguments).in_folder(folder),
        annotations: &annotations,
        mode: Mode::of(&call.mode).unwrap_or_default(),
        presence: if call.interactive { Presence::Interactive } else { Presence::Headless },
        asker: Asker::ALL.into_iter().find(|asker| asker.as_str() == call.asker).unwrap_or(Asker::Cli),
        subagent: None,
        folder,
        folder_is_trusted: rules.folder_is_trusted,
        remembered: None,
    });
    let was = Decision::of(&call.decision).unwrap_or(Decision::Deny);
    // A grant is not an argument of the rules, so a question in its place is no difference.
    let is_same = was == verdict.decision || (call.grant.is_some() && verdict.decision == Decision::Ask);
    Some((!is_same).then_some((was, verdict.decision)))
}
