//! `HostEnv`: variables, folders, workspace and clock, handed in by whoever starts a host. The only door to the outside.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::workspace_folders::WorkspaceFolders;

/// Everything ambient. The library looks at no variable, home, folder or clock of its own.
#[derive(Clone)]
pub struct HostEnv {
    /// The environment variables.
    pub vars: BTreeMap<String, String>,
    /// Where settings and state live.
    pub dirs: HostDirs,
    /// The folder the work is about, where relative paths in settings start, and the folders beside it.
    pub workspace: WorkspaceFolders,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for HostEnv {
    /// Values of variables may be secret, so only their names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.vars.keys().collect();
        f.debug_struct("HostEnv")
            .field("vars", &names)
            .field("dirs", &self.dirs)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

impl HostEnv {
    /// The person's folder with logins and settings, which tools do not open. Not when the work is about something in it, or when it is the
    /// home folder, which belongs to other programs as well.
    #[must_use]
    pub fn own_folder_to_close(&self) -> Option<PathBuf> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let own = real(&self.dirs.user);
        let is_open = real(&self.workspace).starts_with(&own);
        let is_home = self.dirs.home.as_deref().is_some_and(|home| real(home) == own);
        (!is_open && !is_home).then_some(own)
    }
}

/// The folders a host keeps things in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostDirs {
    /// A person's settings and state: `~/.toolgate`, or what `TOOLGATE_HOME` says.
    pub user: PathBuf,
    /// The administrator's settings: `/etc/toolgate`, or what `TOOLGATE_SYSTEM_DIR` says.
    pub system: PathBuf,
    /// What `~` means in settings, where there is a home.
    pub home: Option<PathBuf>,
}

/// Tells the time of day.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> SystemTime;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[cfg(test)]
mod tests {
    use super::{HostDirs, HostEnv, SystemClock};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn values_of_variables_are_not_printed() {
        let env = HostEnv {
            vars: BTreeMap::from([("TOKEN".to_owned(), "sesame".to_owned())]),
            dirs: HostDirs { user: "/u".into(), system: "/s".into(), home: None },
            workspace: "/w".into(),
            clock: Arc::new(SystemClock),
        };
        let printed = format!("{env:?}");
        assert!(printed.contains("TOKEN") && !printed.contains("sesame"), "{printed}");
    }
}
