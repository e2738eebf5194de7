//! What the workspace folder brings of its own. It is read for display, whatever anybody thinks of the folder, and counts only when the
//! folder is trusted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::HostEnv;
use crate::limits::POLICY_FILES_MAX;
use crate::settings::dotenv::DOTENV_FILE;
use crate::settings::extensions::{self, EXTENSIONS_FOLDER, ExtensionState, Scope};
use crate::settings::load::{SETTINGS_FILE, Settings};
use crate::settings::read::read_file;
use crate::settings::server_command::make_entry;
use crate::settings::source::{SettingsLayer, SettingsSource};

/// The folder in a workspace that holds settings of its own.
pub const WORKSPACE_FOLDER: &str = ".toolgate";

/// The folder that holds policies, in a settings folder.
pub const POLICIES_FOLDER: &str = "policies";

/// What a workspace folder brings. Nothing in it has been expanded, resolved or looked up.
#[derive(Clone, Debug, Default)]
pub struct Brought {
    /// `.toolgate`, when there is one that is not the person's own.
    pub folder: Option<PathBuf>,
    /// Its settings and those of its extensions, as they are written.
    pub layers: Vec<SettingsLayer>,
    /// Its extensions.
    pub extensions: Vec<ExtensionState>,
    /// The `.env` file of the project, in the folder itself or in its `.toolgate`.
    pub env_file: Option<PathBuf>,
    /// Its policy files.
    pub policies: Vec<PathBuf>,
}

impl Brought {
    /// Whether there is anything that somebody has to decide about.
    #[must_use]
    pub fn is_something(&self) -> bool {
        self.folder.is_some() || self.env_file.is_some()
    }
}

/// Where the settings of a workspace stand: `None` when the folder is the person's own home, which has no settings but theirs.
#[must_use]
pub fn workspace_folder(env: &HostEnv) -> Option<PathBuf> {
    let folder = env.workspace.join(WORKSPACE_FOLDER);
    let is_home = env.dirs.home.as_deref().is_some_and(|home| is_same(home, &env.workspace));
    (!is_home && !is_same(&folder, &env.dirs.user)).then_some(folder)
}

/// Whether the settings of the folder are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnSettings {
    /// They are.
    Read,
    /// A file is named for the run, and used alone.
    NotAsked,
}

/// Looks at what the workspace folder brings. A settings file that cannot be read is noted in `settings`, as any other.
pub(crate) fn look(env: &HostEnv, settings: &mut Settings, own: OwnSettings) -> Brought {
    let mut brought = Brought::default();
    let folder = workspace_folder(env);
    let of_project = folder.is_some() && !settings.ignores_local_env();
    let in_workspace = of_project.then(|| env.workspace.join(DOTENV_FILE));
    let env_files = folder.iter().map(|folder| folder.join(DOTENV_FILE)).chain(in_workspace);
    // A folder of that name holds no variables; it is where some keep their Python.
    brought.env_file = env_files.into_iter().find(|file| is_there(file) && !file.is_dir());
    let Some(folder) = folder.filter(|folder| is_there(folder)) else { return brought };
    if own == OwnSettings::Read {
        match read_file(&folder.join(SETTINGS_FILE), SettingsSource::Workspace) {
            Ok(layer) => brought.layers.extend(layer.map(|mut layer| {
                make_entry(&mut layer);
                layer
            })),
            Err(error) => settings.broken.push(error),
        }
        let found = extensions::read(&folder.join(EXTENSIONS_FOLDER), Scope::Workspace, env);
        brought.layers.extend(found.layers);
        brought.extensions = found.extensions;
        settings.diagnostics.extend(found.diagnostics);
    }
    brought.policies = policy_files(&folder.join(POLICIES_FOLDER));
    brought.folder = Some(folder);
    brought
}

/// The policy files in a folder, in the order of their names.
#[must_use]
pub fn policy_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).take(POLICY_FILES_MAX);
    let is_policy = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_policy).collect();
    files.sort();
    files
}

/// Also a link that leads nowhere is something that somebody put there.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
