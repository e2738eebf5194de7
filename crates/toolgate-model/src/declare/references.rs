//! Where the references of a schema lead: JSON pointers, anchors and identifiers inside of the same document.

use std::collections::HashMap;

use serde_json::Value;

use super::limits::INDEXED_PARTS_MAX;

/// The parts of a document that can be referred to by a name.
#[derive(Debug)]
pub(super) struct References<'s> {
    root: &'s Value,
    base: &'s str,
    named: HashMap<String, &'s Value>,
    /// Whether a name is given twice, or a part has an identifier of its own: then a reference may mean something else than what is found.
    pub(super) is_ambiguous: bool,
}

impl<'s> References<'s> {
    /// Looks through a document once. The order is that of the text, and the first of two equal names counts.
    pub(super) fn of(root: &'s Value) -> Self {
        let base = identifier(root).unwrap_or_default().trim_end_matches('#');
        let mut references = Self { root, base, named: HashMap::new(), is_ambiguous: false };
        let mut waiting = vec![root];
        let mut parts_left = INDEXED_PARTS_MAX;
        while let Some(part) = waiting.pop() {
            parts_left = parts_left.saturating_sub(1);
            if parts_left == 0 {
                references.is_ambiguous = true;
                break;
            }
            references.enter(part);
            match part {
                Value::Object(map) => waiting.extend(map.values().rev().filter(is_container)),
                Value::Array(list) => waiting.extend(list.iter().rev().filter(is_container)),
                _ => {}
            }
        }
        references
    }

    fn enter(&mut self, part: &'s Value) {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = part.get(keyword).and_then(Value::as_str) {
                self.name(format!("#{name}"), part);
            }
        }
        let is_root = std::ptr::eq(part, self.root);
        if let Some(own) = identifier(part).filter(|_| !is_root) {
            self.is_ambiguous |= !own.starts_with('#');
            self.name(own.trim_end_matches('#').to_owned(), part);
        }
    }

    fn name(&mut self, name: String, part: &'s Value) {
        let known = *self.named.entry(name).or_insert(part);
        self.is_ambiguous |= !std::ptr::eq(known, part);
    }

    /// What a reference means. `None` for what is not in the document: nothing is ever fetched.
    pub(super) fn find(&self, reference: &str) -> Option<&'s Value> {
        let local =
            if self.base.is_empty() { reference } else { reference.strip_prefix(self.base).unwrap_or(reference) };
        if matches!(local, "" | "#") {
            return Some(self.root);
        }
        if let Some(pointer) = local.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) {
            return self.root.pointer(&percent_decoded(pointer)).or_else(|| self.root.pointer(pointer));
        }
        if let Some(part) = self.named.get(local.trim_end_matches('#')) {
            return Some(part);
        }
        let (document, fragment) = local.split_once('#')?;
        let part = *self.named.get(document)?;
        if fragment.starts_with('/') { part.pointer(&percent_decoded(fragment)) } else { None }
    }
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
            let found = references.find(reference).and_then(|part| part["title"].as_str());
            assert_eq!(found, expected, "{reference}");
        }
        assert!(std::ptr::eq(references.find("#").unwrap(), &document));
        assert!(references.is_ambiguous, "a part has an identifier of its own");
    }
}
