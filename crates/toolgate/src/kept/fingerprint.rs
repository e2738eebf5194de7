//! The fingerprint of everything that decides what a server offers: how it is reached, what it is given, and the files it is made of. A
//! server that is configured otherwise, or whose script was edited, has another one.

use std::collections::BTreeMap;
use std::env::split_paths;
use std::fmt;
use std::fs;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ring::digest::SHA256_OUTPUT_LEN;

use crate::limits::CATALOGUE_ARGUMENTS_MAX;
use crate::parts_digest::PartsDigest;
use crate::servers::{
    ConfigText, HttpConfig, LoginConfig, ServerConfig, StdioConfig, TransportConfig, put_identity, put_written,
};
use crate::settings::secret_reference::SecretKind;

/// How files end that are code or configuration.
const DECIDING: [&str; 24] = [
    "bash", "cfg", "cjs", "conf", "cts", "env", "ini", "jar", "js", "json", "jsonc", "lua", "mjs", "mts", "php", "pl",
    "py", "rb", "sh", "toml", "ts", "wasm", "yaml", "yml",
];

/// The fingerprint of a server. Guesses could be compared with it, so it is not shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; SHA256_OUTPUT_LEN]);

impl Fingerprint {
    pub(super) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(…)")
    }
}

/// What is known of a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileMark {
    /// Its length, time and number: one of them changes with its content.
    pub(super) mark: String,
    /// Whether it can be started.
    pub(super) runs: bool,
}

/// Where the files of a server are looked for.
pub(super) struct Surroundings<'a> {
    /// The folder of servers that have none of their own.
    pub(super) workspace: &'a Path,
    /// The variables of the host: where programs are looked for, and what `${env:…}` stands for.
    pub(super) variables: &'a BTreeMap<String, String>,
    /// The mark of a regular file; `None` when there is none.
    pub(super) look: &'a dyn Fn(&Path) -> Option<FileMark>,
}

/// The mark of a file on this machine.
pub(super) fn look(path: &Path) -> Option<FileMark> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let modified = about.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let (number, runs) = number_and_mode(&about);
    let mark = format!("{} {} {number}", about.len(), modified.unwrap_or_default().as_nanos());
    Some(FileMark { mark, runs })
}

#[cfg(unix)]
fn number_and_mode(about: &fs::Metadata) -> (u64, bool) {
    use std::os::unix::fs::MetadataExt as _;
    (about.ino(), about.mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn number_and_mode(_about: &fs::Metadata) -> (u64, bool) {
    (0, true)
}

/// The fingerprint of a server.
pub(super) fn fingerprint(config: &ServerConfig, around: &Surroundings<'_>) -> Fingerprint {
    let mut parts = PartsDigest::default();
    // Another toolgate may read what servers say in another way, and has other built-in servers. Logins belong to names of servers.
    parts.put(env!("CARGO_PKG_VERSION"));
    parts.put(config.name.as_str());
    put_identity(config, &mut parts);
    match &config.transport {
        TransportConfig::Stdio(stdio) => put_program(stdio, around, &mut parts),
        TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => {
            put_address(http, around, &mut parts);
        }
        TransportConfig::BuiltIn(built_in) => {
            parts.put(around.workspace.as_os_str().as_encoded_bytes());
            parts.all(built_in.included.iter().map(|folder| folder.as_os_str().as_encoded_bytes()));
        }
    }
    Fingerprint(parts.finish())
}

fn put_program(stdio: &StdioConfig, around: &Surroundings<'_>, parts: &mut PartsDigest) {
    let folder = stdio.cwd.as_deref().unwrap_or(around.workspace);
    parts.put(folder.as_os_str().as_encoded_bytes());
    parts.maybe(program(stdio, folder, around));
    let named = stdio.args.iter().take(CATALOGUE_ARGUMENTS_MAX).filter_map(ConfigText::as_plain);
    let named = named.flat_map(|argument| once(argument).chain(argument.split_once('=').map(|(_, value)| value)));
    let look = |name: &str| (around.look)(&folder.join(name)).filter(|file| file.runs || decides(name));
    named.for_each(|name| parts.maybe(look(name).map(|file| file.mark)));
    put_all_written(&stdio.env, parts);
    for (name, value) in around.variables.iter().filter(|(name, _)| stdio.inherits(name)) {
        parts.put(name);
        parts.put(value);
    }
    put_values(stdio.env.values().chain(&stdio.args), around, parts);
}

/// What the variables of the host hold that a server is given: with another token it is asked by somebody else, to whom it may offer
/// something else.
fn put_values<'a>(texts: impl Iterator<Item = &'a ConfigText>, around: &Surroundings<'_>, parts: &mut PartsDigest) {
    let named = texts.flat_map(ConfigText::references).filter(|reference| reference.kind == SecretKind::Env);
    for reference in named {
        parts.put(&reference.target);
        parts.maybe(around.variables.get(&reference.target));
    }
}

/// Whether a file of that name may decide what a server offers: its code or its configuration. What a server is given to work on, such as a
/// database, changes with every call and says nothing about it.
fn decides(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| DECIDING.contains(&ending.to_ascii_lowercase().as_str()))
}

/// The mark of the program, found the way it is found when it is started. `None` when that is not known before.
fn program(stdio: &StdioConfig, folder: &Path, around: &Surroundings<'_>) -> Option<String> {
    let command = stdio.command.as_str();
    if command.contains(std::path::is_separator) {
        return (around.look)(&folder.join(command)).map(|file| file.mark);
    }
    let search = match stdio.env.get("PATH") {
        Some(own) => own.as_plain(),
        None => around.variables.get("PATH").map(String::as_str),
    };
    let places: Vec<PathBuf> = split_paths(search?).map(|place| folder.join(place).join(command)).collect();
    places.iter().filter_map(|place| (around.look)(place)).find(|file| file.runs).map(|file| file.mark)
}

fn put_address(http: &HttpConfig, around: &Surroundings<'_>, parts: &mut PartsDigest) {
    let login = http.login.as_deref();
    put_all_written(&http.headers, parts);
    parts.count(usize::from(login.is_some()));
    login.into_iter().for_each(|login| put_login(login, parts));
    let secrets = login.into_iter().flat_map(|login| login.texts.values());
    put_values(http.headers.values().chain(secrets).chain([&http.url]), around, parts);
}

fn put_login(login: &LoginConfig, parts: &mut PartsDigest) {
    let LoginConfig {
        provider,
        enabled,
        grant,
        texts,
        scopes,
        audiences,
        target_audience,
        target_service_account,
        headers_helper,
    } = login;
    parts.put(format!("{provider:?} {enabled:?} {grant:?}"));
    put_all_written(texts, parts);
    parts.all(scopes.iter());
    parts.all(audiences.iter());
    parts.maybe(target_audience.as_ref());
    parts.maybe(target_service_account.as_ref());
    parts.maybe(headers_helper.as_ref());
}

fn put_all_written(texts: &BTreeMap<String, ConfigText>, parts: &mut PartsDigest) {
    parts.count(texts.len());
    for (name, text) in texts {
        parts.put(name);
        put_written(text, parts);
    }
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
