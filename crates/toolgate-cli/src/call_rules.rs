//! What the calls of a run go through: the rules of all sources, what was allowed before, the person at the terminal, the record.

use std::sync::Arc;

use toolgate::audit::{
    AlertCommands, AlertRules, ArgumentsKept, AuditOptions, AuditSink as _, FileAudit, Fsync, Unusual, UnusualUse,
};
use toolgate::call::{CallRules, Confirmer, NobodyConfirms};
use toolgate::policy::Presence;
use toolgate::rulebook::Rulebook;
use toolgate::settings::Settings;
use toolgate::{Asker, Setup};

use toolgate::shape::visible;

use crate::commands::audit::check;
use crate::configured::tell;
use crate::confirm::AnswersYes;
use crate::error::{CommandError, Result};
use crate::kept_revision;
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
    let rulebook = rulebook(session, setup)?;
    if let Some(host) = session.lasting() {
        let rules = common(session, setup, presence, rulebook)?;
        let session = Some(host.host().calls().session().clone());
        return Ok(CallRules { confirmer, audit: host.audit(), session, ..rules });
    }
    kept_revision::noticed(session);
    let talk = session.printer.talk().clone();
    let audit = session.audit(&setup.env, audit_options(&setup.settings));
    // Changed rules are recorded before the first call that they decide.
    if let Err(error) = audit.rules_in_force(&setup.rules_in_force(&rulebook)) {
        talk.error(&CommandError::from(error.while_doing("cannot record the changed rules")));
    }
    let rules = common(session, setup, presence, rulebook)?;
    if let Some(error) = rules.grants.as_ref().and_then(|grants| grants.trouble()) {
        talk.error(&CommandError::from(error));
    }
    let told = talk.clone();
    let audit = audit.on_unusual(move |unusual| words(unusual).iter().for_each(|words| told.line(words)));
    let audit = with_alerts(session, setup, audit);
    let audit = audit.on_trouble(move |error| talk.error(&CommandError::from(error)));
    Ok(CallRules { confirmer, audit: Arc::new(audit), ..rules })
}

/// For a command that shows tools: what would be asked about is there to be called.
pub(crate) fn for_listing(session: &Session, setup: &Setup) -> Result<CallRules> {
    let presence = if session.options().headless { Presence::Headless } else { Presence::Interactive };
    common(session, setup, presence, rulebook(session, setup)?)
}

fn common(session: &Session, setup: &Setup, presence: Presence, rulebook: Rulebook) -> Result<CallRules> {
    Ok(CallRules {
        grants: Some(session.grants(&setup.env)),
        presence,
        ..setup.call_rules_of(rulebook, session.options().mode())?
    })
}

/// Checks calls against the limits of the settings, if there are any.
fn with_alerts(session: &Session, setup: &Setup, audit: FileAudit) -> FileAudit {
    let talk = session.printer.talk().clone();
    let rules = AlertRules::of(&setup.settings);
    rules.problems.iter().for_each(|problem| talk.line(&format!("{} {problem}", talk.paint().yellow("warning:"))));
    // Alert commands must not see the variables of a folder's `.env`.
    let commands = (!rules.is_empty()).then(|| AlertCommands::new(session.env()));
    audit.on_alert(&Arc::new(rules), move |alert| {
        if alert.line {
            talk.line(&check::line(alert));
        }
        commands.iter().for_each(|commands| commands.tell(alert));
    })
}

/// What is unusual about a call, for the person at the terminal; they need not be told that they type something for the first time.
fn words(unusual: &Unusual) -> Option<String> {
    let (server, tool) = (visible::line(&unusual.server), visible::line(&unusual.tool));
    match unusual.what {
        // A tool name that the person typed is not unexpected.
        UnusualUse::NewTool if matches!(unusual.asker, Asker::Cli | Asker::SlashCommand) => None,
        UnusualUse::NewTool => {
            Some(format!("unusual: first call of `{tool}`, although {server} has been in use for weeks"))
        }
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
