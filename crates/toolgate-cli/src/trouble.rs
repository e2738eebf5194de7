//! Servers that are not there: what is said about them, what to do next, and when that is the end of the command.

use toolgate::connect::{ServerStatus, ServerView};
use toolgate::servers::TransportConfig;
use toolgate::{Error, ErrorKind};

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::session::Session;
use crate::talk::Talk;

/// What is to be said about servers in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Troubles {
    surroundings: Surroundings,
    /// Only one server was asked for: what is wrong with it is the answer.
    is_about_one: bool,
}

impl Troubles {
    /// For a command that asked for one server, or for all of them.
    pub(crate) fn new(session: &Session, is_about_one: bool) -> Self {
        Self { surroundings: session.surroundings(), is_about_one }
    }

    /// What is wrong with a server.
    pub(crate) fn of(&self, view: &ServerView) -> Option<CommandError> {
        of(view, self.surroundings)
    }

    /// Says what is wrong with a server, unless that will be the answer of the command.
    pub(crate) fn tell(&self, view: &ServerView, talk: &Talk) {
        if let Some(error) = self.of(view).filter(|_| !self.ends_here(view)) {
            talk.error(&error);
        }
    }

    /// The same for all servers.
    pub(crate) fn tell_all(&self, views: &[ServerView], talk: &Talk) {
        views.iter().for_each(|view| self.tell(view, talk));
    }

    /// How the command ends: well when a server that was asked for is there.
    pub(crate) fn judge(&self, views: &[ServerView]) -> Result<Ending> {
        let failed = views.iter().find(|view| self.ends_here(view)).and_then(|view| self.of(view));
        if let Some(error) = failed {
            return Err(error);
        }
        let is_any_there = views.is_empty() || views.iter().any(|view| view.agreed.is_some());
        let first = || views.iter().find_map(|view| self.of(view)).map(|error| error.ending());
        Ok(if is_any_there { Ending::Done } else { first().unwrap_or(Ending::Unreachable) })
    }

    fn ends_here(&self, view: &ServerView) -> bool {
        self.is_about_one && view.agreed.is_none()
    }
}

/// Whether the program runs in a sandbox, from which not everything can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// It does not.
    Open,
    /// It does.
    Sandbox,
}

/// Why nothing of this server is there; `None` when it is connected and all is well.
fn of(view: &ServerView, surroundings: Surroundings) -> Option<CommandError> {
    let server = view.name().as_str();
    let error = match &view.error {
        Some(error) => of_error(view, error),
        None if view.status == ServerStatus::Connected => return None,
        None => {
            let what = format!("MCP server {server}: {}", view.status.as_str());
            CommandError::new(Ending::Unreachable, "connect", what)
        }
    };
    let error = error.about(server);
    Some(if surroundings == Surroundings::Sandbox {
        error.last_hint_with(" (check sandbox availability)")
    } else {
        error
    })
}

fn of_error(view: &ServerView, error: &Error) -> CommandError {
    let server = view.name().as_str();
    let place = &view.config.origin;
    let known = CommandError::from(error);
    match (error.kind(), &view.config.transport) {
        (ErrorKind::LoginNeeded, _) => known
            .saying(format!("MCP server {server} needs a login: {error}"))
            .hint(format!("run `toolgate mcp auth {server}`")),
        (ErrorKind::Spawn, _) => known
            .saying(format!("MCP server {server}: could not be started: {error}"))
            .hint(format!("check `command` of `{server}` in {place}")),
        (
            ErrorKind::Connect | ErrorKind::TimedOut,
            TransportConfig::Http(_) | TransportConfig::Sse(_) | TransportConfig::HttpOrSse(_),
        ) => known
            .saying(format!("MCP server {server}: discovery failed: {error}"))
            .hint(format!("Cannot connect to '{server}': server may be down or URL incorrect")),
        _ => known
            .saying(format!("MCP server {server}: discovery failed: {error}"))
            .hint(format!("`toolgate mcp test {server} --debug` shows what is said on the wire")),
    }
}
