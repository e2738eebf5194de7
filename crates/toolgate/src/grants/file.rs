//! `grants.toml` as text: read strictly, so that nothing in it is taken for something else than it says, and written for people to read.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::choices::check_arguments;
use super::grant::{Grant, GrantScope};
use crate::canonical_json;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::GRANTS_MAX;
use crate::policy::Mode;
use crate::server_name::ServerName;
use crate::settings::diagnostic::visible;
use crate::settings::position::Places;

const VERSION: u32 = 1;

const HEADING: &str = "\
# What you allowed for good, so that you are not asked about it again. `toolgate grants list` shows it, `toolgate grants revoke` takes it back.
# A grant counts while its server is reached as it was then and its tools are what they were: both are kept as hashes.
";

const WAY_OUT: &str =
    "correct the file, or remove it to be asked about everything again; nothing in it counts until then";

/// The file, as far as it has to be known to tell whether we know the rest.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: Option<Spanned<i64>>,
}

/// The file as it is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    #[serde(rename = "version")]
    _version: i64,
    #[serde(default)]
    grant: Vec<Spanned<ReadGrant>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadGrant {
    id: Spanned<String>,
    server: Spanned<String>,
    server_identity: String,
    scope: Spanned<String>,
    arguments: Option<Spanned<String>>,
    mode: Spanned<String>,
    given_at: Spanned<String>,
    given_in: String,
    expires_at: Option<Spanned<String>>,
    tools: BTreeMap<String, String>,
}

/// The file as it is written.
#[derive(Debug, Serialize)]
struct WrittenFile<'g> {
    version: u32,
    grant: Vec<WrittenGrant<'g>>,
}

#[derive(Debug, Serialize)]
struct WrittenGrant<'g> {
    id: &'g str,
    server: &'g str,
    scope: &'static str,
    arguments: Option<&'g str>,
    mode: &'static str,
    given_at: String,
    given_in: String,
    expires_at: Option<String>,
    server_identity: &'g str,
    tools: &'g BTreeMap<String, String>,
}

/// Reads the text of the file.
///
/// # Errors
/// When anything in it is not as it should be; what the person allowed is not known then.
pub(super) fn parse(text: &str, file: &Path) -> Result<Vec<Grant>> {
    let places = Places::new(text);
    let wrong = |offset: usize, message: &str| {
        let at = places.at(offset);
        let message = format!("{}:{}:{}: {}", file.display(), at.line, at.column, visible(message));
        Error::new(ErrorKind::State, message).hinting(WAY_OUT)
    };
    let not_toml = |error: &toml::de::Error| wrong(error.span().map_or(0, |span| span.start), error.message());
    let versioned: Versioned = toml::from_str(text).map_err(|error| not_toml(&error))?;
    match &versioned.version {
        None => return Err(wrong(0, &format!("`version = {VERSION}` is missing"))),
        Some(version) if *version.get_ref() != i64::from(VERSION) => {
            let message = format!("version {} is not known here, only {VERSION}", version.get_ref());
            return Err(wrong(version.span().start, &message));
        }
        Some(_) => {}
    }
    let read: ReadFile = toml::from_str(text).map_err(|error| not_toml(&error))?;
    if read.grant.len() > GRANTS_MAX {
        return Err(wrong(0, &format!("there are {} grants, and at most {GRANTS_MAX} are read", read.grant.len())));
    }
    let mut seen: HashMap<String, usize> = HashMap::with_capacity(read.grant.len());
    let mut grants = Vec::with_capacity(read.grant.len());
    for one in read.grant {
        let start = one.span().start;
        let (at, grant) = (one.get_ref().id.span().start, grant_of(one.into_inner(), start));
        let grant = grant.map_err(|Fault { offset, message }| wrong(offset, &message))?;
        if let Some(first) = seen.insert(grant.id.clone(), at) {
            let line = places.at(first).line;
            return Err(wrong(at, &format!("id \"{}\" is already that of the grant in line {line}", grant.id)));
        }
        grants.push(grant);
    }
    Ok(grants)
}

/// What is wrong, and where.
struct Fault {
    offset: usize,
    message: String,
}

impl Fault {
    fn at(place: &Spanned<String>, message: impl Into<String>) -> Self {
        Self { offset: place.span().start, message: message.into() }
    }
}

