//! What the servers of a trusted folder were when somebody trusted it, in `trusted-entries.json`: a pull may change them afterwards, and a
//! changed one is asked about again.
//!
//! A folder that a rule trusts and of which nothing is recorded yet is taken as it is, once. From then on an entry that is new or differs
//! from its record waits for somebody to confirm it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{DOTENV_FILE_BYTES_MAX, POLICY_FILE_BYTES_MAX, TRUST_FILE_BYTES_MAX};
use crate::settings::Settings;
use crate::settings::raw::{RawEntry, RawServer};
use crate::settings::source::SettingsLayer;
use crate::state_file::{self, Privacy};
use crate::trust::canonical::Canonical;
use crate::trust::rules::real;

const ENTRIES_FILE: &str = "trusted-entries.json";

const VERSION: u32 = 1;

/// What the `.env` file of a folder is called in its record, beside the names of servers.
pub const ENV_FILE_ENTRY: &str = "./.env";

/// What the policies of a folder are called there.
pub const POLICIES_ENTRY: &str = "./.toolgate/policies";

/// What became of an entry since its folder was trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryChange {
    /// It was not there.
    New,
    /// It was something else.
    Changed,
}

impl EntryChange {
    /// `new` or `changed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
        }
    }
}

/// What is recorded of one folder: the hash of each entry, by the name of its server.
type Record = BTreeMap<String, String>;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u32,
    workspaces: BTreeMap<String, Record>,
}

impl Default for Book {
    fn default() -> Self {
        Self { version: VERSION, workspaces: BTreeMap::new() }
    }
}

/// The entries of a folder beside what is recorded of them.
#[derive(Debug)]
pub(crate) enum Compared {
    /// What became of those that are not as they were.
    Recorded(BTreeMap<String, EntryChange>),
    /// Nothing is recorded of the folder yet.
    Unrecorded,
}

/// The hash of one entry as it is written, without what only tunes the server.
#[must_use]
pub fn fingerprint(server: &RawServer) -> String {
    form_of_server(server).hash()
}

fn form_of_server(server: &RawServer) -> Canonical {
    let mut form = Canonical::new("server");
    form.server(server);
    form
}

/// Compares the entries of a folder that a rule trusts with what is recorded.
pub(crate) fn compare(env: &HostEnv, workspace: &Path, settings: &Settings) -> Result<Compared> {
    // With a file named for the run the folder's own settings are not read, and there is nothing to record of them.
    let brings_servers = brought_layers(settings).next().is_some() || settings.brought.env_file.is_some();
    if !brings_servers && settings.brought.folder.is_none() {
        return Ok(Compared::Recorded(BTreeMap::new()));
    }
    let file = entries_file(env);
    let key = key_of(workspace);
    let text = state_file::read(&file, TRUST_FILE_BYTES_MAX).map_err(|error| error.hinting(WAY_OUT))?;
    let book = text.map_or_else(|| Ok(Book::default()), |text| parse(&text, &file))?;
    Ok(match book.workspaces.get(&key) {
        Some(record) => Compared::Recorded(changes(record, &fingerprints(settings))),
        None if brings_servers || !settings.brought.policies.is_empty() => Compared::Unrecorded,
        None => Compared::Recorded(BTreeMap::new()),
    })
}

/// Records the entries of a folder as they are when they are used for the first time.
///
/// # Errors
/// When the file cannot be changed; what the entries are now is not known next time then.
pub(crate) fn record_first_use(env: &HostEnv, workspace: &Path, settings: &Settings) -> Result<()> {
    // What cannot be read now would look new once it can.
    if !settings.broken.is_empty() {
        return Ok(());
    }
    let now = fingerprints(settings);
    let recorded = change(env, |book| {
        book.workspaces.entry(key_of(workspace)).or_insert(now);
    });
    recorded.map_err(|error| {
        let what =
            format!("the servers of {} cannot be recorded, so a change of them goes unnoticed", workspace.display());
        error.while_doing(&what)
    })
}

fn changes(record: &Record, now: &Record) -> BTreeMap<String, EntryChange> {
    let change = |(name, hash): (&String, &String)| {
        let change = match record.get(name) {
            Some(recorded) if recorded == hash => return None,
            Some(_) => EntryChange::Changed,
            None => EntryChange::New,
        };
        Some((name.clone(), change))
    };
    // A server that is gone does nothing any more. Policies that are gone no longer forbid anything.
    let gone = (record.contains_key(POLICIES_ENTRY) && !now.contains_key(POLICIES_ENTRY))
        .then(|| (POLICIES_ENTRY.to_owned(), EntryChange::Changed));
    now.iter().filter_map(change).chain(gone).collect()
}

/// Records some of the entries that a folder brings as they are now, and forgets those that are gone.
///
/// # Errors
/// When the file cannot be changed; it stays as it was.
pub fn confirm(env: &HostEnv, workspace: &Path, settings: &Settings, names: &BTreeSet<String>) -> Result<()> {
    let now = fingerprints(settings);
    change(env, |book| {
        let record = book.workspaces.entry(key_of(workspace)).or_default();
        record.retain(|name, _| now.contains_key(name));
        record.extend(now.into_iter().filter(|(name, _)| names.contains(name)));
    })
}

/// Records everything that a folder brings as it is now.
///
/// # Errors
/// As for [`confirm`].
pub fn confirm_all(env: &HostEnv, workspace: &Path, settings: &Settings) -> Result<()> {
    let now = fingerprints(settings);
    change(env, |book| drop(book.workspaces.insert(key_of(workspace), now)))
}

