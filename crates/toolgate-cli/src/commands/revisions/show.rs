//! `toolgate revisions show`: lists the files of a revision, or prints one of them.

use clap::Args;
use toolgate::revisions::Revisions;
use toolgate::shape::visible;

use super::{find, short, time, write_head};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::session::Session;
use crate::similar::did_you_mean;

/// Show the files of a revision, or the text of one of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate revisions show 3fa9c1
  toolgate revisions show 3fa9c1 policies/mine.toml")]
pub(super) struct Arguments {
    /// The id of the revision, from `toolgate revisions list`
    #[arg(value_name = "ID")]
    revision: String,
    /// The file to print
    #[arg(value_name = "FILE")]
    file: Option<String>,
}

pub(super) fn run(session: &mut Session, revisions: &Revisions, arguments: &Arguments) -> Result<Ending> {
    let revision = find(revisions, &arguments.revision)?;
    let texts = revisions.texts(&revision)?;
    let printer = &mut session.printer;
    if let Some(name) = &arguments.file {
        let Some(text) = texts.files.get(name).or_else(|| texts.beside.get(name)) else {
            let message = format!("revision {} has no file `{name}`", short(&revision));
            let error = CommandError::new(Ending::Unknown, "unknown_file", message);
            let names = revision.files.keys().map(String::as_str);
            return Err(did_you_mean(name, names).into_iter().fold(error, CommandError::hint));
        };
        match printer.form() {
            Form::Json => printer.json(|json| {
                json.object(|object| {
                    object.string("id", short(&revision))?;
                    object.string("file", name)?;
                    object.string("text", text)
                })
            })?,
            Form::Text => printer.raw_result(text)?,
        }
        return Ok(Ending::Done);
    }
    let all = revision.files.iter().map(|file| (file, true)).chain(revision.beside.iter().map(|file| (file, false)));
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                write_head(object, &revision)?;
                object.array("contents", all, |json, ((name, content), is_restored)| {
                    json.object(|object| {
                        object.string("file", name)?;
                        object.string("hash", &content.hash)?;
                        object.number("bytes", content.bytes)?;
                        object.flag("restorable", is_restored)
                    })
                })
            })
        })?,
        Form::Text => {
            let cause = visible::line(&revision.cause).into_owned();
            printer.line(&format!("{}  {}  {cause}", revision.id, time(&revision)))?;
            if let Some(reason) = &revision.reason {
                printer.line(&format!("  reason: {}", visible::line(reason)))?;
            }
            for ((name, content), is_restored) in all {
                let bytes = counted(usize::try_from(content.bytes).unwrap_or(usize::MAX), "byte");
                let note = if is_restored { "" } else { ", never restored" };
                printer.line(&format!("  {} ({bytes}{note})", visible::line(name)))?;
            }
        }
    }
    Ok(Ending::Done)
}
