//! The `Mcp-*` request headers of 2026-07-28: what they carry, how values are encoded, and how a server compares them with the body.
//!
//! Pure: no I/O. A client asks [`name_in`] and [`ParamHeaders::for_arguments`] what to send; a server asks [`check_request`] and
//! [`ParamHeaders::check`] whether headers and body say the same, so that whoever routes by headers cannot be misled.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::error::{Error, Result, RpcError};
use crate::limits::{HEADER_VALUE_BYTES_MAX, LimitBreach, PARAM_HEADERS_MAX};
use crate::raw::{RawJson, mentions};

/// Repeats the method of the body.
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// Repeats what the method is about: a tool, a prompt, a resource or a task.
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The protocol version of the request.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session of a legacy client.
pub const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event seen on a broken legacy stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The keyword in an input schema that asks for a header.
const ANNOTATION: &str = "x-mcp-header";
const PARAM_PREFIX: &str = "mcp-param-";
const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";
/// The integers that every JSON reader keeps exactly.
const INTEGER_MAX: i64 = (1 << 53) - 1;

/// Writes a value so that it survives as a header: plain where it can be, else in Base64 between markers.
pub fn encode(value: &str) -> Result<HeaderValue> {
    let visible = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    let looks_encoded = value.starts_with(ENCODED_START) && value.ends_with(ENCODED_END);
    let text = if visible && value.trim() == value && !looks_encoded {
        value.to_owned()
    } else {
        format!("{ENCODED_START}{}{ENCODED_END}", STANDARD.encode(value))
    };
    if text.len() > HEADER_VALUE_BYTES_MAX {
        let what = format!("a header value of {} bytes", text.len());
        return Err(Error::Limit(LimitBreach::new("HEADER_VALUE_BYTES_MAX", HEADER_VALUE_BYTES_MAX, what)));
    }
    HeaderValue::try_from(text).map_err(|error| Error::protocol(format!("not a header value: {error}")))
}

