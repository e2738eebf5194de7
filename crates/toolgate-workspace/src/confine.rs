//! `Folders`: the only door to the file system. Everything is opened relative to the handle of one folder, and nothing above it can be reached.
//!
//! Relative paths start at the workspace, the first of the folders. A link that leads from one of the folders into another one is followed,
//! because both can be reached by their own paths. A link that leads out of all of them is refused.
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

/// The workspace and the folders beside it.
#[derive(Debug)]
pub(crate) struct Folders {
    main: Folder,
    included: Vec<Folder>,
}

/// One of the folders.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    /// The folder as it was named, and without links: absolute paths that begin with either are inside.
    given: PathBuf,
    root: PathBuf,
    /// Places in it that are closed.
    closed: Vec<PathBuf>,
}

/// A path as it was written, and what it means relative to one of the folders. Not a promise that it stays inside: only opening it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspacePath {
    text: String,
    /// The index of the folder; the workspace is the first.
    folder: usize,
    relative: PathBuf,
}

/// A place in one of the folders, links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    folder: usize,
    path: PathBuf,
}

/// An open folder, and where it is.
#[derive(Debug)]
pub(crate) struct OpenFolder<'f> {
    pub(crate) dir: Dir,
    /// The one of the folders that it is in.
    pub(crate) of: &'f Folder,
    /// Its place there.
    pub(crate) place: PathBuf,
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

    /// Relative to the folder it is in, links not followed.
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
    fn open(root: &Path, closed: &[PathBuf]) -> Result<Self> {
        let failed = |source| Error::Open { path: root.to_owned(), source };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed)?;
        let real = std::fs::canonicalize(root).map_err(failed)?;
        let closed = closed.iter().filter_map(|folder| std::fs::canonicalize(folder).ok());
        let closed = closed.filter_map(|folder| Some(folder.strip_prefix(&real).ok()?.to_owned()));
        let closed = closed.filter(|place| !place.as_os_str().is_empty()).collect();
        Ok(Self { dir, given: root.to_owned(), root: real, closed })
    }

    /// Places in it that nothing is opened in.
    pub(crate) fn closed(&self) -> &[PathBuf] {
        &self.closed
    }

    /// Its absolute path, for people.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Its handle, which everything is opened from.
    pub(crate) fn handle(&self) -> &Dir {
        &self.dir
    }

    /// An absolute path relative to it, if it begins with it.
    fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let given = Some(&self.given).filter(|given| given.is_absolute());
        path.strip_prefix(&self.root).ok().or_else(|| path.strip_prefix(given?).ok())
    }
}

impl Folders {
    /// Opens the folders. One beside the workspace is left out when it is in it or in another one, or closed, or cannot be opened any more.
    pub(crate) fn open(main: &Path, included: &[PathBuf], closed: &[PathBuf]) -> Result<Self> {
        let mut all = Self { main: Folder::open(main, closed)?, included: Vec::new() };
        for folder in included {
            let Ok(folder) = Folder::open(folder, closed) else { continue };
            let is_closed = closed.iter().any(|closed| folder.root.starts_with(closed));
            if !is_closed && !all.all().any(|other| folder.root.starts_with(&other.root)) {
                all.included.push(folder);
            }
        }
        Ok(all)
    }

    /// The absolute path of the workspace.
    pub(crate) fn root(&self) -> &Path {
        self.main.root()
    }

    /// The absolute paths of the folders beside the workspace.
    pub(crate) fn included(&self) -> impl Iterator<Item = &Path> {
        self.included.iter().map(Folder::root)
    }

    /// A place in a folder in the words that this server takes as a path: relative in the workspace, absolute beside it.
    pub(crate) fn shown(&self, folder: &Folder, place: &Path) -> PathBuf {
        if folder.root == self.main.root { place.to_owned() } else { folder.root.join(place) }
    }

    fn all(&self) -> impl Iterator<Item = &Folder> {
        std::iter::once(&self.main).chain(&self.included)
    }

    fn at(&self, folder: usize) -> &Folder {
        folder.checked_sub(1).and_then(|at| self.included.get(at)).unwrap_or(&self.main)
    }

    fn roots_text(&self) -> String {
        let roots: Vec<_> = self.all().map(|folder| folder.root.to_string_lossy()).collect();
        roots.join("`, `")
    }

    /// Reads the argument `what` as a path.
    pub(crate) fn path(&self, what: &str, text: &str) -> Result<WorkspacePath, Failure> {
        path_text::check(what, text)?;
        let path = Path::new(text);
        let found = if path.is_absolute() { self.relative(path) } else { Some((0, path)) };
        let (folder, relative) = found.ok_or_else(|| Failure::outside(text, &self.roots_text()))?;
        Ok(WorkspacePath { text: text.to_owned(), folder, relative: or_here(relative).to_owned() })
    }

