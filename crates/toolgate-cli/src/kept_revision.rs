//! Saves revisions of settings and policies: before and after a command that edits them, and before a call.

use toolgate::revisions::Revisions;

use crate::args::Command;
use crate::commands::{extensions, mcp, policy, revisions};
use crate::error::Result;
use crate::permission_record::Reason;
use crate::session::Session;

/// The cause of a revision that no toolgate command made.
pub(crate) const BY_HAND: &str = "changed by hand";

/// A command that edits settings or policies.
#[derive(Clone, Debug)]
pub(crate) struct Editing {
    name: &'static str,
    /// The reason that the person gave for it.
    reason: Option<String>,
}

impl Editing {
    /// The command, if it is one that edits.
    pub(crate) fn of(command: &Command) -> Option<Self> {
        let (name, reason) = match command {
            Command::Mcp(mcp::Command::Add(arguments)) => ("mcp add", Some(&arguments.reason)),
            Command::Mcp(mcp::Command::Remove(arguments)) => ("mcp remove", Some(&arguments.reason)),
            Command::Mcp(mcp::Command::Enable(arguments)) => ("mcp enable", Some(&arguments.switched.reason)),
            Command::Mcp(mcp::Command::Disable(arguments)) => ("mcp disable", Some(&arguments.switched.reason)),
            Command::Mcp(mcp::Command::Import(arguments)) => ("mcp import", Some(&arguments.reason)),
            Command::Policy(policy::Command::Preset(arguments)) => ("policy preset", Some(&arguments.reason)),
            Command::Policy(policy::Command::Suggest(arguments)) => ("policy suggest", Some(&arguments.reason)),
            Command::Policy(policy::Command::Review(arguments)) => ("policy review", Some(&arguments.reason)),
            Command::Extensions(extensions::Command::Enable(_)) => ("extensions enable", None),
            Command::Extensions(extensions::Command::Disable(_)) => ("extensions disable", None),
            Command::Revisions(revisions::Arguments { .. }) => (BY_HAND, None),
            _ => return None,
        };
        Some(Self { name, reason: reason.and_then(Reason::text).map(ToOwned::to_owned) })
    }
}

/// Keeps the state before a command edits it.
///
/// # Errors
/// Returns an error if a restoration was interrupted and cannot be ended. Commands about revisions go on, because they end it.
pub(crate) fn before(session: &Session, editing: Option<&Editing>) -> Result<()> {
    let Some(editing) = editing else { return Ok(()) };
    match finish_interrupted(session) {
        Err(error) if editing.name == BY_HAND => session.printer.talk().error(&error),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    keep_quietly(session);
    Ok(())
}

/// Keeps the state that a command made, whatever its end. A command does not fail because that cannot be done.
pub(crate) fn after(session: &Session, editing: Option<&Editing>) {
    let Some(Editing { name, reason }) = editing.filter(|editing| editing.name != BY_HAND) else { return };
    if let Err(error) = Revisions::open(session.env()).keep(name, reason.as_deref()) {
        tracing::warn!("cannot save a revision of the settings: {error}");
    }
}

/// Saves changes that were made by hand since the last run.
pub(crate) fn noticed(session: &Session) {
    keep_quietly(session);
}

fn keep_quietly(session: &Session) {
    if let Err(error) = Revisions::open(session.env()).keep(BY_HAND, None) {
        tracing::debug!(%error, "cannot save a revision of the settings");
    }
}

/// Completes a restoration that a crash interrupted, before settings are read.
///
/// # Errors
/// Returns an error if that is not possible: half of the rules of another time must not decide about calls.
pub(crate) fn finish_interrupted(session: &Session) -> Result<()> {
    Ok(Revisions::open(session.env()).finish_interrupted()?)
}
