//! Extensions: folders with a manifest that bring servers, tools to hide and policies. Each one that is enabled becomes a layer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::HostEnv;
use crate::limits::{DOTENV_FILE_BYTES_MAX, EXTENSIONS_MAX};
use crate::settings::diagnostic::{Diagnostic, KeyPath, Severity};
use crate::settings::dotenv::{self, DOTENV_FILE};
use crate::settings::extension_switch::Switches;
use crate::settings::position::Located;
use crate::settings::raw::{RawEntry, RawList, RawPair, RawServer, RawServerEntry, RawSettings, RawValue};
use crate::settings::read::{Members, file_text, read_object, read_servers};
use crate::settings::source::{Extension, SettingsLayer, SettingsOrigin, SettingsSource, Variables};
use crate::settings::syntax::ParsedText;
use crate::settings::value_reader::ValueReader;
use crate::state_file;

/// The folder that holds extensions, in a settings folder.
pub const EXTENSIONS_FOLDER: &str = "extensions";

/// What a manifest may be called. The first that is there counts.
const MANIFESTS: [&str; 2] = ["toolgate-extension.json", "gemini-extension.json"];

/// Where an extension really is, when it is only linked to.
const INSTALLED: [&str; 2] = [".toolgate-extension-install.json", ".gemini-extension-install.json"];

/// Whose extensions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Person,
    Workspace,
}

/// An extension, and whether it is enabled for the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionState {
    /// The extension.
    pub extension: Arc<Extension>,
    /// Whether its servers, excludes and policies count.
    pub is_enabled: bool,
    /// The servers it brings, by name.
    pub servers: Vec<String>,
}

/// The extensions of a folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Those that are enabled.
    pub(crate) layers: Vec<SettingsLayer>,
    pub(crate) extensions: Vec<ExtensionState>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads the extensions in a folder, in the order of their names. One that cannot be read is reported and left out.
pub(crate) fn read(folder: &Path, scope: Scope, env: &HostEnv) -> Found {
    let mut found = Found::default();
    let mut folders: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .take(EXTENSIONS_MAX)
        .collect();
    if folders.is_empty() {
        return found;
    }
    folders.sort();
    let switches = Switches::read(env).unwrap_or_else(|error| {
        let origin = SettingsOrigin { source: SettingsSource::Extension, path: None, line: None };
        found.diagnostics.push(complaint(origin, error.to_string(), "all extensions are enabled until it can be read"));
        Switches::default()
    });
    for folder in folders {
        match read_one(&folder, scope, env) {
            Ok(None) => (),
            Ok(Some((layer, _))) if found.has(&layer) => {
                let origin = SettingsOrigin { source: layer.source, path: layer.path, line: None };
                let message = "another extension has the same name; this one is not used".to_owned();
                found.diagnostics.push(complaint(origin, message, "remove one of the two"));
            }
            Ok(Some((layer, extension))) => {
                let is_enabled = switches.is_enabled(&extension.name, &env.workspace);
                let servers = layer.settings.mcp_servers.iter().map(|entry| entry.name.value.clone()).collect();
                found.extensions.push(ExtensionState { extension, is_enabled, servers });
                found.layers.extend(Some(layer).filter(|_| is_enabled));
            }
            Err(diagnostic) => found.diagnostics.push(*diagnostic),
        }
    }
    found
}

impl Found {
    fn has(&self, layer: &SettingsLayer) -> bool {
        let name = layer.extension.as_ref().map(|extension| extension.name.as_str());
        self.extensions.iter().any(|one| Some(one.extension.name.as_str()) == name)
    }
}

fn complaint(origin: SettingsOrigin, message: String, hint: &str) -> Diagnostic {
    let hint = Some(hint.to_owned());
    Diagnostic { severity: Severity::Error, origin, column: None, server: None, key: None, message, hint }
}

type ReadOne = Result<Option<(SettingsLayer, Arc<Extension>)>, Box<Diagnostic>>;

fn read_one(folder: &Path, scope: Scope, env: &HostEnv) -> ReadOne {
    // What a workspace brings stands in the workspace: no link leads elsewhere, and nothing is filled in for it.
    let folder = &if scope == Scope::Person { followed(folder) } else { folder.to_owned() };
    let source = SettingsSource::Extension;
    for path in MANIFESTS.map(|name| folder.join(name)) {
        let broken = |error: crate::settings::SettingsError| Box::new(error.diagnostic().clone());
        let Some(text) = file_text(&path, source).map_err(broken)? else { continue };
        let (manifest, diagnostics) =
            read_object(&ParsedText::new(&text), &path, source, read_manifest).map_err(broken)?;
        let origin = SettingsOrigin { source, path: Some(path.clone()), line: None };
        let refuse = |message: &str, hint: &str| Box::new(complaint(origin.clone(), message.to_owned(), hint));
        let is_name = |name: &String| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        };
        let Some(name) = manifest.name.filter(is_name) else {
            return Err(refuse("no usable `name`; the extension is not used", "a name has letters, digits and `-`"));
        };
        let Some(version) = manifest.version else {
            return Err(refuse("no `version`; the extension is not used", "write \"version\": \"1.0.0\""));
        };
        let extension = Arc::new(Extension {
            name,
            version,
            folder: folder.clone(),
            manifest: path.clone(),
            exclude_tools: manifest.exclude_tools,
            variables: Variables(match scope {
                Scope::Person => declared_variables(folder, &manifest.variables),
                Scope::Workspace => BTreeMap::new(),
            }),
            is_of_workspace: scope == Scope::Workspace,
        });
        let mut settings = RawSettings { mcp_servers: manifest.servers, ..RawSettings::default() };
        for entry in &mut settings.mcp_servers {
            if let RawEntry::Server(server) = &mut entry.entry {
                fit_in(server, folder, env, &extension.variables.0);
            }
        }
        let layer =
            SettingsLayer { source, path: Some(path), settings, extension: Some(extension.clone()), diagnostics };
        return Ok(Some((layer, extension)));
    }
    Ok(None)
}

