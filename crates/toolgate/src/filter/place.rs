//! A path or address as written → the place it means, as far as the text tells: `.`, `..`, doubled slashes, `~` and `file://` taken away.
//! No I/O, so links are not followed.

use std::fmt;
use std::path::Path;

use super::path_readings::is_disguised;
use super::percent::decoded;
use crate::glob::glob;

/// Where a place is counted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The folder the call is about.
    Folder,
    /// The root of the file system.
    System,
    /// The home of somebody: `~` or `~name`.
    Home(String),
    /// A server.
    Url {
        /// In lower case.
        scheme: String,
        /// With name and port, in lower case; empty when only a scheme is written.
        authority: String,
    },
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where it is counted from.
    pub(super) root: Root,
    /// How many levels above that: leading `..`.
    pub(super) up: usize,
    /// The steps from there, none of them `.` or `..`.
    pub(super) segments: Vec<String>,
    /// Whether whoever uses the text is sure to end up there: it climbs nowhere out of a folder it names, and has nothing in it that
    /// some readers take for something else.
    pub(super) is_certain: bool,
}

impl Place {
    pub(super) fn read(text: &str) -> Self {
        let is_plain = !text.contains('\\') && !is_disguised(text);
        let mut place = match text.split_once(':') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") && rest.starts_with('/') => file_url(rest),
            Some((scheme, rest)) if is_scheme(scheme) && rest.starts_with("//") => url(scheme, rest),
            _ => path(text),
        };
        place.is_certain &= is_plain && !text.starts_with(['$', '%']);
        place
    }

    /// The same counted from the root of the file system, when it is known where that is.
    pub(super) fn resolved(&self, folder: Option<&Path>, home: Option<&Path>) -> Option<Self> {
        let base = match &self.root {
            Root::Folder => folder?,
            Root::Home(name) if name == "~" => home?,
            Root::Home(_) | Root::System | Root::Url { .. } => return None,
        };
        let mut segments = path(base.to_str()?).segments;
        segments.truncate(segments.len().saturating_sub(self.up));
        segments.extend(self.segments.iter().cloned());
        // Where `..` leads from a folder that is a link cannot be told.
        Some(Self { root: Root::System, up: 0, segments, is_certain: self.is_certain && self.up == 0 })
    }

    /// The steps as one text.
    pub(super) fn joined(&self) -> String {
        self.segments.join("/")
    }

    /// Whether a place is this one or below it, when this one is a pattern: `*` stands for anything within a step, `**` for any steps.
    pub(super) fn certainly_holds(&self, place: &Self) -> bool {
        let same_root = match (&self.root, &place.root) {
            (Root::Url { scheme, authority }, Root::Url { scheme: of_place, authority: at_place }) => {
                let hides_name = at_place.contains('@') && !authority.contains('@');
                let is_there = glob(authority, at_place) || (authority.is_empty() && self.segments.is_empty());
                scheme == of_place && is_there && !hides_name && !at_place.contains(char::is_whitespace)
            }
            (root, of_place) => root == of_place,
        };
        same_root && self.up == place.up && place.is_certain && begin_with(&place.segments, &self.segments)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Folder => {}
            Root::System => f.write_str("/")?,
            Root::Home(name) => write!(f, "{name}/")?,
            Root::Url { scheme, authority } => write!(f, "{scheme}://{authority}/")?,
        }
        write!(f, "{}{}", "../".repeat(self.up), self.joined())
    }
}

fn is_scheme(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'))
}

fn path(text: &str) -> Place {
    if text.starts_with('~') {
        let (name, rest) = text.split_once('/').unwrap_or((text, ""));
        return steps(Root::Home(name.to_owned()), rest);
    }
    steps(if text.starts_with('/') { Root::System } else { Root::Folder }, text)
}

fn file_url(after_colon: &str) -> Place {
    let (host, path) = match after_colon.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, "")),
        None => ("", after_colon),
    };
    let place = steps(Root::System, &decoded(path));
    let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    Place { is_certain: place.is_certain && is_here, ..place }
}

fn url(scheme: &str, after_colon: &str) -> Place {
    let rest = after_colon.trim_start_matches('/');
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" | "ws" => ":80",
        "https" | "wss" => ":443",
        _ => "",
    };
    let authority = authority.to_lowercase();
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority).to_owned();
    let place = steps(Root::Url { scheme, authority }, path);
    let slashes = after_colon.len() - rest.len();
    Place { is_certain: place.is_certain && slashes == 2, ..place }
}

fn steps(root: Root, text: &str) -> Place {
    let mut segments: Vec<String> = Vec::new();
    let (mut up, mut is_certain) = (0, true);
    for step in text.split('/') {
        match step {
            "" | "." => {}
            // Where it leads from a folder that is a link cannot be told.
            ".." if segments.pop().is_some() => is_certain = false,
            ".." if matches!(root, Root::Folder | Root::Home(_)) => up += 1,
            ".." => is_certain = false,
            step => segments.push(step.to_owned()),
        }
    }
    Place { root, up, segments, is_certain }
}

/// Whether the steps begin as the pattern says.
fn begin_with(steps: &[String], pattern: &[String]) -> bool {
    // Which beginnings of the pattern are matched by the steps so far.
    let mut reached = vec![false; pattern.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    skip_any_steps(&mut reached, pattern);
    if reached.last() == Some(&true) {
        return true;
    }
    for step in steps {
        let mut next = vec![false; pattern.len() + 1];
        for (at, part) in pattern.iter().enumerate().filter(|(at, _)| reached.get(*at) == Some(&true)) {
            let to = if part == "**" { at } else { at + 1 };
            if let Some(slot) = next.get_mut(to).filter(|_| part == "**" || glob(part, step)) {
                *slot = true;
            }
        }
        skip_any_steps(&mut next, pattern);
        if next.last() == Some(&true) {
            return true;
        }
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    false
}

/// `**` stands for no step as well.
fn skip_any_steps(reached: &mut [bool], pattern: &[String]) {
    for (at, _) in pattern.iter().enumerate().filter(|(_, part)| *part == "**") {
        let is_reached = reached.get(at) == Some(&true);
        if let Some(next) = reached.get_mut(at + 1) {
            *next |= is_reached;
        }
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
