//! A text as a tree of values, each with its place, without asking what the keys mean; and the words for a text that is none.

use std::path::Path;

use crate::settings::excerpt::excerpt;
pub(crate) use crate::settings::position::Places;
use crate::settings::position::{Located, Position};
use crate::settings::raw::RawValue;
use crate::settings::source::SettingsSource;
use crate::settings::syntax;
use crate::settings::value_reader::ValueReader;

/// Why a text cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrokenText {
    pub(crate) at: Position,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The line with a mark below the place, values covered.
    pub(crate) excerpt: String,
}

impl BrokenText {
    pub(crate) fn new(text: &str, at: Position, message: impl Into<String>, hint: Option<&str>) -> Self {
        let excerpt = excerpt(Places::new(text).line_text(at.line), at);
        Self { at, message: message.into(), hint: hint.map(str::to_owned), excerpt }
    }
}

/// Reads JSON with comments and trailing commas. `None` when nothing is written.
pub(crate) fn read_tree(text: &str) -> Result<Option<Located<RawValue>>, BrokenText> {
    let tree = syntax::parse(text).map_err(|fault| {
        let at = Places::new(text).at(fault.offset);
        BrokenText::new(text, at, fault.message, fault.hint)
    })?;
    // Only the places are asked for; nothing is reported about a file.
    let reader = ValueReader::new(text, SettingsSource::CommandLine, Path::new(""));
    Ok(tree.map(|tree| reader.raw(&tree)))
}
