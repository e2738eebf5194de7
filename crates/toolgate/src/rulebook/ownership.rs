//! Whether a folder is the administrator's alone: whoever else may write there could make rules that outrank everybody's.

use std::fs;
use std::path::Path;

/// Why a folder cannot be taken for the administrator's. `None` when it can, or when there is none.
#[cfg(unix)]
pub(super) fn why_not_administrators(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let about = fs::metadata(folder).ok()?;
    if about.uid() != 0 {
        Some(format!("it belongs to user {}, not to root", about.uid()))
    } else if about.mode() & WRITABLE_BY_OTHERS != 0 {
        Some(format!("others than root may write there (mode {:o})", about.mode() & 0o777))
    } else {
        None
    }
}

/// Elsewhere nothing tells us who may write there.
#[cfg(not(unix))]
pub(super) fn why_not_administrators(folder: &Path) -> Option<String> {
    fs::metadata(folder).ok().map(|_| "who may write there cannot be told on this system".to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::why_not_administrators;

    #[test]
    fn a_folder_that_others_may_write_to_is_not_the_administrators() {
        let folder = tempfile::tempdir().unwrap();
        let is_root = std::fs::metadata(folder.path()).unwrap().uid() == 0;
        for (mode, is_refused) in [(0o755, !is_root), (0o700, !is_root), (0o775, true), (0o777, true), (0o757, true)] {
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(why_not_administrators(folder.path()).is_some(), is_refused, "{mode:o}");
        }
        assert_eq!(why_not_administrators(&folder.path().join("none")), None);
    }
}
