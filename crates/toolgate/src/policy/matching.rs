//! One rule against one call: whether every part of it fits, and which does not.

use regex::Regex;
use serde_json::Value;

use super::facts::{CallFacts, Presence};
use super::rank::Ranked;
use super::rule::{Condition, ServerPattern};
use super::subject::Subject;
use super::when::When;
use crate::filter::{ArgumentPattern, NamePattern};
use crate::servers::built_in_tools::under_all_names;
use crate::shell::{Reach, SimpleCommand};

/// Whether something fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// No.
    No,
    /// It cannot be told. Only what restricts is ever so: a permission that cannot be told does not fit.
    Unsure,
    /// Yes.
    Yes,
}

impl Fit {
    fn of(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// A part of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Whose tools.
    Server,
    /// Which tools.
    Tool,
    /// `modes`.
    Modes,
    /// `interactive`.
    Interactive,
    /// `askers`.
    Askers,
    /// `subagent`.
    Subagent,
    /// One of its conditions, counted from 0.
    Condition(usize),
}

/// The parts of a rule that are always there, the names first.
const FIXED: [Part; 6] = [Part::Server, Part::Tool, Part::Modes, Part::Interactive, Part::Askers, Part::Subagent];

/// The parts of a rule, the cheap ones first.
pub(super) fn parts(ranked: &Ranked) -> impl Iterator<Item = Part> {
    FIXED.into_iter().chain((0..ranked.rule.conditions.len()).map(Part::Condition))
}

/// Whether a rule is about the subject, and else the first part that does not fit.
pub(super) fn matches(ranked: &Ranked, subject: &Subject<'_>) -> Result<Fit, Part> {
    let mut all = Fit::Yes;
    for part in parts(ranked) {
        match fits(ranked, part, subject) {
            Fit::No => return Err(part),
            fit => all = all.min(fit),
        }
    }
    Ok(all)
}

/// Whether one part of a rule fits.
pub(super) fn fits(ranked: &Ranked, part: Part, subject: &Subject<'_>) -> Fit {
    let (rule, facts) = (&ranked.rule, &subject.facts);
    match part {
        Part::Server => Fit::of(server_fits(ranked, subject)),
        Part::Tool => Fit::of(tool_fits(ranked, subject)),
        Part::Modes => Fit::of(rule.modes.is_empty() || rule.modes.contains(&facts.mode)),
        Part::Interactive => {
            let is_interactive = facts.presence == Presence::Interactive;
            Fit::of(rule.interactive.is_none_or(|interactive| interactive == is_interactive))
        }
        Part::Askers => Fit::of(rule.askers.is_empty() || rule.askers.contains(&facts.asker)),
        Part::Subagent => Fit::of(rule.subagent.is_none() || rule.subagent.as_deref() == facts.subagent),
        Part::Condition(at) => match rule.conditions.get(at) {
            Some(condition) => condition_fits(condition, subject, ranked.reach),
            None => Fit::No,
        },
    }
}

fn server_fits(ranked: &Ranked, subject: &Subject<'_>) -> bool {
    let facts = &subject.facts;
    match (&ranked.rule.server, ranked.reach) {
        (ServerPattern::Any, _) => true,
        (ServerPattern::BuiltIn(name), _) => facts.builtin == Some(name),
        // A permission with `*` for the server covers other servers, but not the built-in one.
        (ServerPattern::Named(name), Reach::Permission) => {
            name.matches(facts.server) && (facts.builtin.is_none() || matches!(name, NamePattern::Exact(_)))
        }
        (ServerPattern::Named(_), Reach::Restriction) => ranked.could_be_server(&subject.spellings),
    }
}

fn tool_fits(ranked: &Ranked, subject: &Subject<'_>) -> bool {
    match ranked.reach {
        Reach::Permission => ranked.rule.tool.matches(subject.facts.tool),
        Reach::Restriction => ranked.could_be_tool(&subject.spellings),
    }
}

fn condition_fits(condition: &Condition, subject: &Subject<'_>, reach: Reach) -> Fit {
    match condition {
        Condition::ArgsPattern(pattern) => {
            let is_meant =
                || reach == Reach::Restriction && subject.marked_readings().iter().any(|it| pattern.is_match(it));
            // Arguments of a built-in tool also have their Gemini CLI names.
            let is_renamed = || subject.marked_renamed().iter().any(|it| pattern.is_match(it));
            Fit::of(pattern.is_match(subject.marked()) || is_renamed() || is_meant())
        }
        Condition::CommandPrefix(prefixes) => {
            commands_fit(subject, reach, |command| prefixes_fit(prefixes, command, reach))
        }
        Condition::CommandRegex(pattern) => {
            commands_fit(subject, reach, |command| regex_fits(pattern, (subject, command), reach))
        }
        Condition::Entry(pattern) => entry_fits(pattern, subject, reach),
        Condition::Annotations(expected) => Fit::of(annotations_fit(expected, subject.facts.annotations)),
        Condition::When(when) => Fit::of(when_holds(when, subject, reach)),
    }
}

/// Whether tests hold of the arguments; for a restriction, also with the command as it is meant.
fn when_holds(when: &When, subject: &Subject<'_>, reach: Reach) -> bool {
    let facts = &subject.facts;
    let is_meant = |value: &Value| {
        let all = facts.builtin.and_then(|_| under_all_names(value));
        let arguments = facts.arguments.with_value(all.as_ref().unwrap_or(value));
        when.holds(&CallFacts { arguments: &arguments, ..*facts }, reach)
    };
    let holds = match subject.under_all_names() {
        Some(all) => when.holds(&CallFacts { arguments: &facts.arguments.with_value(all), ..*facts }, reach),
        None => when.holds(facts, reach),
    };
    holds || (reach == Reach::Restriction && subject.readings().iter().any(is_meant))
}

/// Whether the command of the subject fits; for a whole call, whether any command in it does, or for a permission every one.
fn commands_fit(subject: &Subject<'_>, reach: Reach, fits: impl Fn(&SimpleCommand) -> Fit) -> Fit {
    // What runs commands that nobody sees may run the one that is held back.
    let fits = |command: &SimpleCommand| match fits(command) {
        Fit::No if reach == Reach::Restriction && command.runs_unseen => Fit::Unsure,
        fit => fit,
    };
    if let Some(command) = subject.command {
        return fits(command);
    }
    let arguments = subject.facts.arguments;
    match (arguments.script(), reach) {
        (None | Some(Err(_)), Reach::Permission) => Fit::No,
        (Some(Err(_)), Reach::Restriction) => Fit::Unsure,
        // A command that is no text is one all the same.
        (None, Reach::Restriction) if arguments.value().get("command").is_some() => Fit::Unsure,
        (None, Reach::Restriction) => Fit::No,
        (Some(Ok(script)), Reach::Permission) => script.commands.iter().map(fits).min().unwrap_or(Fit::No),
        (Some(Ok(script)), Reach::Restriction) => script.commands.iter().map(fits).max().unwrap_or(Fit::No),
    }
}

/// Whether a command begins with one of these prefixes. A restriction also covers prefixes at any place that may be run.
fn prefixes_fit(prefixes: &[String], command: &SimpleCommand, reach: Reach) -> Fit {
    if prefixes.iter().any(|prefix| command.begins_with(prefix, reach)) {
        return Fit::Yes;
    }
    let holds = || prefixes.iter().any(|prefix| command.could_hold(prefix));
    if reach == Reach::Restriction && holds() { Fit::Unsure } else { Fit::No }
}

/// Whether a command begins as the pattern says.
fn regex_fits(pattern: &Regex, (subject, command): (&Subject<'_>, &SimpleCommand), reach: Reach) -> Fit {
    // The first match is the leftmost: if any begins at the beginning, it is that one.
    let begins = |text: &str| pattern.find(text).is_some_and(|found| found.start() == 0);
    if begins(&command.text) || (reach == Reach::Restriction && command.readings().iter().any(|it| begins(it))) {
        return Fit::Yes;
    }
    // `$tool --force` can be any program.
    let is_unknown = command.words.first().is_some_and(|program| program.literal.is_none());
    let holds = || subject.held_texts(command).iter().any(|text| begins(text));
    if reach == Reach::Restriction && (is_unknown || holds()) { Fit::Unsure } else { Fit::No }
}

/// Whether the call is one of those an entry means. Where that hangs on a command that cannot be taken apart, it cannot be told.
fn entry_fits(pattern: &ArgumentPattern, subject: &Subject<'_>, reach: Reach) -> Fit {
    let is_about_command = match pattern {
        ArgumentPattern::Any => false,
        ArgumentPattern::Text(_) => true,
        ArgumentPattern::Key { key, .. } => key == "command",
    };
    let under_all_names = subject.under_all_names().map(|all| subject.facts.arguments.also_named(all));
    let arguments = under_all_names.as_ref().unwrap_or(subject.facts.arguments);
    match (Fit::of(pattern.matches(arguments, reach)), arguments.script()) {
        (Fit::Yes, Some(Err(_))) if is_about_command => Fit::Unsure,
        (Fit::Yes, Some(Ok(script))) if is_about_command && script.commands.iter().any(SimpleCommand::may_run_more) => {
            // It is certain when it would also be so if all were seen.
            let mut seen = script.clone();
            seen.commands.iter_mut().for_each(SimpleCommand::forget_more);
            let is_certain = pattern.matches(&arguments.with_script(arguments.value(), seen), reach);
            if is_certain { Fit::Yes } else { Fit::Unsure }
        }
        (fit, _) => fit,
    }
}

fn annotations_fit(expected: &[(String, Value)], annotations: &Value) -> bool {
    expected.iter().all(|(key, value)| annotations.get(key) == Some(value))
}
