//! Rules taken out of the text of a policy file, with others in their place. The rest of the file stays as it is, letter for letter.
//!
//! The lines of a rule are found by parsing, and the result is compared with the file before: a change that would reach any other rule is refused.

use std::ops::Range;

use toml::{Table, Value};

/// The key of the list of rules.
const RULES: &str = "rule";

/// The comment above a rule that was taken out.
const TAKEN_OUT: &str = "# Commented out by `toolgate policy review --write`:";

/// The text with the rules of these lines as comments, and the text of other rules behind each. `None` when it cannot be done without a change to
/// anything else, for example where rules are written as an inline list.
#[must_use]
pub fn replace_rules(text: &str, rules: &[(usize, &str)]) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = rules
        .iter()
        .map(|(line, replacement)| Some((block(&lines, *line)?, *replacement)))
        .collect::<Option<Vec<_>>>()?;
    blocks.sort_by_key(|(block, _)| block.start);
    let mut expected: Table = text.parse().ok()?;
    let mut out = String::new();
    let mut at = 0;
    let put = |out: &mut String, lines: &[&str], before: &str| {
        for line in lines {
            out.push_str(before);
            out.push_str(line);
            out.push('\n');
        }
    };
    // From the last one on, so that the places of those before stay.
    for (block, replacement) in blocks.iter().rev() {
        let place = rules_in(&lines.get(..block.start)?.join("\n"))?;
        let others = match replacement.parse::<Table>().ok()?.remove(RULES) {
            Some(Value::Array(others)) => others,
            None => Vec::new(),
            Some(_) => return None,
        };
        let all = expected.get_mut(RULES)?.as_array_mut()?;
        all.splice(place..=place, others);
    }
    for (block, replacement) in blocks {
        put(&mut out, lines.get(at..block.start)?, "");
        put(&mut out, &[TAKEN_OUT], "");
        put(&mut out, lines.get(block.clone())?, "# ");
        if !replacement.is_empty() {
            out.push('\n');
            out.push_str(replacement);
        }
        at = block.end;
    }
    put(&mut out, lines.get(at..)?, "");
    let is_as_meant = same(out.parse().ok()?, expected);
    is_as_meant.then_some(out)
}

/// Whether two files say the same. A file without rules may have an empty list of them.
fn same(one: Table, other: Table) -> bool {
    let plain = |mut table: Table| {
        if table.get(RULES).and_then(Value::as_array).is_some_and(Vec::is_empty) {
            table.remove(RULES);
        }
        table
    };
    plain(one) == plain(other)
}

/// The number of rules in a text that says nothing else. `None` for any other text.
fn only_rules(text: &str) -> Option<usize> {
    let table: Table = text.parse().ok()?;
    let rules = table.get(RULES)?.as_array()?.len();
    (table.len() == 1).then_some(rules)
}

/// The number of rules in the beginning of a file.
fn rules_in(text: &str) -> Option<usize> {
    let table: Table = text.parse().ok()?;
    table.get(RULES).map_or(Some(0), |rules| Some(rules.as_array()?.len()))
}

/// The lines of the rule that begins in a line, counted from 1, without the comments of the next part.
fn block(lines: &[&str], line: usize) -> Option<Range<usize>> {
    let start = line.checked_sub(1)?;
    let is_header = |at: &usize| lines.get(*at).is_some_and(|line| line.trim_start().starts_with('['));
    let mut found = None;
    for end in (start + 1..lines.len()).filter(is_header).chain([lines.len()]) {
        let part = lines.get(start..end)?.join("\n");
        match only_rules(&part) {
            // The header of a table in the rule comes with it.
            Some(1) => found = Some(end),
            // Cut within a text of several lines.
            None if part.parse::<Table>().is_err() => {}
            _ => break,
        }
    }
    let mut end = found?;
    let is_rule = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    while end > start + 1 && !lines.get(end - 1).is_some_and(is_rule) {
        end -= 1;
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::replace_rules;

    const OTHER: &str = "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 2\n";

    fn rule(name: &str) -> String {
        format!("[[rule]]\ntoolName = \"{name}\"\ndecision = \"allow\"\npriority = 1\n")
    }

    fn taken(text: &str) -> String {
        let lines: String = text.lines().map(|line| format!("# {line}\n")).collect();
        format!("# Commented out by `toolgate policy review --write`:\n{lines}")
    }

    #[test]
    fn a_rule_becomes_a_comment_with_another_one_behind_it() {
        let when = "[rule.when]\nany = [\n  { \"/a\" = { equals = 1 } },\n]\n";
        let text = format!("# mine\n\n{}{when}\n# about b\n{}\n# end\n", rule("a"), rule("b"));
        let (a, b) = (format!("{}{when}", rule("a")), rule("b"));
        let cases = [
            (vec![], text.clone()),
            (vec![(3, "")], format!("# mine\n\n{}\n# about b\n{b}\n# end\n", taken(&a))),
            (
                vec![(13, OTHER), (3, "")],
                format!("# mine\n\n{}\n# about b\n{}\n{OTHER}\n# end\n", taken(&a), taken(&b)),
            ),
        ];
        for (rules, expected) in cases {
            assert_eq!(replace_rules(&text, &rules).as_deref(), Some(expected.as_str()), "{rules:?}");
        }
    }

    #[test]
    fn every_way_to_write_a_rule_is_taken_out_whole_or_not_at_all() {
        let deny = "[[rule]]\ntoolName = \"deny\"\ndecision = \"deny\"\npriority = 3\n";
        let conditions = [
            "[rule.when]\n\"/a\" = { equals = 1 }\n",
            "[ rule.when ]\n\"/a\" = { equals = 1 }\n",
            "  [rule . when]  # why\n\"/a\" = { equals = 1 }\n",
            "[\"rule\".when]\n\"/a\" = { equals = 1 }\n",
            "['rule'.\"when\"]\n\"/a\" = { equals = 1 }\n",
            "[rule.when]\n[rule.when.\"/a\"]\nequals = 1\n",
            "when.\"/a\" = { equals = 1 }\n",
            "denyMessage = \"\"\"\n[[rule]]\ntoolName = \"in a text\"\n\"\"\"\n",
            "denyMessage = '''\n[other]\n'''\n",
            "description = \"[[rule]]\"\n\n# a comment\n\n[ rule.when ]\n\"/a\" = { equals = 1 }\n",
        ];
        for condition in conditions {
            let text = format!("{deny}\n{}{condition}\n{deny}", rule("a"));
            let after = replace_rules(&text, &[(6, OTHER)]).unwrap_or_else(|| panic!("{condition}"));
            let expected: toml::Table = format!("{deny}{OTHER}{deny}").parse().unwrap();
            assert_eq!(after.parse::<toml::Table>().unwrap(), expected, "{condition}\n{after}");
        }
        let refused = [
            ("rule = [{ toolName = \"a\" }, { toolName = \"b\" }]\n", 1),
            ("rule = [\n  { toolName = \"a\", decision = \"allow\", priority = 1 },\n]\n", 2),
            ("not toml", 1),
            ("[[rule]]\ntoolName = \"a\"\n", 2),
            ("[[rule]]\ntoolName = \"a\"\n", 0),
            ("[[rule]]\ntoolName = \"a\"\n", 9),
        ];
        for (text, line) in refused {
            assert_eq!(replace_rules(text, &[(line, "")]), None, "{text}");
        }
    }
}
