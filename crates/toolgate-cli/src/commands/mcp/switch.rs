//! What `toolgate mcp enable` and `toolgate mcp disable` have in common: names are found, lists are looked at, and what was done is said.

use clap::Args;
use toolgate::as_word;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::servers::Enablement;
use toolgate::shape::visible;

use crate::commands::completions::complete_written_server;
use crate::commands::mcp::written::Written;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// Which servers are switched.
#[derive(Debug, Args)]
pub(crate) struct Switched {
    /// The servers
    #[arg(value_name = "NAME", required = true, add = complete_written_server())]
    names: Vec<String>,
    /// Only for as long as this session lasts
    #[arg(long)]
    session: bool,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// On.
    Enable,
    /// Off.
    Disable,
}

/// For how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lasts {
    /// Until it is switched again.
    ForGood,
    /// As long as the session.
    Session,
}

impl Way {
    const fn command(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
        }
    }

    const fn done(self) -> &'static str {
        match self {
            Self::Enable => "enabled",
            Self::Disable => "disabled",
        }
    }

    const fn was_so(self) -> &'static str {
        match self {
            Self::Enable => "already_enabled",
            Self::Disable => "already_disabled",
        }
    }
}

/// Switches servers on or off for good. All of them, or none when one is not known.
pub(crate) fn switch(session: &mut Session, arguments: &Switched, way: Way) -> Result<Ending> {
    if arguments.session && session.lasting().is_none() {
        let message = "`--session` changes nothing here: the session ends with this command";
        return Err(CommandError::usage(message).hint(format!("leave it out to {} a server for good", way.command())));
    }
    let written = Written::whole(session)?;
    let mut names: Vec<&str> = Vec::new();
    for typed in &arguments.names {
        let name = written.spelled(typed).ok_or_else(|| written.unknown(typed))?;
        if let Some(blocked) = written.blocked(session, name) {
            return Err(blocked);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if let Some(host) = session.lasting().filter(|_| arguments.session).cloned() {
        let changed = host.switch(&names, way == Way::Disable);
        return report(session, (way, Lasts::Session), &names, &changed);
    }
    let switched = match session.lasting().filter(|_| way == Way::Enable) {
        // Whoever switches it on for good means this session too.
        Some(host) => host.switch(&names, false),
        None => Vec::new(),
    };
    let mut changed = match way {
        Way::Enable => Enablement::enable(session.env(), &names)?,
        Way::Disable => Enablement::disable(session.env(), &names)?,
    };
    if !changed.is_empty() {
        let subject = format!("MCP server {} {}", changed.join(", "), way.done());
        arguments.reason.record(session, PermissionChange::new(PermissionKind::Settings, subject));
    }
    changed.extend(switched);
    report(session, (way, Lasts::ForGood), &names, &changed)
}

fn report(session: &mut Session, (way, lasts): (Way, Lasts), names: &[&str], changed: &[&str]) -> Result<Ending> {
    let file = (lasts == Lasts::ForGood).then(|| Enablement::file(session.env()).display().to_string());
    let (scope, flag) = match lasts {
        Lasts::ForGood => ("user", ""),
        Lasts::Session => ("session", " --session"),
    };
    let program = if session.lasting().is_some() { "/mcp" } else { "toolgate mcp" };
    let action = |name: &str| if changed.contains(&name) { way.done() } else { way.was_so() };
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                let only = if let [only] = names { Some(*only) } else { None };
                object.optional_string("server", only)?;
                object.string("scope", scope)?;
                object.optional_string("file", file.as_deref())?;
                object.optional_string("action", only.map(action))?;
                object.array("servers", names, |json, name| {
                    json.object(|object| {
                        object.string("server", name)?;
                        object.string("action", action(name))
                    })
                })
            })
        })?,
        Form::Text => {
            for name in names {
                let shown = visible::line(name);
                let line = match (changed.contains(name), way) {
                    (true, Way::Enable) => format!("enabled MCP server {shown}"),
                    (true, Way::Disable) => {
                        let again = format!("`{program} enable {}{flag}` switches it on again", as_word(&shown));
                        let until = if lasts == Lasts::Session { " for this session" } else { "" };
                        format!("disabled MCP server {shown}{until}; {again}")
                    }
                    (false, _) => format!("MCP server {shown} is already {}", way.done()),
                };
                printer.line(&line)?;
            }
        }
    }
    Ok(Ending::Done)
}
