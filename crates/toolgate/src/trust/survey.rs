//! What a folder would start and change if it were trusted, for the person who decides. Everything is shown as it is written: nothing is
//! expanded, resolved, looked up or started, and what looks like a secret is covered.

use std::path::{Path, PathBuf};

use crate::limits::{DOTENV_FILE_BYTES_MAX, SURVEY_ITEMS_MAX, SURVEY_TEXT_CHARS_MAX};
use crate::servers::shown::written_target;
use crate::settings::dotenv;
use crate::settings::raw::{RawEntry, RawMap, RawServer};
use crate::settings::source::{SettingsLayer, SettingsOrigin};
use crate::settings::{Located, Settings};
use crate::state_file;
use crate::trust::entries::{EntryChange, brought_layers};
use crate::trust::folder::Folder;
use crate::trust::overridden::{overridden, warnings};
use crate::trust::references::references;

/// What a folder brings, as far as it is listed.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Its servers and those of its extensions; those that are new or changed come first.
    pub servers: Vec<SurveyedServer>,
    /// Its extensions.
    pub extensions: Vec<SurveyedExtension>,
    /// Its policy files.
    pub policies: Vec<PathBuf>,
    /// The `.env` file of the project.
    pub env_file: Option<SurveyedEnvFile>,
    /// Other settings that it has a say in.
    pub keys: Vec<SurveyedKey>,
    /// What deserves a second look.
    pub warnings: Vec<SurveyWarning>,
    /// How many more there are of anything that is not listed.
    pub left_out: usize,
}

/// A server that a folder brings.
#[derive(Clone, Debug)]
pub struct SurveyedServer {
    /// Its name as it is written.
    pub name: String,
    /// Where it is written.
    pub origin: SettingsOrigin,
    /// The extension it belongs to.
    pub extension: Option<String>,
    /// `stdio`, `http`, `sse` or `builtin`; `None` when it is none of them.
    pub transport: Option<&'static str>,
    /// The command line or address, unexpanded; or why there is none.
    pub target: String,
    /// The folder it runs in, as it is written.
    pub cwd: Option<String>,
    /// The names of the variables it is given.
    pub env: Vec<String>,
    /// The names of the headers it is sent.
    pub headers: Vec<String>,
    /// Variables and secrets of the person that its entry refers to.
    pub references: Vec<String>,
    /// Whether its entry wants its tools to run without a question, which a folder cannot have.
    pub is_unasked: bool,
    /// What became of it since the folder was trusted.
    pub change: Option<EntryChange>,
    /// The server of the same name that it replaces when the folder is trusted.
    pub replaces: Option<ReplacedServer>,
}

/// A server from elsewhere that the folder replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedServer {
    /// The place of its entry.
    pub origin: SettingsOrigin,
    /// Its command line, address or name. `None` for an invalid entry.
    pub target: Option<String>,
}

/// An extension that a folder brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedExtension {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// Whether it counts when the folder is trusted.
    pub is_enabled: bool,
}

/// A `.env` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedEnvFile {
    /// The file.
    pub path: PathBuf,
    /// The names of its variables.
    pub names: Vec<String>,
    /// Why they cannot be told.
    pub problem: Option<String>,
}

/// A setting that a folder has a say in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedKey {
    /// Its key, with the sections it stands in.
    pub key: String,
    /// Where it is written.
    pub origin: SettingsOrigin,
}

/// Something that deserves a second look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyWarning {
    /// Where it is written.
    pub origin: SettingsOrigin,
    /// What it comes to.
    pub message: String,
}

impl Survey {
    /// Whether there is anything to look at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
            && self.extensions.is_empty()
            && self.policies.is_empty()
            && self.env_file.is_none()
            && self.keys.is_empty()
    }
}

/// Looks at what the folder brings.
#[must_use]
pub fn survey(settings: &Settings, folder: &Folder) -> Survey {
    let brought = &settings.brought;
    let mut left_out = 0;
    let mut servers: Vec<SurveyedServer> =
        brought_layers(settings).flat_map(|layer| servers_of(layer, settings, folder)).collect();
    servers.sort_by_key(|server| server.change.is_none());
    let of_workspace = settings.extensions.iter().filter(|one| one.extension.is_of_workspace);
    let extensions = brought.extensions.iter().chain(of_workspace).map(|one| SurveyedExtension {
        name: shortened(&one.extension.name),
        version: shortened(&one.extension.version),
        manifest: one.extension.manifest.clone(),
        is_enabled: one.is_enabled,
    });
    let keys = brought_layers(settings).flat_map(overridden).collect();
    let warnings = brought_layers(settings).flat_map(warnings).collect();
    let env_file = brought.env_file.as_deref().map(|path| {
        let mut found = env_file(path);
        found.names = few(found.names, &mut left_out);
        found
    });
    Survey {
        servers: few(servers, &mut left_out),
        extensions: few(extensions.collect(), &mut left_out),
        policies: few(brought.policies.clone(), &mut left_out),
        env_file,
        keys: few(keys, &mut left_out),
        warnings: few(warnings, &mut left_out),
        left_out,
    }
}

