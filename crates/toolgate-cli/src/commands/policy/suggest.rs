//! `toolgate policy suggest`: proposes rules for calls that were allowed by hand, with the evidence and the reach of each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use toolgate::audit::{AuditLog, ChangedFile, PermissionChange, PermissionKind, Query, StoredCall};
use toolgate::policy::file::{FileSource, parse};
use toolgate::policy::{AllowedCall, Because, Decision, Policy, Suggestion, Tier, suggest};
use toolgate::rulebook::edit_policy;
use toolgate::settings::brought::POLICIES_FOLDER;

use super::recorded::Recorded;
use super::simulate::since;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// Name of the file that `--write` adds to.
const FILE: &str = "suggested.toml";

/// Suggest rules for what you have been allowing by hand
///
/// A rule permits the calls that you allowed: their values while they are few, otherwise the common folder of paths or the
/// common first words of commands. Each suggestion shows what it permits besides. Rules with the least risk and the most
/// evidence come first. Where no narrow rule is possible, a comment gives the reason.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "The risk is low when the server marked every such call as read-only and the rule permits nothing besides. It is high when
neither holds. --write adds the rules of low and medium risk; --pick also adds rules of high risk.

Examples:
  toolgate policy suggest
  toolgate policy suggest --since 30d > mine.toml
  toolgate policy suggest --write                 adds them to your policies/suggested.toml
  toolgate policy suggest --write --pick 1,4"
)]
pub(crate) struct Arguments {
    /// Only calls since then: 7d, 24h, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    since: String,
    /// Add the rules to your policies
    #[arg(long)]
    write: bool,
    /// Add only these, by number
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pick: Vec<usize>,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// The risk that a rule permits a call that the person never saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Risk {
    Low,
    Medium,
    High,
}

/// A suggestion with its evidence.
struct Weighed {
    suggestion: Suggestion,
    risk: Risk,
    /// Number of days on which such calls were allowed.
    days: usize,
    /// Number of refused or denied calls that it would permit.
    refused: usize,
    /// Whether `--write` added it before.
    is_written: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let query = Query { since: Some(since(session, &arguments.since)?), ..Query::default() };
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    let mut covered = 0_usize;
    AuditLog::open(session.env())?.each(&query, |call| {
        let was_allowed = call.confirmation.as_deref().is_some_and(|answer| answer != "refused");
        match (was_allowed, call.covered) {
            (true, 0) => allowed.push(call),
            (true, _) => covered += 1,
            (false, 0) if call.is_denied() => refused.push(call),
            (false, _) => {}
        }
        true
    })?;
    let configured = session.looked_at()?;
    let written = std::fs::read_to_string(file_of(session)).unwrap_or_default();
    let mut weighed = weigh(Recorded::new(&configured), (&allowed, &refused), &written);
    if !arguments.pick.is_empty() {
        weighed = picked(weighed, &arguments.pick)?;
    }
    print(session, &weighed)?;
    if covered > 0 {
        let calls = counted(covered, "call");
        session.printer.talk().line(&format!("{calls} left out: not all of their arguments are in the record"));
    }
    if arguments.write {
        write(session, arguments, &weighed)?;
    }
    Ok(Ending::Done)
}

/// The suggestions, least risk and most evidence first; those without a rule come last.
fn weigh(recorded: Recorded<'_>, (allowed, refused): (&[StoredCall], &[StoredCall]), written: &str) -> Vec<Weighed> {
    let calls: Vec<AllowedCall> = allowed
        .iter()
        .map(|call| AllowedCall {
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        })
        .collect();
    let mut weighed: Vec<Weighed> = suggest(&calls)
        .into_iter()
        .map(|suggestion| {
            let parsed = parse(&suggestion.toml, &FileSource::new(Tier::User, Path::new(FILE)));
            let policy = Policy::new(parsed.rules);
            let permits = |call: &&StoredCall| {
                let is_allowed = recorded.look(call, |facts| {
                    let verdict = policy.decide(facts);
                    verdict.decision == Decision::Allow && matches!(verdict.because, Because::Rule(_))
                });
                suggestion.is_rule() && is_allowed == Some(true)
            };
            let evidence: Vec<&StoredCall> = allowed.iter().filter(permits).collect();
            let only_reads = !evidence.is_empty() && evidence.iter().all(|call| call.read_only);
            let risk = match (only_reads, suggestion.permits.is_empty()) {
                (true, true) => Risk::Low,
                (true, false) | (false, true) => Risk::Medium,
                (false, false) => Risk::High,
            };
            let days: BTreeSet<String> = evidence.iter().map(|call| day(call)).collect();
            let refused = refused.iter().filter(permits).count();
            let is_written = suggestion.is_rule() && written.contains(&suggestion.toml);
            Weighed { risk, days: days.len(), refused, is_written, suggestion }
        })
        .collect();
    weighed.sort_by_key(|one| {
        let evidence = (one.days, one.suggestion.calls);
        (!one.suggestion.is_rule(), one.refused > 0, one.risk, std::cmp::Reverse(evidence))
    });
    weighed
}

