//! `${file:PATH}`: what a regular file holds.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Unresolved, too_much};
use crate::apart::apart;
use crate::env::HostEnv;
use crate::limits::{SECRET_BYTES_MAX, SECRET_FILE_MS};

/// Reads a file. `~/` is the home of the person, and relative paths start at `folder`.
pub(super) async fn read(env: &HostEnv, folder: &Path, path: &str) -> Result<Vec<u8>, Unresolved> {
    let path = place(env, folder, path)?;
    let limit = Duration::from_millis(SECRET_FILE_MS);
    match apart(limit, move || read_bytes(&path)).await {
        Some(Ok(bytes)) if bytes.len() > SECRET_BYTES_MAX => Err(too_much()),
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(error)) => Err(cannot_read(&error)),
        None => Err(Unresolved::new(format!("the file could not be read within {limit:?}"), "check its file system")),
    }
}

fn place(env: &HostEnv, folder: &Path, path: &str) -> Result<PathBuf, Unresolved> {
    let Some(below) = path.strip_prefix("~/") else { return Ok(folder.join(path)) };
    let home = env.dirs.home.as_ref();
    let home = home.ok_or_else(|| Unresolved::new("no home folder is known", "write the whole path"))?;
    Ok(home.join(below))
}

/// One byte more than allowed is read, so that too much can be told from just enough.
fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A pipe or a device may have no end, or no beginning.
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let most = u64::try_from(SECRET_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot_read(error: &io::Error) -> Unresolved {
    match error.kind() {
        io::ErrorKind::NotFound => Unresolved::new(
            "there is no such file",
            "`~/` is your home; other relative paths start at the folder of the settings file",
        ),
        io::ErrorKind::IsADirectory => Unresolved::new("a folder, not a file", "name a file in it"),
        io::ErrorKind::PermissionDenied => Unresolved::new("permission denied", "make it a file that you may read"),
        _ => Unresolved::new(format!("the file cannot be read: {error}"), "make it a file that you may read"),
    }
}
