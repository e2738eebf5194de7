//! Where the references of a schema lead: JSON pointers, anchors and identifiers inside of the same document.
//!
//! A part with an identifier of its own is a document in the document: what stands in it refers to it first. Many schemas have identifiers that
//! nobody meant that way; so what is not found there is looked for from the root, which is then no longer certain.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use url::Url;

use super::limits::INDEXED_PARTS_MAX;

/// What identifiers are relative to where nothing else is said. Nothing is ever fetched.
const NOWHERE: &str = "schema://document/";

/// The parts of a document that can be referred to by a name.
#[derive(Debug)]
pub(super) struct References<'s> {
    root: &'s Value,
    /// The identifier of the root, as it is written.
    base: &'s str,
    /// The root, and the parts with an identifier of their own.
    documents: Vec<Document<'s>>,
    by_url: HashMap<Url, usize>,
    /// Parts that refer to something, by their address, with their document, where that is not the root.
    within: HashMap<usize, usize>,
    /// Names as they are written, wherever that is.
    named: HashMap<String, &'s Value>,
    dynamic: HashSet<&'s str>,
    /// Whether a name is given twice: then a reference may mean something else than what is found.
    is_ambiguous: bool,
}

/// A document in the document.
#[derive(Debug)]
struct Document<'s> {
    /// Its identifier, whole; none when it cannot be worked out.
    url: Option<Url>,
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
}

/// What a reference means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'s> {
    pub(super) part: &'s Value,
    /// Whether it can mean nothing else.
    pub(super) is_certain: bool,
}

impl<'s> References<'s> {
    /// Looks through a document once. The order is that of the text, and the first of two equal names counts.
    pub(super) fn of(root: &'s Value) -> Self {
        let base = identifier(root).unwrap_or_default().trim_end_matches('#');
        let url = Url::parse(NOWHERE).ok().and_then(|nowhere| nowhere.join(base).ok());
        let mut references = Self {
            root,
            base,
            by_url: url.iter().map(|url| (url.clone(), 0)).collect(),
            documents: vec![Document { url, root, anchors: HashMap::new() }],
            within: HashMap::new(),
            named: HashMap::new(),
            dynamic: HashSet::new(),
            is_ambiguous: false,
        };
        let mut waiting = vec![(root, 0)];
        let mut parts_left = INDEXED_PARTS_MAX;
        while let Some((part, document)) = waiting.pop() {
            parts_left = parts_left.saturating_sub(1);
            if parts_left == 0 {
                references.is_ambiguous = true;
                break;
            }
            let document = references.enter(part, document);
            let inside =
                |parts: Vec<&'s Value>| parts.into_iter().rev().filter(is_container).map(move |part| (part, document));
            match part {
                Value::Object(map) => waiting.extend(inside(map.values().collect())),
                Value::Array(list) => waiting.extend(inside(list.iter().collect())),
                _ => {}
            }
        }
        references
    }

