//! `toolgate mcp list`: every server in the settings, and how it is doing.

use clap::Args;
use toolgate::shape::visible;
use toolgate::{Catalog, Interest, ServerStatus, ServerView};

use crate::arrival::all_settled;
use crate::columns::table;
use crate::configured::SetAside;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::listing::{counted, target, transport};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// List your servers and how they are doing
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate mcp list
  toolgate mcp list --json | jq '.servers[] | select(.status != \"connected\")'")]
pub(crate) struct Arguments {}

/// Runs the command. A server that is down is an answer, not a failure, unless it was asked for by name.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let configured = session.configured()?;
    let only = session.options().server.clone();
    let servers = configured.chosen(only.as_deref())?;
    let set_aside: Vec<SetAside> = if only.is_some() { Vec::new() } else { configured.set_aside() };
    let troubles = Troubles::new(session, false);
    session.with_host(&configured.plan(Interest::ALL), async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let (views, catalog) = (host.servers(), host.catalog_now());
        let lines: Vec<Line> = views.iter().map(|view| Line::of(view, &catalog, troubles)).collect();
        match printer.form() {
            Form::Json => printer.json(|json| write(json, &lines, &set_aside))?,
            Form::Text => {
                print_table(&lines, &set_aside, printer)?;
                printer.flush()?;
                troubles.tell_all(&views, printer.talk());
            }
        }
        if only.is_some() { troubles.judge(&views) } else { Ok(Ending::Done) }
    })
}

/// What is said about one server.
struct Line<'a> {
    view: &'a ServerView,
    tools: usize,
    prompts: usize,
    resources: usize,
    error: Option<String>,
}

impl<'a> Line<'a> {
    fn of(view: &'a ServerView, catalog: &Catalog, troubles: Troubles) -> Self {
        let server = view.name();
        Self {
            view,
            tools: catalog.tools().iter().filter(|tool| tool.id.server == *server).count(),
            prompts: catalog.prompts().iter().filter(|prompt| prompt.server == *server).count(),
            resources: catalog.resources().iter().filter(|resource| resource.server == *server).count(),
            error: troubles.of(view).map(|error| error.in_one_line()),
        }
    }

    /// What it offers, without what it has none of.
    fn offers(&self) -> String {
        let counts = [(self.tools, "tool"), (self.prompts, "prompt"), (self.resources, "resource")];
        let some = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
        some.collect::<Vec<_>>().join(", ")
    }
}

const fn mark(status: ServerStatus) -> &'static str {
    match status {
        ServerStatus::Connected => "✓",
        ServerStatus::Connecting => "…",
        ServerStatus::Disabled => "○",
        ServerStatus::Blocked => "⛔",
        _ => "✗",
    }
}

fn print_table(lines: &[Line<'_>], set_aside: &[SetAside], printer: &mut Printer) -> Result<()> {
    let shown = |text: &str| visible::line(text).into_owned();
    let mut rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let status = line.view.status;
            vec![
                mark(status).to_owned(),
                shown(line.view.name()),
                status.as_str().to_owned(),
                line.offers(),
                target(line.view),
            ]
        })
        .collect();
    rows.extend(set_aside.iter().map(|one| {
        let status = one.status;
        vec![mark(status).to_owned(), shown(&one.name), status.as_str().to_owned(), String::new(), shown(&one.reason)]
    }));
    if rows.is_empty() {
        printer.talk().line("no servers are configured");
        return Ok(());
    }
    let paint = printer.paint();
    for (at, line) in
        table(&["", "SERVER", "STATUS", "OFFERS", "TARGET"], rows, printer.terminal().columns).iter().enumerate()
    {
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

fn write(json: &mut JsonWriter<'_>, lines: &[Line<'_>], set_aside: &[SetAside]) -> std::io::Result<()> {
    json.object(|object| {
        object.member("servers", |json| {
            json.array(|array| {
                for line in lines {
                    array.element(|json| write_line(json, line))?;
                }
                for one in set_aside {
                    array.element(|json| write_set_aside(json, one))?;
                }
                Ok(())
            })
        })
    })
}

fn write_line(json: &mut JsonWriter<'_>, line: &Line<'_>) -> std::io::Result<()> {
    let ServerView { config, status, agreed, error, .. } = line.view;
    json.object(|object| {
        object.string("name", &config.name)?;
        object.string("status", status.as_str())?;
        object.optional_string("reason", error.as_ref().map(|error| error.kind().as_str()))?;
        object.string("transport", transport(line.view))?;
        object.string("target", &config.transport.target())?;
        let version = agreed.as_ref().map(|agreed| agreed.version.to_string());
        object.optional_string("protocolVersion", version.as_deref())?;
        object.raw("serverInfo", agreed.as_ref().map(|agreed| &agreed.info))?;
        object.number("tools", line.tools as u64)?;
        object.number("prompts", line.prompts as u64)?;
        object.number("resources", line.resources as u64)?;
        object.string("source", config.origin.source.as_str())?;
        object.optional_string("error", line.error.as_deref())
    })
}

fn write_set_aside(json: &mut JsonWriter<'_>, one: &SetAside) -> std::io::Result<()> {
    json.object(|object| {
        object.string("name", &one.name)?;
        object.string("status", one.status.as_str())?;
        object.string("reason", &one.reason)?;
        for key in ["transport", "target", "protocolVersion", "serverInfo"] {
            object.optional_string(key, None)?;
        }
        for key in ["tools", "prompts", "resources"] {
            object.number(key, 0)?;
        }
        object.string("source", one.source)?;
        object.optional_string("error", None)
    })
}