fn grant_of(read: ReadGrant, start: usize) -> Result<Grant, Fault> {
    if read.id.get_ref().is_empty() || read.id.get_ref().contains(char::is_whitespace) {
        return Err(Fault::at(&read.id, "an id is one word"));
    }
    let server = ServerName::new(read.server.get_ref()).map_err(|error| Fault::at(&read.server, error.to_string()))?;
    let scope = scope_of(&read.scope, read.arguments.as_ref())?;
    if read.tools.is_empty() {
        return Err(Fault { offset: start, message: "a grant without tools covers nothing".to_owned() });
    }
    let is_of_many = matches!(scope, GrantScope::Server | GrantScope::Reading);
    if !is_of_many && read.tools.len() > 1 {
        return Err(Fault::at(&read.scope, format!("scope \"{}\" is about one tool", scope.as_str())));
    }
    let mode = Mode::of(read.mode.get_ref()).ok_or_else(|| {
        let words: Vec<&str> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
        Fault::at(&read.mode, format!("expected one of the modes {}", words.join(", ")))
    })?;
    Ok(Grant {
        id: read.id.into_inner(),
        server,
        server_identity: read.server_identity,
        scope,
        tools: read.tools,
        mode,
        given_at: time_of(&read.given_at)?,
        given_in: read.given_in.into(),
        expires_at: read.expires_at.as_ref().map(time_of).transpose()?,
    })
}

fn scope_of(word: &Spanned<String>, arguments: Option<&Spanned<String>>) -> Result<GrantScope, Fault> {
    match (word.get_ref().as_str(), arguments) {
        ("tool", None) => Ok(GrantScope::Tool),
        ("server", None) => Ok(GrantScope::Server),
        ("reading", None) => Ok(GrantScope::Reading),
        ("arguments", Some(text)) => {
            let value: Value = serde_json::from_str(text.get_ref())
                .map_err(|error| Fault::at(text, format!("`arguments` is not JSON: {error}")))?;
            if !value.is_object() {
                return Err(Fault::at(text, "`arguments` is not a JSON object"));
            }
            check_arguments(&value).map_err(|why| Fault::at(text, format!("`arguments`: {why}")))?;
            Ok(GrantScope::Arguments(canonical_json::text(&value)))
        }
        ("arguments", None) => Err(Fault::at(word, "scope \"arguments\" needs `arguments`")),
        ("tool" | "server" | "reading", Some(text)) => {
            Err(Fault::at(text, format!("scope \"{}\" has no `arguments`", word.get_ref())))
        }
        _ => Err(Fault::at(word, "expected \"tool\", \"server\", \"reading\" or \"arguments\"")),
    }
}

fn time_of(text: &Spanned<String>) -> Result<SystemTime, Fault> {
    let time: Timestamp = text.get_ref().parse().map_err(|_| {
        Fault::at(text, format!("\"{}\" is not a time; one looks like 2026-07-28T12:00:00Z", text.get_ref()))
    })?;
    Ok(SystemTime::from(time))
}

/// A time as it is written: whole seconds.
fn time_text(time: SystemTime) -> Result<String> {
    let time = Timestamp::try_from(time).and_then(|time| Timestamp::from_second(time.as_second()));
    time.map(|time| time.to_string())
        .map_err(|error| Error::new(ErrorKind::State, format!("a time of a grant cannot be written: {error}")))
}

/// Writes the text of the file.
pub(super) fn render(grants: &[Grant]) -> Result<String> {
    let mut all = Vec::with_capacity(grants.len());
    for grant in grants {
        let arguments = match &grant.scope {
            GrantScope::Arguments(text) => Some(text.as_str()),
            GrantScope::Tool | GrantScope::Server | GrantScope::Reading => None,
        };
        all.push(WrittenGrant {
            id: &grant.id,
            server: &grant.server,
            scope: grant.scope.as_str(),
            arguments,
            mode: grant.mode.as_str(),
            given_at: time_text(grant.given_at)?,
            given_in: grant.given_in.display().to_string(),
            expires_at: grant.expires_at.map(time_text).transpose()?,
            server_identity: &grant.server_identity,
            tools: &grant.tools,
        });
    }
    let text = toml::to_string(&WrittenFile { version: VERSION, grant: all })
        .map_err(|error| Error::new(ErrorKind::State, format!("the grants cannot be written: {error}")))?;
    Ok(format!("{HEADING}{text}"))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
