//! `PermissionChange`: one recorded change of permissions, with the person, the time and the reason.
//!
//! [`PermissionChange::write`] appends one to the person's log. A host with an open log uses
//! [`AuditSink::permission_changed`](super::AuditSink::permission_changed).

use std::path::{Path, PathBuf};

use super::chain::hash_of;
use super::members::Members;
use super::redact;
use super::writer::{AuditOptions, FileAudit};
use crate::env::HostEnv;
use crate::error::Result;
use crate::limits::{AUDIT_CHANGED_FILES_MAX, AUDIT_IMPACT_CASES_MAX};

/// The kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermissionKind {
    /// A call was allowed for more than once.
    Grant,
    /// A grant was taken back.
    Revoke,
    /// A folder, or some of its entries, became trusted.
    Trust,
    /// A folder was distrusted.
    Distrust,
    /// A decision about a folder was forgotten.
    TrustRevoked,
    /// A session switched to another mode.
    Mode,
    /// The rules in force changed.
    Rules,
    /// A command edited settings.
    Settings,
    /// A revision of settings and policies was restored.
    Restore,
    /// A preset was written as a policy file.
    Preset,
    /// The hints of a server's tools became trusted or untrusted.
    TrustHints,
}

impl PermissionKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Grant,
        Self::Revoke,
        Self::Trust,
        Self::Distrust,
        Self::TrustRevoked,
        Self::Mode,
        Self::Rules,
        Self::Settings,
        Self::Restore,
        Self::Preset,
        Self::TrustHints,
    ];

    /// The word in records and JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Revoke => "revoke",
            Self::Trust => "trust",
            Self::Distrust => "distrust",
            Self::TrustRevoked => "trust_revoked",
            Self::Mode => "mode",
            Self::Rules => "rules",
            Self::Settings => "settings",
            Self::Restore => "restore",
            Self::Preset => "preset",
            Self::TrustHints => "trust_hints",
        }
    }
}

/// The person to whom a change or call is attributed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedPerson {
    /// A verified identity. `None` while nothing verifies one.
    pub principal: Option<String>,
    /// Local user name, from the environment.
    pub user: Option<String>,
    /// Local user id, from the system.
    pub uid: Option<u32>,
}

impl RecordedPerson {
    /// The user of this process.
    #[must_use]
    pub fn local(env: &HostEnv) -> Self {
        let names = ["USER", "LOGNAME", "USERNAME"].iter();
        let user = names.filter_map(|name| env.vars.get(*name)).find(|name| !name.is_empty());
        Self { principal: None, user: user.cloned(), uid: uid() }
    }

    pub(super) fn write(&self, members: &mut Members) {
        members.text_or_null("principal", self.principal.as_deref().map(redact::name).as_deref());
        members.text_or_null("user", self.user.as_deref().map(redact::name).as_deref());
        members.number_or_null("uid", self.uid.map(u64::from));
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such number")]
fn uid() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
const fn uid() -> Option<u32> {
    None
}

/// A file of a change, with the hashes of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The SHA-256 of the text before, in hexadecimal. `None` when there was no file, or it is unknown.
    pub before: Option<String>,
    /// The SHA-256 of the text afterwards; `None` when the file was removed.
    pub after: Option<String>,
}

impl ChangedFile {
    /// A file with its texts before and after; `None` stands for no file.
    pub fn of_texts(path: impl Into<PathBuf>, before: Option<&str>, after: Option<&str>) -> Self {
        let hash = |text: Option<&str>| text.map(|text| hash_of(text.as_bytes()));
        Self { path: path.into(), before: hash(before), after: hash(after) }
    }
}

/// The recorded calls that changed rules decide differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionImpact {
    /// Days of the record that were decided again.
    pub days: u64,
    /// Calls that were decided again.
    pub calls: u64,
    /// Calls that would be decided differently.
    pub different: u64,
    /// The differences, grouped by tool and decisions.
    pub cases: Vec<ImpactCase>,
}

/// Calls of one tool with the same change of decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpactCase {
    /// The server.
    pub server: String,
    /// The tool, by its name on the server.
    pub tool: String,
    /// The decision in the record: `allow`, `ask` or `deny`.
    pub was: String,
    /// The decision now.
    pub now: String,
    /// Number of calls.
    pub calls: u64,
}

