//! `toolgate mcp test`: whether a server can be reached and understood, step by step, with what it costs and what is wrong with it.

use std::time::Duration;

use clap::Args;
use toolgate::connect::ServerView;
use toolgate::rulebook::Unmatched;
use toolgate::servers::SetAside;
use toolgate::shape::visible;
use toolgate::trust::DecidedBy;
use toolgate::{Catalog, Host, Interest, ServerStatus};

use crate::arrival::all_settled;
use crate::commands::completions::complete_server;
use crate::commands::doctor::policy;
use crate::configured::{Configured, error_of, status_of, why_held_back, write_held_back};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::limits::{LIKE_LINES_MAX, STDERR_LINES_MAX};
use crate::listing::{hidden_tools, last_lines, offer_counts, offer_counts_text, skipped, target, transport};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;
use crate::unmatched;

/// Check whether servers can be reached and understood
///
/// Exit code 2 when the settings of a server cannot be used, 4 when it cannot be reached, 5 when it needs a login,
/// 9 when something it offers cannot be used.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  toolgate mcp test                 all servers
  toolgate mcp test github time     some of them
  toolgate mcp test github --debug  with every message on the wire"
)]
pub(crate) struct Arguments {
    /// The servers; without this all of them
    #[arg(value_name = "SERVER", add = complete_server())]
    only: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let mut only = arguments.only.clone();
    only.extend(session.options().server.clone());
    let configured = session.configured()?;
    let servers = match only.iter().find(|name| !configured.has(name)) {
        Some(unknown) => return Err(configured.unknown(unknown)),
        None => configured.chosen(None)?.only(|server| only.is_empty() || only.iter().any(|one| *one == *server.name)),
    };
    // Those that are held back are so on purpose; and whoever asked for some servers wants to know about those.
    let is_unusable = |one: &&SetAside| only.is_empty() && status_of(&one.reason) == ServerStatus::Failed;
    let unusable: Vec<&SetAside> = configured.set_aside().filter(is_unusable).collect();
    let is_aside = |one: &&SetAside| only.is_empty() && status_of(&one.reason) != ServerStatus::Failed;
    let held_back: Vec<&SetAside> = configured.set_aside().filter(is_aside).collect();
    let troubles = Troubles::new(session, false);
    let plan = configured.plan(Interest::ALL).reporting_lists();
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let catalog = host.catalog_now();
        let views = host.servers();
        let tested = views.iter().map(|view| test(host, view, &catalog, troubles, &configured));
        let reports = futures_util::future::join_all(tested).await;
        let named = Some(only.as_slice()).filter(|only| !only.is_empty());
        let unmatched = unmatched::all(configured.setup(), named, &catalog);
        match printer.form() {
            Form::Json => {
                printer.json(|json| write(json, (&reports, &unusable), &held_back, &unmatched))?;
            }
            Form::Text => print(printer, (&reports, &unusable), &held_back, &unmatched)?,
        }
        let of_lists = unmatched.iter().any(|one| one.is_mistyped).then_some(Ending::Found);
        let endings = reports.iter().map(Report::ending).chain(unusable.iter().map(|one| error_of(one).ending()));
        let endings = endings.chain(of_lists);
        Ok(worst(&endings.collect::<Vec<_>>()))
    })
}

