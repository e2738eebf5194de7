//! Names that belong to a machine or to a package registry, which a repository has no business to know.

use crate::sources::{Complaint, Source, Sources};

/// Hosts that serve packages. Put together here so that this file does not name them.
const HOSTS: [&str; 7] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("pypi.", "org/simple"),
    concat!("files.", "pythonhosted.org"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("artifact", "ory"),
];

/// What a lock file or a list of packages says when it remembers where a package came from.
const ORIGINS: [&str; 3] =
    [concat!("\"resolved\": \"", "http"), concat!("--index", "-url"), concat!("--extra-index", "-url")];

/// Homes that exist on machines and nowhere else.
const HOMES: [&str; 1] = [concat!("/ro", "ot/")];

pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut paths: Vec<String> = HOMES.iter().map(|&home| home.to_owned()).collect();
    // A folder at the top, such as the one for temporary files, is on every machine.
    let is_particular = |folder: &&std::path::Path| folder.components().count() > 2;
    let folders = sources.root.ancestors().take(2).filter(is_particular);
    paths.extend(folders.map(|folder| format!("{}/", folder.display())));
    sources.files.iter().flat_map(|source| check_file(source, &paths)).collect()
}

fn check_file(source: &Source, paths: &[String]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, line) in source.numbered() {
        let host = HOSTS.iter().chain(&ORIGINS).find(|name| line.contains(*name));
        if let Some(host) = host {
            complaints.push(Complaint::new(&source.path, number, format!("`{host}` names where packages come from")));
        }
        let path = paths.iter().find(|path| names_path(line, path));
        if let Some(path) = path {
            complaints.push(Complaint::new(&source.path, number, format!("`{path}` is a path of this machine")));
        }
    }
    complaints
}

/// Whether a line names the path itself, not one that merely ends like it.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(start, _)| {
        let before = line.get(..start).and_then(|before| before.chars().last());
        !before
            .is_some_and(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '}' | ']' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::{HOSTS, check};
    use crate::sources::Sources;

    #[test]
    fn machines_and_registries_are_found() {
        let lock = format!("{{\n  \"from\": \"https://{}/x\"\n}}\n", HOSTS[0]);
        let sources = Sources::of(&[
            ("package-lock.json", &lock),
            (
                "docs/a.md",
                "see `/nowhere/at/all/file` or /nowhere/at/other\nbut not ../nowhere/at/all/x nor /everywhere\n",
            ),
        ]);
        let found: Vec<String> = check(&sources).iter().map(|one| format!("{}:{}", one.file, one.line)).collect();
        assert_eq!(found, ["package-lock.json:2", "docs/a.md:1"]);
    }
}
