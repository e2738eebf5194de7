//! `toolgate policy check`: what is wrong with policy files. Exit code 9 when something is.

use std::path::PathBuf;

use clap::Args;
use toolgate::Setup;
use toolgate::policy::file::Severity;
use toolgate::rulebook::PolicyFile;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::rule_text;
use crate::session::Session;

/// Find what is wrong with policy files
#[derive(Debug, Args)]
#[command(after_help = "Exit code 9 when something is wrong. Without files, those that are in force are checked.

Examples:
  toolgate policy check
  toolgate policy check .toolgate/policies/shell.toml --json")]
pub(crate) struct Arguments {
    /// Files, or folders with policy files
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let mut options = session.setup_options();
    if !arguments.files.is_empty() {
        options.rules.policies = Some(arguments.files.clone());
    }
    let book = Setup::read(session.env(), &options)?.rulebook();
    let named: Vec<&PolicyFile> = match arguments.files.is_empty() {
        true => book.files.iter().collect(),
        false => book.files.iter().filter(|file| file.is_named).collect(),
    };
    let found = |file: &&&PolicyFile| file.unreadable.is_some() || !file.findings.is_empty();
    let wrong: Vec<&PolicyFile> = named.iter().filter(found).copied().collect();
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.flag("ok", wrong.is_empty())?;
                object.array("files", &named, |json, file| {
                    json.object(|object| {
                        object.string("file", &file.path.display().to_string())?;
                        object.string("tier", file.tier.as_str())?;
                        object.number("rules", file.rules as u64)?;
                        object.optional_string(
                            "unreadable",
                            file.unreadable.as_ref().map(ToString::to_string).as_deref(),
                        )?;
                        object.array("findings", &file.findings, rule_text::write_finding)
                    })
                })
            })
        })?,
        Form::Text => {
            let paint = printer.paint();
            for file in &wrong {
                let path = file.path.display().to_string();
                if let Some(error) = &file.unreadable {
                    printer.talk().error(&CommandError::from(error));
                }
                for line in file.findings.iter().flat_map(|finding| rule_text::finding(&path, finding, paint)) {
                    printer.line(&line)?;
                }
            }
            let rules: usize = named.iter().map(|file| file.rules).sum();
            let errors =
                wrong.iter().flat_map(|file| &file.findings).filter(|one| one.severity == Severity::Error).count();
            let (files, rules) = (counted(named.len(), "file"), counted(rules, "rule"));
            let verdict = match (wrong.is_empty(), errors) {
                (true, _) => "nothing is wrong".to_owned(),
                (false, 0) => "only warnings".to_owned(),
                (false, _) => format!("{} to mend", counted(errors, "error")),
            };
            printer.talk().line(&format!("{files}, {rules}: {verdict}"));
        }
    }
    Ok(if wrong.is_empty() { Ending::Done } else { Ending::Found })
}
