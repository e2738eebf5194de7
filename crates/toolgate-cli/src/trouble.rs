//! Servers that are not there: what is said about them, what to do next, and when that is the end of the command.

use toolgate::connect::{ServerStatus, ServerView, trouble};
use toolgate::servers::TransportConfig;
use toolgate::{Error, ErrorKind, wire};

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

    /// Something that nobody has. A server that could not be asked may have it, and then that is why it is missing.
    pub(crate) fn missing(&self, unknown: CommandError, views: &[ServerView]) -> CommandError {
        let failed = views.iter().filter(|view| view.agreed.is_none()).find_map(|view| self.of(view));
        match failed {
            Some(failure) if self.is_about_one => failure,
            Some(failure) => unknown.ending_in(failure.ending()),
            None => unknown,
        }
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
        None if view.status == ServerStatus::Connected || view.is_remembered => return None,
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

/// Whether somebody is there who answers, if not with what was wanted; a wrong path counts as nobody.
fn is_answered(error: &Error) -> bool {
    matches!(error.wire(), Some(wire::Error::Http(failure)) if failure.status.as_u16() != 404)
}

fn of_error(view: &ServerView, error: &Error) -> CommandError {
    let server = view.name().as_str();
    let known = match error.kind() {
        // Whatever it refused, no tool has run.
        ErrorKind::Refused => CommandError::from(error).ending_in(Ending::Unreachable),
        _ => CommandError::from(error),
    };
    let known = match trouble(view) {
        Some(sentence) => known.saying(sentence),
        None => known,
    };
    let has_url = matches!(
        view.config.transport,
        TransportConfig::Http(_) | TransportConfig::Sse(_) | TransportConfig::HttpOrSse(_)
    );
    match error.kind() {
        // The sentence says what to do.
        ErrorKind::LoginNeeded => known,
        ErrorKind::Spawn if matches!(view.config.transport, TransportConfig::Stdio(_)) => {
            known.hint(format!("check `command` and `cwd` of `{server}` in {}", view.config.origin))
        }
        ErrorKind::Connect | ErrorKind::TimedOut if has_url && view.agreed.is_none() && !is_answered(error) => {
            known.hint(format!("Cannot connect to '{server}': server may be down or URL incorrect"))
        }
        // Nothing was said on any wire.
        ErrorKind::Settings => known,
        _ => known.hint(format!("`toolgate mcp test {server} --debug` shows what is said on the wire")),
    }
}
