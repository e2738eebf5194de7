//! Files that an import writes beside the settings: policy files and decisions about folders.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use toolgate::HostEnv;
use toolgate::settings::{LoadOptions, load};
use toolgate::trust::{TrustLevel, confirm_all, set_rule};

use super::import_taken::{FolderTaken, PolicyTaken, Taken};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;

/// File mode: only the owner may read and write.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Writes policies and decisions about folders. Existing files and decisions stay.
pub(crate) fn write_beside(env: &HostEnv, taken: &Taken) -> Result<()> {
    taken.policies.iter().filter(|policy| !policy.is_there).try_for_each(write_policy)?;
    taken.folders.iter().try_for_each(|folder| decide(env, folder))
}

fn write_policy(policy: &PolicyTaken) -> Result<()> {
    let cannot = |error: &std::io::Error| {
        CommandError::new(Ending::Usage, "import", format!("cannot write {}: {error}", policy.to.display()))
    };
    if let Some(folder) = policy.to.parent() {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder).map_err(|error| cannot(&error))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&policy.to);
    file.and_then(|mut file| file.write_all(policy.text.as_bytes())).map_err(|error| cannot(&error))
}

fn decide(env: &HostEnv, folder: &FolderTaken) -> Result<()> {
    if folder.level != TrustLevel::Not {
        // Servers that the folder brings later are new, and need a look.
        let env = HostEnv { workspace: folder.path.as_path().into(), ..env.clone() };
        confirm_all(&env, &folder.path, &load(&env, &LoadOptions::default()))?;
    }
    set_rule(env, &folder.path, folder.level)?;
    Ok(())
}
