//! `toolgate audit check`: compares recorded calls with the limits of `audit.alerts`.

use clap::Args;
use jiff::Timestamp;
use toolgate::audit::{Alert, AlertReplay, AlertRules, AuditLog, Query, RECORDED_ALERT, moment};
use toolgate::settings::{self, LoadOptions};
use toolgate::shape::visible;

use super::show::shown_time;
use super::{tell_unreadable, unknown_time};
use crate::columns::{short, table};
use crate::configured::{of_broken, tell};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::limits::AUDIT_NAME_CHARS_MAX;
use crate::printer::Form;
use crate::session::Session;

/// Find recorded calls that passed a limit of `audit.alerts`
#[derive(Debug, Args)]
#[command(
    after_help = "The limits are those of your settings and the administrator's. Exit code 9 when a call passed one, so that a timer can run it.

Examples:
  toolgate audit check
  toolgate audit check --since 24h --json"
)]
pub(crate) struct Arguments {
    /// Only calls since then: `15m`, `24h`, `7d` ago, or a time such as `2026-01-02T03:04:05Z`
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    since: String,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let since = moment(&arguments.since, session.env().clock.now());
    let since = since.ok_or_else(|| unknown_time("since", &arguments.since))?;
    let settings = settings::load(session.env(), &LoadOptions::default());
    if let Some(error) = settings.broken.first() {
        return Err(of_broken(error));
    }
    let of_audit = |key: &str| key == "audit" || key.starts_with("audit.");
    // A folder has no say in it.
    let own = settings.layers.iter().filter(|layer| !layer.is_of_workspace());
    let diagnostics = own.flat_map(|layer| &layer.diagnostics);
    let odd: Vec<_> = diagnostics.filter(|one| one.key.as_deref().is_some_and(of_audit)).collect();
    odd.iter().for_each(|one| tell(one, session.printer.talk()));
    let rules = AlertRules::of(&settings);
    let (limits, problems) = (rules.len(), rules.problems.clone());
    let mut alerts: Vec<Alert> = Vec::new();
    let mut replay = AlertReplay::new(rules);
    // Older calls show how long a server has been in use.
    let unreadable = AuditLog::open(session.env())?.each(&Query::default(), |call| {
        let passed = replay.add(&call);
        if call.at >= since && call.has_ended() {
            alerts.extend(passed);
        }
        true
    })?;
    let talk = session.printer.talk();
    problems.iter().for_each(|problem| talk.line(&format!("{} {problem}", talk.paint().yellow("warning:"))));
    let is_clean = alerts.is_empty() && problems.is_empty() && odd.is_empty();
    match session.printer.form() {
        Form::Json => write(session, &alerts, (limits, unreadable))?,
        Form::Text => print(session, &alerts, (limits, unreadable))?,
    }
    Ok(if is_clean { Ending::Done } else { Ending::Found })
}

fn print(session: &mut Session, alerts: &[Alert], (limits, unreadable): (usize, u64)) -> Result<()> {
    tell_unreadable(session, unreadable);
    let printer = &mut session.printer;
    if limits == 0 && alerts.is_empty() {
        printer.talk().line("no limits are set: `audit.alerts` is empty");
        return Ok(());
    }
    if alerts.is_empty() {
        printer.talk().line("no call passed a limit");
        return Ok(());
    }
    let row = |alert: &Alert| {
        let name = |text: &str| short(text, AUDIT_NAME_CHARS_MAX);
        vec![shown_time(alert.at), name(&alert.name), name(&alert.server), name(&alert.tool), words(alert)]
    };
    let rows = alerts.iter().map(row).collect();
    for line in table(&["TIME", "ALERT", "SERVER", "TOOL", "MEASURED"], rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    Ok(())
}

/// The measured value and the limit, as text.
pub(crate) fn words(alert: &Alert) -> String {
    let (value, limit) = (alert.value, alert.limit);
    match alert.measure {
        "callsPerMinute" => format!("{} within a minute, more than {limit}", amount(value, "call")),
        "denialsPerMinute" => format!("{} within a minute, more than {limit}", amount(value, "denial")),
        "errorPercent" => format!("{value} % of the last calls failed (limit {limit} %)"),
        "resultBytes" => format!("a result of {value} bytes (limit {limit})"),
        "latencyMs" => format!("it took {value} ms (limit {limit})"),
        "hours" => format!("called at {:02}:{:02}, outside the allowed hours", value / 60, value % 60),
        "newToolAfterDays" => {
            format!("first call of this tool; its server was first used {} ago", amount(value, "day"))
        }
        RECORDED_ALERT => "reported when the call was made".to_owned(),
        other => format!("{other}: {value} (limit {limit})"),
    }
}

fn amount(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// An alert as a line for the person.
pub(crate) fn line(alert: &Alert) -> String {
    let (server, tool) = (visible::line(&alert.server), visible::line(&alert.tool));
    format!("alert {}: `{tool}` of {server}: {}", visible::line(&alert.name), words(alert))
}

fn write(session: &mut Session, alerts: &[Alert], (limits, unreadable): (usize, u64)) -> Result<()> {
    session.printer.json(|json| {
        json.object(|object| {
            object.number("limits", limits as u64)?;
            object.array("alerts", alerts, |json, alert| {
                json.object(|object| {
                    object.string("alert", &alert.name)?;
                    object.string("measure", alert.measure)?;
                    object.string("server", &alert.server)?;
                    object.string("tool", &alert.tool)?;
                    let at = Timestamp::try_from(alert.at).unwrap_or(Timestamp::UNIX_EPOCH);
                    object.string("at", &format!("{at:.3}"))?;
                    let measured = |number| (alert.measure != RECORDED_ALERT).then_some(number);
                    object.optional_number("value", measured(alert.value))?;
                    object.optional_number("limit", measured(alert.limit))
                })
            })?;
            object.number("unreadable", unreadable)
        })
    })?;
    Ok(())
}
