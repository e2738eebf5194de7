//! Length, first line, name, and what is not to be left behind.

use crate::sources::{Complaint, Source, Sources};

/// Lines of a file, without the test module at its end.
const LINES_MAX: usize = 500;

/// Names that say nothing.
const EMPTY_NAMES: [&str; 9] = ["util", "utils", "helper", "helpers", "common", "types", "misc", "imp", "base"];

/// Marks of unfinished work, and tests that do not run. Put together here so that this file does not contain them.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
];

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for source in sources.rust() {
        complaints.extend(length(source));
        complaints.extend(opening(source));
        complaints.extend(name(source));
    }
    let checked = [".rs", ".toml", ".sh", ".py", ".mjs", ".js", ".ts", "/run"];
    for source in sources.files.iter().filter(|source| checked.iter().any(|end| source.path.ends_with(end))) {
        complaints.extend(unfinished(source));
    }
    complaints
}

fn length(source: &Source) -> Option<Complaint> {
    let lines = source.product_lines().count();
    let rule = format!("{lines} lines without tests; a file has at most {LINES_MAX}, so it owns too much");
    (lines > LINES_MAX).then(|| Complaint::new(&source.path, lines, rule))
}

fn opening(source: &Source) -> Option<Complaint> {
    let opens_well = source.text.starts_with("//! ");
    (!opens_well).then(|| Complaint::new(&source.path, 1, "a file opens with a `//!` line that says what it owns"))
}

fn name(source: &Source) -> Option<Complaint> {
    let parts = source.path.trim_end_matches(".rs").split('/');
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    Some(Complaint::new(&source.path, 1, format!("`{empty}` says nothing; name it by what it owns")))
}

fn unfinished(source: &Source) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, line) in source.numbered() {
        if let Some(mark) = UNFINISHED.iter().find(|mark| line.contains(*mark)) {
            complaints.push(Complaint::new(&source.path, number, format!("`{mark}` is left behind")));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn each_rule_finds_its_breach() {
        let long = format!("//! Long.\n{}", "let x = 1;\n".repeat(500));
        let tested = format!("//! Tested.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "let x = 1;\n".repeat(600));
        let left = format!("//! Left.\n// {} later\n", super::UNFINISHED[0]);
        let sources = Sources::of(&[
            ("crates/a/src/good.rs", "//! Good.\n"),
            ("crates/a/src/long.rs", &long),
            ("crates/a/src/tested.rs", &tested),
            ("crates/a/src/silent.rs", "fn f() {}\n"),
            ("crates/a/src/util.rs", "//! Util.\n"),
            ("crates/a/src/helpers/one.rs", "//! One.\n"),
            ("crates/a/src/left.rs", &left),
        ]);
        let found: Vec<String> = check(&sources).iter().map(|one| format!("{}:{}", one.file, one.line)).collect();
        let expected = [
            "crates/a/src/long.rs:501",
            "crates/a/src/silent.rs:1",
            "crates/a/src/util.rs:1",
            "crates/a/src/helpers/one.rs:1",
            "crates/a/src/left.rs:2",
        ];
        assert_eq!(found, expected);
    }
}
