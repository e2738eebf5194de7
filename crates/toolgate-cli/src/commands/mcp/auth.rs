//! `toolgate mcp auth`: which servers need a login and why, logging in, why a login does not work, and logins for other machines.

mod carried;
mod explained;
mod overview;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgate::auth::LoginWish;
use toolgate::auth::journal::{Journal, StepOutcome};
use toolgate::auth::store::KeptLogin;
use toolgate::servers::ServerConfig;
use toolgate::shape::visible;
use toolgate::{Interest, ServerStatus, as_word};

use crate::commands::completions::complete_server;
use crate::configured::one_server;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::login::TerminalGuide;
use crate::printer::{Form, Printer};
use crate::session::Session;

/// Log in to servers, or see which of them need it and why
///
/// Logins are kept and renewed until you log out with `toolgate mcp logout`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  toolgate mcp auth                         which servers need a login, and why
  toolgate mcp auth github                  log in, in a browser
  toolgate mcp auth github --no-browser     over SSH or in a container: open the address elsewhere, paste what comes back
  toolgate mcp auth github --device         with a code that you type in on another device
  toolgate mcp auth explain github          every step of a login, and the rule that stops it
  toolgate mcp auth --export ci.age         sealed logins for another machine
  toolgate mcp auth --import ci.age"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The server to log in to; without it: which servers need a login
    #[arg(value_name = "SERVER", add = complete_server())]
    name: Option<String>,
    /// Open no browser: show the address, and take what comes back from stdin too
    #[arg(long, requires = "name")]
    no_browser: bool,
    /// Log in on another device, with a code
    #[arg(long, requires = "name")]
    device: bool,
    /// Ask for these scopes, whatever the server says (several times, or comma-separated)
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', requires = "name")]
    scope: Vec<String>,
    /// Write your logins, or that of one server, to a sealed file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_browser", "device", "scope", "import", "import_gemini"])]
    export: Option<PathBuf>,
    /// Take logins from a sealed file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_browser", "device", "scope", "name", "import_gemini"])]
    import: Option<PathBuf>,
    /// Take the logins of Gemini CLI, from its usual place or from this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["no_browser", "device", "scope", "name"])]
    import_gemini: Option<Option<PathBuf>>,
    /// Seal for this age key (`age1…`) instead of a passphrase
    #[arg(long, value_name = "KEY", requires = "export")]
    recipient: Option<String>,
    /// Open with the age key in this file instead of a passphrase
    #[arg(long, value_name = "FILE", requires = "import")]
    identity: Option<PathBuf>,
}

/// What else can be done with logins.
#[derive(Debug, Subcommand)]
enum Command {
    /// Show every step of a login, and the rule that stops it
    Explain {
        /// The server
        #[arg(value_name = "SERVER", add = complete_server())]
        name: Option<String>,
    },
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    if let Some(Command::Explain { name }) = &arguments.command {
        let name = one_server(session.options(), name.as_deref())?;
        let name =
            name.ok_or_else(|| CommandError::usage("which server? `toolgate mcp auth explain SERVER`".to_owned()))?;
        return explained::run(session, &name);
    }
    let name = one_server(session.options(), arguments.name.as_deref())?;
    match (arguments, name) {
        (Arguments { export: Some(file), recipient, .. }, name) => {
            carried::export(session, name.as_deref(), file, recipient.as_deref())
        }
        (Arguments { import: Some(file), identity, .. }, _) => carried::import(session, file, identity.as_deref()),
        (Arguments { import_gemini: Some(file), .. }, _) => carried::import_gemini(session, file.as_deref()),
        (_, Some(name)) => log_in(session, arguments, &name),
        (_, None) => overview::run(session),
    }
}

fn log_in(session: &mut Session, arguments: &Arguments, name: &str) -> Result<Ending> {
    let configured = session.configured()?;
    let config = configured.meant(Some(name))?.first().map(|config| (*config).clone());
    let config = config.ok_or_else(|| configured.unknown(name))?;
    let guide = guide(session, arguments);
    if !guide.reads_lines && !arguments.no_browser && !arguments.device && needs_a_person(&config) {
        return Err(nobody_here(&config));
    }
    let wish = LoginWish { on_device: arguments.device, scopes: arguments.scope.clone() };
    let servers = configured.chosen(Some(name))?;
    session.with_host(&configured.plan(Interest::TOOLS).without_login(), async |host, printer| {
        let journal = Journal::default();
        let kept = match host.log_in(servers.clone(), &wish, &guide, &journal).await {
            Ok(kept) => kept,
            Err(error) => return Err(failed(name, &error, &journal)),
        };
        host.start(servers);
        let view = host.settled(name).await?;
        let tools = (view.status == ServerStatus::Connected).then(|| host.catalog_now().tools().len());
        report(printer, name, &kept, tools)?;
        match view.error {
            Some(error) if tools.is_none() => {
                let known = CommandError::from(error).about(name);
                Err(known.hint(format!("the login worked; `toolgate mcp test {}` looks closer", as_word(name))))
            }
            _ => Ok(Ending::Done),
        }
    })
}

/// The person is there because they typed this; what they cannot do is open a browser where there is none.
fn guide(session: &Session, arguments: &Arguments) -> TerminalGuide {
    let options = session.options();
    let somebody_types = session.printer.terminal().can_ask() && !options.headless && !options.json;
    TerminalGuide {
        talk: session.printer.talk().clone(),
        asks_first: false,
        somebody_types,
        opens_browser: somebody_types && !arguments.no_browser && session.has_a_browser(),
        reads_lines: somebody_types || arguments.no_browser,
    }
}

/// What is no remote server is refused for that reason, whoever is there.
fn needs_a_person(config: &ServerConfig) -> bool {
    let is_remote = matches!(config.transport.kind(), "http" | "sse");
    is_remote && config.login().is_none_or(|login| login.grant.needs_a_person())
}

fn nobody_here(config: &ServerConfig) -> CommandError {
    let (name, url) = (&config.name, config.transport.target());
    let what = format!("nobody is here to log in to {name} ({url})");
    let hint = format!(
        "run `toolgate mcp auth {}` in a terminal; `--no-browser` and `--device` do without a browser here",
        as_word(name)
    );
    CommandError::new(Ending::LoginNeeded, "login_needed", what).about(name).hint(hint)
}

fn failed(name: &str, error: &toolgate::Error, journal: &Journal) -> CommandError {
    let steps = journal.steps();
    if steps.is_empty() {
        return CommandError::from(error).saying(format!("cannot log in to {name}: {error}")).about(name);
    }
    let known = CommandError::from(error).saying(format!("the login to {name} did not work: {error}")).about(name);
    let broken = steps.into_iter().rev().find(|step| step.outcome == StepOutcome::Failed);
    let known = match broken.and_then(|step| step.rule) {
        Some(rule) => known.detail(&format!("rule: {rule}")),
        None => known,
    };
    known.hint(format!("`toolgate mcp auth explain {}` shows every step", as_word(name)))
}

fn report(printer: &mut Printer, name: &str, kept: &KeptLogin, tools: Option<usize>) -> Result<()> {
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.string("server", name)?;
                object.flag("loggedIn", true)?;
                overview::write_kept(object, kept)?;
                object.optional_number("tools", tools.map(|count| count as u64))
            })
        })?;
        return Ok(());
    }
    let paint = printer.paint();
    let life = overview::life(kept);
    printer.line(&format!("{} logged in to {} ({life})", paint.green("✓"), visible::line(name)))?;
    if let Some(tools) = tools {
        printer.line(&format!("  it offers {}", counted(tools, "tool")))?;
    }
    Ok(())
}
