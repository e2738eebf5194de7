//! Rules, verdicts and what is wrong with policies, in words for a person and as data for a program.

use std::io::Result;

use toolgate::policy::file::{Finding, Severity};
use toolgate::policy::{Because, Mode, Rule, RuleOrigin, Verdict};
use toolgate::shape::visible;

use crate::json::{JsonWriter, ObjectWriter};
use crate::terminal::Paint;

/// Where a rule is written: `User: shell.toml (/home/…/shell.toml:3)`.
pub(crate) fn place(origin: &RuleOrigin) -> String {
    let label = visible::line(&origin.label).into_owned();
    let file = origin.file.as_ref().map(|file| visible::line(&file.display().to_string()).into_owned());
    match (file, origin.line) {
        (Some(file), Some(line)) => format!("{label}, {file}:{line}"),
        (Some(file), None) => format!("{label}, {file}"),
        (None, _) => label,
    }
}

/// One line about a rule.
pub(crate) fn line(rule: &Rule, paint: Paint) -> String {
    let about = visible::line(&rule.to_string()).into_owned();
    format!("{about}  {}", paint.dim(format!("({} {}, {})", rule.tier.as_str(), rule.priority, place(&rule.origin))))
}

/// What decided, in words.
pub(crate) fn because(verdict: &Verdict, paint: Paint) -> String {
    match &verdict.because {
        Because::Rule(rule) => line(rule, paint),
        Because::Filter(origin) => place(origin),
        Because::Remembered(grant) => format!("you allowed it before (grant {})", visible::line(grant)),
        Because::NoRule => "no rule is about it".to_owned(),
    }
}

/// One finding, as `file:line:column: error: …`.
pub(crate) fn finding(file: &str, finding: &Finding, paint: Paint) -> Vec<String> {
    let severity = match finding.severity {
        Severity::Error => paint.red("error").to_string(),
        Severity::Warning => paint.yellow("warning").to_string(),
    };
    let place = format!("{}:{}:{}", visible::line(file), finding.line, finding.column);
    let mut lines = vec![format!("{place}: {severity}: {}", visible::line(&finding.message))];
    lines.extend(finding.hint.as_ref().map(|hint| format!("  hint: {}", visible::line(hint))));
    lines
}

/// What decided, as data.
pub(crate) fn write_because(object: &mut ObjectWriter<'_>, verdict: &Verdict) -> Result<()> {
    match &verdict.because {
        Because::Rule(rule) => object.member("rule", |json| write_rule(json, rule)),
        Because::Filter(origin) => object.member("rule", |json| {
            json.object(|object| {
                object.string("kind", "filter")?;
                write_origin(object, origin)
            })
        }),
        Because::Remembered(grant) => object.member("rule", |json| {
            json.object(|object| {
                object.string("kind", "grant")?;
                object.string("grant", grant)
            })
        }),
        Because::NoRule => object.member("rule", |json| json.null()),
    }
}

/// A rule as data.
pub(crate) fn write_rule(json: &mut JsonWriter<'_>, rule: &Rule) -> Result<()> {
    json.object(|object| {
        object.string("kind", "rule")?;
        object.string("decision", rule.decision.as_str())?;
        object.string("tier", rule.tier.as_str())?;
        object.number("priority", u64::from(rule.priority))?;
        object.string("text", &rule.to_string())?;
        object.array("modes", &rule.modes, |json, mode: &Mode| json.string(mode.as_str()))?;
        object.optional_string("denyMessage", rule.deny_message.as_deref())?;
        write_origin(object, &rule.origin)
    })
}

fn write_origin(object: &mut ObjectWriter<'_>, origin: &RuleOrigin) -> Result<()> {
    object.string("source", &origin.label)?;
    object.optional_string("name", origin.name.as_deref())?;
    object.optional_string("file", origin.file.as_ref().map(|file| file.display().to_string()).as_deref())?;
    object.optional_number("line", origin.line.map(|line| line as u64))
}

/// A finding as data.
pub(crate) fn write_finding(json: &mut JsonWriter<'_>, finding: &Finding) -> Result<()> {
    json.object(|object| {
        let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
        object.string("severity", severity)?;
        object.number("line", finding.line as u64)?;
        object.number("column", finding.column as u64)?;
        object.string("message", &finding.message)?;
        object.optional_string("hint", finding.hint.as_deref())
    })
}
