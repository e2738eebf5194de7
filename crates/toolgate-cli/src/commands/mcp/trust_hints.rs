//! `toolgate mcp trust-hints`: lets tools that a server marks as read-only run without a question, until their definitions change.

use std::collections::BTreeMap;
use std::time::SystemTime;

use clap::Args;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::grants::{Grant, Grants, Lasting, ReadingTools};
use toolgate::registry::{Catalog, CatalogTool, definition_hash};
use toolgate::rulebook::{grants_last_in_run, lasting_of_run};
use toolgate::servers::{ServerConfig, identity};
use toolgate::shape::visible;
use toolgate::{Interest, Setup, as_word};

use crate::arrival::all_settled;
use crate::commands::completions::complete_server;
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::permission_record::Reason;
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// Let the tools that a server marks as read-only run without a question
///
/// Starts the server and allows its tools with `readOnlyHint` in every mode, at priority 50. Every rule that you wrote
/// outranks that. A tool that is new, or whose definition changes, needs a confirmation again.
/// Nothing checks the hints of a server, so use this for servers whose code you trust.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate mcp trust-hints files
  toolgate mcp trust-hints files --undo      ask about them again
  toolgate grants list                       shows which hints are trusted"
)]
pub(crate) struct Arguments {
    /// The servers whose hints to trust
    #[arg(value_name = "SERVER", required = true, add = complete_server())]
    names: Vec<String>,
    /// Ask about these tools again
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    reason: Reason,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    if arguments.undo {
        return undo(session, arguments);
    }
    let configured = session.configured()?;
    may_last(configured.setup())?;
    let mut servers = Vec::new();
    for name in &arguments.names {
        let server = configured.meant(Some(name))?.into_iter().next().ok_or_else(|| configured.unknown(name))?;
        if server.transport.builtin().is_some() {
            let message =
                format!("`{name}` is the built-in server, and its read-only tools already run without a question");
            return Err(CommandError::usage(message).about(name));
        }
        servers.push(server.clone());
    }
    let is_meant = |name: &str| servers.iter().any(|server| &*server.name == name);
    let admitted = configured.setup().admitted()?.only(|server| is_meant(&server.name));
    let troubles = Troubles::new(session, servers.len() == 1);
    let believing = Believing {
        grants: session.grants(&configured.setup().env),
        expires_at: expiry(session, &configured),
        folder: session.env().workspace.to_path_buf(),
    };
    let mut believed = Vec::new();
    let ended = session.with_host(&configured.plan(Interest::TOOLS), async |host, printer| {
        host.start(admitted);
        all_settled(host, printer.talk()).await;
        let mut views = host.servers();
        views.retain(|view| is_meant(view.name()));
        let ending = troubles.judge(&views)?;
        troubles.tell_all(&views, printer.talk());
        let catalog = host.catalog_now();
        let there = servers
            .iter()
            .filter(|server| views.iter().any(|view| *view.name() == server.name && view.agreed.is_some()));
        for server in there {
            believed.push(believing.server(server, &catalog)?);
        }
        print(printer, &believed)?;
        Ok(ending)
    });
    for Believed { grant, .. } in &believed {
        let change = PermissionChange::new(PermissionKind::TrustHints, format!("{} of {}", grant.id, grant.server));
        arguments.reason.record(session, change.after(names(grant.tools.keys())));
    }
    ended
}

/// Refuses where permanent approvals are switched off.
fn may_last(setup: &Setup) -> Result<()> {
    if lasting_of_run(&setup.settings) == Lasting::Always {
        return Ok(());
    }
    let message = "permanent approvals are switched off in the settings";
    Err(CommandError::new(Ending::Denied, "denied", message).hint("`toolgate doctor` shows which file sets this"))
}

fn expiry(session: &Session, configured: &Configured) -> Option<SystemTime> {
    let time = grants_last_in_run(&configured.setup().settings)?;
    session.env().clock.now().checked_add(time)
}

