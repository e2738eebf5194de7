//! `toolgate policy review`: finds permissions that are not needed and proposes replacements. Exit code 9 when it finds some.

mod findings;
mod mend;
mod rules;

use clap::Args;
use toolgate::Setup;
use toolgate::audit::{AuditLog, Query};
use toolgate::grants::Grants;
use toolgate::policy::Permissions;
use toolgate::shape::visible;

use self::findings::{Finding, Mend, grants};
use self::rules::Rules;
use super::recorded::Recorded;
use super::simulate::since;
use crate::call_rules;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// Find permissions that are not needed
///
/// Reports grants that have expired, are suspended or were not used, and allows that no recorded call needed or that are
/// broader than the calls that used them. Each finding has a proposed replacement. Restrictions are never reported.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Exit code 9 when something is found. --write revokes such grants and replaces broad rules by the narrower ones. Replaced rules stay in
the policy file as comments, and `toolgate revisions` keeps the earlier file.

Examples:
  toolgate policy review
  toolgate policy review --since 30d --json
  toolgate policy review --write --reason 'spring cleaning'"
)]
pub(crate) struct Arguments {
    /// The time without use after which a permission is not needed: 90d, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "90d")]
    since: String,
    /// Revoke or narrow what is found
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let since = since(session, &arguments.since)?;
    let configured = session.looked_at()?;
    let policy = call_rules::rulebook(session, configured.setup())?.policy;
    let permissions = Permissions::new(policy.clone());
    let mut rules = Rules::of(&policy);
    let mut used = findings::Used::default();
    let recorded = Recorded::new(&configured);
    let query = Query { since: Some(since), ..Query::default() };
    let _unreadable = AuditLog::open(session.env())?.each(&query, |call| {
        used.add(&call);
        if call.filter.is_none()
            && let Some(explanation) = recorded.look(&call, |facts| permissions.explain(facts))
        {
            rules.add(&call, &explanation);
        }
        true
    })?;
    let mut found = grants(&Grants::open(session.env()).list()?, &used, &configured.setup().servers, since);
    found.extend(rules.findings(&arguments.since));
    let mended = if arguments.write { mend::all(session, &arguments.reason, &found)? } else { 0 };
    print(session, configured.setup(), &found, (used.calls(), mended))?;
    Ok(if found.len() > mended { Ending::Found } else { Ending::Done })
}

fn print(session: &mut Session, setup: &Setup, found: &[Finding], (calls, mended): (usize, usize)) -> Result<()> {
    let folder = &setup.env.workspace;
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.flag("ok", found.len() <= mended)?;
                object.number("calls", calls as u64)?;
                object.number("mended", mended as u64)?;
                object.array("findings", found, |json, one| {
                    json.object(|object| {
                        object.string("kind", one.kind)?;
                        object.optional_string("file", one.file().as_deref())?;
                        object.optional_number("line", one.line())?;
                        object.string("message", &one.message)?;
                        object.optional_string("replacement", one.replacement())
                    })
                })
            })
        })?,
        Form::Text => {
            let paint = printer.paint();
            for one in found {
                let place = match (one.file(), one.line()) {
                    (Some(file), Some(line)) => {
                        let own = format!("{}/", folder.display());
                        format!("{}:{line}: ", file.strip_prefix(&own).unwrap_or(&file))
                    }
                    _ => String::new(),
                };
                let line = visible::line(&format!("{place}{}", one.message)).into_owned();
                printer.line(&format!("{}: {line}", paint.yellow(one.kind)))?;
                let replacement = one.replacement().unwrap_or_default();
                for line in replacement.lines() {
                    printer.line(&format!("    {}", visible::line(line)))?;
                }
                if let Mend::Revoke(id) = &one.mend {
                    printer.line(&format!("    toolgate grants revoke {}", visible::line(id)))?;
                }
            }
            let what = match found.len() {
                0 => "every permission was used".to_owned(),
                count => format!(
                    "{} that {} not needed",
                    counted(count, "permission"),
                    if count == 1 { "is" } else { "are" }
                ),
            };
            let done = if mended > 0 { format!(", {mended} fixed") } else { String::new() };
            printer.talk().line(&format!("{what}{done}; {} reviewed", counted(calls, "call")));
            if mended == 0 && !found.is_empty() {
                printer.talk().line("`--write` revokes or narrows them");
            }
        }
    }
    Ok(())
}
