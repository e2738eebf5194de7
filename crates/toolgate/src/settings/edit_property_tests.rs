//! Edits of texts nobody wrote: whatever stands around an entry, an edit changes that entry and nothing else.

#![expect(clippy::string_slice, reason = "a test that cuts a character in two is a failed test")]

use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Tree};
use jsonc_parser::common::Ranged as _;
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Map, Value, json};

use super::{Json, has, remove, set};
use crate::settings::syntax;

/// Keys as they are written, few enough to meet again.
const KEYS: [&str; 7] = ["a", "b", "mcpServers", "é 漢", "\\u0061", "x\\ny", ""];

/// The same keys as they are meant.
const MEANT: [&str; 7] = ["a", "b", "mcpServers", "é 漢", "new", "x\ny", ""];

fn gap() -> BoxedStrategy<String> {
    let piece = prop_oneof![
        4 => select(&[" ", "", "  ", "\t"][..]).prop_map(str::to_owned),
        2 => select(&["\n", "\r\n", "\n  ", "\r\n\t", "\n\n    ", "\r"][..]).prop_map(str::to_owned),
        1 => any::<u16>().prop_map(|number| format!("// {number} \"a\": {{\n")),
        1 => any::<u16>().prop_map(|number| format!("//{number} é\r\n  ")),
        1 => any::<u16>().prop_map(|number| format!("/* {number} */")),
        1 => any::<u16>().prop_map(|number| format!("/* {number}\n // , */")),
        1 => Just("\u{3000}".to_owned()),
    ];
    vec(piece, 0..4).prop_map(|pieces| pieces.concat()).boxed()
}

fn value() -> BoxedStrategy<String> {
    let leaf = select(
        &["1", "-2.5e3", "true", "null", "\"\"", "\"/* no */ // \\\" , }\"", "\"${TOKEN:-x}\"", "\"漢\"", "{}", "[]"][..],
    );
    leaf.prop_map(str::to_owned)
        .prop_recursive(3, 40, 5, |inner| {
            let list = (gap(), vec((inner.clone(), gap()), 0..3)).prop_map(|(first, elements)| {
                let elements: Vec<String> =
                    elements.into_iter().map(|(value, after)| format!("{value}{after}")).collect();
                format!("[{first}{}]", elements.join(", "))
            });
            prop_oneof![1 => list, 4 => object(inner)]
        })
        .boxed()
}

fn object(inner: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    let member = (gap(), select(&KEYS[..]), gap(), gap(), inner, gap())
        .prop_map(|(before, key, left, right, value, after)| format!("{before}\"{key}\"{left}:{right}{value}{after}"));
    let end = (any::<bool>(), gap());
    (gap(), vec(member, 0..5), end)
        .prop_map(|(first, members, (has_comma, last))| match members.len() {
            0 => format!("{{{first}}}"),
            _ => format!("{{{}{}{last}}}", members.join(","), if has_comma { "," } else { "" }),
        })
        .boxed()
}

fn document() -> BoxedStrategy<String> {
    let mark = select(&["", "", "", "\u{feff}"][..]);
    let body = prop_oneof![12 => object(value()), 1 => Just(String::new())];
    // A last comment needs no line break.
    (mark, gap(), body, gap()).prop_map(|(mark, before, body, after)| format!("{mark}{before}{body}{after}")).boxed()
}

fn path() -> BoxedStrategy<Vec<&'static str>> {
    vec(select(&MEANT[..]), 1..4).boxed()
}

fn new_value() -> BoxedStrategy<Json> {
    let server = json!({"command": "npx", "args": ["-y", "$PKG"], "env": {"K": "é\u{7f}\n"}});
    select(vec![json!(null), json!(7), json!("text"), json!({}), json!([]), server]).prop_map(Json::from).boxed()
}

/// What a text means, the last of equal keys counting. Numbers stay as they are written.
fn read(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    syntax::parse(text).unwrap().as_ref().map(meant)
}

