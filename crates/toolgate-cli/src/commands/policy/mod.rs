//! `toolgate policy …`: which rules there are, what they decide, and what is wrong with them. Nothing is called.

mod check;
mod explain;
mod list;
mod preset;
mod recorded;
mod review;
mod simulate;
mod suggest;

pub(crate) use simulate::since;

use clap::Subcommand;

use crate::error::Result;
use crate::exit_code::Ending;
use crate::session::Session;

/// What can be done with policies.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Explain(explain::Arguments),
    Check(check::Arguments),
    Simulate(simulate::Arguments),
    Suggest(suggest::Arguments),
    Review(review::Arguments),
    Preset(preset::Arguments),
}

/// Runs one of them.
pub(crate) fn run(session: &mut Session, command: &Command) -> Result<Ending> {
    match command {
        Command::List(arguments) => list::run(session, arguments),
        Command::Explain(arguments) => explain::run(session, arguments),
        Command::Check(arguments) => check::run(session, arguments),
        Command::Simulate(arguments) => simulate::run(session, arguments),
        Command::Suggest(arguments) => suggest::run(session, arguments),
        Command::Review(arguments) => review::run(session, arguments),
        Command::Preset(arguments) => preset::run(session, arguments),
    }
}
