//! `toolgate mcp …`: the servers in the settings.

pub(crate) mod list;

pub(crate) mod test;

use clap::Subcommand;

/// What can be done with servers.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Test(test::Arguments),
}
