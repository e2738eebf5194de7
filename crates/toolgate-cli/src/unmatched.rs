//! Entries of lists and rules that match nothing. Every command warns about probable typing errors; commands that check report all entries.

use std::fmt;
use std::io::Result;

use toolgate::rulebook::{Known, Looked, Named, OfferedTools, Unmatched, unmatched};
use toolgate::servers::ServerConfig;
use toolgate::shape::visible;
use toolgate::{Catalog, Host, Setup};

use crate::configured::Plan;
use crate::json::JsonWriter;
use crate::limits::{UNMATCHED_LISTED_MAX, UNMATCHED_TOLD_MAX};
use crate::printer::Printer;
use crate::talk::Talk;

/// Warns about mistyped entries that concern the servers of the command.
pub(crate) fn warn(plan: &Plan, host: &Host, talk: &Talk) {
    if plan.reports_lists || !has_anything(plan, host) {
        return;
    }
    let catalog = host.catalog_now();
    let is_used = |name: &str| plan.wanted.is_empty() || plan.wanted.iter().any(|wanted| **wanted == *name);
    let servers: Vec<&ServerConfig> = plan.active.iter().map(AsRef::as_ref).collect();
    let known = known(&catalog, &servers, plan.written.iter().map(String::as_str));
    let used: Vec<&ServerConfig> = servers.into_iter().filter(|server| is_used(&server.name)).collect();
    let policy = host.calls().permissions().policy();
    let found = unmatched(&plan.settings, &used, Some(&policy), &known, Looked::ForMistyped);
    for one in found.iter().take(UNMATCHED_TOLD_MAX) {
        let label = talk.paint().yellow("warning:");
        talk.line_once(&format!("{label} {}", visible::line(&Sentence(one).to_string())));
    }
    if let more @ 1.. = found.len().saturating_sub(UNMATCHED_TOLD_MAX) {
        let label = talk.paint().yellow("warning:");
        talk.line_once(&format!("{label} {more} more like these; `toolgate doctor` shows them all"));
    }
}

/// Whether there are any entries, so that most commands skip the comparison.
fn has_anything(plan: &Plan, host: &Host) -> bool {
    let has_own = |server: &ServerConfig| server.include_tools.is_some() || !server.exclude_tools.is_empty();
    let mcp = |layer: &toolgate::settings::SettingsLayer| {
        layer.settings.mcp.allowed.is_some() || layer.settings.mcp.excluded.is_some()
    };
    let is_written = |rule: &toolgate::policy::Rule| rule.origin.file.is_some();
    plan.active.iter().any(|server| has_own(server))
        || plan.settings.layers.iter().any(mcp)
        || host.calls().permissions().policy().rules().any(|rule| is_written(rule))
}

/// Every entry that matches nothing, for a command that checks.
pub(crate) fn all(setup: &Setup, only: Option<&[String]>, catalog: &Catalog) -> Vec<Unmatched> {
    let servers: Vec<&ServerConfig> = setup.servers.active.iter().map(AsRef::as_ref).collect();
    among(setup, &servers, only, catalog)
}

/// Entries that are almost the name of a built-in tool, when no other tools are known.
pub(crate) fn beside_built_in(setup: &Setup, catalog: &Catalog) -> Vec<Unmatched> {
    let servers = setup.servers.active.iter().map(AsRef::as_ref);
    let built_in = servers.filter(|server: &&ServerConfig| server.transport.builtin().is_some());
    let mut found = among(setup, &built_in.collect::<Vec<_>>(), None, catalog);
    found.retain(|one| one.is_mistyped);
    found
}

fn among(setup: &Setup, servers: &[&ServerConfig], only: Option<&[String]>, catalog: &Catalog) -> Vec<Unmatched> {
    let written = setup.servers.set_aside.iter().map(|one| one.name.as_str());
    let names = setup.servers.active.iter().map(|server| server.name.as_str()).chain(written);
    let known = known(catalog, servers, names);
    let is_meant = |server: &&ServerConfig| only.is_none_or(|only| only.iter().any(|name| *name == *server.name));
    let meant: Vec<&ServerConfig> = servers.iter().copied().filter(is_meant).collect();
    let rulebook = setup.rulebook();
    let mut found = unmatched(&setup.settings, &meant, Some(&rulebook.policy), &known, Looked::ForAll);
    found.sort_by_key(|one| !one.is_mistyped);
    found
}

fn known<'a>(catalog: &'a Catalog, servers: &[&'a ServerConfig], written: impl Iterator<Item = &'a str>) -> Known<'a> {
    let offers = catalog.servers().filter_map(|offer| {
        let tools = offer.offered.tools.as_ref()?;
        let tools = tools.entries.iter().map(|tool| tool.name.as_str()).collect();
        let config = servers.iter().find(|server| server.name == *offer.server())?;
        Some(OfferedTools { server: &config.name, builtin: config.transport.builtin(), tools })
    });
    let offers: Vec<OfferedTools<'a>> = offers.collect();
    let is_known = |server: &&ServerConfig| offers.iter().any(|offer| *offer.server == *server.name);
    let is_complete = servers.iter().all(is_known);
    Known { servers: written.collect(), offers, is_complete }
}

/// One entry as text.
struct Sentence<'a>(&'a Unmatched);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched { list, entry, file, line, server, what, nearest, is_rule, .. } = self.0;
        match (file, line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, _) => {}
        }
        if !is_rule {
            write!(f, "{list}: ")?;
        }
        match (what, server) {
            (Named::Server, _) => write!(f, "there is no server `{entry}`")?,
            (Named::Tool, Some(server)) => write!(f, "server `{server}` has no tool `{entry}`")?,
            (Named::Tool, None) => write!(f, "no server has a tool `{entry}`")?,
        }
        match nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// Prints the entries, one line each. Mistyped ones stand out.
pub(crate) fn print(found: &[Unmatched], printer: &mut Printer) -> Result<()> {
    for one in found.iter().take(UNMATCHED_LISTED_MAX) {
        let paint = printer.paint();
        let mark = if one.is_mistyped { paint.red("✗").to_string() } else { "·".to_owned() };
        printer.line(&format!("  {mark} {:<13}{}", "no match", visible::line(&Sentence(one).to_string())))?;
    }
    match found.len().saturating_sub(UNMATCHED_LISTED_MAX) {
        0 => Ok(()),
        more => printer.line(&format!("  and {more} more that match nothing; `--json` lists them all")),
    }
}

/// Writes one entry as JSON.
pub(crate) fn write(json: &mut JsonWriter<'_>, one: &Unmatched) -> Result<()> {
    json.object(|object| {
        object.string("list", &one.list)?;
        object.string("entry", &one.entry)?;
        object.string("names", if one.what == Named::Server { "server" } else { "tool" })?;
        object.optional_string("server", one.server.as_deref())?;
        object.optional_string("file", one.file.as_ref().map(|file| file.display().to_string()).as_deref())?;
        object.optional_number("line", one.line.map(|line| line as u64))?;
        object.optional_string("nearest", one.nearest.as_deref())?;
        object.flag("mistyped", one.is_mistyped)
    })
}
