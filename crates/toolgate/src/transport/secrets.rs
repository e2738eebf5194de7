//! Secrets at the moment of use: the texts of a server with their references followed. Asked for once per start of a server, each reference
//! once, one after the other, because a password manager may ask the person. What comes back is printed nowhere and kept by nobody else.

pub(super) mod command;
mod file;
mod keychain;
mod of_model;

pub use of_model::key_of_model;

use std::collections::HashMap;
use std::path::Path;

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{SECRET_BYTES_MAX, SECRET_COMPLAINT_CHARS_MAX, SECRET_REFERENCE_CHARS_MAX, SERVER_TEXT_BYTES_MAX};
use crate::secret::Secret;
use crate::servers::text::ConfigText;
use crate::servers::{ServerConfig, ServerName};
use crate::settings::Part;
use crate::settings::diagnostic::{KeyPath, visible};
use crate::settings::secret_reference::{SecretKind, SecretReference};

/// Where in the entry of a server a text stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Argument(usize),
    Variable(&'a str),
    Address,
    Header(&'a str),
    /// A key of `oauth`.
    Login(&'a str),
}

/// Why a reference could not be followed. Never holds anything of the secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unresolved {
    pub(super) message: String,
    pub(super) hint: String,
}

impl Unresolved {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// The secrets of one start of one server.
#[derive(Debug)]
pub(crate) struct Secrets<'a> {
    env: &'a HostEnv,
    server: &'a ServerConfig,
    known: HashMap<SecretReference, Secret>,
    bytes_left: usize,
}

impl<'a> Secrets<'a> {
    pub(crate) fn for_start(env: &'a HostEnv, server: &'a ServerConfig) -> Self {
        Self { env, server, known: HashMap::new(), bytes_left: SERVER_TEXT_BYTES_MAX }
    }

    /// The text with its references followed.
    pub(crate) async fn fill(&mut self, place: Place<'_>, text: &ConfigText) -> Result<Secret> {
        let mut whole = String::new();
        for part in text.parts() {
            match part {
                Part::Plain(plain) => whole.push_str(plain),
                Part::Secret(reference) => {
                    let secret = self.follow(reference).await.map_err(|why| self.error(place, reference, why))?;
                    whole.push_str(secret.expose());
                }
            }
            if whole.len() > self.bytes_left {
                let size = SERVER_TEXT_BYTES_MAX >> 20;
                let what = format!("{}: with this the texts of the server have more than {size} MiB", self.key(place));
                return Err(Error::new(ErrorKind::Settings, what));
            }
        }
        self.bytes_left -= whole.len();
        Ok(Secret::new(whole))
    }

    async fn follow(&mut self, reference: &SecretReference) -> std::result::Result<Secret, Unresolved> {
        if let Some(secret) = self.known.get(reference) {
            return Ok(secret.clone());
        }
        let target = &reference.target;
        let secret = match reference.kind {
            SecretKind::Env => self.variable(target)?,
            SecretKind::File => as_text(file::read(self.env, self.settings_folder(), target).await?)?,
            SecretKind::Cmd => as_text(command::run(self.env, target).await?)?,
            SecretKind::Keychain => as_text(keychain::read(self.env, target).await?)?,
        };
        self.known.insert(reference.clone(), secret.clone());
        Ok(secret)
    }

    /// What the references followed so far stand for.
    pub(super) fn followed(&self) -> impl Iterator<Item = &Secret> {
        self.known.values()
    }

    /// What the person filled in for an extension beats the environment, as it does when variables are expanded.
    fn variable(&self, name: &str) -> std::result::Result<Secret, Unresolved> {
        let filled_in = self.server.extension.as_ref().and_then(|extension| extension.variables.0.get(name));
        let value = filled_in.or_else(|| self.env.vars.get(name));
        let value = value.ok_or_else(|| Unresolved::new("the variable is not set", "set it"))?;
        without_nul(value.clone()).map(Secret::new)
    }

    /// Where relative paths in the settings of the server start.
    fn settings_folder(&self) -> &Path {
        self.server.origin.path.as_deref().and_then(Path::parent).unwrap_or(&self.env.workspace)
    }

    fn error(&self, place: Place<'_>, reference: &SecretReference, why: Unresolved) -> Error {
        let reference = bounded(&reference.to_string(), SECRET_REFERENCE_CHARS_MAX);
        let what = format!("{}: `{reference}`: {}", self.key(place), why.message);
        Error::new(ErrorKind::Settings, what).hinting(why.hint)
    }

    /// The key of a text, as the settings spell it.
    pub(crate) fn key(&self, place: Place<'_>) -> String {
        key(&self.server.name, place)
    }
}

fn key(server: &ServerName, place: Place<'_>) -> String {
    let top = KeyPath::top("mcpServers");
    let entry = top.key(server.as_str());
    match place {
        Place::Argument(index) => entry.key("args").index(index).to_string(),
        Place::Variable(name) => entry.key("env").key(name).to_string(),
        Place::Address => entry.key("url").to_string(),
        Place::Header(name) => entry.key("headers").key(name).to_string(),
        Place::Login(key) => entry.key("oauth").key(key).to_string(),
    }
}

/// What was found as a text: one line break at its end goes, because editors and `echo` put one there.
fn as_text(bytes: Vec<u8>) -> std::result::Result<Secret, Unresolved> {
    if bytes.len() > SECRET_BYTES_MAX {
        return Err(too_much());
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Unresolved::new("what it stands for is not UTF-8 text", "store it as text, perhaps in Base64"))?;
    let text = text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
    if text.is_empty() {
        return Err(Unresolved::new("there is nothing in it", "a server would take it for no secret at all"));
    }
    without_nul(text.to_owned()).map(Secret::new)
}

fn without_nul(text: String) -> std::result::Result<String, Unresolved> {
    if text.contains('\0') {
        return Err(Unresolved::new("what it stands for has a NUL character", "no program or server takes one"));
    }
    Ok(text)
}

fn too_much() -> Unresolved {
    let size = SECRET_BYTES_MAX >> 10;
    Unresolved::new(format!("what it stands for is larger than {size} KiB"), "check that it is the secret you mean")
}

/// The first line of what somebody else said, so that it can be repeated.
fn complaint(said: &str) -> String {
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    bounded(line, SECRET_COMPLAINT_CHARS_MAX)
}

fn bounded(text: &str, chars_max: usize) -> String {
    let mut short: String = text.chars().take(chars_max).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    visible(&short)
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
