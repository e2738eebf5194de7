//! Which settings a run uses: the files of the administrator, the person and their extensions, or the one that is named for the run; and
//! what single keys come to when all of them are read.

use std::path::{Path, PathBuf};

use crate::env::HostEnv;
use crate::limits::{CONNECT_LIMIT_COUNT, CONNECT_LIMIT_MAX};
use crate::settings::brought::{self, Brought, OwnSettings};
use crate::settings::diagnostic::{Diagnostic, SettingsError, Severity};
use crate::settings::extensions::{self, EXTENSIONS_FOLDER, ExtensionState, Found, Scope};
use crate::settings::kept::ListedEntry;
use crate::settings::position::{Located, Position};
use crate::settings::raw::{RawEntry, RawList, RawServer, RawServerEntry, RawSettings, SearchMode, ToolNaming};
use crate::settings::read::{file_text, read_file, read_parsed};
use crate::settings::server_command::make_entry;
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};
use crate::settings::syntax::ParsedText;

/// The file in a settings folder.
pub const SETTINGS_FILE: &str = "settings.json";

/// The server that is there without any settings, and its name.
const BUILT_IN_SERVER: &str = "workspace";

/// The administrator's defaults, in the system folder.
pub const SYSTEM_DEFAULTS_FILE: &str = "system-defaults.json";

/// All layers of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What could be read, lowest precedence first.
    pub layers: Vec<SettingsLayer>,
    /// What the workspace folder brings, which is in force only when somebody trusts the folder.
    pub brought: Brought,
    /// The extensions there are, enabled or not.
    pub extensions: Vec<ExtensionState>,
    /// What is wrong with things that are no settings file, such as an extension.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that could not be read. The others are used all the same; whether to go on is for the caller to say.
    pub broken: Vec<SettingsError>,
}

/// What decides which settings a run uses.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// A file that is used alone (`--config`). A relative path starts at the workspace folder.
    pub config: Option<PathBuf>,
    /// Reads `config` when it is written in the way of another client.
    pub other_formats: Option<OtherFormats>,
}

/// Reads a file that is written in the way of another client. `None` when it is not.
pub type OtherFormats = fn(&Path, &ParsedText<'_>, SettingsSource) -> Result<Option<SettingsLayer>, SettingsError>;

/// `security.folderTrust`, as it is in force. A workspace folder has no say in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderTrustSettings {
    /// Whether folders need to be trusted at all; they do.
    pub enabled: bool,
    /// Whether the person's own servers are used in folders that are not trusted; they are not.
    pub user_servers: bool,
}

/// `tools.search`: when a model searches for tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSearchSettings {
    /// Always, never, or above the threshold.
    pub mode: SearchMode,
    /// What is written as the threshold: tools, or tokens from 1,000 on.
    pub threshold: Option<usize>,
    /// Tools that stay in view.
    pub pinned: Vec<String>,
}

/// Variables of the host that reach servers, or do not, in spite of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvExceptions {
    /// Passed on though the name looks secret.
    pub allowed: Vec<String>,
    /// Never passed on.
    pub blocked: Vec<String>,
    /// Known from the `.env` file of the project alone: for its settings, not for its servers.
    pub of_project: Vec<String>,
}

/// Reads the settings of a run: those of the administrator, of extensions and of the person, or `config` alone; below them the built-in
/// layer. What the workspace folder brings is read beside them and is in force only after [`Settings::take_in_brought`].
#[must_use]
pub fn load(env: &HostEnv, options: &LoadOptions) -> Settings {
    let mut settings = Settings { layers: vec![built_in()], ..Settings::default() };
    let (user, system) = (&env.dirs.user, &env.dirs.system);
    match &options.config {
        Some(config) => settings.add(read_config(&env.workspace.join(config), options.other_formats).map(Some)),
        None => {
            settings.add(read_file(&system.join(SYSTEM_DEFAULTS_FILE), SettingsSource::SystemDefaults));
            settings.add_extensions(extensions::read(&user.join(EXTENSIONS_FOLDER), Scope::Person, env));
            settings.add(read_file(&user.join(SETTINGS_FILE), SettingsSource::User));
            settings.add(read_file(&system.join(SETTINGS_FILE), SettingsSource::SystemOverrides));
        }
    }
    let whose = if options.config.is_some() { OwnSettings::NotAsked } else { OwnSettings::Read };
    settings.brought = brought::look(env, &mut settings, whose);
    settings
}

