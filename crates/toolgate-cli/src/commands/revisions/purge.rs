//! `toolgate revisions purge`: deletes revisions from the disk, with file contents that no other revision has.

use clap::Args;
use toolgate::revisions::{Revision, Revisions};

use super::{find, short};
use crate::commands::policy::since;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::session::Session;

/// Delete revisions from the disk
#[derive(Debug, Args)]
#[command(after_help = "Your current settings and policies do not change.

Examples:
  toolgate revisions purge 3fa9c1                 one, for example because it contains a password
  toolgate revisions purge --keep 20              all but the newest twenty
  toolgate revisions purge --older-than 90d
  toolgate revisions purge --all")]
pub(super) struct Arguments {
    /// The revisions to delete
    #[arg(value_name = "ID", conflicts_with_all = ["keep", "older_than", "all"])]
    revisions: Vec<String>,
    /// Delete all but the newest COUNT
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["older_than", "all"])]
    keep: Option<usize>,
    /// Delete those from before then: 90d, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "WHEN", conflicts_with = "all")]
    older_than: Option<String>,
    /// Delete every revision
    #[arg(long)]
    all: bool,
}

pub(super) fn run(session: &mut Session, revisions: &Revisions, arguments: &Arguments) -> Result<Ending> {
    let purged = match arguments {
        Arguments { all: true, .. } => revisions.purge(|_, _| true)?,
        Arguments { keep: Some(count), .. } => revisions.purge(|nth, _| nth >= *count)?,
        Arguments { older_than: Some(when), .. } => {
            let before = since(session, when)?;
            revisions.purge(|_, revision| revision.at < before)?
        }
        Arguments { revisions: words, .. } if !words.is_empty() => {
            let meant: Vec<Revision> = words.iter().map(|word| find(revisions, word)).collect::<Result<_>>()?;
            revisions.purge(|_, revision| meant.iter().any(|one| one.id == revision.id))?
        }
        _ => {
            let error = CommandError::usage("no revisions are named");
            return Err(error.hint("name their ids, or `--keep COUNT`, or `--older-than WHEN`, or `--all`"));
        }
    };
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| object.array("purged", &purged, |json, revision| json.string(short(revision))))
        })?,
        Form::Text => printer.line(&format!("purged {}", counted(purged.len(), "revision")))?,
    }
    Ok(Ending::Done)
}
