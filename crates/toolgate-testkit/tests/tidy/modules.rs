//! Files that no module declares are not compiled: their code and their tests would be forgotten.

use crate::sources::{Complaint, Source, Sources};

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let declaring: Vec<Declaring<'_>> = sources.rust().map(Declaring::of).collect();
    let mut complaints = Vec::new();
    for source in sources.rust().filter(|source| needs_declaration(source)) {
        if !is_declared(&declaring, source) {
            complaints.push(Complaint::new(&source.path, 1, "no module declares this file, so it is never compiled"));
        }
    }
    complaints
}

/// A file, and the lines in it that may declare others.
struct Declaring<'s> {
    path: &'s str,
    lines: Vec<&'s str>,
}

impl<'s> Declaring<'s> {
    fn of(source: &'s Source) -> Self {
        let lines = source.text.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains("mod ") || line.starts_with("#[path")).collect();
        Self { path: &source.path, lines }
    }
}

/// Everything in a `src` folder or in a test of several files, but what Cargo finds by itself.
fn needs_declaration(source: &Source) -> bool {
    let path = source.path.as_str();
    let is_inside = path.contains("/src/") || in_test_folder(path);
    let is_root = path.contains("/src/bin/") || matches!(source.stem(), "lib" | "main" | "build");
    is_inside && !is_root
}

fn in_test_folder(path: &str) -> bool {
    let Some((_, below)) = path.split_once("/tests/") else { return false };
    below.contains('/')
}

fn is_declared(declaring: &[Declaring<'_>], source: &Source) -> bool {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let (home, name) = if file == "mod.rs" {
        let (parent, own) = folder.rsplit_once('/').unwrap_or(("", folder));
        (parent, own)
    } else {
        (folder, source.stem())
    };
    let declaration = format!("mod {name};");
    let by_path = format!("{file}\"]");
    declaring.iter().any(|other| {
        let other_folder = other.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        // `a.rs` beside the folder `a` declares what is in it.
        let stands_for_folder = other.path.trim_end_matches(".rs") == home;
        let names_it = other_folder == home || stands_for_folder;
        other.lines.iter().any(|line| {
            (names_it && line.ends_with(&declaration)) || (line.starts_with("#[path") && line.ends_with(&by_path))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn forgotten_files_are_found() {
        let sources = Sources::of(&[
            ("crates/a/src/lib.rs", "//! A.\nmod one;\npub(crate) mod two;\n"),
            ("crates/a/src/one.rs", "//! One.\n#[cfg(test)]\n#[path = \"one_tests.rs\"]\nmod tests;\n"),
            ("crates/a/src/one_tests.rs", "//! Tests.\n"),
            ("crates/a/src/two/mod.rs", "//! Two.\nmod inner;\n"),
            ("crates/a/src/two/inner.rs", "//! Inner.\n"),
            ("crates/a/src/two/lost.rs", "//! Lost.\n"),
            ("crates/a/src/bin/program.rs", "//! Program.\n"),
            ("crates/a/tests/it/main.rs", "//! Tests.\nmod first;\n"),
            ("crates/a/tests/it/first.rs", "//! First.\n"),
            ("crates/a/tests/it/second.rs", "//! Second.\n"),
            ("crates/a/tests/alone.rs", "//! Alone.\n"),
        ]);
        let found: Vec<String> = check(&sources).into_iter().map(|one| one.file).collect();
        assert_eq!(found, ["crates/a/src/two/lost.rs", "crates/a/tests/it/second.rs"]);
    }
}
