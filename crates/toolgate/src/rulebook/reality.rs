//! Compares lists and rules with the offers of servers: finds entries that match nothing, and the name that was probably meant.
//!
//! An entry that matches nothing is not an error, because its server may be on another machine. An entry that is almost an existing name is
//! a typing error: as a restriction it has no effect. Pure.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::nearest::{self, Names, Work};
use crate::filter::{Entry, NamePattern};
use crate::limits::{LIST_WORK_ALWAYS_MAX, LIST_WORK_MAX, NEAREST_CHARS_MAX};
use crate::policy::{
    Condition, Decision, Policy, Rule, RuleKind, RuleOrigin, ServerPattern, Target, Tier, is_shown_form, targets_of,
};
use crate::servers::built_in_tools::{possible_real_name, real_name};
use crate::servers::{ServerConfig, folded};
use crate::settings::raw::RawEntry;
use crate::settings::{ListedEntry, Settings, SettingsOrigin};
use crate::shell::Reach;
use crate::shown_name;

/// The tools of one server, before any list.
#[derive(Clone, Debug)]
pub struct OfferedTools<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// Name of the built-in server, if it is one.
    pub builtin: Option<&'a str>,
    /// Its tools, by their names on the server.
    pub tools: Vec<&'a str>,
}

/// The known servers and tools.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// Names of all configured servers, used or not.
    pub servers: Vec<&'a str>,
    /// The known tools.
    pub offers: Vec<OfferedTools<'a>>,
    /// Whether the tools of all used servers are known.
    pub is_complete: bool,
}

/// An entry that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unmatched {
    /// The list: `tools.exclude`, `mcpServers.github.excludeTools`, or the label of a policy file.
    pub list: String,
    /// The entry as written.
    pub entry: String,
    /// Path of the file.
    pub file: Option<PathBuf>,
    /// Line in the file, counted from 1.
    pub line: Option<usize>,
    /// The server of the list, if the list belongs to one.
    pub server: Option<String>,
    /// The kind of name.
    pub what: Named,
    /// The most similar existing name.
    pub nearest: Option<String>,
    /// Whether the entry is so similar that it is a typing error.
    pub is_mistyped: bool,
    /// Whether the entry is in a policy file.
    pub is_rule: bool,
}

/// The kind of name in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// A tool.
    Tool,
    /// A server.
    Server,
}

/// The entries to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// All entries that match nothing.
    ForAll,
    /// Typing errors only.
    ForMistyped,
}

/// Entries of lists and rules that match nothing known.
#[must_use]
pub fn unmatched(
    settings: &Settings,
    servers: &[&ServerConfig],
    policy: Option<&Policy>,
    known: &Known<'_>,
    looked: Looked,
) -> Vec<Unmatched> {
    let most = if looked == Looked::ForMistyped { LIST_WORK_ALWAYS_MAX } else { LIST_WORK_MAX };
    let mut search = Search::new(known, looked, most);
    for server in servers {
        search.own_lists(settings, server);
    }
    search.lists_of_servers(settings);
    search.lists_of_tools(settings);
    policy.into_iter().for_each(|policy| search.rules(policy));
    search.found
}

struct Search<'a> {
    known: &'a Known<'a>,
    offers: Vec<Offer<'a>>,
    servers: Names<'a>,
    /// The names of servers as settings compare them.
    folded_servers: HashSet<String>,
    looked: Looked,
    work: Work,
    found: Vec<Unmatched>,
    /// The entries found so far, to recognize a repeated one.
    told: HashSet<Unmatched>,
}

/// The tools of one server, prepared.
struct Offer<'a> {
    offered: &'a OfferedTools<'a>,
    server: Names<'a>,
    tools: Names<'a>,
}

impl<'a> Offer<'a> {
    fn of(offered: &'a OfferedTools<'a>) -> Self {
        let server = Names::of(std::iter::once(offered.server));
        Self { offered, server, tools: Names::of(offered.tools.iter().copied()) }
    }
}

/// The result for one name.
enum Fit {
    Fits,
    /// Too little is known to decide.
    Unknown,
    Nothing(Option<Near>),
}

/// The most similar name.
struct Near {
    name: String,
    is_mistyped: bool,
}