/// The store for trusted hints, with the folder and the expiry.
struct Believing {
    grants: std::sync::Arc<Grants>,
    expires_at: Option<SystemTime>,
    folder: std::path::PathBuf,
}

/// A server whose hints are trusted now.
struct Believed {
    grant: Grant,
    /// Tools that still need a confirmation.
    others: Vec<String>,
}

impl Believing {
    fn server(&self, server: &ServerConfig, catalog: &Catalog) -> Result<Believed> {
        let (reading, others): (Vec<&CatalogTool>, Vec<&CatalogTool>) =
            catalog.tools_of(&server.name).iter().partition(|tool| is_reading(tool));
        let tools: BTreeMap<String, String> =
            reading.iter().map(|tool| (tool.id.tool.to_string(), definition_hash(&tool.tool))).collect();
        if tools.is_empty() {
            let message =
                format!("server `{}` marks none of its {} as read-only", server.name, counted(others.len(), "tool"));
            let error = CommandError::new(Ending::Unknown, "no_hints", message).about(&server.name);
            return Err(
                error.hint("allow single tools in a policy: `toolgate policy suggest` writes rules for what you use")
            );
        }
        let grant = self.grants.trust_hints(ReadingTools {
            server: &server.name,
            server_identity: &identity(server),
            tools,
            folder: &self.folder,
            expires_at: self.expires_at,
        })?;
        Ok(Believed { grant, others: others.iter().map(|tool| tool.id.tool.to_string()).collect() })
    }
}

/// A tool that is marked as both read-only and destructive does not count as read-only.
fn is_reading(tool: &CatalogTool) -> bool {
    let hints = tool.hints();
    hints.read_only_hint == Some(true) && hints.destructive_hint != Some(true)
}

fn print(printer: &mut Printer, believed: &[Believed]) -> Result<()> {
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("servers", believed, |json, one| {
                    json.object(|object| {
                        object.string("server", &one.grant.server)?;
                        object.string("grant", &one.grant.id)?;
                        object.array("allowed", one.grant.tools.keys(), |json, tool| json.string(tool))?;
                        object.array("asked", &one.others, |json, tool| json.string(tool))
                    })
                })
            })
        })?,
        Form::Text => {
            for Believed { grant, others } in believed {
                let server = visible::line(&grant.server);
                let tools = names(grant.tools.keys());
                printer.line(&format!(
                    "{server}: {} run without a question: {tools}",
                    counted(grant.tools.len(), "tool")
                ))?;
                if !others.is_empty() {
                    printer.line(&format!("  still need a confirmation: {}", names(others.iter())))?;
                }
                printer.talk().line(&format!("`toolgate mcp trust-hints {} --undo` takes it back", as_word(&server)));
            }
        }
    }
    Ok(())
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| visible::line(name).into_owned()).collect::<Vec<_>>().join(", ")
}

/// Revokes the trust. Needs no server and no settings.
fn undo(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let grants = session.grants(session.env());
    let mut taken: Vec<(&String, Vec<Grant>)> = Vec::new();
    for name in &arguments.names {
        let revoked = grants.distrust_hints(name)?;
        for grant in &revoked {
            let change = PermissionChange::new(PermissionKind::TrustHints, format!("{} of {}", grant.id, grant.server));
            arguments.reason.record(session, change.before(names(grant.tools.keys())));
        }
        taken.push((name, revoked));
    }
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                let ids = taken.iter().flat_map(|(_, grants)| grants);
                object.array("revoked", ids, |json, grant| json.string(&grant.id))
            })
        })?,
        Form::Text => {
            for (name, grants) in &taken {
                let name = visible::line(name);
                match grants.is_empty() {
                    true => printer.talk().line(&format!("the hints of {name} were not trusted")),
                    false => printer.line(&format!("{name}: its tools need a confirmation again"))?,
                }
            }
        }
    }
    Ok(Ending::Done)
}
