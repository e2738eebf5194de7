//! `toolgate workspace-server`: the built-in server as a process of its own, for any MCP client.

use std::path::PathBuf;

use clap::Args;
use toolgate::settings::include_directories::included_in_run;
use toolgate::wire::server::Server;
use toolgate_workspace::{Workspace, WorkspaceOptions};

use crate::configured::tell;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::interrupted;
use crate::session::Session;

/// Run the built-in server over stdin and stdout, for other MCP clients
#[derive(Debug, Args)]
#[command(after_help = "An entry in the settings of another client looks like this:
  \"files\": {\"command\": \"toolgate\", \"args\": [\"workspace-server\", \"--root\", \"/path/to/project\"]}")]
pub(crate) struct Arguments {
    /// The folder it is confined to; without this the current one
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// The folders beside it. Settings of toolgate have no say in what another client starts.
fn included(session: &Session) -> Vec<PathBuf> {
    let (folders, diagnostics) = included_in_run(session.env(), &session.options().include_directories());
    diagnostics.iter().for_each(|one| tell(one, session.printer.talk()));
    folders.into_iter().map(|folder| folder.path).collect()
}

/// Runs the command until the client closes stdin.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let env = session.env();
    let root = arguments.root.as_ref().map_or_else(|| env.workspace.to_path_buf(), |root| env.workspace.join(root));
    // Whoever starts this process decides what its environment is.
    let variables = env.vars.iter().map(|(name, value)| (name.into(), value.into()));
    let options =
        WorkspaceOptions::new().shell_env(variables).included(included(session)).closed(env.own_folder_to_close());
    let workspace = Workspace::open(&root, options)
        .map_err(|error| CommandError::usage(format!("cannot serve {}: {error}", root.display())))?;
    session.in_runtime(async |_| {
        let server = Server::new(workspace);
        tokio::select! {
            _closed = server.serve_stream(tokio::io::stdin(), tokio::io::stdout()) => {}
            () = interrupted() => {}
        }
        Ok(Ending::Done)
    })
}
