//! Content blocks: what results and messages are made of.

use bytestring::ByteString;

use super::{Entry, ResourceContents};
use crate::limits::RESULT_PARTS_MAX;
use crate::raw::{RawJson, is_key};
use crate::scan;

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
    /// Text. It may be large, and shares the bytes it came in.
    Text(ByteString),
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
    /// The kind of the block that represents others. Its JSON is `null`, unlike any block of a server with a kind.
    const OMITTED: &str = "omitted";

    /// Represents the parts of a result after the first [`RESULT_PARTS_MAX`].
    pub(super) fn others(count: usize) -> Self {
        let reason = format!("{count} more are left out (limit RESULT_PARTS_MAX = {RESULT_PARTS_MAX})");
        Self { content: Content::Unknown { kind: Self::OMITTED.to_owned(), reason }, raw: RawJson::NULL }
    }

    /// Reads a block; what cannot be read becomes [`Content::Unknown`], never an error.
    pub fn read(raw: RawJson) -> Self {
        let content = read_content(&raw).unwrap_or_else(|reason| {
            let kind = raw.member("type").and_then(|kind| kind.to_text()).unwrap_or_default();
            Content::Unknown { kind: kind.to_string(), reason }
        });
        Self { content, raw }
    }
}

/// The members that a block of a known kind may have.
const KNOWN: [&str; 7] = ["type", "text", "data", "mimeType", "uri", "name", "resource"];

/// The members of a block, up to two of each: a member that appears twice is an error.
fn known_members(raw: &RawJson) -> Vec<(&'static str, &[u8])> {
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    let told = scan::each_member(raw.as_bytes(), |key, value| {
        let Some(name) = KNOWN.into_iter().find(|name| is_key(key, name)) else { return };
        if members.iter().filter(|(known, _)| *known == name).count() < 2 {
            members.push((name, value));
        }
    });
    told.map(|()| members).unwrap_or_default()
}

/// Blocks may be large, so they are gone over once and not parsed.
fn read_content(raw: &RawJson) -> Result<Content, String> {
    if !raw.is_object() {
        return Err("it is not an object".to_owned());
    }
    let members = known_members(raw);
    let find = |field: &str| -> Result<Option<RawJson>, String> {
        let mut found = members.iter().filter(|(name, _)| *name == field).map(|(_, value)| raw.part(value));
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("`{field}` stands there twice")),
            (found, None) => Ok(found),
        }
    };
    let optional = |field: &str| Ok::<_, String>(find(field)?.and_then(|value| value.to_text()));
    let shared = |field: &str| optional(field)?.ok_or_else(|| format!("`{field}` is missing or not a string"));
    let text = |field: &str| shared(field).map(String::from);
    let required = |field: &str| match find(field)?.map(|value| value.to_text()) {
        None => Err(format!("`{field}` is missing")),
        Some(None) => Err(format!("`{field}` is not a string")),
        Some(Some(text)) if text.is_empty() => Err(format!("`{field}` is empty")),
        Some(Some(text)) => Ok(String::from(text)),
    };
    Ok(match required("type")?.as_str() {
        "text" => Content::Text(shared("text")?),
        "image" => Content::Image { data: text("data")?, mime_type: text("mimeType")? },
        "audio" => Content::Audio { data: text("data")?, mime_type: text("mimeType")? },
        "resource_link" => Content::Link { uri: required("uri")?, name: optional("name")?.map(String::from) },
        "resource" => {
            let resource = find("resource")?.ok_or("`resource` is missing")?;
            Content::Resource(ResourceContents::read(resource)?)
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
