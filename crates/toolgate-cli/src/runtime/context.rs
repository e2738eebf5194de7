//! `Context`: everything that decides which servers a command gets and how they are. Two commands share servers when their contexts are equal, so
//! that what is left out of it must not reach a server.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

use toolgate::auth::store::TokenStore;
use toolgate::servers::{ConfigText, HttpConfig, ServerConfig, TransportConfig};
use toolgate::settings::EnvExceptions;
use toolgate::settings::secret_reference::{SecretKind, SecretReference};
use toolgate::{HostEnv, Naming};

use crate::args::Options;
use crate::configured::{Plan, naming};

/// Variables that differ from one terminal, or one tab of it, to the next, and mean nothing to servers as long as no settings name them. Whole
/// names: what only begins like one of them may be anything. What a program in a shell asks others with counts, such as `SSH_AUTH_SOCK` and
/// `VSCODE_GIT_IPC_HANDLE`.
const OF_TERMINALS: [&[&str]; 8] = [
    // Shells, and those that we started ourselves.
    &["_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TOOLGATE_NO_RUNTIME", "TOOLGATE_WATCHED"],
    // What kind of terminal it is, which window and which tab.
    &[
        "COLORFGBG",
        "COLORTERM",
        "LC_TERMINAL",
        "LC_TERMINAL_VERSION",
        "TERM",
        "TERMINAL_EMULATOR",
        "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION",
        "TERM_SESSION_ID",
        "WINDOWID",
    ],
    // Where the person sits.
    &["GPG_TTY", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "XDG_SESSION_ID"],
    // How a window was opened.
    &["DESKTOP_STARTUP_ID", "GIO_LAUNCHED_DESKTOP_FILE", "GIO_LAUNCHED_DESKTOP_FILE_PID", "XDG_ACTIVATION_TOKEN"],
    // Several terminals in one: screen, tmux, Zellij.
    &["STY", "TMUX", "TMUX_PANE", "WINDOW", "ZELLIJ", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME"],
    // Alacritty, Ghostty, kitty, WezTerm.
    &[
        "ALACRITTY_LOG",
        "ALACRITTY_SOCKET",
        "ALACRITTY_WINDOW_ID",
        "GHOSTTY_BIN_DIR",
        "GHOSTTY_RESOURCES_DIR",
        "GHOSTTY_SHELL_FEATURES",
        "KITTY_INSTALLATION_DIR",
        "KITTY_LISTEN_ON",
        "KITTY_PID",
        "KITTY_PUBLIC_KEY",
        "KITTY_SHELL_INTEGRATION",
        "KITTY_WINDOW_ID",
        "WEZTERM_CONFIG_DIR",
        "WEZTERM_CONFIG_FILE",
        "WEZTERM_EXECUTABLE",
        "WEZTERM_EXECUTABLE_DIR",
        "WEZTERM_PANE",
        "WEZTERM_UNIX_SOCKET",
    ],
    // Those of desktops: GNOME and others on VTE, Konsole, iTerm, Windows.
    &[
        "GNOME_TERMINAL_SCREEN",
        "GNOME_TERMINAL_SERVICE",
        "GUAKE_TAB_UUID",
        "ITERM_PROFILE",
        "ITERM_SESSION_ID",
        "KONSOLE_DBUS_ACTIVATION_COOKIE",
        "KONSOLE_DBUS_SERVICE",
        "KONSOLE_DBUS_SESSION",
        "KONSOLE_DBUS_WINDOW",
        "KONSOLE_VERSION",
        "PTYXIS_PROFILE",
        "PTYXIS_VERSION",
        "SHELL_SESSION_ID",
        "TERMINATOR_DBUS_NAME",
        "TERMINATOR_DBUS_PATH",
        "TERMINATOR_UUID",
        "TILIX_ID",
        "VTE_VERSION",
        "WT_PROFILE_ID",
        "WT_SESSION",
    ],
    // The terminal in Visual Studio Code.
    &["VSCODE_INJECTION", "VSCODE_IPC_HOOK_CLI", "VSCODE_NONCE", "VSCODE_SHELL_INTEGRATION", "VSCODE_STABLE"],
];

/// Everything that decides which servers a command gets, and how they are.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Context {
    /// The folder they are started in.
    pub(crate) folder: PathBuf,
    /// The folders beside it, which servers are told as roots.
    included: Vec<PathBuf>,
    /// Which folder that is: one that was made anew is another one, and servers would be left in the one that is gone.
    folder_id: Option<FolderId>,
    system: PathBuf,
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    allowed: Option<Vec<String>>,
    trust_folder: bool,
    /// Whether servers are told that somebody can be asked: that is said once, when they connect.
    pub(crate) can_be_asked: bool,
    vars: BTreeMap<String, String>,
    pub(crate) naming: Naming,
    pub(crate) connect_limit: usize,
    pub(crate) env_exceptions: EnvExceptions,
    pub(crate) token_store: TokenStore,
}

