//! `IgnoreRules`: what the `.gitignore` files from the workspace folder down to one folder leave out.
//!
//! They are read through the handles of their folders. Rules from elsewhere (above the workspace, of the person, of the machine) are not
//! looked for: they are not in the workspace.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Component, Path};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::confine::open_entry;
use crate::limits::GITIGNORE_BYTES_MAX;

/// The name of the folder that belongs to git itself; it is left out everywhere.
const GIT_FOLDER: &str = ".git";

const RULES_FILE: &str = ".gitignore";

/// Rules that hold in one folder: its own and those of the folders above, as a stack.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// How many folders below the workspace its folder is.
    depth: usize,
    rules: Gitignore,
}

impl IgnoreRules {
    /// The rules that hold in the folder at `place`, the workspace being `root`.
    pub(crate) fn at(root: &Dir, place: &Path) -> Self {
        let mut all = Self::default();
        all.enter(root, 0);
        let mut folder = None;
        for (depth, part) in place.components().enumerate() {
            let Component::Normal(name) = part else { continue };
            let Ok(next) = folder.as_ref().unwrap_or(root).open_dir(name) else { break };
            all.enter(&next, depth + 1);
            folder = Some(next);
        }
        all
    }

    /// Adds the rules of a folder that is `depth` folders below the workspace; says whether it has any.
    pub(crate) fn enter(&mut self, folder: &Dir, depth: usize) -> bool {
        let Some(rules) = read_rules(folder) else { return false };
        self.levels.push(Level { depth, rules });
        true
    }

    /// Takes away what the last `enter` has added.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Whether `path`, relative to the workspace, is left out. Rules of a deeper folder come first, the last that fits decides.
    pub(crate) fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        if path.file_name() == Some(OsStr::new(GIT_FOLDER)) {
            return true;
        }
        for level in self.levels.iter().rev() {
            let mut parts = path.components();
            if level.depth > 0 {
                parts.nth(level.depth - 1);
            }
            match level.rules.matched(parts.as_path(), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn read_rules(folder: &Dir) -> Option<Gitignore> {
    let (file, _) = open_entry(folder, OsStr::new(RULES_FILE))?;
    let mut bytes = Vec::new();
    file.take(GITIGNORE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // The root is `.` because paths are made relative to the folder before they are matched.
    let mut builder = GitignoreBuilder::new(".");
    for line in String::from_utf8_lossy(&bytes).lines() {
        let _a_line_git_would_skip_too = builder.add_line(None, line).is_err();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
