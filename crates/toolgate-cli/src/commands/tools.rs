//! `toolgate tools`: what there is to call.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use clap::Args;
use toolgate::connect::ServerView;
use toolgate::expose::SearchIndex;
use toolgate::registry::{Catalog, CatalogTool, ToolId};
use toolgate::servers::SetAside;
use toolgate::shape::visible;
use toolgate::trust::AdmittedServers;
use toolgate::{Clock, Host, Interest, ServerName};

use crate::arrival::{Arrivals, Waiting, all_settled, settled};
use crate::call_rules;
use crate::commands::completions::complete_server;
use crate::configured::{one_server, write_held_back};
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::{JsonWriter, ObjectWriter};
use crate::limits::{FOUND_TOOLS_MAX, LIKE_LINES_MAX};
use crate::listing::{
    Row, counted, heading, rows, tell_held_back, tell_of_memory, unavailable, write_remembered, write_unusable,
};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::tool_reasons::{Explain, Reasons};
use crate::tool_text::{ToolDetail, print_details};
use crate::trouble::Troubles;

/// List the tools of your servers
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate tools                       the tools of all servers
  toolgate tools github --desc         one server, with descriptions and arguments
  toolgate tools --search read file    tools that do this, best first
  toolgate tools --all                 also those that are hidden or cannot be used, with the reason")]
pub(crate) struct Arguments {
    /// Only this server; no other is started
    #[arg(value_name = "SERVER", add = complete_server())]
    only: Option<String>,
    /// Show whole descriptions and the arguments of each tool
    #[arg(long)]
    desc: bool,
    /// Show the schemas too
    #[arg(long)]
    schema: bool,
    /// Only tools that fit these words, best first
    #[arg(long, value_name = "WORDS", num_args = 1..)]
    search: Vec<String>,
    /// Also tools that are hidden or cannot be used, and why
    #[arg(long)]
    all: bool,
    /// Ask the servers, also when what they offered last is still good
    #[arg(long)]
    fresh: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let only = one_server(session.options(), arguments.only.as_deref())?;
    let configured = session.configured()?;
    let servers = configured.chosen(only.as_deref())?;
    let explain = if arguments.all || session.options().debug { Explain::All } else { Explain::Little };
    let troubles = Troubles::new(session, only.is_some());
    let waiting = if arguments.fresh { Waiting::ForAll } else { session.waiting() };
    let held_back: Vec<&SetAside> = if only.is_none() { configured.set_aside().collect() } else { Vec::new() };
    let clock = session.env().clock.clone();
    let listing = Listing { arguments, explain, troubles, waiting, clock, held_back: &held_back };
    let plan = configured.plan(Interest::TOOLS).starting(&servers);
    let plan = if arguments.fresh { plan } else { plan.with_memory() }.showing_all();
    let plan = session.reading_ahead(plan, &servers);
    let plan = plan.with(call_rules::for_listing(session, configured.setup())?);
    session.with_host(&plan, async |host, printer| match printer.form() {
        Form::Json => listing.print_json(host, servers, printer).await,
        Form::Text if !arguments.search.is_empty() => listing.print_found(host, servers, printer).await,
        Form::Text => listing.print_text(host, servers, printer).await,
    })
}

/// One run of the command.
struct Listing<'a> {
    arguments: &'a Arguments,
    explain: Explain,
    troubles: Troubles,
    waiting: Waiting,
    clock: Arc<dyn Clock>,
    /// Configured servers that are not used.
    held_back: &'a [&'a SetAside],
}

