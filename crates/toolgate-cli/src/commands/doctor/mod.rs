//! `toolgate doctor`: what there is, which setting won, what holds a server back, and what is wrong with it.

mod files;
mod print;
mod program;
mod server;

use clap::Args;
use toolgate::{Catalog, Interest};

use self::server::Checkup;
pub(crate) use self::server::policy;
use crate::arrival::all_settled;
use crate::configured::Configured;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;
use crate::unmatched;

/// Explain your settings and check every server
///
/// Exit code 9 when something was found, 2 when a settings file cannot be read.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate doctor                    everything
  toolgate doctor --server github    one server
  toolgate doctor --no-connect       without starting anything
  toolgate doctor --environment      also the names of the variables each server receives"
)]
pub(crate) struct Arguments {
    /// Start nothing
    #[arg(long)]
    no_connect: bool,
    /// Also list the names of the variables that each server receives
    #[arg(long)]
    environment: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let configured = session.looked_at()?;
    let only = session.options().server.clone();
    let meant = configured.meant(only.as_deref())?;
    let is_asked_for = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let mut checkups: Vec<Checkup> = meant.into_iter().map(|config| Checkup::of(config, &configured)).collect();
    let aside = configured.set_aside().filter(|one| is_asked_for(&one.name));
    checkups.extend(aside.map(|one| Checkup::of_set_aside(one, &configured)));
    let report = |printer: &mut Printer, checkups: &[Checkup], catalog: &Catalog| {
        let only = only.as_ref().map(std::slice::from_ref);
        let unmatched = unmatched::all(configured.setup(), only, catalog);
        match printer.form() {
            Form::Json => printer.json(|json| print::write(json, &configured, checkups, &unmatched))?,
            Form::Text => print::print(printer, &configured, (checkups, &unmatched), arguments.environment)?,
        }
        let is_any_mistyped = unmatched.iter().any(|one| one.is_mistyped);
        let is_any_ill = checkups.iter().any(Checkup::is_ill) || has_errors(&configured) || is_any_mistyped;
        Ok(match configured.ending() {
            Ending::Done if is_any_ill => Ending::Found,
            ending => ending,
        })
    };
    // Whatever keeps servers from being started is part of the report.
    if arguments.no_connect || configured.untrusted().is_some() {
        return report(&mut session.printer, &checkups, &Catalog::default());
    }
    let servers = configured.chosen(None)?.only(|server| is_asked_for(&server.name));
    let troubles = Troubles::new(session, false);
    session.with_host(&configured.plan(Interest::ALL).reporting_lists(), async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let catalog = host.catalog_now();
        for view in host.servers() {
            if let Some(checkup) = checkups.iter_mut().find(|one| one.name == view.name().as_str()) {
                checkup.met(&view, &catalog, troubles, host.stderr_tail(view.name()));
            }
        }
        report(printer, &checkups, &catalog)
    })
}

fn has_errors(configured: &Configured) -> bool {
    let setup = configured.setup();
    let is_error = |one: &toolgate::settings::Diagnostic| one.severity == toolgate::settings::Severity::Error;
    setup.diagnostics().iter().any(is_error) || !setup.troubles.is_empty()
}
