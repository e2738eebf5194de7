//! One tool in words: what it does, what it takes, its schemas as they were written.

use std::io::Result;

use toolgate::RawJson;
use toolgate::call::arguments::{ParameterHelp, describe};
use toolgate::registry::CatalogTool;
use toolgate::shape::{for_display, visible};

use crate::limits::TAKEN_ARGUMENTS_MAX;
use crate::printer::Printer;

/// How much is said about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolDetail {
    /// What it does and what it takes.
    Description,
    /// Its schemas too.
    Schema,
}

/// Prints a tool.
pub(crate) fn print_details(printer: &mut Printer, tool: &CatalogTool, detail: ToolDetail) -> Result<()> {
    let paint = printer.paint();
    let title = tool.title().map(|title| format!("  {}", visible::line(title))).unwrap_or_default();
    printer.line(&format!("  {}{title}", paint.bold(&tool.name)))?;
    if let Some(description) = tool.description() {
        printer.text("    ", description.trim())?;
    }
    for parameter in describe(&tool.input_schema()).iter().take(TAKEN_ARGUMENTS_MAX) {
        let about = about(parameter).map(|about| format!("  {}", visible::line(&about))).unwrap_or_default();
        printer.line(&format!("    {}{}", visible::line(&typed(parameter)), paint.dim(about)))?;
    }
    if detail == ToolDetail::Schema {
        printer.text("    ", &format!("inputSchema: {}", for_display::json(&tool.input_schema())))?;
        if let Some(schema) = tool.output_schema() {
            printer.text("    ", &format!("outputSchema: {}", for_display::json(schema)))?;
        }
    }
    Ok(())
}

/// What to type for a parameter: `name=integer`, in brackets when it may be left out.
fn typed(parameter: &ParameterHelp) -> String {
    let ParameterHelp { name, kind, required, choices, .. } = parameter;
    let value = match choices.as_slice() {
        [] if kind == "any" => "…".to_owned(),
        [] => kind.clone(),
        choices => choices.join("|"),
    };
    if *required { format!("{name}={value}") } else { format!("[{name}={value}]") }
}

/// What its server says about a parameter.
fn about(parameter: &ParameterHelp) -> Option<String> {
    let default = parameter.default.as_ref().map(|value| format!("(default {value})"));
    match (&parameter.description, default) {
        (Some(description), Some(default)) => Some(format!("{} {default}", description.trim())),
        (Some(description), None) => Some(description.trim().to_owned()),
        (None, default) => default,
    }
}

/// What to type to call a tool that takes this.
pub(crate) fn usage(name: &str, schema: &RawJson) -> String {
    let parameters = describe(schema);
    let shown: Vec<String> = parameters.iter().take(TAKEN_ARGUMENTS_MAX).map(typed).collect();
    let more = if parameters.len() > TAKEN_ARGUMENTS_MAX { " …" } else { "" };
    match shown.as_slice() {
        [] => format!("`{name}` takes no arguments that its schema names"),
        shown => format!("`{name}` takes {}{more}", shown.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use toolgate::RawJson;

    use super::usage;

    #[test]
    fn a_tool_says_what_it_takes() {
        let cases = [
            ("{}", "`t` takes no arguments that its schema names"),
            (
                r#"{"properties":{"path":{"type":"string"},"n":{"type":["integer","null"]},"k":{"enum":["a",1]},"x":{}},"required":["path"]}"#,
                "`t` takes path=string [n=integer or null] [k=a|1] [x=…]",
            ),
            (r#"{"properties":7,"required":"path"}"#, "`t` takes no arguments that its schema names"),
        ];
        for (schema, expected) in cases {
            assert_eq!(usage("t", &RawJson::from_bytes(schema).unwrap()), expected, "{schema}");
        }
    }
}
