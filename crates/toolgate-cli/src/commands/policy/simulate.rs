//! `toolgate policy simulate`: the calls of the record, decided anew by the rules that are in force now. Nothing is called.

use std::collections::BTreeMap;

use clap::Args;
use toolgate::Setup;
use toolgate::audit::{AuditLog, Query, StoredCall, moment};
use toolgate::policy::{CallFacts, Decision, Policy};
use toolgate::revisions::Revisions;
use toolgate::shape::visible;

use super::recorded::Recorded;
use crate::call_rules;
use crate::commands::revisions;
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::rule_text;
use crate::session::Session;

/// Show which calls of the record would be decided otherwise now
///
/// The rules in force are those of all files and settings; --policy FILE tries other ones in place of your own.
/// What the record does not have (covered arguments, what servers say about their tools) cannot be tried.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate policy simulate
  toolgate policy simulate --since 24h --policy new-rules.toml
  toolgate policy simulate --since 30d --json
  toolgate policy simulate --against 3fa9c1    what restoring a revision would change"
)]
pub(crate) struct Arguments {
    /// Only calls since then: 7d, 24h, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    since: String,
    /// Only calls of tools of this server
    #[arg(long, value_name = "SERVER")]
    of_server: Option<String>,
    /// Compare the current rules with those of this revision (`toolgate revisions list`)
    #[arg(long, value_name = "ID", conflicts_with = "policy")]
    against: Option<String>,
}

/// Calls that would be decided otherwise, of one tool and in one way.
#[derive(Debug)]
struct Difference {
    count: u64,
    because: String,
    example: String,
}

/// A tool, what was decided, and what would be.
type Case = (String, String, String, &'static str);

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let since = since(session, &arguments.since)?;
    let configured = session.looked_at()?;
    let policy = call_rules::rulebook(session, configured.setup())?.policy;
    let (policy, in_force) = match &arguments.against {
        Some(word) => (of_revision(session, configured.setup(), word)?, Some(policy)),
        None => (policy, None),
    };
    let query = Query { since: Some(since), server: arguments.of_server.clone(), ..Query::default() };
    let mut simulation = Simulation::new(&configured, policy, in_force);
    let unreadable = AuditLog::open(session.env())?.each(&query, |call| {
        simulation.add(&call);
        true
    })?;
    if unreadable > 0 {
        let line =
            format!("{} of the record cannot be read; see `toolgate audit verify`", counted(times(unreadable), "line"));
        session.printer.talk().line(&line);
    }
    simulation.print(session)
}

fn times(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The rules that follow from the settings and policies of a revision.
fn of_revision(session: &Session, now: &Setup, word: &str) -> Result<Policy> {
    let revisions = Revisions::open(session.env());
    let revision = revisions::find(&revisions, word)?;
    let laid_out = revisions.lay_out(&revision)?;
    let mut options = session.setup_options();
    options.trust_folder = options.trust_folder.or(Some(now.folder.is_trusted()));
    let rulebook = Setup::read(&laid_out.env(), &options)?.rulebook();
    match rulebook.error() {
        Some(error) => Err(CommandError::from(error.while_doing(&format!("the rules of revision `{word}`")))),
        None => Ok(rulebook.policy),
    }
}

/// The time that somebody typed.
pub(crate) fn since(session: &Session, text: &str) -> Result<std::time::SystemTime> {
    moment(text, session.env().clock.now()).ok_or_else(|| {
        let error = CommandError::usage(format!("`{text}` is not a time"));
        error.hint("write how long ago, such as 7d or 24h, or a time such as 2026-01-31T12:00:00Z")
    })
}

struct Simulation<'a> {
    recorded: Recorded<'a>,
    policy: Policy,
    /// The current rules, when the comparison is with them and not with the recorded decisions.
    in_force: Option<Policy>,
    calls: u64,
    /// Calls whose arguments are not all in the record.
    partly_known: u64,
    /// Calls that the lists of their servers held back, before any rule was asked.
    held_back: u64,
    differences: BTreeMap<Case, Difference>,
}

impl<'a> Simulation<'a> {
    fn new(configured: &'a Configured, policy: Policy, in_force: Option<Policy>) -> Self {
        Self {
            recorded: Recorded::new(configured),
            policy,
            in_force,
            calls: 0,
            partly_known: 0,
            held_back: 0,
            differences: BTreeMap::new(),
        }
    }

    fn add(&mut self, call: &StoredCall) {
        let decided = |facts: &CallFacts<'_>| {
            (self.policy.decide(facts), self.in_force.as_ref().map(|in_force| in_force.decide(facts).decision))
        };
        let Some((verdict, in_force)) = self.recorded.look(call, decided) else { return };
        self.calls += 1;
        if call.filter.is_some() {
            self.held_back += 1;
            return;
        }
        self.partly_known += u64::from(call.covered > 0);
        let (was, was_remembered) = match in_force {
            Some(decision) => (decision, false),
            None => (Decision::of(&call.decision).unwrap_or(Decision::Deny), call.grant.is_some()),
        };
        // What was remembered then was not written; a question now is no difference.
        let is_same = was == verdict.decision || (was_remembered && verdict.decision == Decision::Ask);
        if is_same {
            return;
        }
        let case = (call.server.clone(), call.tool.clone(), was.as_str().to_owned(), verdict.decision.as_str());
        let because = || rule_text::because(&verdict, crate::terminal::Paint::default());
        let first = || Difference { count: 0, because: because(), example: call.arguments.to_string() };
        self.differences.entry(case).or_insert_with(first).count += 1;
    }

    fn print(&self, session: &mut Session) -> Result<Ending> {
        let printer = &mut session.printer;
        let changed: u64 = self.differences.values().map(|one| one.count).sum();
        match printer.form() {
            Form::Json => printer.json(|json| {
                json.object(|object| {
                    object.number("calls", self.calls)?;
                    object.number("partlyKnown", self.partly_known)?;
                    object.number("heldBackByLists", self.held_back)?;
                    object.number("different", changed)?;
                    object.array("differences", &self.differences, |json, (case, difference)| {
                        let (server, tool, was, now) = case;
                        json.object(|object| {
                            object.string("server", server)?;
                            object.string("tool", tool)?;
                            object.string("was", was)?;
                            object.string("now", now)?;
                            object.number("calls", difference.count)?;
                            object.string("because", &difference.because)?;
                            object.string("example", &difference.example)
                        })
                    })
                })
            })?,
            Form::Text => {
                for ((server, tool, was, now), difference) in &self.differences {
                    let calls = counted(times(difference.count), "call");
                    let (server, tool) = (visible::line(server), visible::line(tool));
                    printer.line(&format!("{calls} of `{tool}` of {server}: {was} → {now}"))?;
                    printer.line(&format!("    {}", difference.because))?;
                    printer.line(&format!(
                        "    such as {}",
                        crate::columns::short(&difference.example, crate::limits::QUESTION_CHARS_MAX)
                    ))?;
                }
                let calls = counted(times(self.calls), "call");
                printer.talk().line(&format!("{calls} of the record, {changed} would be decided otherwise"));
                if self.partly_known > 0 {
                    let some = counted(times(self.partly_known), "call");
                    printer.talk().line(&format!("of {some} only a part of the arguments is in the record"));
                }
                if self.held_back > 0 {
                    let some = counted(times(self.held_back), "call");
                    printer
                        .talk()
                        .line(&format!("{some} held back by the lists of their servers, which were not tried"));
                }
            }
        }
        Ok(Ending::Done)
    }
}
