//! `toolgate mcp …`: the servers in the settings.

pub(crate) mod add;
pub(crate) mod remove;

pub(crate) mod list;
pub(crate) mod server_text;

pub(crate) mod auth;
pub(crate) mod logout;

pub(crate) mod disable;
pub(crate) mod enable;
pub(crate) mod refresh;
mod switch;

pub(crate) mod test;

pub(crate) mod trust_hints;

pub(crate) mod import;
mod import_beside;
mod import_files;
mod import_plan;
mod import_policy;
mod import_report;
mod import_taken;
mod import_there;
pub(crate) mod scope;
pub(crate) mod written;

pub(crate) mod export;

use clap::Subcommand;

/// What can be done with servers.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(Box<add::Arguments>),
    Remove(remove::Arguments),
    List(list::Arguments),
    /// The same as `list --desc`
    #[command(hide = true)]
    Desc(list::Filtered),
    /// The same as `list --schema`
    #[command(hide = true)]
    Schema(list::Filtered),
    /// The same as `list`
    #[command(hide = true)]
    Nodesc(list::Filtered),
    Enable(enable::Arguments),
    Disable(disable::Arguments),
    Test(test::Arguments),
    TrustHints(trust_hints::Arguments),
    Auth(Box<auth::Arguments>),
    Logout(logout::Arguments),
    Refresh(refresh::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
}
