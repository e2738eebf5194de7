//! Which settings a run uses: the built-in layer, and the person's file or the one named for the run.

use std::path::Path;

use crate::env::HostEnv;
use crate::limits::{CONNECT_LIMIT_COUNT, CONNECT_LIMIT_MAX};
use crate::settings::diagnostic::{Diagnostic, SettingsError, Severity};
use crate::settings::position::{Located, Position};
use crate::settings::raw::{RawEntry, RawList, RawServer, RawServerEntry, RawSettings, ToolNaming};
use crate::settings::read::read_file;
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};

/// The file in a settings folder.
pub const SETTINGS_FILE: &str = "settings.json";

/// The server that is there without any settings, and its name.
const BUILT_IN_SERVER: &str = "workspace";

/// All layers of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What could be read, lowest precedence first.
    pub layers: Vec<SettingsLayer>,
    /// Files that could not be read. The others are used all the same; whether to go on is for the caller to say.
    pub broken: Vec<SettingsError>,
}

/// Variables of the host that reach servers, or do not, in spite of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvExceptions {
    /// Passed on though the name looks secret.
    pub allowed: Vec<String>,
    /// Never passed on.
    pub blocked: Vec<String>,
}

/// Reads the settings of a run: `config` alone when one is named, else the person's own file; below either the built-in layer.
///
/// A relative `config` starts at the workspace folder.
#[must_use]
pub fn load(env: &HostEnv, config: Option<&Path>) -> Settings {
    let mut settings = Settings { layers: vec![built_in()], broken: Vec::new() };
    let read = match config {
        Some(config) => {
            let path = env.workspace.join(config);
            read_file(&path, SettingsSource::CommandLine)
                .and_then(|layer| layer.ok_or_else(|| no_such_file(&path)).map(Some))
        }
        None => read_file(&env.dirs.user.join(SETTINGS_FILE), SettingsSource::User),
    };
    match read {
        Ok(layer) => settings.layers.extend(layer),
        Err(error) => settings.broken.push(error),
    }
    settings
}

/// The lowest layer: `{"mcpServers": {"workspace": {"builtin": "workspace"}}}`.
fn built_in() -> SettingsLayer {
    let name = Located { value: BUILT_IN_SERVER.to_owned(), at: Position { line: 1, column: 1 } };
    let server = RawServer { builtin: Some(name.clone()), ..RawServer::default() };
    let entry = RawEntry::Server(Box::new(server));
    let settings = RawSettings { mcp_servers: vec![RawServerEntry { name, entry }], ..RawSettings::default() };
    SettingsLayer { source: SettingsSource::BuiltIn, path: None, settings, diagnostics: Vec::new() }
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

    /// The longest output a model gets, in characters; 0 switches cutting off. `None` when nothing is written about it.
    #[must_use]
    pub fn output_threshold_chars(&self) -> Option<usize> {
        self.highest(|settings| settings.tools.truncate_tool_output_threshold.as_ref()).map(|chars| whole(chars.value))
    }

    /// Which variables of the host are passed on to servers against the rule, or held back.
    #[must_use]
    pub fn env_exceptions(&self) -> EnvExceptions {
        let list = |pick: fn(&RawSettings) -> Option<&RawList>| {
            let written = self.highest(pick).map(|list| &list.value);
            written.into_iter().flatten().map(|name| name.value.clone()).collect()
        };
        EnvExceptions {
            allowed: list(|settings| settings.security.env_allowed.as_ref()),
            blocked: list(|settings| settings.security.env_blocked.as_ref()),
        }
    }

    /// A value of the layer with the highest precedence that has one.
    fn highest<'s, T>(&'s self, pick: impl Fn(&'s RawSettings) -> Option<&'s T>) -> Option<&'s T> {
        let with_value =
            self.layers.iter().filter_map(|layer| pick(&layer.settings).map(|value| (layer.source, value)));
        with_value.max_by_key(|(source, _)| *source).map(|(_, value)| value)
    }
}

/// A number of things. What is below zero is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates, as it should")]
fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
