//! Paths as texts: whether one is in a folder, whether it has a form. The file system is not asked, so links are not followed; whoever needs
//! that has the safety checker `allowed-path`.

use std::path::Path;

use regex::{Regex, RegexBuilder};

use crate::filter::{is_unclear, leads_through_process, readings};
use crate::limits::{POLICY_REGEX_CACHE_BYTES_MAX, POLICY_REGEX_COMPILED_BYTES_MAX};
use crate::shell::Reach;

/// A form of texts: `*` and `?` for anything within one part of a path, `**` for any number of parts.
#[derive(Clone, Debug)]
pub struct PathGlob {
    text: String,
    exact: Regex,
    folded: Regex,
}

impl PathGlob {
    /// Reads such a form.
    ///
    /// # Errors
    /// When it has brackets or braces, which mean something elsewhere and nothing here, or is too large: says what is wrong.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.contains(['[', ']', '{', '}']) {
            return Err("brackets and braces mean nothing in a glob: give a list of globs, or use `matches`".to_owned());
        }
        let pattern = regex_of(text);
        let build = |folds_case| {
            RegexBuilder::new(&pattern)
                .case_insensitive(folds_case)
                .size_limit(POLICY_REGEX_COMPILED_BYTES_MAX)
                .dfa_size_limit(POLICY_REGEX_CACHE_BYTES_MAX)
                .build()
                .map_err(|_| "the glob is too large".to_owned())
        };
        Ok(Self { text: text.to_owned(), exact: build(false)?, folded: build(true)? })
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it takes when it is compiled, generously.
    pub(in crate::policy) fn compiled_bytes_max(&self) -> usize {
        const BYTES_FOR_EACH: usize = 256;
        const BYTES_AT_LEAST: usize = 8 * 1024;
        BYTES_AT_LEAST + BYTES_FOR_EACH * self.text.len()
    }

    pub(super) fn matches(&self, text: &str, folder: &Path, reach: Reach) -> bool {
        match reach {
            Reach::Permission => self.certainly_matches(text, folder),
            Reach::Restriction => {
                let readings = texts_that_could_be_meant(text).zip(places_that_could_be_meant(text, folder, folder));
                let Some((mut readings, places)) = readings else { return true };
                for parts in places {
                    let relative = parts.strip_prefix(&*folded_parts(folder)).map(|rest| rest.join("/"));
                    readings.extend(relative);
                    readings.push(format!("/{}", parts.join("/")));
                }
                // Without a `/` it is as good for the last part alone.
                let last_parts: Vec<String> = match self.text.contains('/') {
                    true => Vec::new(),
                    false => readings.iter().filter_map(|text| text.rsplit('/').next().map(str::to_owned)).collect(),
                };
                readings.iter().chain(&last_parts).any(|text| self.folded.is_match(text))
            }
        }
    }

    fn certainly_matches(&self, text: &str, folder: &Path) -> bool {
        let begin = self.text.split(['*', '?']).next().unwrap_or_default();
        let leaves_folder = is_unclear(text)
            || (text.starts_with('~') && !begin.starts_with('~'))
            || (has_scheme(text) && !has_scheme(begin));
        if leaves_folder {
            return false;
        }
        if self.exact.is_match(text) && (!text.starts_with('/') || begin.starts_with('/')) {
            return true;
        }
        // The same place, written in another way.
        let parts = absolute(text, folder);
        let is_relative = !begin.starts_with('/');
        let other = match parts.strip_prefix(&*parts_of_folder(folder)) {
            Some(rest) if is_relative => rest.join("/"),
            _ if is_relative => return false,
            _ => format!("/{}", parts.join("/")),
        };
        self.exact.is_match(&other)
    }
}

fn regex_of(glob: &str) -> String {
    let mut pattern = String::from("(?s)\\A");
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        let (meaning, taken) = match first {
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^/]*".to_owned(), 1),
            '?' => ("[^/]".to_owned(), 1),
            letter => (regex::escape(letter.encode_utf8(&mut [0; 4])), letter.len_utf8()),
        };
        pattern.push_str(&meaning);
        rest = rest.split_at_checked(taken).map_or("", |(_, rest)| rest);
    }
    pattern.push_str("\\z");
    pattern
}

/// Whether a path is in a folder or is that folder; a relative `folder` starts at `workspace`.
pub(super) fn is_under(path: &str, folder: &str, workspace: &Path, reach: Reach) -> bool {
    let base = normal(&absolute(folder, workspace));
    match reach {
        Reach::Permission => {
            let elsewhere = is_unclear(path) || path.starts_with('~') || has_scheme(path) || path.is_empty();
            !elsewhere && absolute(path, workspace).starts_with(&base)
        }
        Reach::Restriction => {
            let base: Vec<String> = base.iter().map(|part| part.to_lowercase()).collect();
            let places = places_that_could_be_meant(path, workspace, Path::new(&format!("/{}", base.join("/"))));
            places.is_none_or(|places| places.iter().any(|place| place.starts_with(&base)))
        }
    }
}

