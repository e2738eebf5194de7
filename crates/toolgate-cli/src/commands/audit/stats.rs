//! `toolgate audit stats`: how often each tool was called, how often that went wrong, and how long it took, as bars.

use clap::Args;
use toolgate::audit::{AuditLog, Statistics, ToolStatistics};

use super::bar::bar;
use super::fitted::fitted;
use super::{Which, shown_span, tell_unreadable};
use crate::columns::{cut, short};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::ObjectWriter;
use crate::limits::AUDIT_NAME_CHARS_MAX;
use crate::printer::{Form, Printer};
use crate::session::Session;

/// Columns of a terminal below which there is no room for bars, and those of which they are long.
const NARROW: usize = 76;
const WIDE: usize = 110;

/// Count calls, errors and how long they took, for each server and tool
#[derive(Debug, Args)]
#[command(
    after_help = "ERRORS are calls that failed or took too long; their part of a bar is light. DENIED are calls that were not let through.
Half of the calls took no longer than P50, and of twenty, nineteen no longer than P95.

Examples:
  toolgate audit stats --since 7d
  toolgate audit stats --since 24h --server github
  toolgate audit stats --json | jq '.servers[] | {server, calls, p95Ms}'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let query = arguments.which.query(session)?;
    let log = AuditLog::open(session.env())?;
    let mut statistics = Statistics::default();
    let unreadable = log.each(&query, |call| {
        statistics.add(&call);
        true
    })?;
    match session.printer.form() {
        Form::Json => session.printer.json(|json| json.object(|object| write(object, &statistics, unreadable)))?,
        Form::Text => {
            tell_unreadable(session, unreadable);
            print(&mut session.printer, &statistics)?;
        }
    }
    Ok(Ending::Done)
}

fn print(printer: &mut Printer, statistics: &Statistics) -> Result<()> {
    let lines: Vec<(String, ToolStatistics)> = lines(statistics);
    if lines.is_empty() {
        printer.talk().line("no such calls are recorded");
        return Ok(());
    }
    let columns = printer.terminal().columns;
    let bar_columns = match columns.unwrap_or(NARROW) {
        0..NARROW => 0,
        NARROW..WIDE => 10,
        _ => 20,
    };
    let scale = Scale::of(&lines, bar_columns);
    let rows = lines.iter().map(|(name, one)| scale.row(name, one)).collect();
    let headings = ["", "CALLS", "ERRORS", "DENIED", "P50", "P95"];
    let paint = printer.paint();
    let Some(table) = fitted(&headings, rows, 0, columns) else {
        return print_narrow(printer, &lines, columns.unwrap_or(usize::MAX));
    };
    for (at, line) in table.iter().enumerate() {
        let line = if at == 0 { paint.bold(line).to_string() } else { line.clone() };
        printer.line(&line)?;
    }
    Ok(())
}

/// Two or three lines for each, where there is no room for a table.
fn print_narrow(printer: &mut Printer, lines: &[(String, ToolStatistics)], columns: usize) -> Result<()> {
    for (name, one) in lines {
        let indent: String = name.chars().take_while(|letter| *letter == ' ').collect();
        let counts = format!("{indent}  {}, {}", counted(one.calls, "call"), counted(one.errors, "error"));
        let counts = if one.denied > 0 { format!("{counts}, {} denied", one.denied) } else { counts };
        let spans = one
            .latency()
            .map(|latency| format!("{indent}  P50 {}, P95 {}", shown_span(latency.p50_ms), shown_span(latency.p95_ms)));
        for line in [name.clone(), counts].into_iter().chain(spans) {
            printer.line(&cut(&line, columns))?;
        }
    }
    Ok(())
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Each server, with its tools below it.
fn lines(statistics: &Statistics) -> Vec<(String, ToolStatistics)> {
    let mut lines = Vec::new();
    for (server, tools) in statistics.servers() {
        lines.push((short(server, AUDIT_NAME_CHARS_MAX), ToolStatistics::sum(tools.values())));
        let tools = tools.iter().map(|(tool, one)| (format!("  {}", short(tool, AUDIT_NAME_CHARS_MAX)), one.clone()));
        lines.extend(tools);
    }
    lines
}

/// What the longest bars stand for.
struct Scale {
    calls: u64,
    p95_ms: u64,
    digits: usize,
    columns: usize,
}

impl Scale {
    fn of(lines: &[(String, ToolStatistics)], columns: usize) -> Self {
        let calls = lines.iter().map(|(_, one)| one.calls).max().unwrap_or(0);
        let p95_ms = lines.iter().filter_map(|(_, one)| Some(one.latency()?.p95_ms)).max().unwrap_or(0);
        Self { calls, p95_ms, digits: calls.to_string().len(), columns }
    }

    fn row(&self, name: &str, one: &ToolStatistics) -> Vec<String> {
        let digits = self.digits;
        let calls = format!("{:>digits$} {}", one.calls, bar(one.calls, one.errors, self.calls, self.columns));
        let (p50, p95) = match one.latency() {
            Some(latency) => {
                let drawn = bar(latency.p95_ms, 0, self.p95_ms, self.columns);
                (shown_span(latency.p50_ms), format!("{:<7} {drawn}", shown_span(latency.p95_ms)))
            }
            None => ("–".to_owned(), "–".to_owned()),
        };
        vec![name.to_owned(), calls, one.errors.to_string(), one.denied.to_string(), p50, p95]
    }
}

fn write(object: &mut ObjectWriter<'_>, statistics: &Statistics, unreadable: u64) -> std::io::Result<()> {
    object.array("servers", statistics.servers(), |json, (server, tools)| {
        json.object(|object| {
            object.string("server", server)?;
            write_counts(object, &ToolStatistics::sum(tools.values()))?;
            object.array("tools", tools, |json, (tool, one)| {
                json.object(|object| {
                    object.string("tool", tool)?;
                    write_counts(object, one)
                })
            })
        })
    })?;
    object.number("unreadable", unreadable)
}

fn write_counts(object: &mut ObjectWriter<'_>, one: &ToolStatistics) -> std::io::Result<()> {
    object.number("calls", one.calls)?;
    object.number("errors", one.errors)?;
    object.number("denied", one.denied)?;
    let latency = one.latency();
    object.optional_number("p50Ms", latency.map(|latency| latency.p50_ms))?;
    object.optional_number("p95Ms", latency.map(|latency| latency.p95_ms))
}
