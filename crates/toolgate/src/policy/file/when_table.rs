//! `[rule.when]`: tests on arguments by JSON pointer, with `all`, `any` and `not`.

use std::cell::Cell;

use serde_json::{Number, Value};
use toml::de::DeValue;

use super::fields::{Field, Fields, excerpt, with_article};
use super::keys::{COMBINATION, TEST, hint_for, listed};
use super::regexes::Regexes;
use crate::limits::{POLICY_WHEN_DEPTH_MAX, POLICY_WHEN_TESTS_MAX};
use crate::policy::when::{PathGlob, Pointer, Test, When};

/// Reads `when`. Nothing comes of one with an error.
pub(super) fn read(field: &Field<'_>, regexes: &Regexes) -> Option<When> {
    let reader = Reader { regexes, tests_left: Cell::new(POLICY_WHEN_TESTS_MAX) };
    let table = field.table()?;
    reader.table(&table, 0)
}

struct Reader<'r> {
    regexes: &'r Regexes,
    tests_left: Cell<usize>,
}

impl Reader<'_> {
    /// A table: everything in it must hold.
    fn table(&self, table: &Fields<'_>, depth: usize) -> Option<When> {
        let findings = table.findings;
        if depth > POLICY_WHEN_DEPTH_MAX {
            let message = format!("`all`, `any` and `not` are nested more than {POLICY_WHEN_DEPTH_MAX} times");
            findings.error(table.at, message, "divide the rule into several");
            return None;
        }
        let fields = table.in_order();
        if fields.is_empty() {
            findings.error(table.at, "a condition says nothing", "write one such as `\"/path\" = { under = \"src\" }`");
            return None;
        }
        // Every one is read before the first failure counts, so that all that is wrong is found.
        let parts: Vec<Option<When>> = fields.iter().map(|field| self.part(field, depth)).collect();
        let mut parts: Vec<When> = parts.into_iter().collect::<Option<_>>()?;
        if parts.len() == 1 { parts.pop() } else { Some(When::All(parts)) }
    }

    fn part(&self, field: &Field<'_>, depth: usize) -> Option<When> {
        match field.key {
            "all" => self.several(field, depth).map(When::All),
            "any" => self.several(field, depth).map(When::Any),
            "not" => self.table(&field.table()?, depth + 1).map(|not| When::Not(Box::new(not))),
            key if key.starts_with('/') => self.argument(field),
            key => {
                let message = format!("unknown key `{}` in a condition", excerpt(key));
                let hint = format!(
                    "an argument is written `\"/{}\"`; besides there are {}",
                    excerpt(key),
                    listed(COMBINATION)
                );
                field.report(&message, &hint);
                None
            }
        }
    }

    fn several(&self, field: &Field<'_>, depth: usize) -> Option<Vec<When>> {
        let elements = field.list()?;
        if elements.is_empty() {
            field.error("is an empty list", "write at least one condition");
            return None;
        }
        let read = |element: &_| match field.element_table(element) {
            Some(table) => self.table(&table, depth + 1),
            None => None,
        };
        let several: Vec<Option<When>> = elements.iter().map(read).collect();
        several.into_iter().collect()
    }

    fn argument(&self, field: &Field<'_>) -> Option<When> {
        let pointer = Pointer::new(field.key).inspect_err(|what| field.report(what, "")).ok();
        let DeValue::Table(_) = field.value.get_ref() else {
            let what = format!("takes a test, not {}", with_article(field.value.get_ref()));
            field.error(&what, "write `{ equals = … }`, or another of the tests");
            return None;
        };
        let table = field.table()?;
        table.refuse_others(TEST, "a test");
        if table.table.is_empty() {
            field.error("says nothing", &format!("write a test: {}", listed(TEST)));
        }
        let given: Vec<Option<Test>> =
            table.in_order().iter().filter(|test| TEST.contains(&test.key)).map(|test| self.test(test)).collect();
        let tests: Vec<Test> = given.into_iter().collect::<Option<_>>()?;
        let is_alone = tests.len() == 1;
        if !is_alone && tests.iter().any(|test| matches!(test, Test::Absent)) {
            field.error("can never hold: what is absent has no other test", "keep one of them");
            return None;
        }
        let Some(left) = self.tests_left.get().checked_sub(tests.len().max(1)) else {
            field.error(
                &format!("is one test too many: a rule has at most {POLICY_WHEN_TESTS_MAX}"),
                "use `one_of`, or several rules",
            );
            return None;
        };
        self.tests_left.set(left);
        (!tests.is_empty()).then_some(When::Argument { pointer: pointer?, tests })
    }

    fn test(&self, field: &Field<'_>) -> Option<Test> {
        match field.key {
            "under" => folders(field).map(Test::Under),
            "equals" => field.json().map(Test::Equals),
            "one_of" => one_of(field).map(Test::OneOf),
            "matches" => {
                let pattern = field.text()?;
                let regex = self.regexes.compile(pattern.value);
                regex
                    .inspect_err(|what| field.error(what, "the syntax is that of Rust's `regex` crate"))
                    .map(Test::Matches)
                    .ok()
            }
            "glob" => self.globs(field).map(Test::Glob),
            "max" => number(field).map(Test::Max),
            "min" => number(field).map(Test::Min),
            "present" => field.boolean().map(|is_present| if is_present { Test::Present } else { Test::Absent }),
            "absent" => field.boolean().map(|is_absent| if is_absent { Test::Absent } else { Test::Present }),
            key => {
                field.report(&format!("unknown test `{}`", excerpt(key)), &hint_for(key, TEST));
                None
            }
        }
    }

    fn globs(&self, field: &Field<'_>) -> Option<Vec<PathGlob>> {
        let read = |glob: &str| {
            self.regexes.begin()?;
            let glob = PathGlob::new(glob).map_err(|what| format!("cannot be read: {what}"))?;
            self.regexes.take(glob.compiled_bytes_max())?;
            Ok(glob)
        };
        let globs: Result<Vec<_>, String> = field.text_or_texts()?.into_iter().map(|glob| read(glob.value)).collect();
        globs.inspect_err(|what| field.error(what, "")).ok()
    }
}

fn folders(field: &Field<'_>) -> Option<Vec<String>> {
    let folders = field.text_or_texts()?;
    for folder in &folders {
        if folder.value.starts_with('~') {
            field.error("cannot begin with `~`", "write the whole path; rules do not know whose home it is");
            return None;
        }
    }
    Some(folders.into_iter().map(|folder| folder.value.to_owned()).collect())
}

fn one_of(field: &Field<'_>) -> Option<Vec<Value>> {
    if field.list()?.is_empty() {
        field.error("is an empty list", "name at least one value");
        return None;
    }
    match field.json()? {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

fn number(field: &Field<'_>) -> Option<Number> {
    match field.value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => match field.json()? {
            Value::Number(number) => Some(number),
            _ => None,
        },
        other => {
            field.error(&format!("takes a number, not {}", with_article(other)), "");
            None
        }
    }
}
