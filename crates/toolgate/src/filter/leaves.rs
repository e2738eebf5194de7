//! The texts, numbers and flags in the arguments of a call, each with what its key says about it.

use serde_json::Value;

/// Keys under which tools take the place they are about.
const PLACE_KEYS: [&str; 5] = ["path", "file_path", "dir_path", "uri", "url"];

/// Last words of keys under which further places stand: `output_dir`, `newPath`.
const PLACE_WORDS: [&str; 14] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "uri",
    "uris",
    "url",
    "urls",
];

/// Keys that are such a word as a whole.
const OTHER_PLACE_KEYS: [&str; 12] =
    ["source", "src", "destination", "dest", "dst", "target", "from", "to", "cwd", "root", "location", "href"];

/// One value that is no list and no object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    /// The value.
    pub(super) value: &'a Value,
    /// Whether it stands under a key that is one of those under which tools take the place they are about.
    pub(super) is_well_known_place: bool,
    /// Whether it stands in the argument `command`.
    pub(super) is_command: bool,
    is_other_place: bool,
}

impl Leaf<'_> {
    /// Whether its key says that it is a path or an address.
    pub(super) fn is_place(&self) -> bool {
        self.is_well_known_place || (self.is_other_place && self.value.is_string())
    }
}

/// What stands at a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// A value to compare.
    Leaf(Leaf<'a>),
    /// An object or an empty list, which is not what a pattern can say.
    Structure,
    /// Nothing, in an element of a list whose other elements have the key.
    Missing,
}

/// Everything in the arguments, in order.
pub(super) fn leaves(arguments: &Value) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    gather(Leaf { value: arguments, ..UNDER_NO_KEY }, &mut leaves);
    leaves
}

/// What stands at a key, where `a.b` is the member `b` of `a` and lists are looked at element by element.
pub(super) fn values_at<'a>(arguments: &'a Value, key: &str) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    if let Some(value) = arguments.get(key) {
        add(Leaf { value, ..UNDER_NO_KEY }.under(key), &mut found);
    }
    if key.contains('.') {
        let steps: Vec<&str> = key.split('.').collect();
        descend(arguments, &steps, &mut found);
    }
    if found.iter().all(|found| matches!(found, Found::Missing)) { Vec::new() } else { found }
}

const UNDER_NO_KEY: Leaf<'static> =
    Leaf { value: &Value::Null, is_well_known_place: false, is_command: false, is_other_place: false };

impl<'a> Leaf<'a> {
    /// The same, known to stand under a key.
    fn under(self, key: &str) -> Self {
        Self {
            value: self.value,
            is_well_known_place: self.is_well_known_place || PLACE_KEYS.contains(&key),
            is_command: self.is_command || key == "command",
            is_other_place: self.is_other_place || is_place_key(key),
        }
    }

    fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }
}

fn gather<'a>(at: Leaf<'a>, leaves: &mut Vec<Leaf<'a>>) {
    match at.value {
        Value::Array(elements) => elements.iter().for_each(|element| gather(at.with(element), leaves)),
        Value::Object(members) => members.iter().for_each(|(key, value)| gather(at.with(value).under(key), leaves)),
        _ => leaves.push(at),
    }
}

fn descend<'a>(value: &'a Value, steps: &[&str], found: &mut Vec<Found<'a>>) {
    let Some((step, below)) = steps.split_first() else { return };
    if let Value::Array(elements) = value {
        for element in elements {
            let before = found.len();
            descend(element, steps, found);
            if found.len() == before {
                found.push(Found::Missing);
            }
        }
        return;
    }
    match value.get(step) {
        Some(value) if below.is_empty() => add(Leaf { value, ..UNDER_NO_KEY }.under(step), found),
        Some(value) => descend(value, below, found),
        None => {}
    }
}

fn add<'a>(at: Leaf<'a>, found: &mut Vec<Found<'a>>) {
    match at.value {
        Value::Array(elements) if !elements.is_empty() => {
            elements.iter().for_each(|element| add(at.with(element), found))
        }
        Value::Array(_) => found.push(Found::Structure),
        Value::Object(_) => {
            found.push(Found::Structure);
            let mut inside = Vec::new();
            gather(at, &mut inside);
            found.extend(inside.into_iter().map(Found::Leaf));
        }
        _ => found.push(Found::Leaf(at)),
    }
}

fn is_place_key(key: &str) -> bool {
    OTHER_PLACE_KEYS.contains(&key.to_lowercase().as_str()) || PLACE_WORDS.contains(&last_word(key).as_str())
}

/// `newPath`, `new_path` and `new-path` all end with `path`.
fn last_word(key: &str) -> String {
    let word = key.rsplit(['_', '-', '.', ' ']).next().unwrap_or_default();
    let is_shouted = !word.chars().any(char::is_lowercase);
    let start = word.char_indices().rev().find(|(_, letter)| letter.is_uppercase()).map(|(at, _)| at);
    let last = start.filter(|_| !is_shouted).and_then(|at| word.get(at..)).unwrap_or(word);
    last.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_places_are_known_by_their_last_word() {
        let cases = [
            ("new_path", true),
            ("newPath", true),
            ("PATH", true),
            ("output-dir", true),
            ("destination", true),
            ("To", true),
            ("profile", false),
            ("content", false),
            ("pathology", false),
            ("", false),
        ];
        for (key, expected) in cases {
            assert_eq!(is_place_key(key), expected, "{key}");
        }
    }
}
