//! Sweeping a folder of such files: what there is, and which of it has to go. Deciding is pure.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file::{HALF_WRITTEN, is_name, put};
use crate::limits::{OWN_FILE_LEFTOVER_MS, OWN_FILES_LISTED_MAX};

/// One file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// How large it is.
    pub(crate) bytes: u64,
    /// When it was put in place, or last used.
    pub(crate) modified: SystemTime,
}

/// What may stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Nothing older.
    pub(crate) age: Duration,
    /// Not more files.
    pub(crate) files: usize,
    /// Not more in all.
    pub(crate) bytes: u64,
}

/// The files in a folder. What a crash left there half written is removed on the way.
pub(crate) fn take_stock(folder: &Path, now: SystemTime) -> io::Result<Vec<OwnFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries.take(OWN_FILES_LISTED_MAX) {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        // It may have gone meanwhile.
        let Ok(about) = entry.metadata() else { continue };
        let Ok(modified) = about.modified() else { continue };
        if is_name(name) && about.is_file() {
            files.push(OwnFile { path: entry.path(), bytes: about.len(), modified });
        } else if name.ends_with(HALF_WRITTEN) && age(modified, now) > Duration::from_millis(OWN_FILE_LEFTOVER_MS) {
            let _removed = fs::remove_file(entry.path()).is_ok();
        }
    }
    Ok(files)
}

/// What has to go so that the rest is within bounds: what is too old, and the oldest of what is too much. Oldest first.
pub(crate) fn surplus(mut files: Vec<OwnFile>, bounds: &Bounds, now: SystemTime) -> Vec<OwnFile> {
    files.sort_by(|one, other| (other.modified, &other.path).cmp(&(one.modified, &one.path)));
    let mut bytes = 0_u64;
    let mut stays = |(place, file): (usize, &OwnFile)| {
        bytes = bytes.saturating_add(file.bytes);
        place < bounds.files && bytes <= bounds.bytes && age(file.modified, now) <= bounds.age
    };
    let kept = files.iter().enumerate().take_while(|file| stays(*file)).count();
    let mut surplus = files.split_off(kept);
    surplus.reverse();
    surplus
}

/// Whether so much time has passed since it was last due; then it is not due again for others.
pub(crate) fn is_due(stamp: &Path, every: Duration, now: SystemTime) -> bool {
    let last = fs::symlink_metadata(stamp).and_then(|about| about.modified());
    // A clock that was set back must not stop it for ever.
    let is_due = !last.is_ok_and(|last| now.duration_since(last).is_ok_and(|since| since < every));
    if is_due {
        let stamped = put(stamp, b"").and_then(|()| fs::File::options().write(true).open(stamp)?.set_modified(now));
        if let Err(error) = stamped {
            tracing::debug!(stamp = %stamp.display(), %error, "cannot note when a folder was swept");
        }
    }
    is_due
}

/// Notes that there is one more file; whether there are so many more by now. Then it counts from the beginning.
pub(crate) fn are_too_many_new(tally: &Path, most: u64) -> bool {
    let mut options = fs::File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let noted = options.open(tally).and_then(|mut file| {
        file.write_all(b"+")?;
        let are_too_many = file.metadata()?.len() >= most;
        if are_too_many {
            file.set_len(0)?;
        }
        Ok(are_too_many)
    });
    noted.unwrap_or_else(|error| {
        tracing::debug!(tally = %tally.display(), %error, "cannot note how many files are new");
        false
    })
}

/// What has a time to come is new.
fn age(modified: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(modified).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::{Bounds, OwnFile, is_due, surplus, take_stock};

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_oldest_go_until_the_rest_is_within_bounds() {
        let most = Bounds { age: Duration::from_secs(1_000), files: 100, bytes: 1_000 };
        // Files as (name, bytes, seconds of their time); it is 1000 now.
        type Case<'a> = (&'a [(&'a str, u64, u64)], Bounds, &'a [&'a str]);
        let cases: [Case<'_>; 9] = [
            (&[], most, &[]),
            (&[("a", 1, 0), ("b", 1, 1_000)], most, &[]),
            (&[("a", 1, 0), ("b", 1, 500)], Bounds { age: Duration::from_secs(999), ..most }, &["a"]),
            (&[("future", 1, 5_000), ("b", 1, 999)], Bounds { age: Duration::ZERO, ..most }, &["b"]),
            (&[("a", 1, 3), ("b", 1, 1), ("c", 1, 2)], Bounds { files: 2, ..most }, &["b"]),
            (&[("a", 1, 3), ("b", 1, 1), ("c", 1, 2)], Bounds { files: 0, ..most }, &["b", "c", "a"]),
            (&[("a", 600, 1), ("b", 600, 2), ("c", 300, 3)], most, &["a"]),
            (&[("small", 1, 1), ("large", 2_000, 2), ("c", 300, 3)], most, &["small", "large"]),
            (&[("x", u64::MAX, 1), ("y", u64::MAX, 2)], Bounds { bytes: u64::MAX, ..most }, &[]),
        ];
        for (files, bounds, expected) in cases {
            let files = files.iter().map(|(name, bytes, seconds)| OwnFile {
                path: name.into(),
                bytes: *bytes,
                modified: at(*seconds),
            });
            let files: Vec<OwnFile> = files.collect();
            let gone: Vec<String> =
                surplus(files.clone(), &bounds, at(1_000)).iter().map(|one| one.path.display().to_string()).collect();
            assert_eq!(gone, expected, "{files:?}, {bounds:?}");
        }
    }

    #[test]
    fn stock_is_of_our_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let name = "ab".repeat(32);
        let old = at(1_000_000);
        for file in [&name, "key", "ab.new", "fresh.new", "notes.txt"] {
            fs::write(folder.path().join(file), "four").unwrap();
        }
        fs::create_dir(folder.path().join("cd".repeat(32))).unwrap();
        for file in [&name, "ab.new"] {
            File::options().write(true).open(folder.path().join(file)).unwrap().set_modified(old).unwrap();
        }
        let stock = take_stock(folder.path(), SystemTime::now()).unwrap();
        assert_eq!(stock, [OwnFile { path: folder.path().join(&name), bytes: 4, modified: old }]);
        let left = |file: &str| folder.path().join(file).exists();
        assert!(left("key") && left("notes.txt") && left("fresh.new") && !left("ab.new"));
        assert_eq!(take_stock(&folder.path().join("none"), old).unwrap(), []);
    }

    #[test]
    fn something_is_due_once_in_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("new folder/stamp");
        let hour = Duration::from_secs(3_600);
        let cases = [(10_000, true), (10_001, false), (13_599, false), (13_600, true), (13_700, false), (5_000, true)];
        for (now, expected) in cases {
            assert_eq!(is_due(&stamp, hour, at(now)), expected, "at {now}");
        }
    }
}
