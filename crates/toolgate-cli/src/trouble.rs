//! Servers that are not there: what is said about them, what to do next, and when that is the end of the command.

use std::time::SystemTime;

use jiff::Timestamp;
use toolgate::connect::{ServerStatus, ServerView, trouble};
use toolgate::servers::TransportConfig;
use toolgate::{Error, ErrorKind, as_word, wire};

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
        let is_any_there = views.is_empty() || !views.iter().all(is_down);
        let first = || views.iter().find_map(|view| self.of(view)).map(|error| error.ending());
        Ok(if is_any_there { Ending::Done } else { first().unwrap_or(Ending::Unreachable) })
    }

    /// The same for a list that is printed as one object: what a server offered when it was there is shown, with what is wrong with it beside it.
    pub(crate) fn judge_listed(&self, views: &[ServerView], talk: &Talk) -> Result<Ending> {
        match self.judge(views) {
            Err(error) if views.iter().any(ServerView::is_out_of_reach) => {
                talk.error(&error);
                Ok(error.ending())
            }
            judged => judged,
        }
    }

    /// Why something that was looked for cannot be had: nobody has it, or whoever has it cannot be reached.
    pub(crate) fn not_had(&self, error: &Error, views: &[ServerView]) -> CommandError {
        let is_meant = |view: &&ServerView| view.is_out_of_reach() && error.server() == Some(view.name());
        let failed = views.iter().find(is_meant).and_then(|view| self.of(view));
        failed.unwrap_or_else(|| self.missing(error.clone().into(), views))
    }

    /// Something that nobody has. A server that could not be asked may have it, and then that is why it is missing.
    pub(crate) fn missing(&self, unknown: CommandError, views: &[ServerView]) -> CommandError {
        let failed = views.iter().filter(|view| is_down(view)).find_map(|view| self.of(view));
        match failed {
            Some(failure) if self.is_about_one => failure,
            Some(failure) => unknown.ending_in(failure.ending()),
            None => unknown,
        }
    }

    fn ends_here(&self, view: &ServerView) -> bool {
        self.is_about_one && is_down(view)
    }
}

/// Whether nothing of a server can be used now.
fn is_down(view: &ServerView) -> bool {
    view.agreed.is_none() || view.is_out_of_reach()
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
    let error = match view.remembered_at.filter(|_| view.is_out_of_reach()) {
        Some(at) => error.about(server).hint(format!("what it offered is known since {}", utc(at))),
        None => error.about(server),
    };
    Some(if surroundings == Surroundings::Sandbox {
        error.last_hint_with(" (check sandbox availability)")
    } else {
        error
    })
}

/// `2026-01-31 12:00:00Z`.
fn utc(at: SystemTime) -> String {
    let at = Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.0}").replace('T', " ")
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
        ErrorKind::Connect | ErrorKind::TimedOut if has_url && is_down(view) && !is_answered(error) => {
            known.hint(format!("Cannot connect to '{server}': server may be down or URL incorrect"))
        }
        // Nothing was said on any wire.
        ErrorKind::Settings => known,
        _ => known.hint(format!("`toolgate mcp test {} --debug` shows what is said on the wire", as_word(server))),
    }
}
