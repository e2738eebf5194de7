//! `mcp.allowed` and `mcp.excluded`: which servers are used at all. One rule for both: names are trimmed, letter case is ignored, `*` stands
//! for anything. A server must be on every allow list there is and on no exclude list; an allow list without entries allows nothing.

use crate::settings::raw::RawList;
use crate::settings::source::SettingsLayer;

/// The lists of all layers.
#[derive(Debug)]
pub(crate) struct AllowLists {
    allowed: Vec<Vec<String>>,
    excluded: Vec<String>,
}

/// Which list stands in the way of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBack {
    NotAllowed,
    Excluded,
}

impl AllowLists {
    pub(crate) fn of(layers: &[SettingsLayer]) -> Self {
        let folded = |list: &RawList| -> Vec<String> { list.value.iter().map(|entry| fold(&entry.value)).collect() };
        let allowed = layers.iter().filter_map(|layer| layer.settings.mcp.allowed.as_ref()).map(folded);
        let excluded = layers.iter().filter_map(|layer| layer.settings.mcp.excluded.as_ref()).flat_map(folded);
        Self { allowed: allowed.collect(), excluded: excluded.collect() }
    }

    pub(crate) fn check(&self, name: &str) -> Option<HeldBack> {
        let name = fold(name);
        let is_on = |list: &[String]| list.iter().any(|pattern| matches(pattern, &name));
        if is_on(&self.excluded) {
            Some(HeldBack::Excluded)
        } else {
            self.allowed.iter().any(|list| !is_on(list)).then_some(HeldBack::NotAllowed)
        }
    }
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a name has the parts between the stars of a pattern, in their order: the first at its start, the last at its end.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_prefix(start).and_then(|name| name.strip_suffix(end)) else { return false };
    for part in middle.split('*') {
        match name.split_once(part) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{AllowLists, HeldBack, matches};

    #[test]
    fn stars_stand_for_anything() {
        let cases = [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "anything", true),
            ("git*", "github", true),
            ("*hub", "github", true),
            ("g*t*b", "github", true),
            ("g*t*b", "gtb", true),
            ("g*b*t", "github", false),
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("*a*a*", "a", false),
            ("**", "x", true),
            ("", "x", false),
            ("*漢*", "a漢字", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn excluded_wins_and_every_allow_list_counts() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let lists =
            AllowLists { allowed: vec![list(&["git*", "time"]), list(&["github", "time"])], excluded: list(&["time"]) };
        let cases = [(" GitHub ", None), ("gitlab", Some(HeldBack::NotAllowed)), ("TIME", Some(HeldBack::Excluded))];
        for (name, expected) in cases {
            assert_eq!(lists.check(name), expected, "{name}");
        }
        let nothing_allowed = AllowLists { allowed: vec![Vec::new()], excluded: Vec::new() };
        assert_eq!(nothing_allowed.check("a"), Some(HeldBack::NotAllowed));
        let no_lists = AllowLists { allowed: Vec::new(), excluded: Vec::new() };
        assert_eq!(no_lists.check("a"), None);
    }
}
