//! The allows that the person wrote, and the calls that used them: finds those that were never needed or are too broad. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use toolgate::audit::StoredCall;
use toolgate::filter::NamePattern;
use toolgate::policy::{
    AllowedCall, Because, Decision, Explanation, Found, Policy, Rule, RuleKind, ServerPattern, Tier, suggest,
};

use super::findings::{Finding, Mend};
use crate::limits::REVIEWED_CALLS_COUNT;
use crate::listing::counted;

/// The place of a rule. Each tool of a list is a rule of its own at the same place.
type Place = (PathBuf, usize);

/// The allows in the person's policies.
#[derive(Debug, Default)]
pub(super) struct Rules {
    written: BTreeMap<Place, Written>,
    calls: usize,
}

#[derive(Debug, Default)]
struct Written {
    rules: Vec<Arc<Rule>>,
    /// Whether the rule matched any call.
    has_matched: bool,
    /// The calls that the rule allowed.
    let_through: Vec<AllowedCall>,
    /// Whether the record has the complete arguments of those calls.
    is_known: bool,
}

impl Rules {
    pub(super) fn of(policy: &Policy) -> Self {
        let mut written: BTreeMap<Place, Written> = BTreeMap::new();
        for rule in policy.rules().filter(|rule| rule.decision == Decision::Allow) {
            if let Some(place) = place(rule) {
                let written = written.entry(place).or_default();
                written.is_known = true;
                written.rules.push(Arc::clone(rule));
            }
        }
        Self { written, calls: 0 }
    }

    pub(super) fn add(&mut self, call: &StoredCall, explanation: &Explanation) {
        self.calls += 1;
        for step in explanation.trace.iter().filter(|step| !matches!(step.found, Found::Misses(_))) {
            if let Some(written) = place(&step.rule).and_then(|place| self.written.get_mut(&place)) {
                written.has_matched = true;
            }
        }
        let Because::Rule(rule) = &explanation.verdict.because else { return };
        let Some(written) = place(rule).and_then(|place| self.written.get_mut(&place)) else { return };
        written.has_matched = true;
        if explanation.verdict.decision == Decision::Allow {
            written.is_known &= call.covered == 0;
            let (server, tool, arguments) = (call.server.clone(), call.tool.clone(), call.arguments.clone());
            written.let_through.push(AllowedCall { server, tool, arguments });
        }
    }

    /// A record without calls proves nothing about rules.
    pub(super) fn findings(&self, since: &str) -> Vec<Finding> {
        if self.calls == 0 {
            return Vec::new();
        }
        let looked_at = format!("{} recorded in the last {since}", counted(self.calls, "call"));
        self.written.iter().filter_map(|(place, written)| written.finding(place, &looked_at)).collect()
    }
}

fn place(rule: &Rule) -> Option<Place> {
    let is_own = rule.tier == Tier::User && rule.kind == RuleKind::Written;
    let file = rule.origin.file.as_ref().filter(|_| is_own)?;
    Some(((**file).clone(), rule.origin.line?))
}

impl Written {
    fn finding(&self, (file, line): &Place, looked_at: &str) -> Option<Finding> {
        let mend = |replacement| Mend::Rule { file: file.clone(), line: *line, replacement };
        let name = self.rules.first()?.origin.name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
        if !self.has_matched {
            let message = format!("the rule{name} matched none of the {looked_at}");
            return Some(Finding { kind: "unmatched_rule", message, mend: mend(String::new()) });
        }
        let (used, replacement) = self.narrower()?;
        let message = format!("the rule{name} is broader than its use: {used}");
        Some(Finding { kind: "broad_rule", message, mend: mend(replacement) })
    }

    /// The part of the rule that was used, with rules for it. A rule with conditions is not rewritten, because each condition has a purpose.
    fn narrower(&self) -> Option<(String, String)> {
        let is_plain = |rule: &Arc<Rule>| {
            rule.conditions.is_empty()
                && rule.interactive.is_none()
                && rule.askers.is_empty()
                && rule.subagent.is_none()
                && !rule.allows_redirection
        };
        if self.let_through.is_empty() || !self.rules.iter().all(is_plain) {
            return None;
        }
        let count = self.let_through.len();
        if self.is_known && count >= REVIEWED_CALLS_COUNT {
            let suggested = suggest(&self.let_through);
            if suggested.iter().all(toolgate::policy::Suggestion::is_rule) {
                let rules: Vec<String> = suggested.iter().map(|one| self.as_here(&one.toml)).collect();
                return Some((format!("{count} calls, all of the same kind"), rules.join("\n")));
            }
        }
        self.named_tools()
    }

    /// The tools that were used, when the rule names more than those.
    fn named_tools(&self) -> Option<(String, String)> {
        let is_about_all = |rule: &Arc<Rule>| {
            !matches!(rule.tool, NamePattern::Exact(_))
                || !matches!(rule.server, ServerPattern::Named(NamePattern::Exact(_)) | ServerPattern::BuiltIn(_))
        };
        let used: BTreeSet<(&str, &str)> =
            self.let_through.iter().map(|call| (call.server.as_str(), call.tool.as_str())).collect();
        if !self.rules.iter().any(is_about_all) && used.len() >= self.rules.len() {
            return None;
        }
        let mut by_server: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (server, tool) in &used {
            by_server.entry(server).or_default().push(tool);
        }
        let builtin = self.rules.iter().find_map(|rule| match &rule.server {
            ServerPattern::BuiltIn(name) => Some(name.as_str()),
            ServerPattern::Any | ServerPattern::Named(_) => None,
        });
        let rule = |(server, tools): (&&str, &Vec<&str>)| {
            let (key, name) = builtin.map_or(("mcpName", *server), |builtin| ("builtin", builtin));
            let tools: Vec<String> = tools.iter().map(|tool| quoted(tool)).collect();
            let toml = format!(
                "[[rule]]\n{key} = {}\ntoolName = [{}]\ndecision = \"allow\"\npriority = 100\n",
                quoted(name),
                tools.join(", ")
            );
            self.as_here(&toml)
        };
        let rules: Vec<String> = by_server.iter().map(rule).collect();
        let tools: Vec<String> = used.iter().map(|(server, tool)| format!("`{tool}` of {server}")).collect();
        Some((format!("only {}", tools.join(", ")), rules.join("\n")))
    }

    /// A suggested rule with the priority and the modes of this one.
    fn as_here(&self, toml: &str) -> String {
        let Some(rule) = self.rules.first() else { return toml.to_owned() };
        let modes: Vec<String> = rule.modes.iter().map(|mode| quoted(mode.as_str())).collect();
        let modes = if modes.is_empty() { String::new() } else { format!("modes = [{}]\n", modes.join(", ")) };
        toml.replacen("priority = 100\n", &format!("priority = {}\n{modes}", rule.priority), 1)
    }
}

/// A quoted string, valid in JSON and TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