fn read_config(path: &Path, other_formats: Option<OtherFormats>) -> Result<SettingsLayer, SettingsError> {
    let source = SettingsSource::CommandLine;
    let text = file_text(path, source)?.ok_or_else(|| no_such_file(path))?;
    let parsed = ParsedText::new(&text);
    if let Some(read) = other_formats
        && let Some(layer) = read(path, &parsed, source)?
    {
        return Ok(layer);
    }
    read_parsed(&parsed, path, source)
}

/// The lowest layer: `{"mcpServers": {"workspace": {"builtin": "workspace"}}}`.
fn built_in() -> SettingsLayer {
    let name = Located { value: BUILT_IN_SERVER.to_owned(), at: Position { line: 1, column: 1 } };
    let server = RawServer { builtin: Some(name.clone()), ..RawServer::default() };
    let entry = RawEntry::Server(Box::new(server));
    let settings = RawSettings { mcp_servers: vec![RawServerEntry { name, entry }], ..RawSettings::default() };
    SettingsLayer { source: SettingsSource::BuiltIn, path: None, settings, extension: None, diagnostics: Vec::new() }
}

fn no_such_file(path: &Path) -> SettingsError {
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        origin: SettingsOrigin { source: SettingsSource::CommandLine, path: Some(path.to_owned()), line: None },
        column: None,
        server: None,
        key: None,
        message: "no such file".to_owned(),
        hint: Some("check the path given with `--config`".to_owned()),
    };
    SettingsError::new(diagnostic, None)
}

impl Settings {
    /// Puts what the workspace folder brings in force. Only for a folder that is trusted.
    pub fn take_in_brought(&mut self) {
        self.layers.append(&mut self.brought.layers);
        self.extensions.append(&mut self.brought.extensions);
    }

    fn add(&mut self, read: Result<Option<SettingsLayer>, SettingsError>) {
        match read {
            Ok(None) => (),
            Ok(Some(mut layer)) => {
                make_entry(&mut layer);
                self.layers.push(layer);
            }
            Err(error) => self.broken.push(error),
        }
    }

    fn add_extensions(&mut self, found: Found) {
        self.layers.extend(found.layers);
        self.extensions.extend(found.extensions);
        self.diagnostics.extend(found.diagnostics);
    }

    /// Tools that nobody sees: `tools.exclude` of every layer, and `excludeTools` of every extension that is enabled.
    #[must_use]
    pub fn excluded_tools(&self) -> Vec<ListedEntry> {
        let entry = |text: &str, origin: SettingsOrigin, layer: &SettingsLayer| ListedEntry {
            text: text.to_owned(),
            origin,
            is_of_workspace: layer.is_of_workspace(),
        };
        let written = self.layers.iter().flat_map(|layer| {
            let list = layer.settings.tools.exclude.iter().flat_map(|list| &list.value);
            list.map(move |name| entry(&name.value, layer.origin(name.at.line), layer))
        });
        let of_extensions = self.layers.iter().filter_map(|layer| Some((layer, layer.extension.as_ref()?)));
        let of_extensions = of_extensions.flat_map(|(layer, extension)| {
            let origin = SettingsOrigin { source: layer.source, path: layer.path.clone(), line: None };
            extension.exclude_tools.iter().map(move |name| entry(name, origin.clone(), layer))
        });
        written.chain(of_extensions).collect()
    }

    /// Names that are not taken from the `.env` files of projects, besides those that never are.
    pub(crate) fn excluded_variables(&self) -> Vec<&str> {
        let lists = self.layers.iter().filter_map(|layer| layer.settings.advanced.excluded_env_vars.as_ref());
        lists.flat_map(|list| &list.value).map(|name| name.value.as_str()).collect()
    }

