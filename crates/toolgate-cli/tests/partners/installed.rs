//! Where the partners are installed, and how each is started.

use std::path::{Path, PathBuf};

/// A program with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}

impl CommandLine {
    fn new(program: PathBuf, first: &Path) -> Self {
        Self { program, args: vec![first.display().to_string()] }
    }

    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }
}

/// The reference server of the protocol, which offers everything there is; it wants to be told `stdio`, `http PORT` or `sse PORT`.
pub(crate) fn everything() -> CommandLine {
    CommandLine::new(node(), &script("node/everything.mjs"))
}

/// Files below the folders that are its arguments.
pub(crate) fn filesystem() -> CommandLine {
    CommandLine::new(node(), &package("server-filesystem"))
}

/// A graph of knowledge, in the file that `MEMORY_FILE_PATH` names.
pub(crate) fn memory() -> CommandLine {
    CommandLine::new(node(), &package("server-memory"))
}

/// Times and time zones.
pub(crate) fn time() -> CommandLine {
    CommandLine { program: partner("python/servers/bin/mcp-server-time"), args: Vec::new() }
}

/// Git repositories.
pub(crate) fn git() -> CommandLine {
    CommandLine { program: partner("python/servers/bin/mcp-server-git"), args: Vec::new() }
}

/// A server on FastMCP 4.
pub(crate) fn fastmcp() -> CommandLine {
    let python = partner("python/fastmcp-4.1.2/bin/python");
    CommandLine::new(python, &script("python/fastmcp_server.py")).arg("stdio")
}

/// A server that is protected by the npm package `oidc-provider`; it wants to be told a port, and how many seconds a token lives; `dpop` binds
/// tokens to a key.
pub(crate) fn oidc() -> CommandLine {
    CommandLine::new(node(), &script("node/oidc.mjs"))
}

/// A server that is protected by FastMCP's own authorization server; it wants to be told the same.
pub(crate) fn fastmcp_login() -> CommandLine {
    CommandLine::new(partner("python/fastmcp-4.1.2/bin/python"), &script("python/fastmcp_login.py"))
}

/// A browser that follows redirects and fills in forms; it wants to be told an address.
pub(crate) fn form_browser() -> CommandLine {
    CommandLine::new(partner("python/fastmcp-4.1.2/bin/python"), &script("python/form_browser.py"))
}

/// Chromium with somebody at it; it wants to be told a button, a folder and an address.
pub(crate) fn chromium() -> CommandLine {
    CommandLine::new(node(), &script("node/chromium_consent.mjs"))
}

/// The policy engine of Gemini CLI, which reads calls from stdin, and the folder of its packages.
pub(crate) fn gemini_policy() -> (CommandLine, PathBuf) {
    (CommandLine::new(node(), &script("gemini/decide.mjs")), partner("gemini"))
}

fn node() -> PathBuf {
    partner("node/bin/node")
}

fn package(name: &str) -> PathBuf {
    partner(&format!("node/node_modules/@modelcontextprotocol/{name}/dist/index.js"))
}

/// Something that `interop/install` puts in place. A test without its partner fails: skipping it would prove nothing.
pub(crate) fn partner(path: &str) -> PathBuf {
    let chosen = std::env::vars_os().find(|(name, _)| name == "TOOLGATE_PARTNERS").map(|(_, path)| PathBuf::from(path));
    let installed = chosen.unwrap_or_else(|| repository().join("target/partners")).join(path);
    assert!(installed.exists(), "the partner {} is not installed; run `interop/install` first", installed.display());
    installed
}

fn script(path: &str) -> PathBuf {
    repository().join("interop").join(path)
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}
