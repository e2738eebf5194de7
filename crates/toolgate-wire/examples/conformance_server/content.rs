//! Pieces of content that several tools and prompts give back.

use serde_json::{Value, json};
use toolgate_wire::server::Reply;

/// A picture of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A sound without samples.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// One block of text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// The picture.
pub(crate) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

/// A resource that travels inside.
pub(crate) fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}

/// The result of a tool that says one thing.
pub(crate) fn said(message: impl Into<String>) -> Reply {
    json!({"content": [text(message)]}).into()
}

/// The result of a tool that failed.
pub(crate) fn failed(message: &str) -> Value {
    json!({"content": [text(message)], "isError": true})
}
