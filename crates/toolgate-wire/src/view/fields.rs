//! The members that views look at, found in one pass over an entry.
//!
//! One shape serves every view: an entry has the members it has, and a view takes those it knows.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::raw::{RawJson, present};

/// What stands under the names we know. A member that stands twice makes the entry unreadable.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fields<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) title: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) description: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) input_schema: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) output_schema: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) annotations: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) required: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) uri: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) uri_template: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) mime_type: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) size: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) blob: Option<&'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Reads an entry; says what is wrong in the words of the entry.
    pub(super) fn of(raw: &'a RawJson) -> Result<Self, String> {
        if !raw.is_object() {
            return Err("it is not an object".to_owned());
        }
        raw.read().map_err(|error| error.to_string())
    }
}

/// A text that must be there.
pub(super) fn required(field: &str, value: Option<&RawValue>) -> Result<String, String> {
    let Some(value) = value else { return Err(format!("`{field}` is missing")) };
    let text: String = serde_json::from_str(value.get()).map_err(|_| format!("`{field}` is not a string"))?;
    if text.is_empty() { Err(format!("`{field}` is empty")) } else { Ok(text) }
}

/// A text that may be there; anything else counts as absent.
pub(super) fn optional(value: Option<&RawValue>) -> Option<String> {
    value.and_then(|value| serde_json::from_str(value.get()).ok())
}