impl<'a> Search<'a> {
    fn new(known: &'a Known<'a>, looked: Looked, most: usize) -> Self {
        Self {
            known,
            offers: known.offers.iter().map(Offer::of).collect(),
            servers: Names::of(known.servers.iter().copied()),
            folded_servers: known.servers.iter().map(|server| folded(server)).collect(),
            looked,
            work: Work::of(most),
            found: Vec::new(),
            told: HashSet::new(),
        }
    }

    /// `includeTools` and `excludeTools` of a server.
    fn own_lists(&mut self, settings: &Settings, server: &ServerConfig) {
        let lists = [
            ("includeTools", server.include_tools.as_deref().unwrap_or_default(), Reach::Permission),
            ("excludeTools", &*server.exclude_tools, Reach::Restriction),
        ];
        let Some(at) = self.offers.iter().position(|offer| *offer.offered.server == *server.name) else { return };
        for (list, entries, reach) in lists {
            let mut places = None;
            for text in entries {
                let (Ok(entry), Some(offer)) = (Entry::parse(text), self.offers.get(at)) else { continue };
                if self.fits_one(&entry.name, offer, reach).is_none_or(|fits| fits) {
                    continue;
                }
                let near = self.nearest(&entry.name, &[&offer.tools]);
                if self.looked == Looked::ForMistyped && !near.as_ref().is_some_and(|near| near.is_mistyped) {
                    continue;
                }
                let places = places.get_or_insert_with(|| places_of(settings, server, list));
                let origin = places.get(text.as_str()).cloned().unwrap_or_else(|| server.origin.clone());
                self.push(Unmatched {
                    list: format!("mcpServers.{}.{list}", server.name),
                    entry: entry.text,
                    file: origin.path,
                    line: origin.line,
                    server: Some(server.name.to_string()),
                    what: Named::Tool,
                    nearest: near.as_ref().map(|near| near.name.clone()),
                    is_mistyped: near.is_some_and(|near| near.is_mistyped),
                    is_rule: false,
                });
            }
        }
    }

    /// `mcp.allowed` and `mcp.excluded`.
    fn lists_of_servers(&mut self, settings: &Settings) {
        for layer in &settings.layers {
            let lists = [("mcp.allowed", &layer.settings.mcp.allowed), ("mcp.excluded", &layer.settings.mcp.excluded)];
            for (list, entries) in lists {
                for entry in entries.iter().flat_map(|list| &list.value) {
                    let listed = ListedEntry {
                        text: entry.value.clone(),
                        origin: layer.origin(entry.at.line),
                        is_of_workspace: layer.is_of_workspace(),
                    };
                    let fit = self.server(&ServerPattern::Named(NamePattern::of(&folded(&entry.value))));
                    self.take(&listed, list, (Named::Server, None), fit);
                }
            }
        }
    }

    /// `tools.*`.
    fn lists_of_tools(&mut self, settings: &Settings) {
        let lists = [
            ("tools.exclude", settings.excluded_tools(), Decision::Deny),
            ("tools.confirmationRequired", settings.restricting_list("tools.confirmationRequired"), Decision::Ask),
            ("tools.allowed", settings.permitting_list("tools.allowed"), Decision::Allow),
            ("tools.core", settings.permitting_list("tools.core"), Decision::Allow),
        ];
        for (list, entries, decision) in lists {
            for listed in &entries {
                let Ok(entry) = Entry::parse(&listed.text) else { continue };
                let targets = targets_of(&entry.name.to_string(), decision);
                let fit = self.any_of(&targets, decision);
                self.take(listed, list, (Named::Tool, None), fit);
            }
        }
    }

    /// The rules of policy files.
    fn rules(&mut self, policy: &Policy) {
        let written = policy
            .rules()
            .filter(|rule| rule.kind == RuleKind::Written && rule.tier != Tier::Default && rule.origin.file.is_some());
        for rule in written {
            let (what, fit, entry) = match (&rule.server, &rule.tool) {
                (server, NamePattern::Any) => (Named::Server, self.server(server), pattern_text(server)),
                // The name has another reading, or is an alternative name of a built-in tool.
                (ServerPattern::Any, NamePattern::Exact(name))
                    if is_shown_form(name) || possible_real_name(name).is_some() =>
                {
                    continue;
                }
                (server, tool) => {
                    let target = Target { server: server.clone(), tool: tool.clone() };
                    (Named::Tool, self.target(&target, rule.decision), tool.to_string())
                }
            };
            let Fit::Nothing(near) = fit else { continue };
            let is_mistyped = near.as_ref().is_some_and(|near| near.is_mistyped);
            let server = matches!(what, Named::Tool).then(|| match &rule.server {
                ServerPattern::Named(NamePattern::Exact(server)) => Some(server.clone()),
                _ => None,
            });
            self.push(Unmatched {
                list: rule.origin.label.clone(),
                entry,
                file: rule.origin.file.as_deref().cloned(),
                line: rule.origin.line,
                server: server.flatten(),
                what,
                nearest: near.map(|near| near.name),
                is_mistyped,
                is_rule: true,
            });
        }
    }

