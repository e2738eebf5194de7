//! What was typed in earlier sessions: `~/.toolgate/history`, for its owner only, no longer than it is useful.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use reedline::FileBackedHistory;

use crate::limits::{HISTORY_BYTES_MAX, HISTORY_LINES_MAX};

/// The name of the file.
const FILE: &str = "history";

/// For the owner only.
const OWNERS: u32 = 0o600;

/// Mode of the history folder: accessible to the owner only.
const OWNERS_FOLDER: u32 = 0o700;

/// The history in that folder. One that only lasts as long as the session where none can be kept.
pub(super) fn open(folder: &Path) -> FileBackedHistory {
    let file = folder.join(FILE);
    let kept = prepare(folder, &file).ok().and_then(|()| FileBackedHistory::with_file(HISTORY_LINES_MAX, file).ok());
    kept.unwrap_or_default()
}

/// Makes the file, takes it away from others, and cuts off its beginning when it has grown too long.
fn prepare(folder: &Path, file: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(OWNERS_FOLDER).create(folder)?;
    let mut opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(OWNERS).open(file)?;
    let about = opened.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::other("the history is no file"));
    }
    if about.permissions().mode() & 0o077 != 0 {
        opened.set_permissions(fs::Permissions::from_mode(OWNERS))?;
    }
    if about.len() > HISTORY_BYTES_MAX {
        opened.seek(SeekFrom::Start(about.len() - HISTORY_BYTES_MAX / 2))?;
        let mut end = Vec::new();
        (&opened).take(HISTORY_BYTES_MAX).read_to_end(&mut end)?;
        let from = end.iter().position(|byte| *byte == b'\n').map_or(end.len(), |at| at + 1);
        opened.set_len(0)?;
        opened.seek(SeekFrom::Start(0))?;
        opened.write_all(end.get(from..).unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use toolgate_testkit::TestWorld;

    use super::open;
    use crate::limits::HISTORY_BYTES_MAX;

    #[test]
    fn the_history_is_its_owners_and_does_not_grow_for_ever() {
        let world = TestWorld::new().unwrap();
        let folder = world.home().join(".toolgate");
        let file = folder.join("history");
        drop(open(&folder));
        let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let line = format!("{}\n", "x".repeat(999));
        let lines = usize::try_from(HISTORY_BYTES_MAX).unwrap() / line.len() + 2;
        std::fs::write(&file, line.repeat(lines)).unwrap();
        drop(open(&folder));
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(kept.len() as u64 <= HISTORY_BYTES_MAX / 2, "{}", kept.len());
        assert!(kept.starts_with("xxx") && kept.lines().all(|one| one.len() == 999), "whole lines");
        assert_eq!(mode(), 0o600);
    }
}
