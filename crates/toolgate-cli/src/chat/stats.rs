//! `/stats`: what happened in the session, server by server.

use std::time::Duration;

use toolgate::Host;
use toolgate::shape::visible;

use super::status::{Standing, count_text};
use crate::columns::table;
use crate::error::Result;
use crate::listing::counted;
use crate::printer::Printer;

/// Prints how long the session has lasted, and what went over the line of each server that was used.
pub(super) fn print(printer: &mut Printer, host: &Host, standing: &Standing, lasted: Duration) -> Result<()> {
    let (ready, total) = standing.servers();
    let tools = counted(host.catalog().tools().len(), "tool");
    let minutes = lasted.as_secs() / 60;
    let lasted = if minutes == 0 { format!("{} s", lasted.as_secs()) } else { format!("{minutes} min") };
    printer.line(&format!("{lasted}, {ready} of {} ready, {tools}", counted(total, "server")))?;
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
