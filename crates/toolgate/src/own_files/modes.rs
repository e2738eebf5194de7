//! Removes access for others from the person's own files: folders and files with modes from a wide umask, another
//! program, or a manual change.

use std::fs;
use std::io;
use std::path::Path;

use crate::limits::OWN_FILES_LISTED_MAX;

/// Permission bits of the group and of others.
const OTHERS: u32 = 0o077;

/// The sticky bit. Shared folders such as `/tmp` have it and belong to no single person.
const STICKY: u32 = 0o1000;

/// The folder of extensions, whose programs the person may share.
const EXTENSIONS: &str = "extensions";

/// The folder of the shared runtime. It is refused while others can enter it: a socket in it may be theirs, and narrowing the mode would hide that.
const RUNTIME: &str = "run";

/// Narrows the folder and its entries, and the contents of subfolders that were open to others. Links are not followed, and files of
/// other users stay unchanged. A folder in good order costs one look at each of its entries.
///
/// # Errors
/// Returns an error if the folder cannot be read, or its content cannot be changed.
pub(crate) fn narrow(folder: &Path) -> io::Result<()> {
    let about = match fs::symlink_metadata(folder) {
        Ok(about) if about.is_dir() && mode_of(&about) & STICKY == 0 => about,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    narrow_one(folder, &about)?;
    for entry in fs::read_dir(folder)?.take(OWN_FILES_LISTED_MAX) {
        let entry = entry?;
        if entry.file_name() == RUNTIME {
            continue;
        }
        // The file may be gone by now.
        let Ok(about) = fs::symlink_metadata(entry.path()) else { continue };
        if narrow_one(&entry.path(), &about)? && about.is_dir() && entry.file_name() != EXTENSIONS {
            narrow(&entry.path())?;
        }
    }
    Ok(())
}

/// Whether others had access to it and no longer do.
fn narrow_one(path: &Path, about: &fs::Metadata) -> io::Result<bool> {
    let is_wide = (about.is_file() || about.is_dir()) && is_own(about) && mode_of(about) & OTHERS != 0;
    if is_wide {
        set_mode(path, mode_of(about) & 0o7777 & !OTHERS)?;
    }
    Ok(is_wide)
}

#[cfg(unix)]
fn mode_of(about: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(unix)]
fn is_own(about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn mode_of(_about: &fs::Metadata) -> u32 {
    0 // There, folders of a person are closed to others.
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_own(_about: &fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::narrow;

    #[test]
    fn what_others_could_do_they_cannot_any_more() {
        let room = tempfile::tempdir().unwrap();
        let home = room.path().join("home");
        // Content before, mode before, mode afterwards.
        let cases = [
            ("", 0o755, 0o700),
            ("settings.json", 0o644, 0o600),
            ("grants.json", 0o666, 0o600),
            ("kept", 0o600, 0o600),
            ("read-only", 0o444, 0o400),
            ("audit", 0o755, 0o700),
            ("audit/audit.jsonl", 0o664, 0o600),
            ("audit/deep", 0o777, 0o700),
            ("audit/deep/file", 0o640, 0o600),
            ("extensions", 0o755, 0o700),
            ("extensions/program", 0o755, 0o755),
            ("run", 0o755, 0o755),
            ("closed", 0o700, 0o700),
            ("closed/shared", 0o644, 0o644),
        ];
        for (name, _, _) in cases {
            let path = home.join(name);
            let is_folder = matches!(name, "" | "audit" | "audit/deep" | "extensions" | "run" | "closed");
            if is_folder { fs::create_dir(&path).unwrap() } else { fs::write(&path, "x").unwrap() }
        }
        let outside = room.path().join("outside");
        fs::write(&outside, "x").unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o666)).unwrap();
        symlink(&outside, home.join("link")).unwrap();
        for (name, mode, _) in cases {
            fs::set_permissions(home.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        narrow(&home).unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        for (name, _, expected) in cases {
            assert_eq!(mode(&home.join(name)), expected, "{name}");
        }
        assert_eq!(mode(&outside), 0o666, "a link is not followed");
        narrow(&room.path().join("not there")).unwrap();
        let shared = room.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        narrow(&shared).unwrap();
        assert_eq!(mode(&shared), 0o1777);
    }
}
