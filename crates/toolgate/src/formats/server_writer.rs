//! Writes the fields of servers for another client, and remembers what it could not write.

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, fields, list as list_of};
use crate::formats::found::{Exported, Note, NoteKind, Notes};
use crate::formats::json_text::number;
use crate::settings::Located;
use crate::settings::edit::Json;
use crate::settings::raw::{RawList, RawMap, RawServer};

/// A server that another client cannot have, and why.
#[derive(Debug)]
pub(crate) struct Impossible(pub(crate) &'static str);

/// Servers on their way into a file.
#[derive(Debug)]
pub(crate) struct Writing {
    /// The entries, by name.
    pub(crate) entries: Vec<(String, Json)>,
    /// What VS Code has to ask for.
    pub(crate) inputs: Vec<String>,
    notes: Notes,
}

impl Writing {
    /// Writes each server with `write`, which knows the keys of the client.
    pub(crate) fn of(
        servers: &[NamedServer],
        (format, dialect): (Format, Dialect),
        write: impl Fn(&mut EntryWriter<'_>, &RawServer) -> Result<(), Impossible>,
    ) -> Self {
        let mut writing = Self { entries: Vec::new(), inputs: Vec::new(), notes: Notes::default() };
        for NamedServer { name, server } in servers {
            let mut writer =
                EntryWriter { format, dialect, name, notes: Notes::default(), fields: Vec::new(), inputs: Vec::new() };
            match write(&mut writer, server) {
                Ok(()) => {
                    let new: Vec<_> =
                        writer.inputs.into_iter().filter(|input| !writing.inputs.contains(input)).collect();
                    writing.inputs.extend(new);
                    writing.entries.push((name.clone(), Json::Object(writer.fields)));
                    writer.notes.finish().into_iter().for_each(|note| writing.notes.push(note));
                }
                Err(Impossible(why)) => {
                    let note = Note { kind: NoteKind::Lost, key: name.clone(), at: None, message: why.to_owned() };
                    writing.notes.push(note);
                }
            }
        }
        writing
    }

    /// The file, made of the entries.
    pub(crate) fn finish(self, file: impl FnOnce(Json, Vec<String>) -> String) -> Exported {
        let count = self.entries.len();
        Exported { text: file(Json::Object(self.entries), self.inputs), notes: self.notes.finish(), count }
    }
}

/// Writes the fields of one server.
#[derive(Debug)]
pub(crate) struct EntryWriter<'a> {
    format: Format,
    dialect: Dialect,
    name: &'a str,
    notes: Notes,
    fields: Vec<(String, Json)>,
    inputs: Vec<String>,
}

impl EntryWriter<'_> {
    /// The name of the server.
    pub(crate) fn name(&self) -> String {
        self.name.to_owned()
    }

    pub(crate) fn set(&mut self, key: &str, value: Json) {
        self.fields.push((key.to_owned(), value));
    }

    pub(crate) fn text(&mut self, key: &str, text: &Located<String>) {
        let value = self.translated(key, &text.value);
        self.set(key, value);
    }

    pub(crate) fn texts(&mut self, key: &str, list: Option<&RawList>) {
        let Some(list) = list else { return };
        let texts = list.value.iter().map(|one| self.translated(key, &one.value)).collect();
        self.set(key, Json::List(texts));
    }

    pub(crate) fn pairs(&mut self, key: &str, map: Option<&RawMap>) {
        let Some(map) = map else { return };
        let mut members = Vec::with_capacity(map.value.len());
        for pair in &map.value {
            let value = self.translated(&format!("{key}.{}", pair.name.value), &pair.value.value);
            members.push((pair.name.value.clone(), value));
        }
        self.set(key, Json::Object(members));
    }

    /// Names of tools, which nothing stands for.
    pub(crate) fn tools(&mut self, key: &str, list: Option<&RawList>) {
        let Some(list) = list else { return };
        if list.value.iter().any(|name| name.value.contains(['*', '('])) {
            self.note(NoteKind::Changed, key, format!("{} takes whole names only", self.format.title()));
        }
        self.set(key, list_of(list));
    }

    /// A text in the language of the client.
    pub(crate) fn translated(&mut self, key: &str, text: &str) -> Json {
        let theirs = self.dialect.ours_as_theirs(text, self.format.title());
        for remark in theirs.remarks {
            self.note(remark.kind, key, remark.message);
        }
        for input in theirs.inputs {
            if !self.inputs.contains(&input) {
                self.inputs.push(input);
            }
        }
        Json::Text(theirs.text)
    }

    /// A time limit in whole seconds, for clients that count in them.
    pub(crate) fn whole_seconds(&mut self, key: &str, limit: Option<&Located<f64>>) {
        let Some(limit) = limit else { return };
        let seconds = (limit.value / 1000.0).ceil().max(1.0);
        if seconds * 1000.0 != limit.value {
            self.note(NoteKind::Changed, key, format!("counted in seconds there: {seconds}"));
        }
        self.set(key, number(seconds));
    }

    pub(crate) fn note(&mut self, kind: NoteKind, key: &str, message: impl Into<String>) {
        let key = format!("{}.{key}", self.name);
        self.notes.push(Note { kind, key, at: None, message: message.into() });
    }

    /// Says of every field that is written here and not among those that were dealt with that it got lost.
    pub(crate) fn rest(&mut self, server: &RawServer, dealt_with: &[&str]) {
        for (key, _) in fields(server) {
            if !dealt_with.contains(&key) {
                let message = format!("{} has nothing like it", self.format.title());
                self.note(NoteKind::Lost, key, message);
            }
        }
    }
}
