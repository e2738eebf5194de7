//! Content blocks: what results and messages are made of.

use serde_json::value::RawValue;

use super::fields::{Fields, optional, required};
use super::{Entry, ResourceContents};
use crate::raw::RawJson;

/// One block, with the JSON it was read from.
#[derive(Debug, Clone)]
pub struct Block {
    /// What it holds.
    pub content: Content,
    /// All of it.
    pub raw: RawJson,
}

/// What a block holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// An image in Base64.
    Image {
        /// The bytes in Base64.
        data: String,
        /// The media type.
        mime_type: String,
    },
    /// Sound in Base64.
    Audio {
        /// The bytes in Base64.
        data: String,
        /// The media type.
        mime_type: String,
    },
    /// A resource that can be read.
    Link {
        /// Where it is.
        uri: String,
        /// Its name.
        name: Option<String>,
    },
    /// A resource that came along.
    Resource(ResourceContents),
    /// A kind that we do not know, or one of a known kind that cannot be read; the reason says which.
    Unknown {
        /// What the block calls itself.
        kind: String,
        /// Why it is unknown.
        reason: String,
    },
}

impl Block {
    /// Reads a block; what cannot be read becomes [`Content::Unknown`], never an error.
    pub fn read(raw: RawJson) -> Self {
        let kind = raw.member("type").and_then(|kind| kind.read().ok()).unwrap_or_default();
        let content = read_content(&raw).unwrap_or_else(|reason| Content::Unknown { kind, reason });
        Self { content, raw }
    }
}

fn read_content(raw: &RawJson) -> Result<Content, String> {
    let fields = Fields::of(raw)?;
    let kind = required("type", fields.kind)?;
    let text = |field: &str, value: Option<&RawValue>| {
        optional(value).ok_or_else(|| format!("`{field}` is missing or not a string"))
    };
    Ok(match kind.as_str() {
        "text" => Content::Text(text("text", fields.text)?),
        "image" => Content::Image { data: text("data", fields.data)?, mime_type: text("mimeType", fields.mime_type)? },
        "audio" => Content::Audio { data: text("data", fields.data)?, mime_type: text("mimeType", fields.mime_type)? },
        "resource_link" => Content::Link { uri: required("uri", fields.uri)?, name: optional(fields.name) },
        "resource" => {
            let resource = fields.resource.ok_or("`resource` is missing")?;
            Content::Resource(ResourceContents::read(raw.share(resource))?)
        }
        _ => return Err("a kind that is not known here".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_kinds_are_read_and_others_survive() {
        let cases = [
            (r#"{"type":"text","text":""}"#, "Text"),
            (r#"{"type":"text"}"#, "Unknown"),
            (r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#, "Image"),
            (r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#, "Audio"),
            (r#"{"type":"resource_link","uri":"a:b"}"#, "Link"),
            (r#"{"type":"resource","resource":{"uri":"a:b","text":"t"}}"#, "Resource"),
            (r#"{"type":"resource","resource":{"uri":"a:b"}}"#, "Unknown"),
            (r#"{"type":"hologram","depth":3.0}"#, "Unknown"),
            ("null", "Unknown"),
        ];
        for (text, expected) in cases {
            let block = Block::read(RawJson::from_bytes(text).unwrap());
            assert!(format!("{:?}", block.content).starts_with(expected), "{text}: {:?}", block.content);
            assert_eq!(block.raw.as_str(), text);
        }
    }
}
