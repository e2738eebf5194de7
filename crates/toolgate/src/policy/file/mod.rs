//! Policy files: TOML text in, rules and what is wrong with them out. Pure; whoever reads the file decides what an error means, and that is
//! that nothing of the file is used and calls are not let through in its place.

mod finding;

mod keys;

mod fields;

mod regexes;

mod names;

mod when_table;

mod matching;

mod rule_table;

mod checker_table;

mod covers;

mod lint;

mod schema_lint;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

pub use finding::{Finding, Severity};
pub use lint::{TAKEN_OVER_PREFIX, lint};
pub use schema_lint::{KnownTool, lint_against_tools};

use self::fields::Fields;
use self::finding::Findings;
pub use self::regexes::RegexBudget;
use self::regexes::Regexes;
pub use super::checker::Checker;
use super::decision::Tier;
use super::rule::Rule;
use crate::limits::{POLICY_FILE_BYTES_MAX, POLICY_RULES_MAX};

/// Which file it is, and how much it weighs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSource {
    /// How much its rules weigh.
    pub tier: Tier,
    /// Where it is.
    pub path: Arc<PathBuf>,
    /// In words: `User: shell.toml`.
    pub label: String,
}

impl FileSource {
    /// A file of that weight.
    #[must_use]
    pub fn new(tier: Tier, path: &Path) -> Self {
        let tier_word = match tier {
            Tier::Default => "Default",
            Tier::Extension => "Extension",
            Tier::Workspace => "Workspace",
            Tier::User => "User",
            Tier::Admin => "Admin",
            Tier::Run => "Run",
        };
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        Self { tier, path: Arc::new(path.to_owned()), label: format!("{tier_word}: {file}") }
    }

    fn shared_path(&self) -> Arc<PathBuf> {
        self.path.clone()
    }
}

/// What a policy file says.
#[derive(Clone, Debug, Default)]
pub struct ParsedFile {
    /// Its rules, in the order of the file; one for each tool that an entry names.
    pub rules: Vec<Rule>,
    /// Its safety checkers.
    pub checkers: Vec<Checker>,
    /// What is wrong with it, in the order of the file.
    pub findings: Vec<Finding>,
}

impl ParsedFile {
    /// Whether something is wrong with it that must not be passed over: then nothing of it may be used.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Finding::is_error)
    }
}

/// Reads a policy file. All that is wrong with it is found, not only the first.
#[must_use]
pub fn parse(text: &str, source: &FileSource) -> ParsedFile {
    parse_within(text, source, &RegexBudget::default())
}

/// Reads one of several policy files, whose regular expressions share a budget.
#[must_use]
pub fn parse_within(text: &str, source: &FileSource, budget: &RegexBudget) -> ParsedFile {
    let findings = Findings::new(text, source.shared_path());
    let mut parsed = ParsedFile::default();
    if text.len() > POLICY_FILE_BYTES_MAX {
        let message = format!("a policy file has at most {POLICY_FILE_BYTES_MAX} bytes");
        findings.error(0, message, "divide it between several files");
    } else {
        read(text, source, budget, &findings, &mut parsed);
    }
    parsed.findings = findings.finish();
    parsed
}

fn read(text: &str, source: &FileSource, budget: &RegexBudget, findings: &Findings<'_>, parsed: &mut ParsedFile) {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            findings.error(at, format!("this is no TOML: {}", error.message()), "");
        }
        // What the parser made of the rest was not written by anybody.
        return;
    }
    let top = Fields { table: document.get_ref(), at: 0, findings };
    top.refuse_others(keys::TOP, "a policy");
    let regexes = Regexes::within(budget);
    for entry in entries(&top, "rule") {
        parsed.rules.extend(rule_table::read(&entry, &regexes, source));
        if is_full(&entry, parsed) {
            return;
        }
    }
    for entry in entries(&top, "safety_checker") {
        parsed.checkers.extend(checker_table::read(&entry, &regexes, source));
        if is_full(&entry, parsed) {
            return;
        }
    }
}

fn is_full(entry: &Fields<'_>, parsed: &ParsedFile) -> bool {
    let is_full = parsed.rules.len() + parsed.checkers.len() > POLICY_RULES_MAX;
    if is_full {
        let message = format!("a policy file has at most {POLICY_RULES_MAX} rules, each tool of a list counted");
        entry.findings.error(entry.at, message, "divide it between several files, or use `*` in names");
    }
    is_full
}

/// The tables of `[[key]]`.
fn entries<'d>(top: &Fields<'d>, key: &str) -> Vec<Fields<'d>> {
    let Some(field) = top.get(key) else { return Vec::new() };
    let hint = format!("begin each entry with `[[{key}]]`");
    let DeValue::Array(elements) = field.value.get_ref() else {
        field.error("takes a list of tables", &hint);
        return Vec::new();
    };
    let mut entries = Vec::with_capacity(elements.len());
    for element in elements.iter() {
        match element.get_ref() {
            DeValue::Table(table) => entries.push(Fields { table, at: element.span().start, findings: top.findings }),
            _ => top.findings.error(element.span().start, format!("`{key}` takes a list of tables"), &hint),
        }
    }
    entries
}

#[cfg(test)]
mod rule_tests;

#[cfg(test)]
mod error_tests;

#[cfg(test)]
mod lint_tests;
