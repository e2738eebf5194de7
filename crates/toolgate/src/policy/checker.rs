//! `Checker`: what is looked at after a decision, and can only make it stricter. The part that asks the file system is `call::allowed_path`.

use serde_json::Value;

use super::decision::Decision;
use super::rule::Rule;
use crate::limits::CHECKED_PATHS_MAX;

/// One safety checker.
#[derive(Clone, Debug)]
pub struct Checker {
    /// The calls it is about, as the restriction it is. Those with the higher priority are asked first.
    pub rule: Rule,
    /// What it looks at.
    pub check: AllowedPath,
}

/// `allowed-path`: the paths of a call lead into the workspace folder, and not to what is nobody's business there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedPath {
    /// Arguments that are paths though their names do not say so; `a.b` is `b` in `a`.
    pub included_args: Vec<String>,
    /// Arguments that are no paths though their names say so.
    pub excluded_args: Vec<String>,
}

/// The texts among arguments that are paths, each with the name of its argument. Elements of a list go by the name of the list. `None` when there
/// are more than [`CHECKED_PATHS_MAX`].
#[must_use]
pub fn collect_paths(arguments: &Value, config: &AllowedPath) -> Option<Vec<(String, String)>> {
    let mut paths = Vec::new();
    if let Value::Object(members) = arguments {
        for (key, value) in members {
            collect(key, key, value, &mut Collecting { config, paths: &mut paths });
        }
    }
    (paths.len() <= CHECKED_PATHS_MAX).then_some(paths)
}

struct Collecting<'a> {
    config: &'a AllowedPath,
    paths: &'a mut Vec<(String, String)>,
}

/// `name` is the whole name of an argument, `key` the last part of it.
fn collect(name: &str, key: &str, value: &Value, collecting: &mut Collecting<'_>) {
    if collecting.paths.len() > CHECKED_PATHS_MAX
        || collecting.config.excluded_args.iter().any(|excluded| excluded == name)
    {
        return;
    }
    let is_meant = is_path(key) || collecting.config.included_args.iter().any(|included| included == name);
    match value {
        Value::String(path) if is_meant => collecting.paths.push((name.to_owned(), path.clone())),
        Value::Array(elements) => elements.iter().for_each(|element| collect(name, key, element, collecting)),
        Value::Object(members) => {
            for (key, value) in members {
                collect(&format!("{name}.{key}"), key, value, collecting);
            }
        }
        _ => {}
    }
}

/// Whether an argument of that name is a path.
fn is_path(key: &str) -> bool {
    let key = key.to_lowercase();
    ["path", "directory", "file"].iter().any(|part| key.contains(part)) || matches!(&*key, "source" | "destination")
}

/// What the names of folders and files on the way of a path say, whatever the path leads to.
#[must_use]
pub fn segment_verdict(path: &str) -> Option<Decision> {
    let verdict = |segment: &str| match &*plain(segment) {
        ".git" | ".env" | "node_modules" => Some(Decision::Deny),
        ".vscode" => Some(Decision::Ask),
        _ => None,
    };
    path.split(['/', '\\']).filter_map(verdict).max()
}

/// A name as a file system that is generous about names understands it: any capitals, dots and spaces at its end, `:stream`.
fn plain(segment: &str) -> String {
    let name = segment.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_lowercase()
}
