//! What the protocol forbids over HTTP: media types, origins, and headers that say something else than the body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::engine::server::Server;
use crate::http::reply::Document;
use crate::http::request::Request;

/// The error code for headers that do not fit the body.
const HEADER_MISMATCH: i64 = -32020;

/// Why a POST is refused before its body is looked at.
pub(crate) fn refuse_post(request: &Request) -> Option<Document> {
    if let Some(refusal) = refuse_origin(request) {
        return Some(refusal);
    }
    if !accepts(request, "application/json") || !accepts(request, "text/event-stream") {
        let message = "the Accept header must list application/json and text/event-stream";
        return Some(Document::error(406, None, -32000, message));
    }
    let kind = request.header("content-type").unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Some(Document::error(415, None, -32000, "the content type must be application/json"));
    }
    None
}

/// Why a GET is refused.
pub(crate) fn refuse_get(request: &Request) -> Option<Document> {
    if let Some(refusal) = refuse_origin(request) {
        return Some(refusal);
    }
    if !accepts(request, "text/event-stream") {
        let message = "the Accept header must list text/event-stream";
        return Some(Document::error(406, None, -32000, message));
    }
    None
}

/// Pages of other origins have no business here.
fn refuse_origin(request: &Request) -> Option<Document> {
    let origin = request.header("origin")?;
    let host = origin.split("://").nth(1).unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    let is_local = matches!(name, "localhost" | "127.0.0.1");
    (!is_local).then(|| Document::error(403, None, -32000, "this origin is not allowed"))
}

fn accepts(request: &Request, kind: &str) -> bool {
    let accept = request.header("accept").unwrap_or_default();
    accept.split(',').any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range == kind || range == "*/*"
    })
}

/// Why a modern request is refused for its headers.
pub(crate) fn refuse_headers(server: &Server, request: &Request, message: &Value) -> Option<Document> {
    let complaint =
        standard_headers(request, message).and_then(|()| parameter_headers(server, request, message)).err()?;
    let id = message.get("id").unwrap_or(&Value::Null);
    Some(Document::error(400, Some(id), HEADER_MISMATCH, &format!("Header mismatch: {complaint}")))
}

fn standard_headers(request: &Request, message: &Value) -> Result<(), String> {
    let version = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
    let method = message.get("method");
    compare(request, "mcp-protocol-version", version.and_then(Value::as_str))?;
    compare(request, "mcp-method", method.and_then(Value::as_str))?;
    let name = match method.and_then(Value::as_str) {
        Some("tools/call" | "prompts/get") => message.pointer("/params/name"),
        Some("resources/read") => message.pointer("/params/uri"),
        _ => return Ok(()),
    };
    compare(request, "mcp-name", name.and_then(Value::as_str))
}

fn compare(request: &Request, header: &str, in_body: Option<&str>) -> Result<(), String> {
    let Some(value) = request.header(header) else {
        return Err(format!("{header} is missing"));
    };
    let value = decode(header, value)?;
    if in_body == Some(value.as_str()) {
        return Ok(());
    }
    Err(format!("{header} says `{value}`, the body says `{}`", in_body.unwrap_or("nothing")))
}

/// Headers that mirror parameters of a tool.
fn parameter_headers(server: &Server, request: &Request, message: &Value) -> Result<(), String> {
    if message["method"] != "tools/call" {
        return Ok(());
    }
    let schema = {
        let offers = server.offers.lock();
        let tool = offers.tools.iter().find(|tool| message["params"]["name"] == tool.name());
        tool.map(|tool| tool.definition["inputSchema"].clone()).unwrap_or_default()
    };
    check_schema(request, &schema, &message["params"]["arguments"])
}

fn check_schema(request: &Request, schema: &Value, arguments: &Value) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        let value = arguments.get(name).unwrap_or(&Value::Null);
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            check_parameter(request, &format!("mcp-param-{}", header.to_ascii_lowercase()), value)?;
        }
        check_schema(request, property, value)?;
    }
    Ok(())
}

fn check_parameter(request: &Request, header: &str, value: &Value) -> Result<(), String> {
    let expected = match value {
        Value::Null if request.header(header).is_none() => return Ok(()),
        Value::Null => return Err(format!("{header} is there, its parameter is not")),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let given = request.header(header).ok_or_else(|| format!("{header} is missing"))?;
    let given = decode(header, given)?;
    let is_same_number = value.is_number() && given.parse::<f64>().ok() == value.as_f64();
    if given == expected || is_same_number {
        return Ok(());
    }
    Err(format!("{header} says `{given}`, the body says `{expected}`"))
}

/// The meaning of a header value, which may be base64 between markers.
fn decode(header: &str, value: &str) -> Result<String, String> {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None if value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => Ok(value.to_owned()),
        None => Err(format!("{header} has characters that no header may have")),
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).map_err(|_| format!("{header} is not base64"))?;
            String::from_utf8(bytes).map_err(|_| format!("{header} is not UTF-8"))
        }
    }
}
