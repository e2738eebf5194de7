//! Files that an import writes beside the settings: policy files and decisions about folders.

use toolgate::HostEnv;
use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::rulebook::write_new_policy;
use toolgate::shape::visible;
use toolgate::trust::{TrustLevel, confirm_all, set_rule};

use super::import_taken::{FolderTaken, PolicyTaken, Taken, bringing_nothing};
use crate::commands::trust::change_of;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::session::Session;

/// Writes policies and decisions about folders, each with its record. Existing files and decisions stay.
pub(crate) fn write_beside(session: &Session, taken: &Taken, reason: &Reason) -> Result<()> {
    let mut files = Vec::new();
    let written: Result<()> = taken.policies.iter().filter(|policy| !policy.is_there).try_for_each(|policy| {
        write_policy(session.env(), policy)?;
        files.push(ChangedFile::of_texts(&policy.to, None, Some(&policy.text)));
        Ok(())
    });
    // A file that was written before another one failed is in force as well.
    if !files.is_empty() {
        let change = PermissionChange::new(PermissionKind::Rules, "policies imported from Gemini CLI");
        reason.record(session, change.files(files));
    }
    written?;
    taken.folders.iter().try_for_each(|folder| decide(session, folder, reason))
}

/// Writes a policy in one step: half of one would stay behind for ever.
fn write_policy(env: &HostEnv, policy: &PolicyTaken) -> Result<()> {
    let cannot = |error: &str| {
        CommandError::new(Ending::Usage, "import", format!("cannot write {}: {error}", policy.to.display()))
    };
    match write_new_policy(env, &policy.to, &policy.text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(cannot("something was written there meanwhile")),
        Err(error) => Err(cannot(&error.to_string())),
    }
}

/// Keeps a decision. Trust is kept only while the folder still brings nothing: the person was asked in between.
fn decide(session: &Session, folder: &FolderTaken, reason: &Reason) -> Result<()> {
    let env = session.env();
    if folder.level != TrustLevel::Not {
        let Some(settings) = bringing_nothing(&folder.path, env) else {
            let path = folder.path.display().to_string();
            let path = visible::line(&path);
            session.printer.talk().line(&format!(
                "{path} brings something by now and was not trusted: `toolgate trust {path}` looks at it and asks"
            ));
            return Ok(());
        };
        // Servers that the folder brings later are new, and need a look.
        let env = HostEnv { workspace: folder.path.as_path().into(), ..env.clone() };
        confirm_all(&env, &folder.path, &settings)?;
    }
    set_rule(env, &folder.path, folder.level)?;
    reason.record(session, change_of(&folder.path, (None, folder.level), &[]));
    Ok(())
}