/// One change of permissions.
#[derive(Clone, Debug)]
pub struct PermissionChange {
    pub(super) kind: PermissionKind,
    pub(super) subject: String,
    person: Option<RecordedPerson>,
    session: Option<String>,
    reason: Option<String>,
    before: Option<String>,
    after: Option<String>,
    pub(super) files: Vec<ChangedFile>,
    impact: Option<PermissionImpact>,
    folder: Option<PathBuf>,
}

impl PermissionChange {
    /// A change of this kind. The subject is the text for people: a folder, a grant, a server.
    pub fn new(kind: PermissionKind, subject: impl Into<String>) -> Self {
        Self {
            kind,
            subject: subject.into(),
            person: None,
            session: None,
            reason: None,
            before: None,
            after: None,
            files: Vec::new(),
            impact: None,
            folder: None,
        }
    }

    /// Sets the person. The default is the local user.
    #[must_use]
    pub fn by(self, person: RecordedPerson) -> Self {
        Self { person: Some(person), ..self }
    }

    /// Sets the run of the host.
    #[must_use]
    pub fn in_session(self, session: impl Into<String>) -> Self {
        Self { session: Some(session.into()), ..self }
    }

    /// Sets the folder. The default is that of the log's environment.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// Sets the person's reason.
    #[must_use]
    pub fn reason(self, reason: Option<&str>) -> Self {
        Self { reason: reason.map(str::to_owned), ..self }
    }

    /// Sets the state before, as text.
    #[must_use]
    pub fn before(self, state: impl Into<String>) -> Self {
        Self { before: Some(state.into()), ..self }
    }

    /// Sets the state afterwards, as text.
    #[must_use]
    pub fn after(self, state: impl Into<String>) -> Self {
        Self { after: Some(state.into()), ..self }
    }

    /// Sets the changed files.
    #[must_use]
    pub fn files(mut self, files: impl IntoIterator<Item = ChangedFile>) -> Self {
        self.files.extend(files);
        self
    }

    /// Sets the recorded calls that are decided differently now.
    #[must_use]
    pub fn impact(self, impact: PermissionImpact) -> Self {
        Self { impact: Some(impact), ..self }
    }

    /// Appends the change to the person's log and flushes it to disk. Returns the number of the record.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn write(&self, env: &HostEnv) -> Result<u64> {
        FileAudit::open(env, AuditOptions::default()).keep_permission(self)
    }

    /// The members of the JSON line.
    pub(super) fn members(&self, person: &RecordedPerson, folder: &Path) -> String {
        let person = self.person.as_ref().unwrap_or(person);
        let folder = self.folder.as_deref().unwrap_or(folder);
        let covered = |text: &Option<String>| text.as_deref().map(redact::message);
        Members::of(|members| {
            members.text("change", self.kind.as_str());
            members.text("subject", &redact::message(&self.subject));
            members.object_or_null("by", Some(person), |members, person| person.write(members));
            members.text_or_null("session", self.session.as_deref().map(redact::name).as_deref());
            members.text("folder", &redact::name(&folder.to_string_lossy()));
            members.text_or_null("reason", covered(&self.reason).as_deref());
            members.text_or_null("before", covered(&self.before).as_deref());
            members.text_or_null("after", covered(&self.after).as_deref());
            members.objects("files", self.files.iter().take(AUDIT_CHANGED_FILES_MAX), |members, file| {
                members.text("path", &redact::name(&file.path.to_string_lossy()));
                members.text_or_null("before", file.before.as_deref());
                members.text_or_null("after", file.after.as_deref());
            });
            members.number("moreFiles", self.files.len().saturating_sub(AUDIT_CHANGED_FILES_MAX) as u64);
            members.object_or_null("impact", self.impact.as_ref(), write_impact);
        })
    }
}

fn write_impact(members: &mut Members, impact: &PermissionImpact) {
    members.number("days", impact.days);
    members.number("calls", impact.calls);
    members.number("different", impact.different);
    members.objects("cases", impact.cases.iter().take(AUDIT_IMPACT_CASES_MAX), |members, case| {
        members.text("server", &redact::name(&case.server));
        members.text("tool", &redact::name(&case.tool));
        members.text("was", &redact::name(&case.was));
        members.text("now", &redact::name(&case.now));
        members.number("calls", case.calls);
    });
}
