//! The two functions with which a model looks at resources itself: which there are, and what one of them says. They are there while there are resources.

use serde_json::{Map, Value, json};

use super::function::{Function, free_name};
use super::references::{Known, Target, target};
use super::uri_template::fits;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{LISTED_DESCRIPTION_CHARS_MAX, LISTED_RESOURCES_MAX};
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

/// The functions, with what a call of each is; by names that no tool has. Empty while there are no resources.
pub fn functions(known: &Known<'_>, is_taken: impl Fn(&str) -> bool) -> Vec<(ResourceTool, Function)> {
    if known.resources.is_empty() && known.templates.is_empty() {
        return Vec::new();
    }
    let name = |wanted: &str| free_name(wanted, &is_taken);
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
pub fn list(known: &Known<'_>, arguments: &Map<String, Value>) -> Result<String> {
    let only = match arguments.get("serverName") {
        None | Some(Value::Null) => None,
        Some(Value::String(server)) if server.is_empty() => None,
        Some(Value::String(server)) => Some(server.as_str()),
        Some(_) => return Err(Error::new(ErrorKind::InvalidArguments, "`serverName` has to be a text")),
    };
    if let Some(server) = only.filter(|server| !known.servers.iter().any(|name| **name == **server)) {
        return Err(Error::new(ErrorKind::UnknownServer, format!("there is no server `{server}`")));
    }
    let is_meant = |server: &ServerName| only.is_none_or(|only| **server == *only);
    let resources = known.resources.iter().filter(|one| is_meant(&one.server)).map(|one| {
        let resource = &one.resource;
        line(&one.server, &resource.uri, &resource.name, resource.description.as_deref())
    });
    let templates = known.templates.iter().filter(|one| is_meant(&one.server)).map(|one| {
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
pub fn wanted(known: &Known<'_>, arguments: &Map<String, Value>) -> Result<(ServerName, String)> {
    let Some(asked) = arguments.get("uri").and_then(Value::as_str).map(str::trim).filter(|uri| !uri.is_empty()) else {
        let error = Error::new(ErrorKind::InvalidArguments, "`uri` is missing or not a text");
        return Err(error.hinting("write it as it is listed: server:uri"));
    };
    if let Target::Resource { server, uri } = target(asked.to_owned(), known) {
        return Ok((server, uri));
    }
    match known.templates.iter().find(|one| fits(&one.template.uri_template, asked).is_some()) {
        Some(family) => Ok((family.server.clone(), asked.to_owned())),
        None => {
            let error = Error::new(ErrorKind::UnknownResource, format!("there is no resource `{asked}`"));
            Err(error.hinting("list_mcp_resources names those that there are"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolgate_wire::view::{Entry, Resource, ResourceTemplate};

    use super::*;
    use crate::registry::{CatalogResource, CatalogTemplate};

    fn server(name: &str) -> ServerName {
        ServerName::new(name).unwrap()
    }

    fn resource(of: &str, value: Value) -> CatalogResource {
        CatalogResource { server: server(of), resource: Arc::new(Resource::read(value.into()).unwrap()) }
    }

    fn template(of: &str, value: Value) -> CatalogTemplate {
        CatalogTemplate { server: server(of), template: Arc::new(ResourceTemplate::read(value.into()).unwrap()) }
    }

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_functions_are_there_while_there_are_resources() {
        let names = |known: &Known<'_>, taken: &str| -> Vec<String> {
            functions(known, |name| name == taken).into_iter().map(|(_, function)| function.name).collect()
        };
        let resources = [resource("docs", json!({"uri": "d://x"}))];
        let templates = [template("docs", json!({"uriTemplate": "d://{x}"}))];
        let with_resource = Known { resources: &resources, ..Known::default() };
        let with_template = Known { templates: &templates, ..Known::default() };
        assert!(names(&Known::default(), "").is_empty());
        assert_eq!(names(&with_resource, ""), ["list_mcp_resources", "read_mcp_resource"]);
        assert_eq!(names(&with_template, "read_mcp_resource"), ["list_mcp_resources", "toolgate_read_mcp_resource"]);
    }

    #[test]
    fn models_list_resources_and_say_which_to_read() {
        let servers = [server("docs"), server("notes"), server("quiet")];
        let resources = [
            resource("docs", json!({"uri": "d://x", "name": "X", "description": "about\nx "})),
            resource("docs", json!({"uri": "d://y"})),
            resource("notes", json!({"uri": "n://1", "name": "One"})),
        ];
        let templates = [template("notes", json!({"uriTemplate": "n://page/{p}", "name": "Page"}))];
        let known = Known { servers: &servers, resources: &resources, templates: &templates };
        let docs = "- docs:d://x | X | about\\nx\n- docs:d://y | d://y";
        let notes = "- notes:n://1 | One\n- notes:n://page/{p} | Page (a family: fill in what stands in braces)";
        let listed = [
            (json!({}), format!("{docs}\n{notes}")),
            (json!({"serverName": ""}), format!("{docs}\n{notes}")),
            (json!({"serverName": "docs"}), docs.to_owned()),
            (json!({"serverName": "notes"}), notes.to_owned()),
            (json!({"serverName": "quiet"}), "There are no resources.".to_owned()),
            (json!({"serverName": "nobody"}), "there is no server `nobody`".to_owned()),
            (json!({"serverName": 7}), "`serverName` has to be a text".to_owned()),
        ];
        for (arguments, expected) in listed {
            let told = list(&known, &object(&arguments)).unwrap_or_else(|error| error.to_string());
            assert_eq!(told, expected, "{arguments}");
        }
        let read = [
            (json!({"uri": "docs:d://x"}), "docs d://x"),
            (json!({"uri": "d://x"}), "docs d://x"),
            (json!({"uri": " n://page/7 "}), "notes n://page/7"),
            (json!({"uri": "quiet:any://thing"}), "quiet any://thing"),
            (json!({"uri": "d://z"}), "there is no resource `d://z`"),
            (json!({"uri": "nobody:d://x"}), "there is no resource `nobody:d://x`"),
            (json!({"uri": ""}), "`uri` is missing or not a text"),
            (json!({}), "`uri` is missing or not a text"),
        ];
        for (arguments, expected) in read {
            let told = match wanted(&known, &object(&arguments)) {
                Ok((server, uri)) => format!("{server} {uri}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(told, expected, "{arguments}");
        }
    }

    #[test]
    fn a_long_list_says_how_much_is_missing() {
        let resources: Vec<_> = (0..LISTED_RESOURCES_MAX + 2)
            .map(|number| resource("docs", json!({"uri": format!("d://{number}")})))
            .collect();
        let text = list(&Known { resources: &resources, ..Known::default() }, &Map::new()).unwrap();
        assert!(text.ends_with("\n… and 2 more; ask for those of one server."), "{}", text.len());
    }
}
