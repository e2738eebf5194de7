//! Paths that the read-only commands of a call would read. Links are followed, as `read_file` follows them. This check
//! is separate from the policy because it asks the file system.
//!
//! It can only withdraw permission. The result holds only at the moment of the check.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::allowed_path::{lexical, resolve};
use crate::filter::Arguments;
use crate::limits::{LOOKED_AT_FILES_MAX, LOOKED_FROM_FOLDERS_MAX};
use crate::shell::{Risk, Script, SimpleCommand};
use crate::workspace_folders::{Roots, WorkspaceFolders};

/// The argument with the folder that a command starts in.
const FOLDER_KEY: &str = "cwd";

/// The environment variable that `cd` searches.
const CD_PATH: &str = "CDPATH";

/// Whether a command of the call that would be let through because it only looks may look outside of the folders.
pub(super) fn leads_out(arguments: &Arguments<'_>, folders: &WorkspaceFolders) -> bool {
    match arguments.script() {
        Some(Ok(script)) => script_leads_out(script, arguments.value().get(FOLDER_KEY), folders),
        // Unreadable commands are never allowed as read-only.
        Some(Err(_)) | None => false,
    }
}

fn script_leads_out(script: &Script, start: Option<&Value>, folders: &WorkspaceFolders) -> bool {
    if !script.commands.iter().any(is_look) {
        return false;
    }
    let Ok(roots) = folders.roots() else { return true };
    let folders = vec![roots.main().to_owned()];
    let mut view = View { roots: &roots, folders, files_left: LOOKED_AT_FILES_MAX };
    match start {
        None | Some(Value::Null) => {}
        Some(Value::String(folder)) => match view.places(folder) {
            Some(places) => view.folders = places,
            None => return true,
        },
        Some(_) => return true,
    }
    script.commands.iter().any(|command| view.is_left_by(command))
}

fn is_look(command: &SimpleCommand) -> bool {
    command.risk() == Risk::KnownSafe
}

/// Folders in which the commands of a script may run, updated command by command.
struct View<'a> {
    roots: &'a Roots,
    /// The folders in which the next command may run.
    folders: Vec<PathBuf>,
    files_left: usize,
}

impl View<'_> {
    fn is_left_by(&mut self, command: &SimpleCommand) -> bool {
        let names_cd_path = |text: &String| text.contains(CD_PATH);
        if command.assignments.iter().any(names_cd_path) || names_cd_path(&command.text) {
            return true;
        }
        if !is_look(command) {
            // Later commands would start in an unknown folder.
            return command.leads_elsewhere();
        }
        // The policy allows no command with unknown files.
        let Some(files) = command.files() else { return false };
        let Some(left) = self.files_left.checked_sub(files.len()) else { return true };
        self.files_left = left;
        let mut folders = Vec::new();
        for file in files {
            match self.places(file) {
                Some(places) => folders.extend(places),
                None => return true,
            }
        }
        if command.program() == Some("cd") {
            // `cd` may fail, and then later commands run in the old folder.
            self.folders.extend(folders);
            self.folders.sort_unstable();
            self.folders.dedup();
        }
        self.folders.len() > LOOKED_FROM_FOLDERS_MAX
    }

    /// The targets of a path from each of the folders. `None` when one of them may be outside of all of the folders.
    fn places(&self, file: &str) -> Option<Vec<PathBuf>> {
        if file == "/dev/null" {
            return Some(Vec::new());
        }
        let plain = lexical(file);
        // Some programs resolve links before `..`, others after.
        let readings = [Path::new(file), &plain];
        let places = self.folders.iter().flat_map(|folder| readings.map(|reading| resolve(reading, folder)));
        places.map(|place| place.filter(|place| self.roots.below(place).is_some())).collect()
    }
}

#[cfg(test)]
#[path = "look_guard_tests.rs"]
mod tests;
