//! `toolgate mcp list`: every server in the settings, where it is written, and how it is doing.

mod json;

use std::mem::ManuallyDrop;
use std::time::SystemTime;

use clap::Args;
use toolgate::auth::store::KeptLogin;
use toolgate::expose::SlashCommand;
use toolgate::servers::{ServerConfig, SetAside};
use toolgate::settings::SettingsOrigin;
use toolgate::shape::visible;
use toolgate::{Catalog, Host, Interest, RawJson, ServerStatus, ServerView, as_word};

use crate::arrival::all_settled;
use crate::call_rules;
use crate::chat::LastingHost;
use crate::commands::mcp::server_text::{Detail, Offering, ServerText};
use crate::configured::{Configured, error_of, reason_word, status_of, why_held_back};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::STDERR_LISTED_LINES_MAX;
use crate::listing::{counted, last_lines, next_attempt, offer_counts, shown_target, transport};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

use self::json::write;
pub(crate) use self::json::{trust_word, write_folder, write_origin};

/// List your servers and how they are doing
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp list
  toolgate mcp list desc github           one server, with descriptions; `schema` adds what tools take
  toolgate mcp list --match git           servers with `git` in their name
  toolgate mcp list --no-connect          what is written, without starting anything
  toolgate mcp list --json | jq '.servers[] | select(.status != \"connected\")'")]
pub(crate) struct Arguments {
    /// Amount of detail (`desc`, `schema` or `nodesc`), then a server or part of its name
    #[arg(value_name = "DETAIL] [SERVER", num_args = 0..=2)]
    words: Vec<String>,
    /// Only servers with this in their name, even if it is `desc`, `schema` or `nodesc`
    #[arg(long = "match", value_name = "WORD")]
    matching: Option<String>,
    /// Say what everything is for
    #[arg(long)]
    desc: bool,
    /// Say what everything is for, and what tools take
    #[arg(long)]
    schema: bool,
    /// Start nothing: list what the settings say
    #[arg(long)]
    no_connect: bool,
}

/// Which servers are listed by `mcp desc`, `mcp schema` and `mcp nodesc`.
#[derive(Debug, Args)]
pub(crate) struct Filtered {
    /// Only servers with this in their name
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
}

impl Filtered {
    /// The same as `mcp list` with so much detail.
    pub(crate) fn listed(self, detail: Detail) -> Arguments {
        let (desc, schema) = (detail == Detail::Descriptions, detail == Detail::Schemas);
        Arguments { words: Vec::new(), matching: self.filter, desc, schema, no_connect: false }
    }
}

impl Arguments {
    /// The detail that is asked for.
    fn detail(&self) -> Option<Detail> {
        let written = self.words.first().and_then(|word| detail_of(word));
        match (written, self.schema, self.desc) {
            (Some(detail), ..) => Some(detail),
            (None, true, _) => Some(Detail::Schemas),
            (None, false, true) => Some(Detail::Descriptions),
            (None, false, false) => None,
        }
    }

    /// The server typed after the detail.
    fn server(&self) -> Option<&str> {
        let is_detail = self.words.first().is_some_and(|word| detail_of(word).is_some());
        self.words.get(usize::from(is_detail)).map(String::as_str)
    }

    /// The text that server names must contain, as the person typed it.
    fn filter(&self) -> Option<&str> {
        self.server().or(self.matching.as_deref())
    }

    fn has(&self, name: &str) -> bool {
        let has = |filter: &str| name.to_lowercase().contains(&filter.trim().to_lowercase());
        self.server().is_none_or(has) && self.matching.as_deref().is_none_or(has)
    }

    /// Refuses two words of which the first is not a detail.
    fn check(&self) -> Result<()> {
        match self.words.as_slice() {
            [first, second] if detail_of(first).is_none() => {
                let message = format!("`{first}` is not `desc`, `schema` or `nodesc`");
                let (word, server) = match detail_of(second) {
                    Some(_) => (second.as_str(), as_word(first)),
                    None => ("desc", as_word(second)),
                };
                Err(CommandError::usage(message).hint(format!("`toolgate mcp list {word} {server}`")))
            }
            _ => Ok(()),
        }
    }
}

/// Parses a detail.
fn detail_of(word: &str) -> Option<Detail> {
    match word.to_lowercase().as_str() {
        "desc" | "descriptions" => Some(Detail::Descriptions),
        "schema" => Some(Detail::Schemas),
        "nodesc" | "nodescriptions" => Some(Detail::Names),
        _ => None,
    }
}

