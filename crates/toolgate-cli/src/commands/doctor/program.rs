//! Whether the program of a server is there: a path is looked at, a name is looked up in the `PATH` it will be started with.

use std::path::{Path, PathBuf};

use toolgate::HostEnv;
use toolgate::servers::StdioConfig;

/// The program that would be started.
pub(crate) fn find(stdio: &StdioConfig, search: Option<&str>, env: &HostEnv) -> Option<PathBuf> {
    let folder = stdio.cwd.as_deref().unwrap_or(&env.workspace);
    if stdio.command.contains('/') {
        return Some(folder.join(&stdio.command)).filter(|path| is_program(path));
    }
    let folders = std::env::split_paths(search.unwrap_or_default());
    folders.map(|one| folder.join(one).join(&stdio.command)).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    ["", "exe", "cmd", "bat"].into_iter().any(|extension| path.with_extension(extension).is_file())
}
