//! A prompt as a server lists it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, optional, required, shape};
use crate::raw::{RawJson, present};

/// One prompt.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its name on the wire.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes; arguments that cannot be read are left out.
    pub arguments: Vec<PromptArgument>,
    /// The whole entry.
    pub raw: RawJson,
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    title: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    description: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    required: Option<&'a RawValue>,
}

impl Entry for Prompt {
    fn read(raw: RawJson) -> Result<Self, String> {
        let shape: Shape<'_> = shape(&raw)?;
        let arguments = shape.arguments.and_then(|arguments| raw.share(arguments).elements()).unwrap_or_default();
        Ok(Self {
            name: required("name", shape.name)?,
            title: optional(shape.title),
            description: optional(shape.description),
            arguments: arguments.iter().filter_map(read_argument).collect(),
            raw: raw.clone(),
        })
    }
}

fn read_argument(raw: &RawJson) -> Option<PromptArgument> {
    let shape: Shape<'_> = shape(raw).ok()?;
    Some(PromptArgument {
        name: required("name", shape.name).ok()?,
        description: optional(shape.description),
        required: shape.required.is_some_and(|required| required.get() == "true"),
    })
}
