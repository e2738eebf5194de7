//! `toolgate settings …`: what can be written into a settings file, for editors and for people. No settings are read for it.

use clap::{Args, Subcommand};
use serde_json::Value;
use toolgate::settings::{json_schema, reference_page};

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::session::Session;

/// What can be printed.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Schema(SchemaArguments),
    Reference(ReferenceArguments),
}

/// Print the JSON Schema of settings files, for editors
#[derive(Debug, Args)]
#[command(after_help = "With it an editor knows every key while you write:
  toolgate settings schema > ~/.toolgate/settings.schema.json
and at the top of ~/.toolgate/settings.json:
  \"$schema\": \"./settings.schema.json\",")]
pub(crate) struct SchemaArguments {}

/// Print all settings keys as Markdown tables
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolgate settings reference | less")]
pub(crate) struct ReferenceArguments {}

/// Runs one of them.
pub(crate) fn run(session: &mut Session, command: &Command) -> Result<Ending> {
    match command {
        Command::Schema(SchemaArguments {}) => session.printer.line(&schema(session.printer.form())?)?,
        Command::Reference(ReferenceArguments {}) => session.printer.line(reference_page().trim_end())?,
    }
    Ok(Ending::Done)
}

/// Programs get one line, people one that they can read.
fn schema(form: Form) -> Result<String> {
    let schema = json_schema();
    match form {
        Form::Text => Ok(schema),
        Form::Json => {
            let schema: Value = serde_json::from_str(&schema)
                .map_err(|error| CommandError::usage(format!("the schema cannot be printed: {error}")))?;
            Ok(schema.to_string())
        }
    }
}
