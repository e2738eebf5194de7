//! What toolgate brings is without fault.

use std::path::Path;

use super::{PARSED_DEFAULT_RULES, PRESETS, default_rules, preset};
use crate::policy::decision::Tier;
use crate::policy::file::{FileSource, lint, parse};

#[test]
fn the_default_rules_have_no_findings() {
    assert_eq!(PARSED_DEFAULT_RULES.findings, []);
    assert_eq!(lint(&PARSED_DEFAULT_RULES.rules), []);
    let mut priorities: Vec<(u16, &str)> =
        PARSED_DEFAULT_RULES.rules.iter().map(|rule| (rule.priority, rule.decision.as_str())).collect();
    priorities.dedup();
    assert_eq!(priorities, [(50, "allow"), (10, "ask"), (15, "allow"), (40, "deny"), (45, "ask"), (998, "allow")]);
    assert!(default_rules().iter().all(|rule| rule.tier == Tier::Default && rule.origin.name.is_some()));
}

#[test]
fn the_presets_have_no_findings() {
    for preset in PRESETS {
        let parsed = parse(preset.text, &FileSource::new(Tier::User, Path::new(preset.name)));
        assert_eq!(parsed.findings, [], "{}", preset.name);
        assert_eq!(lint(&parsed.rules), [], "{}", preset.name);
        assert!(parsed.rules.len() > 1 && preset.text.starts_with('#'), "{}", preset.name);
    }
    assert_eq!(preset("read-only").map(|preset| preset.name), Some("read-only"));
    assert_eq!(preset("nothing"), None);
}
