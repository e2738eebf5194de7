//! Where a setting can come from, in order of precedence, and one source as it was read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::settings::diagnostic::Diagnostic;
use crate::settings::raw::RawSettings;

/// Where a setting came from. The variants are in order of precedence, lowest first; this is the one place that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsSource {
    /// What toolgate brings itself.
    BuiltIn,
    /// The administrator's defaults.
    SystemDefaults,
    /// An extension.
    Extension,
    /// The person's own file.
    User,
    /// The file of the workspace folder.
    Workspace,
    /// What the administrator insists on.
    SystemOverrides,
    /// A file or flag named for this run.
    CommandLine,
}

impl SettingsSource {
    /// The source in words a script can compare.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::SystemDefaults => "system-defaults",
            Self::Extension => "extension",
            Self::User => "user",
            Self::Workspace => "workspace",
            Self::SystemOverrides => "system-overrides",
            Self::CommandLine => "command-line",
        }
    }
}

impl fmt::Display for SettingsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where one setting stands: its source, and the file and line when it has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsOrigin {
    /// The kind of source.
    pub source: SettingsSource,
    /// The file.
    pub path: Option<PathBuf>,
    /// The line in it, counted from 1.
    pub line: Option<usize>,
}

impl fmt::Display for SettingsOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{}:{line}", path.display()),
            (Some(path), None) => write!(f, "{}", path.display()),
            (None, _) => write!(f, "{} settings", self.source),
        }
    }
}

/// One source as it was written: no expansion, no defaults.
#[derive(Clone, Debug)]
pub struct SettingsLayer {
    /// The kind of source, which decides what it overrides.
    pub source: SettingsSource,
    /// The file it was read from.
    pub path: Option<PathBuf>,
    /// What it says.
    pub settings: RawSettings,
    /// The extension it belongs to, when the source is [`SettingsSource::Extension`].
    pub extension: Option<Arc<Extension>>,
    /// What is wrong with it, in the order of the file. None of it stops the rest from being used.
    pub diagnostics: Vec<Diagnostic>,
}

impl SettingsLayer {
    /// Whether it came with the workspace folder.
    #[must_use]
    pub fn is_of_workspace(&self) -> bool {
        let is_of_its_extension = self.extension.as_ref().is_some_and(|extension| extension.is_of_workspace);
        self.source == SettingsSource::Workspace || is_of_its_extension
    }

    /// Where something in this layer stands. A layer without a file has no lines.
    #[must_use]
    pub fn origin(&self, line: usize) -> SettingsOrigin {
        SettingsOrigin { source: self.source, path: self.path.clone(), line: self.path.as_ref().map(|_| line) }
    }
}

/// An extension: a folder with a manifest that brings servers, and more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name, which is unique.
    pub name: String,
    /// Its version, as it writes it.
    pub version: String,
    /// The folder it lives in.
    pub folder: PathBuf,
    /// The manifest.
    pub manifest: PathBuf,
    /// `excludeTools`: tools that nobody sees while it is enabled.
    pub exclude_tools: Vec<String>,
    /// What the person filled in for it; beats the environment in its own entries.
    pub variables: Variables,
    /// Whether it came with the workspace folder instead of the person's own.
    pub is_of_workspace: bool,
}

/// Names and values. The values may be secret and are not printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(pub BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Extension {
    /// Where its policies are, whether there are any or not.
    #[must_use]
    pub fn policies(&self) -> PathBuf {
        self.folder.join("policies")
    }
}

#[cfg(test)]
mod tests {
    use super::{SettingsOrigin, SettingsSource};

    #[test]
    fn precedence_is_the_order_of_the_variants() {
        use SettingsSource as S;
        let order =
            [S::BuiltIn, S::SystemDefaults, S::Extension, S::User, S::Workspace, S::SystemOverrides, S::CommandLine];
        assert!(order.is_sorted());
        let names: Vec<_> = order.iter().map(ToString::to_string).collect();
        let expected =
            ["built-in", "system-defaults", "extension", "user", "workspace", "system-overrides", "command-line"];
        assert_eq!(names, expected);
    }

    #[test]
    fn an_origin_says_as_much_as_is_known() {
        let of = |path: Option<&str>, line| SettingsOrigin {
            source: SettingsSource::BuiltIn,
            path: path.map(Into::into),
            line,
        };
        assert_eq!(of(Some("/a/s.json"), Some(3)).to_string(), "/a/s.json:3");
        assert_eq!(of(Some("/a/s.json"), None).to_string(), "/a/s.json");
        assert_eq!(of(None, None).to_string(), "built-in settings");
    }
}
