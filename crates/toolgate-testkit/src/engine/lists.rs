//! Pages of the four lists.

use serde_json::{Map, Value, json};

use crate::engine::dispatch::Outcome;
use crate::engine::server::Server;

/// The cursor of [`crate::fault::What::RepeatedCursor`].
pub(crate) const REPEATED_CURSOR: &str = "again";

/// How the cursors of [`crate::fault::What::EndlessPages`] begin.
pub(crate) const ENDLESS_CURSOR: &str = "endless-";

const CURSOR: &str = "cursor-";

/// One page of a list, or the error for a cursor nobody gave out.
pub(crate) fn page(server: &Server, method: &str, params: &Value) -> Outcome {
    let (key, entries) = entries(server, method);
    let Some(start) = start_of(params.get("cursor"), entries.len()) else {
        return Outcome::error(-32602, "this cursor was not given out by this server");
    };
    let size = server.script.page_size.unwrap_or(entries.len()).max(1);
    let rest = entries.len().saturating_sub(start);
    let mut result = Map::new();
    if rest > size {
        result.insert("nextCursor".to_owned(), json!(format!("{CURSOR}{}", start + size)));
    }
    let page: Vec<Value> = entries.into_iter().skip(start).take(size).collect();
    result.insert(key.to_owned(), Value::Array(page));
    Outcome::Result(Value::Object(result))
}

fn entries(server: &Server, method: &str) -> (&'static str, Vec<Value>) {
    let offers = server.offers.lock();
    match method {
        "tools/list" => ("tools", offers.tools.iter().map(|tool| tool.definition.clone()).collect()),
        "prompts/list" => ("prompts", offers.prompts.iter().map(|prompt| prompt.definition.clone()).collect()),
        "resources/list" => ("resources", offers.resources.iter().map(|one| one.definition.clone()).collect()),
        _ => ("resourceTemplates", server.script.templates.clone()),
    }
}

fn start_of(cursor: Option<&Value>, entries: usize) -> Option<usize> {
    let cursor = match cursor {
        None | Some(Value::Null) => return Some(0),
        Some(cursor) => cursor.as_str()?,
    };
    if cursor == REPEATED_CURSOR || cursor.starts_with(ENDLESS_CURSOR) {
        return Some(0);
    }
    let start = cursor.strip_prefix(CURSOR)?.parse().ok()?;
    (start < entries).then_some(start)
}
