//! `read_result`: the rest of a result that was too long to be shown whole, read in parts.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolgate::call::FunctionDeclaration;
use toolgate::results::{ResultMatches, ResultSlice, ResultStore, SliceContent};

use crate::limits::{READ_RESULT_BYTES, READ_RESULT_BYTES_MAX, READ_RESULT_MATCHES_MAX};
use crate::own_function::{OwnAnswer, OwnFunction, Within};

const NAME: &str = "read_result";

const DESCRIPTION: &str = "Reads a part of a tool result that was too long to be shown whole. The result names its handle, \
    such as `sha256:…`. Give `offset` and `limit` in bytes to read on, or `find` to look for a text.";

/// Reads kept results.
#[derive(Debug, Clone)]
pub(crate) struct ReadResult {
    store: Arc<ResultStore>,
}

impl ReadResult {
    pub(crate) const fn new(store: Arc<ResultStore>) -> Self {
        Self { store }
    }
}

impl OwnFunction for ReadResult {
    fn name(&self) -> &str {
        NAME
    }

    fn declaration(&self) -> FunctionDeclaration {
        let parameters = json!({
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "What the result is kept as, such as `sha256:0123…`"},
                "offset": {"type": "integer", "description": "The byte to begin at; 0 when left out"},
                "limit": {"type": "integer", "description": "How many bytes to read"},
                "find": {"type": "string", "description": "A text to look for; shows its places instead of a part"},
            },
            "required": ["handle"],
        });
        FunctionDeclaration {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: parameters.into(),
        }
    }

    fn answer<'a>(&'a self, _within: Within<'a>, arguments: Map<String, Value>) -> BoxFuture<'a, OwnAnswer> {
        let store = self.store.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || read(&store, &arguments));
            read.await.unwrap_or_else(|gone| OwnAnswer::Failed(format!("the result could not be read: {gone}")))
        })
    }
}

fn read(store: &ResultStore, arguments: &Map<String, Value>) -> OwnAnswer {
    let Some(handle) = arguments.get("handle").and_then(Value::as_str) else {
        return OwnAnswer::Failed("`handle` is missing: write what the result is kept as, `sha256:…`".to_owned());
    };
    // Some models write numbers as texts, and some as fractions.
    let number = |key: &str| arguments.get(key).and_then(whole);
    let found = match arguments.get("find").and_then(Value::as_str) {
        Some(needle) => store.find(handle, needle, READ_RESULT_MATCHES_MAX).map(|found| matches(&found)),
        None => {
            let limit = number("limit").and_then(|limit| usize::try_from(limit).ok());
            let limit = limit.unwrap_or(READ_RESULT_BYTES).clamp(1, READ_RESULT_BYTES_MAX);
            store.read(handle, number("offset").unwrap_or_default(), limit).map(|part| slice(&part))
        }
    };
    match found {
        Ok(text) => OwnAnswer::Quoted(text),
        Err(error) => {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            OwnAnswer::Failed(format!("{error}{hint}"))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates, as it should")]
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|number| number as u64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn slice(part: &ResultSlice) -> String {
    let text = match &part.content {
        SliceContent::Text(text) => text.clone(),
        SliceContent::Bytes(bytes) => format!("{} bytes that are not text", bytes.len()),
    };
    let rest = match part.next {
        Some(next) => format!("[{} bytes in all; read on at offset {next}]", part.total),
        None => format!("[{} bytes in all; this is the end]", part.total),
    };
    format!("{text}\n{rest}")
}

fn matches(found: &ResultMatches) -> String {
    let mut text = format!("[{} places, {} shown]\n", found.total, found.matches.len());
    for place in &found.matches {
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "line {}, offset {}: {}", place.line, place.offset, place.excerpt);
    }
    text
}