fn print(
    printer: &mut Printer,
    (reports, unusable): (&[Report<'_>], &[&SetAside]),
    held_back: &[&SetAside],
    unmatched: &[Unmatched],
) -> Result<()> {
    for (at, report) in reports.iter().enumerate() {
        if at > 0 {
            printer.line("")?;
        }
        report.print(printer)?;
    }
    for (at, one) in unusable.iter().enumerate() {
        if at > 0 || !reports.is_empty() {
            printer.line("")?;
        }
        let paint = printer.paint();
        printer.line(&paint.bold(visible::line(&one.name)).to_string())?;
        printer.line(&format!("  {} {:<10}{}", paint.red("✗"), "settings", visible::line(&why_held_back(one))))?;
    }
    if !held_back.is_empty() {
        printer.line("")?;
        printer.line(&printer.paint().bold("not tested").to_string())?;
        for one in held_back {
            let why = format!("{}: {}", one.name, why_held_back(one));
            printer.line(&format!("  · {:<10}{}", status_of(&one.reason).as_str(), visible::line(&why)))?;
        }
    }
    if !unmatched.is_empty() {
        printer.line("")?;
        printer.line(&printer.paint().bold("lists and rules").to_string())?;
    }
    Ok(unmatched::print(unmatched, printer)?)
}

fn write(
    json: &mut JsonWriter<'_>,
    (reports, unusable): (&[Report<'_>], &[&SetAside]),
    held_back: &[&SetAside],
    unmatched: &[Unmatched],
) -> std::io::Result<()> {
    json.object(|object| {
        object.array("fitsNothing", unmatched, unmatched::write)?;
        object.array("heldBack", held_back, |json, one| write_held_back(json, one))?;
        object.member("servers", |json| {
            json.array(|array| {
                for report in reports {
                    array.element(|json| report.write(json))?;
                }
                for one in unusable {
                    array.element(|json| write_unusable(json, one))?;
                }
                Ok(())
            })
        })
    })
}

/// The same members as those of a server that was tested.
fn write_unusable(json: &mut JsonWriter<'_>, one: &SetAside) -> std::io::Result<()> {
    json.object(|object| {
        object.string("name", &one.name)?;
        object.flag("ok", false)?;
        object.string("status", status_of(&one.reason).as_str())?;
        for key in ["transport", "target", "protocolVersion", "serverInfo"] {
            object.optional_string(key, None)?;
        }
        for key in ["tools", "prompts", "resources"] {
            object.number(key, 0)?;
        }
        for key in ["connectMs", "pingMs"] {
            object.optional_number(key, None)?;
        }
        for key in ["problems", "hidden"] {
            object.array(key, &[] as &[String], |json, text| json.string(text))?;
        }
        object.array("steps", [one.reason.to_string()], |json, detail| {
            json.object(|object| {
                object.string("step", "settings")?;
                object.flag("ok", false)?;
                object.optional_number("ms", None)?;
                object.string("detail", &detail)
            })
        })?;
        object.optional_string("stderr", None)?;
        object.member("error", |json| error_of(one).write_inner(json))
    })
}

/// The ending that matters most: not to be used, not reached, then not logged in, then not well.
fn worst(endings: &[Ending]) -> Ending {
    let order = [Ending::Usage, Ending::Unreachable, Ending::LoginNeeded, Ending::Stopped, Ending::Found];
    order.into_iter().find(|ending| endings.contains(ending)).unwrap_or(Ending::Done)
}

/// What was found out about one server.
struct Report<'a> {
    view: &'a ServerView,
    counts: [usize; 3],
    /// How long it took to answer, or why it did not.
    ping: Option<Result<Duration>>,
    /// It is not there.
    failure: Option<CommandError>,
    /// It is there, but this is wrong with it.
    problems: Vec<String>,
    /// Tools that lists or rules hide, each with the reason.
    hidden: Vec<String>,
    /// The end of what it wrote to stderr.
    stderr: String,
    /// What was decided before it was started: about the folder, and about its tools.
    decided: [String; 2],
}

/// What lets servers start in this folder.
fn trust_of_folder(configured: &Configured) -> String {
    let folder = &configured.setup().folder;
    match (folder.is_trusted(), folder.by()) {
        (true, DecidedBy::NothingBrought) => "the folder brings nothing of its own".to_owned(),
        (true, _) => "the folder is trusted".to_owned(),
        (false, _) => "the folder is not trusted; your own servers may start".to_owned(),
    }
}

/// One step of a test.
struct Step {
    name: &'static str,
    is_good: bool,
    took: Option<Duration>,
    text: String,
}

async fn test<'a>(
    host: &Host,
    view: &'a ServerView,
    catalog: &Catalog,
    troubles: Troubles,
    configured: &Configured,
) -> Report<'a> {
    let server = view.name();
    let is_there = view.agreed.is_some();
    let ping = if is_there { Some(host.ping(server).await.map_err(CommandError::from)) } else { None };
    let trouble = troubles.of(view);
    let mut problems: Vec<String> = catalog.quarantined().filter(|one| one.server == *server).map(skipped).collect();
    if let Some(Err(error)) = &ping {
        problems.insert(0, format!("ping: {}", error.message()));
    }
    if let Some(error) = trouble.as_ref().filter(|_| is_there) {
        problems.insert(0, error.message().to_owned());
    }
    let counts = offer_counts(server, catalog);
    let stderr = host.stderr_tail(server);
    let decided = [trust_of_folder(configured), policy(&view.config, configured)];
    let hidden = hidden_tools(server, catalog);
    Report { view, counts, ping, failure: trouble.filter(|_| !is_there), problems, hidden, stderr, decided }
}

impl Report<'_> {
    fn ending(&self) -> Ending {
        match &self.failure {
            // Whatever kept it from answering in time, it was not reached.
            Some(error) if error.ending() == Ending::Stopped => Ending::Unreachable,
            Some(error) if error.ending() == Ending::ToolError => Ending::Unreachable,
            Some(error) => error.ending(),
            None if self.problems.is_empty() => Ending::Done,
            None => Ending::Found,
        }
    }

    fn print(&self, printer: &mut Printer) -> Result<()> {
        let config = &self.view.config;
        let paint = printer.paint();
        let target = target(self.view);
        printer.line(&format!("{}  {}", paint.bold(visible::line(&config.name)), paint.dim(target)))?;
        for step in self.steps() {
            let mark = if step.is_good { paint.green("✓") } else { paint.red("✗") };
            let took = step.took.map(|took| format!(" in {}", shown_time(took))).unwrap_or_default();
            printer.line(&format!("  {mark} {:<10}{}{took}", step.name, visible::line(&step.text)))?;
        }
        if let Some(error) = &self.failure {
            for hint in error.hints() {
                let hint = printer.talk().reworded(hint);
                printer.line(&format!("    hint: {}", visible::line(&hint)))?;
            }
        }
        if self.ending() != Ending::Done {
            for line in last_lines(&self.stderr, STDERR_LINES_MAX) {
                printer.line(&format!("    stderr: {}", visible::line(line)))?;
            }
        }
        Ok(())
    }

    /// What was done, in order, as far as it went.
    fn steps(&self) -> Vec<Step> {
        let good = |name, text: String, took| Step { name, is_good: true, took, text };
        let bad = |name, text: String| Step { name, is_good: false, took: None, text };
        let [trust, policy] = &self.decided;
        let mut steps = vec![
            good("settings", self.view.config.origin.to_string(), None),
            good("trust", trust.clone(), None),
            good("policy", policy.clone(), None),
        ];
        if let Some(agreed) = &self.view.agreed {
            steps.push(good("connect", format!("MCP {} with {}", agreed.version, who(self.view)), Some(agreed.took)));
        }
        if let Some(Ok(took)) = &self.ping {
            steps.push(good("ping", "answered".to_owned(), Some(*took)));
        }
        if self.view.agreed.is_some() {
            steps.push(good("offers", offer_counts_text(self.counts), self.view.listing_took));
        }
        let hidden = self.hidden.iter().take(LIKE_LINES_MAX).map(|tool| good("hidden", tool.clone(), None));
        steps.extend(hidden);
        if self.hidden.len() > LIKE_LINES_MAX {
            let more = self.hidden.len() - LIKE_LINES_MAX;
            steps.push(good("hidden", format!("{more} more tools; `toolgate tools --all` gives the reasons"), None));
        }
        steps.extend(self.problems.iter().map(|problem| bad("problem", problem.clone())));
        steps.extend(self.failure.iter().map(|error| bad("connect", error.message().to_owned())));
        steps
    }

    fn write(&self, json: &mut JsonWriter<'_>) -> std::io::Result<()> {
        let ServerView { config, status, agreed, .. } = self.view;
        let [tools, prompts, resources] = self.counts;
        let ping = self.ping.as_ref().and_then(|ping| ping.as_ref().ok());
        json.object(|object| {
            object.string("name", &config.name)?;
            object.flag("ok", self.ending() == Ending::Done)?;
            object.string("status", status.as_str())?;
            object.string("transport", transport(self.view))?;
            object.string("target", &config.transport.target())?;
            let version = agreed.as_ref().map(|agreed| agreed.version.to_string());
            object.optional_string("protocolVersion", version.as_deref())?;
            object.raw("serverInfo", agreed.as_ref().map(|agreed| &agreed.info))?;
            object.number("tools", tools as u64)?;
            object.number("prompts", prompts as u64)?;
            object.number("resources", resources as u64)?;
            object.optional_number("connectMs", agreed.as_ref().map(|agreed| millis(agreed.took)))?;
            object.optional_number("pingMs", ping.map(|took| millis(*took)))?;
            object.array("problems", &self.problems, |json, problem| json.string(problem))?;
            object.array("hidden", &self.hidden, |json, tool| json.string(tool))?;
            object.array("steps", self.steps(), |json, step| {
                json.object(|object| {
                    object.string("step", step.name)?;
                    object.flag("ok", step.is_good)?;
                    object.optional_number("ms", step.took.map(millis))?;
                    object.string("detail", &step.text)
                })
            })?;
            object.optional_string("stderr", Some(self.stderr.as_str()).filter(|text| !text.is_empty()))?;
            object.member("error", |json| match &self.failure {
                Some(error) => error.write_inner(json),
                None => json.null(),
            })
        })
    }
}

/// The name and version a server gives itself.
fn who(view: &ServerView) -> String {
    let text = |key: &str| {
        let info = view.agreed.as_ref().map(|agreed| &agreed.info);
        info.and_then(|info| info.member(key)).and_then(|value| value.read::<String>().ok())
    };
    let name = text("name").unwrap_or_else(|| "a server without a name".to_owned());
    text("version").map_or_else(|| name.clone(), |version| format!("{name} {version}"))
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

fn shown_time(took: Duration) -> String {
    format!("{}ms", millis(took))
}
