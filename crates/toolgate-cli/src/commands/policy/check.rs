//! `toolgate policy check`: what is wrong with policy files. Exit code 9 when something has to be mended.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use toolgate::limits::CHECKED_PARTS_MAX;
use toolgate::policy::file::{Finding, KnownTool, Severity};
use toolgate::registry::{Catalog, CatalogTool};
use toolgate::rulebook::{PolicyFile, Rulebook, Unmatched};
use toolgate::{Interest, Setup};

use crate::arrival::all_settled;
use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::{Form, Printer};
use crate::rule_text;
use crate::session::Session;
use crate::unmatched;

/// Find what is wrong with policy files
///
/// Besides what cannot be read: rules that can never match because another one decides first, and conditions on
/// arguments that a tool does not take. Tools of the built-in server are known; --connect asks all servers for theirs.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Exit code 9 when something has to be mended, with --connect also a mistyped name; warnings alone are none. Without files, those that are in force are checked.

Examples:
  toolgate policy check
  toolgate policy check --connect
  toolgate policy check .toolgate/policies/shell.toml --json"
)]
pub(crate) struct Arguments {
    /// Files, or folders with policy files
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Start the servers, and hold the rules against what their tools take
    #[arg(long)]
    connect: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let mut options = session.setup_options();
    if !arguments.files.is_empty() {
        options.rules.policies = Some(arguments.files.clone());
    }
    let configured = Configured::new(Setup::read(session.env(), &options)?, session.printer.talk());
    let mut book = configured.setup().rulebook();
    let servers = match configured.setup().admitted() {
        Ok(all) => all.only(|server| arguments.connect || server.transport.builtin().is_some()),
        Err(untrusted) if arguments.connect => return Err(untrusted.into()),
        Err(_) => return print(&mut session.printer, &book, arguments, (&[], &[])),
    };
    let plan = configured.plan(Interest::TOOLS).with_memory().reporting_lists();
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let catalog = host.catalog_now();
        let of_settings = hold_against(&mut book, configured.setup(), &catalog);
        let unmatched = fitting_nothing(configured.setup(), &catalog, arguments.connect);
        print(printer, &book, arguments, (&of_settings, &unmatched))
    })
}

/// Holds the rules against what tools take.
fn hold_against(book: &mut Rulebook, setup: &Setup, catalog: &Catalog) -> Vec<Finding> {
    let schema = |tool: &CatalogTool| tool.input_schema().value_within(CHECKED_PARTS_MAX).unwrap_or_default();
    let tools: Vec<(&CatalogTool, Value)> = catalog.tools().iter().map(|tool| (tool, schema(tool))).collect();
    let known = tools.iter().filter_map(|(tool, schema)| {
        let builtin = catalog.offer_of(tool)?.line.config().transport.builtin();
        Some(KnownTool { server: &tool.id.server, builtin, tool: &tool.id.tool, schema })
    });
    book.check_arguments(&setup.settings, &setup.servers, &known.collect::<Vec<_>>())
}

/// Entries that match nothing. Without `--connect`, only those that are almost the name of a built-in tool.
fn fitting_nothing(setup: &Setup, catalog: &Catalog, is_connected: bool) -> Vec<Unmatched> {
    let is_built_in = |name: &str| {
        let mut tools = catalog.tools().iter().filter(|tool| &*tool.id.tool == name);
        tools.any(|tool| catalog.offer_of(tool).is_some_and(|offer| offer.line.config().transport.builtin().is_some()))
    };
    // Reading the file has reported this already.
    let is_a_finding = |one: &Unmatched| {
        one.is_rule && one.server.is_none() && one.is_mistyped && one.nearest.as_deref().is_some_and(is_built_in)
    };
    let mut found =
        if is_connected { unmatched::all(setup, None, catalog) } else { unmatched::beside_built_in(setup, catalog) };
    found.retain(|one| is_connected || !is_a_finding(one));
    found
}

fn errors_of(file: &PolicyFile) -> usize {
    file.findings.iter().filter(|one| one.severity == Severity::Error).count() + usize::from(file.unreadable.is_some())
}

fn print(
    printer: &mut Printer,
    book: &Rulebook,
    arguments: &Arguments,
    (of_settings, unmatched): (&[Finding], &[Unmatched]),
) -> Result<Ending> {
    let named: Vec<&PolicyFile> = match arguments.files.is_empty() {
        true => book.files.iter().collect(),
        false => book.files.iter().filter(|file| file.is_named).collect(),
    };
    let found = |file: &&&PolicyFile| file.unreadable.is_some() || !file.findings.is_empty();
    let wrong: Vec<&PolicyFile> = named.iter().filter(found).copied().collect();
    let is_error = |one: &&Finding| one.severity == Severity::Error;
    // Only where the tools of all servers are known, a name that is almost one of theirs is certainly mistyped.
    let mistyped = unmatched.iter().filter(|one| arguments.connect && one.is_mistyped).count();
    let of_settings_files = of_settings.iter().filter(is_error).count();
    let errors = wrong.iter().map(|file| errors_of(file)).sum::<usize>() + of_settings_files + mistyped;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.flag("ok", errors == 0)?;
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
                })?;
                object.array("settings", of_settings, rule_text::write_finding)?;
                object.array("fitsNothing", unmatched, unmatched::write)
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
            for finding in of_settings {
                let path = finding.file.as_deref().map(|file| file.display().to_string()).unwrap_or_default();
                rule_text::finding(&path, finding, paint).iter().try_for_each(|line| printer.line(line))?;
            }
            unmatched::print(unmatched, printer)?;
            let rules: usize = named.iter().map(|file| file.rules).sum();
            let (files, rules) = (counted(named.len(), "file"), counted(rules, "rule"));
            let is_nothing_wrong = wrong.is_empty() && of_settings.is_empty() && unmatched.is_empty();
            let verdict = match (is_nothing_wrong, errors) {
                (true, _) if named.is_empty() => "there is nothing to check".to_owned(),
                (true, _) => "nothing is wrong".to_owned(),
                (false, 0) => "only warnings".to_owned(),
                (false, _) => format!("{} to mend", counted(errors, "error")),
            };
            printer.talk().line(&format!("{files}, {rules}: {verdict}"));
        }
    }
    Ok(if errors == 0 { Ending::Done } else { Ending::Found })
}
