//! `toolgate audit show`: the calls that were made, and those that were not let through.

use std::time::SystemTime;

use clap::Args;
use toolgate::RawJson;
use toolgate::audit::{AuditLog, Query, StoredCall};

use super::{Which, shown_span, tell_unreadable};
use crate::columns::{short, table};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::AUDIT_ABOUT_CHARS_MAX;
use crate::printer::Form;
use crate::session::Session;

/// How many calls are shown when nothing says how many.
const LAST_CALLS: usize = 100;

/// Show calls: what was asked for, what was decided, how it ended
#[derive(Debug, Args)]
#[command(after_help = "Without --since, --until and --last the last 100 calls are shown. Times are in UTC.

Examples:
  toolgate audit show --last 20
  toolgate audit show --since 7d --server github --decision deny
  toolgate audit show --since 24h --outcome tool_error
  toolgate audit show --since 7d --json | jq '.calls[] | select(.unusual != [])'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Only the last so many of them
    #[arg(long, value_name = "COUNT", help_heading = "Which calls")]
    last: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let usual = (!arguments.which.has_time()).then_some(LAST_CALLS);
    let query = Query { last: arguments.last.or(usual), ..arguments.which.query(session)? };
    let log = AuditLog::open(session.env())?;
    match session.printer.form() {
        Form::Json => write(session, &log, &query)?,
        Form::Text => print(session, &log, &query)?,
    }
    Ok(Ending::Done)
}

fn print(session: &mut Session, log: &AuditLog, query: &Query) -> Result<()> {
    let mut rows = Vec::new();
    let unreadable = log.each(query, |call| {
        rows.push(row(&call));
        true
    })?;
    tell_unreadable(session, unreadable);
    let printer = &mut session.printer;
    if rows.is_empty() {
        printer.talk().line("no such calls are recorded");
        return Ok(());
    }
    let headings = ["TIME", "ASKER", "SERVER", "TOOL", "DECISION", "OUTCOME", "TOOK", "ABOUT"];
    let paint = printer.paint();
    for (at, line) in table(&headings, rows, printer.terminal().columns).iter().enumerate() {
        let line = if at == 0 { paint.bold(line).to_string() } else { line.clone() };
        printer.line(&line)?;
    }
    Ok(())
}

fn row(call: &StoredCall) -> Vec<String> {
    let word = |text: &str| short(text, AUDIT_ABOUT_CHARS_MAX);
    let decision = match &call.confirmation {
        Some(answer) => format!("{} ({answer})", call.decision),
        None => call.decision.clone(),
    };
    vec![
        shown_time(call.at),
        word(&call.asker),
        word(&call.server),
        word(&call.tool),
        word(&decision),
        word(&call.outcome.replace('_', " ")),
        shown_span(call.duration_ms),
        about(call),
    ]
}

/// What was unusual, what went wrong, and the arguments.
fn about(call: &StoredCall) -> String {
    let unusual = call.unusual.iter().map(|flag| format!("! {}", flag.replace('_', " ")));
    let error = call.error.iter().map(|error| error.message.clone());
    let arguments = call.arguments.as_object().filter(|members| !members.is_empty());
    let arguments = arguments.map(|_| call.arguments.to_string());
    let parts: Vec<String> =
        unusual.chain(error).chain(arguments).map(|text| short(&text, AUDIT_ABOUT_CHARS_MAX)).collect();
    parts.join("; ")
}

/// `2026-01-02 03:04:05`, in UTC.
fn shown_time(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.0}").replace('T', " ").trim_end_matches('Z').to_owned()
}

/// Programs get the records as they are written.
fn write(session: &mut Session, log: &AuditLog, query: &Query) -> Result<()> {
    let mut failed: Option<CommandError> = None;
    session.printer.json(|json| {
        json.object(|object| {
            let mut unreadable = 0;
            object.member("calls", |json| {
                json.array(|array| {
                    let mut wrote = Ok(());
                    let read = log.each(query, |call| {
                        if let Ok(record) = RawJson::from_bytes(call.line) {
                            wrote = array.element(|json| json.raw(&record));
                        }
                        wrote.is_ok()
                    });
                    match read {
                        Ok(count) => unreadable = count,
                        Err(error) => failed = Some(error.into()),
                    }
                    wrote
                })
            })?;
            object.number("unreadable", unreadable)?;
            match &failed {
                Some(error) => object.member("error", |json| error.write_inner(json)),
                None => Ok(()),
            }
        })
    })?;
    match failed {
        // It was told as part of the one object.
        Some(error) => Err(CommandError::output_closed().ending_in(error.ending())),
        None => Ok(()),
    }
}
