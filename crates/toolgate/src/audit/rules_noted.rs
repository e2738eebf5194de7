//! The rules in force when calls were last made: policy files by hash, and rules derived from settings. Changed rules become a
//! record of their own, with the recent calls that they decide differently.
//!
//! While nothing changed, looking costs one `stat` for each policy file and the reading of what is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
    AUDIT_NOTED_RULES_MAX, AUDIT_NOTED_SETTLED_MS,
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
    pub policies: Vec<PolicyInForce<'a>>,
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

/// One policy file that is in force.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInForce<'a> {
    /// The place of the file.
    pub path: &'a Path,
    /// The text that its rules were read from. `None` when it cannot be read.
    pub text: Option<&'a str>,
}

/// The state of a file from its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    number: u64,
    /// The time at which anything about the file changed last, which programs cannot set back.
    changed: Option<SystemTime>,
}

/// The files of one folder, each with its state.
type Stamps = Vec<(PathBuf, Option<Stamp>)>;

/// The last rules recorded by this process, by folder.
#[derive(Debug)]
pub(super) struct NotedRules {
    folders: BTreeMap<PathBuf, Stamps>,
    /// Files that are older than this were read as they are now.
    settled: SystemTime,
}

impl Default for NotedRules {
    fn default() -> Self {
        let settled = SystemTime::now().checked_sub(Duration::from_millis(AUDIT_NOTED_SETTLED_MS));
        Self { folders: BTreeMap::new(), settled: settled.unwrap_or(UNIX_EPOCH) }
    }
}

/// The file with the last rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Policy files, each with the hash of its text.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Hash of the rules derived from settings, by folder.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// The hash of the states of the policy files, by folder: while it is the same, they need not be read.
    #[serde(default)]
    states: BTreeMap<String, String>,
    /// Version of the program that made the hash. Another version may describe the same rules differently.
    #[serde(default)]
    version: String,
}

