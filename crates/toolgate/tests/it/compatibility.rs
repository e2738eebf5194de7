//! The page about compatibility with Gemini CLI: every row names a test or command, and every named test exists.

use std::path::{Path, PathBuf};

/// The page.
const PAGE: &str = include_str!("../../../../docs/compatibility-gemini-cli.md");

/// Prefixes of test names, each with its source folder.
const FOLDERS: [(&str, &str); 9] = [
    ("toolgate-cli::it", "crates/toolgate-cli/tests/it"),
    ("toolgate-cli::partners", "crates/toolgate-cli/tests/partners"),
    ("toolgate::it", "crates/toolgate/tests/it"),
    ("toolgate-model::it", "crates/toolgate-model/tests/it"),
    ("toolgate-wire::it", "crates/toolgate-wire/tests/it"),
    ("toolgate-wire::server", "crates/toolgate-wire/tests/server"),
    ("toolgate-workspace::it", "crates/toolgate-workspace/tests/it"),
    ("toolgate-testkit::it", "crates/toolgate-testkit/tests/it"),
    ("toolgate", "crates/toolgate/src"),
];

/// The first and the last cell of every capability row.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let (told, _) = PAGE.split_once("\n## Declined").expect("what is declined stands last");
    let rows = told
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| capability") && !line.starts_with("| ---"));
    let cells = rows.map(|line| {
        let inside = line.trim_start_matches("| ").trim_end_matches(" |");
        let (rest, shown) = inside.rsplit_once(" | ").expect("a row has three cells");
        let (capability, _) = rest.split_once(" | ").expect("a row has three cells");
        (capability, shown.split('`').skip(1).step_by(2).collect())
    });
    cells.collect()
}

/// Whether the test exists.
fn exists(folder: &str, path: &str) -> bool {
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let below: PathBuf = module.split("::").collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join(below);
    let text = std::fs::read_to_string(file.with_extension("rs")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &str| line.starts_with(&format!("fn {name}(")) || line.starts_with(&format!("async fn {name}("));
    let at = lines.iter().position(|line| is_it(line));
    let above = at.map(|at| lines[..at].iter().rev().take_while(|line| line.starts_with('#')));
    above.is_some_and(|mut above| above.any(|line| line.contains("test")))
}

#[test]
fn every_row_is_shown_by_something_that_exists() {
    let rows = rows();
    assert!(rows.len() >= 200, "{} rows", rows.len());
    let mut missing = Vec::new();
    for (capability, shown) in &rows {
        assert!(!shown.is_empty(), "nothing shows: {capability}");
        for proof in shown {
            let (of, path) = proof.split_once(' ').expect("a test or a command");
            let folder = FOLDERS.iter().find(|(name, _)| *name == of).filter(|_| path.contains("::"));
            let is_command = of == "toolgate" || path.starts_with("toolgate ");
            match folder {
                Some((_, folder)) if exists(folder, path) => {}
                None if is_command => {}
                _ => missing.push(format!("{capability}: {proof}")),
            }
        }
    }
    assert!(missing.is_empty(), "these tests do not exist: {missing:#?}");
}
