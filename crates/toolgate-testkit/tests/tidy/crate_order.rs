//! Which crate of the workspace may depend on which.

use crate::sources::{Complaint, Source, Sources};

/// What a crate may depend on, in the product and in its tests. A crate that is not listed may use any but `TEST_ONLY`.
struct Rule {
    name: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
}

const RULES: [Rule; 5] = [
    Rule { name: "toolgate-testkit", may_use: &[], tests_may_use: &[] },
    Rule { name: "toolgate-wire", may_use: &[], tests_may_use: &["toolgate-testkit"] },
    Rule {
        name: "toolgate-workspace",
        may_use: &["toolgate-wire"],
        tests_may_use: &["toolgate-wire", "toolgate-testkit"],
    },
    Rule {
        name: "toolgate",
        may_use: &["toolgate-wire", "toolgate-workspace"],
        tests_may_use: &["toolgate-wire", "toolgate-workspace", "toolgate-testkit"],
    },
    Rule { name: "toolgate-model", may_use: &["toolgate"], tests_may_use: &["toolgate", "toolgate-testkit"] },
];

/// Never part of the product.
const TEST_ONLY: &str = "toolgate-testkit";

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let manifests = sources.files.iter().filter(|source| is_manifest(&source.path));
    manifests.flat_map(check_manifest).collect()
}

fn is_manifest(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/Cargo.toml") && path.split('/').count() == 3
}

fn check_manifest(manifest: &Source) -> Vec<Complaint> {
    let name = manifest.path.split('/').nth(1).unwrap_or_default();
    let rule = RULES.iter().find(|rule| rule.name == name);
    let mut complaints = Vec::new();
    for used in uses(manifest) {
        let is_allowed = match (rule, used.in_tests) {
            (Some(rule), true) => rule.tests_may_use.contains(&used.name),
            (Some(rule), false) => rule.may_use.contains(&used.name),
            (None, in_tests) => in_tests || used.name != TEST_ONLY,
        };
        if !is_allowed {
            let place = if used.in_tests { "in its tests" } else { "in the product" };
            complaints.push(Complaint::new(
                &manifest.path,
                used.line,
                format!("{name} may not use {} {place}", used.name),
            ));
        }
    }
    complaints
}

struct Used<'a> {
    name: &'a str,
    line: usize,
    in_tests: bool,
}

/// The toolgate crates a manifest names in its dependency tables.
fn uses(manifest: &Source) -> Vec<Used<'_>> {
    let mut table = "";
    let mut found = Vec::new();
    for (line, text) in manifest.numbered() {
        if let Some(header) = text.trim().strip_prefix('[') {
            table = header.trim_end_matches(']');
        }
        let in_tests = table.contains("dev-dependencies");
        // `[dependencies.name]`, or `name = …` and `name.workspace = …` below `[dependencies]`.
        let name = match table.rsplit_once("dependencies") {
            Some((_, "")) => text.split(['=', '.']).next().unwrap_or_default().trim(),
            Some((_, own)) if text.starts_with('[') => own.trim_start_matches('.'),
            _ => continue,
        };
        if name.starts_with("toolgate") {
            found.push(Used { name, line, in_tests });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn wrong_directions_are_found() {
        let wire = "[package]\nname = \"toolgate-wire\"\n[dependencies]\ntoolgate.workspace = true\n[dev-dependencies]\ntoolgate-testkit.workspace = true\n";
        let kit = "[dev-dependencies]\ntoolgate-wire = { path = \"../toolgate-wire\" }\n";
        let cli = "[dependencies]\ntoolgate.workspace = true\n[dependencies.toolgate-testkit]\npath = \"x\"\n";
        let sources = Sources::of(&[
            ("crates/toolgate-wire/Cargo.toml", wire),
            ("crates/toolgate-testkit/Cargo.toml", kit),
            ("crates/toolgate-cli/Cargo.toml", cli),
        ]);
        let found: Vec<String> = check(&sources).iter().map(ToString::to_string).collect();
        let expected = [
            "crates/toolgate-wire/Cargo.toml:4: toolgate-wire may not use toolgate in the product",
            "crates/toolgate-testkit/Cargo.toml:2: toolgate-testkit may not use toolgate-wire in its tests",
            "crates/toolgate-cli/Cargo.toml:3: toolgate-cli may not use toolgate-testkit in the product",
        ];
        assert_eq!(found, expected);
    }
}
