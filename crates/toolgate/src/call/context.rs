//! `CallRules`: what every call of a host goes through: the rules, what was allowed before, who is asked, who keeps the record.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use ring::rand::{SecureRandom as _, SystemRandom};
use toolgate_wire::view::Tool;

use super::checks::{Checks, ToolChecks};
use super::confirm::{Confirmer, NobodyConfirms};
use super::record_keeper::RecordKeeper;
use crate::audit::{AuditSink, NoAudit};
use crate::connect::CallProgress;
use crate::env::{Clock, HostEnv};
use crate::grants::{Grants, Lasting};
use crate::hex::hex;
use crate::policy::file::Checker;
use crate::policy::{Mode, Permissions, Policy, Presence, default_rules};
use crate::results::ResultStore;
use crate::trust::FolderStanding;
use crate::workspace_folders::WorkspaceFolders;

/// Hears the progress of calls. Must not block.
pub type ProgressSink = Arc<dyn Fn(&CallProgress) + Send + Sync>;

/// What every call of a host goes through. The default lets through what only reads the workspace, asks nobody, and keeps no record.
#[derive(Clone)]
pub struct CallRules {
    /// The rules, which can be changed while the host runs.
    pub permissions: Permissions,
    /// What is looked at after a decision, with the paths of a call.
    pub checkers: Vec<Checker>,
    /// What the person allowed before; only what is allowed while the host runs, when there is nothing to look it up in.
    pub grants: Option<Arc<Grants>>,
    /// Who is asked.
    pub confirmer: Arc<dyn Confirmer>,
    /// Who keeps the record.
    pub audit: Arc<dyn AuditSink>,
    /// Where results are kept that are too large for a model to be shown whole; nowhere, when nothing is named.
    pub results: Option<Arc<ResultStore>>,
    /// Who hears the progress of calls; the front end of the host, when nobody is named.
    pub progress: Option<ProgressSink>,
    /// How much is let through without a question.
    pub mode: Mode,
    /// Whether somebody can be asked.
    pub presence: Presence,
    /// Whether the workspace folder is trusted.
    pub folder: FolderStanding,
    /// Whether answers may be remembered beyond the call.
    pub lasting: Lasting,
    /// How long an answer is remembered for good; for ever, when `None`.
    pub grants_last: Option<Duration>,
    /// The session that the record names; one of its own, when nothing is named.
    pub session: Option<Arc<str>>,
}

impl Default for CallRules {
    fn default() -> Self {
        Self {
            permissions: Permissions::new(Policy::new(default_rules())),
            checkers: Vec::new(),
            grants: None,
            confirmer: Arc::new(NobodyConfirms),
            audit: Arc::new(NoAudit),
            results: None,
            progress: None,
            mode: Mode::default(),
            presence: Presence::Headless,
            folder: FolderStanding::default(),
            lasting: Lasting::Never,
            grants_last: None,
            session: None,
        }
    }
}

impl fmt::Debug for CallRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRules")
            .field("mode", &self.mode)
            .field("presence", &self.presence)
            .field("audit", &self.audit)
            .finish_non_exhaustive()
    }
}

/// The same in a host, with what its world adds.
pub struct CallContext {
    pub(super) rules: CallRules,
    grants: Arc<Grants>,
    changing: RwLock<Changing>,
    main: PathBuf,
    home: Option<PathBuf>,
    own_folders: [PathBuf; 2],
    clock: Arc<dyn Clock>,
    session: Arc<str>,
    keeper: RecordKeeper,
    checks: Arc<ToolChecks>,
}

/// What can be another from one call to the next.
#[derive(Clone)]
struct Changing {
    mode: Mode,
    checkers: Arc<[Checker]>,
    standing: FolderStanding,
    /// The main folder stays the same.
    folders: Arc<WorkspaceFolders>,
}