/// Forgets what is recorded of a folder.
///
/// # Errors
/// As for [`confirm`].
pub fn forget(env: &HostEnv, workspace: &Path) -> Result<()> {
    change(env, |book| drop(book.workspaces.remove(&key_of(workspace))))
}

/// The layers that came with the folder, whether they are in force by now or not.
pub(crate) fn brought_layers(settings: &Settings) -> impl Iterator<Item = &SettingsLayer> {
    let in_force = settings.layers.iter().filter(|layer| layer.is_of_workspace());
    settings.brought.layers.iter().chain(in_force)
}

/// The hash of each server that the layers of a folder bring. Several of them may have a say in one server: all of them count.
fn fingerprints(settings: &Settings) -> Record {
    let mut forms: BTreeMap<&str, Vec<Canonical>> = BTreeMap::new();
    for layer in brought_layers(settings) {
        for entry in &layer.settings.mcp_servers {
            let form = match &entry.entry {
                RawEntry::Server(server) => form_of_server(server),
                RawEntry::Broken(_) => Canonical::new("broken"),
            };
            forms.entry(&entry.name.value).or_default().push(owned(layer, form));
        }
    }
    let mut record: Record = forms.into_iter().map(|(name, forms)| (name.to_owned(), hash_of(&forms))).collect();
    record.extend(settings.brought.env_file.as_deref().map(|file| (ENV_FILE_ENTRY.to_owned(), hash_of_file(file))));
    let policies = &settings.brought.policies;
    record.extend((!policies.is_empty()).then(|| (POLICIES_ENTRY.to_owned(), hash_of_policies(policies))));
    record
}

/// All policies of a folder together: one that is taken away changes what is forbidden as much as one that is written anew.
fn hash_of_policies(files: &[PathBuf]) -> String {
    let mut form = Canonical::new("policies");
    for file in files {
        form.bytes(file.file_name().unwrap_or_default().as_encoded_bytes());
        let text = state_file::read(file, POLICY_FILE_BYTES_MAX).ok().flatten();
        form.text(text.as_deref().unwrap_or("unreadable"));
    }
    form.hash()
}

/// What a variable says decides what is started, and where secrets are sent. One that cannot be read is not the one that was trusted.
fn hash_of_file(file: &Path) -> String {
    let mut form = Canonical::new("variables");
    let text = state_file::read(file, DOTENV_FILE_BYTES_MAX).ok().flatten();
    form.text(text.as_deref().unwrap_or("unreadable"));
    form.hash()
}

/// Whether the `.env` file of a folder is the one that was there when the folder was trusted.
pub(crate) fn is_env_file_confirmed(env: &HostEnv, folder: &Path, file: &Path) -> bool {
    let text = state_file::read(&entries_file(env), TRUST_FILE_BYTES_MAX).ok().flatten();
    let book = text.and_then(|text| parse(&text, &entries_file(env)).ok()).unwrap_or_default();
    let record = book.workspaces.get(&key_of(folder));
    record.and_then(|record| record.get(ENV_FILE_ENTRY)).is_some_and(|hash| *hash == hash_of_file(file))
}

/// The same words in another extension start another program.
fn owned(layer: &SettingsLayer, form: Canonical) -> Canonical {
    let Some(extension) = &layer.extension else { return form };
    let mut whole = Canonical::new("extension");
    whole.text(&extension.name);
    whole.bytes(real(&extension.folder).as_os_str().as_encoded_bytes());
    whole.bytes(form.as_bytes());
    whole
}

fn hash_of(forms: &[Canonical]) -> String {
    if let [only] = forms {
        return only.hash();
    }
    let mut all = Canonical::new("several");
    forms.iter().for_each(|form| all.bytes(form.as_bytes()));
    all.hash()
}

const WAY_OUT: &str = "remove the file; what trusted folders bring is then recorded anew";

pub(crate) fn entries_file(env: &HostEnv) -> PathBuf {
    env.dirs.user.join(ENTRIES_FILE)
}

/// A path that is no text is written as its bytes; no absolute path looks like that.
fn key_of(workspace: &Path) -> String {
    let path = real(workspace);
    path.to_str().map_or_else(|| format!("bytes:{:02x?}", path.as_os_str().as_encoded_bytes()), ToOwned::to_owned)
}

fn parse(text: &str, file: &Path) -> Result<Book> {
    let wrong = |message: String| Error::new(ErrorKind::State, message).hinting(WAY_OUT);
    let book: Book = serde_json::from_str(text).map_err(|error| {
        wrong(format!("{}:{}:{}: not a record of trusted servers", file.display(), error.line(), error.column()))
    })?;
    if book.version == VERSION {
        Ok(book)
    } else {
        Err(wrong(format!("{}: version {} is not known here", file.display(), book.version)))
    }
}

fn change(env: &HostEnv, edit: impl FnOnce(&mut Book)) -> Result<()> {
    let file = entries_file(env);
    state_file::update(&file, Privacy::Owner, TRUST_FILE_BYTES_MAX, |old| {
        let mut book = old.map_or_else(|| Ok(Book::default()), |text| parse(text, &file))?;
        edit(&mut book);
        let text = serde_json::to_string_pretty(&book)
            .map_err(|error| Error::new(ErrorKind::State, format!("{}: cannot be written: {error}", file.display())))?;
        let text = format!("{text}\n");
        Ok((old != Some(text.as_str())).then_some(text))
    })
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
