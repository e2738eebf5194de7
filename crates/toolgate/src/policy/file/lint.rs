//! Rules that can never match, because another one of the same tier decides every call they are about.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::covers::covers;
use super::finding::{Finding, Severity};
use crate::filter::NamePattern;
use crate::limits::POLICY_WIDE_RULES_MAX;
use crate::policy::SHELL_TOOL;
use crate::policy::decision::{Decision, Tier};
use crate::policy::rule::{Rule, RuleKind, RuleOrigin, ServerPattern};
use crate::settings::diagnostic::visible;
use crate::shown_name::folded;

/// Prefix of policy files that were imported from Gemini CLI.
pub const TAKEN_OVER_PREFIX: &str = "gemini-cli-";

/// The rules that can never match. `rules` are all of one run or of one file; only those that are written in files are reported.
#[must_use]
pub fn lint(rules: &[Rule]) -> Vec<Finding> {
    let index = Index::new(rules);
    let mut entries: Vec<Vec<&Rule>> = Vec::new();
    for rule in rules.iter().filter(|rule| rule.kind == RuleKind::Written && rule.origin.line.is_some()) {
        match entries.last_mut().filter(|entry| entry.last().is_some_and(|last| is_same_entry(last, rule))) {
            Some(entry) => entry.push(rule),
            None => entries.push(vec![rule]),
        }
    }
    entries.iter().flat_map(|entry| findings_of(entry, &index)).collect()
}

fn is_same_entry(one: &Rule, other: &Rule) -> bool {
    one.tier == other.tier && one.origin.file == other.origin.file && one.origin.line == other.origin.line
}

/// An entry none of whose rules can match is an error; when only some cannot, that is worth a word.
fn findings_of(entry: &[&Rule], index: &Index<'_>) -> Vec<Finding> {
    let shadowed: Vec<(&Rule, &Rule)> = entry.iter().filter_map(|rule| Some((*rule, index.shadow_of(rule)?))).collect();
    let Some((_, shadow)) = shadowed.first() else { return Vec::new() };
    if let (Some(rule), true) = (entry.first(), shadowed.len() == entry.len()) {
        let message = format!("can never match: {} decides first", place(&shadow.origin));
        // Settings may come from a folder, and a folder must not be able to make a person's own policies useless.
        let is_of_settings = shadowed.iter().any(|(_, shadow)| shadow.kind == RuleKind::Settings);
        let shadows = shadowed.iter().map(|(_, shadow)| *shadow);
        let is_foreign = std::iter::once(*rule).chain(shadows).any(was_for_another_program);
        let severity = if is_of_settings || is_foreign { Severity::Warning } else { Severity::Error };
        return vec![finding(severity, message, rule, shadow)];
    }
    let warn = |(rule, shadow): &(&Rule, &Rule)| {
        let message = format!("can never match {}: {} decides first", tool(rule), place(&shadow.origin));
        finding(Severity::Warning, message, rule, shadow)
    };
    shadowed.iter().map(warn).collect()
}

/// Whether a rule was saved by another program, or taken over from it. Such a rule needs no correction before the
/// others can be used.
fn was_for_another_program(rule: &Rule) -> bool {
    let file = rule.origin.file.as_ref().and_then(|file| file.file_name()).and_then(|name| name.to_str());
    rule.is_saved_approval() || file.is_some_and(|name| name.starts_with(TAKEN_OVER_PREFIX))
}

fn finding(severity: Severity, message: String, rule: &Rule, shadow: &Rule) -> Finding {
    let hint = if shadow.priority > rule.priority {
        format!("give it a priority above {}, or remove it", shadow.priority)
    } else if shadow.kind == RuleKind::Settings {
        "the settings forbid it; remove one of the two".to_owned()
    } else {
        "at the same priority the stricter decision counts; give it a higher one, or remove it".to_owned()
    };
    let RuleOrigin { file, line, .. } = &rule.origin;
    Finding { severity, file: file.clone(), line: line.unwrap_or(1), column: 1, message, hint: Some(hint) }
}

fn place(origin: &RuleOrigin) -> String {
    match (&origin.line, &origin.file) {
        (Some(line), Some(file)) => format!("line {line} of {}", visible(&file.to_string_lossy())),
        _ => visible(&origin.label),
    }
}

fn tool(rule: &Rule) -> String {
    let name = |pattern: &NamePattern| match pattern {
        NamePattern::Any => "every tool".to_owned(),
        NamePattern::Exact(name) | NamePattern::Glob(name) => format!("`{}`", visible(name)),
    };
    match &rule.server {
        ServerPattern::Named(server) if *server != NamePattern::Any => {
            format!("{} of {}", name(&rule.tool), name(server))
        }
        ServerPattern::BuiltIn(server) => format!("{} of the built-in server `{server}`", name(&rule.tool)),
        ServerPattern::Any | ServerPattern::Named(_) => name(&rule.tool),
    }
}

/// The rules that can stand before others, by the tools they name, so that ten thousand rules are not compared each with each.
struct Index<'r> {
    by_tool: HashMap<(Tier, String), Vec<&'r Rule>>,
    wide: HashMap<Tier, Vec<&'r Rule>>,
}

impl<'r> Index<'r> {
    fn new(rules: &'r [Rule]) -> Self {
        let mut index = Self { by_tool: HashMap::new(), wide: HashMap::new() };
        for rule in rules.iter().filter(|rule| rule.conditions.is_empty()) {
            match &rule.tool {
                NamePattern::Exact(tool) => index.by_tool.entry((rule.tier, folded(tool))).or_default().push(rule),
                NamePattern::Any | NamePattern::Glob(_) => index.wide.entry(rule.tier).or_default().push(rule),
            }
        }
        for wide in index.wide.values_mut() {
            wide.sort_by_key(|rule| Reverse(standing(rule)));
            wide.truncate(POLICY_WIDE_RULES_MAX);
        }
        index
    }

    fn shadow_of(&self, rule: &Rule) -> Option<&'r Rule> {
        let named = match &rule.tool {
            NamePattern::Exact(tool) => self.by_tool.get(&(rule.tier, folded(tool))),
            NamePattern::Any | NamePattern::Glob(_) => None,
        };
        let wide = self.wide.get(&rule.tier);
        let candidates = named.into_iter().chain(wide).flatten();
        let shadows = |one: &&Rule| stands_before(one, rule) && covers(one, rule) && !leaves_leeway(one, rule);
        candidates.copied().find(shadows)
    }
}

/// Whether a permission below another one still counts: it may let a dangerous or redirected command through without a question.
fn leaves_leeway(one: &Rule, below: &Rule) -> bool {
    (one.decision, below.decision) == (Decision::Allow, Decision::Allow)
        && below.tool.matches(SHELL_TOOL)
        && (below.allows_redirection || below.speaks_of_arguments())
}

/// Whether a rule is looked at before another of the same tier, whatever the order they were read in.
fn stands_before(one: &Rule, other: &Rule) -> bool {
    standing(one) > standing(other)
}

fn standing(rule: &Rule) -> (bool, u16, Decision) {
    (rule.kind == RuleKind::Settings && rule.decision == Decision::Deny, rule.priority, rule.decision)
}