impl CallContext {
    pub(crate) fn new(rules: CallRules, env: &HostEnv) -> Self {
        let checkers = rules.checkers.as_slice().into();
        let main = env.workspace.to_path_buf();
        let folders = Arc::new(env.workspace.clone().closing(env.own_folder_to_close()));
        let changing = Changing { mode: rules.mode, checkers, standing: rules.folder, folders };
        Self {
            grants: rules.grants.clone().unwrap_or_else(|| Arc::new(Grants::in_memory(env))),
            changing: RwLock::new(changing),
            main,
            home: env.dirs.home.clone(),
            own_folders: [env.dirs.user.clone(), env.dirs.system.clone()],
            clock: env.clock.clone(),
            session: rules.session.clone().unwrap_or_else(session_id),
            keeper: RecordKeeper::new(rules.audit.clone()),
            checks: Arc::default(),
            rules,
        }
    }

    /// The same, with what another one has worked out about tools.
    pub(crate) fn sharing_checks_with(mut self, other: &Self) -> Self {
        self.checks = other.checks.clone();
        self
    }

    /// What is worked out once for a tool.
    pub(super) fn checks(&self, tool: &Arc<Tool>) -> Arc<Checks> {
        self.checks.of(tool)
    }

    /// The rules.
    #[must_use]
    pub const fn permissions(&self) -> &Permissions {
        &self.rules.permissions
    }

    /// Where results are kept that are too large for a model to be shown whole.
    #[must_use]
    pub const fn results(&self) -> Option<&Arc<ResultStore>> {
        self.rules.results.as_ref()
    }

    /// How much is let through without a question.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.changing.read().unwrap_or_else(PoisonError::into_inner).mode
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.changing.write().unwrap_or_else(PoisonError::into_inner).mode = mode;
    }

    pub(super) fn checkers(&self) -> Arc<[Checker]> {
        self.changing.read().unwrap_or_else(PoisonError::into_inner).checkers.clone()
    }

    pub(super) fn standing(&self) -> FolderStanding {
        self.changing.read().unwrap_or_else(PoisonError::into_inner).standing
    }

    /// Decides the next calls by these rules, with what is looked at after a decision.
    pub(crate) fn use_rules(&self, policy: Policy, checkers: &[Checker], standing: FolderStanding) {
        self.rules.permissions.replace_base(policy);
        let mut changing = self.changing.write().unwrap_or_else(PoisonError::into_inner);
        changing.checkers = checkers.into();
        changing.standing = standing;
    }

    pub(super) const fn grants(&self) -> &Arc<Grants> {
        &self.grants
    }

    /// The folder the work is about.
    pub(super) fn folder(&self) -> &Path {
        &self.main
    }

    /// That folder and those beside it.
    pub(super) fn folders(&self) -> Arc<WorkspaceFolders> {
        self.changing.read().unwrap_or_else(PoisonError::into_inner).folders.clone()
    }

    /// Has these folders beside the workspace from the next call on. Says whether they are others than before.
    pub(crate) fn include(&self, folders: &[PathBuf]) -> bool {
        let mut changing = self.changing.write().unwrap_or_else(PoisonError::into_inner);
        if changing.folders.included() == folders {
            return false;
        }
        changing.folders = Arc::new(changing.folders.including(folders.to_vec()));
        true
    }

    /// What `~` means.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where toolgate keeps what decides.
    pub(super) fn own_folders(&self) -> [&Path; 2] {
        self.own_folders.each_ref().map(PathBuf::as_path)
    }

    /// The session that the record of these calls names.
    pub const fn session(&self) -> &Arc<str> {
        &self.session
    }

    /// The sink for the records of these calls.
    pub fn audit(&self) -> &Arc<dyn AuditSink> {
        &self.rules.audit
    }

    /// Who writes records down.
    pub(super) const fn keeper(&self) -> &RecordKeeper {
        &self.keeper
    }

    pub(super) fn now(&self) -> SystemTime {
        self.clock.now()
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("rules", &self.rules)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// Tells the calls of one host from those of another in the record.
fn session_id() -> Arc<str> {
    let mut bytes = [0_u8; 8];
    // Without randomness two hosts may have the same one; nothing but the reader of a record minds.
    let _filled = SystemRandom::new().fill(&mut bytes).is_ok();
    hex(&bytes).into()
}
