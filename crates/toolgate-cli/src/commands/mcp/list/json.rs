//! What `mcp list --json` writes, and what other commands write in the same way.

use std::time::SystemTime;

use jiff::Timestamp;
use toolgate::settings::SettingsOrigin;
use toolgate::trust::{DecidedBy, Folder, FolderTrust};

use super::Line;
use crate::commands::mcp::server_text::Detail;
use crate::configured::{Configured, of_broken};
use crate::json::{JsonWriter, ObjectWriter};

pub(super) fn write<'a>(
    json: &mut JsonWriter<'_>,
    configured: &Configured,
    detail: Option<Detail>,
    lines: impl Iterator<Item = Line<'a>>,
) -> std::io::Result<()> {
    json.object(|object| {
        object.array("servers", lines, |json, line| {
            json.object(|object| write_line(object, &line, configured, detail))
        })?;
        object.member("folder", |json| write_folder(json, &configured.setup().folder))?;
        let broken = &configured.setup().settings.broken;
        object.array("broken", broken, |json, error| of_broken(error).write_inner(json))?;
        match broken.first() {
            Some(error) => object.member("error", |json| of_broken(error).write_inner(json)),
            None => Ok(()),
        }
    })
}

fn write_line(
    object: &mut ObjectWriter<'_>,
    line: &Line<'_>,
    configured: &Configured,
    detail: Option<Detail>,
) -> std::io::Result<()> {
    object.string("name", line.name)?;
    object.string("status", line.status.as_str())?;
    object.optional_string("reason", line.reason)?;
    object.optional_string("why", line.why.as_deref())?;
    object.member("decidedIn", |json| match &line.decided_in {
        Some(origin) => write_origin(json, origin),
        None => json.null(),
    })?;
    object.optional_string("since", line.since.map(timestamp).as_deref())?;
    object.optional_string("nextAttempt", line.next_attempt.map(|(at, _)| timestamp(at)).as_deref())?;
    object.optional_string("transport", line.transport)?;
    object.optional_string("target", line.target.as_deref())?;
    object.optional_string("protocolVersion", line.version.as_deref())?;
    object.raw("serverInfo", line.info.as_ref())?;
    for (key, count) in ["tools", "prompts", "resources"].into_iter().zip(line.counts) {
        object.number(key, count as u64)?;
    }
    if let Some(detail) = detail {
        object.member("offers", |json| json.object(|object| line.offering.write(object, detail)))?;
    }
    object.array("hidden", line.offering.hidden(), |json, (tool, reason)| {
        json.object(|object| {
            object.string("tool", tool)?;
            object.string("reason", reason)
        })
    })?;
    object.string("source", line.origin.source.as_str())?;
    object.member("origin", |json| write_origin(json, line.origin))?;
    object.optional_string("extension", line.extension)?;
    object.array("replaces", configured.losers(line.name), write_origin)?;
    object.optional_string("error", line.error.as_deref())?;
    object.optional_string("stderr", line.stderr.as_deref())
}

/// A moment as RFC 3339 writes it, to the second.
fn timestamp(at: SystemTime) -> String {
    let at = Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH);
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// Where something is written.
pub(crate) fn write_origin(json: &mut JsonWriter<'_>, origin: &SettingsOrigin) -> std::io::Result<()> {
    json.object(|object| {
        object.string("source", origin.source.as_str())?;
        let file = origin.path.as_ref().map(|path| path.to_string_lossy());
        object.optional_string("file", file.as_deref())?;
        object.optional_number("line", origin.line.map(|line| line as u64))
    })
}

/// What was decided about the workspace folder.
pub(crate) fn write_folder(json: &mut JsonWriter<'_>, folder: &Folder) -> std::io::Result<()> {
    json.object(|object| {
        object.string("path", &folder.path().display().to_string())?;
        object.string("trust", trust_word(folder.trust()))?;
        object.string("decidedBy", decided_by(folder.by()))
    })
}

/// Whether a folder is trusted, in a word.
pub(crate) const fn trust_word(trust: FolderTrust) -> &'static str {
    match trust {
        FolderTrust::Trusted => "trusted",
        FolderTrust::Untrusted => "untrusted",
        FolderTrust::Undecided => "undecided",
    }
}

/// Who decided about a folder, in a word.
const fn decided_by(by: &DecidedBy) -> &'static str {
    match by {
        DecidedBy::NothingBrought => "nothing-brought",
        DecidedBy::ThisRun => "this-run",
        DecidedBy::SwitchedOff => "switched-off",
        DecidedBy::Editor => "editor",
        DecidedBy::Rule { .. } => "rule",
        DecidedBy::Nobody => "nobody",
    }
}
