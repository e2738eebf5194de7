//! The commands, one per file: what can be typed, and what it does.

pub(crate) mod mcp;

pub(crate) mod tools;

pub(crate) mod call;

pub(crate) mod ask_model;

mod offers;

pub(crate) mod prompts;

pub(crate) mod prompt;

pub(crate) mod resources;

pub(crate) mod read;

pub(crate) mod policy;

pub(crate) mod trust;

pub(crate) mod grants;

pub(crate) mod revisions;

pub(crate) mod audit;

pub(crate) mod doctor;

pub(crate) mod extensions;

pub(crate) mod settings;

pub(crate) mod up;

pub(crate) mod down;

pub(crate) mod ps;

pub(crate) mod completions;
pub(crate) mod generate;
pub(crate) mod workspace_server;

use crate::args::Command;
use crate::chat;
use crate::commands::mcp::server_text::Detail;
use crate::exit_code::Ending;
use crate::kept_revision::{self, Editing};
use crate::session::Session;

/// Runs a command. What goes wrong is told here, in the form that was asked for.
pub(crate) fn run(session: &mut Session, command: Command) -> Ending {
    let editing = Editing::of(&command);
    if let Err(error) = kept_revision::before(session, editing.as_ref()) {
        return session.printer.report(&error);
    }
    let ending = run_alone(session, command);
    kept_revision::after(session, editing.as_ref());
    ending
}

fn run_alone(session: &mut Session, command: Command) -> Ending {
    let ended = match command {
        Command::Mcp(mcp::Command::Add(arguments)) => mcp::add::run(session, &arguments),
        Command::Mcp(mcp::Command::Remove(arguments)) => mcp::remove::run(session, &arguments),
        Command::Mcp(mcp::Command::Enable(arguments)) => mcp::enable::run(session, &arguments),
        Command::Mcp(mcp::Command::Disable(arguments)) => mcp::disable::run(session, &arguments),
        Command::Mcp(mcp::Command::List(arguments)) => mcp::list::run(session, &arguments),
        Command::Mcp(mcp::Command::Desc(filter)) => mcp::list::run(session, &filter.listed(Detail::Descriptions)),
        Command::Mcp(mcp::Command::Schema(filter)) => mcp::list::run(session, &filter.listed(Detail::Schemas)),
        Command::Mcp(mcp::Command::Nodesc(filter)) => mcp::list::run(session, &filter.listed(Detail::Names)),
        Command::Mcp(mcp::Command::Test(arguments)) => mcp::test::run(session, &arguments),
        Command::Mcp(mcp::Command::TrustHints(arguments)) => mcp::trust_hints::run(session, &arguments),
        Command::Mcp(mcp::Command::Auth(arguments)) => mcp::auth::run(session, &arguments),
        Command::Mcp(mcp::Command::Logout(arguments)) => mcp::logout::run(session, &arguments),
        Command::Mcp(mcp::Command::Import(arguments)) => mcp::import::run(session, &arguments),
        Command::Mcp(mcp::Command::Export(arguments)) => mcp::export::run(session, &arguments),
        Command::Tools(arguments) => tools::run(session, &arguments),
        Command::Call(arguments) => call::run(session, &arguments),
        Command::Prompts(arguments) => prompts::run(session, &arguments),
        Command::Prompt(arguments) => prompt::run(session, &arguments),
        Command::Resources(arguments) => resources::run(session, &arguments),
        Command::Read(arguments) => read::run(session, &arguments),
        Command::Policy(command) => policy::run(session, &command),
        Command::Trust(arguments) => trust::run(session, &arguments),
        Command::Grants(command) => grants::run(session, &command),
        Command::Revisions(command) => revisions::run(session, &command),
        Command::Audit(command) => audit::run(session, &command),
        Command::Mcp(mcp::Command::Refresh(arguments)) => mcp::refresh::run(session, &arguments),
        Command::Extensions(command) => extensions::run(session, &command),
        Command::Doctor(arguments) => doctor::run(session, &arguments),
        Command::Settings(command) => settings::run(session, &command),
        Command::Up(arguments) => up::run(session, &arguments),
        Command::Down(arguments) => down::run(session, &arguments),
        Command::Ps(arguments) => ps::run(session, &arguments),
        Command::Completions(arguments) => completions::run(session, &arguments),
        Command::Generate(arguments) => generate::run(session, &arguments),
        Command::Ask(arguments) => ask_model::run(session, &arguments),
        Command::WorkspaceServer(arguments) => workspace_server::run(session, &arguments),
    };
    let ended = ended.and_then(|ending| match ending {
        // It has been told, and what could not be written then cannot be now.
        Ending::Output => Ok(ending),
        _ => Ok(session.printer.flush().map(|()| ending)?),
    });
    ended.unwrap_or_else(|error| session.printer.report(&error))
}

/// Runs a session: `toolgate` alone.
pub(crate) fn session(session: &mut Session) -> Ending {
    chat::run(session).unwrap_or_else(|error| session.printer.report(&error))
}
