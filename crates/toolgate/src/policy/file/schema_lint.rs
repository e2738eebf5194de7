//! Rules about arguments that a tool does not take.

use serde_json::Value;

use super::finding::{Finding, Severity};
use super::keys::nearest;
use crate::filter::ArgumentPattern;
use crate::policy::rule::{Condition, Rule};
use crate::policy::when::Segment;
use crate::server_name::ServerName;
use crate::servers::built_in_tools::real_arguments;
use crate::settings::diagnostic::visible;

/// Keywords that say where else arguments may be described; what they lead to is not looked at.
const ELSEWHERE: [&str; 9] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "patternProperties",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// A tool whose arguments are known.
#[derive(Clone, Copy, Debug)]
pub struct KnownTool<'a> {
    /// Whose tool.
    pub server: &'a ServerName,
    /// Which built-in server that is, when it is one.
    pub builtin: Option<&'a str>,
    /// What its server calls it.
    pub tool: &'a str,
    /// The schema of its arguments.
    pub schema: &'a Value,
}

/// The rules that look at arguments which none of the tools they are about can be given, as far as these are known.
#[must_use]
pub fn lint_against_tools<'r>(rules: impl Iterator<Item = &'r Rule>, known: &[KnownTool<'_>]) -> Vec<Finding> {
    let of_rule = |rule: &'r Rule| {
        let mut about = known.iter().filter(|tool| rule.is_about_tool(tool.server, tool.builtin, tool.tool));
        let lint = |tool: &KnownTool<'_>| lint_against_schema(rule, tool.schema, tool.builtin);
        let mut findings = lint(about.next()?);
        // An argument of one of several tools is a condition on that tool.
        for tool in about {
            if findings.is_empty() {
                break;
            }
            let others = lint(tool);
            findings.retain(|one| others.iter().any(|other| is_about_the_same(one, other)));
        }
        Some(findings)
    };
    rules.filter(|rule| rule.speaks_of_arguments()).filter_map(of_rule).flatten().collect()
}

/// The arguments that a rule looks at and the tool with this input schema cannot be given. A schema that can be read in more than one way is not
/// held against a rule.
pub(super) fn lint_against_schema(rule: &Rule, schema: &Value, builtin: Option<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A rule may use an alternative name of a built-in tool's argument.
    let missing_step = |segments: &[Segment]| {
        let missing = missing_step(schema, segments)?;
        let (Some(Segment::Key(first)), Some(_)) = (segments.first(), builtin) else { return Some(missing) };
        let rest = segments.get(1..).unwrap_or_default();
        let is_known = |own: &str| {
            let renamed: Vec<_> = std::iter::once(Segment::Key(own.to_owned())).chain(rest.iter().cloned()).collect();
            self::missing_step(schema, &renamed).is_none()
        };
        (!real_arguments(first).any(is_known)).then_some(missing)
    };
    for condition in &rule.conditions {
        match condition {
            Condition::When(when) => {
                for pointer in when.pointers() {
                    let missing = missing_step(pointer.segments());
                    findings.extend(missing.map(|missing| finding(rule, &format!("`{pointer}`"), &missing)));
                }
            }
            Condition::ArgsPattern(pattern) => {
                for key in members_in(pattern.as_str()) {
                    let missing = missing_step(&[Segment::Key(key.clone())]);
                    let missing = missing.filter(|_| is_flat(schema));
                    findings.extend(missing.map(|missing| Finding {
                        severity: Severity::Warning,
                        ..finding(rule, &format!("`\"{key}\":` in `argsPattern`"), &missing)
                    }));
                }
            }
            Condition::Entry(ArgumentPattern::Key { key, .. }) => {
                let missing = missing_step(&[Segment::Key(key.clone())]);
                findings.extend(missing.map(|missing| finding(rule, &format!("`{key}=`"), &missing)));
            }
            _ => {}
        }
    }
    findings
}

/// The member names in a pattern over canonical JSON: quoted text before a colon.
fn members_in(pattern: &str) -> Vec<String> {
    let plain = pattern.replace('\\', "");
    let parts: Vec<&str> = plain.split('"').collect();
    let named = parts.windows(2).filter(|pair| matches!(pair, [_, after] if after.starts_with(':')));
    let names = named.filter_map(|pair| pair.first().copied());
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    // The text before the first quote is not quoted.
    names.filter(is_name).filter(|name| plain.contains(&format!("\"{name}\":"))).map(ToOwned::to_owned).collect()
}

/// Whether no argument has members of its own, so that all possible members are known.
fn is_flat(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_plain = |property: &Value| {
        matches!(property.get("type").and_then(Value::as_str), Some("string" | "number" | "integer" | "boolean"))
    };
    properties.is_some_and(|properties| properties.values().all(is_plain))
}

/// The step of a pointer that a schema has no place for.
struct Missing<'s> {
    step: String,
    known: Vec<&'s str>,
}

/// The text behind the argument in a message.
const AT_NOTHING: &str = " points at nothing";

/// Whether two findings are about the same argument.
fn is_about_the_same(one: &Finding, other: &Finding) -> bool {
    let argument = |finding: &Finding| finding.message.split(AT_NOTHING).next().map(str::to_owned);
    argument(one) == argument(other)
}

fn finding(rule: &Rule, written: &str, missing: &Missing<'_>) -> Finding {
    let message = format!("{written}{AT_NOTHING}, `{}` takes no `{}`", rule.tool, missing.step);
    let mut names = missing.known.clone();
    names.truncate(crate::limits::PARAMETERS_LISTED_MAX);
    let hint = match nearest(&missing.step, &missing.known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if names.is_empty() => "there is nothing to be named there".to_owned(),
        None => format!("it takes {}", super::keys::listed(&names)),
    };
    let line = rule.origin.line.unwrap_or(1);
    Finding {
        severity: Severity::Error,
        file: rule.origin.file.clone(),
        line,
        column: 1,
        message: visible(&message),
        hint: Some(visible(&hint)),
    }
}

fn missing_step<'s>(schema: &'s Value, segments: &[Segment]) -> Option<Missing<'s>> {
    let (first, rest) = segments.split_first()?;
    let schema = schema.as_object()?;
    if ELSEWHERE.iter().any(|keyword| schema.contains_key(*keyword)) {
        return None;
    }
    let missing = |step: &str, known| Some(Missing { step: step.to_owned(), known });
    let has_nothing_within =
        matches!(schema.get("type").and_then(Value::as_str), Some("string" | "number" | "integer" | "boolean"));
    match first {
        // A restriction takes one thing for a list of one.
        Segment::Each if has_nothing_within && !rest.is_empty() => missing("*", Vec::new()),
        Segment::Each => missing_step(schema.get("items").or_else(|| schema.get("additionalProperties"))?, rest),
        Segment::Key(key) if has_nothing_within => missing(key, Vec::new()),
        Segment::Key(key) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            if let Some(property) = properties.and_then(|properties| properties.get(key)) {
                return missing_step(property, rest);
            }
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => missing(key, names(properties)),
                None if properties.is_some() => missing(key, names(properties)),
                None => missing_step(schema.get("items").filter(|_| key.parse::<usize>().is_ok())?, rest),
                Some(others) => missing_step(others, rest),
            }
        }
    }
}

fn names(properties: Option<&serde_json::Map<String, Value>>) -> Vec<&str> {
    properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).collect()
}
