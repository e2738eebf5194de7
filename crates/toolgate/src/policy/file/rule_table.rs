//! One `[[rule]]`: the rules it stands for, one for each tool it names.

use super::FileSource;
use super::fields::{Field, Fields, excerpt};
use super::keys::{self, hint_for};
use super::matching::{self, Matching, PRIORITY_MAX};
use super::names::Named;
use super::regexes::Regexes;
use crate::asker::Asker;
use crate::policy::decision::Decision;
use crate::policy::rule::{Rule, RuleKind, RuleOrigin};
use crate::shell::Reach;

/// Reads one entry. Nothing comes of an entry with an error.
pub(super) fn read(fields: &Fields<'_>, regexes: &Regexes, source: &FileSource) -> Vec<Rule> {
    let findings = fields.findings;
    let errors_before = findings.errors();
    fields.refuse_others(keys::RULE, "a rule");
    let decision = match fields.get("decision") {
        Some(field) => decision(&field),
        None => {
            findings.error(
                fields.at,
                "a rule needs a `decision`",
                "add `decision = \"allow\"`, `\"ask\"` or `\"deny\"`",
            );
            None
        }
    };
    if fields.get("priority").is_none() {
        findings.error(
            fields.at,
            "a rule needs a `priority`",
            &format!("add `priority = 100`; it is from 0 to {PRIORITY_MAX}"),
        );
    }
    // What is wrong with the names is the same for every decision, or worse for an allow.
    let reach = if decision == Some(Decision::Allow) { Reach::Permission } else { Reach::Restriction };
    let matching = matching::read(fields, regexes, reach);
    let extras = Extras::read(fields);
    let (Some(decision), Some(priority)) = (decision, matching.priority) else { return Vec::new() };
    if findings.errors() > errors_before {
        return Vec::new();
    }
    if decision == Decision::Allow && source.tier.only_restricts() {
        let message =
            format!("an allow has no effect here: a policy of the {} can only restrict", source.tier.as_str());
        findings.warning(fields.at, message, "move it to a policy of your own, or remove it");
        return Vec::new();
    }
    let Matching { named, conditions, modes, name, .. } = matching;
    let file = Some(source.shared_path());
    let line = Some(findings.place(fields.at).line);
    let origin = RuleOrigin { label: source.label.clone(), file, line, name };
    let rule = |Named { server, tool }| Rule {
        server,
        tool,
        conditions: conditions.clone(),
        modes: modes.clone(),
        interactive: extras.interactive,
        askers: extras.askers.clone(),
        subagent: extras.subagent.clone(),
        decision,
        allows_redirection: extras.allows_redirection,
        deny_message: extras.deny_message.clone(),
        tier: source.tier,
        priority,
        kind: RuleKind::Written,
        origin: origin.clone(),
    };
    named.into_iter().map(rule).collect()
}

fn decision(field: &Field<'_>) -> Option<Decision> {
    let word = field.text()?;
    let decision = Decision::of(word.value);
    if decision.is_none() {
        let hint = hint_for(word.value, &["allow", "deny", "ask", "ask_user"]);
        field.error(&format!("is no decision: `{}`", excerpt(word.value)), &hint);
    }
    decision
}

/// What only rules have.
struct Extras {
    interactive: Option<bool>,
    askers: Vec<Asker>,
    subagent: Option<String>,
    allows_redirection: bool,
    deny_message: Option<String>,
}

impl Extras {
    fn read(fields: &Fields<'_>) -> Self {
        let redirection = fields.get_either("allowRedirection", "allow_redirection");
        let deny_message = fields.get_either("denyMessage", "deny_message");
        Self {
            interactive: fields.get("interactive").and_then(|field| field.boolean()),
            askers: fields.get("askers").and_then(|field| askers(&field)).unwrap_or_default(),
            subagent: fields.get("subagent").and_then(|field| field.name()).map(|name| name.value.to_owned()),
            allows_redirection: redirection.and_then(|field| field.boolean()).unwrap_or_default(),
            deny_message: deny_message.and_then(|field| field.text()).map(|text| text.value.to_owned()),
        }
    }
}

fn askers(field: &Field<'_>) -> Option<Vec<Asker>> {
    let mut askers = Vec::new();
    for word in field.some_words()? {
        match Asker::ALL.into_iter().find(|asker| asker.as_str() == word.value) {
            Some(asker) => askers.push(asker),
            None => {
                let known = Asker::ALL.map(Asker::as_str);
                field.error(&format!("has no asker `{}`", excerpt(word.value)), &hint_for(word.value, &known));
            }
        }
    }
    Some(askers)
}
