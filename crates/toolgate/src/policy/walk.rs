//! The rules that are about a subject, one after the other, with what the person allowed before in its place between them.

use std::sync::Arc;

use super::decision::{Mode, Tier};
use super::facts::Remembered;
use super::index::Candidates;
use super::matching::{Fit, Part, matches};
use super::rank::Ranked;
use super::rule::Rule;
use super::subject::Subject;
use crate::shell::Reach;

/// What speaks about a subject.
#[derive(Clone, Copy, Debug)]
pub(super) enum Voice<'p, 'a> {
    /// A rule.
    Rule(&'p Arc<Rule>),
    /// A restriction of which it cannot be told whether it is about the subject.
    Unsure(&'p Arc<Rule>),
    /// What the person allowed before.
    Remembered(Remembered<'a>),
    /// Nothing any more.
    Nothing,
}

/// Is told about every rule that is looked at.
pub(super) trait Watch {
    /// A rule was held against a subject.
    fn looked_at(&mut self, rule: &Arc<Rule>, subject: &Subject<'_>, found: Result<Fit, Part>);
}

impl Watch for () {
    fn looked_at(&mut self, _: &Arc<Rule>, _: &Subject<'_>, _: Result<Fit, Part>) {}
}

/// What a subject is to the call, which says which rules count.
///
/// What restricts every call alike has been weighed where a command is a subject itself, against the rules that outrank it there; so it
/// does not count again for what stands around that command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'s, 'a> {
    /// The call, or a command that is something by itself.
    Itself,
    /// A command that only runs others: it is held back by rules that speak of arguments.
    Wrapper,
    /// The whole text of a command, with its parts: it is held back by rules that speak of the text, and an allow has to cover every part.
    Whole(&'s [Subject<'a>]),
}

/// A walk along the rules.
#[derive(Debug)]
pub(super) struct Walk<'p, 's, 'a> {
    rules: &'p [Ranked],
    candidates: Candidates<'p>,
    subject: &'s Subject<'a>,
    scope: Scope<'s, 'a>,
    remembered: Option<Remembered<'a>>,
    /// A rule that was found and not yet looked at.
    held: Option<usize>,
}

impl<'p, 's, 'a> Walk<'p, 's, 'a> {
    /// Begins at the first rule.
    pub(super) fn new(rules: &'p [Ranked], candidates: Candidates<'p>, subject: &'s Subject<'a>) -> Self {
        Self { rules, candidates, subject, scope: Scope::Itself, remembered: subject.facts.remembered, held: None }
    }

    /// What the subject is to the call.
    pub(super) fn within(self, scope: Scope<'s, 'a>) -> Self {
        Self { scope, ..self }
    }

    /// In which mode.
    pub(super) fn mode(&self) -> Mode {
        self.subject.facts.mode
    }

    /// The next that speaks about the subject.
    pub(super) fn next(&mut self, watch: &mut dyn Watch) -> Voice<'p, 'a> {
        loop {
            let place = self.held.take().or_else(|| self.candidates.next());
            let Some((place, ranked)) = place.and_then(|place| Some((place, self.rules.get(place)?))) else {
                return self.remembered.take().map_or(Voice::Nothing, Voice::Remembered);
            };
            if ranked.rule.tier == Tier::Default
                && let Some(remembered) = self.remembered.take()
            {
                self.held = Some(place);
                return Voice::Remembered(remembered);
            }
            let found = matches(ranked, self.subject).and_then(|fit| self.in_scope(ranked, fit));
            watch.looked_at(&ranked.rule, self.subject, found);
            match found {
                Ok(Fit::Yes) => return Voice::Rule(&ranked.rule),
                Ok(Fit::Unsure) => return Voice::Unsure(&ranked.rule),
                Ok(Fit::No) | Err(_) => {}
            }
        }
    }

    /// Whether a rule that fits the subject counts there.
    fn in_scope(&self, ranked: &Ranked, fit: Fit) -> Result<Fit, Part> {
        let counts = match (self.scope, ranked.reach) {
            (Scope::Itself, _) | (Scope::Wrapper, Reach::Permission) => true,
            (Scope::Whole(parts), Reach::Permission) => {
                return parts.iter().try_fold(fit, |fit, part| Ok(fit.min(matches(ranked, part)?)));
            }
            (Scope::Wrapper, Reach::Restriction) => ranked.rule.speaks_of_arguments(),
            (Scope::Whole(_), Reach::Restriction) => ranked.rule.speaks_of_text(),
        };
        Ok(if counts { fit } else { Fit::No })
    }
}
