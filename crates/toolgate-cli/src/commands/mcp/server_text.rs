//! One server in words for people: how it stands, how much it offers, and what, in as much detail as is wanted.

use toolgate::expose::SlashCommand;
use toolgate::registry::{Catalog, CatalogPrompt, CatalogResource, CatalogTool};
use toolgate::shape::{for_display, visible};
use toolgate::{Host, ServerName, ServerStatus};

use crate::columns::{cut, summary};
use crate::error::Result;
use crate::json::ObjectWriter;
use crate::limits::{LIKE_LINES_MAX, LISTED_RESOURCES_MAX};
use crate::listing::{counted, skipped};
use crate::printer::Printer;

/// How wide a line is where nobody measures.
const COLUMNS: usize = 160;

/// How much is said about what a server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What it is called.
    #[default]
    Names,
    /// What it is for, too.
    Descriptions,
    /// What it takes, too.
    Schemas,
}

/// What a server offers to whoever looks.
#[derive(Debug, Default)]
pub(crate) struct Offering<'a> {
    tools: Vec<&'a CatalogTool>,
    prompts: Vec<&'a CatalogPrompt>,
    resources: Vec<&'a CatalogResource>,
    skipped: Vec<String>,
    /// Tools that lists or rules hide, each with the reason.
    hidden: Vec<(&'a str, String)>,
    /// Prompts whose command in the session is not their name, and that command.
    commands: Vec<(&'a str, &'a str)>,
}

impl<'a> Offering<'a> {
    /// What a server offers, without what no rule lets anybody use.
    pub(crate) fn of(server: &ServerName, catalog: &'a Catalog, host: &Host) -> Self {
        let own = catalog.tools_of(server).iter();
        let why_hidden = |tool: &'a CatalogTool| (tool, host.why_hidden(catalog, tool));
        let (shown, by_rules): (Vec<_>, Vec<_>) = own.map(why_hidden).partition(|(_, why)| why.is_none());
        let by_lists = catalog.filtered().filter(|one| one.server == *server);
        let hidden = by_lists.map(|one| (one.tool.as_str(), one.reason.clone()));
        let by_rules = by_rules.into_iter().map(|(tool, why)| (&*tool.id.tool, why.unwrap_or_default()));
        let unusable = catalog.quarantined().filter(|one| one.server == *server);
        Self {
            tools: shown.into_iter().map(|(tool, _)| tool).collect(),
            hidden: hidden.chain(by_rules).collect(),
            prompts: catalog.prompts().iter().filter(|prompt| prompt.server == *server).collect(),
            resources: catalog.resources().iter().filter(|one| one.server == *server).collect(),
            skipped: unusable.map(skipped).collect(),
            commands: Vec::new(),
        }
    }

    /// The same in a session, where prompts are commands.
    pub(crate) fn with_commands(self, commands: &'a [SlashCommand]) -> Self {
        let others = commands.iter().filter(|command| command.name != command.prompt.name);
        Self { commands: others.map(|command| (&*command.prompt.name, &*command.name)).collect(), ..self }
    }

    /// Prints the hidden tools, each with the reason.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hidden.iter().map(|(tool, why)| (*tool, why.as_str()))
    }

    /// Writes it for programs, with as much as was asked for.
    pub(crate) fn write(&self, object: &mut ObjectWriter<'_>, detail: Detail) -> std::io::Result<()> {
        let has_text = detail != Detail::Names;
        object.array("tools", &self.tools, |json, tool| {
            json.object(|object| {
                object.string("name", tool.name.as_str())?;
                if has_text {
                    object.optional_string("description", tool.description().or(tool.title()))?;
                }
                if detail == Detail::Schemas { object.raw("inputSchema", Some(&tool.input_schema())) } else { Ok(()) }
            })
        })?;
        object.array("prompts", &self.prompts, |json, prompt| {
            json.object(|object| {
                object.string("name", &prompt.name)?;
                let text = prompt.prompt.description.as_deref();
                if has_text { object.optional_string("description", text) } else { Ok(()) }
            })
        })?;
        object.array("resources", &self.resources, |json, CatalogResource { resource, .. }| {
            json.object(|object| {
                object.string("uri", &resource.uri)?;
                object.string("name", &resource.name)?;
                let text = resource.description.as_deref();
                if has_text { object.optional_string("description", text) } else { Ok(()) }
            })
        })
    }

    /// `3 tools, 1 prompt`, without what there is none of.
    fn counts(&self) -> String {
        let counts = [(self.tools.len(), "tool"), (self.prompts.len(), "prompt"), (self.resources.len(), "resource")];
        let some = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
        some.collect::<Vec<_>>().join(", ")
    }
}

/// One server.
#[derive(Debug)]
pub(crate) struct ServerText<'a> {
    pub(crate) name: &'a str,
    pub(crate) status: ServerStatus,
    /// Why it is not used, in a word for programs.
    pub(crate) reason: Option<&'static str>,
    /// The reason as text, with file and line.
    pub(crate) why: Option<String>,
    /// When it is tried again, in words.
    pub(crate) next_attempt: Option<String>,
    /// What it offers is known from before, and nothing is wrong with it.
    pub(crate) is_resting: bool,
    /// What its login is, where it has or needs one.
    pub(crate) login: Option<&'static str>,
    pub(crate) target: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) offering: Offering<'a>,
}

