//! Files that services and editors read: workflows, forms for issues, scripts, containers. `interop/install` brings the linters.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use toolgate_testkit::command::CommandOutput;

use crate::installed::{partner, repository};
use crate::room::Room;

/// A workflow with a title in a shell line, which an attacker writes.
const INJECTED: &str = "\
name: title
on: issues
permissions: {}
jobs:
  print:
    runs-on: ubuntu-24.04
    steps:
      - run: echo '${{ github.event.issue.title }}'
";

fn lint(program: &str, words: &[&str], path: &Path) -> CommandOutput {
    let room = Room::empty();
    let linter = partner(&format!("python/linters/bin/{program}"));
    room.world.command(linter).args(words.iter().copied()).arg(path).folder(repository()).run().expect("it ends")
}

fn lint_workflows(path: &Path) -> CommandOutput {
    // Without the network it neither asks for newer versions of actions nor needs a login.
    lint("zizmor", &["--offline", "--no-progress", "--color=never", "--strict-collection", "--persona=pedantic"], path)
}

#[test]
fn workflows_pass_zizmor() {
    let output = lint_workflows(&repository().join(".github"));
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
}

#[test]
fn workflows_that_are_unsafe_or_broken_do_not_pass() {
    let room = Room::empty();
    for (name, text, expected) in
        [("unsafe", INJECTED, "template-injection"), ("broken", "on: push\njobs:\n  a: {steps: 1}\n", "does not match")]
    {
        let path = room.world.write_in_workspace(format!(".github/workflows/{name}.yml"), text).expect("a file");
        let output = lint_workflows(&path);
        assert_ne!(output.code(), Some(0), "{name}: {}", output.transcript());
        assert!(output.transcript().contains(expected), "{name}: {}", output.transcript());
    }
}

#[test]
fn the_container_file_passes_hadolint() {
    let output = lint("hadolint", &["--no-color"], &repository().join("packaging/Containerfile"));
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
}

#[test]
fn scripts_pass_shellcheck() {
    for script in ["check", "packaging/build", "interop/install", "interop/keychain", "conformance/run", "fuzz/run"] {
        let output = lint("shellcheck", &["--norc", "--severity=warning", "--color=never"], &repository().join(script));
        assert_eq!(output.code(), Some(0), "{script}: {}", output.transcript());
    }
}

#[test]
fn the_container_runs_as_an_ordinary_user_on_named_versions() {
    let text = std::fs::read_to_string(repository().join("packaging/Containerfile")).expect("it is there");
    let after = |word: &str| text.lines().filter_map(move |line| line.strip_prefix(word)).collect::<Vec<_>>();
    for image in after("FROM ") {
        let name = image.split(" AS ").next().unwrap_or_default();
        let tag = name.rsplit_once(':').map(|(_, tag)| tag).unwrap_or_default();
        assert!(tag.split('-').next().is_some_and(|version| version.contains('.')), "{image} is a moving version");
    }
    assert_eq!(after("USER ").last(), Some(&"1000:1000"));
    for source in after("COPY ").into_iter().flat_map(str::split_whitespace) {
        assert_ne!(source, ".", "only named files and folders are copied");
    }
}

#[test]
fn forms_for_issues_have_what_the_service_needs() {
    let folder = repository().join(".github/ISSUE_TEMPLATE");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("it can be read");
        let form: Value = yaml_serde::from_str(&text).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
        if entry.file_name() == "config.yml" {
            continue;
        }
        count += 1;
        assert!(form["name"].is_string() && form["description"].is_string(), "{entry:?}");
        let mut ids = BTreeSet::new();
        for field in form["body"].as_array().expect("a list of fields") {
            match field["type"].as_str() {
                Some("markdown") => assert!(field["attributes"]["value"].is_string(), "{entry:?}: {field}"),
                Some("textarea" | "input" | "dropdown" | "checkboxes") => {
                    assert!(field["attributes"]["label"].is_string(), "{entry:?}: {field}");
                    assert!(ids.insert(field["id"].as_str().expect("an id").to_owned()), "{entry:?}: {field}");
                }
                other => panic!("{entry:?}: {other:?} is no type of a field"),
            }
        }
        assert!(!ids.is_empty(), "{entry:?}");
    }
    assert_eq!(count, 2);
}

#[test]
fn the_dev_container_is_json() {
    let text = std::fs::read_to_string(repository().join(".devcontainer/devcontainer.json")).expect("it is there");
    let json: Value = serde_json::from_str(&text).expect("JSON without comments");
    assert!(json["image"].is_string());
}
