//! What is said to a model: a text with what it refers to, or a prompt that a server has filled in. The session and `-p` say it alike.

use std::collections::BTreeMap;
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
use toolgate::wire::view::PromptResult;
use toolgate::{Host, ServerName};
use toolgate_model::{Input, InputPart};

use crate::error::{CommandError, Result};
use crate::limits::{FOLDER_ENTRIES_MAX, REFERENCED_FILE_BYTES_MAX};
use crate::talk::Talk;

/// A text with what it refers to.
pub(crate) async fn text(host: &Host, text: &str, folder: &Path, talk: &Talk) -> Result<Input> {
    let (catalog, views) = (host.catalog(), host.servers());
    let servers: Vec<ServerName> = views.iter().map(|view| view.name().clone()).collect();
    let found = find(text, &Known::of(&catalog, &servers));
    let attached = read_all(host, &found, folder).await?;
    if found.left_out > 0 {
        talk.line(&format!("{} more references were left alone", found.left_out));
    }
    if talk.is_terminal() {
        attached.iter().for_each(|one| talk.line(&visible::line(&format!("@{} goes with it", one.name))));
    }
    let parts = attach(&attached, Media::Images).into_iter().map(input_part);
    Ok(Input { parts: std::iter::once(InputPart::Text(found.text)).chain(parts).collect() })
}

/// What a prompt is to be filled in with; nothing, when its help is wanted. What goes nowhere is told.
pub(crate) fn values(command: &SlashCommand, behind: &str, talk: &Talk) -> Result<Option<BTreeMap<String, String>>> {
    let name = &command.name;
    let asked = command.read(behind).map_err(|mistake| {
        CommandError::usage(format!("/{name}: {mistake}")).hint(format!("`/{name} help` says what it takes"))
    })?;
    let Asked::Prompt(given) = asked else { return Ok(None) };
    for unused in &given.unused {
        talk.line(&visible::line(&format!("/{name} takes nothing for `{unused}`")));
    }
    Ok(Some(given.values))
}

/// A prompt that was filled in.
pub(crate) fn prompt(filled_in: &PromptResult) -> Input {
    let parts = prompt_messages(filled_in, Media::Images).into_iter().flat_map(|message| message.parts);
    Input { parts: parts.map(input_part).collect() }
}

fn input_part(part: ModelPart) -> InputPart {
    match part {
        ModelPart::Text(text) => InputPart::Text(text),
        ModelPart::Inline { mime, data } => InputPart::Inline { mime, data },
    }
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
    let entries = entries.take(FOLDER_ENTRIES_MAX);
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
