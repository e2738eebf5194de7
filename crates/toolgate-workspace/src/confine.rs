//! `Folder`: the only door to the file system. Everything is opened relative to one directory handle, and nothing above it can be reached.
//!
//! A path is opened beneath the handle in one step, which the system refuses when it leads out, whoever moves links about meanwhile. Where
//! links must be followed by hand (absolute links that point inside, a file to be written) the outcome is again a path that is opened
//! beneath the handle: following may be wrong by the time, but never outside.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use crate::error::{Error, Failure, Result};
use crate::limits::LINK_HOPS_MAX;
use crate::path_text;

/// The workspace folder.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    /// The folder as it was named, and without links: absolute paths that begin with either are inside.
    given: PathBuf,
    root: PathBuf,
}

/// A path as it was written, and what it means relative to the workspace. Not a promise that it stays inside: only opening it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspacePath {
    text: String,
    relative: PathBuf,
}

/// Where a file is to be written: an open folder inside the workspace, and a name in it that is no link.
#[derive(Debug)]
pub(crate) struct Spot {
    pub(crate) folder: Dir,
    pub(crate) name: OsString,
}

impl WorkspacePath {
    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Relative to the workspace, links not followed.
    pub(crate) fn relative(&self) -> &Path {
        self.relative.strip_prefix(".").unwrap_or(&self.relative)
    }

    /// Whether it is written as a folder.
    fn names_folder(&self) -> bool {
        self.text.ends_with('/') || self.text.ends_with("/.") || self.text.ends_with("/..")
    }
}

impl Folder {
    /// Opens the folder; the only time that a path of the whole machine is resolved.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let failed = |source| Error::Open { path: root.to_owned(), source };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed)?;
        let real = std::fs::canonicalize(root).map_err(failed)?;
        Ok(Self { dir, given: root.to_owned(), root: real })
    }

    /// Its absolute path, for people.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Its handle, which everything is opened from.
    pub(crate) fn handle(&self) -> &Dir {
        &self.dir
    }

    fn root_text(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    /// Reads the argument `what` as a path.
    pub(crate) fn path(&self, what: &str, text: &str) -> Result<WorkspacePath, Failure> {
        path_text::check(what, text)?;
        let path = Path::new(text);
        let relative = if path.is_absolute() { self.relative(path) } else { Some(path) };
        let relative = relative.ok_or_else(|| Failure::outside(text, &self.root_text()))?;
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        Ok(WorkspacePath { text: text.to_owned(), relative: relative.to_owned() })
    }

    /// An absolute path relative to the workspace, if it begins with it.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let given = Some(&self.given).filter(|given| given.is_absolute());
        path.strip_prefix(&self.root).ok().or_else(|| path.strip_prefix(given?).ok())
    }

    /// Opens a regular file for reading, and nothing that could block.
    pub(crate) fn open_file(&self, path: &WorkspacePath) -> Result<(File, Metadata), Failure> {
        let failed = |error: io::Error| self.failed("read", path, &error);
        let file = match self.dir.open_with(&path.relative, &quiet_read()) {
            Err(error) if is_escape(&error) => {
                let followed = self.follow(&path.relative).ok_or_else(|| self.outside(path))?;
                self.dir.open_with(followed, &quiet_read())
            }
            opened => opened,
        }
        .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(self.failed("read", path, &io::ErrorKind::IsADirectory.into()));
        }
        if path.names_folder() {
            return Err(self.failed("read", path, &io::ErrorKind::NotADirectory.into()));
        }
        if !metadata.is_file() {
            return Err(Failure::special(path.text()));
        }
        Ok((file, metadata))
    }

    /// Opens a folder, and says where in the workspace it is once links are followed.
    pub(crate) fn open_folder(&self, act: &str, path: &WorkspacePath) -> Result<(Dir, PathBuf), Failure> {
        let place = self.follow(&path.relative).ok_or_else(|| self.outside(path))?;
        let dir = self.dir.open_dir(or_here(&place)).map_err(|error| self.failed(act, path, &error))?;
        Ok((dir, place))
    }

    /// The spot where `path` is to be written, links followed. Folders that do not exist are made when `missing` says so.
    pub(crate) fn spot(&self, path: &WorkspacePath, missing: Missing) -> Result<Spot, Failure> {
        let failed = |error: io::Error| self.failed("write", path, &error);
        let place = self.follow(&path.relative).ok_or_else(|| self.outside(path))?;
        let Some(name) = place.file_name().filter(|_| !path.names_folder()) else {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        };
        let parent = place.parent().map_or(Path::new("."), or_here);
        let folder = match self.dir.open_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Make => {
                self.dir.create_dir_all(parent).map_err(failed)?;
                self.dir.open_dir(parent)
            }
            opened => opened,
        }
        .map_err(failed)?;
        match folder.symlink_metadata(name) {
            Ok(metadata) if metadata.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
            // A link that was not there a moment ago: somebody is playing with us.
            Ok(metadata) if metadata.is_symlink() => Err(self.outside(path)),
            Ok(metadata) if !metadata.is_file() => Err(Failure::special(path.text())),
            Ok(_) => Ok(Spot { name: name.to_owned(), folder }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Spot { name: name.to_owned(), folder }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Follows every link on the way, by hand, also the last one and into nothing. `None` when that leads outside or has no end.
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let mut ahead: VecDeque<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
        let mut place = PathBuf::new();
        let mut hops = 0;
        while let Some(part) = ahead.pop_front() {
            match Path::new(&part).components().next() {
                None | Some(Component::CurDir) => {}
                Some(Component::ParentDir) => {
                    if !place.pop() {
                        return None;
                    }
                }
                Some(Component::Normal(name)) => {
                    let next = place.join(name);
                    let Ok(target) = self.dir.read_link_contents(&next) else {
                        place = next;
                        continue;
                    };
                    hops += 1;
                    if hops > LINK_HOPS_MAX {
                        return None;
                    }
                    let target = match target.is_absolute() {
                        true => {
                            place.clear();
                            self.relative(&target)?
                        }
                        false => &target,
                    };
                    for part in target.components().rev() {
                        ahead.push_front(part.as_os_str().to_owned());
                    }
                }
                Some(Component::RootDir | Component::Prefix(_)) => return None,
            }
        }
        Some(place)
    }

    fn outside(&self, path: &WorkspacePath) -> Failure {
        Failure::outside(path.text(), &self.root_text())
    }

    fn failed(&self, act: &str, path: &WorkspacePath, error: &io::Error) -> Failure {
        if is_escape(error) { self.outside(path) } else { Failure::system(act, path.text(), error) }
    }
}

/// What happens to folders that a path needs and that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

/// Opens a regular file of a folder by its name, and nothing that could block. `None` when it is something else or cannot be opened.
pub(crate) fn open_entry(folder: &Dir, name: &OsStr) -> Option<(File, Metadata)> {
    let file = folder.open_with(name, &quiet_read()).ok()?;
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some((file, metadata))
}

/// Reading that neither waits for the other end of a pipe nor takes a terminal.
fn quiet_read() -> OpenOptions {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

/// Whether an open was refused because it led out of the folder; the system's own refusals carry a number.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
