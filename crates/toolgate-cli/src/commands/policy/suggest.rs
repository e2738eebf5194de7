//! `toolgate policy suggest`: the narrowest rules that would have allowed what somebody allowed by hand.

use clap::Args;
use toolgate::audit::{AuditLog, Query};
use toolgate::policy::{AllowedCall, suggest};

use super::simulate::since;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::session::Session;

/// Suggest rules for what you have been allowing by hand
///
/// The narrowest rules that would have allowed it, as a policy file to look over: every argument as it was given.
/// Where no rule can say that, a comment tells why. Nothing is written.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate policy suggest
  toolgate policy suggest --since 30d > ~/.toolgate/policies/mine.toml"
)]
pub(crate) struct Arguments {
    /// Only calls since then: 7d, 24h, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    since: String,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let query = Query { since: Some(since(session, &arguments.since)?), ..Query::default() };
    let mut allowed = Vec::new();
    let mut covered = 0_usize;
    AuditLog::open(session.env())?.each(&query, |call| {
        let was_allowed = call.confirmation.as_deref().is_some_and(|answer| answer != "refused");
        match (was_allowed, call.covered) {
            (true, 0) => {
                allowed.push(AllowedCall { server: call.server, tool: call.tool, arguments: call.arguments });
            }
            (true, _) => covered += 1,
            (false, _) => {}
        }
        true
    })?;
    let suggestions = suggest(&allowed);
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("suggestions", &suggestions, |json, one| {
                    json.object(|object| {
                        object.string("server", &one.server)?;
                        object.string("tool", &one.tool)?;
                        object.number("calls", one.calls as u64)?;
                        object.string("toml", &one.toml)
                    })
                })
            })
        })?,
        Form::Text => {
            for one in &suggestions {
                printer.line(&format!("# you allowed this {} by hand", times(one.calls)))?;
                // What it says was made visible where it was written.
                printer.line(&one.toml)?;
            }
            if suggestions.is_empty() {
                printer.talk().line("nothing was allowed by hand in that time");
            }
        }
    }
    if covered > 0 {
        let calls = counted(covered, "call");
        printer.talk().line(&format!("{calls} left out: not all of their arguments are in the record"));
    }
    Ok(Ending::Done)
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
