//! `toolgate extensions`: which extensions there are, and whether they count.

use clap::{Args, Subcommand};
use toolgate::servers::Enablement;
use toolgate::settings::{ExtensionState, disable_extension, enable_extension};
use toolgate::shape::visible;

use crate::columns::table;
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::session::Session;
use crate::similar::did_you_mean;

/// The extensions you have
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List extensions, the servers they bring, and whether they are enabled
    List,
    /// Let an extension count again, and its servers too
    Enable(Switched),
    /// Let an extension count no more
    Disable(Switched),
}

/// What is switched, and where.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate extensions disable tool-box                everywhere
  toolgate extensions enable tool-box --workspace     in this folder and all below it")]
pub(crate) struct Switched {
    /// The extension
    name: String,
    /// Only in this folder and all below it
    #[arg(long)]
    workspace: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, command: &Command) -> Result<Ending> {
    let configured = session.whole()?;
    match command {
        Command::List => list(session, &configured),
        Command::Enable(switched) => switch(session, &configured, switched, "enabled"),
        Command::Disable(switched) => switch(session, &configured, switched, "disabled"),
    }
}

fn all(configured: &Configured) -> impl Iterator<Item = &ExtensionState> {
    let settings = &configured.setup().settings;
    settings.extensions.iter().chain(&settings.brought.extensions)
}

fn list(session: &mut Session, configured: &Configured) -> Result<Ending> {
    let printer = &mut session.printer;
    let state = |one: &ExtensionState| if one.is_enabled { "enabled" } else { "disabled" };
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("extensions", all(configured), |json, one| {
                    json.object(|object| {
                        object.string("name", &one.extension.name)?;
                        object.string("version", &one.extension.version)?;
                        object.flag("enabled", one.is_enabled)?;
                        object.string("folder", &one.extension.folder.display().to_string())?;
                        object.flag("ofWorkspace", one.extension.is_of_workspace)?;
                        object.array("servers", &one.servers, |json, name| json.string(name))
                    })
                })
            })
        })?,
        Form::Text => {
            let shown = |text: &str| visible::line(text).into_owned();
            let row = |one: &ExtensionState| {
                let folder = one.extension.folder.display().to_string();
                let servers = one.servers.join(", ");
                vec![
                    shown(&one.extension.name),
                    shown(&one.extension.version),
                    state(one).to_owned(),
                    shown(&servers),
                    shown(&folder),
                ]
            };
            let rows: Vec<Vec<String>> = all(configured).map(row).collect();
            if rows.is_empty() {
                printer.talk().line("there are no extensions");
                return Ok(Ending::Done);
            }
            let columns = printer.terminal().columns;
            for line in table(&["EXTENSION", "VERSION", "STATE", "SERVERS", "FOLDER"], rows, columns) {
                printer.line(&line)?;
            }
        }
    }
    Ok(Ending::Done)
}

fn switch(session: &mut Session, configured: &Configured, switched: &Switched, to: &'static str) -> Result<Ending> {
    let Some(state) = all(configured).find(|one| one.extension.name == switched.name) else {
        let error = CommandError::new(
            Ending::Unknown,
            "unknown_extension",
            format!("there is no extension `{}`", switched.name),
        );
        let meant = did_you_mean(&switched.name, all(configured).map(|one| one.extension.name.as_str()));
        return Err(meant.into_iter().fold(error, CommandError::hint));
    };
    let env = session.env().clone();
    let folder = switched.workspace.then_some(env.workspace.main());
    let mut enabled_again = Vec::new();
    if to == "enabled" {
        enable_extension(&env, &switched.name, folder)?;
        let servers: Vec<&str> = state.servers.iter().map(String::as_str).collect();
        enabled_again = Enablement::enable(&env, &servers)?.into_iter().map(ToOwned::to_owned).collect();
    } else {
        disable_extension(&env, &switched.name, folder)?;
    }
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("extension", &switched.name)?;
                object.string("action", to)?;
                object.optional_string("folder", folder.map(|folder| folder.display().to_string()).as_deref())?;
                object.array("serversEnabled", &enabled_again, |json, name| json.string(name))
            })
        })?,
        Form::Text => {
            let place = folder.map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
            printer.line(&format!("extension {} {to}{place}", visible::line(&switched.name)))?;
            for name in &enabled_again {
                printer.line(&format!("server {} enabled again", visible::line(name)))?;
            }
        }
    }
    Ok(Ending::Done)
}
