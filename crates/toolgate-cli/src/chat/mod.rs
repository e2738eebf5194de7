//! The session: `toolgate` alone. Commands are typed one after the other, and all use one host, whose servers start while the first one is typed.
//!
//! `line.rs` says what a line is, `act.rs` does it; `editor.rs` reads lines from a terminal, `script.rs` from anything else.

mod lasting;

pub(crate) mod line;

mod act;
mod answers;
mod code_colours;
mod markdown;
mod model;
mod prompts;
mod stats;

mod ahead;
mod editor;
mod history;
mod keys;
mod script;

mod complete;
mod live_offer;

mod background;
mod news;
mod status;

pub(crate) use self::lasting::LastingHost;

use std::sync::Arc;
use std::time::Instant;

use toolgate::trust::AdmittedServers;
use toolgate_model::Conversation;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::interrupted;
use crate::session::{self, Session};

use self::status::Standing;

/// Threads that work for the session while the main one waits for keys.
const WORKERS: usize = 2;

/// A session that runs.
#[derive(Debug)]
pub(crate) struct Chat<'s> {
    session: &'s mut Session,
    host: Arc<LastingHost>,
    standing: Arc<Standing>,
    begun: Instant,
    /// What is to be started once the first prompt stands.
    servers: AdmittedServers,
    /// What was said to the model, and by it.
    conversation: Option<Conversation>,
    /// The model that was chosen instead of the one of the settings.
    chosen_model: Option<String>,
}

/// What follows a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The next one; this one ended so.
    Next(Ending),
    /// The end.
    Leave,
}

/// Runs the session.
pub(crate) fn run(session: &mut Session) -> Result<Ending> {
    let configured = session.configured()?;
    let servers = configured.chosen(session.options().server.as_deref())?;
    let lender = session::lender();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    let runtime = runtime.map_err(|error| {
        CommandError::new(Ending::Unreachable, "runtime", format!("cannot start the runtime: {error}"))
    })?;
    let inside = runtime.enter();
    let host = Arc::new(LastingHost::new(session, &configured, lender)?);
    session.lasts_with(host.clone());
    session.printer.talk().reword_errors(line::as_typed_here);
    session.printer.talk().stops_with(host.stop());
    // Nothing runs yet that a server could ask something about.
    session.printer.talk().give_up_question();
    let heeds = host.clone();
    runtime.spawn(async move { heeds.heed_interrupts().await });
    let standing = Arc::new(Standing::new(host.clone(), configured.setup()));
    let mut chat = Chat {
        session,
        host: host.clone(),
        standing,
        begun: Instant::now(),
        servers,
        conversation: None,
        chosen_model: None,
    };
    let ended = if chat.has_a_terminal() { editor::run(&mut chat) } else { script::run(&mut chat) };
    drop(inside);
    runtime.block_on(async {
        tokio::select! {
            () = host.host().shutdown() => {}
            () = interrupted() => {} // Whoever says it twice means it.
        }
    });
    // A thread that still waits for a key is not waited for.
    runtime.shutdown_background();
    ended
}

impl Chat<'_> {
    /// Whether somebody types at a terminal that can move its cursor.
    fn has_a_terminal(&self) -> bool {
        let terminal = self.session.printer.terminal();
        let is_dumb = self.session.env().vars.get("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
        self.session.can_be_asked() && terminal.stdout && !is_dumb
    }
}
