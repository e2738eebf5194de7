//! The house rules, as a test over the whole repository: what clippy cannot see.
//! A failure lists `file:line: what is wrong`, one line for each.

#[path = "tidy/crate_order.rs"]
mod crate_order;
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/limit_names.rs"]
mod limit_names;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/named_paths.rs"]
mod named_paths;
#[path = "tidy/outside_names.rs"]
mod outside_names;
#[path = "tidy/sources.rs"]
mod sources;
#[path = "tidy/stage_order.rs"]
mod stage_order;

use sources::{Complaint, Sources};

#[track_caller]
fn expect_none(complaints: &[Complaint]) {
    let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} house rules are broken:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn files_are_short_named_well_and_open_by_saying_what_they_own() {
    expect_none(&files::check(&Sources::read()));
}

#[test]
fn every_source_file_is_part_of_its_crate() {
    expect_none(&modules::check(&Sources::read()));
}

#[test]
fn every_path_named_in_the_documents_exists() {
    expect_none(&named_paths::check(&Sources::read()));
}

#[test]
fn every_limit_is_explained_carries_its_unit_and_is_used() {
    expect_none(&limit_names::check(&Sources::read()));
}

#[test]
fn no_stage_imports_a_later_stage() {
    expect_none(&stage_order::check(&Sources::read()));
}

#[test]
fn no_crate_depends_on_a_crate_above_it() {
    expect_none(&crate_order::check(&Sources::read()));
}

#[test]
fn nothing_names_a_machine_or_a_registry() {
    expect_none(&outside_names::check(&Sources::read()));
}