    /// An absolute path relative to the folder it begins with: the innermost one, when they are nested.
    fn relative<'a>(&self, path: &'a Path) -> Option<(usize, &'a Path)> {
        let found = self.all().enumerate().filter_map(|(at, folder)| Some((at, folder.relative(path)?)));
        found.min_by_key(|(_, below)| below.components().count())
    }

    /// An absolute path as the folder it begins with and the rest, each as a text.
    pub(crate) fn split(&self, path: &Path) -> Result<(String, String), Failure> {
        let texts = |(folder, below): (usize, &Path)| {
            Some((self.at(folder).root.to_str()?.to_owned(), below.to_str()?.to_owned()))
        };
        let found = self.relative(path).and_then(texts);
        found.ok_or_else(|| Failure::outside(&path.to_string_lossy(), &self.roots_text()))
    }

    /// Opens a regular file for reading, and nothing that could block.
    pub(crate) fn open_file(&self, path: &WorkspacePath) -> Result<(File, Metadata), Failure> {
        let failed = |error: io::Error| self.failed("read", path, &error);
        // What is closed may be behind links that the system would follow in one step.
        if self.all().any(|folder| !folder.closed.is_empty()) {
            self.followed(path)?;
        }
        let file = match self.at(path.folder).dir.open_with(&path.relative, &quiet_read()) {
            Err(error) if is_escape(&error) => {
                let place = self.followed(path)?;
                self.at(place.folder).dir.open_with(or_here(&place.path), &quiet_read())
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

    /// Opens a folder, and says where it is once links are followed.
    pub(crate) fn open_folder(&self, act: &str, path: &WorkspacePath) -> Result<OpenFolder<'_>, Failure> {
        let place = self.followed(path)?;
        let of = self.at(place.folder);
        let dir = of.dir.open_dir(or_here(&place.path)).map_err(|error| self.failed(act, path, &error))?;
        Ok(OpenFolder { dir, of, place: place.path })
    }

    /// A path in the words of [`Self::shown`], links not followed.
    pub(crate) fn shown_path(&self, path: &WorkspacePath) -> PathBuf {
        self.shown(self.at(path.folder), path.relative())
    }

    /// The spot where `path` is to be written, links followed. Folders that do not exist are made when `missing` says so.
    pub(crate) fn spot(&self, path: &WorkspacePath, missing: Missing) -> Result<Spot, Failure> {
        let failed = |error: io::Error| self.failed("write", path, &error);
        let Place { folder: of, path: place } = self.followed(path)?;
        let of = &self.at(of).dir;
        let Some(name) = place.file_name().filter(|_| !path.names_folder()) else {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        };
        let parent = place.parent().map_or(Path::new("."), or_here);
        let folder = match of.open_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Make => {
                of.create_dir_all(parent).map_err(failed)?;
                of.open_dir(parent)
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

    /// The place that a path leads to, unless it is outside or closed.
    fn followed(&self, path: &WorkspacePath) -> Result<Place, Failure> {
        let place = self.follow(path).ok_or_else(|| self.outside(path))?;
        let is_closed = self.at(place.folder).closed.iter().any(|closed| place.path.starts_with(closed));
        if is_closed { Err(Failure::closed(path.text())) } else { Ok(place) }
    }

    /// Follows every link on the way, by hand, also the last one and into nothing. `None` when that leads out of all folders or has no end.
    fn follow(&self, path: &WorkspacePath) -> Option<Place> {
        let mut ahead: VecDeque<OsString> = parts_of(&path.relative).collect();
        let mut place = Standing::In(Place { folder: path.folder, path: PathBuf::new() });
        let mut hops = 0;
        while let Some(part) = ahead.pop_front() {
            match Path::new(&part).components().next() {
                None | Some(Component::CurDir) => {}
                Some(Component::ParentDir) => place = self.above(place)?,
                Some(Component::Normal(name)) => {
                    place = self.below(place, name);
                    let Standing::In(Place { folder, path }) = &mut place else { continue };
                    let Ok(target) = self.at(*folder).dir.read_link_contents(&*path) else { continue };
                    hops += 1;
                    if hops > LINK_HOPS_MAX {
                        return None;
                    }
                    path.pop();
                    parts_of(&target).rev().for_each(|part| ahead.push_front(part));
                }
                // An absolute link starts anew, and is one of ours again where it comes to one of the folders.
                Some(Component::RootDir) => place = self.standing_at(PathBuf::from("/")),
                Some(Component::Prefix(_)) => return None,
            }
        }
        match place {
            Standing::In(place) => Some(place),
            Standing::Outside(_) => None,
        }
    }

    /// One folder up, which may lead out of the folders: links such as `../other/file` pass there.
    fn above(&self, place: Standing) -> Option<Standing> {
        Some(match place {
            Standing::In(Place { folder, mut path }) => {
                if path.pop() {
                    Standing::In(Place { folder, path })
                } else if self.included.is_empty() {
                    // There is no other folder to come to.
                    return None;
                } else {
                    self.standing_at(self.at(folder).root.parent()?.to_owned())
                }
            }
            Standing::Outside(path) => self.standing_at(path.parent()?.to_owned()),
        })
    }

    /// An entry of a folder. Outside of the folders nothing is looked at: a name is taken for itself there.
    fn below(&self, place: Standing, name: &OsStr) -> Standing {
        match place {
            Standing::In(Place { folder, path }) => Standing::In(Place { folder, path: path.join(name) }),
            Standing::Outside(path) => self.standing_at(path.join(name)),
        }
    }

    fn standing_at(&self, path: PathBuf) -> Standing {
        match self.relative(&path).map(|(folder, below)| Place { folder, path: below.to_owned() }) {
            Some(place) => Standing::In(place),
            None => Standing::Outside(path),
        }
    }

    fn outside(&self, path: &WorkspacePath) -> Failure {
        Failure::outside(path.text(), &self.roots_text())
    }

    fn failed(&self, act: &str, path: &WorkspacePath, error: &io::Error) -> Failure {
        if is_escape(error) { self.outside(path) } else { Failure::system(act, path.text(), error) }
    }
}

/// The point that the following of links has come to.
enum Standing {
    In(Place),
    /// Outside of the folders, on the way to one of them.
    Outside(PathBuf),
}

/// The parts of a path, in their order.
fn parts_of(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().map(|part| part.as_os_str().to_owned())
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
