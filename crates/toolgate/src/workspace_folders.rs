//! `WorkspaceFolders`: the folder that the work is about, and further folders beside it.

use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The folder that the work is about, and the folders beside it that `context.includeDirectories` names.
///
/// It reads as the path of the main folder: relative paths start there, and conditions of rules are about it alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceFolders {
    main: PathBuf,
    included: Vec<PathBuf>,
    /// A folder that is not opened by tools, wherever it is in the others.
    closed: Option<PathBuf>,
}

impl WorkspaceFolders {
    /// The main folder with these folders beside it, which are absolute and without links.
    #[must_use]
    pub fn new(main: impl Into<PathBuf>, included: Vec<PathBuf>) -> Self {
        Self { main: main.into(), included, closed: None }
    }

    /// Replaces the folders beside the main one.
    #[must_use]
    pub(crate) fn including(&self, included: Vec<PathBuf>) -> Self {
        Self { included, ..self.clone() }
    }

    /// Closes a folder to tools.
    #[must_use]
    pub(crate) fn closing(self, closed: Option<PathBuf>) -> Self {
        Self { closed, ..self }
    }

    /// The main folder.
    #[must_use]
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// The folders beside it.
    #[must_use]
    pub fn included(&self) -> &[PathBuf] {
        &self.included
    }

    /// All of them, the main folder first.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.main()).chain(self.included.iter().map(PathBuf::as_path))
    }

    /// All of them as they are now, links followed, the main folder first. A folder beside it that is gone is left out.
    pub(crate) fn roots(&self) -> io::Result<Roots> {
        let mut roots = vec![self.main.canonicalize()?];
        roots.extend(self.included.iter().filter_map(|folder| folder.canonicalize().ok()));
        let closed = self.closed.as_ref().and_then(|folder| folder.canonicalize().ok());
        Ok(Roots { roots, closed })
    }
}

impl Deref for WorkspaceFolders {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.main
    }
}

impl AsRef<Path> for WorkspaceFolders {
    fn as_ref(&self) -> &Path {
        &self.main
    }
}

impl From<PathBuf> for WorkspaceFolders {
    fn from(main: PathBuf) -> Self {
        Self::new(main, Vec::new())
    }
}

impl From<&Path> for WorkspaceFolders {
    fn from(main: &Path) -> Self {
        Self::new(main, Vec::new())
    }
}

impl From<&str> for WorkspaceFolders {
    fn from(main: &str) -> Self {
        Self::new(main, Vec::new())
    }
}

/// The folders with their links followed: the places that paths may lead to.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    roots: Vec<PathBuf>,
    closed: Option<PathBuf>,
}

impl Roots {
    /// The main folder, where relative paths start.
    pub(crate) fn main(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// A path without links, relative to the folder it is in: the innermost one, when they are nested. `None` when it is in none, or closed.
    pub(crate) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        if self.closed.as_ref().is_some_and(|closed| path.starts_with(closed)) {
            return None;
        }
        let found = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        found.min_by_key(|below| below.components().count())
    }

    /// Whether a path without links is in one of the folders, closed or not.
    pub(crate) fn contain(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }
}