/// Runs the command. A server that is down is an answer, not a failure, unless it was asked for by name.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    arguments.check()?;
    // The program ends after this, and the system takes back at once what would be given back piece by piece.
    let configured = ManuallyDrop::new(session.looked_at()?);
    let only = session.options().server.clone();
    let mut meant = configured.meant(only.as_deref())?;
    meant.retain(|config| arguments.has(&config.name));
    let is_asked_for =
        |one: &&SetAside| only.as_deref().is_none_or(|only| one.name == only) && arguments.has(&one.name);
    let held_back: Vec<&SetAside> = configured.set_aside().filter(is_asked_for).collect();
    let reason = configured.untrusted();
    let filter = arguments.filter();
    let listing = Listing {
        configured: &configured,
        held_back: &held_back,
        detail: arguments.detail(),
        filter,
        commands: &[],
        now: None,
    };
    if arguments.no_connect || reason.is_some() {
        let lines = meant.iter().map(|config| Line::at_rest(config, reason.as_ref())).collect();
        let printer = &mut session.printer;
        listing.print(printer, lines)?;
        printer.flush()?;
        if let Some(reason) = reason.filter(|_| printer.form() == Form::Text) {
            printer.talk().error(&reason);
        }
        return Ok(configured.ending());
    }
    let troubles = Troubles::new(session, false);
    if let Some(lasting) = session.lasting().cloned() {
        return of_session(session, &lasting, &listing, arguments);
    }
    let is_meant = |name: &str| meant.iter().any(|config| &*config.name == name);
    let servers = configured.chosen(None)?.only(|server| is_meant(&server.name));
    // Policies that cannot be read hide nothing here: servers can be looked at all the same.
    let rules = if configured.setup().rulebook().error().is_some() {
        None
    } else {
        Some(call_rules::for_listing(session, configured.setup())?)
    };
    let plan = configured.plan(Interest::ALL).with(rules.unwrap_or_default());
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let (views, catalog) = (host.servers(), host.catalog_now());
        let live = Live { servers: host, seen: host, views: &views, catalog: &catalog };
        listing.print_live(printer, &live, troubles)?;
        match configured.ending() {
            Ending::Done if only.is_some() => troubles.judge(&views),
            ending => Ok(ending),
        }
    })
}

/// In a session its servers are listed as they are. Somebody who looks on waits for nobody; a script wants to know how it ends, also with those
/// that rest.
fn of_session(
    session: &mut Session,
    lasting: &LastingHost,
    listing: &Listing<'_>,
    arguments: &Arguments,
) -> Result<Ending> {
    let troubles = Troubles::new(session, false);
    let host = lasting.host();
    if !session.printer.terminal().stdin {
        session.in_runtime(async |session| {
            lasting.wake(|server| arguments.has(server)).await;
            all_settled(host, session.printer.talk()).await;
            Ok(Ending::Done)
        })?;
    }
    let mut views = host.servers();
    views.retain(|view| arguments.has(view.name()));
    let starting = views.iter().filter(|view| !view.is_settled).count();
    if starting > 0 && session.printer.form() == Form::Text {
        let line = format!("⏳ {} starting (the first start may take longer)", counted(starting, "server"));
        session.printer.line(&line)?;
    }
    // What is listed is what could be asked about, also where nobody can be.
    let rules = call_rules::for_listing(session, listing.configured.setup()).unwrap_or_default();
    let looked_at = host.with_rules(rules, &listing.configured.setup().env);
    let commands = lasting.prompts();
    let now = Some(session.env().clock.now());
    let listing = Listing { commands: &commands, now, ..*listing };
    let live = Live { servers: host, seen: &looked_at, views: &views, catalog: &host.catalog() };
    listing.print_live(&mut session.printer, &live, troubles)?;
    if session.printer.form() == Form::Text {
        lasting.undeclared().iter().try_for_each(|line| session.printer.line(line))?;
    }
    Ok(listing.configured.ending())
}

/// What is listed.
struct Listing<'a> {
    configured: &'a Configured,
    held_back: &'a [&'a SetAside],
    /// Without one, people see names, and programs see counts.
    detail: Option<Detail>,
    filter: Option<&'a str>,
    /// Prompts as commands, in a session.
    commands: &'a [SlashCommand],
    /// What time it is, in a session: its servers are tried again.
    now: Option<SystemTime>,
}

/// Servers that were started, at one moment.
struct Live<'a> {
    /// Whose they are.
    servers: &'a Host,
    /// The same under the rules of whoever looks.
    seen: &'a Host,
    views: &'a [ServerView],
    catalog: &'a Catalog,
}

impl Listing<'_> {
    fn print_live(&self, printer: &mut Printer, live: &Live<'_>, troubles: Troubles) -> Result<()> {
        let kept = live.seen.kept_logins().unwrap_or_default();
        let line = |view| {
            let line = Line::live(view, live, troubles);
            let next_attempt = self.now.and_then(|now| Some((view.next_attempt?, now)));
            Line {
                next_attempt,
                login: login_of(view, &kept),
                offering: line.offering.with_commands(self.commands),
                ..line
            }
        };
        self.print(printer, live.views.iter().map(line).collect())?;
        Ok(printer.flush()?)
    }

    fn print(&self, printer: &mut Printer, lines: Vec<Line<'_>>) -> Result<()> {
        let mut lines: Vec<Line<'_>> = lines;
        lines.extend(self.held_back.iter().map(|one| Line::held_back(one)));
        match printer.form() {
            Form::Json => Ok(printer.json(|json| write(json, self.configured, self.detail, lines.into_iter()))?),
            Form::Text if lines.is_empty() => {
                printer.talk().line(&self.nothing());
                Ok(())
            }
            Form::Text => lines.into_iter().try_for_each(|line| line.print(printer, self.detail.unwrap_or_default())),
        }
    }

    /// Why nothing is listed.
    fn nothing(&self) -> String {
        let configured = self.configured.meant(None).unwrap_or_default();
        let names: Vec<&str> = configured.iter().map(|config| &*config.name).collect();
        let names: Vec<&str> = names.into_iter().chain(self.configured.set_aside().map(|one| &*one.name)).collect();
        match self.filter {
            Some(filter) if !names.is_empty() => {
                let text = format!("no server has `{}` in its name; there is {}", filter.trim(), names.join(", "));
                visible::line(&text).into_owned()
            }
            _ => "no servers are configured".to_owned(),
        }
    }
}

