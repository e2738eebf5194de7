//! The folder of the log: what its files are called, who may read them, and the lock that writers take turns with.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::HostEnv;
use crate::limits::{AUDIT_FILES_MAX, AUDIT_LOCK_MS, AUDIT_LOCK_PAUSE_MS};
use crate::state_file::{Privacy, make_folder};

/// How often the lock is asked for again at once: whoever has it needs microseconds.
const EAGER_TRIES: u32 = 100;

/// Where everything of the log is.
#[derive(Clone, Debug)]
pub(super) struct AuditFolder(PathBuf);

impl AuditFolder {
    /// The one of this person.
    pub(super) fn of(env: &HostEnv) -> Self {
        Self(env.dirs.user.join("audit"))
    }

    /// The folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The file that is written now.
    pub(super) fn current(&self) -> PathBuf {
        self.0.join(CURRENT)
    }

    /// A file that is full.
    pub(super) fn full(&self, number: u64) -> PathBuf {
        self.0.join(full_name(number))
    }

    /// The file that says where the log ends.
    pub(super) fn head(&self) -> PathBuf {
        self.0.join(HEAD)
    }

    /// The file of tools that were called before.
    pub(super) fn seen(&self) -> PathBuf {
        self.0.join("seen.jsonl")
    }

    /// The file with hashes of the rules last in force.
    pub(super) fn rules(&self) -> PathBuf {
        self.0.join("rules.json")
    }

    /// The file beside the folder that remembers that a log existed.
    fn mark(&self) -> PathBuf {
        self.0.with_file_name(MARK)
    }

    /// Remembers that there is a log. Returns whether that was known before.
    pub(super) fn note_begun(&self, at: &str) -> io::Result<bool> {
        if about(&self.mark())?.is_some() {
            return Ok(true);
        }
        let mut file = open(&self.mark(), OpenOptions::new().create(true).truncate(false).write(true))?;
        writeln!(file, "{{\"begun\":\"{at}\"}}")?;
        Ok(false)
    }

    /// The time at which a log was begun, if known.
    pub(super) fn begun(&self) -> Option<String> {
        let file = open(&self.mark(), OpenOptions::new().read(true)).ok()?;
        let mut text = String::new();
        file.take(MARK_BYTES_MAX).read_to_string(&mut text).ok()?;
        let said: Option<Begun> = serde_json::from_str(&text).ok();
        Some(said.map_or_else(|| "an unknown time".to_owned(), |said| said.begun))
    }

    fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Makes the folder, for its owner only.
    pub(super) fn make(&self) -> io::Result<()> {
        make_folder(&self.0, Privacy::Owner)?;
        keep_private(&self.0, 0o700)
    }

    /// The numbers of the files that are full, in order.
    pub(super) fn full_numbers(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            numbers.extend(entry?.file_name().to_str().and_then(number_of));
            if numbers.len() > AUDIT_FILES_MAX {
                return Err(io::Error::other(format!("more than {AUDIT_FILES_MAX} files")));
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Opens the file of the lock for a writer.
    pub(super) fn open_lock(&self) -> io::Result<File> {
        open(&self.lock(), OpenOptions::new().create(true).truncate(false).write(true))
    }

    /// Whether that is still the file of the lock, and not one that was removed with its folder.
    pub(super) fn is_lock(&self, file: &File) -> bool {
        let (Ok(one), Ok(other)) = (file.metadata(), fs::metadata(self.lock())) else { return false };
        is_same_file(&one, &other)
    }

    /// Keeps writers away while a reader looks at where the log ends. `None` when nobody has written anything yet.
    pub(super) fn lock_for_reading(&self) -> io::Result<Option<File>> {
        let file = match open(&self.lock(), OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        self.wait_for(|| file.try_lock_shared())?;
        Ok(Some(file))
    }

    /// Waits until whoever has the lock gives it back, and lets them know that somebody does.
    pub(super) fn wait_for(&self, try_lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
        let give_up = Instant::now() + Duration::from_millis(AUDIT_LOCK_MS);
        let mut tries = 0_u32;
        let mut waiting: Option<File> = None;
        loop {
            match try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= give_up => {
                    let what = "another process has it locked and does not end";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, what));
                }
                Err(TryLockError::WouldBlock) if tries < EAGER_TRIES => thread::yield_now(),
                Err(TryLockError::WouldBlock) => {
                    // Whoever is looking who waits at this very moment is gone at the next try.
                    waiting =
                        waiting.or_else(|| self.open_waiting().ok().filter(|file| file.try_lock_shared().is_ok()));
                    thread::sleep(Duration::from_millis(AUDIT_LOCK_PAUSE_MS));
                }
            }
            tries = tries.saturating_add(1);
        }
    }

    /// Whether somebody waits for the lock. Where that cannot be told, somebody might.
    pub(super) fn is_waited_for(&self) -> bool {
        let is_free = |file: File| file.try_lock().is_ok() && file.unlock().is_ok();
        !self.open_waiting().is_ok_and(is_free)
    }

    /// Opens the file that all those have locked who wait for the lock.
    fn open_waiting(&self) -> io::Result<File> {
        open(&self.0.join("waiting"), OpenOptions::new().create(true).truncate(false).read(true).write(true))
    }
}

/// Name of the file that remembers that a log existed. It is beside the folder, so that it survives the folder.
pub(super) const MARK: &str = "audit-begun.json";

/// Bytes that are read of that file.
const MARK_BYTES_MAX: u64 = 1024;

/// The content of that file.
#[derive(serde::Deserialize)]
struct Begun {
    begun: String,
}

/// What the file that is written now is called.
pub(super) const CURRENT: &str = "audit.jsonl";

/// What the file that says where the log ends is called.
pub(super) const HEAD: &str = "head.json";

/// What a full file is called.
pub(super) fn full_name(number: u64) -> String {
    format!("audit-{number}.jsonl")
}

fn number_of(name: &str) -> Option<u64> {
    let number: u64 = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()?;
    (full_name(number) == name).then_some(number)
}

/// Opens a file of the log, which is its owner's alone. Anything that is no file is refused: opening a pipe could wait for ever, and a link
/// could lead anywhere.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    about(path)?;
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// What there is about a file of the log; `None` when it is not there.
pub(super) fn about(path: &Path) -> io::Result<Option<Metadata>> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let what = match found.file_type() {
        kind if kind.is_file() => return Ok(Some(found)),
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a link",
        _ => "a pipe or a device",
    };
    let name = path.file_name().unwrap_or_default().display();
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} is {what}, not a regular file")))
}

/// Whether two paths or handles lead to one file.
#[cfg(unix)]
pub(super) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// As far as it can be told there.
#[cfg(not(unix))]
pub(super) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.created().ok() == other.created().ok()
}

/// Takes from others what they may do with a file or folder of the log.
#[cfg(unix)]
pub(super) fn keep_private(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::metadata(path)?.permissions().mode();
    if found & 0o077 == 0 { Ok(()) } else { fs::set_permissions(path, fs::Permissions::from_mode(mode)) }
}

/// The person's own folder is private there.
#[cfg(not(unix))]
pub(super) fn keep_private(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn only_our_own_names_are_files_of_the_log() {
        let cases = [
            ("audit-1.jsonl", Some(1)),
            ("audit-20.jsonl", Some(20)),
            ("audit.jsonl", None),
            ("audit-01.jsonl", None),
            ("audit-+1.jsonl", None),
            ("audit-1.jsonl.bak", None),
            ("audit-.jsonl", None),
        ];
        for (name, expected) in cases {
            assert_eq!(number_of(name), expected, "{name}");
        }
    }
}
