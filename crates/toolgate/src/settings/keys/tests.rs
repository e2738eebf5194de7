//! Tests of the table itself: every key once, explained, with a default that it would take.

use std::collections::BTreeSet;

use super::key::{Least, visit};
use super::words::{AUTH_PROVIDERS, NAMINGS, ON_BUSY, SEARCH_MODES, START_MODES, Words};
use super::{Key, Merge, Preset, SERVER, Shape, TOP, find};

fn every() -> Vec<(String, &'static Key)> {
    let mut every = Vec::new();
    visit(TOP, "", &mut |path, key| every.push((path.to_owned(), key)));
    every
}

#[test]
fn every_key_stands_once_and_is_explained_in_a_sentence_or_two() {
    let mut seen = BTreeSet::new();
    for (path, key) in every() {
        assert!(seen.insert(path.clone()), "{path} stands twice");
        assert!(key.doc.ends_with('.') && key.doc.len() > 8, "{path}: {}", key.doc);
        assert!(key.doc.matches(". ").count() < 3, "{path}: {}", key.doc);
        assert!(!key.doc.contains('|'), "{path}: it stands in a table");
    }
}

#[test]
fn a_default_is_a_value_the_key_takes() {
    for (path, key) in every() {
        let fits = match (key.preset, key.shape) {
            (Preset::Nothing | Preset::InWords(_), _) => true,
            #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
            (Preset::Number(number), Shape::Number(amount)) => amount.bound_for(number as f64).is_none(),
            (Preset::Truth(_), Shape::Truth) => true,
            (Preset::Word(word), Shape::Word(words)) => words.contains(&word),
            (Preset::Texts(_), Shape::List | Shape::ListOrOne) => true,
            _ => false,
        };
        assert!(fits, "{path}: {:?} is none of {:?}", key.preset, key.shape);
    }
}

#[test]
fn a_default_word_is_what_the_code_does() {
    fn check<T: Copy + Default + PartialEq + std::fmt::Debug, const N: usize>(
        keys: &'static [Key],
        name: &str,
        words: Words<T, N>,
    ) {
        let Preset::Word(preset) = find(keys, name).unwrap().preset else { panic!("{name} has no default word") };
        let meant = words.iter().find(|(word, _)| *word == preset).unwrap().1;
        assert_eq!(meant, T::default(), "{name}");
    }
    check(SERVER, "onBusy", ON_BUSY);
    check(SERVER, "start", START_MODES);
    check(SERVER, "authProviderType", AUTH_PROVIDERS);
    check(super::TOOLS, "naming", NAMINGS);
    check(super::SEARCH, "mode", SEARCH_MODES);
}

#[test]
fn layers_come_together_as_the_kind_of_value_allows() {
    for (path, key) in every() {
        let is_list = matches!(key.shape, Shape::List | Shape::ListOrOne | Shape::Anything);
        let is_object = matches!(key.shape, Shape::Object(_));
        let is_in_entry = path.starts_with("mcpServers.*.");
        let fits = match key.merge {
            Merge::WithEntry => is_in_entry,
            Merge::ReplaceEntry => path == "mcpServers",
            Merge::PerKey => is_object && !is_in_entry,
            Merge::Union | Merge::Concat | Merge::Intersection => is_list && !is_in_entry,
            Merge::Replace => !is_object && !is_in_entry,
        };
        assert!(fits, "{path}: {:?}", key.merge);
    }
    let strategies = [
        ("policyPaths", Merge::Union),
        ("adminPolicyPaths", Merge::Union),
        ("tools.exclude", Merge::Union),
        ("advanced.excludedEnvVars", Merge::Union),
        ("context.includeDirectories", Merge::Concat),
        ("hooks", Merge::Concat),
        ("mcp.allowed", Merge::Intersection),
        ("mcp.excluded", Merge::Union),
        ("tools.allowed", Merge::Replace),
        ("tools.core", Merge::Replace),
        ("tools.confirmationRequired", Merge::Replace),
        ("mcp.serverCommand", Merge::Replace),
    ];
    let every = every();
    for (path, merge) in strategies {
        let (_, key) = every.iter().find(|(one, _)| one == path).unwrap();
        assert_eq!(key.merge, merge, "{path}");
    }
}

#[test]
fn a_number_out_of_bounds_becomes_the_nearest_within() {
    let amount = |least, most| super::key::Amount { unit: "things", least, most };
    let cases = [
        (amount(Least::Any, None), -5.0, None, ""),
        (amount(Least::From(1), Some(8)), 0.0, Some(1), "from 1 to 8"),
        (amount(Least::From(1), Some(8)), 8.5, Some(8), "from 1 to 8"),
        (amount(Least::From(1), Some(8)), 8.0, None, "from 1 to 8"),
        (amount(Least::From(1), None), 1e300, None, "at least 1"),
        (amount(Least::MoreThan(0), None), 0.0, Some(1), "more than 0"),
        (amount(Least::MoreThan(0), Some(5)), 0.1, None, "more than 0, at most 5"),
        (amount(Least::Any, Some(5)), 6.0, Some(5), "at most 5"),
    ];
    for (amount, number, expected, shown) in cases {
        assert_eq!(amount.bound_for(number), expected, "{amount} and {number}");
        assert_eq!(amount.to_string(), shown);
    }
}
