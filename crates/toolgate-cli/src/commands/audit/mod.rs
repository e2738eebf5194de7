//! `toolgate audit …`: the record of all calls. No server is started, and only `check` reads settings.

pub(crate) mod check;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod verify;

mod bar;
mod fitted;
mod permissions;

use clap::{Args, Subcommand};
use toolgate::audit::{Query, moment};

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::session::Session;

/// What can be done with it.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Show(show::Arguments),
    Verify(verify::Arguments),
    Stats(stats::Arguments),
    Check(check::Arguments),
}

/// Runs one of them.
pub(crate) fn run(session: &mut Session, command: &Command) -> Result<Ending> {
    match command {
        Command::Show(arguments) => show::run(session, arguments),
        Command::Verify(verify::Arguments {}) => verify::run(session),
        Command::Stats(arguments) => stats::run(session, arguments),
        Command::Check(arguments) => check::run(session, arguments),
    }
}

/// Which calls are meant; `--server` counts as well.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which calls")]
pub(crate) struct Which {
    /// Since then: `7d`, `24h`, `30m` ago, or a time such as `2026-01-02T03:04:05Z` or `2026-01-02`
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Before then
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// That ended so
    #[arg(long, value_name = "OUTCOME", value_parser = OUTCOMES)]
    outcome: Option<String>,
    /// That were decided so
    #[arg(long, value_name = "DECISION", value_parser = ["allow", "ask", "deny"])]
    decision: Option<String>,
    /// Asked for by them
    #[arg(long, value_name = "ASKER", value_parser = ["model", "session", "cli", "gateway"])]
    asker: Option<String>,
    /// Of this run of a host
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// How calls end.
const OUTCOMES: [&str; 9] =
    ["completed", "tool_error", "denied", "refused", "cancelled", "timed_out", "failed", "running", "unknown"];

impl Which {
    /// Whether a time was given.
    const fn has_time(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    fn query(&self, session: &Session) -> Result<Query> {
        let now = session.env().clock.now();
        let time = |option: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => moment(text, now).map(Some).ok_or_else(|| unknown_time(option, text)),
        };
        Ok(Query {
            since: time("since", &self.since)?,
            until: time("until", &self.until)?,
            server: session.options().server.clone(),
            tool: self.tool.clone(),
            outcome: self.outcome.clone(),
            decision: self.decision.clone(),
            session: self.session.clone(),
            asker: self.asker.clone(),
            last: None,
        })
    }
}

fn unknown_time(option: &str, text: &str) -> CommandError {
    CommandError::usage(format!("--{option} {text}: not a time"))
        .hint("so long ago: `30m`, `24h`, `7d`, `2w`; or a time: `2026-01-02`, `2026-01-02T03:04:05Z`")
}

/// Says that not everything could be read.
fn tell_unreadable(session: &Session, unreadable: u64) {
    if unreadable > 0 {
        let lines = if unreadable == 1 { "1 line".to_owned() } else { format!("{unreadable} lines") };
        let what = format!("{lines} of the log could not be read; `toolgate audit verify` says where");
        session.printer.talk().line(&what);
    }
}

/// A time span for people: `12 ms`, `3.4 s`, `5 min`.
fn shown_span(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min", milliseconds / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::shown_span;

    #[test]
    fn spans_are_short() {
        let cases = [(0, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (59_999, "59.9 s"), (61_000, "1 min")];
        for (milliseconds, expected) in cases {
            assert_eq!(shown_span(milliseconds), expected);
        }
    }
}
