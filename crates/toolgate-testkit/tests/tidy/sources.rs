//! The files of the repository, as git sees them: tracked, and new ones that are not ignored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
}

impl Complaint {
    /// `line` counts from 1.
    pub(crate) fn new(file: &str, line: usize, rule: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, rule: rule.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

/// One text file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All text files.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<Source>,
}

impl Sources {
    /// Reads the repository this test belongs to.
    #[expect(clippy::expect_used, reason = "without the repository there is nothing to check")]
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there");
        let mut files = Vec::new();
        for path in listed_by_git(&root).unwrap_or_else(|| walked(&root)) {
            // A file that was deleted but is still tracked is none; one that is not text has no lines to check.
            if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
                files.push(Source { path, text });
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        assert!(files.len() > 20, "only {} files were found in {}", files.len(), root.display());
        Self { root, files }
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|source| source.path.ends_with(".rs"))
    }

    pub(crate) fn find(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|source| source.path == path)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| Source { path: (*path).to_owned(), text: (*text).to_owned() });
        Self { root: PathBuf::from("/nowhere/at/all"), files: files.collect() }
    }
}

impl Source {
    /// The lines with their numbers, counted from 1.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The lines before the test module at the end of the file, if there is one.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let test_module = lines
            .windows(2)
            .rposition(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'));
        self.numbered().take(test_module.unwrap_or(lines.len()))
    }

    /// The name without folders and extension.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }
}

/// The files that git tracks or would track; `None` without git, or in a copy that is no checkout.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let listed = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let paths = names.split('\0').filter(|path| !path.is_empty()).map(ToOwned::to_owned);
    listed.status.success().then(|| paths.collect())
}

/// All files below the folder, without those that `.gitignore` and git itself keep out.
fn walked(root: &Path) -> Vec<String> {
    let ignored = std::fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let ignored: Vec<&str> = ignored.lines().map(|line| line.trim().trim_matches('/')).collect();
    let mut folders = vec![String::new()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if name == ".git" || ignored.iter().any(|pattern| *pattern == name || *pattern == path) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{listed_by_git, walked};

    #[test]
    fn without_git_the_same_files_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        if let Some(mut listed) = listed_by_git(&root) {
            let mut found = walked(&root);
            // A tracked file that was deleted in the checkout is still listed.
            listed.retain(|path| root.join(path).is_file() && !root.join(path).is_symlink());
            listed.sort();
            found.sort();
            listed.dedup();
            assert_eq!(found, listed);
        }
    }
}
