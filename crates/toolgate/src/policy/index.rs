//! Which rules can be about a call: found by the names in them, so that rules which name other tools cost nothing.
//!
//! Every rule stands in exactly one list, and every list is in the order of the rules; so a call looks at a few lists, merged.

use std::collections::{BTreeSet, HashMap};

use super::rank::Ranked;
use super::rule::ServerPattern;
use crate::filter::NamePattern;
use crate::servers::folded;

/// Where a rule stands in the order of all.
type Place = u32;

/// Rules by the names in them.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Rules that name a server, by its folded name.
    by_server: HashMap<String, ByTool>,
    /// All others.
    elsewhere: ByTool,
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
            let by_tool = match (&ranked.rule.server, &ranked.folded_server) {
                (ServerPattern::Named(_), Some(NamePattern::Exact(server))) => {
                    index.by_server.entry(server.clone()).or_default()
                }
                _ => &mut index.elsewhere,
            };
            by_tool.insert(place, &ranked.rule.tool);
        }
        index
    }

    /// The places of all rules that can be about this tool of this server, in order.
    pub(super) fn candidates(&self, server: &str, tool: &str) -> Candidates<'_> {
        let mut lists = Vec::new();
        if let Some(by_tool) = self.by_server.get(&folded(server)) {
            by_tool.collect(tool, &mut lists);
        }
        self.elsewhere.collect(tool, &mut lists);
        Candidates { lists }
    }
}

impl ByTool {
    fn insert(&mut self, place: Place, tool: &NamePattern) {
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

    fn collect<'i>(&'i self, tool: &str, lists: &mut Vec<&'i [Place]>) {
        let fits = |length: &&usize| **length <= tool.len();
        let prefixes = self.prefix_lengths.iter().take_while(fits).filter_map(|length| tool.get(..*length));
        let suffixes = self.suffix_lengths.iter().take_while(fits).filter_map(|length| tool.get(tool.len() - length..));
        let found = self.exact.get(tool).into_iter();
        let found = found.chain(prefixes.filter_map(|prefix| self.prefixed.get(prefix)));
        let found = found.chain(suffixes.filter_map(|suffix| self.suffixed.get(suffix)));
        lists.extend(found.chain([&self.rest]).filter(|list| !list.is_empty()).map(Vec::as_slice));
    }
}

/// The places of rules, in order, merged from a few lists.
#[derive(Clone, Debug)]
pub(super) struct Candidates<'i> {
    lists: Vec<&'i [Place]>,
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
