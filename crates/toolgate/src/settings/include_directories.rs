//! `context.includeDirectories` and `--include-directories`: the folders beside the workspace, from their texts. The file system is handed in.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::env::HostEnv;
use crate::limits::{INCLUDED_FOLDERS_MAX, INCLUDED_PATH_BYTES_MAX};
use crate::settings::diagnostic::{Diagnostic, Severity, visible};
use crate::settings::expand::{Unset, expand};
use crate::settings::kept::ListedEntry;
use crate::settings::load::Settings;
use crate::settings::parts::Part;
use crate::settings::source::{SettingsOrigin, SettingsSource};

/// The key in settings.
pub const INCLUDE_DIRECTORIES: &str = "context.includeDirectories";

/// The option of the command line.
const OPTION: &str = "--include-directories";

const KEEPS: &str = "name a folder that exists; a relative path starts at the workspace folder";

/// A folder beside the workspace, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludedFolder {
    /// The folder, absolute and without links.
    pub path: PathBuf,
    /// The place that names it first.
    pub origin: SettingsOrigin,
}

/// The folders in effect, and what is wrong with the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Included {
    pub(crate) folders: Vec<IncludedFolder>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Included {
    /// The folders alone.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.path.clone()).collect()
    }
}

/// The surroundings of the texts.
pub(crate) struct Ground<'a> {
    /// Relative paths start here.
    pub(crate) workspace: &'a Path,
    /// The folder that `~` means.
    pub(crate) home: Option<&'a Path>,
    /// The variables, without those of a project's `.env`: a folder must not decide what is included.
    pub(crate) variables: &'a BTreeMap<String, String>,
    /// The folder of toolgate itself, which is not included.
    pub(crate) own: Option<PathBuf>,
    /// The path of a folder without links.
    pub(crate) look: &'a dyn Fn(&Path) -> io::Result<PathBuf>,
}

/// A folder of this machine, with its links followed.
pub(crate) fn real_folder(path: &Path) -> io::Result<PathBuf> {
    let real = std::fs::canonicalize(path)?;
    // One that cannot be listed is of no use to anything.
    std::fs::read_dir(&real)?;
    Ok(real)
}

/// The folders that the command line alone names, and what is wrong with the others.
#[must_use]
pub fn included_in_run(env: &HostEnv, of_run: &[String]) -> (Vec<IncludedFolder>, Vec<Diagnostic>) {
    let ground = Ground {
        workspace: &env.workspace,
        home: env.dirs.home.as_deref(),
        variables: &env.vars,
        own: env.own_folder_to_close(),
        look: &real_folder,
    };
    let Included { folders, diagnostics } = Settings::default().included(of_run, &ground);
    (folders, diagnostics)
}

impl Settings {
    /// The folders of these settings, lowest layer first, and then those of the command line.
    pub(crate) fn included(&self, of_run: &[String], ground: &Ground<'_>) -> Included {
        let mut resolving =
            Resolving { ground, main: (ground.look)(ground.workspace).ok(), included: Included::default() };
        let mut layers: Vec<_> = self.layers.iter().collect();
        layers.sort_by_key(|layer| layer.source);
        for layer in layers {
            let Some(entries) = layer.entries(INCLUDE_DIRECTORIES) else { continue };
            if layer.is_of_workspace() || layer.source == SettingsSource::Extension {
                let at = layer.kept(INCLUDE_DIRECTORIES).map_or(1, |value| value.at.line);
                resolving.has_no_say(&layer.origin(at), layer.source);
            } else {
                entries.iter().for_each(|entry| resolving.entry(entry, INCLUDE_DIRECTORIES));
            }
        }
        let origin = SettingsOrigin { source: SettingsSource::CommandLine, path: None, line: None };
        for text in of_run {
            let entry = ListedEntry { text: text.clone(), origin: origin.clone(), is_of_workspace: false };
            resolving.entry(&entry, OPTION);
        }
        resolving.included
    }
}

