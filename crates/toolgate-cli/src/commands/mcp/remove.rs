//! `toolgate mcp remove`: takes a server out of a settings file, and nothing else.

use clap::Args;
use toolgate::settings::edit;
use toolgate::settings::edit_file::{Change, look_into};
use toolgate::shape::visible;

use crate::commands::completions::complete_written_server;
use crate::commands::mcp::scope::{Scope, Target};
use crate::commands::mcp::written::{Entry, Written};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// Remove a server from the settings
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp remove github             from the project settings, or from yours when it is not there
  toolgate mcp remove github -s user     from your own settings")]
pub(crate) struct Arguments {
    /// The server
    #[arg(value_name = "NAME", add = complete_written_server())]
    name: String,
    /// Whose settings; without this those of the project, then yours
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    scope: Option<Scope>,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let name = arguments.name.as_str();
    let targets = Target::candidates(session, arguments.scope)?;
    let key = ["mcpServers", name];
    for target in &targets {
        let is_there = look_into(&target.path, target.source, |text| edit::has(text, &key))?;
        // Another process may be faster.
        if is_there != Some(true) {
            continue;
        }
        let subject = format!("MCP server {name} removed from {}", target.words);
        let remove = |text: &str| edit::remove(text, &key);
        if arguments.reason.edit_settings(session, (target, &subject), remove)? == Change::Written {
            return report(session, name, target);
        }
    }
    Err(not_there(session, name, &targets))
}

fn report(session: &mut Session, name: &str, target: &Target) -> Result<Ending> {
    let in_force = Written::read(session).in_force(session, name);
    let file = target.path.display().to_string();
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("server", name)?;
                object.string("scope", target.scope)?;
                object.string("file", &file)?;
                object.string("action", "removed")?;
                let in_force = in_force.as_ref().map(|entry| entry.origin.to_string());
                object.optional_string("inForce", in_force.as_deref())
            })
        })?,
        Form::Text => {
            let name = visible::line(name);
            printer.line(&format!("removed MCP server {name} from {}: {}", target.words, visible::line(&file)))?;
            if let Some(Entry { origin, .. }) = in_force {
                printer.line(&visible::line(&format!("the entry in {origin} is in force now")))?;
            }
        }
    }
    Ok(Ending::Done)
}

fn not_there(session: &Session, name: &str, targets: &[Target]) -> CommandError {
    let written = Written::read(session);
    match (written.entries(name).first(), targets) {
        (Some(entry), [only]) => {
            let message = format!("there is no server `{name}` in {}, {}", only.words, only.path.display());
            let error = CommandError::new(Ending::Unknown, "unknown_server", message).about(name);
            error.hint(entry.way_out(name, targets))
        }
        (Some(entry), _) => {
            let message = format!("there is no server `{name}` in the settings of the project or in yours");
            CommandError::new(Ending::Unknown, "unknown_server", message).about(name).hint(entry.way_out(name, targets))
        }
        (None, _) => written.unknown(name),
    }
}