/// What is to be known about the login of a server.
fn login_of(view: &ServerView, kept: &[KeptLogin]) -> Option<&'static str> {
    let kept = kept.iter().find(|kept| kept.server == *view.name());
    let has_ended = |kept: &KeptLogin| !kept.can_renew && kept.expires_at.is_some_and(|end| end < SystemTime::now());
    match (view.status, kept) {
        (ServerStatus::NeedsLogin, None) => Some("OAuth not authenticated"),
        (ServerStatus::NeedsLogin, Some(_)) => Some("OAuth expired"),
        (_, Some(kept)) if has_ended(kept) => Some("OAuth expired"),
        (_, Some(_)) => Some("OAuth"),
        (_, None) => None,
    }
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
    /// The reason why the server is not used, with file and line.
    why: Option<String>,
    decided_in: Option<SettingsOrigin>,
    /// Since when it stands like that.
    since: Option<SystemTime>,
    /// When it is tried again, and what time it is.
    next_attempt: Option<(SystemTime, SystemTime)>,
    /// What is said about it beside the list.
    trouble: Option<CommandError>,
    /// The end of what it wrote to stderr, when it failed.
    stderr: Option<String>,
    is_resting: bool,
    description: Option<&'a str>,
    login: Option<&'static str>,
    offering: Offering<'a>,
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
            why: None,
            decided_in: None,
            since: None,
            next_attempt: None,
            trouble: None,
            stderr: None,
            is_resting: false,
            description: config.description.as_deref(),
            login: None,
            offering: Offering::default(),
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

    fn live(view: &'a ServerView, live: &Live<'a>, troubles: Troubles) -> Self {
        let agreed = view.agreed.as_ref();
        let trouble = troubles.of(view);
        Self {
            status: view.status,
            reason: view.error.as_ref().map(|error| error.kind().as_str()),
            transport: Some(transport(view)),
            version: agreed.map(|agreed| agreed.version.to_string()),
            info: agreed.map(|agreed| agreed.info.clone()),
            counts: offer_counts(view.name(), live.catalog),
            error: trouble.as_ref().map(CommandError::in_one_line),
            since: Some(view.since),
            is_resting: view.is_remembered && trouble.is_none(),
            stderr: trouble.as_ref().and_then(|_| end_of_stderr(view.name(), live.servers)),
            trouble: trouble.filter(|_| view.is_settled),
            offering: Offering::of(view.name(), live.catalog, live.seen),
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
            why: Some(why_held_back(one)),
            decided_in: Some(one.reason.origin().unwrap_or_else(|| one.origin.clone())),
            since: None,
            next_attempt: None,
            trouble: None,
            stderr: None,
            is_resting: false,
            description: None,
            login: None,
            offering: Offering::default(),
        }
    }

    fn print(self, printer: &mut Printer, detail: Detail) -> Result<()> {
        let target = self.target();
        let next_attempt = self.next_attempt.and_then(|(at, now)| next_attempt(Some(at), now));
        let Self { name, status, reason, why, is_resting, login, description, offering, trouble, stderr, .. } = self;
        let target = &target;
        let text =
            ServerText { name, status, reason, why, next_attempt, is_resting, login, target, description, offering };
        text.print(printer, detail)?;
        if let Some(trouble) = trouble {
            // Where both are seen, it stands at its server.
            printer.flush()?;
            printer.talk().error(&with_stderr(trouble, stderr.as_deref()));
        }
        Ok(())
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

fn end_of_stderr(server: &str, host: &Host) -> Option<String> {
    let written = host.stderr_tail(server);
    let lines: Vec<&str> = last_lines(&written, STDERR_LISTED_LINES_MAX).collect();
    Some(lines.join("\n")).filter(|text| !text.is_empty())
}

/// The same with what the server wrote, unless that is a single line that stands there already.
fn with_stderr(trouble: CommandError, stderr: Option<&str>) -> CommandError {
    match stderr {
        Some(text) if !trouble.message().contains(text) => {
            let lines: Vec<String> = text.lines().map(|line| format!("stderr: {line}")).collect();
            trouble.detail(&lines.join("\n"))
        }
        _ => trouble,
    }
}
