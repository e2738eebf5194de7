//! The members that views look at, found in one pass over an entry.
//!
//! One shape serves every view: an entry has the members it has, and a view takes those it knows.

use memchr::memchr;

use crate::raw::{RawJson, key_text};
use crate::scan;

/// What stands under the names we know, as it is written. A member that stands twice makes the entry unreadable.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) name: Option<&'a [u8]>,
    pub(super) title: Option<&'a [u8]>,
    pub(super) description: Option<&'a [u8]>,
    pub(super) input_schema: Option<&'a [u8]>,
    pub(super) output_schema: Option<&'a [u8]>,
    pub(super) annotations: Option<&'a [u8]>,
    pub(super) arguments: Option<&'a [u8]>,
    pub(super) required: Option<&'a [u8]>,
    pub(super) uri: Option<&'a [u8]>,
    pub(super) uri_template: Option<&'a [u8]>,
    pub(super) mime_type: Option<&'a [u8]>,
    pub(super) size: Option<&'a [u8]>,
    pub(super) text: Option<&'a [u8]>,
    pub(super) blob: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// Reads an entry; says what is wrong in the words of the entry. That it is JSON was checked when it came in.
    pub(super) fn of(raw: &'a RawJson) -> Result<Self, String> {
        let mut fields = Self::default();
        let mut twice = None;
        scan::each_member(raw.as_bytes(), |key, value| {
            let is_spelled = key.contains(&b'\\');
            let spelled = if is_spelled { Some(key_text(key)) } else { None };
            let key = spelled.as_ref().map_or(key, |key| key.as_bytes());
            if fields.place(key).is_some_and(|place| place.replace(value).is_some()) {
                twice.get_or_insert_with(|| String::from_utf8_lossy(key).into_owned());
            }
        })
        .ok_or("it is not an object")?;
        match twice {
            None => Ok(fields),
            Some(key) => Err(format!("`{key}` stands there twice")),
        }
    }

    fn place(&mut self, key: &[u8]) -> Option<&mut Option<&'a [u8]>> {
        Some(match key {
            b"name" => &mut self.name,
            b"title" => &mut self.title,
            b"description" => &mut self.description,
            b"inputSchema" => &mut self.input_schema,
            b"outputSchema" => &mut self.output_schema,
            b"annotations" => &mut self.annotations,
            b"arguments" => &mut self.arguments,
            b"required" => &mut self.required,
            b"uri" => &mut self.uri,
            b"uriTemplate" => &mut self.uri_template,
            b"mimeType" => &mut self.mime_type,
            b"size" => &mut self.size,
            b"text" => &mut self.text,
            b"blob" => &mut self.blob,
            _ => return None,
        })
    }
}

/// A text that must be there.
pub(super) fn required(field: &str, value: Option<&[u8]>) -> Result<String, String> {
    let Some(value) = value else { return Err(format!("`{field}` is missing")) };
    let text = text(value).ok_or_else(|| format!("`{field}` is not a string"))?;
    if text.is_empty() { Err(format!("`{field}` is empty")) } else { Ok(text) }
}

/// A text that may be there; anything else counts as absent.
pub(super) fn optional(value: Option<&[u8]>) -> Option<String> {
    value.and_then(text)
}

/// The text that a value is; most have no escapes and are taken as they stand.
fn text(value: &[u8]) -> Option<String> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    match memchr(b'\\', inner) {
        None => std::str::from_utf8(inner).ok().map(ToOwned::to_owned),
        Some(_) => serde_json::from_slice(value).ok(),
    }
}
