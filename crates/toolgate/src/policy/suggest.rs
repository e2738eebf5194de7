//! The narrowest rules that would have allowed calls which a person allowed, as a policy to look over. Pure.
//!
//! A rule tests every argument: its values while they are few, otherwise the common folder of paths or the common first words of
//! commands. It states what it permits beyond the calls. Where no narrow rule is possible, there is a comment instead.

mod commands;
mod conditions;
mod toml_text;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::toml_text::comment;
pub(super) use self::toml_text::quoted;
use super::SHELL_TOOL;

/// A call that a person allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct AllowedCall {
    /// Whose tool.
    pub server: String,
    /// What its server calls it.
    pub tool: String,
    /// With what.
    pub arguments: Value,
}

/// A rule that would have allowed some of them, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Whose tool.
    pub server: String,
    /// Which tool.
    pub tool: String,
    /// How many of the calls it is about.
    pub calls: usize,
    /// The rule, in the language of policies; a comment, when there is none.
    pub toml: String,
    /// Calls beyond the recorded ones that the rule permits, as text. Empty when there are none.
    pub permits: Vec<String>,
}

impl Suggestion {
    /// Whether the suggestion has a rule.
    #[must_use]
    pub fn is_rule(&self) -> bool {
        self.toml.starts_with("[[rule]]")
    }
}

/// The priority of what is suggested: that of `tools.allowed`.
const PRIORITY: u16 = 100;

/// What some calls of one tool lead to.
#[derive(Debug)]
struct Proposal {
    calls: usize,
    /// The conditions, or why there are none.
    conditions: Result<Conditions, String>,
}

/// The conditions of a rule.
#[derive(Debug, Default)]
struct Conditions {
    /// The conditions as TOML.
    toml: String,
    /// Calls beyond the recorded ones that they permit, as text.
    permits: Vec<String>,
}

impl Conditions {
    /// Conditions that match exactly these calls.
    fn exactly(toml: impl Into<String>) -> Self {
        Self { toml: toml.into(), permits: Vec::new() }
    }
}

/// Suggests rules for each tool, and for the programs that were run.
#[must_use]
pub fn suggest(calls: &[AllowedCall]) -> Vec<Suggestion> {
    let mut by_tool: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for call in calls {
        by_tool.entry((&call.server, &call.tool)).or_default().push(&call.arguments);
    }
    by_tool.into_iter().flat_map(|((server, tool), arguments)| of_tool(server, tool, &arguments)).collect()
}

fn of_tool(server: &str, tool: &str, arguments: &[&Value]) -> Vec<Suggestion> {
    let objects: Vec<&Map<String, Value>> = arguments.iter().filter_map(|value| value.as_object()).collect();
    let (commands, others): (Vec<_>, Vec<_>) =
        objects.into_iter().partition(|members| tool == SHELL_TOOL && members.contains_key("command"));
    let proposals = commands::proposals(&commands).into_iter().chain(conditions::proposals(&others));
    proposals.map(|proposal| suggestion(server, tool, proposal)).collect()
}

fn suggestion(server: &str, tool: &str, proposal: Proposal) -> Suggestion {
    let (toml, permits) = match proposal.conditions {
        Ok(conditions) => {
            let fields = [("mcpName", server), ("toolName", tool), ("decision", "allow")];
            let fields: String = fields.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
            let toml = format!("[[rule]]\n{fields}priority = {PRIORITY}\n{}", conditions.toml);
            (toml, conditions.permits)
        }
        Err(why) => (comment(&format!("no rule for `{tool}` of {server}: {why}")), Vec::new()),
    };
    Suggestion { server: server.to_owned(), tool: tool.to_owned(), calls: proposal.calls, toml, permits }
}

#[cfg(test)]
#[path = "suggest_tests.rs"]
mod tests;
