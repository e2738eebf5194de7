//! `Folder`: whether what the workspace folder brings may be used, who decided that, and which of its servers changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::servers::ServerConfig;
use crate::settings::source::SettingsSource;
use crate::settings::{Brought, Settings};
use crate::trust::entries::{self, Compared, EntryChange};
use crate::trust::rules::{self, Rules, TrustLevel, real};

/// The variable that decides for one run.
pub const THIS_RUN_VARIABLE: &str = "TOOLGATE_TRUST_WORKSPACE";

/// The variable by which an editor tells what it decided.
pub const EDITOR_VARIABLE: &str = "TOOLGATE_IDE_TRUST";

/// Whether what a folder brings may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderTrust {
    /// It may.
    Trusted,
    /// It may not.
    Untrusted,
    /// Nobody has decided yet, which is as good as untrusted until somebody does.
    Undecided,
}

impl FolderTrust {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Undecided => "undecided",
        }
    }

    const fn of(is_trusted: bool) -> Self {
        if is_trusted { Self::Trusted } else { Self::Untrusted }
    }
}

/// Who decided about a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// It brings nothing, so there is nothing to decide.
    NothingBrought,
    /// A flag or variable of this run.
    ThisRun,
    /// `security.folderTrust.enabled` is false.
    SwitchedOff,
    /// The editor around us.
    Editor,
    /// A rule of the person.
    Rule {
        /// The folder the rule was made for.
        path: PathBuf,
        /// What it says.
        level: TrustLevel,
    },
    /// Nobody.
    Nobody,
}

impl DecidedBy {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NothingBrought => "nothing-brought",
            Self::ThisRun => "this-run",
            Self::SwitchedOff => "switched-off",
            Self::Editor => "editor",
            Self::Rule { .. } => "rule",
            Self::Nobody => "nobody",
        }
    }
}

/// The workspace folder and what was decided about it. [`judge`] is the only way to get one.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    trust: FolderTrust,
    by: DecidedBy,
    unconfirmed: BTreeSet<String>,
    changes: BTreeMap<String, EntryChange>,
    is_unrecorded: bool,
    /// Where everything stands that came with the folder.
    brought: Vec<PathBuf>,
    user_servers: bool,
}

/// Decides about the workspace folder: this run, the switch, the editor, the rules; the first that has something to say. When nobody has, a
/// folder that brings nothing is trusted, and any other is undecided.
///
/// An editor does not lift a saved denial. An entry that changed since it was recorded still needs a confirmation.
///
/// `settings` has the layers of the person and the administrator in force, and what the folder brings beside them. `this_run` is the flag that
/// decides for this run alone; the variable [`THIS_RUN_VARIABLE`] does the same.
///
/// # Errors
/// Returns an error if one of the variables is set to neither of its two words, or a file with decisions cannot be
/// read.
pub fn judge(env: &HostEnv, settings: &Settings, this_run: Option<bool>) -> Result<Folder> {
    let path = real(&env.workspace);
    let (trust, by) = decide(env, settings, &path, this_run)?;
    let is_compared = trust == FolderTrust::Trusted && matches!(by, DecidedBy::Rule { .. } | DecidedBy::Editor);
    let compared =
        if is_compared { entries::compare(env, &path, settings)? } else { Compared::Recorded(BTreeMap::new()) };
    let (changes, is_unrecorded) = match compared {
        Compared::Recorded(changes) => (changes, false),
        Compared::Unrecorded => (BTreeMap::new(), true),
    };
    Ok(Folder {
        path,
        trust,
        by,
        unconfirmed: changes.keys().cloned().collect(),
        changes,
        is_unrecorded,
        brought: places(&settings.brought),
        user_servers: settings.folder_trust().user_servers,
    })
}

fn decide(env: &HostEnv, settings: &Settings, path: &Path, this_run: Option<bool>) -> Result<(FolderTrust, DecidedBy)> {
    let said = truth(env, THIS_RUN_VARIABLE)?;
    if let Some(is_trusted) = this_run.or(said) {
        return Ok((FolderTrust::of(is_trusted), DecidedBy::ThisRun));
    }
    if !settings.folder_trust().enabled {
        return Ok((FolderTrust::Trusted, DecidedBy::SwitchedOff));
    }
    let brings_something = settings.brought.is_something();
    let by_editor = editor_decision(env)?;
    // An editor distrusts every unknown folder. That matters only for a folder with settings.
    if by_editor == Some(false) && brings_something {
        return Ok((FolderTrust::Untrusted, DecidedBy::Editor));
    }
    let rules = Rules::read(env)?;
    let rule = rules.deciding(path);
    if by_editor == Some(true) && rule.is_none_or(|rule| rule.level != TrustLevel::Not) {
        return Ok((FolderTrust::Trusted, DecidedBy::Editor));
    }
    if let Some(rule) = rule {
        let trust = FolderTrust::of(rule.level != TrustLevel::Not);
        return Ok((trust, DecidedBy::Rule { path: rule.path.clone(), level: rule.level }));
    }
    Ok(if brings_something {
        (FolderTrust::Undecided, DecidedBy::Nobody)
    } else {
        (FolderTrust::Trusted, DecidedBy::NothingBrought)
    })
}