/// An extension under development stands elsewhere and is linked to by a file.
fn followed(folder: &Path) -> PathBuf {
    for file in INSTALLED.map(|name| folder.join(name)) {
        let Ok(Some(text)) = state_file::read(&file, DOTENV_FILE_BYTES_MAX) else { continue };
        let Ok(about) = serde_json::from_str::<serde_json::Value>(&text) else { continue };
        let text = |key: &str| about.get(key).and_then(serde_json::Value::as_str);
        if let (Some("link"), Some(source)) = (text("type"), text("source")) {
            return folder.join(source);
        }
    }
    folder.to_owned()
}

/// A manifest as it is written.
#[derive(Default)]
struct Manifest {
    name: Option<String>,
    version: Option<String>,
    servers: Vec<RawServerEntry>,
    exclude_tools: Vec<String>,
    /// `settings[].envVar`: variables that the person fills in.
    variables: Vec<String>,
}

fn read_manifest(reader: &mut ValueReader<'_>, members: &Members<'_, '_>) -> Manifest {
    let mut manifest = Manifest::default();
    let texts = |list: RawList| list.value.into_iter().map(|text| text.value).collect();
    for (name, member) in members {
        let (value, key) = (&member.value, KeyPath::top(name));
        match *name {
            "name" => manifest.name = reader.text(value, key).ok().flatten().map(|text| text.value),
            "version" => manifest.version = reader.text(value, key).ok().flatten().map(|text| text.value),
            "excludeTools" => {
                manifest.exclude_tools = reader.list_or_one(value, key).ok().flatten().map(texts).unwrap_or_default();
            }
            "mcpServers" => {
                let inside = reader.object(value, key).unwrap_or_default();
                manifest.servers = read_servers(reader, key, &inside);
            }
            "settings" => manifest.variables = variable_names(&reader.raw(value).value),
            // Context files, themes and the rest concern other programs.
            _ => (),
        }
    }
    manifest
}

fn variable_names(settings: &RawValue) -> Vec<String> {
    let RawValue::List(settings) = settings else { return Vec::new() };
    let name = |setting: &Located<RawValue>| {
        let RawValue::Object(members) = &setting.value else { return None };
        let member = members.iter().find(|member| member.key.value == "envVar")?;
        if let RawValue::Text(name) = &member.value.value { Some(name.clone()) } else { None }
    };
    settings.iter().filter_map(name).collect()
}

/// What the person filled in, in the `.env` file of the extension. Only what the manifest asks for counts.
fn declared_variables(folder: &Path, names: &[String]) -> BTreeMap<String, String> {
    if names.is_empty() {
        return BTreeMap::new();
    }
    let text = state_file::read(&folder.join(DOTENV_FILE), DOTENV_FILE_BYTES_MAX).ok().flatten().unwrap_or_default();
    let mut variables = dotenv::parse(&text);
    variables.retain(|name, _| names.contains(name));
    variables
}

/// Fills in what is known about the place of the extension, and hands its servers what the person filled in for it. An extension cannot say of
/// its own servers that they need no confirmation.
fn fit_in(server: &mut RawServer, folder: &Path, env: &HostEnv, variables: &BTreeMap<String, String>) {
    server.trust = None;
    let separator = std::path::MAIN_SEPARATOR_STR;
    let (folder, workspace) = (folder.display().to_string(), env.workspace.display().to_string());
    let known = [
        ("${extensionPath}", folder.as_str()),
        ("${workspacePath}", workspace.as_str()),
        ("${/}", separator),
        ("${pathSeparator}", separator),
    ];
    // What is put in is final; a `$` in a path or value is not the start of a variable.
    let literal = |text: &str| text.replace('$', "\\$");
    server.change_texts(&mut |text| {
        for (placeholder, value) in known {
            if text.contains(placeholder) {
                *text = text.replace(placeholder, &literal(value));
            }
        }
    });
    if server.command.is_some() && !variables.is_empty() {
        let at = server.command.as_ref().map(|command| command.at).unwrap_or_default();
        let pairs = server.env.get_or_insert_with(|| Located { value: Vec::new(), at });
        for name in variables.keys() {
            if !pairs.value.iter().any(|pair| pair.name.value == *name) {
                let located = |text: String| Located { value: text, at };
                let value = located(format!("${{{name}}}"));
                pairs.value.push(RawPair { name: located(name.clone()), value });
            }
        }
    }
}
