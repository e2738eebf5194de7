//! Policy files: no text breaks the reader, what it says has a place and a bound, and only what is without fault gives rules.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use toolgate::ServerName;
use toolgate::limits::{POLICY_FINDINGS_MAX, POLICY_RULES_MAX};
use toolgate::policy::file::{FileSource, Finding, KnownTool, lint, lint_against_tools, parse};
use toolgate::policy::{Decision, Rule, Tier};

/// What one finding may say at most: some names of the file, shortened, and two sentences.
const FINDING_BYTES_MAX: usize = 4_000;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let lines = text.matches('\n').count() + 1;
    let parsed = parse(&text, &FileSource::new(Tier::User, Path::new("p.toml")));
    assert!(parsed.findings.len() <= POLICY_FINDINGS_MAX + 2);
    parsed.findings.iter().for_each(|finding| has_place_and_bound(finding, lines));
    assert!(parsed.rules.len() + parsed.checkers.len() <= 2 * POLICY_RULES_MAX);
    parsed.rules.iter().for_each(|rule| is_complete(rule, lines));
    parsed.checkers.iter().for_each(|checker| is_complete(&checker.rule, lines));
    lint(&parsed.rules).iter().for_each(|finding| has_place_and_bound(finding, lines));
    let schema = json!({"properties": {"path": {"type": "string"}}});
    let Ok(server) = ServerName::new("s") else { return };
    let known =
        ["a", "read_file"].map(|tool| KnownTool { server: &server, builtin: Some("workspace"), tool, schema: &schema });
    lint_against_tools(parsed.rules.iter(), &known).iter().for_each(|finding| has_place_and_bound(finding, lines));

    // What comes with a folder can only restrict; besides that, a file says the same everywhere.
    let of_folder = parse(&text, &FileSource::new(Tier::Workspace, Path::new("p.toml")));
    assert!(of_folder.rules.iter().all(|rule| rule.decision != Decision::Allow));
    let restrictions = parsed.rules.iter().filter(|rule| rule.decision != Decision::Allow).count();
    assert_eq!(of_folder.rules.len(), restrictions);
    assert_eq!(of_folder.has_errors(), parsed.has_errors());
});

fn is_complete(rule: &Rule, lines: usize) {
    assert!(rule.priority <= 999);
    assert!(rule.origin.line.is_some_and(|line| (1..=lines).contains(&line)));
}

fn has_place_and_bound(finding: &Finding, lines: usize) {
    assert!((1..=lines).contains(&finding.line) && finding.column > 0, "{finding}");
    let hint = finding.hint.as_deref().unwrap_or_default();
    assert!(finding.message.len() + hint.len() <= FINDING_BYTES_MAX, "{finding}");
    assert!(!finding.message.chars().chain(hint.chars()).any(char::is_control), "{finding:?}");
}
