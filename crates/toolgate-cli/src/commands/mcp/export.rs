//! `toolgate mcp export`: your servers as a configuration file of another client.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use toolgate::formats::{Exported, Format, NamedServer, NoteKind, write};
use toolgate::servers::SetAside;
use toolgate::settings::raw::{RawEntry, RawServerEntry};
use toolgate::settings::{Settings, SettingsSource};
use toolgate::shape::visible;

use crate::commands::completions::complete_server;
use crate::commands::mcp::import::formats;
use crate::commands::mcp::import_report::notes;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::session::Session;
use crate::similar::did_you_mean;

/// Write your servers as a configuration file of another client
///
/// Servers are written as they stand in the settings: variables and references to secrets are turned into what that client
/// knows, and are never looked up. What cannot be written is told on stderr.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate mcp export --to vscode -o .vscode/mcp.json
  toolgate mcp export --to codex github time >> ~/.codex/config.toml"
)]
pub(crate) struct Arguments {
    /// Whose file it is to be
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: Format,
    /// The servers; without this all that are in use
    #[arg(value_name = "NAME", add = complete_server())]
    names: Vec<String>,
    /// A new file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let configured = session.whole()?;
    let set_aside: Vec<&SetAside> = configured.set_aside().collect();
    let (servers, left_out) = chosen(&configured.setup().settings, &set_aside, &arguments.names)?;
    let exported = write(arguments.to, &servers);
    let file = arguments.output.as_ref().map(|file| session.env().workspace.join(file));
    if let Some(file) = &file {
        write_new(file, &exported.text)?;
    }
    match session.printer.form() {
        Form::Json => print_json(session, arguments.to, file.as_deref(), &exported)?,
        Form::Text => {
            if file.is_none() {
                session.printer.raw_result(&exported.text)?;
            }
            session.printer.flush()?;
            tell(session, file.as_deref(), &exported);
            left_out.iter().for_each(|line| session.printer.talk().line(&visible::line(line)));
        }
    }
    Ok(Ending::Done)
}

/// The entries that count, in the order of the settings: those that were named, or all that are in use; and what is said about the others.
fn chosen(settings: &Settings, set_aside: &[&SetAside], names: &[String]) -> Result<(Vec<NamedServer>, Vec<String>)> {
    let entries = winners(settings);
    if let Some(missing) = names.iter().find(|name| !entries.iter().any(|one| one.name.value == **name)) {
        let error = CommandError::new(Ending::Unknown, "unknown_server", format!("there is no server `{missing}`"));
        let error = error.about(missing);
        let meant = did_you_mean(missing, entries.iter().map(|one| one.name.value.as_str()));
        return Err(meant.into_iter().fold(error, CommandError::hint));
    }
    let (mut servers, mut left_out) = (Vec::new(), Vec::new());
    for one in entries {
        let name = &one.name.value;
        let is_named = names.contains(name);
        if !names.is_empty() && !is_named {
            continue;
        }
        let unused = set_aside.iter().find(|aside| aside.name == *name).filter(|_| !is_named);
        match (&one.entry, unused) {
            (RawEntry::Broken(reason), _) => left_out.push(format!("{name} is left out: {reason}")),
            (RawEntry::Server(_), Some(aside)) => {
                left_out.push(format!("{name} is left out: {}; name it to have it", aside.reason));
            }
            (RawEntry::Server(server), None) => {
                servers.push(NamedServer { name: name.clone(), server: (**server).clone() });
            }
        }
    }
    Ok((servers, left_out))
}

/// Of each name the entry of the highest layer. What toolgate brings itself is nobody else's business.
fn winners(settings: &Settings) -> Vec<&RawServerEntry> {
    let mut layers: Vec<_> = settings.layers.iter().filter(|layer| layer.source != SettingsSource::BuiltIn).collect();
    layers.sort_by_key(|layer| std::cmp::Reverse(layer.source));
    let mut taken = HashSet::new();
    let entries = layers.into_iter().flat_map(|layer| &layer.settings.mcp_servers);
    entries.filter(|entry| taken.insert(entry.name.value.as_str())).collect()
}

/// Writes a file that is not there yet, for its owner alone: settings may hold secrets.
fn write_new(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let what = format!("{}: {error}", path.display());
        let failure = CommandError::new(Ending::Usage, "export", what);
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                failure.hint("nothing is overwritten; choose another name, or add the servers to that file yourself")
            }
            _ => failure,
        }
    })
}

fn tell(session: &Session, file: Option<&Path>, exported: &Exported) {
    let talk = session.printer.talk();
    let paint = talk.paint();
    for note in &exported.notes {
        let label = match note.kind {
            NoteKind::Lost => paint.yellow("not carried over:"),
            NoteKind::Changed => paint.yellow("note:"),
        };
        talk.line(&format!("{label} {}", visible::line(&note.to_string())));
    }
    if let Some(file) = file {
        talk.line(&format!("{} written to {}", counted(exported.count, "server"), file.display()));
    }
}

fn print_json(session: &mut Session, format: Format, file: Option<&Path>, exported: &Exported) -> Result<()> {
    session.printer.json(|json| {
        json.object(|object| {
            object.string("format", format.as_str())?;
            object.number("servers", exported.count as u64)?;
            object.optional_string("file", file.map(|file| file.display().to_string()).as_deref())?;
            object.optional_string("text", Some(exported.text.as_str()).filter(|_| file.is_none()))?;
            notes(object, &exported.notes)
        })
    })?;
    Ok(())
}
