//! Our own `settings.json`, and that of Gemini CLI, which it grew from: the same keys, of which Gemini CLI knows some less.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, fields, reach};
use crate::formats::found::{Exported, FormatError, Imported, ImportedServer, LeftOut, Note, NoteKind};
use crate::formats::json_text::{file, object};
use crate::formats::restrictions::Restrictions;
use crate::formats::server_writer::{EntryWriter, Impossible, Writing};
use crate::settings::diagnostic::{Diagnostic, SettingsError};
use crate::settings::edit::Json;
use crate::settings::raw::{RawEntry, RawMcp, RawServer};
use crate::settings::read::read_text;
use crate::settings::secret_reference;
use crate::settings::{Position, SettingsLayer, SettingsSource};

/// Keys that only toolgate knows.
const OWN_KEYS: [&str; 7] =
    ["builtin", "inheritEnv", "start", "maxConcurrency", "onBusy", "connectTimeout", "maxDuration"];

pub(crate) fn read(format: Format, text: &str, path: &Path) -> Result<Imported, FormatError> {
    let layer = read_text(text, path, SettingsSource::CommandLine).map_err(|error| unreadable(path, &error))?;
    let restrictions = if format == Format::GeminiCli { Restrictions::of(&layer) } else { Restrictions::default() };
    let SettingsLayer { settings, diagnostics, .. } = layer;
    let mut imported = Imported { format, servers: Vec::new(), left_out: Vec::new(), notes: Vec::new(), restrictions };
    for entry in settings.mcp_servers {
        let name = entry.name;
        match entry.entry {
            RawEntry::Broken(reason) => imported.left_out.push(LeftOut { name, reason, is_broken: true }),
            RawEntry::Server(server) => {
                let own = |one: &&Diagnostic| one.server.as_deref() == Some(name.value.as_str());
                let notes = diagnostics.iter().filter(own).map(note).collect();
                let is_disabled = is_excluded(&settings.mcp, &name.value);
                let mut server = *server;
                if format == Format::GeminiCli {
                    references_as_text(&mut server);
                }
                imported.servers.push(ImportedServer { name, server, notes, is_disabled, project: None });
            }
        }
    }
    let about_the_list = |one: &&Diagnostic| one.server.is_none() && one.key.as_deref() == Some("mcpServers");
    imported.notes.extend(diagnostics.iter().filter(about_the_list).map(note));
    if let Some(command) = &settings.mcp.server_command {
        let (key, message) = ("mcp.serverCommand".to_owned(), "the server it starts is not taken over".to_owned());
        imported.notes.push(Note { kind: NoteKind::Lost, key, at: Some(command.at), message });
    }
    Ok(imported)
}

/// Takes what looks like a secret reference for the text it is to somebody who knows none.
pub fn references_as_text(server: &mut RawServer) {
    server.change_texts(&mut escape_references);
}

fn escape_references(text: &mut String) {
    let mut written = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, inside)) = rest.split_once("${") {
        written.push_str(before);
        if secret_reference::read(inside).is_some() && !before.ends_with('\\') {
            written.push('\\');
        }
        written.push_str("${");
        rest = inside;
    }
    written.push_str(rest);
    *text = written;
}

fn is_excluded(mcp: &RawMcp, name: &str) -> bool {
    let excluded = mcp.excluded.iter().flat_map(|list| &list.value);
    excluded.into_iter().any(|one| one.value.trim().eq_ignore_ascii_case(name))
}

fn note(diagnostic: &Diagnostic) -> Note {
    let at = diagnostic.origin.line.zip(diagnostic.column).map(|(line, column)| Position { line, column });
    let message = match &diagnostic.hint {
        Some(hint) => format!("{}; {hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    Note { kind: NoteKind::Lost, key: diagnostic.key.clone().unwrap_or_default(), at, message }
}

fn unreadable(path: &Path, error: &SettingsError) -> FormatError {
    let diagnostic = error.diagnostic();
    let at = diagnostic.origin.line.zip(diagnostic.column).map(|(line, column)| Position { line, column });
    let hint = error.hint().map(str::to_owned);
    match (at, error.excerpt()) {
        (Some(at), Some(excerpt)) => {
            let (message, excerpt) = (diagnostic.message.clone(), excerpt.to_owned());
            FormatError::broken(path, crate::settings::tree::BrokenText { at, message, hint, excerpt })
        }
        _ => FormatError::whole(path, diagnostic.message.clone(), hint),
    }
}

pub(crate) fn write(format: Format, servers: &[NamedServer]) -> Exported {
    let dialect = if format == Format::Toolgate { Dialect::Own } else { Dialect::Gemini };
    let writing = Writing::of(servers, (format, dialect), |writer, server| {
        if format == Format::GeminiCli && matches!(reach(server), Reach::Nothing) {
            return Err(Impossible("it is neither a program nor an address"));
        }
        for (key, value) in fields(server) {
            if format == Format::GeminiCli && OWN_KEYS.contains(&key) {
                writer.note(NoteKind::Lost, key, "Gemini CLI has nothing like it");
            } else {
                write_field(writer, server, key, value);
            }
        }
        Ok(())
    });
    writing.finish(|entries, _| file(&object([("mcpServers", entries)])))
}

/// Texts are in another language there, everything else is the same.
fn write_field(writer: &mut EntryWriter<'_>, server: &RawServer, key: &str, value: Json) {
    match key {
        "args" => writer.texts(key, server.args.as_ref()),
        "env" => writer.pairs(key, server.env.as_ref()),
        "headers" => writer.pairs(key, server.headers.as_ref()),
        _ => {
            let value = if let Json::Text(text) = &value { writer.translated(key, text) } else { value };
            writer.set(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::escape_references;

    #[test]
    fn what_is_a_secret_only_here_is_taken_as_text() {
        let cases = [
            ("plain $A ${B} ${C:-d}", "plain $A ${B} ${C:-d}"),
            ("${cmd:touch x}", "\\${cmd:touch x}"),
            ("a${file:/etc/passwd}b${keychain:k}", "a\\${file:/etc/passwd}b\\${keychain:k}"),
            ("\\${cmd:x}", "\\${cmd:x}"),
        ];
        for (text, expected) in cases {
            let mut read = text.to_owned();
            escape_references(&mut read);
            assert_eq!(read, expected, "{text}");
        }
    }
}
