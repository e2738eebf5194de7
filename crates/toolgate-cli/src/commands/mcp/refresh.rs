//! `toolgate mcp refresh`: whether the settings as they are now can be used. Commands read them each time, and hosts that keep running follow
//! them by themselves.

use clap::Args;

use crate::error::Result;
use crate::exit_code::Ending;
use crate::printer::Form;
use crate::session::Session;

/// Read your settings anew and say what is wrong with them
///
/// Commands read your settings each time they run, and a host that keeps running follows the files by itself.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

/// Runs the command. Settings that cannot be read are said now, not only when they are needed.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let configured = session.whole()?;
    let count = configured.setup().servers.active.len();
    let printer = &mut session.printer;
    match printer.form() {
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.array("hosts", [] as [&str; 0], |json, host| json.string(host))?;
                object.number("servers", count as u64)
            })
        })?,
        Form::Text => {
            printer.line(&format!("nothing keeps running; every command reads your settings ({count} servers)"))?
        }
    }
    Ok(Ending::Done)
}
