//! `toolgate mcp refresh`: whether the settings as they are now can be used; and servers that `toolgate up` keeps running say anew what they offer.

use clap::Args;

use crate::error::Result;
use crate::exit_code::Ending;
use crate::listing::counted;
use crate::printer::Form;
use crate::runtime::client;
use crate::runtime::frames::Wants;
use crate::session::Session;

/// Read your settings anew and say what is wrong with them
///
/// Servers that `toolgate up` keeps running are asked anew what they offer. Commands read your settings each time they run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

/// Runs the command. Settings that cannot be read are said now, not only when they are needed.
pub(crate) fn run(session: &mut Session, _arguments: &Arguments) -> Result<Ending> {
    let configured = session.whole()?;
    let count = configured.setup().servers.active.len();
    let answer = client::ask(&session.runtime_place(), Wants::Refresh)?;
    let folders: Option<Vec<String>> = answer.map(|(folders, _)| serde_json::from_value(folders).unwrap_or_default());
    let printer = &mut session.printer;
    match (printer.form(), folders) {
        (Form::Json, folders) => printer.json(|json| {
            json.object(|object| {
                object.array("hosts", folders.unwrap_or_default(), |json, folder| json.string(&folder))?;
                object.number("servers", count as u64)
            })
        })?,
        (Form::Text, None) => {
            printer.line(&format!("nothing keeps running; every command reads your settings ({count} servers)"))?;
        }
        (Form::Text, Some(folders)) => {
            let told = format!("asked the servers of {} what they offer now", counted(folders.len(), "folder"));
            printer.line(&format!("{told}; every command reads your settings ({count} servers)"))?;
        }
    }
    Ok(Ending::Done)
}
