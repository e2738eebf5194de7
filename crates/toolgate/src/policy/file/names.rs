//! Which tools of which servers an entry is about: `toolName`, `mcpName`, `builtin`. Rules look at servers and their tools; a name as it is
//! shown to a model, such as `server__tool`, is taken apart here, once.

use super::fields::{At, Fields, excerpt};
use super::finding::Findings;
use super::keys::{self, listed};
use crate::filter::NamePattern;
use crate::policy::decision::Decision;
use crate::policy::rule::ServerPattern;
use crate::policy::target::{Target, is_shown_form, targets_of};
use crate::servers::built_in_tools::{WORKSPACE_TOOLS, possible_real_name, real_name};
use crate::shell::Reach;

/// The built-in server.
const WORKSPACE: &str = "workspace";

/// A name at most this far from one of a built-in tool is probably that one.
const TYPO_DISTANCE_MAX: usize = 3;

/// Tools of servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Named {
    pub(super) server: ServerPattern,
    pub(super) tool: NamePattern,
}

/// What an entry is about. Empty when that cannot be told, and then it is reported.
pub(super) fn read(fields: &Fields<'_>, reach: Reach) -> Vec<Named> {
    let tools = match fields.get("toolName") {
        None => None,
        Some(field) => match field.name_or_names() {
            Some(names) => Some(names),
            None => return Vec::new(),
        },
    };
    let server = match server(fields, reach) {
        Ok(server) => server,
        Err(Reported) => return Vec::new(),
    };
    let mut named = Vec::new();
    match (tools, server) {
        (None, None) => {
            let hint = "add `toolName`, or `mcpName` for all tools of a server; `toolName = \"*\"` is every tool";
            fields.findings.error(fields.at, "names no tool", hint);
        }
        (None, Some(server)) => named.push(Named { server, tool: NamePattern::Any }),
        (Some(tools), Some(server)) => {
            tools.iter().for_each(|tool| of_server(&server, tool, reach, &mut Into { named: &mut named, fields }));
        }
        (Some(tools), None) => {
            tools.iter().for_each(|tool| of_any_server(tool, reach, &mut Into { named: &mut named, fields }));
        }
    }
    let mut seen = std::collections::HashSet::new();
    named.retain(|one| seen.insert(one.clone()));
    named
}

/// What is wrong has been said.
struct Reported;

/// Where what is found goes.
struct Into<'a, 'd> {
    named: &'a mut Vec<Named>,
    fields: &'a Fields<'d>,
}

impl Into<'_, '_> {
    fn push(&mut self, server: ServerPattern, tool: &str) {
        self.named.push(Named { server, tool: NamePattern::of(tool) });
    }

    fn findings(&self) -> &Findings<'_> {
        self.fields.findings
    }
}

fn server(fields: &Fields<'_>, reach: Reach) -> Result<Option<ServerPattern>, Reported> {
    let (mcp_name, builtin) = (fields.get("mcpName"), fields.get("builtin"));
    if let (Some(_), Some(builtin)) = (mcp_name, builtin) {
        builtin.error("and `mcpName` both name a server", "keep one of them");
        return Err(Reported);
    }
    if let Some(field) = mcp_name {
        let name = field.name().ok_or(Reported)?;
        return Ok(Some(match NamePattern::of(name.value) {
            // A permission for all servers is one for those that the person configured.
            NamePattern::Any if reach == Reach::Restriction => ServerPattern::Any,
            named => ServerPattern::Named(named),
        }));
    }
    let Some(field) = builtin else { return Ok(None) };
    let name = field.name().ok_or(Reported)?;
    if name.value != WORKSPACE {
        let what = format!("names no built-in server: `{}`", excerpt(name.value));
        field.error(&what, &format!("there is one, `{WORKSPACE}`"));
        return Err(Reported);
    }
    Ok(Some(ServerPattern::BuiltIn(WORKSPACE.to_owned())))
}

