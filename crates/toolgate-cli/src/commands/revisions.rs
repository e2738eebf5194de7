//! `toolgate revisions`: lists, shows, compares, restores and purges earlier settings and policies. Starts no server.

mod diff;
mod purge;
mod restore;
mod show;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use toolgate::revisions::{Revision, Revisions};
use toolgate::shape::visible;

use crate::columns::table;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::{JsonWriter, ObjectWriter};
use crate::printer::Form;
use crate::session::Session;
use crate::similar::did_you_mean;

/// Number of characters of an id that are shown.
const ID_CHARS: usize = 12;

/// List, compare and restore earlier versions of your settings and policies
///
/// A revision holds `settings.json` and the policy files of your own folder. toolgate saves one before and after a command
/// changes these files, and when a call notices that you changed them. Grants and trust can be compared, but are never restored.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate revisions                                  all of them, the newest first
  toolgate revisions diff 3fa9c1                      what changed since then
  toolgate policy simulate --against 3fa9c1           which calls it would decide differently
  toolgate revisions restore 3fa9c1 --reason 'too wide'"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the revisions, the newest first
    List,
    Show(show::Arguments),
    Diff(diff::Arguments),
    Restore(restore::Arguments),
    Purge(purge::Arguments),
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let revisions = Revisions::open(session.env());
    match &arguments.command {
        None | Some(Command::List) => list(session, &revisions),
        Some(Command::Show(arguments)) => show::run(session, &revisions, arguments),
        Some(Command::Diff(arguments)) => diff::run(session, &revisions, arguments),
        Some(Command::Restore(arguments)) => restore::run(session, &revisions, arguments),
        Some(Command::Purge(arguments)) => purge::run(session, &revisions, arguments),
    }
}

fn list(session: &mut Session, revisions: &Revisions) -> Result<Ending> {
    let listed = revisions.list()?;
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.string("folder", &revisions.folder().display().to_string())?;
                object.array("revisions", listed.iter().rev(), |json, revision| {
                    json.object(|object| write_head(object, revision))
                })
            })
        })?;
        return Ok(Ending::Done);
    }
    if listed.is_empty() {
        printer.talk().line("there are no revisions yet: you have no settings or policies");
        return Ok(Ending::Done);
    }
    let row = |revision: &Revision| {
        vec![
            short(revision).to_owned(),
            time(revision),
            revision.files.len().to_string(),
            visible::line(&revision.cause).into_owned(),
            visible::line(revision.reason.as_deref().unwrap_or_default()).into_owned(),
        ]
    };
    let rows = listed.iter().rev().map(row).collect();
    for line in table(&["ID", "SAVED", "FILES", "CAUSE", "REASON"], rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    printer.talk().line("the first one is the current state; `toolgate revisions restore ID` restores another");
    Ok(Ending::Done)
}

/// The revision with the id that was typed.
pub(crate) fn find(revisions: &Revisions, word: &str) -> Result<Revision> {
    let listed = revisions.list()?;
    if listed.iter().any(|one| one.id.starts_with(word)) && !word.is_empty() {
        return Ok(revisions.find(word)?);
    }
    let error = CommandError::new(Ending::Unknown, "unknown_revision", format!("there is no revision `{word}`"));
    let near = did_you_mean(word, listed.iter().map(short));
    Err(error.hint(near.unwrap_or_else(|| "`toolgate revisions list` shows them".to_owned())))
}

/// The short id, as it is shown and typed.
pub(crate) fn short(revision: &Revision) -> &str {
    revision.id.get(..ID_CHARS).unwrap_or(&revision.id)
}

fn time(revision: &Revision) -> String {
    let time = Timestamp::try_from(revision.at).and_then(|time| Timestamp::from_second(time.as_second()));
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}

/// The members of a revision in JSON listings.
fn write_head(object: &mut ObjectWriter<'_>, revision: &Revision) -> std::io::Result<()> {
    object.string("id", short(revision))?;
    object.string("hash", &revision.id)?;
    object.string("at", &time(revision))?;
    object.string("cause", &revision.cause)?;
    object.optional_string("reason", revision.reason.as_deref())?;
    object.array("files", revision.files.keys(), |json: &mut JsonWriter<'_>, name| json.string(name))
}
