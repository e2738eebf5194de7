//! Blocks of a listing for people: a server and what it offers, names in one column and what is said about them in the next.

use std::fmt::Write as _;
use std::io::Result;
use std::iter::repeat_n;
use std::time::SystemTime;

use toolgate::connect::trouble;
use toolgate::discovery::Quarantined;
use toolgate::registry::Catalog;
use toolgate::servers::SetAside;
use toolgate::shape::visible;
use toolgate::wire::Era;
use toolgate::{ServerName, ServerStatus, ServerView};

use crate::columns::{cut, summary, width};
use crate::configured::why_held_back;
use crate::json::ObjectWriter;
use crate::limits::{HELD_BACK_NAMED_MAX, LIKE_LINES_MAX};
use crate::printer::Printer;
use crate::talk::Talk;

/// Names longer than this push what is said about them to the right instead of widening the column for all.
const NAME_COLUMNS_MAX: usize = 40;

/// What is said about a name takes no more than this where there is no edge to cut it at.
const ABOUT_COLUMNS_MAX: usize = 100;

/// Command lines are longer than anybody reads in a list.
const TARGET_COLUMNS_MAX: usize = 80;

/// Between two columns.
const GAP: &str = "  ";

/// One line of a block: a name, and what is said about it.
#[derive(Debug, Clone)]
pub(crate) struct Row<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// What is said about it; the first sentence is shown.
    pub(crate) about: Option<&'a str>,
}

/// The end of a text.
pub(crate) fn last_lines(text: &str, lines_max: usize) -> impl Iterator<Item = &str> {
    text.lines().skip(text.lines().count().saturating_sub(lines_max))
}

/// Prints the heading of a block: whose it is, and how much there is.
pub(crate) fn heading(printer: &mut Printer, server: &str, what: &str) -> Result<()> {
    let paint = printer.paint();
    printer.line(&format!("{}{GAP}{}", paint.bold(visible::line(server)), paint.dim(what)))
}

/// Prints rows below a heading.
pub(crate) fn rows<'a>(printer: &mut Printer, rows: &[Row<'a>]) -> Result<()> {
    let names: Vec<_> = rows.iter().map(|row| visible::line(row.name)).map(|name| (width(&name), name)).collect();
    let name_columns = names.iter().map(|(columns, _)| *columns).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let room = printer.terminal().columns;
    let paint = printer.paint();
    // A listing has hundreds of lines: one piece of memory serves all.
    let mut line = String::new();
    for ((columns, name), row) in names.iter().zip(rows) {
        line.clear();
        line.push_str(GAP);
        line.push_str(name);
        if let Some(about) = row.about.map(summary).filter(|about| !about.is_empty()) {
            line.extend(repeat_n(' ', name_columns.saturating_sub(*columns)));
            line.push_str(GAP);
            let taken = GAP.len() + name_columns.max(*columns) + GAP.len();
            let about = visible::line(about);
            let about = cut(&about, room.map_or(ABOUT_COLUMNS_MAX, |room| room.saturating_sub(taken)));
            let _written = write!(line, "{}", paint.dim(about)).is_ok();
        }
        printer.line(line.trim_end())?;
    }
    Ok(())
}

/// How a server is spoken to: what the settings say, or what was found out when they leave it open.
pub(crate) fn transport(view: &ServerView) -> &'static str {
    match &view.agreed {
        Some(agreed) if agreed.era == Era::LegacySse => "sse",
        _ => view.config.transport.kind(),
    }
}

/// Where a server is: a command line or address that does not push everything else aside.
pub(crate) fn target(view: &ServerView) -> String {
    shown_target(&view.config.transport.target(), transport(view))
}

/// The same for a server that is not live.
pub(crate) fn shown_target(target: &str, transport: &str) -> String {
    visible::line(&format!("{} ({transport})", cut(target, TARGET_COLUMNS_MAX))).into_owned()
}

/// `1 tool`, `2 tools`, `no tools`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    match count {
        0 => format!("no {one}s"),
        1 => format!("1 {one}"),
        more => format!("{more} {one}s"),
    }
}

/// Why what a server offers cannot be used now, and when it is tried again; nothing when it can be.
pub(crate) fn unavailable(view: &ServerView, now: SystemTime) -> Option<String> {
    let error = view.error.as_ref().filter(|_| view.status != ServerStatus::Connected)?;
    let next = next_attempt(view.next_attempt, now).map(|next| format!("; {next}")).unwrap_or_default();
    Some(visible::line(&format!("unavailable: {error}{next}")).into_owned())
}

