//! `toolgate audit show`: the calls that were made, and those that were not let through.

use std::time::SystemTime;

use clap::Args;
use toolgate::RawJson;
use toolgate::audit::{AuditLog, Query, StoredCall};

use super::fitted::fitted;
use super::permissions;
use super::{Which, shown_span, tell_unreadable};
use crate::columns::{cut, short};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::AUDIT_ABOUT_CHARS_MAX;
use crate::printer::{Form, Printer};
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
  toolgate audit show --permissions --since 30d
  toolgate audit show --since 7d --json | jq '.calls[] | select(.unusual != [])'")]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Only the last so many of them
    #[arg(long, value_name = "COUNT", help_heading = "Which calls")]
    last: Option<usize>,
    /// Show changes of permissions instead of calls: grants, trust, modes, rules and settings, with who, when and why
    #[arg(long, conflicts_with_all = ["tool", "outcome", "decision", "asker"])]
    permissions: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let usual = (!arguments.which.has_time()).then_some(LAST_CALLS);
    let query = Query { last: arguments.last.or(usual), ..arguments.which.query(session)? };
    if arguments.permissions {
        return permissions::run(session, &query);
    }
    let log = AuditLog::open(session.env())?;
    match session.printer.form() {
        Form::Json => write(session, &log, &query)?,
        Form::Text => print(session, &log, &query)?,
    }
    Ok(Ending::Done)
}

fn print(session: &mut Session, log: &AuditLog, query: &Query) -> Result<()> {
    let mut rows: Vec<Vec<String>> = Vec::new();
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
    let columns = printer.terminal().columns;
    let Some(lines) = fitted(&headings, rows.clone(), headings.len() - 1, columns) else {
        return print_narrow(printer, &rows, columns.unwrap_or(usize::MAX));
    };
    for (at, line) in lines.iter().enumerate() {
        let line = if at == 0 { paint.bold(line).to_string() } else { line.clone() };
        printer.line(&line)?;
    }
    Ok(())
}

/// A few lines for each call, where there is no room for a table.
fn print_narrow(printer: &mut Printer, rows: &[Vec<String>], columns: usize) -> Result<()> {
    for row in rows {
        let [time, asker, server, tool, decision, outcome, took, about] = row.as_slice() else { continue };
        let what = format!("  {tool} of {server}");
        let how = format!("  {decision}, {outcome}, {took}, {asker}");
        let about = if about.is_empty() { None } else { Some(format!("  {about}")) };
        for line in [time.clone(), what, how].into_iter().chain(about) {
            printer.line(&cut(&line, columns))?;
        }
    }
    Ok(())
}

fn row(call: &StoredCall) -> Vec<String> {
    let word = |text: &str| short(text, AUDIT_ABOUT_CHARS_MAX);
    let decision = match &call.confirmation {
        Some(answer) => format!("{} ({})", call.decision, answer_words(answer)),
        None => call.decision.clone(),
    };
    vec![
        shown_time(call.at),
        word(&call.asker),
        word(&call.server),
        word(&call.tool),
        word(&decision),
        word(&outcome_words(&call.outcome)),
        if call.has_ended() { shown_span(call.duration_ms) } else { "–".to_owned() },
        about(call),
    ]
}

/// What the person answered.
fn answer_words(answer: &str) -> String {
    match answer {
        "tool_this_session" => "this session".to_owned(),
        "tool_always" => "always".to_owned(),
        "server_this_session" => "this session, whole server".to_owned(),
        "server_always" => "always, whole server".to_owned(),
        "these_arguments_always" => "always, these arguments".to_owned(),
        "refused" => "no".to_owned(),
        other => other.replace('_', " "),
    }
}

fn outcome_words(outcome: &str) -> String {
    match outcome {
        "unknown" => "never ended".to_owned(),
        other => other.replace('_', " "),
    }
}

fn unusual_words(flag: &str) -> String {
    match flag {
        "new_tool" => "new tool of a known server".to_owned(),
        "first_call_by_asker" => "first call of this tool".to_owned(),
        "first_write_after_reads" => "first write after reads".to_owned(),
        "burst" => "many calls within a minute".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What was unusual, what went wrong, and the arguments.
fn about(call: &StoredCall) -> String {
    let unusual = call.unusual.iter().map(|flag| format!("! {}", unusual_words(flag)));
    let alerts = call.alerts.iter().map(|name| format!("! alert {name}"));
    let error = call.error.iter().map(|error| error.message.clone());
    let arguments = call.arguments.as_object().filter(|members| !members.is_empty());
    let arguments = arguments.map(|_| call.arguments.to_string());
    let parts: Vec<String> =
        unusual.chain(alerts).chain(error).chain(arguments).map(|text| short(&text, AUDIT_ABOUT_CHARS_MAX)).collect();
    parts.join("; ")
}

/// `2026-01-02 03:04:05`, in UTC.
pub(super) fn shown_time(at: SystemTime) -> String {
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
