//! `mcp.allowed` and `mcp.excluded`: which servers are used at all. One rule for both: names are trimmed, letter case is ignored, `*` stands
//! for anything. A server must be on every allow list there is and on no exclude list; an allow list without entries allows nothing. The
//! list of a run replaces all allow lists; excluded servers stay excluded. The built-in server needs no allow list.

use crate::glob::glob;
use crate::servers::resolve::folded;
use crate::settings::raw::{RawEntry, RawList, RawServerEntry};
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};

/// The lists of all layers.
#[derive(Debug)]
pub(crate) struct AllowLists {
    allowed: Vec<AllowList>,
    excluded: Vec<(String, SettingsOrigin)>,
    /// Names of built-in entries.
    built_in: Vec<String>,
}

/// One allow list. Its place is `None` for the list of a run.
#[derive(Debug)]
struct AllowList {
    names: Vec<String>,
    origin: Option<SettingsOrigin>,
}

/// A list that blocks a server.
#[derive(Debug)]
pub(crate) struct HoldingList {
    pub(crate) held_back: HeldBack,
    /// The place of the list; `None` for the list of a run.
    pub(crate) origin: Option<SettingsOrigin>,
}

/// Which list stands in the way of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// `mcp.allowed`, which does not have it.
    NotAllowed,
    /// `mcp.excluded`, which has it.
    Excluded,
}

/// The list that stands in the way of a server, and where it is written.
#[must_use]
pub fn held_back(layers: &[SettingsLayer], name: &str) -> Option<(HeldBack, SettingsOrigin)> {
    let lists = AllowLists::of(layers, None);
    let written = layers.iter().flat_map(|layer| layer.settings.mcp_servers.iter().map(move |entry| (layer, entry)));
    let written = written.filter(|(_, entry)| entry.name.value == name).max_by_key(|(layer, _)| layer.source);
    let is_built_in = written.is_some_and(|(_, entry)| lists.is_built_in(entry));
    let list = lists.check(&folded(name), is_built_in)?;
    list.origin.map(|origin| (list.held_back, origin))
}

impl AllowLists {
    pub(crate) fn of(layers: &[SettingsLayer], of_this_run: Option<&[String]>) -> Self {
        let names = |list: &RawList| -> Vec<String> { list.value.iter().map(|entry| folded(&entry.value)).collect() };
        let allowed = layers.iter().filter_map(|layer| Some((layer, layer.settings.mcp.allowed.as_ref()?)));
        let allowed = match of_this_run {
            Some(list) => vec![AllowList { names: list.iter().map(|name| folded(name)).collect(), origin: None }],
            None => allowed
                .map(|(layer, list)| AllowList { names: names(list), origin: Some(layer.origin(list.at.line)) })
                .collect(),
        };
        let excluded = layers.iter().flat_map(|layer| {
            let entries = layer.settings.mcp.excluded.iter().flat_map(|list| &list.value);
            entries.map(|entry| (folded(&entry.value), layer.origin(entry.at.line)))
        });
        let own = layers.iter().filter(|layer| layer.source == SettingsSource::BuiltIn);
        let built_in = own.flat_map(|layer| &layer.settings.mcp_servers).map(|entry| entry.name.value.clone());
        Self { allowed, excluded: excluded.collect(), built_in: built_in.collect() }
    }

    /// Whether an entry is the built-in server, even if a file repeats it to change its settings. A second one with
    /// another name is a server like any other.
    pub(crate) fn is_built_in(&self, entry: &RawServerEntry) -> bool {
        let RawEntry::Server(server) = &entry.entry else { return false };
        server.builtin.is_some() && self.built_in.contains(&entry.name.value)
    }

    /// Looks up a name that is [`folded`]. With several allow lists, the highest layer is reported.
    pub(crate) fn check(&self, name: &str, is_built_in: bool) -> Option<HoldingList> {
        let is_on = |list: &AllowList| list.names.iter().any(|pattern| glob(pattern, name));
        let without_it = self.allowed.iter().rfind(|list| !is_on(list)).filter(|_| !is_built_in);
        if let Some(list) = without_it {
            return Some(HoldingList { held_back: HeldBack::NotAllowed, origin: list.origin.clone() });
        }
        let excluding = self.excluded.iter().rfind(|(pattern, _)| glob(pattern, name));
        excluding.map(|(_, origin)| HoldingList { held_back: HeldBack::Excluded, origin: Some(origin.clone()) })
    }
}

#[cfg(test)]
mod tests {
    use super::{AllowList, AllowLists, HeldBack, folded};
    use crate::settings::source::{SettingsOrigin, SettingsSource};

    fn origin(line: usize) -> SettingsOrigin {
        SettingsOrigin { source: SettingsSource::User, path: Some("/s.json".into()), line: Some(line) }
    }

    fn checked(lists: &AllowLists, name: &str, is_built_in: bool) -> Option<(HeldBack, Option<usize>)> {
        let list = lists.check(&folded(name), is_built_in)?;
        Some((list.held_back, list.origin.and_then(|origin| origin.line)))
    }

    #[test]
    fn excluded_wins_and_every_allow_list_counts() {
        let list = |line, names: &[&str]| AllowList {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            origin: Some(origin(line)),
        };
        let lists = AllowLists {
            allowed: vec![list(1, &["git*", "time"]), list(2, &["github", "time"])],
            excluded: vec![("time".to_owned(), origin(3))],
            built_in: Vec::new(),
        };
        let cases = [
            (" GitHub ", false, None),
            ("gitlab", false, Some((HeldBack::NotAllowed, Some(2)))),
            ("other", false, Some((HeldBack::NotAllowed, Some(2)))),
            ("TIME", false, Some((HeldBack::Excluded, Some(3)))),
            ("other", true, None),
            ("TIME", true, Some((HeldBack::Excluded, Some(3)))),
        ];
        for (name, is_built_in, expected) in cases {
            assert_eq!(checked(&lists, name, is_built_in), expected, "{name}");
        }
        let run = AllowList { names: Vec::new(), origin: None };
        let nothing_allowed = AllowLists { allowed: vec![run], excluded: Vec::new(), built_in: Vec::new() };
        assert_eq!(checked(&nothing_allowed, "a", false), Some((HeldBack::NotAllowed, None)));
        let no_lists = AllowLists { allowed: Vec::new(), excluded: Vec::new(), built_in: Vec::new() };
        assert_eq!(checked(&no_lists, "a", false), None);
    }
}
