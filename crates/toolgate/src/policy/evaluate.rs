//! `Policy`: all rules in order, and what they decide about a call.
//!
//! The first rule that matches decides. Three things make that more than a loop:
//! - Rules of a tier that can only restrict never make a decision milder: what they say is taken together with what all others decide, and
//!   the strictest counts.
//! - A restriction of which it cannot be told whether it is about the call is a question.
//! - A permission takes nothing away: what it leaves open (a dangerous command, a redirection) may be covered by the next one, as long as
//!   nothing that restricts stands between them. So removing an allow never lets more through.

use std::sync::Arc;

use super::decision::{Decision, Mode, Tier};
use super::facts::{CallFacts, Presence};
use super::index::{Candidates, Index};
use super::rank::{self, Ranked};
use super::rule::Rule;
use super::shell_call;
use super::spellings::Spellings;
use super::subject::Subject;
use super::verdict::{Because, Verdict};
use super::walk::{Voice, Walk, Watch};

/// All rules, in order. Frozen; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    rules: Vec<Ranked>,
    index: Index,
    /// The modes in which some rule denies something.
    denying: Vec<Mode>,
}

impl Policy {
    /// Puts rules in order.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        Self::of_shared(rules.into_iter().map(Arc::new))
    }

    /// The same with rules that others hold too.
    #[must_use]
    pub fn of_shared(rules: impl IntoIterator<Item = Arc<Rule>>) -> Self {
        let rules = rank::in_order(rules);
        let index = Index::of(&rules);
        let denies_in = |mode: &Mode| rules.iter().any(|ranked| ranked.rule.denies_in(*mode));
        let denying = Mode::ALL.into_iter().filter(denies_in).collect();
        Self { inner: Arc::new(Inner { rules, index, denying }) }
    }

    /// Its rules, in the order they are looked at.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Arc<Rule>> {
        self.inner.rules.iter().map(|ranked| &ranked.rule)
    }

    /// What is decided about a call.
    #[must_use]
    pub fn decide(&self, facts: &CallFacts<'_>) -> Verdict {
        self.judge(facts, &mut ())
    }

    /// The same, watched.
    pub(super) fn judge(&self, facts: &CallFacts<'_>, watch: &mut dyn Watch) -> Verdict {
        let mut verdict = if shell_call::is_shell_call(facts) {
            shell_call::judge(self, facts, watch)
        } else {
            let subject = Subject::call(facts);
            Self::weigh(self.walk(self.candidates(&subject.spellings), &subject), Leeway::default(), watch).verdict()
        };
        if verdict.decision == Decision::Ask && facts.presence == Presence::Headless {
            verdict.decision = Decision::Deny;
            verdict.adjustments.push("nobody can be asked, and a question without an answer is a no".to_owned());
        }
        verdict
    }

    pub(super) fn ranked(&self) -> &[Ranked] {
        &self.inner.rules
    }

    /// Whether some rule denies something in a mode.
    pub(super) fn denies_in(&self, mode: Mode) -> bool {
        self.inner.denying.contains(&mode)
    }

    pub(super) fn candidates(&self, spellings: &Spellings<'_>) -> Candidates<'_> {
        self.inner.index.candidates(spellings)
    }

    pub(super) fn walk<'p, 's, 'a>(&'p self, candidates: Candidates<'p>, subject: &'s Subject<'a>) -> Walk<'p, 's, 'a> {
        Walk::new(&self.inner.rules, candidates, subject)
    }

    /// Walks along the rules until it is decided; and if that is an allow, further until what it has to cover is covered.
    pub(super) fn weigh<'p, 'a>(mut walk: Walk<'p, '_, 'a>, wanted: Leeway, watch: &mut dyn Watch) -> Weighing<'p, 'a> {
        let mut restriction: Option<&'p Arc<Rule>> = None;
        let mut tiers: Vec<Tier> = Vec::new();
        let mut unsure = None;
        let decider = loop {
            match walk.next(watch) {
                Voice::Unsure(rule) => unsure = unsure.or(Some(rule)),
                Voice::Rule(rule) if rule.tier.only_restricts() => {
                    if !tiers.contains(&rule.tier) {
                        tiers.push(rule.tier);
                        restriction = restriction.filter(|known| known.decision >= rule.decision).or(Some(rule));
                    }
                }
                decider => break decider,
            }
        };
        let mode = walk.mode();
        let mut weighing = Weighing { decision: decider.decision(mode), because: decider, leeway: decider.leeway() };
        if let Some(rule) = restriction.filter(|rule| rule.decision >= weighing.decision) {
            weighing = Weighing { decision: rule.decision, because: Voice::Rule(rule), leeway: Leeway::default() };
        }
        if let Some(rule) = unsure.filter(|_| weighing.decision == Decision::Allow) {
            weighing = Weighing { decision: Decision::Ask, because: Voice::Unsure(rule), leeway: Leeway::default() };
        }
        while weighing.decision == Decision::Allow && !weighing.leeway.covers(wanted) {
            match walk.next(watch) {
                Voice::Rule(rule) if rule.decision != Decision::Allow => break,
                Voice::Unsure(_) | Voice::Nothing => break,
                voice => weighing.leeway = weighing.leeway.and(voice.leeway()),
            }
        }
        weighing
    }
}

/// What a permission covers besides an ordinary call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Leeway {
    /// A command that is dangerous, or dangerous here: it was spoken of in particular.
    pub(super) risk: bool,
    /// A redirection.
    pub(super) redirection: bool,
    /// A text that nobody can take apart: it was shown as it is.
    pub(super) unread: bool,
}

impl Leeway {
    fn covers(self, wanted: Self) -> bool {
        self.and(wanted) == self
    }

    fn and(self, other: Self) -> Self {
        Self {
            risk: self.risk || other.risk,
            redirection: self.redirection || other.redirection,
            unread: self.unread || other.unread,
        }
    }
}

/// What the rules decide about a subject, before anything adjusts it.
#[derive(Debug)]
pub(super) struct Weighing<'p, 'a> {
    pub(super) decision: Decision,
    pub(super) because: Voice<'p, 'a>,
    /// What it covers, when it is an allow.
    pub(super) leeway: Leeway,
}

impl Weighing<'_, '_> {
    pub(super) fn verdict(&self) -> Verdict {
        let mut adjustments = Vec::new();
        let because = match self.because {
            Voice::Rule(rule) => Because::Rule(Arc::clone(rule)),
            Voice::Unsure(rule) => {
                adjustments.push("it cannot be told whether the rule is about this call".to_owned());
                Because::Rule(Arc::clone(rule))
            }
            Voice::Remembered(remembered) => Because::Remembered(remembered.grant.to_owned()),
            Voice::Nothing => Because::NoRule,
        };
        Verdict { decision: self.decision, because, adjustments }
    }
}

impl Voice<'_, '_> {
    fn decision(self, mode: Mode) -> Decision {
        match self {
            Self::Rule(rule) => rule.decision,
            Self::Unsure(_) => Decision::Ask,
            Self::Remembered(_) => Decision::Allow,
            Self::Nothing if mode == Mode::Yolo => Decision::Allow,
            Self::Nothing => Decision::Ask,
        }
    }

    fn leeway(self) -> Leeway {
        match self {
            Self::Rule(rule) => {
                Leeway { risk: rule.speaks_of_arguments(), redirection: rule.allows_redirection, unread: false }
            }
            Self::Remembered(remembered) if remembered.is_for_these_arguments => {
                Leeway { risk: true, redirection: true, unread: true }
            }
            Self::Remembered(_) | Self::Unsure(_) | Self::Nothing => Leeway::default(),
        }
    }
}