impl ServerText<'_> {
    /// A sign that is seen at once, and the word for it.
    fn state(&self) -> (&'static str, String) {
        let reason = |otherwise: &str| self.reason.map_or_else(|| otherwise.to_owned(), |word| word.replace('_', " "));
        match self.status {
            ServerStatus::Connected => ("🟢", "Ready".to_owned()),
            ServerStatus::Disconnected if self.is_resting => ("⚪", "Resting, starts when it is used".to_owned()),
            ServerStatus::Connecting => ("🔄", "Starting… (the first start may take longer)".to_owned()),
            ServerStatus::Disabled if self.reason == Some("disabled_for_session") => {
                ("⏸️", "Disabled (session)".to_owned())
            }
            ServerStatus::Disabled if self.reason == Some("disabled") => ("⏸️", "Disabled".to_owned()),
            ServerStatus::Disabled => ("⏸️", format!("Disabled ({})", reason("not used"))),
            ServerStatus::Blocked => ("🔴", format!("Blocked ({})", reason("by your settings"))),
            ServerStatus::NeedsLogin => ("🔴", "Login needed".to_owned()),
            ServerStatus::Disconnected if self.reason.is_none() => ("⚪", "Not started".to_owned()),
            _ => ("🔴", "Disconnected".to_owned()),
        }
    }

    /// Prints it.
    pub(crate) fn print(&self, printer: &mut Printer, detail: Detail) -> Result<()> {
        let paint = printer.paint();
        let (sign, state) = self.state();
        let name = visible::line(self.name);
        let counts = match self.offering.counts() {
            counts if counts.is_empty() => String::new(),
            counts => format!(" ({counts})"),
        };
        let login = self.login.map(|login| format!(" ({login})")).unwrap_or_default();
        let next = self.next_attempt.as_ref().map(|next| format!(", {next}")).unwrap_or_default();
        let plain = format!("{sign} {name} - {state}{next}{counts}{login}");
        let room = printer.terminal().columns.unwrap_or(COLUMNS).saturating_sub(crate::columns::width(&plain) + 2);
        let target = cut(self.target, room);
        let plain = plain.replacen(&*name, &paint.bold(&name).to_string(), 1);
        let line = if room < 8 { cut_plain(&plain, printer) } else { format!("{plain}  {}", paint.dim(target)) };
        printer.line(line.trim_end())?;
        if let Some(why) = &self.why {
            printer.text("  ", why)?;
        }
        if let Some(description) = self.description.filter(|_| detail != Detail::Names) {
            printer.text("  ", description)?;
        }
        self.print_offering(printer, detail)
    }

    fn print_offering(&self, printer: &mut Printer, detail: Detail) -> Result<()> {
        let Offering { tools, prompts, resources, skipped, hidden, commands } = &self.offering;
        heading(printer, "Tools", tools.len())?;
        for tool in tools {
            let about = tool.description().or(tool.title());
            bullet(printer, tool.name.as_str(), about, detail)?;
            if detail == Detail::Schemas {
                printer.line("    Parameters:")?;
                printer.text("    ", &for_display::json(&tool.input_schema()))?;
            }
        }
        heading(printer, "Prompts", prompts.len())?;
        for prompt in prompts {
            let command = commands.iter().find(|(name, _)| *name == &*prompt.name);
            let name = command.map_or_else(|| prompt.name.to_string(), |(name, typed)| format!("{name} (/{typed})"));
            bullet(printer, &name, prompt.prompt.description.as_deref(), detail)?;
        }
        heading(printer, "Resources", resources.len())?;
        for CatalogResource { resource, .. } in resources.iter().take(LISTED_RESOURCES_MAX) {
            let mime = resource.mime_type.as_deref().map(|mime| format!(" [{mime}]")).unwrap_or_default();
            let name = if resource.name.is_empty() { &resource.uri } else { &resource.name };
            bullet(printer, &format!("{name} ({}){mime}", resource.uri), resource.description.as_deref(), detail)?;
        }
        if resources.len() > LISTED_RESOURCES_MAX {
            printer.line(&format!("  … and {} more", resources.len() - LISTED_RESOURCES_MAX))?;
        }
        for line in skipped {
            printer.line(&visible::line(&format!("  ! {line}")))?;
        }
        let said = if detail == Detail::Names { LIKE_LINES_MAX } else { hidden.len() };
        for (tool, why) in hidden.iter().take(said) {
            printer.line(&visible::line(&format!("  ! tool {tool} hidden: {why}")))?;
        }
        if hidden.len() > said {
            printer.line(&format!(
                "  ! and {} more hidden; `toolgate tools --all` gives the reasons",
                hidden.len() - said
            ))?;
        }
        Ok(())
    }
}

fn heading(printer: &mut Printer, what: &str, count: usize) -> Result<()> {
    if count > 0 {
        printer.line(&format!("  {what}:"))?;
    }
    Ok(())
}

fn bullet(printer: &mut Printer, name: &str, about: Option<&str>, detail: Detail) -> Result<()> {
    let columns = printer.terminal().columns.unwrap_or(COLUMNS);
    let name = visible::line(name);
    let paint = printer.paint();
    let line = match about.filter(|_| detail != Detail::Names).map(str::trim).filter(|about| !about.is_empty()) {
        Some(about) if detail == Detail::Schemas => {
            printer.line(&cut(&format!("  - {name}:"), columns))?;
            return Ok(printer.text("    ", about)?);
        }
        Some(about) => {
            let start = format!("  - {name}: ");
            let room = columns.saturating_sub(crate::columns::width(&start));
            format!("{start}{}", paint.dim(cut(&visible::line(summary(about)), room)))
        }
        None => cut(&format!("  - {name}"), columns).into_owned(),
    };
    Ok(printer.line(&line)?)
}

/// A line that has no room for colours is cut without them.
fn cut_plain(line: &str, printer: &Printer) -> String {
    let plain = line.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    cut(&plain, printer.terminal().columns.unwrap_or(COLUMNS)).into_owned()
}
