//! `Format`: whose configuration files can be read and written, and what each is called.

use std::fmt;
use std::path::Path;

use crate::formats::entry::NamedServer;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::{claude_code, claude_desktop, codex, cursor, goose, own, vs_code, zed};
use crate::limits::SETTINGS_FILE_BYTES_MAX;

/// A client whose configuration files are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Gemini CLI: `settings.json`, the format that ours grew from.
    GeminiCli,
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code: `.mcp.json` and `.claude.json`.
    ClaudeCode,
    /// VS Code: `mcp.json`, and `mcp` in `settings.json`.
    VsCode,
    /// Cursor: `mcp.json`.
    Cursor,
    /// Codex: `config.toml`.
    Codex,
    /// goose: `config.yaml`.
    Goose,
    /// Zed: `settings.json`.
    Zed,
    /// Our own `settings.json`.
    Toolgate,
}

impl Format {
    /// All of them, others before ours.
    pub const ALL: [Self; 9] = [
        Self::GeminiCli,
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::VsCode,
        Self::Cursor,
        Self::Codex,
        Self::Goose,
        Self::Zed,
        Self::Toolgate,
    ];

    /// The word for it on a command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GeminiCli => "gemini-cli",
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Zed => "zed",
            Self::Toolgate => "toolgate",
        }
    }

    /// What its makers call it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::GeminiCli => "Gemini CLI",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Codex => "Codex",
            Self::Goose => "goose",
            Self::Zed => "Zed",
            Self::Toolgate => "toolgate",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads the text of a configuration file. `path` is what the text is called in messages.
///
/// # Errors
/// When the text is not what such a file is written in. An entry that cannot be used is not an error.
pub fn read(format: Format, text: &str, path: &Path) -> Result<Imported, FormatError> {
    if text.len() > SETTINGS_FILE_BYTES_MAX {
        let message = format!("larger than {} MiB, the most a settings file may have", SETTINGS_FILE_BYTES_MAX >> 20);
        return Err(FormatError::whole(path, message, Some("check that this is the file you mean".to_owned())));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::GeminiCli | Format::Toolgate => own::read(format, text, path),
        Format::ClaudeDesktop => claude_desktop::read(text, path),
        Format::ClaudeCode => claude_code::read(text, path),
        Format::VsCode => vs_code::read(text, path),
        Format::Cursor => cursor::read(text, path),
        Format::Codex => codex::read(text, path),
        Format::Goose => goose::read(text, path),
        Format::Zed => zed::read(text, path),
    }
}

/// Writes servers as a configuration file. References to variables and secrets are turned into what that client knows, or noted.
#[must_use]
pub fn write(format: Format, servers: &[NamedServer]) -> Exported {
    match format {
        Format::GeminiCli | Format::Toolgate => own::write(format, servers),
        Format::ClaudeDesktop => claude_desktop::write(servers),
        Format::ClaudeCode => claude_code::write(servers),
        Format::VsCode => vs_code::write(servers),
        Format::Cursor => cursor::write(servers),
        Format::Codex => codex::write(servers),
        Format::Goose => goose::write(servers),
        Format::Zed => zed::write(servers),
    }
}