/// Reads such a value; `None` when it is none: broken Base64, not UTF-8, or bytes that no header should have.
pub fn decode(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?.trim_matches([' ', '\t']);
    let encoded = text.strip_prefix(ENCODED_START).and_then(|rest| rest.strip_suffix(ENCODED_END));
    match encoded {
        None => Some(text.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

/// What `Mcp-Name` carries for a request; `None` when the method has no such header or the body no such string.
pub fn name_in(method: &str, params: &RawJson) -> Option<String> {
    params.member(name_member(method)?)?.read().ok()
}

/// The parameter that `Mcp-Name` repeats.
pub(crate) fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Whether `Mcp-Method` and `Mcp-Name` say what the body says; else the error (`-32020`) to answer with.
pub fn check_request(headers: &HeaderMap, method: &str, params: &RawJson) -> Result<(), RpcError> {
    check_method(headers, method)?;
    check_name(headers, method, params)
}

/// The `Mcp-Method` half of [`check_request`].
pub fn check_method(headers: &HeaderMap, method: &str) -> Result<(), RpcError> {
    match only(headers, &MCP_METHOD).map_err(mismatch)? {
        Some(sent) if sent.as_bytes().trim_ascii() == method.as_bytes() => Ok(()),
        Some(sent) => Err(mismatch(format!("header Mcp-Method is {sent:?}, but the body says `{method}`"))),
        None => Err(mismatch(format!("header Mcp-Method is missing; it must be `{method}`"))),
    }
}

/// The `Mcp-Name` half of [`check_request`].
pub fn check_name(headers: &HeaderMap, method: &str, params: &RawJson) -> Result<(), RpcError> {
    let Some(member) = name_member(method) else { return Ok(()) };
    let in_body = only_member(params, member).map_err(mismatch)?.and_then(|name| name.read::<String>().ok());
    check_name_is(headers, member, in_body.as_deref())
}

/// The same, where the body has been read: `member` of its parameters is `in_body`.
pub(crate) fn check_name_is(headers: &HeaderMap, member: &str, in_body: Option<&str>) -> Result<(), RpcError> {
    let sent = only(headers, &MCP_NAME).map_err(mismatch)?;
    match (sent, in_body) {
        (None, None) => Ok(()), // The handler says what is missing.
        (Some(sent), Some(name)) if sent.as_bytes() == name.as_bytes() && !name.starts_with(ENCODED_START) => Ok(()),
        (None, Some(name)) => Err(mismatch(format!("header Mcp-Name is missing; it must carry `{name}`"))),
        (Some(sent), in_body) => match decode(sent) {
            None => Err(mismatch(format!("header Mcp-Name cannot be decoded: {sent:?}"))),
            Some(sent) if in_body == Some(&sent) => Ok(()),
            Some(sent) => {
                let body = in_body.map_or_else(|| "has none".to_owned(), |name| format!("says `{name}`"));
                Err(mismatch(format!("header Mcp-Name is `{sent}`, but `params.{member}` of the body {body}")))
            }
        },
    }
}

/// `-32020` with what differs.
pub(crate) fn mismatch(what: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::HEADER_MISMATCH, what)
}

/// A header that must not be sent twice, since two readers could take different ones.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, String> {
    let mut values = headers.get_all(name).into_iter();
    let first = values.next();
    if values.next().is_some() { Err(format!("header {name} was sent more than once")) } else { Ok(first) }
}

/// A member that must not stand twice, for the same reason.
fn only_member(object: &RawJson, key: &str) -> Result<Option<RawJson>, String> {
    let mut found = object.members().into_iter().filter(|(name, _)| name == key).map(|(_, value)| value);
    let first = found.next();
    if found.next().is_some() { Err(format!("`{key}` stands more than once in the body")) } else { Ok(first) }
}

/// The arguments of one tool that travel as headers as well, as its input schema asks.
#[derive(Debug, Clone, Default)]
pub struct ParamHeaders(Vec<Param>);

#[derive(Debug, Clone)]
struct Param {
    header: HeaderName,
    /// From the arguments down to the value.
    path: Vec<String>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Boolean,
}

impl ParamHeaders {
    /// Reads the annotations of a schema. The error says why the tool must not be used over HTTP.
    pub fn of(input_schema: &RawJson) -> Result<Self, String> {
        if !mentions(input_schema.as_bytes(), ANNOTATION.as_bytes()) {
            return Ok(Self::default()); // The usual case, without parsing.
        }
        let schema: Value = input_schema.read().map_err(|error| format!("the input schema cannot be read: {error}"))?;
        let mut found = Found::default();
        found.schema(&schema, Some(&[]))?;
        Ok(Self(found.params))
    }

    /// Whether no argument has a header.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for a call. Arguments that are absent or `null` have none.
    pub fn for_arguments(&self, arguments: &RawJson) -> Result<Vec<(HeaderName, HeaderValue)>> {
        let mut headers = Vec::with_capacity(self.0.len());
        for param in &self.0 {
            if let Some(value) = param.value_in(arguments).map_err(Error::protocol)? {
                let text = param.text(&value).map_err(Error::protocol)?;
                headers.push((param.header.clone(), encode(&text)?));
            }
        }
        Ok(headers)
    }

    /// Whether the headers of a call say what its arguments say. The error says which does not.
    pub fn check(&self, headers: &HeaderMap, arguments: &RawJson) -> Result<(), String> {
        self.0.iter().try_for_each(|param| param.check(headers, arguments))
    }
}

impl Param {
    fn value_in(&self, arguments: &RawJson) -> Result<Option<RawJson>, String> {
        let mut value = arguments.clone();
        for key in &self.path {
            match only_member(&value, key)? {
                Some(inner) => value = inner,
                None => return Ok(None),
            }
        }
        Ok(Some(value).filter(|value| !value.is_null()))
    }

    /// The value as the header spells it before encoding.
    fn text(&self, value: &RawJson) -> Result<String, String> {
        let wrong = |what| {
            format!("argument `{}` is {what}, so it cannot travel as header {}", self.path.join("."), self.header)
        };
        match value.read::<Value>() {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Bool(value)) => Ok(value.to_string()),
            Ok(Value::Number(number)) => integer(&number.to_string())
                .map(|number| number.to_string())
                .ok_or_else(|| wrong("no integer within ±(2^53-1)")),
            _ => Err(wrong("neither text, integer nor boolean")),
        }
    }

    fn check(&self, headers: &HeaderMap, arguments: &RawJson) -> Result<(), String> {
        let path = self.path.join(".");
        let expected = self.value_in(arguments)?.map(|value| self.text(&value)).transpose()?;
        let Some(sent) = only(headers, &self.header)? else {
            return expected
                .map_or(Ok(()), |_| Err(format!("header {} is missing for argument `{path}`", self.header)));
        };
        let sent = decode(sent).ok_or_else(|| format!("header {} cannot be decoded: {sent:?}", self.header))?;
        let same = match &expected {
            None => return Err(format!("header {} was sent, but argument `{path}` was not", self.header)),
            Some(expected) if sent == *expected => true,
            Some(expected) => {
                self.kind == Kind::Integer && integer(&sent).is_some() && integer(&sent) == integer(expected)
            }
        };
        if same { Ok(()) } else { Err(format!("header {} is `{sent}`, but argument `{path}` differs", self.header)) }
    }
}

