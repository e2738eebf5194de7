//! One `[[safety_checker]]`. There is one kind of it, `allowed-path`; any other is an error, because nothing would be checked.

use super::FileSource;
use super::fields::{Field, Fields, excerpt};
use super::keys::{self, hint_for};
use super::matching::{self, Matching};
use super::names::Named;
use super::regexes::Regexes;
use crate::policy::checker::{AllowedPath, Checker};
use crate::policy::decision::Decision;
use crate::policy::rule::{Rule, RuleOrigin};
use crate::shell::Reach;

const KIND: &str = "in-process";
const NAME: &str = "allowed-path";

/// Reads one entry. Nothing comes of an entry with an error.
pub(super) fn read(fields: &Fields<'_>, regexes: &Regexes, source: &FileSource) -> Vec<Checker> {
    let findings = fields.findings;
    let errors_before = findings.errors();
    fields.refuse_others(keys::SAFETY_CHECKER, "a safety checker");
    let matching = matching::read(fields, regexes, Reach::Restriction);
    let check = match fields.get("checker") {
        Some(field) => field.table().and_then(|table| checker(&table)),
        None => {
            let hint = format!("add `checker = {{ type = \"{KIND}\", name = \"{NAME}\" }}`");
            findings.error(fields.at, "a safety checker needs a `checker`", &hint);
            None
        }
    };
    let Some(check) = check else { return Vec::new() };
    if findings.errors() > errors_before {
        return Vec::new();
    }
    let Matching { named, conditions, modes, priority, name } = matching;
    let file = Some(source.shared_path());
    let line = Some(findings.place(fields.at).line);
    let origin = RuleOrigin { label: source.label.clone(), file, line, name };
    let checker = |Named { server, tool }| Checker {
        rule: Rule {
            conditions: conditions.clone(),
            modes: modes.clone(),
            tier: source.tier,
            priority: priority.unwrap_or_default(),
            origin: origin.clone(),
            ..Rule::about(server, tool, Decision::Deny)
        },
        check: check.clone(),
    };
    named.into_iter().map(checker).collect()
}

fn checker(table: &Fields<'_>) -> Option<AllowedPath> {
    table.refuse_others(keys::CHECKER, "`checker`");
    let expect = |key: &str, expected: &str| match table.get(key) {
        None => {
            table.findings.error(
                table.at,
                format!("`checker` needs a `{key}`"),
                &format!("add `{key} = \"{expected}\"`"),
            );
            None
        }
        Some(field) => {
            let word = field.text()?;
            let hint = format!("there is one kind: `type = \"{KIND}\"`, `name = \"{NAME}\"`");
            if word.value != expected {
                field.error(&format!("of a checker cannot be `{}`", excerpt(word.value)), &hint);
            }
            (word.value == expected).then_some(())
        }
    };
    let kind = expect("type", KIND);
    let name = expect("name", NAME);
    if let Some(field) = table.get("required_context") {
        field.words()?;
        table.findings.warning(
            field.key_at,
            "`required_context` has no effect",
            &format!("`{NAME}` needs no context; remove it"),
        );
    }
    let config = match table.get("config") {
        None => Some(AllowedPath::default()),
        Some(field) => field.table().map(|config| allowed_path(&config)),
    };
    kind.and(name).and(config)
}

fn allowed_path(config: &Fields<'_>) -> AllowedPath {
    for field in config.in_order().into_iter().filter(|field| !keys::CHECKER_CONFIG.contains(&field.key)) {
        let message = format!("unknown key `{}` in the config of `{NAME}`", excerpt(field.key));
        config.findings.error(field.key_at, message, &hint_for(field.key, keys::CHECKER_CONFIG));
    }
    let names = |field: Field<'_>| {
        let words = field.words()?;
        Some(words.into_iter().map(|word| word.value.to_owned()).collect())
    };
    let list = |key| config.get(key).and_then(names).unwrap_or_default();
    AllowedPath { included_args: list("included_args"), excluded_args: list("excluded_args") }
}
