//! The members that views look at, found in one pass over an entry.
//!
//! One shape serves every view: an entry has the members it has, and a view takes those it knows.

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
        let members = scan::members(raw.as_bytes()).ok_or("it is not an object")?;
        let mut fields = Self::default();
        for (key, value) in members {
            let key = key_text(key);
            let Some(place) = fields.place(&key) else { continue };
            if place.replace(value).is_some() {
                return Err(format!("`{key}` stands there twice"));
            }
        }
        Ok(fields)
    }

    fn place(&mut self, key: &str) -> Option<&mut Option<&'a [u8]>> {
        Some(match key {
            "name" => &mut self.name,
            "title" => &mut self.title,
            "description" => &mut self.description,
            "inputSchema" => &mut self.input_schema,
            "outputSchema" => &mut self.output_schema,
            "annotations" => &mut self.annotations,
            "arguments" => &mut self.arguments,
            "required" => &mut self.required,
            "uri" => &mut self.uri,
            "uriTemplate" => &mut self.uri_template,
            "mimeType" => &mut self.mime_type,
            "size" => &mut self.size,
            "text" => &mut self.text,
            "blob" => &mut self.blob,
            _ => return None,
        })
    }
}

/// A text that must be there.
pub(super) fn required(field: &str, value: Option<&[u8]>) -> Result<String, String> {
    let Some(value) = value else { return Err(format!("`{field}` is missing")) };
    let text: String = serde_json::from_slice(value).map_err(|_| format!("`{field}` is not a string"))?;
    if text.is_empty() { Err(format!("`{field}` is empty")) } else { Ok(text) }
}

/// A text that may be there; anything else counts as absent.
pub(super) fn optional(value: Option<&[u8]>) -> Option<String> {
    value.and_then(|value| serde_json::from_slice(value).ok())
}
