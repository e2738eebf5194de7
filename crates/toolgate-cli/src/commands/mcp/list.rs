//! `toolgate mcp list`: every server in the settings, where it is written, and how it is doing.

use std::mem::ManuallyDrop;

use clap::Args;
use toolgate::servers::{ServerConfig, SetAside, SetAsideReason};
use toolgate::settings::SettingsOrigin;
use toolgate::shape::visible;
use toolgate::trust::{DecidedBy, Folder, FolderTrust};
use toolgate::{Catalog, Interest, RawJson, ServerStatus, ServerView};

use crate::arrival::all_settled;
use crate::columns::table;
use crate::configured::{Configured, error_of, of_broken, status_of};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::{JsonWriter, ObjectWriter};
use crate::listing::{counted, offer_counts, shown_target, transport};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// List your servers and how they are doing
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp list
  toolgate mcp list --no-connect          what is written, without starting anything
  toolgate mcp list --json | jq '.servers[] | select(.status != \"connected\")'")]
pub(crate) struct Arguments {
    /// Start nothing: list what the settings say
    #[arg(long)]
    no_connect: bool,
}

/// Runs the command. A server that is down is an answer, not a failure, unless it was asked for by name.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    // The program ends after this, and the system takes back at once what would be given back piece by piece.
    let configured = ManuallyDrop::new(session.looked_at()?);
    let only = session.options().server.clone();
    let meant = configured.meant(only.as_deref())?;
    let held_back = configured.set_aside().filter(|one| only.as_deref().is_none_or(|only| one.name == only));
    let held_back: Vec<&SetAside> = held_back.collect();
    let reason = configured.untrusted();
    if arguments.no_connect || reason.is_some() {
        let lines = meant.iter().map(|config| Line::at_rest(config, reason.as_ref()));
        let printer = &mut session.printer;
        print(printer, &configured, lines.chain(held_back.iter().map(|one| Line::held_back(one))))?;
        printer.flush()?;
        if let Some(reason) = reason.filter(|_| printer.form() == Form::Text) {
            printer.talk().error(&reason);
        }
        return Ok(configured.ending());
    }
    let is_meant = |name: &str| meant.iter().any(|config| &*config.name == name);
    let servers = configured.chosen(None)?.only(|server| is_meant(&server.name));
    let troubles = Troubles::new(session, false);
    session.with_host(&configured.plan(Interest::ALL), async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let (views, catalog) = (host.servers(), host.catalog_now());
        let lines = views.iter().map(|view| Line::live(view, &catalog, troubles));
        print(printer, &configured, lines.chain(held_back.iter().map(|one| Line::held_back(one))))?;
        printer.flush()?;
        if printer.form() == Form::Text {
            troubles.tell_all(&views, printer.talk());
        }
        match configured.ending() {
            Ending::Done if only.is_some() => troubles.judge(&views),
            ending => Ok(ending),
        }
    })
}

/// What is said about one server.
struct Line<'a> {
    name: &'a str,
    status: ServerStatus,
    reason: Option<&'static str>,
    transport: Option<&'static str>,
    target: Option<String>,
    version: Option<String>,
    info: Option<RawJson>,
    counts: [usize; 3],
    origin: &'a SettingsOrigin,
    extension: Option<&'a str>,
    error: Option<String>,
}

impl<'a> Line<'a> {
    fn of(config: &'a ServerConfig) -> Self {
        Self {
            name: &config.name,
            status: ServerStatus::Disconnected,
            reason: None,
            transport: Some(config.transport.kind()),
            target: Some(config.transport.target()),
            version: None,
            info: None,
            counts: [0; 3],
            origin: &config.origin,
            extension: config.extension.as_ref().map(|extension| extension.name.as_str()),
            error: None,
        }
    }

    /// Nothing was started: because nobody asked for it, or for that reason.
    fn at_rest(config: &'a ServerConfig, reason: Option<&CommandError>) -> Self {
        match reason {
            None => Self::of(config),
            Some(reason) => Self {
                status: ServerStatus::Disabled,
                reason: Some(reason.kind()),
                error: Some(reason.in_one_line()),
                ..Self::of(config)
            },
        }
    }

    fn live(view: &'a ServerView, catalog: &Catalog, troubles: Troubles) -> Self {
        let agreed = view.agreed.as_ref();
        Self {
            status: view.status,
            reason: view.error.as_ref().map(|error| error.kind().as_str()),
            transport: Some(transport(view)),
            version: agreed.map(|agreed| agreed.version.to_string()),
            info: agreed.map(|agreed| agreed.info.clone()),
            counts: offer_counts(view.name(), catalog),
            error: troubles.of(view).map(|error| error.in_one_line()),
            ..Self::of(&view.config)
        }
    }

    fn held_back(one: &'a SetAside) -> Self {
        let written = one.written.as_ref();
        Self {
            name: &one.name,
            status: status_of(&one.reason),
            reason: Some(reason_word(&one.reason)),
            transport: written.map(|written| written.transport),
            target: written.map(|written| written.target.clone()),
            version: None,
            info: None,
            counts: [0; 3],
            origin: &one.origin,
            extension: None,
            error: Some(error_of(one).in_one_line()),
        }
    }

    /// What it offers, without what it has none of; or why it offers nothing.
    fn offers(&self) -> String {
        let [tools, prompts, resources] = self.counts;
        let counts = [(tools, "tool"), (prompts, "prompt"), (resources, "resource")];
        let some = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
        let offers = some.collect::<Vec<_>>().join(", ");
        match (self.status, self.reason) {
            (ServerStatus::Disabled | ServerStatus::Blocked, Some(reason)) => reason.replace('_', " "),
            _ => offers,
        }
    }