fn day(call: &StoredCall) -> String {
    Timestamp::try_from(call.at).map(|at| at.to_zoned(TimeZone::UTC).date().to_string()).unwrap_or_default()
}

fn picked(weighed: Vec<Weighed>, numbers: &[usize]) -> Result<Vec<Weighed>> {
    let count = weighed.iter().filter(|one| one.suggestion.is_rule()).count();
    if let Some(wrong) = numbers.iter().find(|number| !(1..=count).contains(*number)) {
        let error = CommandError::usage(format!("there is no suggestion {wrong}"));
        return Err(error.hint(format!("there are {}", counted(count, "suggested rule"))));
    }
    let numbered = (1..).zip(weighed).filter(|(number, _)| numbers.contains(number));
    Ok(numbered.map(|(_, one)| one).collect())
}

impl Weighed {
    const fn risk(&self) -> &'static str {
        match self.risk {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }

    /// Evidence, risk and reach, as comments.
    fn comments(&self, number: usize) -> Vec<String> {
        let calls = times(self.suggestion.calls);
        if !self.suggestion.is_rule() {
            return vec![format!("# you allowed this {calls} by hand")];
        }
        let days = counted(self.days, "day");
        let mut lines = vec![format!("# {number}. you allowed this {calls} by hand, on {days}; risk: {}", self.risk())];
        // Names were escaped when they were recorded, and contain no line breaks.
        lines.extend(
            self.suggestion.permits.iter().map(|permits| format!("#    it also permits {}", one_line(permits))),
        );
        if self.is_written {
            lines.push(format!("#    it is in your policies already: {FILE}"));
        }
        if self.refused > 0 {
            let what = counted(self.refused, "call");
            lines.push(format!("#    it would have permitted {what} that you or a rule refused"));
        }
        lines
    }
}

fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let is_plain = matches!(letter, ' '..='~') || letter.is_alphanumeric();
            let shown: Vec<char> = if is_plain { vec![letter] } else { letter.escape_unicode().collect() };
            shown
        })
        .collect()
}

fn print(session: &mut Session, weighed: &[Weighed]) -> Result<()> {
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("suggestions", weighed, |json, one| {
                    json.object(|object| {
                        object.string("server", &one.suggestion.server)?;
                        object.string("tool", &one.suggestion.tool)?;
                        object.number("calls", one.suggestion.calls as u64)?;
                        object.number("days", one.days as u64)?;
                        object.optional_string("risk", one.suggestion.is_rule().then(|| one.risk()))?;
                        object.array("permits", &one.suggestion.permits, |json, text| json.string(text))?;
                        object.number("refused", one.refused as u64)?;
                        object.flag("written", one.is_written)?;
                        object.string("toml", &one.suggestion.toml)
                    })
                })
            })
        })?,
        Form::Text => {
            for (number, one) in (1..).zip(weighed) {
                for line in one.comments(number) {
                    printer.line(&line)?;
                }
                // What it says was made visible where it was written.
                printer.line(&one.suggestion.toml)?;
            }
            if weighed.is_empty() {
                printer.talk().line("nothing was allowed by hand in that time");
            }
        }
    }
    Ok(())
}

/// The policy file that `--write` adds rules to.
fn file_of(session: &Session) -> PathBuf {
    session.env().dirs.user.join(POLICIES_FOLDER).join(FILE)
}

/// Adds the new rules to the person's policy file of suggestions.
fn write(session: &Session, arguments: &Arguments, weighed: &[Weighed]) -> Result<()> {
    let is_picked = !arguments.pick.is_empty();
    let is_meant = |one: &&Weighed| one.suggestion.is_rule() && (is_picked || one.risk < Risk::High);
    let meant: Vec<&Weighed> = weighed.iter().filter(is_meant).collect();
    let left_out = weighed.iter().filter(|one| one.suggestion.is_rule()).count() - meant.len();
    let path = file_of(session);
    let mut added = 0;
    let edited = edit_policy(session.env(), &path, |old| {
        let mut text = old.to_owned();
        for one in &meant {
            if !text.contains(&one.suggestion.toml) {
                added += 1;
                let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
                text.push_str(gap);
                text.push_str(&one.suggestion.toml);
            }
        }
        Ok((added > 0).then_some(text))
    })?;
    let talk = session.printer.talk();
    match &edited {
        Some(edited) => {
            let rules = counted(added, "rule");
            talk.line(&format!("added {rules} to {}", path.display()));
            let file = ChangedFile::of_texts(&path, edited.before.as_deref(), Some(&edited.after));
            let change = PermissionChange::new(PermissionKind::Rules, format!("{rules} of `policy suggest`"));
            arguments.reason.record(session, change.files([file]));
        }
        None => talk.line("no new rules to write"),
    }
    if left_out > 0 {
        let rules = counted(left_out, "rule");
        talk.line(&format!("{rules} of high risk not written; review them, then add them with `--pick NUMBERS`"));
    }
    Ok(())
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
