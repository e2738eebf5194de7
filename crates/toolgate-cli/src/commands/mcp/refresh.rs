//! `toolgate mcp refresh`: servers are asked anew what they offer: those that `toolgate up` keeps running by it, else all of them here. What they
//! say is what commands show from then on.

use clap::Args;
use toolgate::shape::visible;
use toolgate::trust::AdmittedServers;
use toolgate::{Host, Interest};

use crate::arrival::all_settled;
use crate::commands::completions::complete_server;
use crate::configured::one_server;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::{counted, offer_counts, offer_counts_text};
use crate::printer::{Form, Printer};
use crate::runtime::client;
use crate::runtime::frames::Wants;
use crate::session::Session;
use crate::trouble::Troubles;

/// Ask your servers anew what they offer
///
/// Commands show what a server offered last while that is young enough, and read your settings each time they run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp refresh
  toolgate mcp refresh github")]
pub(crate) struct Arguments {
    /// Only this server
    #[arg(value_name = "SERVER", add = complete_server())]
    only: Option<String>,
}

/// Runs the command. Settings that cannot be read are said now, not only when they are needed.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let only = one_server(session.options(), arguments.only.as_deref())?;
    let configured = session.configured()?;
    let servers = configured.chosen(only.as_deref())?;
    let folders: Vec<String> = match client::ask(&session.runtime_place(), Wants::Refresh(only.clone()))? {
        Some((folders, _)) => serde_json::from_value(folders).unwrap_or_default(),
        None => Vec::new(),
    };
    let troubles = Troubles::new(session, only.is_some());
    if let Some(lasting) = session.lasting().cloned() {
        let admitted = configured.plan(Interest::ALL).admitted;
        let whom = only.as_deref().map_or_else(|| "all servers".into(), visible::line);
        session.printer.talk().waits(&format!("connecting to {whom} anew"));
        let interrupts = session.interrupts();
        return session.in_runtime(async |session| {
            tokio::select! {
                () = lasting.restart(admitted, only.as_deref()) => {}
                () = interrupts.next() => return Err(CommandError::interrupted()),
            }
            let printer = &mut session.printer;
            printer.talk().waits_no_more();
            refreshed(lasting.host(), only.as_deref(), &folders, troubles, printer)
        });
    }
    session.with_host(&configured.plan(Interest::ALL), async |host, printer| {
        refresh(host, servers, &folders, troubles, printer).await
    })
}

async fn refresh(
    host: &Host,
    servers: AdmittedServers,
    folders: &[String],
    troubles: Troubles,
    printer: &mut Printer,
) -> Result<Ending> {
    host.start(servers);
    all_settled(host, printer.talk()).await;
    refreshed(host, None, folders, troubles, printer)
}

/// Says what servers offer now.
fn refreshed(
    host: &Host,
    only: Option<&str>,
    folders: &[String],
    troubles: Troubles,
    printer: &mut Printer,
) -> Result<Ending> {
    let (mut views, catalog) = (host.servers(), host.catalog_now());
    views.retain(|view| only.is_none_or(|only| **view.name() == *only));
    let ending = troubles.judge(&views)?;
    troubles.tell_all(&views, printer.talk());
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("hosts", folders, |json, folder| json.string(folder))?;
                object.array("servers", &views, |json, view| {
                    let [tools, prompts, resources] = offer_counts(view.name(), &catalog);
                    json.object(|object| {
                        object.string("name", view.name())?;
                        object.string("status", view.status.as_str())?;
                        object.number("tools", tools as u64)?;
                        object.number("prompts", prompts as u64)?;
                        object.number("resources", resources as u64)
                    })
                })
            })
        })?,
        Form::Text => {
            for view in views.iter().filter(|view| view.agreed.is_some()) {
                let counts = offer_counts_text(offer_counts(view.name(), &catalog));
                printer.line(&format!("{}: {counts}", visible::line(view.name())))?;
            }
            if !folders.is_empty() {
                let what = format!("`toolgate up` asks the servers of {} too", counted(folders.len(), "folder"));
                printer.talk().line(&what);
            }
        }
    }
    Ok(ending)
}
