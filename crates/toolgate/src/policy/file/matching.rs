//! Which calls an entry is about: what `[[rule]]` and `[[safety_checker]]` have in common.

use std::sync::Arc;

use toml::de::DeValue;

use super::fields::{Field, Fields, excerpt, whole, with_article};
use super::keys::hint_for;
use super::names::{self, Named};
use super::regexes::Regexes;
use super::when_table;
use crate::policy::decision::Mode;
use crate::policy::rule::Condition;
use crate::servers::built_in_tools::real_name;
use crate::shell::Reach;

const SHELL_TOOL: &str = "run_shell_command";
pub(super) const PRIORITY_MAX: u16 = 999;

/// Which calls an entry is about.
#[derive(Debug)]
pub(super) struct Matching {
    pub(super) named: Vec<Named>,
    pub(super) conditions: Vec<Condition>,
    pub(super) modes: Vec<Mode>,
    pub(super) priority: Option<u16>,
    /// What it is called.
    pub(super) name: Option<String>,
}

/// Reads what both kinds of entries have.
pub(super) fn read(fields: &Fields<'_>, regexes: &Regexes, reach: Reach) -> Matching {
    // Only for people, but a number there is a mistake all the same.
    fields.get("description").and_then(|field| field.text());
    Matching {
        named: names::read(fields, reach),
        conditions: conditions(fields, regexes),
        modes: fields.get("modes").and_then(|field| modes(&field)).unwrap_or_default(),
        priority: fields.get("priority").and_then(|field| priority(&field)),
        name: fields.get("name").and_then(|field| field.text()).map(|name| name.value.to_owned()),
    }
}

fn priority(field: &Field<'_>) -> Option<u16> {
    let hint = "the higher one is looked at first; between files it counts where they come from";
    let DeValue::Integer(integer) = field.value.get_ref() else {
        field.error(&format!("takes a whole number, not {}", with_article(field.value.get_ref())), hint);
        return None;
    };
    let priority =
        whole(integer).and_then(|number| u16::try_from(number).ok()).filter(|number| *number <= PRIORITY_MAX);
    if priority.is_none() {
        field.error(&format!("is not from 0 to {PRIORITY_MAX}"), hint);
    }
    priority
}

fn modes(field: &Field<'_>) -> Option<Vec<Mode>> {
    let mut modes = Vec::new();
    for word in field.some_words()? {
        match Mode::of(word.value) {
            Some(mode) => modes.push(mode),
            None => {
                let known = Mode::ALL.map(Mode::as_str);
                field.error(&format!("has no mode `{}`", excerpt(word.value)), &hint_for(word.value, &known));
            }
        }
    }
    Some(modes)
}

fn conditions(fields: &Fields<'_>, regexes: &Regexes) -> Vec<Condition> {
    let regex = |field: Field<'_>| {
        let pattern = field.text()?;
        let regex = regexes.compile(pattern.value);
        regex.inspect_err(|what| field.error(what, "the syntax is that of Rust's `regex` crate")).ok()
    };
    let [args_pattern, prefix, command_regex] =
        ["argsPattern", "commandPrefix", "commandRegex"].map(|key| fields.get(key));
    let exclusive = [args_pattern, prefix, command_regex];
    let mut given = exclusive.into_iter().flatten();
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let message = format!("`{}` and `{}` cannot both be given", first.key, second.key);
        fields.findings.error(second.key_at, message, "keep one of them, or write two rules");
    }
    for field in [prefix, command_regex].into_iter().flatten() {
        require_shell_tool(fields, &field);
    }
    let mut conditions = Vec::new();
    conditions.extend(args_pattern.and_then(regex).map(Condition::ArgsPattern));
    conditions.extend(prefix.and_then(|field| prefixes(&field)).map(Condition::CommandPrefix));
    conditions.extend(command_regex.and_then(regex).map(Condition::CommandRegex));
    conditions.extend(fields.get("toolAnnotations").and_then(|field| annotations(&field)));
    let when = fields.get("when").and_then(|field| when_table::read(&field, regexes));
    conditions.extend(when.map(|when| Condition::When(Arc::new(when))));
    conditions
}

/// Commands are told apart only for the shell tool.
fn require_shell_tool(fields: &Fields<'_>, field: &Field<'_>) {
    let is_shell = |value: &DeValue<'_>| {
        value.as_str().is_some_and(|name| name == SHELL_TOOL || real_name(name) == Some(SHELL_TOOL))
    };
    let is_only_shell = match fields.get("toolName").map(|tool| tool.value.get_ref()) {
        None => false,
        Some(DeValue::Array(names)) => names.iter().all(|name| is_shell(name.get_ref())),
        Some(name) => is_shell(name),
    };
    if !is_only_shell {
        let message = format!("`{}` is only for `{SHELL_TOOL}`", field.key);
        let hint =
            format!("set `toolName = \"{SHELL_TOOL}\"`; for other tools there are `argsPattern` and `[rule.when]`");
        fields.findings.error(field.key_at, message, &hint);
    }
}

fn prefixes(field: &Field<'_>) -> Option<Vec<String>> {
    let prefixes = field.text_or_texts()?;
    for prefix in &prefixes {
        let is_quoted = prefix.value.contains(['\'', '"', '\\']);
        if !is_quoted && prefix.value.contains([';', '|', '&', '<', '>', '\n']) {
            let what = format!("can never match: `{}` is more than one simple command", excerpt(prefix.value));
            field.error(&what, "commands are compared one by one, without redirections; write a prefix for each");
        }
    }
    Some(prefixes.into_iter().map(|prefix| prefix.value.trim().to_owned()).collect())
}

fn annotations(field: &Field<'_>) -> Option<Condition> {
    let table = field.table()?;
    if table.table.len() > crate::limits::POLICY_LIST_MAX {
        field.error(&format!("has more than {} keys", crate::limits::POLICY_LIST_MAX), "no tool says that much");
        return None;
    }
    let mut expected = Vec::new();
    for one in table.in_order() {
        expected.push((one.key.to_owned(), one.json()?));
    }
    if expected.is_empty() {
        field.error("is empty", "write what the server has to say, or remove the key");
        return None;
    }
    Some(Condition::Annotations(expected))
}