fn few<T>(mut all: Vec<T>, left_out: &mut usize) -> Vec<T> {
    *left_out += all.len().saturating_sub(SURVEY_ITEMS_MAX);
    all.truncate(SURVEY_ITEMS_MAX);
    all
}

fn servers_of(layer: &SettingsLayer, settings: &Settings, folder: &Folder) -> Vec<SurveyedServer> {
    let mut servers: Vec<SurveyedServer> = Vec::new();
    for entry in &layer.settings.mcp_servers {
        let mut server = blank(layer, &entry.name, folder);
        server.replaces = replaced(layer, &entry.name.value, settings);
        match &entry.entry {
            RawEntry::Server(raw) => describe(&mut server, raw),
            RawEntry::Broken(reason) => server.target = shortened(reason),
        }
        servers.push(server);
    }
    servers
}

/// The entry of a lower layer that is not part of the folder. The highest one counts.
fn replaced(layer: &SettingsLayer, name: &str, settings: &Settings) -> Option<ReplacedServer> {
    let own = settings.layers.iter().filter(|own| !own.is_of_workspace() && own.source < layer.source);
    let entries = own.flat_map(|own| own.settings.mcp_servers.iter().map(move |entry| (own, entry)));
    let (own, entry) = entries.filter(|(_, entry)| entry.name.value == name).max_by_key(|(own, _)| own.source)?;
    let target = match &entry.entry {
        RawEntry::Server(raw) => written_target(raw).map(|written| shortened(&written.target)),
        RawEntry::Broken(_) => None,
    };
    Some(ReplacedServer { origin: own.origin(entry.name.at.line), target })
}

fn blank(layer: &SettingsLayer, name: &Located<String>, folder: &Folder) -> SurveyedServer {
    SurveyedServer {
        name: shortened(&name.value),
        origin: layer.origin(name.at.line),
        extension: layer.extension.as_ref().map(|extension| shortened(&extension.name)),
        transport: None,
        target: String::new(),
        cwd: None,
        env: Vec::new(),
        headers: Vec::new(),
        references: Vec::new(),
        is_unasked: false,
        change: folder.change_of(&name.value),
        replaces: None,
    }
}

/// What the entry says, chosen as it would be when it is resolved: an address beats a command.
fn describe(server: &mut SurveyedServer, raw: &RawServer) {
    let written = |text: &Option<Located<String>>| {
        text.as_ref().map(|text| text.value.clone()).filter(|text| !text.trim().is_empty())
    };
    let target = written_target(raw);
    server.transport = target.as_ref().map(|target| target.transport);
    let target = target.map_or("(neither a `url` nor a `command`)".to_owned(), |target| target.target);
    server.target = shortened(&target);
    server.cwd = written(&raw.cwd).map(|cwd| shortened(&cwd));
    server.env = names(raw.env.as_ref());
    server.headers = names(raw.headers.as_ref());
    server.references = references(texts(raw));
    server.is_unasked = raw.trust.is_some_and(|trust| trust.value);
}

fn names(map: Option<&RawMap>) -> Vec<String> {
    let pairs = map.iter().flat_map(|map| &map.value).take(SURVEY_ITEMS_MAX);
    pairs.map(|pair| shortened(&pair.name.value)).collect()
}

/// Every text of an entry that is expanded when it is used.
fn texts(raw: &RawServer) -> impl Iterator<Item = &str> {
    let alone = [&raw.command, &raw.cwd, &raw.url, &raw.http_url].into_iter().flatten();
    let args = raw.args.iter().flat_map(|args| &args.value);
    let maps = [&raw.env, &raw.headers].into_iter().flatten().flat_map(|map| &map.value).map(|pair| &pair.value);
    alone.chain(args).chain(maps).map(|text| text.value.as_str())
}

/// The start of a text, and how much of it is missing.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SURVEY_TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => {
            let (kept, cut) = text.split_at(end);
            format!("{kept}… ({} more characters)", cut.chars().count())
        }
    }
}

fn env_file(path: &Path) -> SurveyedEnvFile {
    let mut found = SurveyedEnvFile { path: path.to_owned(), names: Vec::new(), problem: None };
    match state_file::read(path, DOTENV_FILE_BYTES_MAX) {
        Ok(text) => {
            found.names =
                dotenv::parse(text.as_deref().unwrap_or_default()).keys().map(|name| shortened(name)).collect();
        }
        Err(error) => found.problem = Some(error.to_string()),
    }
    found
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
