//! Which arguments are secret by the schema of their tool: `format: password` or `writeOnly: true`, through properties, items, combinations
//! and references within the schema.

use std::cell::Cell;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::Value;
use toolgate_wire::RawJson;

use crate::limits::{AUDIT_SCHEMA_LOOKUPS_MAX, CHECKED_PARTS_MAX};

/// A schema that says something about secrets has one of these. Some are long, and every call of their tools searches them.
static TELLING: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| ["password", "writeOnly", "\\u"].map(Finder::new));

/// The schema of a tool, when something in it is secret.
#[derive(Debug)]
pub(super) struct SecretSchema {
    schema: Option<Value>,
    lookups: Cell<usize>,
}

/// The schemas that one value has, all that may be meant.
#[derive(Debug)]
pub(super) struct Schemas<'a> {
    home: &'a SecretSchema,
    all: Vec<&'a Value>,
}

impl SecretSchema {
    /// Most schemas say nothing about secrets, and are not even parsed.
    pub(super) fn of(schema: Option<&RawJson>) -> Self {
        let may_say_so = |schema: &&RawJson| {
            let text = schema.as_str();
            TELLING.iter().any(|words| words.find(text.as_bytes()).is_some())
        };
        Self {
            schema: schema.filter(may_say_so).and_then(|schema| schema.value_within(CHECKED_PARTS_MAX).ok()),
            lookups: Cell::new(0),
        }
    }

    /// The schemas of the arguments as a whole.
    pub(super) fn top(&self) -> Schemas<'_> {
        Schemas::of(self, self.schema.as_ref())
    }

    fn may_look(&self) -> bool {
        self.lookups.set(self.lookups.get() + 1);
        self.lookups.get() <= AUDIT_SCHEMA_LOOKUPS_MAX
    }
}

impl<'a> Schemas<'a> {
    /// These, and all that they refer to.
    fn of(home: &'a SecretSchema, begin: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut open: Vec<&Value> = begin.into_iter().collect();
        let mut all: Vec<&Value> = Vec::new();
        while let Some(schema) = open.pop() {
            if !home.may_look() || all.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            all.push(schema);
            for key in ["allOf", "anyOf", "oneOf"] {
                open.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
            }
            for key in ["if", "then", "else"] {
                open.extend(schema.get(key));
            }
            let reference =
                schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
            open.extend(reference.and_then(|pointer| home.schema.as_ref()?.pointer(pointer)));
        }
        Self { home, all }
    }

    /// Whether one of them says that the value is secret.
    pub(super) fn say_secret(&self) -> bool {
        let says = |schema: &&Value| {
            schema.get("format").and_then(Value::as_str) == Some("password")
                || schema.get("writeOnly").and_then(Value::as_bool) == Some(true)
        };
        self.all.iter().any(says)
    }

    /// Those of a member.
    pub(super) fn member(&self, key: &str) -> Self {
        let named = self.all.iter().filter_map(|schema| schema.get("properties")?.get(key));
        // A pattern is not compared with the key: what it may mean is covered as well.
        let patterned = self.all.iter().filter_map(|schema| schema.get("patternProperties")?.as_object());
        let others = self.all.iter().filter_map(|schema| schema.get("additionalProperties"));
        Self::of(self.home, named.chain(patterned.flat_map(|all| all.values())).chain(others))
    }

    /// Those of the elements of a list.
    pub(super) fn elements(&self) -> Self {
        let of_all = self.all.iter().filter_map(|schema| schema.get("items"));
        let of_each = self.all.iter().flat_map(|schema| {
            let lists = ["prefixItems", "items"].into_iter().filter_map(|key| schema.get(key)?.as_array());
            lists.flatten().collect::<Vec<_>>()
        });
        Self::of(self.home, of_all.chain(of_each))
    }
}
