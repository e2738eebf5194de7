//! `toolgate mcp add`: writes a server into a settings file. It is not started.

mod entry;
mod plain_secrets;
pub(crate) mod words;

use clap::{Args, ValueEnum};
use toolgate::as_word;
use toolgate::limits::{RUNNING_CALLS_MAX, TIME_LIMIT_MS_MAX};
use toolgate::servers::Enablement;
use toolgate::settings::SettingsSource;
use toolgate::settings::edit;
use toolgate::settings::edit_file::look_into;
use toolgate::shape::visible;

use crate::commands::mcp::add::entry::{Entry, check_name, check_references};
use crate::commands::mcp::scope::{Scope, Target};
use crate::commands::mcp::written::Written;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::printer::Form;
use crate::session::Session;
use crate::talk::Talk;

/// What other clients call `mcpServers`.
const OTHER_KEYS: [&str; 3] = ["servers", "context_servers", "mcp_servers"];

/// Add a server to the settings, or change one
///
/// Options of this command are recognised before and behind the command of the server; every other word behind it is an
/// argument of the server, and so is everything behind `--`.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate mcp add files npx -y @modelcontextprotocol/server-filesystem .
  toolgate mcp add -s user -e 'TOKEN=${env:GITHUB_TOKEN}' github docker run -i --rm image
  toolgate mcp add -s user docs https://example.com/mcp -H 'Authorization: Bearer ${keychain:docs}'
  toolgate mcp add db -- db-server -e production        what stands behind -- is not ours"
)]
pub(crate) struct Arguments {
    /// What to call the server
    #[arg(value_name = "NAME")]
    name: String,
    /// The program to start, or the address of a remote server
    #[arg(value_name = "COMMAND_OR_URL")]
    target: String,
    /// Arguments of the program
    #[arg(value_name = "ARGS")]
    args: Vec<String>,
    /// Whose settings; without this those of the project
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// How the server is spoken to; without this `http` for an address, else `stdio`
    #[arg(short, long, visible_alias = "type", value_enum, value_name = "TRANSPORT")]
    transport: Option<Transport>,
    /// A variable for the program; can be given several times
    #[arg(short, long, value_name = "KEY=value")]
    env: Vec<String>,
    /// A header for a remote server; can be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The folder the program runs in; without this the one you are in
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,
    /// How long a call may stay silent
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=TIME_LIMIT_MS_MAX))]
    timeout: Option<u64>,
    /// How long connecting may take
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=TIME_LIMIT_MS_MAX))]
    connect_timeout: Option<u64>,
    /// How many calls run at once
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=RUNNING_CALLS_MAX as u64))]
    max_concurrency: Option<u64>,
    /// Its tools need no confirmation
    #[arg(long)]
    trust: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Only these tools, with commas between them; can be given several times
    #[arg(long, value_name = "TOOLS")]
    include_tools: Vec<String>,
    /// Not these tools, with commas between them; can be given several times
    #[arg(long, value_name = "TOOLS")]
    exclude_tools: Vec<String>,
    /// The client id for an OAuth login
    #[arg(long, value_name = "ID")]
    oauth_client_id: Option<String>,
    /// The client secret for an OAuth login; better a reference such as `${keychain:NAME}`
    #[arg(long, value_name = "SECRET")]
    oauth_client_secret: Option<String>,
    /// What an OAuth login asks for, with commas in between; can be given several times
    #[arg(long, value_name = "SCOPES")]
    oauth_scopes: Vec<String>,
    #[command(flatten)]
    pub(crate) reason: Reason,
    /// Options that stood behind the command and were taken for ours.
    #[arg(skip)]
    pub(crate) taken: Vec<String>,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// A program that is started
    Stdio,
    /// The older HTTP with server-sent events
    Sse,
    /// Streamable HTTP
    #[value(alias = "streamable-http")]
    Http,
}

impl Transport {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Sse => "sse",
            Self::Http => "http",
        }
    }
}

/// What became of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Added,
    Updated,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    check_name(&arguments.name)?;
    let entry = Entry::of(arguments)?;
    let target = Target::one(session, arguments.scope)?;
    check_format(&target)?;
    check_references(&entry, target.source)?;
    let was_empty = Written::read(session).is_folder_empty(session.env());
    let key = ["mcpServers", arguments.name.as_str()];
    let mut action = Action::Added;
    let subject = format!("MCP server {} added to {}", arguments.name, target.words);
    arguments.reason.edit_settings(session, (&target, &subject), |text| {
        action = if edit::has(text, &key)? { Action::Updated } else { Action::Added };
        edit::set(text, &key, &entry.value).map(Some)
    })?;
    if target.source == SettingsSource::Workspace {
        let (written, reason) = (Written::read(session), &arguments.reason);
        if was_empty {
            written.vouch_for_all(session, reason)?;
        } else {
            written.vouch_for(session, &[&arguments.name], reason)?;
        }
    }
    let hints = hints(session, &arguments.name, &target);
    report(session, (&arguments.name, action), (&target, &entry), &hints)?;
    tell(session.printer.talk(), arguments, (&target, &entry), &hints);
    Ok(Ending::Done)
}

