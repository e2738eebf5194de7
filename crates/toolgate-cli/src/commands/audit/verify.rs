//! `toolgate audit verify`: whether somebody changed the record of calls.

use clap::Args;
use toolgate::audit::{AuditLog, Finding, Verification, verify};
use toolgate::shape::visible;

use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::ObjectWriter;
use crate::listing::counted;
use crate::printer::{Form, Printer};
use crate::session::Session;

/// Find records that were edited, removed, put in or moved
#[derive(Debug, Args)]
#[command(
    after_help = "Every record holds the hash of the one before it. Ends with 9 when something was changed, or calls could not be written down;
a line that a killed process left unfinished, and a call that it never ended, are told. The number and hash of the last record, noted somewhere else, prove
later that nothing before it was changed.

Examples:
  toolgate audit verify
  toolgate audit verify --json | jq '.findings'"
)]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(session: &mut Session) -> Result<Ending> {
    let found = verify(&AuditLog::open(session.env())?)?;
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| json.object(|object| write(object, &found)))?,
        Form::Text => print(printer, &found)?,
    }
    Ok(if found.is_sound() { Ending::Done } else { Ending::Found })
}

fn print(printer: &mut Printer, found: &Verification) -> Result<()> {
    let paint = printer.paint();
    for finding in &found.findings {
        printer.line(&format!("{} {}", paint.red("✗"), visible::line(&finding.to_string())))?;
    }
    if found.more_findings > 0 {
        printer.line(&format!("{} {} more", paint.red("✗"), found.more_findings))?;
    }
    for note in &found.notes {
        printer.line(&format!("{} {}", paint.yellow("!"), visible::line(&note.to_string())))?;
    }
    if found.more_notes > 0 {
        printer.line(&format!("{} {} more", paint.yellow("!"), found.more_notes))?;
    }
    let files = counted(found.files, "file");
    match &found.last {
        Some((seq, hash)) => {
            printer.line(&format!("{} records in {files}; the last is {seq}, {hash}", found.records))?;
        }
        None => printer.line("nothing is recorded yet")?,
    }
    match found.findings.len() {
        0 if found.last.is_some() => printer.line("no change was found")?,
        _ => (),
    }
    Ok(())
}

fn write(object: &mut ObjectWriter<'_>, found: &Verification) -> std::io::Result<()> {
    object.flag("ok", found.is_sound())?;
    object.number("files", found.files as u64)?;
    object.number("records", found.records)?;
    object.member("last", |json| match &found.last {
        Some((seq, hash)) => json.object(|object| {
            object.number("seq", *seq)?;
            object.string("hash", hash)
        }),
        None => json.null(),
    })?;
    write_findings(object, "findings", &found.findings)?;
    object.number("moreFindings", found.more_findings)?;
    write_findings(object, "notes", &found.notes)?;
    object.number("moreNotes", found.more_notes)
}

fn write_findings(object: &mut ObjectWriter<'_>, key: &'static str, findings: &[Finding]) -> std::io::Result<()> {
    object.array(key, findings, |json, finding| {
        json.object(|object| {
            object.string("file", &finding.file)?;
            object.optional_number("line", finding.line.map(|line| line as u64))?;
            object.string("what", &finding.what)
        })
    })
}
