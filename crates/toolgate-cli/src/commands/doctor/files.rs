//! The files that settings can stand in, and what became of each.

use std::path::PathBuf;

use toolgate::settings::brought::{POLICIES_FOLDER, WORKSPACE_FOLDER, policy_files};
use toolgate::settings::load::{SETTINGS_FILE, SYSTEM_DEFAULTS_FILE};
use toolgate::settings::{Settings, SettingsSource};

use crate::configured::Configured;

/// A place where settings can stand.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) source: SettingsSource,
    pub(crate) path: PathBuf,
    pub(crate) state: State,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is in force.
    Used,
    /// There is nothing.
    Absent,
    /// It is there, and cannot be read.
    Broken,
    /// It is there, and the folder is not trusted.
    Untrusted,
    /// A file named for this run is used alone.
    NotAsked,
}

impl State {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Absent => "absent",
            Self::Broken => "broken",
            Self::Untrusted => "untrusted",
            Self::NotAsked => "not_asked",
        }
    }
}

/// All places, lowest precedence first.
pub(crate) fn places(configured: &Configured) -> Vec<Place> {
    let setup = configured.setup();
    let dirs = &setup.env.dirs;
    let named = setup.settings.layers.iter().find(|layer| layer.source == SettingsSource::CommandLine);
    let usual = [
        (SettingsSource::SystemDefaults, dirs.system.join(SYSTEM_DEFAULTS_FILE)),
        (SettingsSource::User, dirs.user.join(SETTINGS_FILE)),
        (SettingsSource::Workspace, setup.env.workspace.join(WORKSPACE_FOLDER).join(SETTINGS_FILE)),
        (SettingsSource::SystemOverrides, dirs.system.join(SETTINGS_FILE)),
    ];
    let mut places: Vec<Place> = usual
        .into_iter()
        .map(|(source, path)| {
            let state = state(&setup.settings, source, named.is_some());
            Place { source, path, state }
        })
        .collect();
    if let Some(path) = named.and_then(|layer| layer.path.clone()) {
        places.push(Place { source: SettingsSource::CommandLine, path, state: State::Used });
    }
    places
}

fn state(settings: &Settings, source: SettingsSource, is_one_named: bool) -> State {
    if settings.broken.iter().any(|error| error.diagnostic().origin.source == source) {
        State::Broken
    } else if settings.layers.iter().any(|layer| layer.source == source) {
        State::Used
    } else if settings.brought.layers.iter().any(|layer| layer.source == source) {
        State::Untrusted
    } else if is_one_named {
        State::NotAsked
    } else {
        State::Absent
    }
}

/// The policy files there are: the person's, the folder's, the administrator's.
pub(crate) fn policies(configured: &Configured) -> Vec<PathBuf> {
    let setup = configured.setup();
    let dirs = [&setup.env.dirs.system, &setup.env.dirs.user];
    let own = dirs.into_iter().flat_map(|folder| policy_files(&folder.join(POLICIES_FOLDER)));
    own.chain(setup.settings.brought.policies.iter().cloned()).collect()
}
