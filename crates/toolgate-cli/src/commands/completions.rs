//! `toolgate completions`: what a shell needs to complete our command lines, and the answers when it asks. No server is started for them.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::args::{Cli, Options};
use crate::commands::mcp::written::Written;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::session::{self, Session};

/// The variable by which a shell asks us.
const VARIABLE: &str = "COMPLETE";

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Put one of these where your shell starts:
  source <(toolgate completions bash)
  source <(toolgate completions zsh)
  toolgate completions fish | source")]
pub(crate) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    session.printer.line(script(&arguments.shell.to_string())?.trim_end())?;
    Ok(Ending::Done)
}

/// The script that has a shell ask this program.
pub(crate) fn script(shell: &str) -> Result<String> {
    let shells = Shells::builtins();
    let Some(found) = shells.completer(shell) else {
        return Err(CommandError::usage(format!("there are no completions for {shell}")));
    };
    let mut script = Vec::new();
    found.write_registration(VARIABLE, "toolgate", "toolgate", "toolgate", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Answers a shell that asks what could be typed next.
pub(crate) fn answer_shell() -> ExitCode {
    let folder = session::current_folder();
    let asked = CompleteEnv::with_factory(Cli::command).var(VARIABLE).completer("toolgate");
    match asked.try_complete(session::words(), Some(&folder)) {
        Ok(_) => Ending::Done.into(),
        Err(error) => {
            // The shell shows nothing of it; a person who tries it by hand sees it.
            let _said = std::io::stderr().lock().write_all(error.to_string().as_bytes()).is_ok();
            Ending::Usage.into()
        }
    }
}

/// Completes the name of a server from the settings.
pub(crate) fn complete_server() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = Session::server_names(named_file().as_deref());
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The same for every server that is written somewhere, whether it is used or not.
pub(crate) fn complete_written_server() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let session = Session::new(Options::default());
        let written = Written::of(session.env(), named_file().as_deref());
        written.names().into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The file after `--config`, as far as the line is typed.
fn named_file() -> Option<PathBuf> {
    session::words().skip_while(|word| word != "--config").nth(1).map(PathBuf::from)
}