fn meant(tree: &Tree<'_>) -> Value {
    match tree {
        Tree::NullKeyword(_) => Value::Null,
        Tree::BooleanLit(truth) => json!(truth.value),
        Tree::NumberLit(number) => json!({"number": number.value}),
        Tree::StringLit(text) => json!(text.value),
        Tree::Array(list) => list.elements.iter().map(meant).collect(),
        Tree::Object(object) => {
            object.properties.iter().map(|one| (one.name.as_str().to_owned(), meant(&one.value))).collect()
        }
    }
}

fn as_read(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => json!(truth),
        Json::Number(number) => json!({"number": number.to_string()}),
        Json::Text(text) => json!(text),
        Json::List(list) => list.iter().map(as_read).collect(),
        Json::Object(members) => members.iter().map(|(key, value)| (key.clone(), as_read(value))).collect(),
    }
}

/// The model of `set`; `None` when something on the way is no object.
fn model_set(root: &mut Value, path: &[&str], value: Value) -> Option<()> {
    let Some((key, rest)) = path.split_first() else {
        *root = value;
        return Some(());
    };
    if root.is_null() {
        *root = Value::Object(Map::new());
    }
    // A number is an object here, but none in the text.
    let members = root.as_object_mut().filter(|members| !members.contains_key("number"))?;
    model_set(members.entry((*key).to_owned()).or_insert(Value::Null), rest, value)
}

/// The comments of a text, found without the parser.
fn comments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if rest.starts_with('"') {
            let mut inside = rest.char_indices().skip(1);
            loop {
                match inside.next().unwrap() {
                    (_, '\\') => drop(inside.next()),
                    (end, '"') => break end + 1,
                    _ => (),
                }
            }
        } else {
            rest.chars().next().unwrap().len_utf8()
        };
        if rest.starts_with("//") || rest.starts_with("/*") {
            found.push(&rest[..length]);
        }
        at += length;
    }
    found
}

/// The parts of two texts that differ.
fn difference<'t>(old: &'t str, new: &'t str) -> (Range<usize>, &'t str) {
    let shorter = old.len().min(new.len());
    let mut before = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    while !old.is_char_boundary(before) || !new.is_char_boundary(before) {
        before -= 1;
    }
    let tail = old.bytes().rev().zip(new.bytes().rev()).take(shorter - before);
    let mut after = tail.take_while(|(one, other)| one == other).count();
    while !old.is_char_boundary(old.len() - after) || !new.is_char_boundary(new.len() - after) {
        after -= 1;
    }
    (before..old.len() - after, &new[before..new.len() - after])
}

/// The object a path leads to, of equal keys the last, and the object around it.
fn find<'v, 't>(root: &'v Object<'t>, path: &[&str]) -> Option<(&'v Object<'t>, Range<usize>)> {
    let (key, rest) = path.split_first()?;
    let member = root.properties.iter().rfind(|member| member.name.as_str() == *key)?;
    if rest.is_empty() {
        let range = member.value.range();
        return Some((root, range.start..range.end));
    }
    find(member.value.as_object()?, rest)
}

