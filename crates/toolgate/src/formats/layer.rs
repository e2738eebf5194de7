//! The file of another client as a layer of the settings, for one run.

use std::path::Path;

use crate::formats::client::{Format, read};
use crate::formats::detect::detect_parsed;
use crate::formats::found::{FormatError, Imported, ImportedServer, NoteKind};
use crate::settings::diagnostic::{Diagnostic, Diagnostics, SettingsError, Severity};
use crate::settings::raw::{RawEntry, RawServerEntry, RawSettings};
use crate::settings::{ParsedText, Position, SettingsLayer, SettingsOrigin, SettingsSource};

/// Reads a file that another client wrote as a layer. `None` when it is in our own format. Values keep their places in that file. What is
/// switched off there, or is for one folder only, is not used.
///
/// # Errors
/// When it is the file of another client and cannot be read.
pub fn layer(
    path: &Path,
    parsed: &ParsedText<'_>,
    source: SettingsSource,
) -> Result<Option<SettingsLayer>, SettingsError> {
    let format = match detect_parsed(path, parsed) {
        None | Some(Format::GeminiCli | Format::Toolgate) => return Ok(None),
        Some(format) => format,
    };
    let reporter = Reporter { source, path };
    let imported = read(format, parsed.text, path).map_err(|error| reporter.unreadable(&error))?;
    let diagnostics = reporter.all(&imported);
    let used = imported.servers.into_iter().filter(|one| unused(one).is_none());
    let used = used.map(|one| (one.name, RawEntry::Server(Box::new(one.server))));
    let broken = imported.left_out.into_iter().filter(|one| one.is_broken);
    let broken = broken.map(|one| (one.name, RawEntry::Broken(one.reason)));
    let entries = used.chain(broken).map(|(name, entry)| RawServerEntry { name, entry });
    let settings = RawSettings { mcp_servers: entries.collect(), ..RawSettings::default() };
    Ok(Some(SettingsLayer { source, path: Some(path.to_owned()), settings, extension: None, diagnostics }))
}

/// Why a server is not used.
fn unused(server: &ImportedServer) -> Option<String> {
    let name = &server.name.value;
    match &server.project {
        _ if server.is_disabled => Some(format!("{name} is switched off in this file; it is not used")),
        Some(folder) => Some(format!("{name} is for {} only; it is not used", folder.display())),
        None => None,
    }
}

struct Reporter<'a> {
    source: SettingsSource,
    path: &'a Path,
}

impl Reporter<'_> {
    /// What people have to know when they use the file as it is. What only reads differently here is not among it.
    fn all(&self, imported: &Imported) -> Vec<Diagnostic> {
        let mut found = Diagnostics::default();
        for note in imported.notes.iter().filter(|note| note.kind == NoteKind::Lost) {
            found.push(self.warning(note.at, (None, Some(note.key.clone())), note.message.clone()));
        }
        for one in &imported.servers {
            let server = Some(one.name.value.clone());
            if let Some(why) = unused(one) {
                found.push(self.warning(Some(one.name.at), (server, None), why));
                continue;
            }
            for note in one.notes.iter().filter(|note| note.kind == NoteKind::Lost) {
                found.push(self.warning(note.at, (server.clone(), Some(note.key.clone())), note.message.clone()));
            }
        }
        for one in &imported.left_out {
            let server = Some(one.name.value.clone());
            let severity = if one.is_broken { Severity::Error } else { Severity::Warning };
            let message = format!("{} cannot be used here: {}", one.name.value, one.reason);
            found.push(Diagnostic { severity, ..self.warning(Some(one.name.at), (server, None), message) });
        }
        found.finish()
    }

    fn warning(&self, at: Option<Position>, about: (Option<String>, Option<String>), message: String) -> Diagnostic {
        let (server, key) = about;
        let origin =
            SettingsOrigin { source: self.source, path: Some(self.path.to_owned()), line: at.map(|at| at.line) };
        let column = at.map(|at| at.column);
        Diagnostic { severity: Severity::Warning, origin, column, server, key, message, hint: None }
    }

    fn unreadable(&self, error: &FormatError) -> SettingsError {
        let diagnostic = self.warning(error.position(), (None, None), error.message().to_owned());
        let hint = error.hint().map(str::to_owned);
        let diagnostic = Diagnostic { severity: Severity::Error, hint, ..diagnostic };
        SettingsError::new(diagnostic, error.excerpt().map(str::to_owned))
    }
}
