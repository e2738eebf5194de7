//! Which rules can be about a call: found by the names in them, so that rules which name other tools cost nothing.
//!
//! Every rule stands in exactly one list, and every list is in the order of the rules; so a call looks at a few lists, merged. A permission is
//! found by the tool's own name, a restriction by each of its spellings.

use std::collections::{BTreeSet, HashMap};

use super::rank::Ranked;
use super::rule::ServerPattern;
use super::spellings::Spellings;
use crate::filter::NamePattern;
use crate::shell::Reach;

/// Where a rule stands in the order of all.
type Place = u32;

/// Rules by the names in them.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Rules that name a server, by its folded name.
    by_server: HashMap<String, ByReach>,
    /// All others.
    elsewhere: ByReach,
    /// Restrictions that may name a tool together with its server.
    of_both: ByTool,
}

/// Rules by how far they reach.
#[derive(Debug, Default)]
struct ByReach {
    permitting: ByTool,
    restricting: ByTool,
}

/// Rules by how they say which tools they are about.
#[derive(Debug, Default)]
struct ByTool {
    exact: HashMap<String, Vec<Place>>,
    /// Globs by what stands before their first star.
    prefixed: HashMap<String, Vec<Place>>,
    /// How long those beginnings are, in bytes.
    prefix_lengths: BTreeSet<usize>,
    /// Globs that begin with a star, by what stands behind their last one.
    suffixed: HashMap<String, Vec<Place>>,
    /// How long those ends are, in bytes.
    suffix_lengths: BTreeSet<usize>,
    /// Those that any tool has to look at.
    rest: Vec<Place>,
    has_rules: bool,
}

impl Index {
    /// Sorts rules, which are in order, into lists.
    pub(super) fn of(rules: &[Ranked]) -> Self {
        let mut index = Self::default();
        for (place, ranked) in (0..).zip(rules) {
            // A rule that has no effect is kept in the list of rules, and never looked at.
            if ranked.rule.has_no_effect() {
                continue;
            }
            let by_reach = match (&ranked.rule.server, &ranked.folded_server) {
                (ServerPattern::Named(_), Some(NamePattern::Exact(server))) => {
                    index.by_server.entry(server.clone()).or_default()
                }
                _ => &mut index.elsewhere,
            };
            match ranked.reach {
                Reach::Permission => by_reach.permitting.insert(place, &ranked.rule.tool),
                Reach::Restriction if ranked.is_of_both => index.of_both.insert(place, &ranked.folded_tool),
                Reach::Restriction => by_reach.restricting.insert(place, &ranked.folded_tool),
            }
        }
        index
    }

    /// The places of all rules that can be about a tool of a server, in order.
    pub(super) fn candidates(&self, spellings: &Spellings<'_>) -> Candidates<'_> {
        let mut candidates = Candidates { lists: Vec::new() };
        let servers = if self.by_server.is_empty() { &[] } else { spellings.of_server() };
        let of_server = servers.iter().filter_map(|server| self.by_server.get(server));
        for by_reach in of_server.chain([&self.elsewhere]) {
            by_reach.permitting.collect(spellings.tool(), &mut candidates);
            for spelling in spellings.of_tool() {
                by_reach.restricting.collect(spelling, &mut candidates);
            }
        }
        if self.of_both.has_rules {
            for spelling in spellings.of_tool().iter().chain(spellings.of_both()) {
                self.of_both.collect(spelling, &mut candidates);
            }
        }
        candidates
    }
}

impl ByTool {
    fn insert(&mut self, place: Place, tool: &NamePattern) {
        self.has_rules = true;
        let list = match tool {
            NamePattern::Any => &mut self.rest,
            NamePattern::Exact(name) => self.exact.entry(name.clone()).or_default(),
            NamePattern::Glob(glob) => {
                let prefix = glob.split('*').next().unwrap_or_default();
                let suffix = glob.rsplit('*').next().unwrap_or_default();
                if !prefix.is_empty() {
                    self.prefix_lengths.insert(prefix.len());
                    self.prefixed.entry(prefix.to_owned()).or_default()
                } else if !suffix.is_empty() {
                    self.suffix_lengths.insert(suffix.len());
                    self.suffixed.entry(suffix.to_owned()).or_default()
                } else {
                    &mut self.rest
                }
            }
        };
        list.push(place);
    }

    fn collect<'i>(&'i self, tool: &str, candidates: &mut Candidates<'i>) {
        if !self.has_rules {
            return;
        }
        let fits = |length: &&usize| **length <= tool.len();
        let prefixes = self.prefix_lengths.iter().take_while(fits).filter_map(|length| tool.get(..*length));
        let suffixes = self.suffix_lengths.iter().take_while(fits).filter_map(|length| tool.get(tool.len() - length..));
        // Hashing a name takes longer than all the rest where there is nothing to be found.
        let exact = if self.exact.is_empty() { None } else { self.exact.get(tool) };
        let found = exact.into_iter();
        let found = found.chain(prefixes.filter_map(|prefix| self.prefixed.get(prefix)));
        let found = found.chain(suffixes.filter_map(|suffix| self.suffixed.get(suffix)));
        found.chain([&self.rest]).for_each(|list| candidates.add(list));
    }
}

/// The places of rules, in order, merged from a few lists.
#[derive(Clone, Debug)]
pub(super) struct Candidates<'i> {
    lists: Vec<&'i [Place]>,
}

impl<'i> Candidates<'i> {
    /// Adds a list. Two spellings of a name may find the same one.
    fn add(&mut self, list: &'i [Place]) {
        if !list.is_empty() && !self.lists.iter().any(|known| std::ptr::eq(*known, list)) {
            self.lists.push(list);
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let list = self.lists.iter_mut().min_by_key(|list| list.first().copied().unwrap_or(Place::MAX))?;
        let (first, rest) = list.split_first()?;
        *list = rest;
        usize::try_from(*first).ok()
    }
}
