//! `toolgate read`: the contents of one resource.

use clap::Args;
use toolgate::shape::for_display;
use toolgate::wire::view::ReadResult;
use toolgate::{Host, Interest};

use crate::error::Result;
use crate::exit_code::Ending;
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// Read a resource
///
/// Without --server, the server that lists the resource or has a template for it is asked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate read docs://guide/start
  toolgate read github:repo://acme/site/README.md     the same URI may be listed by several servers
  toolgate read file:///etc/hosts --server files --json")]
pub(crate) struct Arguments {
    /// The address, as `toolgate resources` shows it, or SERVER:URI
    uri: String,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let configured = session.configured()?;
    let (named, uri) = match (&session.options().server, arguments.uri.split_once(':')) {
        (Some(server), _) => (Some(server.clone()), arguments.uri.as_str()),
        // A server called `file` would shadow every `file:` address: its own name is not enough to mean it.
        (None, Some((server, uri))) if configured.has(server) && uri.contains(':') => (Some(server.to_owned()), uri),
        (None, _) => (None, arguments.uri.as_str()),
    };
    let servers = configured.chosen(named.as_deref())?;
    let troubles = Troubles::new(session, named.is_some());
    let interest = if named.is_some() { Interest::NONE } else { Interest::RESOURCES };
    let plan = configured.plan(interest).with_memory().starting(&servers);
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        let server = match &named {
            Some(server) => {
                host.settled(server).await?;
                troubles.judge(&host.servers())?;
                server.clone()
            }
            None => find(host, uri, troubles).await?,
        };
        let result = host.read_resource(&server, uri).await?;
        print(&server, uri, &result, printer)
    })
}

async fn find(host: &Host, uri: &str, troubles: Troubles) -> Result<String> {
    match host.find_resource(uri).await {
        Ok(server) => Ok(server.to_string()),
        Err(error) => Err(troubles.not_had(&error, &host.servers())),
    }
}

fn print(server: &str, uri: &str, result: &ReadResult, printer: &mut Printer) -> Result<Ending> {
    match printer.form() {
        Form::Text => printer.result(&for_display::resource(result))?,
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("server", server)?;
                object.string("uri", uri)?;
                object.raw("contents", result.raw.member("contents").as_ref())
            })
        })?,
    }
    Ok(Ending::Done)
}
