//! Changes of permissions that commands make, written into the record with the reason the person gave.

use clap::Args;
use toolgate::HostEnv;
use toolgate::audit::PermissionChange;

use crate::error::CommandError;
use crate::session::Session;
use crate::talk::Talk;

/// The reason of a change.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reason {
    /// Why; stands in the record (`toolgate audit show --permissions`)
    #[arg(long = "reason", value_name = "TEXT")]
    text: Option<String>,
}

impl Reason {
    /// Its text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Writes a change down. One that cannot be written was made all the same, which is told.
    pub(crate) fn record(&self, session: &Session, change: PermissionChange) {
        let change = match session.lasting() {
            Some(host) => change.in_session(host.host().calls().session().to_string()),
            None => change,
        };
        record(session.env(), session.printer.talk(), &change.reason(self.text.as_deref()));
    }
}

/// Writes a change down outside of a session.
pub(crate) fn record(env: &HostEnv, talk: &Talk, change: &PermissionChange) {
    if let Err(error) = change.write(env) {
        talk.error(&CommandError::from(error.while_doing("the change was made, and is not in the record")));
    }
}
