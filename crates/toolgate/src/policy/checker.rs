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

/// The texts among arguments that are paths, each with the name of its argument. Elements of a list go by the name of the list. What stands in an
/// argument that is a path is one too, keys of an object included, except for what is plainly the content of a file. `None` when there are more
/// than [`CHECKED_PATHS_MAX`].
#[must_use]
pub fn collect_paths(arguments: &Value, config: &AllowedPath) -> Option<Vec<(String, String)>> {
    let mut paths = Vec::new();
    if let Value::Object(members) = arguments {
        for (key, value) in members {
            let argument = Argument { name: key, key, is_within_path: false };
            collect(argument, value, &mut Collecting { config, paths: &mut paths });
        }
    }
    (paths.len() <= CHECKED_PATHS_MAX).then_some(paths)
}

struct Collecting<'a> {
    config: &'a AllowedPath,
    paths: &'a mut Vec<(String, String)>,
}

/// One argument, or a part of one.
#[derive(Clone, Copy)]
struct Argument<'a> {
    /// Its whole name.
    name: &'a str,
    /// The last part of it.
    key: &'a str,
    /// Whether it stands in one that is a path.
    is_within_path: bool,
}

fn collect(argument: Argument<'_>, value: &Value, collecting: &mut Collecting<'_>) {
    let Argument { name, key, is_within_path } = argument;
    if collecting.paths.len() > CHECKED_PATHS_MAX
        || collecting.config.excluded_args.iter().any(|excluded| excluded == name)
    {
        return;
    }
    let is_meant = is_path(key)
        || collecting.config.included_args.iter().any(|included| included == name)
        || (is_within_path && !is_content(key));
    match value {
        Value::String(path) if is_meant => collecting.paths.push((name.to_owned(), path.clone())),
        Value::Array(elements) => elements.iter().for_each(|element| collect(argument, element, collecting)),
        Value::Object(members) => {
            for (key, value) in members {
                if is_meant {
                    collecting.paths.push((name.to_owned(), key.clone()));
                }
                let part = Argument { name: &format!("{name}.{key}"), key, is_within_path: is_meant };
                collect(part, value, collecting);
            }
        }
        _ => {}
    }
}

/// Whether what stands in a path under that name is the content of a file.
fn is_content(key: &str) -> bool {
    let key: String = key.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let contents = ["content", "contents", "text", "body", "data", "oldtext", "newtext", "oldstring", "newstring"];
    contents.contains(&&*key)
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
        ".git" | "git~1" | ".env" | "node_modules" => Some(Decision::Deny),
        ".vscode" => Some(Decision::Ask),
        _ => None,
    };
    path.split(['/', '\\']).filter_map(verdict).max()
}

/// A name as a file system that is generous about names understands it: any capitals, dots and spaces at its end, `:stream`, marks that
/// nobody sees.
fn plain(segment: &str) -> String {
    let name = segment.split(':').next().unwrap_or_default();
    let is_seen = |letter: &char| !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    name.trim_end_matches(['.', ' ']).chars().filter(is_seen).flat_map(char::to_lowercase).collect()
}
