//! Bounds in a `limits.rs`, or in a folder of that name: explained, with their unit at the end of the name, and used.

use std::collections::HashSet;

use crate::sources::{Complaint, Source, Sources};

/// How the name of a bound may end: the unit, or the unit and which end of the range it is.
const ENDINGS: [&str; 6] = ["_BYTES", "_CHARS", "_MS", "_COUNT", "_MAX", "_MS_DEFAULT"];

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for limits in
        sources.rust().filter(|source| source.path.ends_with("/limits.rs") || source.path.contains("/limits/"))
    {
        let used = words_elsewhere(sources, limits);
        let mut before = "";
        for (number, line) in limits.numbered() {
            if let Some(name) = constant(line) {
                complaints.extend(
                    check_one(limits, &used, name, before).map(|rule| Complaint::new(&limits.path, number, rule)),
                );
            }
            before = line;
        }
    }
    complaints
}

fn constant(line: &str) -> Option<&str> {
    let after = line.strip_prefix("pub const ").or_else(|| line.strip_prefix("pub(crate) const "))?;
    after.split(':').next()
}

fn check_one(limits: &Source, used: &HashSet<&str>, name: &str, line_before: &str) -> Option<String> {
    if !line_before.starts_with("///") {
        return Some(format!("`{name}` has no doc line that says why it is what it is"));
    }
    if !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Some(format!("`{name}` does not end with its unit ({})", ENDINGS.join(", ")));
    }
    let home = home(limits);
    (!used.contains(name)).then(|| format!("`{name}` bounds nothing: it is used nowhere in {home}"))
}

fn home(limits: &Source) -> &str {
    limits.path.split("/src/").next().unwrap_or_default()
}

/// Every word of the code of the same crate, without the bounds themselves.
fn words_elsewhere<'s>(sources: &'s Sources, limits: &Source) -> HashSet<&'s str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let elsewhere = sources.rust().filter(|source| source.path != limits.path && source.path.starts_with(home(limits)));
    let lines = elsewhere.flat_map(|source| source.text.lines()).filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split(move |letter| !is_part(letter))).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn each_rule_finds_its_breach() {
        let limits = "\
//! Limits.

/// A line.
pub const LINE_BYTES_MAX: usize = 1;

pub const PAGES_MAX: usize = 1;

/// No unit.
pub const WAIT: u64 = 1;

/// Unused.
pub const CURSOR_BYTES: usize = 1;
";
        let sources = Sources::of(&[
            ("crates/a/src/limits.rs", limits),
            (
                "crates/a/src/one.rs",
                "//! Uses `CURSOR_BYTES`.\nfn f() { g(LINE_BYTES_MAX, PAGES_MAX, WAIT, CURSOR_BYTES_MAX) }\n",
            ),
            ("crates/b/src/one.rs", "//! B.\nfn f() { g(CURSOR_BYTES) }\n"),
        ]);
        let lines: Vec<usize> = check(&sources).iter().map(|one| one.line).collect();
        assert_eq!(lines, [6, 9, 12]);
    }
}
