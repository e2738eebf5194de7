//! A prompt as a server lists it.

use super::Entry;
use super::fields::{Fields, optional, required};
use crate::limits::PROMPT_ARGUMENTS_MAX;
use crate::raw::RawJson;

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

impl Entry for Prompt {
    fn read(raw: RawJson) -> Result<Self, String> {
        let fields = Fields::of(&raw)?;
        let arguments = fields.arguments.and_then(|list| raw.part(list).elements_within(PROMPT_ARGUMENTS_MAX));
        let (arguments, _) = arguments.unwrap_or_default();
        Ok(Self {
            name: required("name", fields.name)?,
            title: optional(fields.title),
            description: optional(fields.description),
            arguments: arguments.iter().filter_map(read_argument).collect(),
            raw: raw.clone(),
        })
    }

    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

fn read_argument(raw: &RawJson) -> Option<PromptArgument> {
    let fields = Fields::of(raw).ok()?;
    Some(PromptArgument {
        name: required("name", fields.name).ok()?,
        description: optional(fields.description),
        required: fields.required.is_some_and(|required| required == b"true"),
    })
}