/// Whether two texts may be the same path in any spelling. The second is from a rule.
pub(super) fn may_be_same(text: &str, wanted: &str, folder: &Path) -> bool {
    let wanted: Vec<String> = normal(&absolute(wanted, folder)).iter().map(|part| part.to_lowercase()).collect();
    let base = Path::new("/").join(wanted.join("/"));
    places_that_could_be_meant(text, folder, &base).is_none_or(|places| places.contains(&wanted))
}

/// Every text that a pattern may be meant for: the text itself, its readings, and its targets. `None` when it may be anything.
pub(super) fn forms(text: &str, folder: &Path) -> Option<Vec<String>> {
    let mut forms = texts_that_could_be_meant(text)?;
    if !is_path_like(text) {
        return Some(forms);
    }
    for text in forms.clone() {
        if leads_through_process(&text) {
            return None;
        }
        let place = normal(&absolute(&text, folder));
        if leads_through_process(&rooted(&place)) {
            return None;
        }
        forms.extend(place.strip_prefix(&*parts_of_folder(folder)).map(|rest| rest.join("/")));
        forms.push(rooted(&place));
    }
    Some(forms)
}

/// Whether a text may be a path: it has a separator and no line breaks.
pub(super) fn is_path_like(text: &str) -> bool {
    text.contains(['/', '\\', '%', '~']) && !text.trim().contains('\n')
}

/// `file:`, `https:`, also the drive of `C:\`.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'))
}

fn rooted(parts: &[String]) -> String {
    format!("/{}", parts.join("/"))
}

/// The parts of a path from the root on, with every `..` still in it.
fn absolute(path: &str, folder: &Path) -> Vec<String> {
    let is_separator = |letter| letter == '/' || (cfg!(windows) && letter == '\\');
    let own = path.split(is_separator).filter(|part| !matches!(*part, "" | ".")).map(str::to_owned);
    let is_absolute = path.starts_with(is_separator) || (cfg!(windows) && has_scheme(path));
    if is_absolute { own.collect() } else { parts_of_folder(folder).into_iter().chain(own).collect() }
}

fn parts_of_folder(folder: &Path) -> Vec<String> {
    let text = folder.to_string_lossy();
    let is_separator = |letter| letter == '/' || (cfg!(windows) && letter == '\\');
    text.split(is_separator).filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
}

fn folded_parts(folder: &Path) -> Vec<String> {
    parts_of_folder(folder).into_iter().map(|part| part.to_lowercase()).collect()
}

/// The parts with each `..` taking away the one before it.
fn normal(parts: &[String]) -> Vec<String> {
    let mut normal: Vec<String> = Vec::with_capacity(parts.len());
    for part in parts {
        if part == ".." {
            normal.pop();
        } else {
            normal.push(part.clone());
        }
    }
    normal
}

/// A text as servers may read it. `None` when there are too many readings.
pub(super) fn texts_that_could_be_meant(text: &str) -> Option<Vec<String>> {
    let mut texts = readings(text)?;
    // The host of `file://host/path` is dropped.
    let addresses = texts.iter().filter_map(|text| text.split_once(':'));
    let paths: Vec<String> = addresses
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"))
        .map(|(_, rest)| {
            let behind_host = |rest: &str| rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/").to_owned();
            rest.strip_prefix("//").map_or_else(|| rest.to_owned(), behind_host)
        })
        .collect();
    texts.extend(paths);
    texts.sort_unstable();
    texts.dedup();
    Some(texts)
}

/// The places that a path may lead to, in lower case. `None` when it may lead anywhere. `~` is an unknown home: any
/// folder above `base`, or the workspace folder.
fn places_that_could_be_meant(path: &str, workspace: &Path, base: &Path) -> Option<Vec<Vec<String>>> {
    let mut places = Vec::new();
    let mut push = |path: &str, start: &Path| {
        let parts: Vec<String> = absolute(path, start).into_iter().map(|part| part.to_lowercase()).collect();
        places.push(normal(&parts));
        // When a part is a link, `..` does not lead back to where it is.
        places.push(parts);
    };
    for text in texts_that_could_be_meant(path)? {
        // The target is unknown.
        if leads_through_process(&text) || leads_through_process(&rooted(&absolute(&text, workspace))) {
            return None;
        }
        push(&text, workspace);
        let Some(rest) = text.strip_prefix('~') else { continue };
        let in_home = rest.find('/').and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        push(in_home.trim_start_matches('/'), workspace);
        base.ancestors().skip(1).for_each(|home| push(in_home.trim_start_matches('/'), home));
    }
    Some(places)
}
