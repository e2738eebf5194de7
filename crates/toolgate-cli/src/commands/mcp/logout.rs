//! `toolgate mcp logout`: forgets logins.

use clap::Args;
use toolgate::kept::KeptOffers;
use toolgate::shape::visible;
use toolgate::{Host, Interest, ServerName};

use crate::commands::completions::complete_server;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::session::Session;

/// Forget the login to servers
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp logout github
  toolgate mcp logout --all      every login; what cannot be read is moved aside")]
pub(crate) struct Arguments {
    /// The servers
    #[arg(value_name = "SERVER", required_unless_present = "all", add = complete_server())]
    names: Vec<String>,
    /// All logins, also to servers that are no longer in the settings
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

/// Runs the command. A server that is not in the settings any more may still have a login.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let configured = session.looked_at()?;
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host: &Host, printer| {
        let forgotten = if arguments.all { forget_all(host)? } else { forget(host, &arguments.names)? };
        // What a server offered to somebody who was logged in is not for somebody who is not.
        if arguments.all {
            let _of_how_many = KeptOffers::new(&configured.setup().env).forget_all();
        } else {
            configured.forget_offers(&arguments.names);
        }
        match printer.form() {
            Form::Json => printer.json(|json| {
                json.object(|object| object.array("loggedOut", &forgotten, |json, name| json.string(name)))
            })?,
            Form::Text if forgotten.is_empty() => printer.line("there is no login to forget")?,
            Form::Text => {
                for name in &forgotten {
                    printer.line(&format!("logged out of {}", visible::line(name)))?;
                }
            }
        }
        Ok(Ending::Done)
    })
}

fn forget(host: &Host, names: &[String]) -> Result<Vec<String>> {
    let mut forgotten = Vec::new();
    for name in names {
        let server = ServerName::new(name).map_err(|error| CommandError::usage(format!("`{name}`: {error}")))?;
        if host.login_store().remove_server(&server)? > 0 {
            forgotten.push(name.clone());
        }
    }
    Ok(forgotten)
}

fn forget_all(host: &Host) -> Result<Vec<String>> {
    let store = host.login_store();
    match store.list() {
        Ok(kept) => {
            store.remove_all()?;
            Ok(kept.iter().map(|one| one.server.to_string()).collect())
        }
        Err(_) => {
            store.reset()?;
            Ok(Vec::new())
        }
    }
}
