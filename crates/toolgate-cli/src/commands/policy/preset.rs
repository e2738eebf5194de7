//! `toolgate policy preset`: a policy to start from, with comments.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use toolgate::policy::{PRESETS, preset};
use toolgate::settings::brought::POLICIES_FOLDER;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::session::Session;

/// Write a policy to start from, with comments
#[derive(Debug, Args)]
#[command(after_help = "Without --write it is printed. Nothing that is there is overwritten.

Examples:
  toolgate policy preset read-only
  toolgate policy preset developer --write
  toolgate policy preset locked-down --write .toolgate/policies/locked-down.toml")]
pub(crate) struct Arguments {
    /// Which one
    #[arg(value_parser = PossibleValuesParser::new(PRESETS.iter().map(|preset| preset.name)))]
    name: String,
    /// Write it there; without a path, among your own policies
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    write: Option<Option<PathBuf>>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let preset = preset(&arguments.name).ok_or_else(|| CommandError::usage("there is no such preset"))?;
    let text = preset.text;
    let Some(path) = &arguments.write else {
        session.printer.raw_result(text)?;
        return Ok(Ending::Done);
    };
    let env = session.env();
    let own = || env.dirs.user.join(POLICIES_FOLDER).join(format!("{}.toml", arguments.name));
    let path = path.as_ref().map_or_else(own, |path| env.workspace.join(path));
    // Elsewhere it is as the person's umask says.
    let is_own = path.starts_with(&env.dirs.user);
    let cannot = |error: &std::io::Error| {
        if path.exists() {
            let error = CommandError::usage(format!("{} is there already, and is not overwritten", path.display()));
            return error.hint("name another file behind `--write`, or remove it first");
        }
        CommandError::usage(format!("cannot write {}: {error}", path.display()))
    };
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(if is_own { 0o700 } else { 0o777 })
            .create(folder)
            .map_err(|error| cannot(&error))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(if is_own { 0o600 } else { 0o666 }).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| cannot(&error))?;
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("preset", &arguments.name)?;
                object.string("file", &path.display().to_string())
            })
        })?,
        Form::Text => printer.line(&format!("wrote {}", path.display()))?,
    }
    Ok(Ending::Done)
}
