//! A file of ours that several processes may change: read whole, locked while it is changed, replaced in one step. A reader sees the old
//! text or the new one, never half of one; a crash loses nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{STATE_FILE_LINKS_MAX, STATE_FILE_LOCK_MS, STATE_FILE_LOCK_PAUSE_MS};

/// Who may read a file, and the folders that are made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Only its owner: 0600, whatever it was before; folders 0700.
    Owner,
    /// As the person's umask says when it is made new; one that is there keeps its mode.
    Umask,
}

/// Reads a file as text. `None` when there is none.
///
/// # Errors
/// When there is something else than a readable text of at most `bytes_max` bytes.
pub(crate) fn read(path: &Path, bytes_max: usize) -> Result<Option<String>> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(unusable(path, "a folder stands where the file should be")),
        // Opening a pipe could wait for ever.
        Ok(about) if !about.is_file() => return Err(unusable(path, "not a regular file")),
        Ok(_) => (),
        Err(error) if is_absent(path, &error) => return Ok(None),
        Err(error) => return Err(cannot("read", path, &error)),
    }
    let file = File::open(path).map_err(|error| cannot("read", path, &error))?;
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|error| cannot("read", path, &error))?;
    if bytes.len() > bytes_max {
        return Err(unusable(path, &format!("larger than {bytes_max} bytes, the most it may have")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| unusable(path, "not UTF-8 text"))
}

/// Changes a file: `change` is given the text that is there and gives the new one, or `None` to leave everything as it is. Nobody else who
/// comes through here changes it meanwhile. Folders on the way are made, a link is followed to the file it names.
///
/// # Errors
/// What `change` says, and when the file cannot be read, locked or replaced; it is untouched then.
pub(crate) fn update(
    path: &Path,
    privacy: Privacy,
    bytes_max: usize,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>>,
) -> Result<()> {
    let path = real_file(path)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    make_folder(folder, privacy).map_err(|error| cannot("make the folder of", &path, &error))?;
    let _lock = Lock::take(&path, privacy)?;
    let old = read(&path, bytes_max)?;
    let Some(new) = change(old.as_deref())? else { return Ok(()) };
    if new.len() > bytes_max {
        return Err(unusable(&path, &format!("it would be larger than {bytes_max} bytes, the most it may have")));
    }
    replace(&path, folder, &new, privacy).map_err(|error| cannot("write", &path, &error))
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(folder: &Path, privacy: Privacy) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if privacy == Privacy::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(folder)
}

/// A link must stay a link, so the file it leads to is what is replaced, also when that is not there yet.
fn real_file(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..STATE_FILE_LINKS_MAX {
        match fs::canonicalize(&path) {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(&path) {
                Ok(target) => path = path.parent().unwrap_or_else(|| Path::new("/")).join(target),
                Err(_) => return Ok(path),
            },
            Err(error) => return Err(cannot("find", &path, &error)),
        }
    }
    Err(unusable(&path, "too many links that lead to each other"))
}

/// Keeps others away from a file. It is a file beside it, because the file itself is replaced, and is gone when nobody needs it.
#[derive(Debug)]
struct Lock {
    _file: File,
    #[cfg(unix)]
    beside: PathBuf,
}

impl Lock {
    /// Waits for whoever changes the file now.
    fn take(path: &Path, privacy: Privacy) -> Result<Self> {
        let beside = with_suffix(path, ".lock");
        if fs::symlink_metadata(&beside).is_ok_and(|about| !about.is_file()) {
            return Err(unusable(&beside, "not a regular file, though only we make one of that name"));
        }
        let give_up = Instant::now() + Duration::from_millis(STATE_FILE_LOCK_MS);
        loop {
            let file = lock_options(privacy).open(&beside);
            let file = file.map_err(|error| cannot("change (nothing can be written beside it)", path, &error))?;
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                        thread::sleep(Duration::from_millis(STATE_FILE_LOCK_PAUSE_MS));
                    }
                    Err(TryLockError::WouldBlock) => {
                        return Err(unusable(path, "another process is changing it and does not end"));
                    }
                    Err(TryLockError::Error(error)) => return Err(cannot("lock", path, &error)),
                }
            }
            // Whoever had the lock before may have taken the file away, and then somebody else can have a new one.
            if is_same_file(&file, &beside) {
                return Ok(Self {
                    _file: file,
                    #[cfg(unix)]
                    beside,
                });
            }
            if Instant::now() >= give_up {
                return Err(unusable(path, "other processes keep changing it"));
            }
        }
    }
}

fn lock_options(privacy: Privacy) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    if privacy == Privacy::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options
}

#[cfg(unix)]
impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: whoever waits for it finds out that it is not the one any more.
        let _removed = fs::remove_file(&self.beside).is_ok();
    }
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(open), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_same_file(_file: &File, _path: &Path) -> bool {
    true // It is never taken away there.
}

fn replace(path: &Path, folder: &Path, text: &str, privacy: Privacy) -> io::Result<()> {
    let temporary = with_suffix(path, &format!(".{}.new", std::process::id()));
    let written = write_new(&temporary, path, text, privacy).and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        // Whatever could be written of it is of no use to anybody.
        let _removed = fs::remove_file(&temporary).is_ok();
        return Err(error);
    }
    // The new name is only safe on the disk when the folder is. Some file systems cannot do that, and need not.
    let _synced = File::open(folder).and_then(|folder| folder.sync_all()).is_ok();
    Ok(())
}

