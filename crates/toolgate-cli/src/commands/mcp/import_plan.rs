//! What an import would do with each server, before anything is done.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::Value;
use toolgate::formats::{ImportedServer, entry};
use toolgate::servers::secret_look::{names_a_secret, value_looks_secret};
use toolgate::settings::SettingsLayer;
use toolgate::settings::raw::{RawEntry, RawMap, RawServer};

use crate::commands::mcp::import_files::Source;

/// What becomes of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It is new.
    Add,
    /// It takes the place of another one.
    Replace,
    /// The same entry is there already.
    Same,
    /// Another entry of that name is there, and stays.
    Exists,
    /// A file before this one has a server of that name.
    Twice,
    /// It is switched off where it comes from.
    Disabled,
    /// It is for another folder.
    Elsewhere,
    /// It is no server for us.
    Unusable(String),
}

impl Action {
    /// The word for it in JSON output.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Same => "same",
            Self::Exists => "exists",
            Self::Twice => "twice",
            Self::Disabled => "disabled",
            Self::Elsewhere => "elsewhere",
            Self::Unusable(_) => "unusable",
        }
    }

    /// Whether something is written because of it.
    pub(crate) const fn writes(&self) -> bool {
        matches!(self, Self::Add | Self::Replace)
    }
}

/// One entry of a file.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    /// The file.
    pub(crate) source: &'a Source,
    /// Its name.
    pub(crate) name: &'a str,
    /// Where it stands in the file.
    pub(crate) line: usize,
    /// The server, unless it is none.
    pub(crate) server: Option<&'a ImportedServer>,
    /// What becomes of it.
    pub(crate) action: Action,
    /// Where secrets seem to be written in plain text.
    pub(crate) secrets: Vec<String>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes<'a> {
    /// Only these; all when there are none.
    pub(crate) only: &'a [String],
    /// Entries that are there may be replaced.
    pub(crate) replace: bool,
    /// The folder that servers for one folder are for.
    pub(crate) workspace: &'a Path,
}

/// Entries that are there already; `None` for one that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct Existing<'a>(HashMap<&'a str, Option<Value>>);

impl<'a> Existing<'a> {
    /// Those of a settings file.
    pub(crate) fn of(layer: Option<&'a SettingsLayer>) -> Self {
        let entries = layer.into_iter().flat_map(|layer| &layer.settings.mcp_servers);
        let known = entries.map(|one| match &one.entry {
            RawEntry::Server(server) => (one.name.value.as_str(), comparable(server)),
            RawEntry::Broken(_) => (one.name.value.as_str(), None),
        });
        Self(known.collect())
    }
}

/// An entry without its order.
fn comparable(server: &RawServer) -> Option<Value> {
    serde_json::to_value(entry(server)).ok()
}

/// Decides about every entry of every file.
pub(crate) fn plan<'a>(sources: &'a [Source], existing: &Existing<'_>, wishes: Wishes<'_>) -> Vec<Line<'a>> {
    let is_wanted = |name: &str| wishes.only.is_empty() || wishes.only.iter().any(|only| only == name);
    let mut taken = HashSet::new();
    let mut lines = Vec::new();
    for source in sources {
        let is_here = |one: &&ImportedServer| one.project.as_deref() == Some(wishes.workspace);
        let servers = &source.imported.servers;
        // One that is for this folder counts more than one for all.
        let in_order = servers.iter().filter(is_here).chain(servers.iter().filter(|one| !is_here(one)));
        for server in in_order.filter(|one| is_wanted(&one.name.value)) {
            let name = server.name.value.as_str();
            let action = decide(server, existing, wishes, &taken);
            if action.writes() || action == Action::Same {
                taken.insert(name);
            }
            let secrets = if action.writes() { plain_secrets(&server.server) } else { Vec::new() };
            lines.push(Line { source, name, line: server.name.at.line, server: Some(server), action, secrets });
        }
        for one in source.imported.left_out.iter().filter(|one| is_wanted(&one.name.value)) {
            let action = Action::Unusable(one.reason.clone());
            let (name, line) = (one.name.value.as_str(), one.name.at.line);
            lines.push(Line { source, name, line, server: None, action, secrets: Vec::new() });
        }
    }
    lines
}

fn decide(server: &ImportedServer, existing: &Existing<'_>, wishes: Wishes<'_>, taken: &HashSet<&str>) -> Action {
    let name = server.name.value.as_str();
    let is_named = !wishes.only.is_empty();
    if server.is_disabled && !is_named {
        return Action::Disabled;
    }
    let is_elsewhere = server.project.as_deref().is_some_and(|folder| folder != wishes.workspace);
    if is_elsewhere && !is_named {
        return Action::Elsewhere;
    }
    if taken.contains(name) {
        return Action::Twice;
    }
    match existing.0.get(name) {
        None => Action::Add,
        Some(there) if there.is_some() && *there == comparable(&server.server) => Action::Same,
        Some(_) if wishes.replace => Action::Replace,
        Some(_) => Action::Exists,
    }
}

/// The keys under which something stands that should not be written in a file.
fn plain_secrets(server: &RawServer) -> Vec<String> {
    let is_plain = |value: &str| !value.trim().is_empty() && !value.contains("${") && !value.starts_with('$');
    let of_map = |key: &'static str, map: Option<&'_ RawMap>| -> Vec<String> {
        let pairs = map.into_iter().flat_map(|map| &map.value);
        let secret = pairs.filter(|pair| {
            let (name, value) = (&pair.name.value, &pair.value.value);
            value_looks_secret(value) || (is_plain(value) && names_a_secret(name))
        });
        secret.map(|pair| format!("{key}.{}", pair.name.value)).collect()
    };
    let mut found = of_map("env", server.env.as_ref());
    found.extend(of_map("headers", server.headers.as_ref()));
    let args = server.args.iter().flat_map(|args| &args.value).enumerate();
    found.extend(args.filter(|(_, arg)| value_looks_secret(&arg.value)).map(|(index, _)| format!("args[{index}]")));
    let urls = [("url", &server.url), ("httpUrl", &server.http_url)];
    let secret = |url: &&(&str, &Option<_>)| {
        let url: Option<&toolgate::settings::Located<String>> = url.1.as_ref();
        url.is_some_and(|url| value_looks_secret(&url.value))
    };
    found.extend(urls.iter().filter(secret).map(|(key, _)| (*key).to_owned()));
    found
}

#[cfg(test)]
#[path = "import_plan_tests.rs"]
mod tests;
