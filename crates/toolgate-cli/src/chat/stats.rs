//! `/stats`: what happened in the session, server by server.

use std::time::Duration;

use toolgate::Host;
use toolgate::connect::{ServerStatus, ServerView};
use toolgate::shape::visible;

use super::status::{Standing, count_text, is_ready};
use crate::arrival::few;
use crate::columns::table;
use crate::error::Result;
use crate::listing::counted;
use crate::printer::Printer;

/// Prints how long the session has lasted, and what went over the line of each server that was used.
pub(super) fn print(printer: &mut Printer, host: &Host, standing: &Standing, lasted: Duration) -> Result<()> {
    let servers = servers_text(&host.servers());
    let tools = counted(host.catalog().tools().len(), "tool");
    let minutes = lasted.as_secs() / 60;
    let lasted = if minutes == 0 { format!("{} s", lasted.as_secs()) } else { format!("{minutes} min") };
    printer.line(&format!("{lasted}, {servers}, {tools}"))?;
    if standing.tokens() > 0 {
        printer.line(&count_text(standing.tokens()))?;
    }
    let used = host.servers().into_iter().filter_map(|view| {
        let traffic = host.line(view.name()).ok()?.traffic();
        let name = visible::line(view.name()).into_owned();
        let numbers = [traffic.calls, traffic.running as u64, traffic.connections].map(|number| number.to_string());
        (traffic.calls > 0).then(|| std::iter::once(name).chain(numbers).collect::<Vec<String>>())
    });
    let rows: Vec<Vec<String>> = used.collect();
    if rows.is_empty() {
        return Ok(());
    }
    for line in table(&["SERVER", "CALLS", "RUNNING", "CONNECTIONS"], rows, printer.terminal().columns) {
        printer.line(&line)?;
    }
    Ok(())
}

/// `4 of 5 servers ready, 3 of them resting (not there: git)`.
fn servers_text(views: &[ServerView]) -> String {
    let ready: Vec<&ServerView> = views.iter().filter(|view| is_ready(view)).collect();
    let resting = ready.iter().filter(|view| view.status == ServerStatus::Disconnected).count();
    let missing: Vec<&str> =
        views.iter().filter(|view| view.is_settled && !is_ready(view)).map(|view| view.name().as_str()).collect();
    let mut text = format!("{} of {} ready", ready.len(), counted(views.len(), "server"));
    if resting > 0 {
        text.push_str(&format!(", {resting} of them resting"));
    }
    if !missing.is_empty() {
        text.push_str(&visible::line(&format!(" (not there: {})", few(&missing))));
    }
    text
}
