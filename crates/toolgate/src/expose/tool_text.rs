//! A tool in the words of an answer to a model: one line of a list of finds, and all that its server says about it.
//!
//! What servers say is shown with hidden characters made visible, and marked as theirs where it is more than a line.

use toolgate_wire::RawJson;

use super::budget::OfferedTool;
use crate::limits::{FOUND_DESCRIPTION_CHARS_MAX, FOUND_PARAMETERS_MAX, PARAMETERS_READ_MAX, RESULT_CHARS_MAX};
use crate::shape::truncate::{self, before_chars};
use crate::shape::{untrusted, visible};

/// `- name (server): what it does. Takes: a, b?`
pub(super) fn found_line(tool: &OfferedTool) -> String {
    let about = tool.tool.description.as_deref().or(tool.tool.title.as_deref()).unwrap_or_default().trim();
    let short = before_chars(about, FOUND_DESCRIPTION_CHARS_MAX);
    let cut = if short.len() < about.len() { "…" } else { "" };
    let mut line = format!("- {} ({}): {short}{cut}", tool.name, tool.server);
    let parameters = tool.tool.input_schema.as_ref().map(parameters).unwrap_or_default();
    if !parameters.is_empty() {
        line.push_str(&format!(" Takes: {}", parameters.join(", ")));
    }
    visible::line(&line).into_owned()
}

/// The names of the parameters; those that can be left out with a question mark.
fn parameters(schema: &RawJson) -> Vec<String> {
    let required = schema.member("required").and_then(|names| names.elements_within(PARAMETERS_READ_MAX));
    let required: Vec<_> = required.unwrap_or_default().0.iter().filter_map(RawJson::to_text).collect();
    let properties = schema.member("properties").map(|all| all.members_within(FOUND_PARAMETERS_MAX));
    let (properties, others) = properties.unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|one| &**one == name);
    let shown = properties.iter().map(|(name, _)| {
        let name = before_chars(name, FOUND_DESCRIPTION_CHARS_MAX);
        if is_required(name) { name.to_owned() } else { format!("{name}?") }
    });
    let more = (others > 0).then(|| "…".to_owned());
    shown.chain(more).collect()
}

/// Everything that a declaration would say.
pub(super) fn described(tool: &OfferedTool) -> String {
    let mut said = Vec::new();
    said.extend(tool.tool.title.clone());
    said.extend(tool.tool.description.clone());
    let schema = tool.tool.input_schema.as_ref().map_or(r#"{"type":"object"}"#, |schema| schema.as_str());
    let annotations = tool.tool.annotations.as_ref().map(|hints| format!("annotations: {}", hints.as_str()));
    said.push(format!("inputSchema: {schema}"));
    said.extend(annotations);
    let said = said.join("\n");
    let (said, _) = truncate::text(&said, RESULT_CHARS_MAX);
    format!("{} is a tool of {}, which says:\n{}", tool.name, tool.server, untrusted::wrap(&visible::smuggled(&said)))
}
