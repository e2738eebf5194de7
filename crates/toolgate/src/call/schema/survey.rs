//! A schema seen from above, before it is compiled: which schemas it holds, which of them lead to which, and what cannot be checked.
//!
//! The survey follows the keywords that hold schemas and resolves references within the document. It refuses what would leave the
//! document, run in circles, or be too much; [`cost`](super::cost) tells from the same picture how long checking takes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::reference::pointer_of;
use super::violation::quoted;
use crate::limits::{COMPILE_NESTING_MAX, SCHEMA_NODES_MAX, SCHEMA_PATTERNS_MAX};

/// Place of a schema in [`Survey::nodes`].
pub(super) type NodeIndex = usize;

/// The picture of one schema document. Node 0 is the document itself.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) nodes: Vec<Node>,
    /// Whether it uses `items` as older drafts do.
    pub(super) has_item_lists: bool,
    /// Members to take out before it is compiled, as pointers: the ones that would change what the rest means, and refused patterns.
    pub(super) removals: Vec<String>,
    /// References that name the document by its own address, and what they are within it.
    pub(super) local_references: Vec<(String, String)>,
    by_pointer: HashMap<String, NodeIndex>,
    anchors: HashMap<String, Vec<NodeIndex>>,
    open_references: Vec<(NodeIndex, String)>,
    /// All regular expressions.
    pub(super) patterns: HashSet<String>,
    address: Option<String>,
    nobody: Node,
}

/// One schema and where it leads.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) pointer: String,
    /// Schemas for the same value that stand within this one.
    pub(super) in_place: Vec<NodeIndex>,
    /// Schemas for the same value that stand elsewhere.
    pub(super) references: Vec<NodeIndex>,
    /// Schemas for the elements of the value, if it is an array.
    pub(super) elements: Parts,
    /// Schemas for the members of the value, if it is an object.
    pub(super) members: Parts,
    /// Those of all these where a laxer schema makes this one stricter or changes its choice.
    pub(super) delicate: Vec<NodeIndex>,
    /// Comparisons that one visit takes.
    pub(super) comparisons: u64,
    /// Whether it looks at its own outcome again (`unevaluatedProperties`, `unevaluatedItems`).
    pub(super) looks_back: bool,
    /// Whether it has a `pattern`.
    pub(super) has_pattern: bool,
}

/// Schemas for the parts of a value.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// At most one of these applies to the same part.
    pub(super) either: Vec<NodeIndex>,
    /// These may all apply to the same part.
    pub(super) each: Vec<NodeIndex>,
}

impl Node {
    /// All schemas for the same value.
    pub(super) fn same_value(&self) -> impl Iterator<Item = &NodeIndex> {
        self.in_place.iter().chain(&self.references)
    }

    /// All schemas for parts of the value.
    fn parts(&self) -> impl Iterator<Item = &NodeIndex> {
        [&self.elements, &self.members].into_iter().flat_map(|parts| parts.either.iter().chain(&parts.each))
    }
}

/// Whom the schemas of a keyword apply to.
#[derive(Clone, Copy)]
enum Applies {
    /// To the same value.
    InPlace,
    /// To the same value, and a laxer one changes what the whole means.
    Delicately,
    EitherElement,
    EachElement,
    EachElementDelicately,
    EitherMember,
    EachMember,
    /// Only where they are referred to.
    Nowhere,
}

const KEYWORDS: [(&str, Applies); 22] = [
    ("allOf", Applies::InPlace),
    ("anyOf", Applies::InPlace),
    ("oneOf", Applies::Delicately),
    ("not", Applies::Delicately),
    ("if", Applies::Delicately),
    ("then", Applies::InPlace),
    ("else", Applies::InPlace),
    ("dependentSchemas", Applies::InPlace),
    ("dependencies", Applies::InPlace),
    ("properties", Applies::EitherMember),
    ("additionalProperties", Applies::EitherMember),
    ("patternProperties", Applies::EachMember),
    ("propertyNames", Applies::EachMember),
    ("unevaluatedProperties", Applies::EachMember),
    ("items", Applies::EitherElement),
    ("prefixItems", Applies::EitherElement),
    ("additionalItems", Applies::EitherElement),
    ("contains", Applies::EachElementDelicately),
    ("unevaluatedItems", Applies::EachElement),
    ("$defs", Applies::Nowhere),
    ("definitions", Applies::Nowhere),
    ("contentSchema", Applies::Nowhere),
];

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 6] = ["dependentSchemas", "dependencies", "properties", "patternProperties", "$defs", "definitions"];