/// `next attempt in 5 s`, where one is planned.
pub(crate) fn next_attempt(at: Option<SystemTime>, now: SystemTime) -> Option<String> {
    let wait = at?.duration_since(now).unwrap_or_default();
    Some(format!("next attempt in {} s", wait.as_millis().div_ceil(1_000)))
}

/// How many tools, prompts and resources a server offers.
pub(crate) fn offer_counts(server: &ServerName, catalog: &Catalog) -> [usize; 3] {
    [
        catalog.tools_of(server).len(),
        catalog.prompts().iter().filter(|prompt| prompt.server == *server).count(),
        catalog.resources().iter().filter(|resource| resource.server == *server).count(),
    ]
}

/// The tools of a server that its lists hide, each with the reason.
pub(crate) fn hidden_tools(server: &ServerName, catalog: &Catalog) -> Vec<String> {
    let hidden = catalog.filtered().filter(|one| one.server == *server);
    hidden.map(|one| format!("{}: {}", one.tool, one.reason)).collect()
}

/// `2 tools, no prompts, 1 resource`.
pub(crate) fn offer_counts_text([tools, prompts, resources]: [usize; 3]) -> String {
    [counted(tools, "tool"), counted(prompts, "prompt"), counted(resources, "resource")].join(", ")
}

/// Says which entries of a server cannot be used. Only so many lines are said without being asked for.
pub(crate) fn print_unusable(printer: &Printer, catalog: &Catalog, server: &ServerName, kinds: &[&str]) {
    let unusable: Vec<_> =
        catalog.quarantined().filter(|one| one.server == *server && kinds.contains(&one.kind)).collect();
    for one in unusable.iter().take(LIKE_LINES_MAX) {
        let line = format!("MCP server {server}: {}", skipped(one));
        printer.talk().line(&visible::line(&line));
    }
    if unusable.len() > LIKE_LINES_MAX {
        let more = unusable.len() - LIKE_LINES_MAX;
        printer.talk().line(&visible::line(&format!("MCP server {server}: {more} more skipped")));
    }
}

/// `tool echo skipped: …`.
pub(crate) fn skipped(one: &Quarantined) -> String {
    match &one.name {
        Some(name) => format!("{} {name} skipped: {}", one.kind, one.reason),
        None => format!("unnamed {} skipped: {}", one.kind, one.reason),
    }
}

/// Those whose offer is what they said in an earlier run. What is built in offers the same in every run.
fn remembered(views: &[ServerView]) -> impl Iterator<Item = &ServerView> {
    views.iter().filter(|view| view.is_remembered && view.config.transport.builtin().is_none())
}

/// Says whose offer is what they said in an earlier run, to somebody who looks on.
pub(crate) fn tell_of_memory(views: &[ServerView], talk: &Talk) {
    let count = remembered(views).count();
    if count > 0 && talk.is_terminal() {
        let of = if count == views.len() { String::new() } else { format!(" of {}", counted(count, "server")) };
        talk.line(&talk.paint().dim(format!("this is what was offered last{of}; --fresh asks anew")).to_string());
    }
}

/// Whose offer is what they said in an earlier run, and whose of them could not be reached in this one.
pub(crate) fn write_remembered(object: &mut ObjectWriter<'_>, views: &[ServerView]) -> Result<()> {
    object.array("fromMemory", remembered(views), |json, view| json.string(view.name()))?;
    let out_of_reach = views.iter().filter(|view| view.is_out_of_reach());
    object.array("unavailable", out_of_reach, |json, view| {
        json.object(|object| {
            object.string("server", view.name())?;
            object.optional_string("reason", trouble(view).as_deref())
        })
    })
}

/// The same as data: whose, what, why.
pub(crate) fn write_unusable(object: &mut ObjectWriter<'_>, catalog: &Catalog, kinds: &[&'static str]) -> Result<()> {
    let unusable = catalog.quarantined().filter(|one| kinds.contains(&one.kind));
    object.array("quarantined", unusable, |json, one| {
        json.object(|object| {
            object.string("server", &one.server)?;
            object.optional_string(one.kind, one.name.as_deref())?;
            object.string("reason", &one.reason)
        })
    })
}

/// Says which servers are not used, and why: they have no tools, prompts or resources here.
pub(crate) fn tell_held_back(held_back: &[&SetAside], plural: &str, talk: &Talk) {
    for one in held_back.iter().take(HELD_BACK_NAMED_MAX) {
        talk.line(&visible::line(&format!("no {plural} of {}: {}", one.name, why_held_back(one))));
    }
    if let more @ 1.. = held_back.len().saturating_sub(HELD_BACK_NAMED_MAX) {
        talk.line(&format!("{more} more servers are not used; `toolgate mcp list` shows why"));
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "tool")), ["no tools", "1 tool", "2 tools"]);
    }
}
