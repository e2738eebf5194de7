//! What is found in one file of another client: its lists of servers, entry by entry.

use std::path::{Path, PathBuf};

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::found::{FormatError, Imported, ImportedServer, LeftOut, NoteKind, Notes};
use crate::formats::members::{kind, members};
use crate::formats::restrictions::Restrictions;
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::settings::diagnostic::KeyPath;
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::{Located, Position};

/// What clients call their lists of servers in JSON.
const SERVER_LISTS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// What is found in one file.
#[derive(Debug)]
pub(crate) struct Finding {
    format: Format,
    dialect: Dialect,
    servers: Vec<ImportedServer>,
    left_out: Vec<LeftOut>,
    pub(crate) notes: Notes,
}

impl Finding {
    pub(crate) fn new(format: Format, dialect: Dialect) -> Self {
        Self { format, dialect, servers: Vec::new(), left_out: Vec::new(), notes: Notes::default() }
    }

    pub(crate) fn finish(self) -> Imported {
        let notes = self.notes.finish();
        Imported {
            format: self.format,
            servers: self.servers,
            left_out: self.left_out,
            notes,
            restrictions: Restrictions::default(),
        }
    }

    /// The server of that name for that folder is switched off.
    pub(crate) fn disable(&mut self, name: &str, project: &Path) {
        let is_meant = |one: &&mut ImportedServer| one.name.value == name && one.project.as_deref() == Some(project);
        self.servers.iter_mut().filter(is_meant).for_each(|one| one.is_disabled = true);
    }

    /// The members of the file's own object.
    pub(crate) fn root<'v>(
        &mut self,
        tree: Option<&'v Located<RawValue>>,
        path: &Path,
    ) -> Result<Vec<&'v RawMember>, FormatError> {
        let Some(tree) = tree else { return Ok(Vec::new()) };
        members(tree, None, &mut self.notes).ok_or_else(|| {
            let message = format!("expected one object, found {}", kind(&tree.value));
            FormatError::at(path, tree.at, message, Some("check that this is the file you mean".to_owned()))
        })
    }

    /// Reads the list of servers under its right key; under one of the keys that other clients use for it, it is read all the same.
    pub(crate) fn list(
        &mut self,
        root: &[&RawMember],
        right: &str,
        path: &Path,
        read: impl Fn(&mut ServerReader<'_>, &[&RawMember]) -> Result<Draft, Unusable>,
    ) -> Result<(), FormatError> {
        let find = |name: &str| root.iter().find(|member| member.key.value == name);
        if let Some(list) = find(right) {
            return self.servers(list, (KeyPath::top(right), None), path, read);
        }
        let Some(list) = SERVER_LISTS.iter().find_map(|name| find(name)) else {
            self.note_none(right);
            return Ok(());
        };
        let key = KeyPath::top(&list.key.value);
        let message = format!("{} reads servers from `{right}`; these are read all the same", self.format.title());
        self.notes.add(NoteKind::Changed, key, list.key.at, message);
        self.servers(list, (key, None), path, read)
    }

    /// Reads the list of servers of a client whose key for it nobody mistakes.
    pub(crate) fn only_list(
        &mut self,
        root: &[&RawMember],
        key: &str,
        path: &Path,
        read: impl Fn(&mut ServerReader<'_>, &[&RawMember]) -> Result<Draft, Unusable>,
    ) -> Result<(), FormatError> {
        match root.iter().find(|member| member.key.value == key) {
            Some(list) => self.servers(list, (KeyPath::top(key), None), path, read),
            None => {
                self.note_none(key);
                Ok(())
            }
        }
    }

    fn note_none(&mut self, key: &str) {
        let at = Position { line: 1, column: 1 };
        self.notes.add(NoteKind::Lost, KeyPath::top(key), at, "there are no servers in this file");
    }

    /// Reads a list of servers. Each is read by `read`, which says what its keys mean.
    pub(crate) fn servers(
        &mut self,
        list: &RawMember,
        (key, project): (KeyPath<'_>, Option<&Path>),
        path: &Path,
        read: impl Fn(&mut ServerReader<'_>, &[&RawMember]) -> Result<Draft, Unusable>,
    ) -> Result<(), FormatError> {
        if matches!(list.value.value, RawValue::Null) {
            return Ok(());
        }
        let Some(entries) = members(&list.value, Some(&key), &mut self.notes) else {
            let message = format!("{key}: expected an object of servers, found {}", kind(&list.value.value));
            return Err(FormatError::at(path, list.value.at, message, None));
        };
        for entry in entries {
            let reader = ServerReader::new(key.key(&entry.key.value), self.dialect);
            match reader.entry(entry, &read) {
                Ok((Draft { server, is_disabled }, notes)) => {
                    let project = project.map(PathBuf::from);
                    self.servers.push(ImportedServer { name: entry.key.clone(), server, notes, is_disabled, project });
                }
                Err(Unusable { reason, is_broken }) => {
                    self.left_out.push(LeftOut { name: entry.key.clone(), reason, is_broken });
                }
            }
        }
        Ok(())
    }
}
