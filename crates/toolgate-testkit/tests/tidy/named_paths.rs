//! Paths named in the documents: in backticks and in links.

use std::collections::BTreeSet;

use crate::sources::{Complaint, Source, Sources};

/// The documents that say where things are.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"];

/// A word with such an ending is a file of this repository, wherever it stands.
const FILE_ENDINGS: [&str; 3] = [".rs", ".md", ".toml"];

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let places = places(sources);
    for name in DOCUMENTS {
        match sources.find(name) {
            Some(document) => complaints.extend(check_document(document, &places)),
            None => complaints.push(Complaint::new(name, 1, "this document is missing")),
        }
    }
    complaints
}

/// Every file and every folder.
fn places(sources: &Sources) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for source in &sources.files {
        let mut path = source.path.as_str();
        places.insert(path.to_owned());
        while let Some((folder, _)) = path.rsplit_once('/') {
            places.insert(folder.to_owned());
            path = folder;
        }
    }
    places
}

fn check_document(document: &Source, places: &BTreeSet<String>) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut in_code_block = false;
    for (number, line) in document.numbered() {
        if line.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
            continue;
        }
        if in_code_block {
            continue;
        }
        let spans = line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
        let missing_spans = spans.filter(|word| looks_like_path(word, places) && !exists(word, places));
        let missing_links = links(line).filter(|target| !exists(target, places));
        for missing in missing_spans.chain(missing_links) {
            complaints.push(Complaint::new(&document.path, number, format!("`{missing}` does not exist")));
        }
    }
    complaints
}

/// Targets of links into the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with(['#', 'm']));
    local.map(|target| target.split('#').next().unwrap_or_default())
}

fn looks_like_path(word: &str, places: &BTreeSet<String>) -> bool {
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "./_-".contains(letter));
    if !is_plain || word.starts_with(['/', '-']) || word.contains("..") {
        return false;
    }
    let is_file = FILE_ENDINGS.iter().any(|end| word.ends_with(end) && word.len() > end.len());
    let first = word.split('/').next().unwrap_or_default();
    let in_top_folder = word.contains('/') && places.contains(first);
    is_file || in_top_folder
}

/// A path from the root, or the end of one: `src/lib.rs` is any of them.
fn exists(word: &str, places: &BTreeSet<String>) -> bool {
    let word = word.trim_start_matches("./").trim_end_matches('/');
    let as_end = format!("/{word}");
    places.contains(word) || places.iter().any(|place| place.ends_with(&as_end))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn only_paths_of_the_repository_are_looked_for() {
        let readme = "\
Run `cargo nextest run --workspace`; see `crates/a/src/lib.rs`, `lib.rs`, `crates/a/` and `tools/list`.
Gone: `crates/a/src/old.rs` and `crates/b`. Settings are in `~/.toolgate/settings.json`.
```
crates/not/looked/at.rs
```
[good](ARCHITECTURE.md), [web](https://example.com/x.md), [bad](docs/none.md).
";
        let sources =
            Sources::of(&[("README.md", readme), ("ARCHITECTURE.md", ""), ("crates/a/src/lib.rs", "//! A.\n")]);
        let found: Vec<String> = check(&sources).iter().map(ToString::to_string).collect();
        let expected = [
            "README.md:2: `crates/a/src/old.rs` does not exist",
            "README.md:2: `crates/b` does not exist",
            "README.md:6: `docs/none.md` does not exist",
            "CONTRIBUTING.md:1: this document is missing",
        ];
        assert_eq!(found, expected);
    }
}