    /// Takes up a part that stands in a document, and says in which one its own parts stand.
    fn enter(&mut self, part: &'s Value, around: usize) -> usize {
        let is_root = std::ptr::eq(part, self.root);
        let own = identifier(part).filter(|_| !is_root);
        let mut document = around;
        if let Some(own) = own {
            let plain = own.trim_end_matches('#');
            self.named.entry(plain.to_owned()).or_insert(part);
            match own.strip_prefix('#') {
                // Up to draft 7 an anchor is written like this.
                Some(anchor) => self.anchor(around, anchor, part),
                None => document = self.document(around, plain, part),
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = part.get(keyword).and_then(Value::as_str) {
                self.named.entry(format!("#{name}")).or_insert(part);
                self.anchor(document, name, part);
                // Which of several is meant is only known while values are checked.
                self.is_ambiguous |= keyword == "$dynamicAnchor" && !self.dynamic.insert(name);
            }
        }
        if document > 0 && REFERRING.iter().any(|keyword| part.get(*keyword).is_some()) {
            self.within.insert(address(part), document);
        }
        document
    }

    fn document(&mut self, around: usize, identifier: &str, part: &'s Value) -> usize {
        let base = self.documents.get(around).and_then(|document| document.url.as_ref());
        let url = base.and_then(|base| base.join(identifier).ok());
        let number = self.documents.len();
        if let Some(url) = &url {
            let known = *self.by_url.entry(url.clone()).or_insert(number);
            self.is_ambiguous |= known != number;
        }
        self.documents.push(Document { url, root: part, anchors: HashMap::new() });
        number
    }

    fn anchor(&mut self, document: usize, name: &'s str, part: &'s Value) {
        let Some(document) = self.documents.get_mut(document) else { return };
        let known = *document.anchors.entry(name).or_insert(part);
        self.is_ambiguous |= !std::ptr::eq(known, part);
    }

    /// What a reference means that stands in the part `from`. `None` for what is not in the document: nothing is ever fetched.
    pub(super) fn find(&self, reference: &str, from: &'s Value) -> Option<Found<'s>> {
        if let Some(part) = self.within_documents(reference, from) {
            return Some(Found { part, is_certain: !self.is_ambiguous });
        }
        self.below_root(reference).map(|part| Found { part, is_certain: false })
    }

    /// As JSON Schema has it: by the identifier of the nearest document around.
    fn within_documents(&self, reference: &str, from: &'s Value) -> Option<&'s Value> {
        let here = self.documents.get(self.within.get(&address(from)).copied().unwrap_or_default())?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let meant = if document.is_empty() {
            here
        } else {
            let url = here.url.as_ref()?.join(document).ok()?;
            self.documents.get(*self.by_url.get(&url)?)?
        };
        match fragment {
            "" => Some(meant.root),
            pointer if pointer.starts_with('/') => pointed(meant.root, pointer),
            anchor => meant.anchors.get(anchor).copied(),
        }
    }

    /// As if the document had no other in it, by names as they are written.
    fn below_root(&self, reference: &str) -> Option<&'s Value> {
        let local =
            if self.base.is_empty() { reference } else { reference.strip_prefix(self.base).unwrap_or(reference) };
        if matches!(local, "" | "#") {
            return Some(self.root);
        }
        if let Some(pointer) = local.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) {
            return pointed(self.root, pointer);
        }
        if let Some(part) = self.named.get(local.trim_end_matches('#')) {
            return Some(part);
        }
        let (document, fragment) = local.split_once('#')?;
        let part = *self.named.get(document)?;
        if fragment.starts_with('/') { pointed(part, fragment) } else { None }
    }
}

/// Keywords that refer to something.
pub(super) const REFERRING: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Tells the parts of one document apart.
fn address(part: &Value) -> usize {
    std::ptr::from_ref(part).addr()
}

fn pointed<'s>(part: &'s Value, pointer: &str) -> Option<&'s Value> {
    part.pointer(&percent_decoded(pointer)).or_else(|| part.pointer(pointer))
}

fn is_container(value: &&Value) -> bool {
    value.is_object() || value.is_array()
}

