//! The two functions with which a model looks at resources itself: which there are, and what one of them says. They are there while there are resources.

use serde_json::{Map, Value, json};

use super::function::{Function, free_name};
use super::references::has_scheme;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{LISTED_DESCRIPTION_CHARS_MAX, LISTED_RESOURCES_MAX};
use crate::registry::Catalog;
use crate::server_name::ServerName;
use crate::shape::truncate::before_chars;
use crate::shape::visible;

/// What a call of one of the functions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceTool {
    /// `list_mcp_resources {serverName?}`.
    List,
    /// `read_mcp_resource {uri}`.
    Read,
}

/// The functions, with what a call of each is. Empty while there are no resources.
pub fn functions(catalog: &Catalog) -> Vec<(ResourceTool, Function)> {
    if catalog.resources().is_empty() && catalog.templates().is_empty() {
        return Vec::new();
    }
    let name = |wanted: &str| free_name(wanted, |name| catalog.find(name).is_some());
    let list = Function {
        name: name("list_mcp_resources"),
        description:
            "Lists the resources that MCP servers offer for reading, one per line: server:uri | name | description."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"serverName": {"type": "string", "description": "Only resources of this server."}},
        }),
    };
    let read = Function {
        name: name("read_mcp_resource"),
        description: "Reads one resource of an MCP server.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "The resource as it is listed (server:uri), or its URI."}},
            "required": ["uri"],
        }),
    };
    vec![(ResourceTool::List, list), (ResourceTool::Read, read)]
}

/// The answer to `list_mcp_resources`.
///
/// # Errors
/// When the server is not there, or the argument is no text.
pub fn list(catalog: &Catalog, arguments: &Map<String, Value>) -> Result<String> {
    let only = match arguments.get("serverName") {
        None | Some(Value::Null) => None,
        Some(Value::String(server)) if server.is_empty() => None,
        Some(Value::String(server)) => Some(server.as_str()),
        Some(_) => return Err(Error::new(ErrorKind::InvalidArguments, "`serverName` has to be a text")),
    };
    if let Some(server) = only.filter(|server| !catalog.servers().any(|offer| **offer.server() == **server)) {
        return Err(Error::new(ErrorKind::UnknownServer, format!("there is no server `{server}`")));
    }
    let is_meant = |server: &ServerName| only.is_none_or(|only| **server == *only);
    let resources = catalog.resources().iter().filter(|one| is_meant(&one.server)).map(|one| {
        let resource = &one.resource;
        line(&one.server, &resource.uri, &resource.name, resource.description.as_deref())
    });
    let templates = catalog.templates().iter().filter(|one| is_meant(&one.server)).map(|one| {
        let template = &one.template;
        let line = line(&one.server, &template.uri_template, &template.name, template.description.as_deref());
        format!("{line} (a family: fill in what stands in braces)")
    });
    Ok(bounded(resources.chain(templates)))
}

fn line(server: &str, uri: &str, name: &str, description: Option<&str>) -> String {
    let description = before_chars(description.unwrap_or_default(), LISTED_DESCRIPTION_CHARS_MAX);
    let text = format!("- {server}:{uri} | {name} | {}", description.trim());
    visible::line(text.trim_end_matches([' ', '|'])).into_owned()
}

fn bounded(mut lines: impl Iterator<Item = String>) -> String {
    let mut text: Vec<String> = lines.by_ref().take(LISTED_RESOURCES_MAX).collect();
    match lines.count() {
        0 if text.is_empty() => text.push("There are no resources.".to_owned()),
        0 => {}
        more => text.push(format!("… and {more} more; ask for those of one server.")),
    }
    text.join("\n")
}

/// Which resource `read_mcp_resource` asks for: its server and its URI there.
///
/// # Errors
/// When there is no URI, or no server has a resource of it.
pub fn wanted(catalog: &Catalog, arguments: &Map<String, Value>) -> Result<(ServerName, String)> {
    let Some(asked) = arguments.get("uri").and_then(Value::as_str).map(str::trim).filter(|uri| !uri.is_empty()) else {
        let error = Error::new(ErrorKind::InvalidArguments, "`uri` is missing or not a text");
        return Err(error.hinting("write it as it is listed: server:uri"));
    };
    let servers = || catalog.servers().map(|offer| offer.server());
    if let Some((server, uri)) = asked.split_once(':') {
        let has = |name: &&ServerName| {
            ***name == *server
                && (has_scheme(uri)
                    || catalog.resources().iter().any(|one| one.server == **name && one.resource.uri == uri))
        };
        if let Some(name) = servers().find(has) {
            return Ok((name.clone(), uri.to_owned()));
        }
    }
    if let Some(server) = catalog.lister_of(asked) {
        return Ok((server.clone(), asked.to_owned()));
    }
    let of_family =
        catalog.templates().iter().find(|one| super::uri_template::fits(&one.template.uri_template, asked).is_some());
    match of_family {
        Some(family) => Ok((family.server.clone(), asked.to_owned())),
        None => {
            let error = Error::new(ErrorKind::UnknownResource, format!("there is no resource `{asked}`"));
            Err(error.hinting("list_mcp_resources names those that there are"))
        }
    }
}
