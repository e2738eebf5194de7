//! A sealed room: a home, a workspace, variables and a clock that belong to one test and to nobody else.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

use crate::guarded::Guarded;

/// A room of its own for one test. Its folders are removed when it is dropped.
#[derive(Debug)]
pub struct TestWorld {
    folder: TempDir,
    variables: BTreeMap<String, String>,
    clock: TestClock,
}

impl TestWorld {
    /// An empty home and an empty workspace, `HOME`, `PATH` and `TMPDIR` set, the clock at [`TestClock::START`].
    ///
    /// # Errors
    /// When the temporary folders cannot be made.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("world-").tempdir()?;
        // Folders under /tmp may be reached through a symbolic link; programs print the real path.
        let real = folder.path().canonicalize()?;
        let mut variables = BTreeMap::new();
        for (name, folder) in [("HOME", "home"), ("TMPDIR", "tmp")] {
            let place = real.join(folder);
            std::fs::create_dir(&place)?;
            variables.insert(name.to_owned(), place.display().to_string());
        }
        std::fs::create_dir(real.join("workspace"))?;
        variables.insert("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        Ok(Self { folder, variables, clock: TestClock::default() })
    }

    /// The home folder.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The workspace folder.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root().join("workspace")
    }

    /// The folder that holds everything of this world.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned())
    }

    /// The variables programs of this world see.
    #[must_use]
    pub const fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Sets a variable.
    pub fn set_variable(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Removes a variable.
    pub fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// The clock of this world.
    #[must_use]
    pub const fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// Writes a file below the home, with the folders it needs; its path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_in_home(&self, path: impl AsRef<Path>, text: &str) -> io::Result<PathBuf> {
        write(&self.home(), path.as_ref(), text)
    }

    /// Writes a file below the workspace, with the folders it needs; its path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_in_workspace(&self, path: impl AsRef<Path>, text: &str) -> io::Result<PathBuf> {
        write(&self.workspace(), path.as_ref(), text)
    }
}

fn write(folder: &Path, path: &Path, text: &str) -> io::Result<PathBuf> {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&file, text)?;
    Ok(file)
}

/// A clock that stands still until it is told to move. Clones share the time.
#[derive(Clone, Debug)]
pub struct TestClock {
    now: Arc<Guarded<SystemTime>>,
}

impl TestClock {
    /// Where a new clock stands, in seconds since 1970: 2026-01-02 03:04:05 UTC.
    pub const START: u64 = 1_767_323_045;

    /// The time.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        *self.now.lock()
    }

    /// Sets the time.
    pub fn set(&self, time: SystemTime) {
        *self.now.lock() = time;
    }

    /// Moves the time forward.
    pub fn advance(&self, by: Duration) {
        *self.now.lock() += by;
    }
}

impl Default for TestClock {
    fn default() -> Self {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(Self::START);
        Self { now: Arc::new(Guarded::new(start)) }
    }
}