/// `$id`, or `id` as draft 4 has it.
fn identifier(part: &Value) -> Option<&str> {
    let draft_4 = || part.get("id").filter(|_| part.get("type").is_some() || part.get("$schema").is_some());
    part.get("$id").or_else(draft_4).and_then(Value::as_str).filter(|id| !id.is_empty())
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::References;

    #[test]
    fn every_kind_of_reference_is_followed() {
        let document = json!({
            "$id": "https://example.com/tool.json",
            "$defs": {
                "plain": {"title": "plain"},
                "a/b": {"title": "slash"},
                "a~b": {"title": "tilde"},
                "a b": {"title": "space"},
                "100%": {"title": "percent"},
                "named": {"$anchor": "here", "title": "anchor"},
                "dynamic": {"$dynamicAnchor": "node", "title": "dynamic"},
                "own": {"$id": "other.json", "title": "own", "$defs": {"in": {"title": "inside"}}},
            },
            "list": [{"title": "first"}],
        });
        let references = References::of(&document);
        let cases = [
            ("#/$defs/plain", Some("plain")),
            ("#/$defs/a~1b", Some("slash")),
            ("#/$defs/a~0b", Some("tilde")),
            ("#/$defs/a%20b", Some("space")),
            ("#/%24defs/plain", Some("plain")),
            ("#/$defs/100%25", Some("percent")),
            ("#/$defs/100%", Some("percent")),
            ("#here", Some("anchor")),
            ("#node", Some("dynamic")),
            ("#/list/0", Some("first")),
            ("other.json", Some("own")),
            ("other.json#/$defs/in", Some("inside")),
            ("https://example.com/tool.json#/$defs/plain", Some("plain")),
            ("https://example.com/another.json", None),
            ("#/$defs/missing", None),
            ("#missing", None),
        ];
        for (reference, expected) in cases {
            let found = references.find(reference, &document).and_then(|found| found.part["title"].as_str());
            assert_eq!(found, expected, "{reference}");
        }
        assert!(std::ptr::eq(references.find("#", &document).unwrap().part, &document));
    }

    #[test]
    fn the_nearest_identifier_counts() {
        let inner = json!({
            "$id": "inner/one.json",
            "$defs": {"x": {"title": "inner x"}, "a": {"$anchor": "here", "title": "inner anchor"}},
            "deeper": {"$id": "two.json", "title": "deeper", "from": {"$ref": "#"}},
            "from": {"$ref": "#"},
        });
        let document = |id: Option<&str>| {
            let mut document = json!({
                "title": "root",
                "$defs": {"x": {"title": "outer x"}, "y": {"title": "outer y"}, "in": inner},
                "other": {"$anchor": "here", "title": "outer anchor"},
            });
            document["$id"] = id.into();
            document
        };
        let cases = [
            ("/$defs/in/from", "#/$defs/x", Some(("inner x", true))),
            ("/$defs/in/from", "#here", Some(("inner anchor", true))),
            ("/$defs/in/from", "two.json", Some(("deeper", true))),
            ("/$defs/in/from", "../inner/one.json#/$defs/x", Some(("inner x", true))),
            ("/$defs/in/deeper/from", "#", Some(("deeper", true))),
            ("/$defs/in/deeper/from", "one.json#here", Some(("inner anchor", true))),
            ("", "#/$defs/x", Some(("outer x", true))),
            ("", "#here", Some(("outer anchor", true))),
            ("", "inner/two.json", Some(("deeper", true))),
            // What is not there is looked for from the root.
            ("/$defs/in/from", "#/$defs/y", Some(("outer y", false))),
            ("", "two.json", Some(("deeper", false))),
            ("/$defs/in/from", "three.json", None),
            ("/$defs/in/from", "#/$defs/z", None),
        ];
        for id in [None, Some("https://example.com/a/tool.json"), Some("tool.json#")] {
            let document = document(id);
            let references = References::of(&document);
            for (place, reference, expected) in cases {
                let found = references.find(reference, document.pointer(place).unwrap());
                let found = found.map(|found| (found.part["title"].as_str().unwrap(), found.is_certain));
                assert_eq!(found, expected, "{id:?} {place} {reference}");
            }
        }
        // No address can be joined to this one.
        let document = document(Some("urn:example:tool"));
        let references = References::of(&document);
        let found = references.find("#/$defs/x", document.pointer("/$defs/in/from").unwrap()).unwrap();
        assert_eq!(found.part["title"], "inner x");
    }

    #[test]
    fn names_that_are_given_twice_are_not_certain() {
        let cases = [
            (json!({"a": {"$anchor": "n"}, "b": {"$anchor": "n"}}), false),
            (json!({"a": {"$id": "x"}, "b": {"$id": "x"}}), false),
            (json!({"a": {"$id": "x", "$dynamicAnchor": "n"}, "b": {"$dynamicAnchor": "n"}}), false),
            (json!({"a": {"$id": "x", "$anchor": "n"}, "b": {"$anchor": "n"}}), true),
        ];
        for (document, expected) in cases {
            let found = References::of(&document).find("#", &document).map(|found| found.is_certain);
            assert_eq!(found, Some(expected), "{document}");
        }
    }
}
