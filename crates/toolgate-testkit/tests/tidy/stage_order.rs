//! Which stage of the `toolgate` crate may import which: the table of ARCHITECTURE.md, as data.

use std::collections::BTreeSet;

use crate::sources::{Complaint, Source, Sources};

/// A stage and the stages right before it. What those import, it may import as well.
const STAGES: [(&str, &[&str]); 21] = [
    ("settings", &[]),
    ("formats", &["settings", "servers::built_in_tool"]),
    ("servers", &["settings"]),
    ("trust", &["servers"]),
    ("auth", &["servers"]),
    ("transport", &["auth"]),
    ("connect", &["trust", "transport", "auth"]),
    ("shell", &[]),
    ("filter", &["servers", "shell"]),
    ("discovery", &["connect", "filter"]),
    ("kept", &["discovery"]),
    ("registry", &["discovery"]),
    ("expose", &["registry", "shape"]),
    ("policy", &["servers", "registry::name", "shell", "filter"]),
    ("grants", &["policy"]),
    ("rulebook", &["policy", "trust", "grants"]),
    ("revisions", &["settings", "trust", "grants"]),
    ("audit", &["policy", "grants"]),
    ("results", &[]),
    ("shape", &["results"]),
    ("call", &["registry", "policy", "connect", "shape", "grants", "audit"]),
];

/// Seen by everyone.
const GROUND: [&str; 16] = [
    "apart",
    "asker",
    "canonical_json",
    "hex",
    "env",
    "error",
    "glob",
    "keychain",
    "limits",
    "own_files",
    "parts_digest",
    "secret",
    "server_name",
    "shown_name",
    "state_file",
    "workspace_folders",
];

/// See everything, seen by nobody.
const TOP: [&str; 5] = ["lib", "host", "event", "setup", "live"];

const HOME: &str = "crates/toolgate/src/";

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for source in sources.rust() {
        let Some(below) = source.path.strip_prefix(HOME) else { continue };
        let stage = below.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        if TOP.contains(&stage) || source.stem().ends_with("_tests") {
            continue;
        }
        complaints.extend(check_file(source, stage));
    }
    complaints
}

fn check_file(source: &Source, stage: &str) -> Vec<Complaint> {
    let is_known = GROUND.contains(&stage) || STAGES.iter().any(|(name, _)| *name == stage);
    if !is_known {
        return vec![Complaint::new(&source.path, 1, format!("`{stage}` is not in the table of stages"))];
    }
    let allowed = allowed(stage);
    let mut complaints = Vec::new();
    for (line, import) in imports(source) {
        let first = import.split("::").next().unwrap_or_default();
        let is_allowed = first == stage
            || GROUND.contains(&first)
            || allowed.contains(first)
            || allowed.iter().any(|one| import == *one || import.starts_with(&format!("{one}::")));
        if !is_allowed {
            let rule = match first.chars().next() {
                Some(letter) if letter.is_uppercase() => {
                    format!("import `{import}` from its stage, not from the crate root")
                }
                _ => format!("`{stage}` may not import `{import}`: that stage comes later, or is nothing it builds on"),
            };
            complaints.push(Complaint::new(&source.path, line, rule));
        }
    }
    complaints
}

/// Everything a stage builds on.
fn allowed(stage: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut open = directly_before(stage).to_vec();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            open.extend(directly_before(name));
        }
    }
    found
}

fn directly_before(stage: &str) -> &'static [&'static str] {
    STAGES.iter().find(|(name, _)| *name == stage).map_or(&[], |(_, before)| before)
}

/// The paths below `crate::` that a file names, with their lines; groups are taken apart.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let code: Vec<(usize, &str)> =
        source.product_lines().filter(|(_, line)| !line.trim_start().starts_with("//")).collect();
    let mut found = Vec::new();
    for (index, (number, line)) in code.iter().enumerate() {
        for (start, _) in line.match_indices("crate::") {
            let after = line.get(start + "crate::".len()..).unwrap_or_default();
            if after.starts_with('{') {
                let rest: String = code.iter().skip(index + 1).map(|(_, line)| *line).collect();
                let group = group_members(&format!("{after}{rest}"));
                found.extend(group.into_iter().map(|member| (*number, member)));
            } else {
                found.push((*number, path_at(after)));
            }
        }
        if line.contains("super::super") {
            found.push((*number, "super::super".to_owned()));
        }
    }
    found
}

/// The members of `{a::b, c::{d, e}}`, cut to plain paths.
fn group_members(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut members = vec![String::new()];
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => members.push(String::new()),
            _ if depth == 1 => members.last_mut().into_iter().for_each(|member| member.push(letter)),
            _ => (),
        }
        if depth == 0 {
            break;
        }
    }
    members.iter().map(|member| path_at(member.trim())).filter(|member| !member.is_empty()).collect()
}

/// The path at the start of a text: `a::b::C` of `a::b::C as D`.
fn path_at(text: &str) -> String {
    let path: String =
        text.chars().take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')).collect();
    path.trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn later_stages_are_not_imported() {
        let policy = "\
//! Policy.
use crate::error::Error;
use crate::registry::name::ToolId;
use crate::registry::catalog::Catalog;
use crate::{servers::config::ServerName, call::run};
use crate::Host;
// crate::call::outcome is only talked about.
fn f() -> crate::settings::raw::RawSettings {}
#[cfg(test)]
mod tests {
    use crate::call::run;
}
";
        let sources = Sources::of(&[
            ("crates/toolgate/src/policy/rule.rs", policy),
            ("crates/toolgate/src/host.rs", "//! Host.\nuse crate::call::run;\n"),
            ("crates/toolgate/src/surprise/one.rs", "//! One.\n"),
            (
                "crates/toolgate/src/call/run.rs",
                "//! Run.\nuse crate::connect::manager::M;\nuse crate::settings::raw::R;\nuse crate::expose::slash::S;\n",
            ),
            ("crates/toolgate-wire/src/one.rs", "//! One.\nuse crate::anything::at_all;\n"),
        ]);
        let found: Vec<String> = check(&sources).iter().map(|one| format!("{}:{}", one.file, one.line)).collect();
        let expected = [
            "crates/toolgate/src/policy/rule.rs:4",
            "crates/toolgate/src/policy/rule.rs:5",
            "crates/toolgate/src/policy/rule.rs:6",
            "crates/toolgate/src/surprise/one.rs:1",
            "crates/toolgate/src/call/run.rs:4",
        ];
        assert_eq!(found, expected);
    }
}
