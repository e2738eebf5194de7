//! `toolgate grants`: what was allowed for good, and taking it back. It starts nothing and needs no settings.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use toolgate::RawJson;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::grants::{Grant, GrantScope, GrantState, Grants};
use toolgate::shape::visible;

use crate::columns::{short, table};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::limits::LABEL_CHARS_MAX;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;
use crate::similar::did_you_mean;

/// What you allowed for good
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(ListArguments),
    Revoke(RevokeArguments),
}

/// List what you allowed for good, and for how long
#[derive(Debug, Args)]
#[command(after_help = "A grant counts while its server is reached as it was then and its tools are what they were.
One whose tool has changed is found out when the tool is called: you are asked again.

Examples:
  toolgate grants list
  toolgate grants list --server github --json")]
pub(crate) struct ListArguments {}

/// Take back what you allowed: you are asked again
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate grants revoke 3fa9c1             one grant, by its id in `toolgate grants list`
  toolgate grants revoke --server github    all of a server
  toolgate grants revoke --all              all there are")]
pub(crate) struct RevokeArguments {
    /// The grants
    #[arg(value_name = "ID", conflicts_with = "all")]
    ids: Vec<String>,
    /// All there are
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    reason: Reason,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, command: &Command) -> Result<Ending> {
    let grants = Grants::open(session.env());
    match command {
        Command::List(ListArguments {}) => list(session, &grants),
        Command::Revoke(arguments) => revoke(session, &grants, arguments),
    }
}

fn list(session: &mut Session, grants: &Grants) -> Result<Ending> {
    let wanted = session.options().server.clone();
    let is_wanted = |grant: &Grant| wanted.as_deref().is_none_or(|server| server == grant.server.as_str());
    let mut listed = grants.list()?;
    listed.retain(|(grant, _)| is_wanted(grant));
    let file = Grants::file(session.env());
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.string("file", &file.display().to_string())?;
                object.array("grants", &listed, |json, (grant, state)| write_grant(json, grant, *state))
            })
        })?;
        return Ok(Ending::Done);
    }
    if listed.is_empty() {
        let whose = wanted.map(|server| format!(" of {}", visible::line(&server))).unwrap_or_default();
        printer.talk().line(&format!("nothing{whose} has been allowed for good"));
        return Ok(Ending::Done);
    }
    let row = |(grant, state): &(Grant, GrantState)| {
        let until = grant.expires_at.map_or_else(|| "revoked".to_owned(), time);
        vec![
            short(&grant.id, LABEL_CHARS_MAX),
            state.as_str().to_owned(),
            visible::line(&grant.server).into_owned(),
            allowed(grant),
            grant.mode.as_str().to_owned(),
            time(grant.given_at),
            until,
        ]
    };
    let rows = listed.iter().map(row).collect();
    let headings = ["ID", "STATE", "SERVER", "ALLOWS", "FROM MODE", "GIVEN", "UNTIL"];
    for line in table(&headings, rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    Ok(Ending::Done)
}

fn revoke(session: &mut Session, grants: &Grants, arguments: &RevokeArguments) -> Result<Ending> {
    let taken = match (&arguments.ids[..], session.options().server.as_deref(), arguments.all) {
        ([], None, true) => grants.revoke_all()?,
        ([], Some(server), false) => of_server(grants, server)?,
        ([_, ..], None, false) => by_id(grants, &arguments.ids)?,
        ([], None, false) => {
            return Err(CommandError::usage("nothing says which grants are meant")
                .hint("name their ids, or `--server NAME`, or `--all`"));
        }
        _ => {
            return Err(CommandError::usage("ids, `--server` and `--all` cannot be combined")
                .hint("say in one way which grants are meant"));
        }
    };
    for grant in &taken {
        let change = PermissionChange::new(PermissionKind::Revoke, format!("{} of {}", grant.id, grant.server));
        arguments.reason.record(session, change.before(allowed(grant)));
    }
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer
            .json(|json| json.object(|object| object.array("revoked", &taken, |json, grant| json.string(&grant.id))))?;
        return Ok(Ending::Done);
    }
    if taken.is_empty() {
        printer.talk().line("nothing has been allowed for good");
    }
    for grant in &taken {
        let server = visible::line(&grant.server);
        printer.line(&format!("revoked: {} ({}, of {server})", short(&grant.id, LABEL_CHARS_MAX), allowed(grant)))?;
    }
    Ok(Ending::Done)
}

/// All of them, or none when one is not there.
fn by_id(grants: &Grants, ids: &[String]) -> Result<Vec<Grant>> {
    let listed = grants.list()?;
    let known = || listed.iter().map(|(grant, _)| grant.id.as_str());
    if let Some(unknown) = ids.iter().find(|id| !known().any(|one| one == id.as_str())) {
        let message = format!("there is no grant `{unknown}`");
        let error = CommandError::new(Ending::Unknown, "unknown_grant", message);
        return Err(did_you_mean(unknown, known()).into_iter().fold(error, CommandError::hint));
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    Ok(grants.revoke(&ids)?)
}

fn of_server(grants: &Grants, server: &str) -> Result<Vec<Grant>> {
    let taken = grants.revoke_server(server)?;
    if !taken.is_empty() {
        return Ok(taken);
    }
    let listed = grants.list()?;
    let mut servers: Vec<&str> = listed.iter().map(|(grant, _)| grant.server.as_str()).collect();
    servers.dedup();
    let message = format!("nothing of server `{server}` has been allowed for good");
    let error = CommandError::new(Ending::Unknown, "unknown_grant", message).about(server);
    Err(did_you_mean(server, servers).into_iter().fold(error, CommandError::hint))
}

/// What a grant allows, in words.
fn allowed(grant: &Grant) -> String {
    let names = grant.tools.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let names = short(&names, LABEL_CHARS_MAX);
    match &grant.scope {
        GrantScope::Tool => names,
        GrantScope::Server => format!("{} of its tools: {names}", grant.tools.len()),
        GrantScope::Reading => format!("{} tools that it marks as read-only: {names}", grant.tools.len()),
        GrantScope::Arguments(arguments) => format!("{names} with {}", short(arguments, LABEL_CHARS_MAX)),
    }
}

fn time(time: std::time::SystemTime) -> String {
    Timestamp::try_from(time).map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}

fn write_grant(json: &mut JsonWriter<'_>, grant: &Grant, state: GrantState) -> std::io::Result<()> {
    let arguments = match &grant.scope {
        GrantScope::Arguments(text) => RawJson::from_bytes(text.clone()).ok(),
        GrantScope::Tool | GrantScope::Server | GrantScope::Reading => None,
    };
    json.object(|object| {
        object.string("id", &grant.id)?;
        object.string("state", state.as_str())?;
        object.string("server", &grant.server)?;
        object.string("scope", grant.scope.as_str())?;
        object.array("tools", grant.tools.keys(), |json, name| json.string(name))?;
        object.raw("arguments", arguments.as_ref())?;
        object.string("mode", grant.mode.as_str())?;
        object.string("givenAt", &time(grant.given_at))?;
        object.string("givenIn", &grant.given_in.display().to_string())?;
        object.optional_string("expiresAt", grant.expires_at.map(time).as_deref())
    })
}