/// The editor's decision about the folder, if it made one.
fn editor_decision(env: &HostEnv) -> Result<Option<bool>> {
    match env.vars.get(EDITOR_VARIABLE).map(String::as_str) {
        None | Some("") => Ok(None),
        Some("trusted") => Ok(Some(true)),
        Some("untrusted") => Ok(Some(false)),
        Some(_) => {
            let message = format!("the variable `{EDITOR_VARIABLE}` is neither `trusted` nor `untrusted`");
            Err(Error::new(ErrorKind::Settings, message).hinting("set it to one of them, or unset it"))
        }
    }
}

/// A variable that says yes or no. One that is empty says nothing.
fn truth(env: &HostEnv, name: &str) -> Result<Option<bool>> {
    match env.vars.get(name).map(String::as_str) {
        None | Some("") => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => {
            let message = format!("the variable `{name}` is neither `true` nor `false`");
            Err(Error::new(ErrorKind::Settings, message).hinting("set it to one of them, or unset it"))
        }
    }
}

/// Whether a folder other than the workspace is trusted by a rule, with that `.env` file in it.
#[must_use]
pub fn trusts_env_file(env: &HostEnv, folder: &Path, file: &Path) -> bool {
    let rules = Rules::read(env).unwrap_or_default();
    let is_trusted = rules.deciding(folder).is_some_and(|rule| rule.level != TrustLevel::Not);
    is_trusted && entries::is_env_file_confirmed(env, folder, file)
}

/// The files in which decisions about folders are kept, whether they are there or not.
#[must_use]
pub fn files(env: &HostEnv) -> Vec<PathBuf> {
    rules::rules_file(env).into_iter().chain([entries::entries_file(env)]).collect()
}

fn places(brought: &Brought) -> Vec<PathBuf> {
    let files = brought.layers.iter().filter_map(|layer| layer.path.clone());
    brought.folder.clone().into_iter().chain(files).collect()
}

/// The trust in a workspace folder, in the form that rules need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FolderStanding {
    /// The folder has no settings, and no decision about it was made.
    #[default]
    Unjudged,
    /// The person, an editor or a flag trusts it.
    Trusted,
    /// The folder has settings and is not trusted. No command in it runs as read-only without a question.
    Distrusted,
}

impl Folder {
    /// The folder, links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what it brings may be used.
    pub fn trust(&self) -> FolderTrust {
        self.trust
    }

    /// Who decided.
    pub fn by(&self) -> &DecidedBy {
        &self.by
    }

    /// Whether what it brings is used.
    pub fn is_trusted(&self) -> bool {
        self.trust == FolderTrust::Trusted
    }

    /// Whether somebody said that it is trusted. One that brings nothing for toolgate may still bring something for other programs.
    pub fn is_vouched_for(&self) -> bool {
        self.is_trusted() && self.by != DecidedBy::NothingBrought
    }

    /// The trust in the form that rules need.
    pub fn standing(&self) -> FolderStanding {
        match (self.is_trusted(), self.is_vouched_for()) {
            (true, true) => FolderStanding::Trusted,
            (true, false) => FolderStanding::Unjudged,
            (false, _) => FolderStanding::Distrusted,
        }
    }

    /// Servers of its settings that are new or not what they were when it was trusted; they wait for a confirmation of their own.
    pub fn unconfirmed(&self) -> &BTreeSet<String> {
        &self.unconfirmed
    }

    /// What became of one of its servers since it was trusted; `None` when it is as it was, or nobody knows.
    pub fn change_of(&self, server: &str) -> Option<EntryChange> {
        self.changes.get(server).copied()
    }

    /// Records what it brings when that is used for the first time, so that a change is noticed afterwards. Does nothing when it is recorded.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn record_first_use(&self, env: &HostEnv, settings: &Settings) -> Result<()> {
        if self.is_unrecorded { entries::record_first_use(env, &self.path, settings) } else { Ok(()) }
    }

    /// Whether the person's own servers may be started in it.
    pub fn lets_own_servers_start(&self) -> bool {
        self.is_trusted() || self.user_servers
    }

    /// Whether a server came with the folder, or something of it did.
    pub fn brings(&self, server: &ServerConfig) -> bool {
        let is_within = |path: &PathBuf| self.brought.iter().any(|place| path.starts_with(place));
        server.origin.source == SettingsSource::Workspace
            || server.origin.path.as_ref().is_some_and(is_within)
            || server.extension.as_ref().is_some_and(|extension| extension.is_of_workspace)
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
