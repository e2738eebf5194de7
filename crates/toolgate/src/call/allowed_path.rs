//! Where the paths of a call really lead: links are followed as far as something is there. It stands beside the pure policy because it asks the
//! file system.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::policy::file::Checker;
use crate::policy::{Decision, collect_paths, segment_verdict};
use crate::settings::diagnostic::visible;

/// What a checker says to the arguments of a call: nothing, or a decision and its reason in words.
pub(crate) fn check(checker: &Checker, arguments: &Value, workspace: &Path) -> Option<(Decision, String)> {
    match collect_paths(arguments, &checker.check) {
        Some(paths) => check_paths(&paths, workspace),
        None => Some((Decision::Deny, "the call has more paths than can be checked".to_owned())),
    }
}

/// The strictest that is said to any of the paths, each given with the name of its argument.
pub(crate) fn check_paths(paths: &[(String, String)], workspace: &Path) -> Option<(Decision, String)> {
    let root = match workspace.canonicalize() {
        Ok(root) => root,
        Err(error) if !paths.is_empty() => {
            return Some((Decision::Deny, format!("the workspace folder cannot be looked at: {error}")));
        }
        Err(_) => return None,
    };
    let mut strictest: Option<(Decision, String)> = None;
    for (argument, path) in paths {
        let Some((decision, why)) = check_path(path, &root) else { continue };
        if strictest.as_ref().is_none_or(|(strictest, _)| decision > *strictest) {
            strictest = Some((decision, format!("`{}` {why}", visible(argument))));
        }
    }
    strictest
}

fn check_path(path: &str, root: &Path) -> Option<(Decision, String)> {
    let local = match path.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => rest,
        // An address is no path.
        Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            return None;
        }
        _ => path,
    };
    if local.starts_with('~') || (local.len() < path.len() && local.contains('%')) {
        return Some((Decision::Deny, "may lead out of the workspace folder".to_owned()));
    }
    let Some(real) = resolve(Path::new(local), root) else {
        return Some((Decision::Deny, "leads to where nobody can tell".to_owned()));
    };
    let Ok(inside) = real.strip_prefix(root) else {
        return Some((Decision::Deny, "leads out of the workspace folder".to_owned()));
    };
    // As it is written as well: `.git` may be a link to somewhere else in the folder.
    let written = Path::new(local).strip_prefix(root).unwrap_or(Path::new(local));
    let verdict = segment_verdict(&inside.to_string_lossy()).max(segment_verdict(&written.to_string_lossy()));
    verdict.map(|decision| (decision, "leads to what is not for tools".to_owned()))
}

/// The place that a path leads to, seen from `root`. `None` when it cannot be told.
fn resolve(path: &Path, root: &Path) -> Option<PathBuf> {
    let mut place = root.to_owned();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => place = PathBuf::from(component.as_os_str()),
            Component::CurDir => {}
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => {
                place.push(name);
                match place.canonicalize() {
                    Ok(real) => place = real,
                    // Nothing is there yet; a link to nothing would lead elsewhere once something is.
                    Err(error) if error.kind() == ErrorKind::NotFound && !place.is_symlink() => {}
                    Err(error) if error.kind() == ErrorKind::NotADirectory => {}
                    Err(_) => return None,
                }
            }
        }
    }
    Some(place)
}

#[cfg(test)]
#[path = "allowed_path_tests.rs"]
mod tests;