    fn target(&self) -> String {
        let target = match (&self.target, self.transport) {
            (Some(target), Some(transport)) => shown_target(target, transport),
            _ => String::new(),
        };
        match self.extension {
            Some(extension) => format!("{target} from {}", visible::line(extension)),
            None => target,
        }
    }
}

/// Why a server is not used, in a word for programs.
const fn reason_word(reason: &SetAsideReason) -> &'static str {
    match reason {
        SetAsideReason::NotAllowed => "not_allowed",
        SetAsideReason::Excluded => "excluded",
        SetAsideReason::Disabled => "disabled",
        SetAsideReason::DisabledForSession => "disabled_for_session",
        SetAsideReason::Untrusted => "untrusted",
        SetAsideReason::Unconfirmed => "unconfirmed",
        SetAsideReason::TooMany => "too_many",
        SetAsideReason::Unusable(_) => "settings",
        SetAsideReason::Replaced { .. } => "replaced",
    }
}

const fn mark(status: ServerStatus) -> &'static str {
    match status {
        ServerStatus::Connected => "✓",
        ServerStatus::Connecting => "…",
        ServerStatus::Disabled | ServerStatus::Disconnected => "○",
        ServerStatus::Blocked => "⛔",
        _ => "✗",
    }
}

fn print<'a>(printer: &mut Printer, configured: &Configured, lines: impl Iterator<Item = Line<'a>>) -> Result<()> {
    match printer.form() {
        Form::Json => Ok(printer.json(|json| write(json, configured, lines))?),
        Form::Text => print_table(lines, printer),
    }
}

fn print_table<'a>(lines: impl Iterator<Item = Line<'a>>, printer: &mut Printer) -> Result<()> {
    let row = |line: Line<'_>| {
        let name = visible::line(line.name).into_owned();
        vec![mark(line.status).to_owned(), name, line.status.as_str().to_owned(), line.offers(), line.target()]
    };
    let rows: Vec<Vec<String>> = lines.map(row).collect();
    if rows.is_empty() {
        printer.talk().line("no servers are configured");
        return Ok(());
    }
    let paint = printer.paint();
    let table = table(&["", "SERVER", "STATUS", "OFFERS", "TARGET"], rows, printer.terminal().columns);
    for (at, line) in table.iter().enumerate() {
        let painted = match (at, line.chars().next()) {
            (0, _) => paint.bold(line).to_string(),
            (_, Some('✓')) => line.replacen('✓', &paint.green('✓').to_string(), 1),
            (_, Some('✗')) => line.replacen('✗', &paint.red('✗').to_string(), 1),
            _ => line.clone(),
        };
        printer.line(&painted)?;
    }
    Ok(())
}

fn write<'a>(
    json: &mut JsonWriter<'_>,
    configured: &Configured,
    lines: impl Iterator<Item = Line<'a>>,
) -> std::io::Result<()> {
    json.object(|object| {
        object.array("servers", lines, |json, line| json.object(|object| write_line(object, &line, configured)))?;
        object.member("folder", |json| write_folder(json, &configured.setup().folder))?;
        let broken = &configured.setup().settings.broken;
        object.array("broken", broken, |json, error| of_broken(error).write_inner(json))?;
        match broken.first() {
            Some(error) => object.member("error", |json| of_broken(error).write_inner(json)),
            None => Ok(()),
        }
    })
}

fn write_line(object: &mut ObjectWriter<'_>, line: &Line<'_>, configured: &Configured) -> std::io::Result<()> {
    object.string("name", line.name)?;
    object.string("status", line.status.as_str())?;
    object.optional_string("reason", line.reason)?;
    object.optional_string("transport", line.transport)?;
    object.optional_string("target", line.target.as_deref())?;
    object.optional_string("protocolVersion", line.version.as_deref())?;
    object.raw("serverInfo", line.info.as_ref())?;
    for (key, count) in ["tools", "prompts", "resources"].into_iter().zip(line.counts) {
        object.number(key, count as u64)?;
    }
    object.string("source", line.origin.source.as_str())?;
    object.member("origin", |json| write_origin(json, line.origin))?;
    object.optional_string("extension", line.extension)?;
    object.array("replaces", configured.losers(line.name), write_origin)?;
    object.optional_string("error", line.error.as_deref())
}

/// Where something is written.
pub(crate) fn write_origin(json: &mut JsonWriter<'_>, origin: &SettingsOrigin) -> std::io::Result<()> {
    json.object(|object| {
        object.string("source", origin.source.as_str())?;
        let file = origin.path.as_ref().map(|path| path.to_string_lossy());
        object.optional_string("file", file.as_deref())?;
        object.optional_number("line", origin.line.map(|line| line as u64))
    })
}

/// What was decided about the workspace folder.
pub(crate) fn write_folder(json: &mut JsonWriter<'_>, folder: &Folder) -> std::io::Result<()> {
    json.object(|object| {
        object.string("path", &folder.path().display().to_string())?;
        object.string("trust", trust_word(folder.trust()))?;
        object.string("decidedBy", decided_by(folder.by()))
    })
}

/// Whether a folder is trusted, in a word.
pub(crate) const fn trust_word(trust: FolderTrust) -> &'static str {
    match trust {
        FolderTrust::Trusted => "trusted",
        FolderTrust::Untrusted => "untrusted",
        FolderTrust::Undecided => "undecided",
    }
}

/// Who decided about a folder, in a word.
pub(crate) const fn decided_by(by: &DecidedBy) -> &'static str {
    match by {
        DecidedBy::NothingBrought => "nothing-brought",
        DecidedBy::ThisRun => "this-run",
        DecidedBy::SwitchedOff => "switched-off",
        DecidedBy::Editor => "editor",
        DecidedBy::Rule { .. } => "rule",
        DecidedBy::Nobody => "nobody",
    }
}