fn report(
    session: &mut Session,
    (name, action): (&str, Action),
    (target, entry): (&Target, &Entry),
    hints: &[String],
) -> Result<()> {
    let file = target.path.display().to_string();
    let transport = entry.transport.as_str();
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("server", name)?;
                object.string("scope", target.scope)?;
                object.string("file", &file)?;
                object.string("action", if action == Action::Added { "added" } else { "updated" })?;
                object.string("transport", transport)?;
                let hint = hints.join("\n");
                object.optional_string("hint", Some(hint.as_str()).filter(|hint| !hint.is_empty()))
            })
        })?,
        Form::Text => {
            let file = visible::line(&file);
            let words = target.words;
            if action == Action::Added {
                printer.line(&format!("added MCP server {name} ({transport}) to {words}: {file}"))?;
            } else {
                printer.line(&format!("MCP server {name} was already in {words}"))?;
                printer.line(&format!("updated MCP server {name} ({transport}) in {words}: {file}"))?;
            }
            printer.flush()?;
        }
    }
    Ok(())
}

/// Why the server may not be used as it is, and what to do about it.
fn hints(session: &Session, name: &str, target: &Target) -> Vec<String> {
    let mut hints = Vec::new();
    let written = Written::read(session);
    if target.source == SettingsSource::Workspace && !written.is_folder_trusted(session) {
        hints.push("this folder is not trusted; `toolgate trust` lets its servers be used".to_owned());
    }
    let winner = written.in_force(session, name).filter(|entry| entry.origin.source > target.source);
    if let Some(winner) = winner {
        hints.push(format!("the entry in {} wins over this one", winner.origin));
    }
    if let Some(blocked) = written.blocked(session, name) {
        hints.push(format!("it is not used: {}", blocked.message()));
    }
    if Enablement::read(session.env()).is_ok_and(|enablement| enablement.is_disabled(name)) {
        hints.push(format!("it is disabled; `toolgate mcp enable {}` switches it on", as_word(name)));
    }
    hints
}

/// What is worth knowing beside the result.
fn tell(talk: &Talk, arguments: &Arguments, (target, entry): (&Target, &Entry), hints: &[String]) {
    let paint = talk.paint();
    let say = |label: &str, text: &str| talk.line(&format!("{} {}", paint.yellow(label), visible::line(text)));
    // A remote server has no options of its own.
    if let Some(options) = listed(&arguments.taken).filter(|_| entry.transport == Transport::Stdio) {
        say("note:", &format!("{options} of `mcp add`; `--` before the command's own options keeps them"));
    }
    if arguments.name.contains('_') {
        say(
            "warning:",
            "names with `_` are hard to tell apart from names of tools such as `server__tool`; `-` is better",
        );
    }
    for place in &entry.plain_secrets {
        say("warning:", &format!("`{place}` looks like a secret, and is now in {}", target.path.display()));
    }
    if !entry.plain_secrets.is_empty() {
        say("hint:", plain_secrets::HINT);
    }
    hints.iter().for_each(|hint| say("hint:", hint));
}

/// `-e` was taken, or several were, each named once.
fn listed(taken: &[String]) -> Option<String> {
    let mut options: Vec<&str> = Vec::new();
    for option in taken {
        if !options.contains(&option.as_str()) {
            options.push(option);
        }
    }
    let words = options.join("`, `");
    match options.len() {
        0 => None,
        1 => Some(format!("`{words}` was taken as an option")),
        _ => Some(format!("`{words}` were taken as options")),
    }
}

/// A file named for this run may be one of another client, whose servers stand under another key.
fn check_format(target: &Target) -> Result<()> {
    if target.source != SettingsSource::CommandLine {
        return Ok(());
    }
    let foreign = look_into(&target.path, target.source, |text| {
        let mut foreign = None;
        for key in OTHER_KEYS {
            foreign = foreign.or(edit::has(text, &[key])?.then_some(key));
        }
        Ok(foreign.filter(|_| edit::has(text, &["mcpServers"]) == Ok(false)))
    })?;
    match foreign.flatten() {
        None => Ok(()),
        Some(key) => {
            let message =
                format!("{} has its servers under `{key}`, as another client writes them", target.path.display());
            Err(CommandError::new(Ending::Usage, "settings", message).hint("change it with that client, or by hand"))
        }
    }
}
