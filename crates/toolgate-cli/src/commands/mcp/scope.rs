//! Which settings file a command changes: that of the project, the person's own, or the one named with `--config`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use toolgate::HostEnv;
use toolgate::settings::SettingsSource;
use toolgate::settings::brought::WORKSPACE_FOLDER;
use toolgate::settings::edit_file::EditFileError;
use toolgate::settings::load::SETTINGS_FILE;

use crate::configured::of_broken;
use crate::error::{CommandError, Result};
use crate::session::Session;

/// Whose settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Yours, for every folder
    User,
    /// Those of this folder
    Project,
}

/// A settings file to change.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The scope in a word for programs.
    pub(crate) scope: &'static str,
    /// What the file is called in a sentence.
    pub(crate) words: &'static str,
    /// Where it stands among the sources.
    pub(crate) source: SettingsSource,
    /// The file.
    pub(crate) path: PathBuf,
}

impl Target {
    /// The files to look into, in this order: the one that was asked for, else those of the project and the person.
    pub(crate) fn candidates(session: &Session, scope: Option<Scope>) -> Result<Vec<Self>> {
        match (Self::named(session, scope)?, scope) {
            (Some(named), _) => Ok(vec![named]),
            (None, Some(scope)) => Ok(vec![Self::of(session.env(), scope)?]),
            (None, None) if is_home(session.env()) => Ok(vec![Self::user(session.env())]),
            (None, None) => Ok(vec![Self::of(session.env(), Scope::Project)?, Self::user(session.env())]),
        }
    }

    /// The one file to change: that of the project unless another was asked for.
    pub(crate) fn one(session: &Session, scope: Option<Scope>) -> Result<Self> {
        match Self::named(session, scope)? {
            Some(named) => Ok(named),
            None => Self::of(session.env(), scope.unwrap_or(Scope::Project)),
        }
    }

    /// The file named with `--config`.
    fn named(session: &Session, scope: Option<Scope>) -> Result<Option<Self>> {
        let Some(config) = &session.options().config else { return Ok(None) };
        if scope.is_some() {
            return Err(CommandError::usage("`--scope` and `--config` name two files").hint("leave one of them out"));
        }
        let path = session.env().workspace.join(config);
        Ok(Some(Self { scope: "config", words: "the settings", source: SettingsSource::CommandLine, path }))
    }

    fn of(env: &HostEnv, scope: Scope) -> Result<Self> {
        match scope {
            Scope::User => Ok(Self::user(env)),
            Scope::Project if is_home(env) => {
                let message = "this folder is your home, whose settings are your own and not those of a project";
                Err(CommandError::usage(message).hint("`-s user` changes your own settings"))
            }
            Scope::Project => {
                let target = Self::project(env);
                if leads_out(&target.path, env) {
                    let message = format!("{} leads out of this folder", target.path.display());
                    let hint = "it is a link that came with the folder; remove it, or use `-s user`";
                    return Err(CommandError::usage(message).hint(hint));
                }
                Ok(target)
            }
        }
    }

    fn user(env: &HostEnv) -> Self {
        let path = env.dirs.user.join(SETTINGS_FILE);
        Self { scope: "user", words: "your settings", source: SettingsSource::User, path }
    }

    fn project(env: &HostEnv) -> Self {
        let path = env.workspace.join(WORKSPACE_FOLDER).join(SETTINGS_FILE);
        Self { scope: "project", words: "the project settings", source: SettingsSource::Workspace, path }
    }
}

/// Whether a file of the folder is really somewhere else. A link to nothing leads wherever it says.
fn leads_out(path: &Path, env: &HostEnv) -> bool {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let is_dangling = path.is_symlink() && path.canonicalize().is_err_and(|error| is_missing(&error));
    is_dangling || !real(path).starts_with(real(&env.workspace))
}

/// Whether the settings of the workspace folder are the person's own: it is their home, or leads to the same file.
fn is_home(env: &HostEnv) -> bool {
    let folder = env.workspace.join(WORKSPACE_FOLDER);
    let is_same = |one: &Path, other: &Path| real(one) == real(other);
    env.dirs.home.as_deref().is_some_and(|home| is_same(&env.workspace, home))
        || is_same(&folder, &env.dirs.user)
        || is_same(&folder.join(SETTINGS_FILE), &env.dirs.user.join(SETTINGS_FILE))
}

/// A path with its links resolved, as far as it is there.
fn real(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        (Err(_), ..) => path.to_owned(),
    }
}

impl From<EditFileError> for CommandError {
    fn from(error: EditFileError) -> Self {
        match error {
            EditFileError::Text(error) => of_broken(&error),
            EditFileError::File(error) => Self::from(&error),
        }
    }
}