    fn take(&mut self, listed: &ListedEntry, list: &str, (what, server): (Named, Option<String>), fit: Fit) {
        let Fit::Nothing(near) = fit else { return };
        self.push(Unmatched {
            list: list.to_owned(),
            entry: listed.text.clone(),
            file: listed.origin.path.clone(),
            line: listed.origin.line,
            server,
            what,
            nearest: near.as_ref().map(|near| near.name.clone()),
            is_mistyped: near.is_some_and(|near| near.is_mistyped),
            is_rule: false,
        });
    }

    fn push(&mut self, one: Unmatched) {
        if (one.is_mistyped || self.looked == Looked::ForAll) && self.told.insert(one.clone()) {
            self.found.push(one);
        }
    }

    /// An entry with several readings matches if one of them does.
    fn any_of(&self, targets: &[Target], decision: Decision) -> Fit {
        let (mut nearest, mut is_unknown) = (None, targets.is_empty());
        for target in targets {
            match self.target(target, decision) {
                Fit::Fits => return Fit::Fits,
                Fit::Unknown => is_unknown = true,
                Fit::Nothing(Some(near)) if near.is_mistyped || nearest.is_none() => nearest = Some(near),
                Fit::Nothing(_) => {}
            }
        }
        let is_mistyped = nearest.as_ref().is_some_and(|near: &Near| near.is_mistyped);
        if is_unknown && !is_mistyped { Fit::Unknown } else { Fit::Nothing(nearest) }
    }

    /// A tool of servers.
    fn target(&self, target: &Target, decision: Decision) -> Fit {
        let reach = if decision == Decision::Allow { Reach::Permission } else { Reach::Restriction };
        if self.looked == Looked::ForMistyped && !matches!(target.tool, NamePattern::Exact(_)) {
            return Fit::Unknown;
        }
        if !self.work.take(self.offers.len()) {
            return Fit::Unknown;
        }
        let offers: Vec<&Offer<'_>> = self.offers.iter().filter(|offer| self.is_of(offer, &target.server)).collect();
        for offer in &offers {
            match self.fits_one(&target.tool, offer, reach) {
                Some(true) => return Fit::Fits,
                Some(false) => {}
                None => return Fit::Unknown,
            }
        }
        let is_named = !matches!(target.server, ServerPattern::Any);
        if offers.is_empty() && is_named {
            return match self.server(&target.server) {
                // A configured server, but its tools are unknown.
                Fit::Fits => Fit::Unknown,
                fit => fit,
            };
        }
        if !is_named && !self.known.is_complete {
            return Fit::Unknown;
        }
        let tools: Vec<&Names<'_>> = offers.iter().map(|offer| &offer.tools).collect();
        Fit::Nothing(self.nearest(&target.tool, &tools))
    }

    /// Servers.
    fn server(&self, pattern: &ServerPattern) -> Fit {
        let ServerPattern::Named(name) = pattern else { return Fit::Fits };
        let fits = |reach| self.servers.fit(name, reach, &self.work);
        let (Some(certainly), Some(possibly)) = (fits(Reach::Permission), fits(Reach::Restriction)) else {
            return Fit::Unknown;
        };
        let is_folded = || match name {
            NamePattern::Exact(name) => self.folded_servers.contains(name),
            _ => self.folded_servers.iter().any(|server| name.matches(server)),
        };
        if certainly || possibly || is_folded() {
            return Fit::Fits;
        }
        Fit::Nothing(self.nearest(name, &[&self.servers]))
    }

    /// Whether a pattern is about a tool of this server. `None` when there is no work left to find out.
    fn fits_one(&self, name: &NamePattern, offer: &Offer<'_>, reach: Reach) -> Option<bool> {
        let alias = match name {
            NamePattern::Exact(name) if offer.offered.builtin.is_some() => match reach {
                Reach::Permission => real_name(name),
                Reach::Restriction => possible_real_name(name),
            },
            _ => None,
        };
        if *name == NamePattern::Any || alias.is_some_and(|real| offer.tools.has(real)) {
            return Some(true);
        }
        offer.tools.fit(name, reach, &self.work)
    }

