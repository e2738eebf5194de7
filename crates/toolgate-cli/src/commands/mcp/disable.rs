//! `toolgate mcp disable`: switches servers off and leaves their settings alone.

use clap::Args;

use crate::commands::mcp::switch::{Switched, Way, switch};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::session::Session;

/// Switch servers off, without changing their settings
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp disable github
  toolgate mcp disable workspace      the built-in server can be switched off too")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) switched: Switched,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    switch(session, &arguments.switched, Way::Disable)
}
