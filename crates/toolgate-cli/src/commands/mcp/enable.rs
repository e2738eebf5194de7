//! `toolgate mcp enable`: switches servers on again.

use clap::Args;

use crate::commands::mcp::switch::{Switched, Way, switch};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::session::Session;

/// Switch servers on that were switched off
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp enable github
  toolgate mcp enable github gitlab --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) switched: Switched,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    switch(session, &arguments.switched, Way::Enable)
}