impl Listing<'_> {
    async fn print_json(&self, host: &Host, servers: AdmittedServers, printer: &mut Printer) -> Result<Ending> {
        host.start(servers);
        let views = settled(host, printer.talk(), self.waiting).await;
        let ending = self.troubles.judge_listed(&views, printer.talk())?;
        self.troubles.tell_all(&views, printer.talk());
        let catalog = host.catalog_now();
        let denied = Denied::of(host, &catalog, catalog.tools().iter());
        let Found { tools, more } = self.found(&catalog, &denied);
        let now = self.clock.now();
        let lost = views.iter().filter(|view| unavailable(view, now).is_some());
        let lost: Vec<&ServerName> = lost.map(ServerView::name).collect();
        printer.json(|json| {
            json.object(|object| {
                object.array("tools", tools, |json, tool| write_tool(json, tool, &lost))?;
                write_unusable(object, &catalog, &["tool"])?;
                write_remembered(object, &views)?;
                object.array("heldBack", self.held_back, |json, one| write_held_back(json, one))?;
                let has_to_explain = self.arguments.all || catalog.tools().iter().all(|tool| denied.has(tool));
                if has_to_explain { write_filtered(object, &catalog, &denied) } else { Ok(()) }
            })
        })?;
        tell_of_more(more, printer);
        self.tell_reasons(&views, &catalog, &denied, printer);
        Ok(ending)
    }

    /// What fits the words, of all servers together, best first.
    async fn print_found(&self, host: &Host, servers: AdmittedServers, printer: &mut Printer) -> Result<Ending> {
        host.start(servers);
        let views = settled(host, printer.talk(), self.waiting).await;
        self.troubles.tell_all(&views, printer.talk());
        let catalog = host.catalog_now();
        let denied = Denied::of(host, &catalog, catalog.tools().iter());
        let Found { tools, more } = self.found(&catalog, &denied);
        if tools.is_empty() {
            printer.talk().line("no tool fits these words");
        } else {
            heading(printer, "found", &format!("{}, best first", counted(tools.len(), "tool")))?;
            self.print_tools(&tools, Whose::Said, printer)?;
        }
        tell_of_more(more, printer);
        self.tell_reasons(&views, &catalog, &denied, printer);
        tell_of_memory(&views, printer.talk());
        self.troubles.judge(&views)
    }

    /// The tools that are listed, in their order.
    fn found<'c>(&self, catalog: &'c Catalog, denied: &Denied) -> Found<'c> {
        let is_shown = |tool: &&CatalogTool| !denied.has(tool);
        if self.arguments.search.is_empty() {
            return Found { tools: catalog.tools().iter().filter(is_shown).collect(), more: 0 };
        }
        let words = self.arguments.search.join(" ");
        let hits = SearchIndex::of(catalog).search(&words, catalog.tools().len());
        let mut fitting = hits.iter().filter_map(|hit| catalog.tools().get(hit.position)).filter(is_shown);
        let tools = fitting.by_ref().take(FOUND_TOOLS_MAX).collect();
        Found { tools, more: fitting.count() }
    }

    fn tell_reasons(&self, views: &[ServerView], catalog: &Catalog, denied: &Denied, printer: &Printer) {
        if self.explain != Explain::All {
            return;
        }
        for view in views {
            let tools: Vec<&CatalogTool> = catalog.tools_of(view.name()).iter().collect();
            let reasons = Reasons::of(view.name(), catalog, &tools, self.explain);
            reasons.and(denied.sentences(view.name())).tell(printer.talk());
        }
    }

    fn print_tools<'t>(&self, tools: &[&'t CatalogTool], whose: Whose, printer: &mut Printer) -> Result<()> {
        if self.arguments.desc || self.arguments.schema {
            let detail = if self.arguments.schema { ToolDetail::Schema } else { ToolDetail::Description };
            for tool in tools {
                print_details(printer, tool, detail)?;
            }
            return Ok(());
        }
        let about = |tool: &&'t CatalogTool| {
            let about = tool.description().or(tool.title());
            match whose {
                Whose::Known => about.map(Cow::Borrowed),
                Whose::Said => Some(Cow::Owned(format!("{}: {}", tool.id.server, about.unwrap_or_default()))),
            }
        };
        let abouts: Vec<Option<Cow<'t, str>>> = tools.iter().map(about).collect();
        let lines = tools.iter().zip(&abouts);
        let lines = lines.map(|(tool, about)| Row { name: tool.name.as_str(), about: about.as_deref() });
        Ok(rows(printer, &lines.collect::<Vec<_>>())?)
    }

    async fn print_text(&self, host: &Host, servers: AdmittedServers, printer: &mut Printer) -> Result<Ending> {
        let talk = printer.talk().clone();
        let mut arrivals = Arrivals::new(host, &talk, self.waiting);
        host.start(servers);
        if self.explain == Explain::All && self.waiting == Waiting::ForAll {
            // What is said about names has to be about the ones that stay.
            all_settled(host, &talk).await;
        }
        let mut is_first = true;
        let mut printed: Vec<(ServerName, Arc<Catalog>)> = Vec::new();
        while let Some(arrived) = arrivals.next().await {
            let catalog = host.catalog_now();
            for view in &arrived {
                self.troubles.tell(view, &talk);
                // What a server offered that was lost stays known, and can be called once it is back.
                if view.agreed.is_some() || !catalog.tools_of(view.name()).is_empty() {
                    let denied = Denied::of(host, &catalog, catalog.tools_of(view.name()).iter());
                    let block = Block { view, catalog: &catalog, denied: &denied, is_first };
                    self.print_block(&block, printer)?;
                    printed.push((view.name().clone(), catalog.clone()));
                    is_first = false;
                }
            }
            printer.flush()?;
        }
        if host.servers().is_empty() && self.held_back.is_empty() {
            talk.line("no tools: no server is in use; `toolgate mcp list` shows the configured ones");
        } else if host.servers().is_empty() || self.arguments.all {
            tell_held_back(self.held_back, "tools", &talk);
        }
        let catalog = host.catalog_now();
        let before = printed.iter().filter(|(_, before)| !Arc::ptr_eq(before, &catalog));
        let corrected = |(server, before): &(ServerName, Arc<Catalog>)| {
            correction(server, before, &catalog, |tool| host.why_hidden(before, tool).is_none())
        };
        for correction in before.filter_map(corrected) {
            talk.line(&visible::line(&correction));
        }
        let views = settled(host, &talk, self.waiting).await;
        tell_of_memory(&views, &talk);
        self.troubles.judge(&views)
    }

    /// Prints what a server has.
    fn print_block(&self, block: &Block<'_>, printer: &mut Printer) -> Result<()> {
        let server = block.view.name();
        let is_shown = |tool: &&CatalogTool| !block.denied.has(tool);
        let tools: Vec<&CatalogTool> = block.catalog.tools_of(server).iter().filter(is_shown).collect();
        if !block.is_first {
            printer.line("")?;
        }
        let count = counted(tools.len(), "tool");
        let what = match unavailable(block.view, self.clock.now()) {
            Some(why) => format!("{count}, {why}"),
            None => count,
        };
        heading(printer, server, &what)?;
        self.print_tools(&tools, Whose::Known, printer)?;
        let explain = if tools.is_empty() && self.explain == Explain::Little { Explain::Few } else { self.explain };
        let reasons = Reasons::of(server, block.catalog, &tools, explain).and(block.denied.sentences(server));
        if self.arguments.all {
            reasons.print(printer)?;
        } else {
            reasons.tell(printer.talk());
        }
        Ok(())
    }
}

