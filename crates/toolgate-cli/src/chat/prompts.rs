//! Prompts of servers as commands, and what a text refers to: what the model gets besides what was typed, or the person sees without one.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::try_join_all;
use toolgate::expose::attach::{AttachedContent, prompt_messages};
use toolgate::expose::references::{Referring, find};
use toolgate::expose::slash::Asked;
use toolgate::expose::{Attached, Known, Media, SlashCommand, Target, attach};
use toolgate::shape::ModelPart;
use toolgate::shape::visible;
use toolgate::{DiscoveryState, Host, ServerName};
use toolgate_model::{Input, InputPart};

use super::Chat;
use super::line::similar;
use crate::args::Options;
use crate::commands::prompt::print;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::Interrupts;
use crate::limits::REFERENCED_FILE_BYTES_MAX;

impl Chat<'_> {
    /// A prompt of a server, by its name.
    pub(super) fn prompt(&mut self, name: &str, rest: &str) -> Result<Ending> {
        let mut command = self.host.prompt(name);
        if command.is_none() {
            self.wait_unless_looked_at();
            command = self.host.prompt(name);
        }
        let command = command.ok_or_else(|| self.no_command(name))?;
        let asked = command.read(rest).map_err(|mistake| {
            CommandError::usage(format!("/{name}: {mistake}")).hint(format!("`/{name} help` says what it takes"))
        })?;
        match asked {
            Asked::Help => {
                let mut session = self.session.for_line(Options::default());
                session.printer.result(&command.help())?;
                Ok(session.printer.flush().map(|()| Ending::Done)?)
            }
            Asked::Prompt(given) => {
                let talk = self.session.printer.talk();
                for unused in &given.unused {
                    talk.line(&visible::line(&format!("/{name} takes nothing for `{unused}`")));
                }
                self.fill_in(&command, &given.values)
            }
        }
    }

    /// Has the server fill a prompt in: for the model, or to be looked at where there is none.
    fn fill_in(
        &mut self,
        command: &SlashCommand,
        values: &std::collections::BTreeMap<String, String>,
    ) -> Result<Ending> {
        let getting = self.host.host().get_prompt(&command.prompt, values);
        let result = stoppable(&self.host.interrupts(), async { Ok(getting.await?) })?;
        if self.standing.model().is_none() {
            let mut session = self.session.for_line(Options::default());
            let ended = print(&command.prompt, &result, &mut session.printer)?;
            return Ok(session.printer.flush().map(|()| ended)?);
        }
        let parts = prompt_messages(&result, Media::Images).into_iter().flat_map(|message| message.parts);
        self.ask(Input { parts: parts.map(input_part).collect() })
    }

    /// There is nothing of that name, or not yet.
    fn no_command(&self, name: &str) -> CommandError {
        let error = CommandError::usage(format!("there is no command `/{name}`"));
        let prompts = self.host.prompts();
        let error = match similar(name, prompts.iter().map(|command| &*command.name)).as_slice() {
            [] => error.hint("/help shows what there is to type"),
            names => error.hint(format!("did you mean `/{}`?", names.join("`, `/"))),
        };
        if self.host.host().discovery() == DiscoveryState::InProgress {
            error.hint("it may come from a server that is still starting; /mcp shows them")
        } else {
            error
        }
    }

    /// A text with what it refers to.
    pub(super) fn with_references(&self, text: &str) -> Result<Input> {
        let host = self.host.host();
        let (catalog, views) = (host.catalog(), host.servers());
        let servers: Vec<ServerName> = views.iter().map(|view| view.name().clone()).collect();
        let found = find(text, &Known::of(&catalog, &servers));
        let attached = stoppable(&self.host.interrupts(), read_all(host, &found, &self.session.env().workspace))?;
        let talk = self.session.printer.talk();
        if found.left_out > 0 {
            talk.line(&format!("{} more references were left alone", found.left_out));
        }
        if talk.is_terminal() {
            attached.iter().for_each(|one| talk.line(&visible::line(&format!("@{} goes with it", one.name))));
        }
        let parts = attach(&attached, Media::Images).into_iter().map(input_part);
        Ok(Input { parts: std::iter::once(InputPart::Text(found.text)).chain(parts).collect() })
    }
}

fn input_part(part: ModelPart) -> InputPart {
    match part {
        ModelPart::Text(text) => InputPart::Text(text),
        ModelPart::Inline { mime, data } => InputPart::Inline { mime, data },
    }
}

/// Waits for servers, unless the person stops it.
pub(super) fn stoppable<T>(interrupts: &Interrupts, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Handle::current().block_on(async {
        tokio::select! {
            done = work => done,
            () = interrupts.next() => Err(CommandError::interrupted()),
        }
    })
}

/// Reads everything that is referred to, at once. What is no resource and no file is part of the text; a resource that cannot be read ends it.
async fn read_all(host: &Host, found: &Referring, folder: &Path) -> Result<Vec<Attached>> {
    let reads = found.targets().into_iter().map(async |target| match target {
        Target::Resource { server, uri } => {
            let result = host.read_resource(server, uri).await?;
            Ok(Some(Attached::of_resource(server, uri, &result)))
        }
        Target::File(path) => read_file(folder, path),
    });
    let read: Vec<Option<Attached>> = try_join_all(reads).await?;
    Ok(read.into_iter().flatten().collect())
}

/// A file that exists, as far as it is not too large; the names in a folder; nothing for anything else.
fn read_file(folder: &Path, path: &str) -> Result<Option<Attached>> {
    let place = folder.join(path);
    let Ok(about) = std::fs::metadata(&place) else { return Ok(None) };
    if about.is_dir() {
        return Ok(Some(Attached::of_text(path, folder_text(&place))));
    }
    let refused = |why: String| CommandError::usage(format!("@{path}: {why}"));
    if !about.is_file() {
        return Err(refused("it is no file".to_owned()));
    }
    if about.len() > REFERENCED_FILE_BYTES_MAX {
        let error = refused(format!("it is larger than {} MiB", REFERENCED_FILE_BYTES_MAX / (1024 * 1024)));
        return Err(error.hint("name it without `@`, and have the model read the parts it needs with a tool"));
    }
    let bytes = std::fs::read(&place).map_err(|error| refused(error.to_string()))?;
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => Attached::of_text(path, text),
        Err(error) => {
            let (mime, base64) = (mime_of(path).map(ToOwned::to_owned), STANDARD.encode(error.as_bytes()));
            Attached { name: path.to_owned(), contents: vec![AttachedContent::Data { mime, base64 }] }
        }
    }))
}

fn folder_text(place: &Path) -> String {
    let entries = std::fs::read_dir(place).into_iter().flatten().filter_map(std::result::Result::ok);
    let entries = entries.take(crate::limits::FOLDER_ENTRIES_MAX);
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.join("\n")
}

/// What a picture is, by its name.
fn mime_of(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    match ending.to_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "pdf" => Some("application/pdf"),
        _ => None,
    }
}
