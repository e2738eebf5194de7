//! Compares lists and rules with the offers of servers: finds entries that match nothing, and the name that was probably meant.
//!
//! An entry that matches nothing is not an error, because its server may be on another machine. An entry that is almost an existing name is
//! a typing error: as a restriction it has no effect. Pure.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use crate::filter::{Entry, NamePattern};
use crate::limits::{LIST_COMPARISONS_MAX, NEAREST_CHARS_MAX};
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let mut search = Search { known, looked, left: Cell::new(LIST_COMPARISONS_MAX), found: Vec::new() };
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
    looked: Looked,
    /// Names that may still be compared.
    left: Cell<usize>,
    found: Vec<Unmatched>,
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

impl Search<'_> {
    /// `includeTools` and `excludeTools` of a server.
    fn own_lists(&mut self, settings: &Settings, server: &ServerConfig) {
        let lists = [
            ("includeTools", server.include_tools.as_deref().unwrap_or_default(), Reach::Permission),
            ("excludeTools", &*server.exclude_tools, Reach::Restriction),
        ];
        let Some(offer) = self.known.offers.iter().find(|offer| *offer.server == *server.name) else { return };
        for (list, entries, reach) in lists {
            for text in entries {
                let Ok(entry) = Entry::parse(text) else { continue };
                if fits_one(&entry.name, offer, reach) {
                    continue;
                }
                let near = self.nearest(&entry.name, offer.tools.iter().copied());
                let origin = place_of(settings, server, list, text);
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
        if (one.is_mistyped || self.looked == Looked::ForAll) && !self.found.contains(&one) {
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
        let offers: Vec<&OfferedTools<'_>> =
            self.known.offers.iter().filter(|offer| is_of(offer, &target.server)).collect();
        if offers.iter().any(|offer| fits_one(&target.tool, offer, reach)) {
            return Fit::Fits;
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
        Fit::Nothing(self.nearest(&target.tool, offers.iter().flat_map(|offer| offer.tools.iter().copied())))
    }

    /// Servers.
    fn server(&self, pattern: &ServerPattern) -> Fit {
        let ServerPattern::Named(name) = pattern else { return Fit::Fits };
        let is_it = |server: &&str| name.matches(server) || name.could_be(server) || name.matches(&folded(server));
        if self.known.servers.iter().any(is_it) {
            return Fit::Fits;
        }
        Fit::Nothing(self.nearest(name, self.known.servers.iter().copied()))
    }

    /// The most similar name. Names with stars are not compared.
    fn nearest<'n>(&self, written: &NamePattern, names: impl Iterator<Item = &'n str>) -> Option<Near> {
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
        let mut best: Option<(usize, &str)> = None;
        for name in names {
            let left = self.left.get();
            if left == 0 {
                break;
            }
            self.left.set(left - 1);
            let real = shown_name::folded(name);
            let is_near = real.chars().take(length + allowed + 1).count().abs_diff(length) <= allowed;
            let distance = is_near.then(|| strsim::damerau_levenshtein(&written, &real));
            if let Some(distance) = distance.filter(|distance| *distance <= allowed)
                && best.is_none_or(|(held, _)| distance < held)
            {
                best = Some((distance, name));
            }
        }
        best.map(|(distance, name)| {
            let real = shown_name::folded(name);
            let shorter = length.min(real.chars().count());
            let is_mistyped = distance <= mistakes(shorter) && !differs_in_digits(&written, &real);
            Near { name: name.to_owned(), is_mistyped }
        })
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

fn fits_one(name: &NamePattern, offer: &OfferedTools<'_>, reach: Reach) -> bool {
    let alias = match name {
        NamePattern::Exact(name) if offer.builtin.is_some() => match reach {
            Reach::Permission => real_name(name),
            Reach::Restriction => possible_real_name(name),
        },
        _ => None,
    };
    let is_it = |tool: &&str| match reach {
        Reach::Permission => name.matches(tool),
        Reach::Restriction => name.could_be(tool),
    };
    *name == NamePattern::Any || alias.is_some_and(|real| offer.tools.contains(&real)) || offer.tools.iter().any(is_it)
}

fn is_of(offer: &OfferedTools<'_>, server: &ServerPattern) -> bool {
    match server {
        ServerPattern::Any => true,
        ServerPattern::BuiltIn(name) => offer.builtin == Some(name),
        ServerPattern::Named(name) => name.matches(offer.server) || name.could_be(offer.server),
    }
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
        entries.iter().filter_map(move |text| Some((list, decision, text, Entry::parse(text).ok()?)))
    });
    let rule = |(list, decision, text, entry): (&str, Decision, &String, Entry)| {
        let at = place_of(settings, server, list, text);
        let label = format!("mcpServers.{}.{list}", server.name);
        let origin = RuleOrigin { label, file: at.path.map(Arc::new), line: at.line, name: None };
        let about = ServerPattern::Named(NamePattern::Exact(server.name.to_string()));
        let conditions = entry.arguments.map(Condition::Entry).into_iter().collect();
        Rule { conditions, origin, ..Rule::about(about, entry.name, decision) }
    };
    entries.map(rule).collect()
}

/// The place of a list entry, in the highest layer that has it.
fn place_of(settings: &Settings, server: &ServerConfig, list: &str, text: &str) -> SettingsOrigin {
    let mut layers: Vec<_> = settings.layers.iter().collect();
    layers.sort_by_key(|layer| std::cmp::Reverse(layer.source));
    let written = layers.into_iter().flat_map(|layer| {
        let entries = layer.settings.mcp_servers.iter().filter(|entry| entry.name.value == *server.name);
        entries.map(move |entry| (layer, entry))
    });
    let mut places = written.filter_map(|(layer, entry)| {
        let RawEntry::Server(raw) = &entry.entry else { return None };
        let list = if list == "includeTools" { raw.include_tools.as_ref() } else { raw.exclude_tools.as_ref() };
        let at = list?.value.iter().find(|one| one.value == text)?.at;
        Some(layer.origin(at.line))
    });
    places.next().unwrap_or_else(|| server.origin.clone())
}

#[cfg(test)]
#[path = "reality_tests.rs"]
mod tests;
