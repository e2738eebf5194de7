//! `toolgate policy preset`: lists, prints and writes commented policies to start from.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use toolgate::audit::{ChangedFile, PermissionChange, PermissionKind};
use toolgate::policy::{PRESETS, Preset, PresetKind, preset};
use toolgate::rulebook::write_new_policy;
use toolgate::settings::brought::POLICIES_FOLDER;
use toolgate::shape::visible;

use crate::columns::table;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;

/// List policies to start from, or print or write one
#[derive(Debug, Args)]
#[command(
    after_help = "Without NAME the presets are listed. Without --write the preset is printed. Existing files are never overwritten.

Examples:
  toolgate policy preset                              which there are
  toolgate policy preset read-only
  toolgate policy preset developer --write
  toolgate policy preset files --for notes --write    rules for the server that your settings call `notes`
  toolgate policy preset ci --write .toolgate/policies/ci.toml"
)]
pub(crate) struct Arguments {
    /// Which one
    #[arg(value_parser = PossibleValuesParser::new(PRESETS.iter().map(|preset| preset.name)))]
    name: Option<String>,
    /// The name of the server in your settings, for a preset about one kind of server
    #[arg(long = "for", value_name = "SERVER", requires = "name")]
    server: Option<String>,
    /// Write it there; without a path, among your own policies
    #[arg(long, value_name = "FILE", num_args = 0..=1, requires = "name")]
    write: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub(crate) reason: Reason,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let Some(name) = &arguments.name else { return list(session) };
    let preset = preset(name).ok_or_else(|| CommandError::usage("there is no such preset"))?;
    let text = match &arguments.server {
        Some(server) if matches!(preset.kind, PresetKind::Server { .. }) => preset.text_for(server),
        Some(_) => {
            let message = format!("preset `{name}` is not about one server, so `--for` does not apply");
            return Err(CommandError::usage(message).hint("`toolgate policy preset` lists the presets for servers"));
        }
        None => preset.text.to_owned(),
    };
    let Some(path) = &arguments.write else {
        session.printer.raw_result(&text)?;
        return Ok(Ending::Done);
    };
    let env = session.env();
    let file_name =
        arguments.server.as_deref().map_or_else(|| name.clone(), |server| format!("{name}-{}", plain(server)));
    let own = || env.dirs.user.join(POLICIES_FOLDER).join(format!("{file_name}.toml"));
    let path = path.as_ref().map_or_else(own, |path| env.workspace.join(path));
    let is_written = write_new_policy(env, &path, &text).map_err(|error| CommandError::usage(error.to_string()))?;
    if !is_written {
        let error = CommandError::usage(format!("{} already exists and is not overwritten", path.display()));
        return Err(error.hint("give `--write` another file, or remove this one first"));
    }
    let change = PermissionChange::new(PermissionKind::Preset, name);
    arguments.reason.record(session, change.files([ChangedFile::of_texts(&path, None, Some(&text))]));
    if let Some(server) = &arguments.server {
        tell_unknown(session, server)?;
    }
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("preset", name)?;
                object.string("file", &path.display().to_string())
            })
        })?,
        Form::Text => printer.line(&format!("wrote {}", path.display()))?,
    }
    Ok(Ending::Done)
}

/// Warns about a server that the settings do not have: its rules have no effect.
fn tell_unknown(session: &Session, server: &str) -> Result<()> {
    let configured = session.looked_at()?;
    let servers = &configured.setup().servers;
    let is_known = servers.active.iter().any(|one| one.name.as_str() == server)
        || servers.set_aside.iter().any(|one| one.name == server);
    if !is_known {
        let error = configured.unknown(server);
        let talk = session.printer.talk();
        talk.line(&format!("{} {}", talk.paint().yellow("warning:"), visible::line(&error.in_one_line())));
    }
    Ok(())
}

/// A server's name as part of a file name.
fn plain(server: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    server.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

fn list(session: &mut Session) -> Result<Ending> {
    let printer = &mut session.printer;
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.array("presets", &PRESETS, |json, preset| {
                    json.object(|object| {
                        object.string("name", preset.name)?;
                        object.string("kind", preset.kind.as_str())?;
                        let server = match preset.kind {
                            PresetKind::Server { name } => Some(name),
                            PresetKind::General | PresetKind::Surroundings => None,
                        };
                        object.optional_string("server", server)?;
                        object.string("about", preset.about)
                    })
                })
            })
        })?;
        return Ok(Ending::Done);
    }
    let row = |preset: &Preset| [preset.name, preset.kind.as_str(), preset.about].map(ToOwned::to_owned).to_vec();
    let rows = PRESETS.iter().map(row).collect();
    for line in table(&["PRESET", "FOR", "WHAT IT DOES"], rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    printer.talk().line("`toolgate policy preset NAME --write` adds one to your policies");
    Ok(Ending::Done)
}
