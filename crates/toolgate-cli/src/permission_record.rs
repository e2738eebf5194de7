//! Records the changes of permissions that commands make, with the reason that the person gave.

use clap::Args;
use toolgate::HostEnv;
use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::settings::edit::EditError;
use toolgate::settings::edit_file::{Change, edit_file};

use crate::commands::mcp::scope::Target;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::talk::Talk;

/// The reason of a change.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reason {
    /// The reason for the record (`toolgate audit show --permissions`)
    #[arg(long = "reason", value_name = "TEXT")]
    text: Option<String>,
}

impl Reason {
    /// The reason as text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Records a change. If that fails, the change still takes effect, and a warning says so.
    pub(crate) fn record(&self, session: &Session, change: PermissionChange) {
        let change = match session.lasting() {
            Some(host) => change.in_session(host.host().calls().session().to_string()),
            None => change,
        };
        record(session.env(), session.printer.talk(), &change.reason(self.text()));
    }

    /// Edits a settings file, and records the change if there was one.
    pub(crate) fn edit_settings(
        &self,
        session: &Session,
        (target, subject): (&Target, &str),
        change: impl FnOnce(&str) -> std::result::Result<Option<String>, EditError>,
    ) -> Result<Change> {
        let mut changed = None;
        let done = edit_file(&target.path, target.source, |old| {
            let new = change(old)?;
            let before = Some(old).filter(|old| !old.is_empty());
            let differs = new.as_deref().filter(|new| *new != old);
            changed = differs.map(|new| ChangedFile::of_texts(&target.path, before, Some(new)));
            Ok(new)
        })?;
        if let Some(file) = changed {
            self.record(session, PermissionChange::new(PermissionKind::Settings, subject).files([file]));
        }
        Ok(done)
    }
}

/// Records a change outside of a session.
pub(crate) fn record(env: &HostEnv, talk: &Talk, change: &PermissionChange) {
    if let Err(error) = change.write(env) {
        talk.error(&CommandError::from(error.while_doing("the change took effect, but cannot be recorded")));
    }
}