impl Survey {
    /// Looks at a document; the error says why it cannot be checked against.
    pub(super) fn of(document: &Value) -> Result<Self, String> {
        let address = document.get("$id").or_else(|| document.get("id")).and_then(Value::as_str).map(str::to_owned);
        let mut survey = Self { address, ..Self::default() };
        survey.visit(document, "")?;
        while let Some((from, reference)) = survey.open_references.pop() {
            let targets = survey.resolve(document, &reference)?;
            survey.node(from).references.extend(targets);
        }
        if survey.compile_nesting() > COMPILE_NESTING_MAX {
            return Err(format!("more than {COMPILE_NESTING_MAX} schemas stand within one another or refer on"));
        }
        Ok(survey)
    }

    /// Adds the schema at `pointer` and all it holds.
    fn visit(&mut self, schema: &Value, pointer: &str) -> Result<NodeIndex, String> {
        let index = self.nodes.len();
        if index >= SCHEMA_NODES_MAX {
            return Err(format!("it holds more than {SCHEMA_NODES_MAX} schemas"));
        }
        self.nodes.push(Node { pointer: pointer.to_owned(), ..Node::default() });
        self.by_pointer.insert(pointer.to_owned(), index);
        let Value::Object(members) = schema else { return Ok(index) };
        self.look(index, members)?;
        for (keyword, applies) in KEYWORDS {
            let Some(held) = members.get(keyword) else { continue };
            self.visit_held(index, (keyword, applies), held, &format!("{pointer}/{keyword}"))?;
        }
        Ok(index)
    }

    /// A node that was added; a stand-in that nobody sees for one that was not.
    fn node(&mut self, index: NodeIndex) -> &mut Node {
        self.nodes.get_mut(index).unwrap_or(&mut self.nobody)
    }

    fn visit_held(
        &mut self,
        index: NodeIndex,
        (keyword, applies): (&str, Applies),
        held: &Value,
        pointer: &str,
    ) -> Result<(), String> {
        let mut found = Vec::new();
        match held {
            Value::Object(named) if MAPS.contains(&keyword) => {
                for (name, schema) in named.iter().filter(|(_, schema)| schema.is_object() || schema.is_boolean()) {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    found.push(self.visit(schema, &format!("{pointer}/{name}"))?);
                }
            }
            Value::Array(listed) => {
                self.has_item_lists |= keyword == "items";
                for (place, schema) in listed.iter().enumerate() {
                    found.push(self.visit(schema, &format!("{pointer}/{place}"))?);
                }
            }
            single => found.push(self.visit(single, pointer)?),
        }
        let node = self.node(index);
        if matches!(applies, Applies::Delicately | Applies::EachElementDelicately) {
            node.delicate.extend(&found);
        }
        match applies {
            Applies::InPlace | Applies::Delicately => node.in_place.extend(found),
            Applies::EitherElement => node.elements.either.extend(found),
            Applies::EachElement | Applies::EachElementDelicately => node.elements.each.extend(found),
            Applies::EitherMember => node.members.either.extend(found),
            Applies::EachMember => node.members.each.extend(found),
            Applies::Nowhere => {}
        }
        Ok(())
    }