struct Resolving<'a> {
    ground: &'a Ground<'a>,
    /// The workspace without links.
    main: Option<PathBuf>,
    included: Included,
}

impl Resolving<'_> {
    fn entry(&mut self, entry: &ListedEntry, key: &str) {
        let refusal = match self.folder(&entry.text) {
            Ok(path) if self.is_there(&path) => return,
            Ok(_) if self.included.folders.len() >= INCLUDED_FOLDERS_MAX => (
                format!("more than {INCLUDED_FOLDERS_MAX} folders (limit INCLUDED_FOLDERS_MAX); this one is left out"),
                "include a folder above them, or leave some out".to_owned(),
            ),
            Ok(path) => {
                self.included.folders.push(IncludedFolder { path, origin: entry.origin.clone() });
                return;
            }
            Err((why, hint)) => (format!("`{}` is left out: {why}", shown(&entry.text)), hint.to_owned()),
        };
        self.warn(&entry.origin, key, refusal.0, refusal.1);
    }

    /// Whether a folder is the workspace or below it, or below another one.
    fn is_there(&self, path: &Path) -> bool {
        let mut others = self.included.folders.iter().map(|folder| folder.path.as_path());
        self.main.as_deref().is_some_and(|main| path.starts_with(main)) || others.any(|other| path.starts_with(other))
    }

    /// The folder that a text names, or why there is none, with a hint.
    fn folder(&self, text: &str) -> Result<PathBuf, (String, &'static str)> {
        let expanded = expand(text.trim(), self.ground.variables, Unset::Empty, INCLUDED_PATH_BYTES_MAX);
        let expanded = expanded.map_err(|_| ("it is no path".to_owned(), KEEPS))?;
        if let Some(variable) = expanded.unset.first() {
            let name = variable.shown().map_or_else(|| "a variable".to_owned(), |name| format!("`{name}`"));
            return Err((format!("{name} is not set"), "set the variable, or write the path"));
        }
        let path = match &*expanded.parts {
            [] => "",
            [Part::Plain(path)] => path,
            _ => {
                let hint = "write the path, or `$NAME` for a variable";
                return Err(("a path takes no reference to a secret".to_owned(), hint));
            }
        };
        if path.is_empty() {
            return Err(("it is empty".to_owned(), KEEPS));
        }
        let below = if path == "~" { Some("") } else { path.strip_prefix("~/") };
        let path = match (below, self.ground.home) {
            (None, _) => self.ground.workspace.join(path),
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => {
                return Err(("no home folder is known, so `~` has no meaning".to_owned(), "write the whole path"));
            }
        };
        let real = (self.ground.look)(&path).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                io::ErrorKind::NotADirectory => "it is no folder".to_owned(),
                _ => format!("it cannot be looked at: {error}"),
            };
            (why, KEEPS)
        })?;
        if self.ground.own.as_ref().is_some_and(|own| real.starts_with(own)) {
            return Err(("it is toolgate's own, which tools do not open".to_owned(), "name another folder"));
        }
        Ok(real)
    }

    fn has_no_say(&mut self, origin: &SettingsOrigin, source: SettingsSource) {
        let who = if source == SettingsSource::Extension { "an extension" } else { "a workspace folder" };
        let message = format!("{who} has no say in this, so it does not count here");
        let hint = "write the folders into your own settings, or use `--include-directories`".to_owned();
        self.warn(origin, INCLUDE_DIRECTORIES, message, hint);
    }

    fn warn(&mut self, origin: &SettingsOrigin, key: &str, message: String, hint: String) {
        self.included.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            origin: origin.clone(),
            column: None,
            server: None,
            key: Some(key.to_owned()),
            message,
            hint: Some(hint),
        });
    }
}

/// A path as it is written, on one line and not endless.
fn shown(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    let mut start: String = text.chars().take(SHOWN_CHARS).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    visible(&start)
}

#[cfg(test)]
#[path = "include_directories_tests.rs"]
mod tests;