/// What one server has to show.
struct Block<'a> {
    view: &'a ServerView,
    catalog: &'a Catalog,
    denied: &'a Denied,
    is_first: bool,
}

/// Tools that no rule lets anybody call, and why.
#[derive(Debug, Default)]
struct Denied(HashMap<ToolId, String>);

impl Denied {
    fn of<'c>(host: &Host, catalog: &Catalog, tools: impl Iterator<Item = &'c CatalogTool>) -> Self {
        let why = |tool: &CatalogTool| Some((tool.id.clone(), host.why_hidden(catalog, tool)?));
        Self(tools.filter_map(why).collect())
    }

    fn has(&self, tool: &CatalogTool) -> bool {
        !self.0.is_empty() && self.0.contains_key(&tool.id)
    }

    /// About one server, in the order of their names.
    fn sentences(&self, server: &ServerName) -> Vec<String> {
        let of_server = self.0.iter().filter(|(id, _)| id.server == *server);
        let mut sentences: Vec<String> = of_server.map(|(id, why)| format!("tool {} hidden: {why}", id.tool)).collect();
        sentences.sort();
        sentences
    }
}

/// What the tools of one server, printed before all had arrived, are called in the end: one line when a slower server had a name first.
fn correction(
    server: &ServerName,
    before: &Catalog,
    last: &Catalog,
    was_shown: impl Fn(&CatalogTool) -> bool,
) -> Option<String> {
    let names: HashMap<_, _> = last.tools_of(server).iter().map(|tool| (&tool.id, tool)).collect();
    let mut renamed = before.tools_of(server).iter().filter_map(|tool| {
        let now = names.get(&tool.id).filter(|now| now.name != tool.name && was_shown(tool))?;
        let why = now.renamed.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        Some((&tool.name, format!("is called `{}`{why}", now.name)))
    });
    let (first, is_called) = renamed.next()?;
    let mut line = format!("`{first}` of {server} {is_called}");
    for (name, is_called) in renamed.by_ref().take(LIKE_LINES_MAX - 1) {
        line.push_str(&format!("; `{name}` {is_called}"));
    }
    match renamed.count() {
        0 => {}
        more => line.push_str(&format!(" and {more} more")),
    }
    Some(line)
}

/// Tools that are listed.
struct Found<'c> {
    tools: Vec<&'c CatalogTool>,
    /// How many more fit the words, and less well.
    more: usize,
}

/// Whether a line says whose tool it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The heading does.
    Known,
    /// It does.
    Said,
}

fn tell_of_more(more: usize, printer: &Printer) {
    if more > 0 {
        printer.talk().line(&format!("{more} more fit less well; other words may fit better"));
    }
}

fn write_tool(json: &mut JsonWriter<'_>, tool: &CatalogTool, lost: &[&ServerName]) -> std::io::Result<()> {
    json.object(|object| {
        object.string("name", tool.name.as_str())?;
        object.string("server", &tool.id.server)?;
        object.string("tool", &tool.id.tool)?;
        object.optional_string("title", tool.title())?;
        object.optional_string("description", tool.description())?;
        object.raw("inputSchema", Some(&tool.input_schema()))?;
        object.raw("outputSchema", tool.output_schema())?;
        object.raw("annotations", tool.annotations())?;
        object.flag("trusted", tool.trusted)?;
        object.flag("available", !lost.contains(&&tool.id.server))
    })
}

fn write_filtered(object: &mut ObjectWriter<'_>, catalog: &Catalog, denied: &Denied) -> std::io::Result<()> {
    let by_lists = catalog.filtered().map(|one| (&*one.server, one.tool.as_str(), one.reason.as_str()));
    let by_rules = denied.0.iter().map(|(id, why)| (&*id.server, &*id.tool, why.as_str()));
    let mut hidden: Vec<(&str, &str, &str)> = by_lists.chain(by_rules).collect();
    hidden.sort_unstable();
    object.array("filtered", hidden, |json, (server, tool, reason)| {
        json.object(|object| {
            object.string("server", server)?;
            object.string("tool", tool)?;
            object.string("reason", reason)
        })
    })
}