/// What tells a folder from another one at the same path. Numbers are given again; the time at which it was made is not.
type FolderId = (u64, u64, Option<SystemTime>);

impl std::fmt::Debug for Context {
    /// Values of variables may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Context {
    /// Of a command with that plan.
    pub(crate) fn of(plan: &Plan, options: &Options, can_be_asked: bool) -> Self {
        let HostEnv { vars, dirs, workspace, .. } = &*plan.env;
        let is_named = |name: &str| {
            plan.env_exceptions.allowed.iter().any(|allowed| allowed == name || allowed.contains('*'))
                || plan.admitted.iter().any(|server| names(server, name))
        };
        let is_of_terminals = |name: &str| OF_TERMINALS.iter().any(|names| names.contains(&name));
        let counts = |(name, _): &(&String, &String)| !is_of_terminals(name) || is_named(name);
        Self {
            folder: workspace.to_path_buf(),
            included: workspace.included().to_vec(),
            folder_id: std::fs::metadata(workspace).ok().map(|about| folder_id(&about)),
            system: dirs.system.clone(),
            home: dirs.home.clone(),
            config: options.config.as_ref().map(|config| workspace.join(config)),
            allowed: options.allowed_servers(),
            trust_folder: options.trust_folder,
            can_be_asked,
            vars: vars.iter().filter(counts).map(|(name, value)| (name.clone(), value.clone())).collect(),
            naming: naming(&plan.settings),
            connect_limit: plan.settings.connect_limit(),
            env_exceptions: plan.env_exceptions.clone(),
            token_store: TokenStore::of(&plan.settings),
        }
    }

    /// The world as everybody with this context sees it: what differs from one of them to the next is not there.
    pub(crate) fn world(&self, of_one: &HostEnv) -> HostEnv {
        HostEnv { vars: self.vars.clone(), ..of_one.clone() }
    }
}

fn folder_id(about: &Metadata) -> FolderId {
    (about.dev(), about.ino(), about.created().ok())
}

/// Whether a server is given that variable when it is started. What settings expand by themselves stands in the server already.
fn names(server: &ServerConfig, variable: &str) -> bool {
    match &server.transport {
        TransportConfig::Stdio(stdio) => {
            stdio.inherits(variable) || any_names(stdio.args.iter().chain(stdio.env.values()), variable)
        }
        TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => {
            let HttpConfig { url, headers, login } = http;
            let of_login = login.iter().flat_map(|login| login.texts.values());
            let helper = login.as_ref().and_then(|login| login.headers_helper.as_deref());
            any_names(std::iter::once(url).chain(headers.values()).chain(of_login), variable)
                || helper.is_some_and(|helper| helper.contains(variable))
        }
        TransportConfig::BuiltIn(_) => false,
    }
}

fn any_names<'t>(mut texts: impl Iterator<Item = &'t ConfigText>, variable: &str) -> bool {
    let is_it = |SecretReference { kind, target }: &SecretReference| match kind {
        SecretKind::Env => target == variable,
        // It sees the variables itself.
        SecretKind::Cmd => target.contains(variable),
        SecretKind::File | SecretKind::Keychain => false,
    };
    texts.any(|text| text.references().any(is_it))
}

#[cfg(test)]
#[path = "context_tests.rs"]
pub(super) mod tests;
