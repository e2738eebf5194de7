//! `mcp.allowed` and `mcp.excluded`: which servers are used at all. One rule for both: names are trimmed, letter case is ignored, `*` stands
//! for anything. A server must be on every allow list there is and on no exclude list; an allow list without entries allows nothing. The
//! list of a run stands in place of all allow lists; what is excluded stays so.

use crate::glob::glob;
use crate::servers::resolve::folded;
use crate::settings::raw::RawList;
use crate::settings::source::{SettingsLayer, SettingsOrigin};

/// The lists of all layers.
#[derive(Debug)]
pub(crate) struct AllowLists {
    allowed: Vec<Vec<String>>,
    excluded: Vec<String>,
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
    let name = &folded(name);
    let held_back = AllowLists::of(layers, None).check(name)?;
    let mut lists = layers.iter().filter_map(|layer| {
        let list = match held_back {
            HeldBack::NotAllowed => layer.settings.mcp.allowed.as_ref(),
            HeldBack::Excluded => layer.settings.mcp.excluded.as_ref(),
        };
        let stands_in_the_way = AllowLists::of(std::slice::from_ref(layer), None).check(name) == Some(held_back);
        list.filter(|_| stands_in_the_way).map(|list| layer.origin(list.at.line))
    });
    lists.next_back().map(|origin| (held_back, origin))
}

impl AllowLists {
    pub(crate) fn of(layers: &[SettingsLayer], of_this_run: Option<&[String]>) -> Self {
        let names = |list: &RawList| -> Vec<String> { list.value.iter().map(|entry| folded(&entry.value)).collect() };
        let allowed = layers.iter().filter_map(|layer| layer.settings.mcp.allowed.as_ref()).map(names);
        let excluded = layers.iter().filter_map(|layer| layer.settings.mcp.excluded.as_ref()).flat_map(names);
        let allowed = match of_this_run {
            Some(list) => vec![list.iter().map(|name| folded(name)).collect()],
            None => allowed.collect(),
        };
        Self { allowed, excluded: excluded.collect() }
    }

    /// Looks up a name that is [`folded`].
    pub(crate) fn check(&self, name: &str) -> Option<HeldBack> {
        let is_on = |list: &[String]| list.iter().any(|pattern| glob(pattern, name));
        if self.allowed.iter().any(|list| !is_on(list)) {
            Some(HeldBack::NotAllowed)
        } else {
            is_on(&self.excluded).then_some(HeldBack::Excluded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AllowLists, HeldBack, folded};

    #[test]
    fn excluded_wins_and_every_allow_list_counts() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let lists =
            AllowLists { allowed: vec![list(&["git*", "time"]), list(&["github", "time"])], excluded: list(&["time"]) };
        let cases = [(" GitHub ", None), ("gitlab", Some(HeldBack::NotAllowed)), ("TIME", Some(HeldBack::Excluded))];
        for (name, expected) in cases {
            assert_eq!(lists.check(&folded(name)), expected, "{name}");
        }
        let nothing_allowed = AllowLists { allowed: vec![Vec::new()], excluded: Vec::new() };
        assert_eq!(nothing_allowed.check("a"), Some(HeldBack::NotAllowed));
        let no_lists = AllowLists { allowed: Vec::new(), excluded: Vec::new() };
        assert_eq!(no_lists.check("a"), None);
    }
}
