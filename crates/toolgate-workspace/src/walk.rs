//! Walking through the workspace: every folder is opened by its name in the handle of the folder above, links are reported and never
//! followed, and what is ignored is left out and counted.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, FileType};

use crate::error::Failure;
use crate::ignored::IgnoreRules;
use crate::jobs::Cancel;
use crate::limits::{WALK_DEPTH_MAX, WALK_ENTRIES_MAX};

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// One entry that is not ignored.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// The open folder it is in.
    pub(crate) folder: &'a Dir,
    /// Its name there.
    pub(crate) name: &'a OsStr,
    /// Where it is, relative to the workspace.
    pub(crate) path: &'a Path,
    /// How many folders below the start of the walk it is.
    pub(crate) depth: usize,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What to do after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on, into it if it is a folder.
    On,
    /// Go on, but not into it.
    Past,
    /// End the walk.
    Stop,
}

/// What a walk did not show.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Missed {
    /// Entries left out by `.gitignore`; what is in an ignored folder is not counted.
    pub(crate) ignored: usize,
    /// Folders that could not be opened or are too deep.
    pub(crate) unopened: usize,
    /// Whether the walk ended because it had looked at as many entries as it may.
    pub(crate) too_many: bool,
}

/// A walk from one folder down.
pub(crate) struct Walk<'a> {
    /// Everything below this folder is shown.
    pub(crate) start: &'a Dir,
    /// Where that is in the workspace.
    pub(crate) place: &'a Path,
    /// What holds there.
    pub(crate) rules: IgnoreRules,
    /// Folders that are shown and not entered, relative to the workspace.
    pub(crate) closed: &'a [PathBuf],
    /// Whether to give up.
    pub(crate) cancel: &'a Cancel,
}

impl Walk<'_> {
    /// Shows every entry to `visit`: by name, a folder before what is in it.
    pub(crate) fn run(self, visit: impl FnMut(&Found<'_>) -> Next) -> Result<Missed, Failure> {
        let base = self.place.components().count();
        let mut walker = Walker {
            visit,
            rules: self.rules,
            closed: self.closed,
            cancel: self.cancel,
            path: self.place.to_owned(),
            base,
            depth: 0,
            seen: 0,
            missed: Missed::default(),
        };
        let _stopped_early = walker.folder(self.start).is_break();
        self.cancel.check()?;
        Ok(walker.missed)
    }
}

/// A walk under way.
struct Walker<'a, V> {
    visit: V,
    rules: IgnoreRules,
    closed: &'a [PathBuf],
    cancel: &'a Cancel,
    /// The entry that is looked at, relative to the workspace.
    path: PathBuf,
    /// How many folders below the workspace the start is.
    base: usize,
    /// How many folders below the start we are.
    depth: usize,
    seen: usize,
    missed: Missed,
}

impl<V: FnMut(&Found<'_>) -> Next> Walker<'_, V> {
    /// One folder and what is below it.
    fn folder(&mut self, folder: &Dir) -> ControlFlow<()> {
        let Some(entries) = self.entries(folder) else {
            self.missed.unopened += 1;
            return ControlFlow::Continue(());
        };
        for (name, kind) in entries {
            if self.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.path.push(&name);
            let outcome = self.entry(folder, &name, kind);
            self.path.pop();
            outcome?;
        }
        if self.missed.too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn entry(&mut self, folder: &Dir, name: &OsStr, kind: Kind) -> ControlFlow<()> {
        if self.rules.leave_out(&self.path, kind == Kind::Folder) {
            self.missed.ignored += 1;
            return ControlFlow::Continue(());
        }
        match (self.visit)(&Found { folder, name, path: &self.path, depth: self.depth, kind }) {
            Next::Stop => return ControlFlow::Break(()),
            Next::On if kind == Kind::Folder => {}
            Next::On | Next::Past => return ControlFlow::Continue(()),
        }
        let may_enter = self.depth < WALK_DEPTH_MAX && !self.closed.contains(&self.path);
        let below = if may_enter { folder.open_dir(name).ok() } else { None };
        let Some(below) = below else {
            self.missed.unopened += 1;
            return ControlFlow::Continue(());
        };
        self.depth += 1;
        let has_rules = self.rules.enter(&below, self.base + self.depth);
        let outcome = self.folder(&below);
        if has_rules {
            self.rules.leave();
        }
        self.depth -= 1;
        outcome
    }

    /// The entries of one folder in the order of their names.
    fn entries(&mut self, folder: &Dir) -> Option<Vec<(OsString, Kind)>> {
        let mut entries = Vec::new();
        for entry in folder.entries().ok()?.map_while(Result::ok) {
            if self.seen == WALK_ENTRIES_MAX {
                self.missed.too_many = true;
                break;
            }
            self.seen += 1;
            let kind = match entry.file_type().map(|kind| kind_of(&kind)) {
                // Some file systems say what an entry is only when asked for all about it.
                Ok(Kind::Special) | Err(_) => {
                    entry.metadata().map_or(Kind::Special, |about| kind_of(&about.file_type()))
                }
                Ok(kind) => kind,
            };
            entries.push((entry.file_name(), kind));
        }
        entries.sort_unstable();
        Some(entries)
    }
}

fn kind_of(kind: &FileType) -> Kind {
    if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}