impl Known {
    /// A file that cannot be understood is like none: everything is new then, and recorded as that.
    fn read(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

impl NotedRules {
    /// Whether these files are unchanged since they were recorded.
    pub(super) fn are(&self, rules: &RulesInForce<'_>) -> bool {
        self.folders.get(rules.folder).is_some_and(|noted| *noted == stamps(rules))
    }

    /// Stores the state.
    pub(super) fn note(&mut self, rules: &RulesInForce<'_>) {
        if self.folders.len() >= AUDIT_NOTED_FOLDERS_MAX {
            self.folders.clear();
        }
        self.folders.insert(rules.folder.to_owned(), stamps(rules));
    }

    /// The hash of the states of the policy files. `None` while one is so young that it may have changed since it was read.
    fn state(&self, rules: &RulesInForce<'_>) -> Option<String> {
        let mut text = String::new();
        for policy in &rules.policies {
            let stamp = stamp(policy.path)?;
            if stamp.changed.is_none_or(|changed| changed.max(stamp.modified) > self.settled) {
                return None;
            }
            writeln!(text, "{:?} {stamp:?}", policy.path).ok()?;
        }
        Some(hash_of(text.as_bytes()))
    }
}

fn stamps(rules: &RulesInForce<'_>) -> Stamps {
    let files = rules.policies.iter().map(|policy| policy.path).chain(rules.settings.iter().copied());
    files.map(|path| (path.to_owned(), stamp(path))).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    let (modified, length) = (about.modified().ok()?, about.len());
    Some(Stamp { modified, length, number: number_of(&about), changed: changed_at(&about) })
}

#[cfg(unix)]
fn number_of(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number_of(_about: &Metadata) -> u64 {
    0
}

#[cfg(unix)]
fn changed_at(about: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let (seconds, nanos) = (u64::try_from(about.ctime()).ok()?, u32::try_from(about.ctime_nsec()).ok()?);
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn changed_at(_about: &Metadata) -> Option<SystemTime> {
    None
}

/// Looks whether the rules changed since they were looked at last. The change is recorded, and the rules are noted, before another process can
/// look: each change has one record.
pub(super) fn note_change(
    folder: &AuditFolder,
    rules: &RulesInForce<'_>,
    (noted, now): (&NotedRules, SystemTime),
    record: impl FnOnce(&PermissionChange) -> Result<()>,
) -> Result<()> {
    let state = noted.state(rules);
    let text = state_file::read(&folder.rules(), AUDIT_NOTED_RULES_BYTES_MAX)?;
    let seen = compare(&Known::read(text.as_deref()), rules, state.as_deref());
    let Some(seen) = seen else { return Ok(()) };
    // Deciding calls anew may take longer than other processes wait for their turn.
    let impact = seen.change.filter(|_| !seen.is_first).map(|_| impact(folder, rules, now));
    state_file::update(&folder.rules(), Privacy::Owner, AUDIT_NOTED_RULES_BYTES_MAX, |text| {
        let Some(found) = compare(&Known::read(text), rules, state.as_deref()) else { return Ok(None) };
        if let Some(change) = found.change {
            record(&match impact {
                // Rules that are seen for the first time are not a change.
                Some(impact) if !found.is_first => change.impact(impact),
                _ => change,
            })?;
        }
        let text = serde_json::to_string(&found.known)
            .map_err(|error| Error::new(ErrorKind::State, format!("cannot save the hashes of the rules: {error}")))?;
        Ok(Some(text))
    })
}

/// Changed rules.
struct Found {
    /// The state to keep for the next comparison.
    known: Known,
    /// The record to write. `None` when the rules are seen for the first time.
    change: Option<PermissionChange>,
    /// Whether nothing was known.
    is_first: bool,
}

/// The rules held against what is known. `None` when nothing changed.
fn compare(before: &Known, rules: &RulesInForce<'_>, state: Option<&str>) -> Option<Found> {
    let mut after = before.clone();
    let name = name_of(rules.folder);
    let is_same_state = state.is_some() && before.states.get(&name).map(String::as_str) == state;
    let changed = if is_same_state { Vec::new() } else { note_policies(&mut after, rules) };
    let derived = note_derived(before, &mut after, rules);
    match state.filter(|_| !rules.has_options) {
        Some(state) => drop(after.states.insert(name.clone(), state.to_owned())),
        // A state of before would hide that a file which came since then is gone again.
        None if !is_same_state => drop(after.states.remove(&name)),
        None => {}
    }
    let own: Vec<String> = rules.policies.iter().map(|policy| name_of(policy.path)).collect();
    make_room(&mut after.files, &own);
    make_room(&mut after.settings, std::slice::from_ref(&name));
    make_room(&mut after.states, std::slice::from_ref(&name));
    if *before == after {
        return None;
    }
    let change = (!changed.is_empty() || derived == Derived::Changed).then(|| {
        let subject = match (changed.is_empty(), derived) {
            (false, Derived::Changed) => "policies and settings",
            (false, _) => "policies",
            (true, _) => "settings",
        };
        PermissionChange::new(PermissionKind::Rules, subject).in_folder(rules.folder).files(changed)
    });
    Some(Found { known: after, change, is_first: *before == Known::default() })
}

/// Compares the policy files with what is known of them.
fn note_policies(after: &mut Known, rules: &RulesInForce<'_>) -> Vec<ChangedFile> {
    let mut changed = Vec::new();
    for policy in &rules.policies {
        let hash = hash_of(policy.text.unwrap_or("unreadable").as_bytes());
        let old = after.files.insert(name_of(policy.path), hash.clone());
        if old.as_ref() != Some(&hash) {
            changed.push(ChangedFile { path: policy.path.to_owned(), before: old, after: Some(hash) });
        }
    }
    let is_gone = |path: &String| !rules.policies.iter().any(|one| name_of(one.path) == *path) && is_absent(path);
    let gone: Vec<String> = after.files.keys().filter(|path| is_gone(path)).cloned().collect();
    for path in gone {
        let old = after.files.remove(&path);
        changed.push(ChangedFile { path: path.into(), before: old, after: None });
    }
    changed
}

/// Leaves out what is too much, but nothing of this run: it would be new with every command.
fn make_room(entries: &mut BTreeMap<String, String>, own: &[String]) {
    let too_many = entries.len().saturating_sub(AUDIT_NOTED_RULES_MAX);
    let others: Vec<String> = entries.keys().filter(|key| !own.contains(key)).take(too_many).cloned().collect();
    for key in others {
        entries.remove(&key);
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

#[cfg(test)]
#[path = "rules_noted_tests.rs"]
mod tests;
