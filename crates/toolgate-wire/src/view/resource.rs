//! Resources and resource templates as a server lists them, and the contents of one that was read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, optional, required, shape};
use crate::raw::{RawJson, present};

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    uri_template: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    title: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    description: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    mime_type: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    size: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    blob: Option<&'a RawValue>,
}

impl Entry for Resource {
    fn read(raw: RawJson) -> Result<Self, String> {
        let shape: Shape<'_> = shape(&raw)?;
        let uri = required("uri", shape.uri)?;
        Ok(Self {
            name: optional(shape.name).unwrap_or_else(|| uri.clone()),
            uri,
            title: optional(shape.title),
            description: optional(shape.description),
            mime_type: optional(shape.mime_type),
            size: shape.size.and_then(|size| size.get().parse().ok()),
            raw: raw.clone(),
        })
    }
}

impl Entry for ResourceTemplate {
    fn read(raw: RawJson) -> Result<Self, String> {
        let shape: Shape<'_> = shape(&raw)?;
        let uri_template = required("uriTemplate", shape.uri_template)?;
        Ok(Self {
            name: optional(shape.name).unwrap_or_else(|| uri_template.clone()),
            uri_template,
            title: optional(shape.title),
            description: optional(shape.description),
            mime_type: optional(shape.mime_type),
            raw: raw.clone(),
        })
    }
}

impl Entry for ResourceContents {
    fn read(raw: RawJson) -> Result<Self, String> {
        let shape: Shape<'_> = shape(&raw)?;
        let (text, blob) = (optional(shape.text), optional(shape.blob));
        if text.is_none() && blob.is_none() {
            return Err("it has neither `text` nor `blob`".to_owned());
        }
        Ok(Self {
            uri: required("uri", shape.uri)?,
            mime_type: optional(shape.mime_type),
            text,
            blob,
            raw: raw.clone(),
        })
    }
}
