//! Why a call is decided as it is: every rule that was looked at, and those that came close.

use std::sync::Arc;

use super::evaluate::Policy;
use super::facts::{CallFacts, ToolFacts};
use super::matching::{Fit, Part, fits, parts};
use super::rank::Ranked;
use super::rule::{Condition, Rule, ServerPattern};
use super::subject::Subject;
use super::verdict::{Because, Verdict};
use super::walk::Watch;
use crate::filter::NamePattern;
use crate::limits::CLOSE_RULES_MAX;

/// Why a call is decided as it is.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What was decided, what decided it, and what adjusted that.
    pub verdict: Verdict,
    /// Whether the tool is shown.
    pub visible: bool,
    /// Every rule that was looked at, in order, until it was decided. Rules that name other tools are not.
    pub trace: Vec<TraceStep>,
    /// Rules that name the tool or its server and did not decide, at most [`CLOSE_RULES_MAX`].
    pub close: Vec<Close>,
}

/// One rule that was looked at.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// The rule.
    pub rule: Arc<Rule>,
    /// The simple command it was held against, when it was not the whole call.
    pub command: Option<String>,
    /// What came of it.
    pub found: Found,
}

/// What came of holding a rule against a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is about the call.
    Matches,
    /// It cannot be told, so that it is a question.
    Unsure,
    /// It is about a part of the command, and was weighed there.
    WeighedInPart,
    /// It is not about the call: this part of it does not fit.
    Misses(Part),
}

/// A rule that came close.
#[derive(Clone, Debug)]
pub struct Close {
    /// The rule.
    pub rule: Arc<Rule>,
    /// Why it did not decide.
    pub why: WhyClose,
}

/// Why a rule that came close did not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyClose {
    /// This part of it does not fit; all others do.
    Misses(Part),
    /// It is about the call, and another one outranks it.
    Outranked,
    /// It is about the call, and it is an allow of a source that can only restrict.
    HasNoEffect,
}

impl Policy {
    /// Why a call is decided as it is.
    #[must_use]
    pub fn explain(&self, facts: &CallFacts<'_>) -> Explanation {
        let mut trace = Trace::default();
        let verdict = self.judge(facts, &mut trace);
        let subject = Subject::call(facts);
        let decided = match &verdict.because {
            Because::Rule(rule) => Some(rule),
            Because::Filter(_) | Because::Remembered(_) | Because::NoRule => None,
        };
        let others = self.ranked().iter().filter(|it| !decided.is_some_and(|rule| Arc::ptr_eq(rule, &it.rule)));
        let close = others
            .filter_map(|it| Some(Close { why: why_close(it, &subject)?, rule: Arc::clone(&it.rule) }))
            .take(CLOSE_RULES_MAX)
            .collect();
        Explanation { visible: self.visible(&ToolFacts::from(facts)), verdict, trace: trace.steps, close }
    }
}

fn why_close(ranked: &Ranked, subject: &Subject<'_>) -> Option<WhyClose> {
    let names_something = ranked.rule.tool != NamePattern::Any || ranked.rule.server != ServerPattern::Any;
    let is_meant = names_something && ranked.could_be_tool(&subject.spellings) && server_is_meant(ranked, subject);
    if !is_meant {
        return None;
    }
    let mut misses = parts(ranked).filter(|part| fits(ranked, *part, subject) == Fit::No);
    match (misses.next(), misses.next()) {
        (None, _) if ranked.rule.has_no_effect() => Some(WhyClose::HasNoEffect),
        (None, _) => Some(WhyClose::Outranked),
        (Some(part), None) => Some(WhyClose::Misses(part)),
        (Some(_), Some(_)) => None,
    }
}

/// Whether the server is meant, perhaps in another spelling than a permission takes.
fn server_is_meant(ranked: &Ranked, subject: &Subject<'_>) -> bool {
    match &ranked.rule.server {
        ServerPattern::Named(_) => ranked.could_be_server(&subject.spellings),
        ServerPattern::Any | ServerPattern::BuiltIn(_) => fits(ranked, Part::Server, subject) == Fit::Yes,
    }
}

/// Writes down every rule that is looked at.
#[derive(Debug, Default)]
struct Trace {
    steps: Vec<TraceStep>,
}

impl Watch for Trace {
    fn looked_at(&mut self, rule: &Arc<Rule>, subject: &Subject<'_>, found: Result<Fit, Part>) {
        let found = match found {
            Ok(Fit::Yes) => Found::Matches,
            Ok(Fit::Unsure) => Found::Unsure,
            Ok(Fit::No) => Found::WeighedInPart,
            Err(part) => Found::Misses(part),
        };
        let command = subject.command.map(|command| command.text.clone());
        self.steps.push(TraceStep { rule: Arc::clone(rule), command, found });
    }
}

impl Rule {
    /// What a part of it is called where rules are written.
    #[must_use]
    pub fn key_of(&self, part: Part) -> &'static str {
        match part {
            Part::Server => "mcpName",
            Part::Tool => "toolName",
            Part::Modes => "modes",
            Part::Interactive => "interactive",
            Part::Askers => "askers",
            Part::Subagent => "subagent",
            Part::Condition(at) => self.conditions.get(at).map_or("conditions", Condition::key),
        }
    }
}