fn write_new(temporary: &Path, path: &Path, text: &str, privacy: Privacy) -> io::Result<()> {
    let _stale = fs::remove_file(temporary).is_ok();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if privacy == Privacy::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(temporary)?;
    if let Ok(about) = fs::metadata(path) {
        keep_owner(&file, &about);
        if privacy == Privacy::Umask {
            file.set_permissions(about.permissions())?;
        }
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Root who changes a file for somebody leaves it to them. Nobody else can give files away, and need not.
#[cfg(unix)]
fn keep_owner(file: &File, about: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let _kept = std::os::unix::fs::fchown(file, Some(about.uid()), Some(about.gid())).is_ok();
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _about: &fs::Metadata) {}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A link that leads nowhere is a file that somebody misses, and is reported; except where one is about to be made.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !path.is_symlink()
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let failure = Error::new(ErrorKind::State, format!("cannot {what} {}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.hinting("check that you may read and write it, and write in its folder")
        }
        io::ErrorKind::NotADirectory => failure.hinting("a file stands where one of its folders should be"),
        _ => failure,
    }
}

fn unusable(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::State, format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Privacy, read, update};
    use crate::error::{Error, ErrorKind};

    const MAX: usize = 100;

    #[test]
    fn changes_of_many_threads_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/down/state.txt");
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    update(&path, Privacy::Owner, MAX, |old| Ok(Some(format!("{}x", old.unwrap_or_default()))))
                        .unwrap();
                });
            }
        });
        assert_eq!(read(&path, MAX).unwrap().unwrap(), "x".repeat(20));
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let private = folder.path().join("private/p.json");
        update(&private, Privacy::Owner, MAX, |_| Ok(Some("{}".to_owned()))).unwrap();
        assert_eq!((mode(&private), mode(private.parent().unwrap())), (0o600, 0o700));
        let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real.json", &link).unwrap();
        update(&link, Privacy::Umask, MAX, |old| Ok(Some(format!("{}er", old.unwrap())))).unwrap();
        assert!(link.is_symlink());
        assert_eq!((fs::read_to_string(&real).unwrap().as_str(), mode(&real)), ("older", 0o640));
        let dangling = folder.path().join("dangling.json");
        symlink("not-yet.json", &dangling).unwrap();
        update(&dangling, Privacy::Umask, MAX, |_| Ok(Some("new".to_owned()))).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("not-yet.json")).unwrap(), "new");
        let (first, second) = (folder.path().join("first.json"), folder.path().join("second.json"));
        symlink("second.json", &first).unwrap();
        symlink("deep/third.json", &second).unwrap();
        update(&first, Privacy::Umask, MAX, |_| Ok(Some("far".to_owned()))).unwrap();
        assert!(first.is_symlink() && second.is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("deep/third.json")).unwrap(), "far");
        update(&private, Privacy::Owner, MAX, |_| Ok(Some("[]".to_owned()))).unwrap();
        assert_eq!(mode(&private), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_told_and_never_waited_for() {
        use std::os::unix::fs::symlink;
        use std::process::Command;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        fs::write(at("text"), "x").unwrap();
        fs::write(at("latin"), b"\xe9").unwrap();
        fs::write(at("locked"), "x").unwrap();
        for pipe in ["pipe", "locked.lock"] {
            assert!(Command::new("mkfifo").arg(at(pipe)).status().unwrap().success());
        }
        let cases = [
            ("a", "cannot find [F]/a: Too many levels of symbolic links (os error 40)"),
            (".", "[F]: a folder stands where the file should be"),
            ("pipe", "[F]/pipe: not a regular file"),
            ("text/s.json", "cannot find [F]/text/s.json: Not a directory (os error 20)"),
            ("latin", "[F]/latin: not UTF-8 text"),
            ("locked", "[F]/locked.lock: not a regular file, though only we make one of that name"),
        ];
        let shown = folder.path().canonicalize().unwrap().display().to_string();
        for (name, expected) in cases {
            let error = update(&at(name), Privacy::Umask, MAX, |_| Ok(Some("new".to_owned()))).unwrap_err();
            let said = error.to_string().replace(&shown, "[F]").replace(&folder.path().display().to_string(), "[F]");
            assert_eq!(said, expected);
            assert_eq!(error.kind(), ErrorKind::State);
        }
    }

    #[test]
    fn what_goes_wrong_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "kept").unwrap();
        let refused = Error::new(ErrorKind::State, "no");
        assert!(update(&path, Privacy::Umask, MAX, |_| Err(refused)).is_err());
        assert!(update(&path, Privacy::Umask, MAX, |_| Ok(Some("x".repeat(MAX + 1)))).is_err());
        update(&path, Privacy::Umask, MAX, |_| Ok(None)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left, ["s"], "neither a lock nor half a text is left");
        fs::write(&path, "x".repeat(MAX + 1)).unwrap();
        assert!(read(&path, MAX).is_err());
        assert!(read(folder.path(), MAX).is_err());
        assert_eq!(read(&folder.path().join("none"), MAX).unwrap(), None);
    }
}