/// A tool of a server that the entry names.
fn of_server(server: &ServerPattern, tool: &At<&str>, reach: Reach, into: &mut Into<'_, '_>) {
    let name = tool.value;
    if let ServerPattern::BuiltIn(_) = server {
        let name = aliased(name, reach).unwrap_or(name);
        if !name.contains('*') && !is_built_in(name, reach) {
            let message = format!("can never match: the built-in server has no tool `{}`", excerpt(name));
            into.findings().error(tool.at, message, &keys::hint_for(name, &WORKSPACE_TOOLS));
        }
        into.push(server.clone(), name);
        return;
    }
    into.push(server.clone(), name);
    // The server that is named may be the built-in one: a restriction must not miss it.
    if let (Some(name), Reach::Restriction) = (possible_real_name(name), reach) {
        into.push(server.clone(), name);
    }
}

/// A tool without a server: of any server, unless it is written as it is shown.
fn of_any_server(tool: &At<&str>, reach: Reach, into: &mut Into<'_, '_>) {
    let name = tool.value;
    let decision = match reach {
        Reach::Permission => Decision::Allow,
        Reach::Restriction => Decision::Deny,
    };
    let targets = targets_of(name, decision);
    let Some(first) = targets.first() else {
        let message = format!("`{}` could mean several tools", excerpt(name));
        into.findings().error(tool.at, message, "write `mcpName = \"…\"` and `toolName = \"…\"` apart");
        return;
    };
    if is_shown_form(name) {
        let message = format!("`{}` is a name as it is shown; rules look at servers and their tools", excerpt(name));
        into.findings().warning(tool.at, message, &apart(first));
    } else {
        warn_about_typos(tool, reach, into.findings());
    }
    into.named.extend(targets.into_iter().map(|Target { server, tool }| Named { server, tool }));
}

/// How to write what a shown name means.
fn apart(target: &Target) -> String {
    let written = |pattern: &NamePattern| match pattern {
        NamePattern::Any => "*".to_owned(),
        NamePattern::Exact(name) | NamePattern::Glob(name) => excerpt(name),
    };
    let server = match &target.server {
        ServerPattern::Named(server) => written(server),
        ServerPattern::Any | ServerPattern::BuiltIn(_) => "*".to_owned(),
    };
    match &target.tool {
        NamePattern::Any => format!("write `mcpName = \"{server}\"` without `toolName`"),
        tool => format!("write `mcpName = \"{server}\"` and `toolName = \"{}\"`", written(tool)),
    }
}

/// What a tool of the built-in server is really called.
fn aliased(name: &str, reach: Reach) -> Option<&'static str> {
    match reach {
        Reach::Permission => real_name(name),
        Reach::Restriction => possible_real_name(name),
    }
}

/// Whether the built-in server has a tool that is meant. A restriction does not look at capitals.
fn is_built_in(name: &str, reach: Reach) -> bool {
    WORKSPACE_TOOLS.iter().any(|tool| match reach {
        Reach::Permission => *tool == name,
        Reach::Restriction => tool.eq_ignore_ascii_case(name),
    })
}

fn warn_about_typos(tool: &At<&str>, reach: Reach, findings: &Findings<'_>) {
    let name = tool.value;
    let is_known = is_built_in(name, reach) || aliased(name, reach).is_some();
    let longest = WORKSPACE_TOOLS.iter().map(|tool| tool.len()).max().unwrap_or(0);
    if is_known || name.contains('*') || name.len() > longest + TYPO_DISTANCE_MAX {
        return;
    }
    // Of a short name not much is left after three changes.
    let is_near = |known: &&str| {
        let allowed = TYPO_DISTANCE_MAX.min(known.len() / 2 - 1);
        name.len().abs_diff(known.len()) <= allowed && strsim::damerau_levenshtein(name, known) <= allowed
    };
    let near: Vec<&str> = WORKSPACE_TOOLS.into_iter().filter(is_near).collect();
    if !near.is_empty() {
        let message = format!("the built-in server has no tool `{}`", excerpt(name));
        let hint = format!("did you mean {}? For a tool of another server add `mcpName`", listed(&near));
        findings.warning(tool.at, message, &hint);
    }
}
