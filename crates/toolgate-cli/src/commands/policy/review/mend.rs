//! Applies the findings of a review: revokes grants, and replaces rules in their files by narrower ones.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::rulebook::edit_policy;

use super::findings::{Finding, Mend};
use crate::error::Result;
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::session::Session;

/// The comment above a rule that was taken out.
const TAKEN_OUT: &str = "# Commented out by `toolgate policy review --write`:";

/// Applies all findings. Returns their number.
pub(super) fn all(session: &Session, reason: &Reason, found: &[Finding]) -> Result<usize> {
    let mut mended = 0;
    let mut by_file: BTreeMap<&Path, Vec<(usize, &str)>> = BTreeMap::new();
    let mut ids = Vec::new();
    for one in found {
        match &one.mend {
            Mend::Revoke(id) => ids.push(id.as_str()),
            Mend::Rule { file, line, replacement } => by_file.entry(file).or_default().push((*line, replacement)),
        }
    }
    if !ids.is_empty() {
        for grant in session.grants(session.env()).revoke(&ids)? {
            let change = PermissionChange::new(PermissionKind::Revoke, format!("{} of {}", grant.id, grant.server));
            let tools: Vec<&str> = grant.tools.keys().map(String::as_str).collect();
            reason.record(session, change.before(tools.join(", ")));
            mended += 1;
        }
    }
    for (file, rules) in by_file {
        let edited = edit_policy(session.env(), file, |text| Ok(Some(without(text, &rules))))?;
        if let Some(edited) = edited {
            let what = format!("{} of `policy review`", counted(rules.len(), "rule"));
            let changed = ChangedFile::of_texts(file, edited.before.as_deref(), Some(&edited.after));
            reason.record(session, PermissionChange::new(PermissionKind::Rules, what).files([changed]));
            mended += rules.len();
        }
    }
    Ok(mended)
}

/// The text of a policy file with these rules commented out, followed by other rules.
fn without(text: &str, rules: &[(usize, &str)]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut rules: Vec<(Range<usize>, &str)> =
        rules.iter().filter_map(|(line, replacement)| Some((block(&lines, *line)?, *replacement))).collect();
    rules.sort_by_key(|(block, _)| block.start);
    let mut out = String::new();
    let mut at = 0;
    let put = |out: &mut String, lines: &[&str], before: &str| {
        for line in lines {
            out.push_str(before);
            out.push_str(line);
            out.push('\n');
        }
    };
    for (block, replacement) in rules {
        put(&mut out, lines.get(at..block.start).unwrap_or_default(), "");
        put(&mut out, &[TAKEN_OUT], "");
        put(&mut out, lines.get(block.clone()).unwrap_or_default(), "# ");
        if !replacement.is_empty() {
            out.push('\n');
            out.push_str(replacement);
        }
        at = block.end;
    }
    put(&mut out, lines.get(at..).unwrap_or_default(), "");
    out
}

/// The lines of the rule that begins at a line, counted from 1. Comments of the next rule are left out.
fn block(lines: &[&str], line: usize) -> Option<Range<usize>> {
    let start = line.checked_sub(1)?;
    let is_next = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("[[") || (line.starts_with('[') && !line.starts_with("[rule") && line.ends_with(']'))
    };
    let behind = lines.get(start + 1..)?;
    let mut end = behind.iter().position(is_next).map_or(lines.len(), |nth| start + 1 + nth);
    let is_rule = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    while end > start + 1 && !lines.get(end - 1).is_some_and(is_rule) {
        end -= 1;
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn a_rule_becomes_a_comment_with_another_one_behind_it() {
        let rule = |name: &str| format!("[[rule]]\ntoolName = \"{name}\"\ndecision = \"allow\"\npriority = 1\n");
        let when = "[rule.when]\nany = [\n  { \"/a\" = { equals = 1 } },\n]\n";
        let text = format!("# mine\n\n{}{when}\n# about b\n{}\n# end\n", rule("a"), rule("b"));
        let taken = |text: &str| {
            let lines: String = text.lines().map(|line| format!("# {line}\n")).collect();
            format!("# Commented out by `toolgate policy review --write`:\n{lines}")
        };
        let (a, b) = (format!("{}{when}", rule("a")), rule("b"));
        let cases = [
            (vec![], text.clone()),
            (vec![(3, "")], format!("# mine\n\n{}\n# about b\n{b}\n# end\n", taken(&a))),
            (
                vec![(13, "[[x]]\n"), (3, "")],
                format!("# mine\n\n{}\n# about b\n{}\n[[x]]\n\n# end\n", taken(&a), taken(&b)),
            ),
        ];
        for (rules, expected) in cases {
            assert_eq!(without(&text, &rules), expected, "{rules:?}");
        }
    }
}