/// The integer that `42`, `42.0` and `4.2e1` mean.
fn integer(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return (-INTEGER_MAX..=INTEGER_MAX).contains(&number).then_some(number);
    }
    let number: serde_json::Number = text.parse().ok()?;
    let number = number.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "the limit is the last integer that a float keeps exactly")]
    let exact = number.fract() == 0.0 && number.abs() <= INTEGER_MAX as f64;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the limit")]
    exact.then_some(number as i64)
}

/// Collects annotations on a walk through a schema.
#[derive(Default)]
struct Found {
    params: Vec<Param>,
    names: HashSet<HeaderName>,
}

impl Found {
    /// `path` leads here by `properties` alone; without one, an annotation has no place in the arguments.
    fn schema(&mut self, schema: &Value, path: Option<&[String]>) -> Result<(), String> {
        let Value::Object(members) = schema else { return Ok(()) };
        if let Some(annotation) = members.get(ANNOTATION) {
            let path = path.filter(|path| !path.is_empty());
            let path = path.ok_or_else(|| format!("`{ANNOTATION}` stands where it names no single argument"))?;
            self.annotation(annotation, members.get("type"), path)?;
        }
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        let path = path.map(|path| [path, std::slice::from_ref(name)].concat());
                        self.schema(property, path.as_deref())?;
                    }
                }
                ("patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(schemas)) => {
                    schemas.values().try_for_each(|schema| self.schema(schema, None))?;
                }
                ("const" | "enum" | "default" | "examples" | ANNOTATION, _) => {} // Data, not schemas.
                (_, Value::Array(schemas)) => schemas.iter().try_for_each(|schema| self.schema(schema, None))?,
                (_, schema) => self.schema(schema, None)?,
            }
        }
        Ok(())
    }

    fn annotation(&mut self, annotation: &Value, kind: Option<&Value>, path: &[String]) -> Result<(), String> {
        let place = path.join(".");
        let name = annotation.as_str().ok_or_else(|| format!("`{ANNOTATION}` of `{place}` is not a string"))?;
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(format!("`{ANNOTATION}` of `{place}` is no header name: `{}`", name.escape_debug()));
        }
        let kind = match kind.and_then(Value::as_str) {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("boolean") => Kind::Boolean,
            _ => return Err(format!("`{place}` has `{ANNOTATION}`, but its type is not string, integer or boolean")),
        };
        let header = HeaderName::try_from(format!("{PARAM_PREFIX}{name}"))
            .map_err(|error| format!("`{ANNOTATION}` of `{place}` is no header name: {error}"))?;
        if !self.names.insert(header.clone()) {
            return Err(format!("`{ANNOTATION}` `{name}` stands twice in one schema"));
        }
        if self.params.len() >= PARAM_HEADERS_MAX {
            return Err(format!(
                "more than {PARAM_HEADERS_MAX} arguments with `{ANNOTATION}` (limit PARAM_HEADERS_MAX)"
            ));
        }
        self.params.push(Param { header, path: path.to_vec(), kind });
        Ok(())
    }
}

/// The characters of a token in RFC 9110.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
