//! Writing a file in one step: a new file beside it takes its place, so that nobody ever sees half of it.
//!
//! Both names are in one open folder and neither is followed if it is a link, so what is written stays where it was meant to be.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions};

use crate::confine::Spot;

/// How many names are tried for the new file; somebody would have to guess them all.
const ATTEMPTS: usize = 16;

/// Counts the new files of this process, so that two never share a name.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Whether there was a file before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    New,
    Replaced,
}

/// Puts `content` at `spot`. Permissions of a file that was there are kept; a hard link to it elsewhere keeps the old content.
pub(crate) fn rewrite(spot: &Spot, content: &[u8]) -> io::Result<Written> {
    let before = spot.folder.symlink_metadata(&spot.name).ok();
    let (file, draft) = Draft::create(&spot.folder)?;
    if let Some(before) = &before {
        file.set_permissions(before.permissions())?;
    }
    (&file).write_all(content)?;
    drop(file);
    draft.settle(spot)?;
    Ok(if before.is_some() { Written::Replaced } else { Written::New })
}

/// The new file until it has taken its place; removed when it does not get there.
struct Draft<'a> {
    folder: &'a Dir,
    name: String,
    settled: bool,
}

impl<'a> Draft<'a> {
    fn create(folder: &'a Dir) -> io::Result<(File, Self)> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".toolgate-{}-{number}.tmp", std::process::id());
            // `create_new` follows no link, not even one into nothing.
            match folder.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
                Ok(file) => return Ok((file, Self { folder, name, settled: false })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn settle(mut self, spot: &Spot) -> io::Result<()> {
        self.folder.rename(&self.name, &spot.folder, &spot.name)?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.settled {
            let _gone_already = self.folder.remove_file(&self.name).is_err();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::Ordering;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::{COUNTER, Written, rewrite};
    use crate::confine::Spot;

    #[test]
    fn a_link_under_the_name_of_the_new_file_is_not_followed() {
        let room = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "SECRET").unwrap();
        let next = COUNTER.load(Ordering::Relaxed);
        for number in next..next + 8 {
            let name = format!(".toolgate-{}-{number}.tmp", std::process::id());
            std::os::unix::fs::symlink(&secret, room.path().join(name)).unwrap();
        }
        let folder = Dir::open_ambient_dir(room.path(), ambient_authority()).unwrap();
        let spot = Spot { folder, name: "a".into() };
        assert_eq!(rewrite(&spot, b"new").unwrap(), Written::New);
        assert_eq!(rewrite(&spot, b"newer").unwrap(), Written::Replaced);
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "SECRET");
        assert_eq!(std::fs::read_to_string(room.path().join("a")).unwrap(), "newer");
    }

    #[test]
    fn permissions_stay_and_nothing_is_left_behind() {
        let room = tempfile::tempdir().unwrap();
        let script = room.path().join("run.sh");
        std::fs::write(&script, "old").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o750)).unwrap();
        std::fs::create_dir(room.path().join("folder")).unwrap();
        let folder = || Dir::open_ambient_dir(room.path(), ambient_authority()).unwrap();
        rewrite(&Spot { folder: folder(), name: "run.sh".into() }, b"new").unwrap();
        assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(rewrite(&Spot { folder: folder(), name: "folder".into() }, b"new").is_err());
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 2);
    }
}