    /// Takes note of the members of a schema that hold no schemas.
    fn look(&mut self, index: NodeIndex, members: &Map<String, Value>) -> Result<(), String> {
        let is_root = index == 0;
        let text = |keyword: &str| members.get(keyword).and_then(Value::as_str);
        let size = |keyword: &str| match members.get(keyword) {
            Some(Value::Array(listed)) => listed.len() as u64,
            Some(Value::Object(named)) => named.len() as u64,
            _ => 0,
        };
        let compared = ["enum", "required", "properties", "patternProperties", "dependentRequired", "dependencies"];
        let comparisons: u64 = compared.into_iter().map(size).sum();
        let pointer = self.node(index).pointer.clone();
        for keyword in ["$id", "$schema"] {
            let Some(address) = text(keyword) else { continue };
            if let Some(anchor) = address.strip_prefix('#').filter(|_| keyword == "$id") {
                self.anchors.entry(anchor.to_owned()).or_default().push(index);
                continue; // An older way to name a place within the document.
            }
            if !is_root && keyword == "$id" {
                return Err(format!("it embeds a schema with an address of its own ({})", quoted(address)));
            }
            self.removals.push(format!("{pointer}/{keyword}"));
        }
        if is_root && text("id").is_some() {
            self.removals.push("/id".to_owned()); // As the oldest draft spells it; to the others it says nothing.
        }
        for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            self.anchors.entry(anchor.to_owned()).or_default().push(index);
        }
        if members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.anchors.entry(String::new()).or_default().push(index);
        }
        for reference in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(target) = text(reference) else { continue };
            let local = self.localise(target)?;
            if local != target {
                self.local_references.push((format!("{pointer}/{reference}"), local.clone()));
            }
            self.open_references.push((index, local));
        }
        self.note_patterns(index, members)?;
        let node = self.node(index);
        node.comparisons = comparisons;
        node.looks_back = members.contains_key("unevaluatedProperties") || members.contains_key("unevaluatedItems");
        Ok(())
    }

    fn note_patterns(&mut self, index: NodeIndex, members: &Map<String, Value>) -> Result<(), String> {
        let pattern = members.get("pattern").and_then(Value::as_str);
        self.patterns.extend(pattern.map(str::to_owned));
        self.node(index).has_pattern = pattern.is_some();
        if let Some(Value::Object(named)) = members.get("patternProperties") {
            self.patterns.extend(named.keys().cloned());
        }
        if self.patterns.len() > SCHEMA_PATTERNS_MAX {
            return Err(format!("it has more than {SCHEMA_PATTERNS_MAX} regular expressions"));
        }
        Ok(())
    }

    /// A reference as a fragment of this document; an error when it leaves it.
    fn localise(&self, reference: &str) -> Result<String, String> {
        let own = self.address.as_deref().map(|address| address.trim_end_matches('#'));
        let local = own.filter(|own| !own.is_empty()).and_then(|own| reference.strip_prefix(own)).unwrap_or(reference);
        if local.is_empty() || local.starts_with('#') {
            return Ok(if local.is_empty() { "#".to_owned() } else { local.to_owned() });
        }
        Err(format!("it refers to {}, which is not part of it; nothing is fetched", quoted(reference)))
    }

    fn resolve(&mut self, document: &Value, reference: &str) -> Result<Vec<NodeIndex>, String> {
        let fragment = reference.strip_prefix('#').unwrap_or(reference);
        let missing = || format!("it refers to {}, which does not exist", quoted(reference));
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(fragment).cloned().ok_or_else(missing);
        }
        let pointer = pointer_of(fragment);
        let mut targets =
            if pointer.is_empty() { self.anchors.get("").cloned().unwrap_or_default() } else { Vec::new() };
        targets.push(match self.by_pointer.get(&pointer) {
            Some(known) => *known,
            None => self.visit(document.pointer(&pointer).ok_or_else(missing)?, &pointer)?,
        });
        Ok(targets)
    }

    /// How many schemas the compiler enters one within the other. It follows references so many times before it puts one off.
    fn compile_nesting(&self) -> usize {
        const REFERENCES_FOLLOWED: usize = 8;
        let mut before = vec![0; self.nodes.len()];
        for _ in 0..=REFERENCES_FOLLOWED {
            let mut nesting = vec![0; self.nodes.len()];
            // What stands within a schema was added after it.
            for (index, node) in self.nodes.iter().enumerate().rev() {
                let within = node.in_place.iter().chain(node.parts()).filter_map(|next| nesting.get(*next));
                let elsewhere = node.references.iter().filter_map(|next| before.get(*next));
                let below = within.chain(elsewhere).max().copied().unwrap_or(0);
                if let Some(own) = nesting.get_mut(index) {
                    *own = below + 1;
                }
            }
            before = nesting;
        }
        before.into_iter().max().unwrap_or(0)
    }

    /// Nodes that can be reached from the root, and whether the way leads over a delicate step.
    pub(super) fn reachable(&self) -> Vec<Option<Sensitivity>> {
        let mut found = vec![None; self.nodes.len()];
        let mut open = vec![(0, Sensitivity::Plain)];
        while let Some((index, sensitivity)) = open.pop() {
            let (Some(known), Some(node)) = (found.get_mut(index), self.nodes.get(index)) else { continue };
            if known.is_some_and(|known| known >= sensitivity) {
                continue;
            }
            *known = Some(sensitivity);
            let next = node.same_value().chain(node.parts());
            open.extend(next.map(|next| (*next, sensitivity)));
            open.extend(node.delicate.iter().map(|next| (*next, Sensitivity::Delicate)));
        }
        found
    }
}

/// Whether a schema may be made laxer without making the whole stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sensitivity {
    Plain,
    Delicate,
}
