//! Saves revisions of settings and policies: before and after a command that edits them, and before a call.

use toolgate::revisions::Revisions;

use crate::args::Command;
use crate::commands::{extensions, mcp, policy, revisions};
use crate::error::CommandError;
use crate::exit_code::Ending;
use crate::session::Session;

/// The cause of a revision that no toolgate command made.
pub(crate) const BY_HAND: &str = "changed by hand";

/// The name of a command that edits settings or policies.
pub(crate) fn name_of(command: &Command) -> Option<&'static str> {
    match command {
        Command::Mcp(mcp::Command::Add(_)) => Some("mcp add"),
        Command::Mcp(mcp::Command::Remove(_)) => Some("mcp remove"),
        Command::Mcp(mcp::Command::Enable(_)) => Some("mcp enable"),
        Command::Mcp(mcp::Command::Disable(_)) => Some("mcp disable"),
        Command::Mcp(mcp::Command::Import(_)) => Some("mcp import"),
        Command::Policy(policy::Command::Preset(_)) => Some("policy preset"),
        Command::Policy(policy::Command::Suggest(_)) => Some("policy suggest"),
        Command::Policy(policy::Command::Review(_)) => Some("policy review"),
        Command::Extensions(extensions::Command::Enable(_)) => Some("extensions enable"),
        Command::Extensions(extensions::Command::Disable(_)) => Some("extensions disable"),
        Command::Revisions(revisions::Arguments { .. }) => Some(BY_HAND),
        _ => None,
    }
}

/// Saves the state before a command edits it. The command itself reports errors in that state.
pub(crate) fn before(session: &Session, editing: Option<&str>) {
    if editing.is_some() {
        finish_interrupted(session);
        keep_quietly(session);
    }
}

/// Saves the state after a command. A failure to save does not fail the command.
pub(crate) fn after(session: &Session, editing: Option<&str>, ending: Ending) {
    let Some(name) = editing.filter(|name| ending == Ending::Done && *name != BY_HAND) else { return };
    if let Err(error) = Revisions::open(session.env()).keep(name, None) {
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
pub(crate) fn finish_interrupted(session: &Session) {
    if let Err(error) = Revisions::open(session.env()).finish_interrupted() {
        session
            .printer
            .talk()
            .error(&CommandError::from(error.while_doing("an interrupted restoration cannot be completed")));
    }
}
