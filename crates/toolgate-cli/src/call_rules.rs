//! What the calls of a run go through: the rules of all sources, what was allowed before, the person at the terminal, the record.

use std::sync::Arc;

use toolgate::audit::{ArgumentsKept, AuditOptions, Fsync, Unusual, UnusualUse};
use toolgate::call::{CallRules, Confirmer, NobodyConfirms};
use toolgate::policy::{Permissions, Presence};
use toolgate::rulebook::{Rulebook, grants_last_in_run, lasting_of_run, mode_of_run};
use toolgate::settings::Settings;
use toolgate::{Asker, Setup};

use toolgate::shape::visible;

use crate::configured::tell;
use crate::confirm::AnswersYes;
use crate::error::{CommandError, Result};
use crate::session::Session;

/// The rules of a run, after what is odd in them has been said.
pub(crate) fn rulebook(session: &Session, setup: &Setup) -> Result<Rulebook> {
    let rulebook = setup.rulebook();
    let talk = session.printer.talk();
    // Whoever types one command after the other is told once.
    if session.lasting().is_none() {
        rulebook.diagnostics.iter().for_each(|diagnostic| tell(diagnostic, talk));
        rulebook.troubles.iter().for_each(|error| talk.error(&CommandError::from(error)));
    }
    match rulebook.error() {
        Some(error) => Err(CommandError::from(error).hint("`toolgate policy check` shows everything that is wrong")),
        None => Ok(rulebook),
    }
}

/// For a command that calls tools.
pub(crate) fn for_calls(session: &Session, setup: &Setup) -> Result<CallRules> {
    let options = session.options();
    let can_ask = session.printer.terminal().can_ask() && !options.headless && !options.json;
    let confirmer: Arc<dyn Confirmer> = if options.yes {
        Arc::new(AnswersYes)
    } else if can_ask {
        session.confirmer()
    } else {
        Arc::new(NobodyConfirms)
    };
    let presence = if options.yes || can_ask { Presence::Interactive } else { Presence::Headless };
    let rules = common(session, setup, presence)?;
    if let Some(host) = session.lasting() {
        let session = Some(host.host().calls().session().clone());
        return Ok(CallRules { confirmer, audit: host.audit(), session, ..rules });
    }
    let talk = session.printer.talk().clone();
    if let Some(error) = rules.grants.as_ref().and_then(|grants| grants.trouble()) {
        talk.error(&CommandError::from(error));
    }
    let audit = session.audit(&setup.env, audit_options(&setup.settings));
    let told = talk.clone();
    let audit = audit.on_unusual(move |unusual| words(unusual).iter().for_each(|words| told.line(words)));
    let audit = audit.on_trouble(move |error| talk.error(&CommandError::from(error)));
    Ok(CallRules { confirmer, audit: Arc::new(audit), ..rules })
}

/// For a command that shows tools: what would be asked about is there to be called.
pub(crate) fn for_listing(session: &Session, setup: &Setup) -> Result<CallRules> {
    let presence = if session.options().headless { Presence::Headless } else { Presence::Interactive };
    common(session, setup, presence)
}

fn common(session: &Session, setup: &Setup, presence: Presence) -> Result<CallRules> {
    let rulebook = rulebook(session, setup)?;
    Ok(CallRules {
        permissions: Permissions::new(rulebook.policy),
        checkers: rulebook.checkers,
        grants: Some(session.grants(&setup.env)),
        mode: mode_of_run(session.options().mode, &setup.settings, &setup.folder)?,
        presence,
        folder_is_trusted: setup.folder.is_vouched_for(),
        folder_is_distrusted: !setup.folder.is_trusted(),
        lasting: lasting_of_run(&setup.settings),
        grants_last: grants_last_in_run(&setup.settings),
        ..CallRules::default()
    })
}

/// What is unusual about a call, for the person at the terminal; they need not be told that they type something for the first time.
fn words(unusual: &Unusual) -> Option<String> {
    let (server, tool) = (visible::line(&unusual.server), visible::line(&unusual.tool));
    match unusual.what {
        UnusualUse::FirstCallByAsker if matches!(unusual.asker, Asker::Cli | Asker::SlashCommand) => None,
        UnusualUse::FirstCallByAsker => Some(format!("unusual: `{tool}` of {server} was never called before")),
        UnusualUse::Burst => Some(format!("unusual: many calls of {server} within a minute")),
        UnusualUse::FirstWriteAfterReads => {
            Some(format!("unusual: `{tool}` may change something, and {server} was only read from before"))
        }
    }
}

/// How the record is kept. A workspace folder has no say in it.
fn audit_options(settings: &Settings) -> AuditOptions {
    let arguments = match settings.word("audit.arguments") {
        Some("full") => ArgumentsKept::Full,
        _ => ArgumentsKept::Redacted,
    };
    let fsync = match settings.word("audit.fsync") {
        Some("always") => Fsync::Always,
        Some("never") => Fsync::Never,
        _ => Fsync::Interval,
    };
    AuditOptions { arguments, fsync, ..AuditOptions::default() }
}