    /// Whether the `.env` files of projects are left alone.
    pub(crate) fn ignores_local_env(&self) -> bool {
        self.highest(|settings| settings.advanced.ignore_local_env.as_ref()).is_some_and(|ignores| ignores.value)
    }

    /// How many servers are connected to at once.
    #[must_use]
    pub fn connect_limit(&self) -> usize {
        let written = self.highest(|settings| settings.mcp.connect_limit.as_ref());
        written.map_or(CONNECT_LIMIT_COUNT, |limit| whole(limit.value).clamp(1, CONNECT_LIMIT_MAX))
    }

    /// How tools are called.
    #[must_use]
    pub fn naming(&self) -> ToolNaming {
        self.highest(|settings| settings.tools.naming.as_ref()).map_or_else(ToolNaming::default, |naming| naming.value)
    }

    /// When a model searches for tools.
    #[must_use]
    pub fn tool_search(&self) -> ToolSearchSettings {
        let mode = self.highest(|settings| settings.tools.search_mode.as_ref());
        let threshold = self.highest(|settings| settings.tools.search_threshold.as_ref());
        let pinned = self.highest(|settings| settings.tools.search_pinned.as_ref());
        ToolSearchSettings {
            mode: mode.map_or_else(SearchMode::default, |mode| mode.value),
            threshold: threshold.map(|threshold| whole(threshold.value)),
            pinned: pinned.into_iter().flat_map(|list| &list.value).map(|name| name.value.clone()).collect(),
        }
    }

    /// The longest output a model gets, in characters; 0 switches cutting off. `None` when nothing is written about it.
    #[must_use]
    pub fn output_threshold_chars(&self) -> Option<usize> {
        self.highest(|settings| settings.tools.truncate_tool_output_threshold.as_ref()).map(|chars| whole(chars.value))
    }

    /// Which variables of the host are passed on to servers against the rule, or held back.
    #[must_use]
    pub fn env_exceptions(&self) -> EnvExceptions {
        let list = |written: Option<&RawList>| -> Vec<String> {
            written.into_iter().flat_map(|list| &list.value).map(|name| name.value.clone()).collect()
        };
        // A folder may hold variables back, and not hand out the person's.
        let others = self.layers.iter().filter(|layer| !layer.is_of_workspace());
        EnvExceptions {
            allowed: list(highest(others, |settings| settings.security.env_allowed.as_ref())),
            blocked: list(self.highest(|settings| settings.security.env_blocked.as_ref())),
            of_project: Vec::new(),
        }
    }

    /// Whether folders need to be trusted, and what goes on in those that are not.
    #[must_use]
    pub fn folder_trust(&self) -> FolderTrustSettings {
        let others = || self.layers.iter().filter(|layer| !layer.is_of_workspace());
        let enabled = highest(others(), |settings| settings.security.folder_trust_enabled.as_ref());
        let user_servers = highest(others(), |settings| settings.security.folder_trust_user_servers.as_ref());
        FolderTrustSettings {
            enabled: enabled.is_none_or(|enabled| enabled.value),
            user_servers: user_servers.is_some_and(|own| own.value),
        }
    }

    /// A value of the layer with the highest precedence that has one.
    fn highest<'s, T>(&'s self, pick: impl Fn(&'s RawSettings) -> Option<&'s T>) -> Option<&'s T> {
        highest(self.layers.iter(), pick)
    }
}

fn highest<'s, T>(
    layers: impl Iterator<Item = &'s SettingsLayer>,
    pick: impl Fn(&'s RawSettings) -> Option<&'s T>,
) -> Option<&'s T> {
    let with_value = layers.filter_map(|layer| pick(&layer.settings).map(|value| (layer.source, value)));
    with_value.max_by_key(|(source, _)| *source).map(|(_, value)| value)
}

/// A number of things. What is below zero is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates, as it should")]
fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
