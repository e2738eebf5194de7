//! Where the paths of a call really lead, in whatever way they are read: links are followed as far as something is there. It stands beside the
//! pure policy because it asks the file system.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::filter::{
    is_file_address, is_other_address, is_web_address, leads_through_process, percent_decoded, readings,
};
use crate::policy::file::Checker;
use crate::policy::{Decision, collect_paths, segment_verdict};
use crate::settings::diagnostic::visible;
use crate::workspace_folders::{Roots, WorkspaceFolders};

/// What a checker says to the arguments of a call: nothing, or a decision and its reason in words.
pub(crate) fn check(checker: &Checker, arguments: &Value, folders: &WorkspaceFolders) -> Option<(Decision, String)> {
    match collect_paths(arguments, &checker.check) {
        Some(paths) => check_paths(&paths, folders),
        None => Some((Decision::Deny, "the call has more paths than can be checked".to_owned())),
    }
}

/// The strictest that is said to any of the paths, each given with the name of its argument.
pub(crate) fn check_paths(paths: &[(String, String)], folders: &WorkspaceFolders) -> Option<(Decision, String)> {
    let roots = match folders.roots() {
        Ok(roots) => roots,
        Err(error) if !paths.is_empty() => {
            return Some((Decision::Deny, format!("the workspace folder cannot be looked at: {error}")));
        }
        Err(_) => return None,
    };
    let mut strictest: Option<(Decision, String)> = None;
    for (argument, path) in paths {
        let Some((decision, why)) = check_path(path, &roots) else { continue };
        if strictest.as_ref().is_none_or(|(strictest, _)| decision > *strictest) {
            strictest = Some((decision, format!("`{}` {why}", visible(argument))));
        }
    }
    strictest
}

/// The strictest that is said to any reading of the text.
fn check_path(text: &str, roots: &Roots) -> Option<(Decision, String)> {
    let Some(readings) = readings(text) else {
        return Some((Decision::Deny, "can be read in too many ways".to_owned()));
    };
    let verdicts = readings.iter().filter_map(|reading| check_reading(reading, roots));
    // Of those that are alike, the first.
    let strictest = verdicts.reduce(|strictest, other| if other.0 > strictest.0 { other } else { strictest });
    strictest.map(|(decision, why)| (decision, why.to_owned()))
}

fn check_reading(path: &str, roots: &Roots) -> Option<(Decision, &'static str)> {
    if path.chars().any(char::is_control) || has_codes(path) || leads_through_process(path) {
        return Some((Decision::Deny, "leads to where nobody can tell"));
    }
    if path.starts_with('~') || begins_with_drive(path) {
        return Some((Decision::Deny, "may lead out of the workspace folder"));
    }
    if is_web_address(path) && climbs(path) {
        return Some((Decision::Deny, "is an address that may lead out of the workspace folder"));
    }
    let (plain, real) = (lexical(path), resolve(Path::new(path), roots.main()));
    // Some tools follow links before they take `..` away, some after.
    let places = [real, resolve(&plain, roots.main())];
    let mut inside = Vec::with_capacity(places.len());
    for place in places {
        let Some(place) = place else { return Some((Decision::Deny, "leads to where nobody can tell")) };
        let Some(below) = roots.below(&place) else {
            return Some((Decision::Deny, "leads out of the workspace folder"));
        };
        inside.push(below.to_owned());
    }
    // What is behind `file:` is a reading of its own.
    if is_web_address(path) || is_file_address(path) {
        return None;
    }
    // As it is written as well: `.git` may be a link to somewhere else in the folder.
    inside.push(roots.below(Path::new(path)).unwrap_or(Path::new(path)).to_owned());
    let on_the_way = inside.iter().filter_map(|path| segment_verdict(&path.to_string_lossy())).max();
    let on_the_way = on_the_way.map(|decision| (decision, "leads to what is not for tools"));
    let is_unclear = is_other_address(path) || begins_with_variable(path);
    on_the_way.or_else(|| is_unclear.then_some((Decision::Ask, "may lead out of the workspace folder")))
}

/// Whether there are codes such as `%ff` that cannot be decoded.
fn has_codes(path: &str) -> bool {
    let mut after = path.split('%').skip(1).filter(|_| percent_decoded(path) == path);
    after.any(|rest| rest.as_bytes().first_chunk::<2>().is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit)))
}

/// `C:`, of whatever system.
fn begins_with_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// `$HOME/x`, `${HOME}x`: some tools put the value in.
fn begins_with_variable(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('$') else { return false };
    let name = rest.split('/').next().unwrap_or_default();
    rest.starts_with('{')
        || (!name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'))
}

/// Whether `..` is a part of it, of whatever kind.
fn climbs(address: &str) -> bool {
    address.split(['/', '\\', '?', '#', '&', '=', ';']).any(|part| part == "..")
}

/// The path without `.` and `..`, as far as its text tells.
pub(super) fn lexical(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match (component, plain.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir | Component::Prefix(_))) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                plain.pop();
            }
            (component, _) => plain.push(component),
        }
    }
    plain
}

/// The place that a path leads to, seen from `root`. `None` when it cannot be told.
pub(super) fn resolve(path: &Path, root: &Path) -> Option<PathBuf> {
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
