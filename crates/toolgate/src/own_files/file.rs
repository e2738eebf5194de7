//! One such file: what it is called, how it is put in place, and what is believed to be one.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::hex::hex;
use crate::state_file::{Privacy, make_folder};

/// How a file is called while it is written.
pub(super) const HALF_WRITTEN: &str = ".new";

/// Hexadecimal digits of a hash.
const NAME_DIGITS: usize = 64;

/// What a file is called that stands for this hash: its hexadecimal digits.
pub(crate) fn name_of(hash: &[u8]) -> String {
    hex(hash)
}

/// Whether a file can be called that.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() == NAME_DIGITS && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Puts a file in place for its owner only, and makes its folder where there is none. Whoever reads it meanwhile sees the old one or the new
/// one; of several who write at once the last one wins.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let half_written = beside(path)?;
    let written = write_new(&half_written, bytes).and_then(|()| move_to(&half_written, path));
    if written.is_err() {
        let _removed = fs::remove_file(&half_written).is_ok();
    }
    written
}

/// A name that nobody else writes to, in no other process either, whatever machine it runs on.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    SystemRandom::new().fill(&mut random).map_err(|_| io::Error::other("the machine has no randomness"))?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{HALF_WRITTEN}", name_of(&random)));
    Ok(PathBuf::from(name))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match (options.open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(folder, Privacy::Owner)?;
            options.open(path)?
        }
        (opened, _) => opened?,
    };
    file.write_all(bytes)
}

/// A link in its place is replaced, not followed; so is a folder, when nothing is in it.
fn move_to(half_written: &Path, path: &Path) -> io::Result<()> {
    match fs::rename(half_written, path) {
        Err(_) if fs::remove_dir(path).is_ok() => fs::rename(half_written, path),
        moved => moved,
    }
}

/// Opens a file that we wrote: a regular one, and our own.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = open_unfollowed(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if is_own(&about) { Ok((file, about)) } else { Err(io::Error::other("somebody else wrote it")) }
}

/// A link is not followed, and a pipe not waited for.
#[cfg(unix)]
fn open_unfollowed(path: &Path) -> io::Result<File> {
    use rustix::io::Errno;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP | Errno::NXIO) => io::Error::other("not a regular file"), // A link, a socket.
        _ => error,
    })
}

/// The same where a look has to tell.
#[cfg(not(unix))]
fn open_unfollowed(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(path)
}

/// Reads a file that we wrote.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (mut file, about) = open(path)?;
    let too_large = || io::Error::other(format!("larger than {bytes_max} bytes, the most it may have"));
    if about.len() > bytes_max {
        return Err(too_large());
    }
    // It was put there whole, so it is as long as it will ever be.
    let mut bytes = vec![0; usize::try_from(about.len()).map_err(|_| too_large())?];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn is_own(about: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_about: &Metadata) -> bool {
    true // Who may write in a person's folder is decided elsewhere there.
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{is_name, name_of, put, read};

    #[test]
    fn names_are_digits_of_a_hash() {
        let name = name_of(&[0xab; 32]);
        let short = name_of(&[1, 0xf0]);
        assert_eq!((name.len(), short.as_str()), (64, "01f0"));
        let upper = name.to_uppercase();
        let dots = format!("{}/..", "a".repeat(61));
        let wide = "ä".repeat(32);
        let cases = [(&name, true), (&short, false), (&upper, false), (&dots, false), (&wide, false)];
        for (name, expected) in cases {
            assert_eq!(is_name(name), expected, "{name}");
        }
    }

    #[test]
    fn many_writers_leave_one_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/down/file");
        let whole = |writer: u8| vec![writer; 100_000];
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..5 {
                        put(path, &whole(writer)).unwrap();
                        let read = read(path, 100_000).unwrap();
                        assert_eq!(read, whole(read[0]), "never torn");
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing half written is left");
    }

    #[cfg(unix)]
    #[test]
    fn only_what_we_wrote_is_read_and_anything_else_is_replaced() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("other"), "of somebody").unwrap();
        symlink("other", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("large"), "larger").unwrap();
        std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        for (name, why) in [
            ("link", "not a regular file"),
            ("dangling", "not a regular file"),
            ("folder", "not a regular file"),
            ("pipe", "not a regular file"),
            ("large", "larger than 5 bytes, the most it may have"),
        ] {
            assert_eq!(read(&at(name), 5).unwrap_err().to_string(), why, "{name}");
            put(&at(name), b"ours").unwrap();
            assert_eq!(read(&at(name), 5).unwrap(), b"ours", "{name}");
            assert_eq!(fs::symlink_metadata(at(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
        assert_eq!(fs::read(at("other")).unwrap(), b"of somebody");
        assert!(!at("nowhere").exists());
        fs::create_dir_all(at("full/of/things")).unwrap();
        assert!(put(&at("full"), b"ours").is_err() && at("full/of/things").exists(), "nothing of anybody is lost");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
    }
}