    fn is_of(&self, offer: &Offer<'_>, server: &ServerPattern) -> bool {
        let fits = |name, reach| offer.server.fit(name, reach, &self.work).unwrap_or_default();
        match server {
            ServerPattern::Any => true,
            ServerPattern::BuiltIn(name) => offer.offered.builtin == Some(name),
            ServerPattern::Named(name) => fits(name, Reach::Permission) || fits(name, Reach::Restriction),
        }
    }

    /// The most similar name. Names with stars are not compared.
    fn nearest(&self, written: &NamePattern, among: &[&Names<'_>]) -> Option<Near> {
        let NamePattern::Exact(written) = written else { return None };
        let written = shown_name::folded(written);
        let length = written.chars().take(NEAREST_CHARS_MAX + 1).count();
        if length > NEAREST_CHARS_MAX {
            return None;
        }
        let allowed = match self.looked {
            Looked::ForAll => (length / 3).max(1),
            Looked::ForMistyped => mistakes(length),
        };
        let best = nearest::nearest(&written, allowed, among, &self.work)?;
        let real = shown_name::folded(best.name);
        let shorter = length.min(real.chars().count());
        let is_mistyped = best.distance <= mistakes(shorter) && !differs_in_digits(&written, &real);
        Some(Near { name: best.name.to_owned(), is_mistyped })
    }
}

/// Number of letters by which a name may differ and still count as a typing error.
const fn mistakes(length: usize) -> usize {
    match length {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Names such as `query_1` and `query_2` are different on purpose.
fn differs_in_digits(written: &str, real: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    written != real && letters(written) == letters(real)
}

fn pattern_text(server: &ServerPattern) -> String {
    match server {
        ServerPattern::Any => "*".to_owned(),
        ServerPattern::Named(name) => name.to_string(),
        ServerPattern::BuiltIn(name) => name.clone(),
    }
}

/// The entries of a server's lists with arguments, as rules that can be compared with the schemas of its tools.
pub(super) fn rules_of_lists(settings: &Settings, server: &ServerConfig) -> Vec<Rule> {
    let lists = [
        ("includeTools", server.include_tools.as_deref().unwrap_or_default(), Decision::Allow),
        ("excludeTools", &*server.exclude_tools, Decision::Deny),
    ];
    let entries = lists.into_iter().flat_map(|(list, entries, decision)| {
        let places = places_of(settings, server, list);
        entries.iter().filter_map(move |text| {
            let at = places.get(text.as_str()).cloned().unwrap_or_else(|| server.origin.clone());
            Some((list, decision, at, Entry::parse(text).ok()?))
        })
    });
    let rule = |(list, decision, at, entry): (&str, Decision, SettingsOrigin, Entry)| {
        let label = format!("mcpServers.{}.{list}", server.name);
        let origin = RuleOrigin { label, file: at.path.map(Arc::new), line: at.line, name: None };
        let about = ServerPattern::Named(NamePattern::Exact(server.name.to_string()));
        let conditions = entry.arguments.map(Condition::Entry).into_iter().collect();
        Rule { conditions, origin, ..Rule::about(about, entry.name, decision) }
    };
    entries.map(rule).collect()
}

/// The places of the entries of a server's list: each in the entry of the highest layer that has it.
fn places_of<'a>(settings: &'a Settings, server: &ServerConfig, list: &str) -> HashMap<&'a str, SettingsOrigin> {
    let mut layers: Vec<_> = settings.layers.iter().collect();
    layers.sort_by_key(|layer| std::cmp::Reverse(layer.source));
    let mut places = HashMap::new();
    for layer in layers {
        for entry in layer.settings.mcp_servers.iter().filter(|entry| entry.name.value == *server.name) {
            let RawEntry::Server(raw) = &entry.entry else { continue };
            let list = if list == "includeTools" { raw.include_tools.as_ref() } else { raw.exclude_tools.as_ref() };
            for one in list.iter().flat_map(|list| &list.value) {
                places.entry(one.value.as_str()).or_insert_with(|| layer.origin(one.at.line));
            }
        }
    }
    places
}

#[cfg(test)]
#[path = "reality_tests.rs"]
mod tests;
