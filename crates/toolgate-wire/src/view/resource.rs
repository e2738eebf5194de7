//! Resources and resource templates as a server lists them, and the contents of one that was read.

use super::Entry;
use super::fields::{Fields, optional, required};
use crate::raw::RawJson;

/// One resource.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name; its URI when the server gives none.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// The whole entry.
    pub raw: RawJson,
}

/// A family of resources.
#[derive(Debug, Clone)]
pub struct ResourceTemplate {
    /// The pattern of their URIs.
    pub uri_template: String,
    /// Its name; the pattern when the server gives none.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What they are.
    pub description: Option<String>,
    /// Their media type, if they share one.
    pub mime_type: Option<String>,
    /// The whole entry.
    pub raw: RawJson,
}

/// What was read of a resource.
#[derive(Debug, Clone)]
pub struct ResourceContents {
    /// Where it came from.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// The text, if it is text.
    pub text: Option<String>,
    /// The bytes in Base64, if it is not.
    pub blob: Option<String>,
    /// All of it.
    pub raw: RawJson,
}

impl Entry for Resource {
    fn read(raw: RawJson) -> Result<Self, String> {
        let fields = Fields::of(&raw)?;
        let uri = required("uri", fields.uri)?;
        Ok(Self {
            name: optional(fields.name).unwrap_or_else(|| uri.clone()),
            uri,
            title: optional(fields.title),
            description: optional(fields.description),
            mime_type: optional(fields.mime_type),
            size: fields.size.and_then(|size| serde_json::from_slice(size).ok()),
            raw: raw.clone(),
        })
    }

    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl Entry for ResourceTemplate {
    fn read(raw: RawJson) -> Result<Self, String> {
        let fields = Fields::of(&raw)?;
        let uri_template = required("uriTemplate", fields.uri_template)?;
        Ok(Self {
            name: optional(fields.name).unwrap_or_else(|| uri_template.clone()),
            uri_template,
            title: optional(fields.title),
            description: optional(fields.description),
            mime_type: optional(fields.mime_type),
            raw: raw.clone(),
        })
    }

    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl Entry for ResourceContents {
    fn read(raw: RawJson) -> Result<Self, String> {
        let fields = Fields::of(&raw)?;
        let (text, blob) = (optional(fields.text), optional(fields.blob));
        if text.is_none() && blob.is_none() {
            return Err("it has neither `text` nor `blob`".to_owned());
        }
        Ok(Self {
            uri: required("uri", fields.uri)?,
            mime_type: optional(fields.mime_type),
            text,
            blob,
            raw: raw.clone(),
        })
    }

    fn raw(&self) -> &RawJson {
        &self.raw
    }
}