/// A text whose meaning is of no interest, so that only the shape of what is left counts.
fn is_trivia(text: &str) -> bool {
    syntax::parse(text).is_ok_and(|tree| tree.is_none())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn setting_changes_one_entry(text in document(), path in path(), value in new_value()) {
        let mut expected = read(&text).unwrap_or_else(|| json!({}));
        let is_possible = model_set(&mut expected, &path, as_read(&value)).is_some();
        let edited = set(&text, &path, &value);
        prop_assert_eq!(edited.is_ok(), is_possible);
        let Ok(edited) = edited else { return Ok(()) };
        prop_assert_eq!(read(&edited), Some(expected));
        let Some(Tree::Object(root)) = syntax::parse(text.trim_start_matches('\u{feff}')).unwrap() else { return Ok(()) };
        let skipped = text.len() - text.trim_start_matches('\u{feff}').len();
        let (old, new) = difference(&text, &edited);
        if let Some((_, range)) = find(&root, &path) {
            let (before, after) = (&text[..range.start + skipped], &text[range.end + skipped..]);
            prop_assert!(edited.starts_with(before) && edited.ends_with(after), "only the value:\n{}", edited);
        } else if comments(&text) == comments(&edited) && text.get(old.clone()).is_some_and(is_trivia) {
            let kept = text[old].trim();
            prop_assert!(new.contains(kept), "what stands between comma and entry is kept:\n{}", edited);
        } else {
            // A `null` on the way was replaced.
            prop_assert_eq!("null".find(&text[old.clone()]).is_some(), true, "{:?} in\n{}", &text[old], edited);
        }
    }

    #[test]
    fn removing_changes_one_entry(text in document(), path in path()) {
        let there = has(&text, &path);
        let removed = remove(&text, &path);
        prop_assert_eq!(removed.is_ok(), there.is_ok());
        let Ok(removed) = removed else { return Ok(()) };
        prop_assert_eq!(removed.is_some(), there.unwrap());
        let Some(removed) = removed else { return Ok(()) };
        let (parents, key) = (&path[..path.len() - 1], path[path.len() - 1]);
        let mut expected = read(&text).unwrap();
        let parent = parents.iter().fold(&mut expected, |value, key| &mut value[*key]);
        parent.as_object_mut().unwrap().remove(key);
        prop_assert_eq!(read(&removed), Some(expected));
        // Whatever else stands in the object is there as it was, and nothing outside of it has changed.
        let body = text.trim_start_matches('\u{feff}');
        let Some(Tree::Object(root)) = syntax::parse(body).unwrap() else { unreachable!("something was removed") };
        let (object, _) = find(&root, &path).unwrap();
        let (old, _) = difference(body, removed.trim_start_matches('\u{feff}'));
        prop_assert!(old.start > object.range.start && old.end < object.range.end);
        let mut from = 0;
        for member in object.properties.iter().filter(|member| member.name.as_str() != key) {
            let member = &body[member.range.start..member.range.end];
            let at = removed[from..].find(member);
            prop_assert!(at.is_some(), "{} is missing in\n{}", member, removed);
            from += at.unwrap() + member.len();
        }
        // Comments on lines with other members are not its own; those inside of it are.
        let gone = object.properties.iter().filter(|member| member.name.as_str() == key);
        let own: usize = gone.map(|member| comments(&body[member.range.start..member.range.end]).len()).sum();
        let lost = comments(&text).len() - comments(&removed).len();
        prop_assert!(lost >= own);
        prop_assert!(lost == own || body[old].contains('\n'), "a comment was lost that shares a line:\n{}", removed);
        prop_assert!(is_subsequence(&removed, &text));
    }

    #[test]
    fn what_was_added_can_be_taken_back(text in document(), path in path(), value in new_value()) {
        let Ok(edited) = set(&text, &path, &value) else { return Ok(()) };
        let missing = (1..=path.len()).map(|length| &path[..length]).find(|path| !has(&text, path).unwrap());
        let Some(missing) = missing else { return Ok(()) };
        let original = read(&text).unwrap_or_else(|| json!({}));
        let above = missing[..missing.len() - 1].iter().fold(&original, |value, key| &value[*key]);
        if above.is_null() {
            return Ok(());
        }
        let back = remove(&edited, missing).unwrap().unwrap();
        prop_assert_eq!(read(&back), Some(original.clone()), "{}", edited);
        prop_assert_eq!(comments(&back), comments(&text), "{}\nback:\n{}", edited, back);
    }

    #[test]
    fn no_text_makes_it_stumble(text in "[\\[\\]{},:\"/*a1é\\\\ \n\r\u{feff}\0]{0,60}", path in path(), cut in any::<u16>(), document in document()) {
        let mut half = usize::from(cut) % (document.len() + 1);
        while !document.is_char_boundary(half) {
            half -= 1;
        }
        for text in [text.as_str(), &document[..half], &document[half..]] {
            let is_parsed = syntax::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).is_ok();
            let results = [set(text, &path, &Json::Null).is_ok(), remove(text, &path).is_ok()];
            prop_assert!(is_parsed || results == [false, false], "{:?}", text);
        }
    }
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut whole = whole.bytes();
    part.bytes().all(|byte| whole.any(|other| other == byte))
}
