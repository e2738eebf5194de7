//! `toolgate audit show --permissions`: changes of permissions, with person, time and reason.

use toolgate::RawJson;
use toolgate::audit::{AuditLog, Query, StoredChange};

use super::fitted::fitted;
use super::show::shown_time;
use super::tell_unreadable;
use crate::columns::short;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::limits::{AUDIT_ABOUT_CHARS_MAX, AUDIT_IMPACT_SHOWN_MAX};
use crate::printer::Form;
use crate::session::Session;

/// Prints the changes that match the options.
pub(super) fn run(session: &mut Session, query: &Query) -> Result<Ending> {
    let mut changes: Vec<StoredChange> = Vec::new();
    let unreadable = AuditLog::open(session.env())?.each_change(query, |change| {
        changes.push(change);
        true
    })?;
    if session.printer.form() == Form::Json {
        session.printer.json(|json| {
            json.object(|object| {
                object.array("permissions", &changes, |json, change| {
                    match RawJson::from_bytes(change.line.clone()) {
                        Ok(record) => json.raw(&record),
                        Err(_) => json.null(),
                    }
                })?;
                object.number("unreadable", unreadable)
            })
        })?;
        return Ok(Ending::Done);
    }
    tell_unreadable(session, unreadable);
    let printer = &mut session.printer;
    if changes.is_empty() {
        printer.talk().line("no matching changes of permissions are recorded");
        return Ok(Ending::Done);
    }
    let headings = ["TIME", "BY", "CHANGE", "SUBJECT", "ABOUT"];
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    let paint = printer.paint();
    match fitted(&headings, rows.clone(), headings.len() - 1, printer.terminal().columns) {
        Some(lines) => {
            for (at, line) in lines.iter().enumerate() {
                let line = if at == 0 { paint.bold(line).to_string() } else { line.clone() };
                printer.line(&line)?;
            }
        }
        None => {
            for row in rows {
                printer.line(&row.join("  "))?;
            }
        }
    }
    Ok(Ending::Done)
}

fn row(change: &StoredChange) -> Vec<String> {
    let word = |text: &str| short(text, AUDIT_ABOUT_CHARS_MAX);
    vec![
        shown_time(change.at),
        word(&change.by.shown()),
        word(&change.change.replace('_', " ")),
        word(&change.subject),
        about(change),
    ]
}

/// The states, the reason, the files and the impact.
fn about(change: &StoredChange) -> String {
    let states = match (&change.before, &change.after) {
        (Some(before), Some(after)) => Some(format!("{before} → {after}")),
        (Some(before), None) => Some(format!("was {before}")),
        (None, Some(after)) => Some(after.clone()),
        (None, None) => None,
    };
    let reason = change.reason.as_ref().map(|reason| format!("reason: {reason}"));
    let impact = change.impact.as_ref().map(|impact| {
        let (different, calls, days) = (impact.different, impact.calls, impact.days);
        format!("decides {different} of {calls} calls of the last {days} days differently")
    });
    let cases = change.impact.iter().flat_map(|impact| impact.cases.iter().take(AUDIT_IMPACT_SHOWN_MAX));
    let cases = cases.map(|case| format!("{} of {}: {} → {}", case.tool, case.server, case.was, case.now));
    let files = change.files.iter().map(|file| {
        let what = match (&file.before, &file.after) {
            (None, Some(_)) => "new",
            (Some(_), None) => "removed",
            _ => "changed",
        };
        format!("{what}: {}", file.path)
    });
    let more = (change.more_files > 0).then(|| format!("{} more files", change.more_files));
    let parts = states.into_iter().chain(reason).chain(impact).chain(cases).chain(files).chain(more);
    let parts: Vec<String> = parts.map(|text| short(&text, AUDIT_ABOUT_CHARS_MAX)).collect();
    parts.join("; ")
}
