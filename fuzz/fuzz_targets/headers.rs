//! The `Mcp-*` headers: what is encoded decodes to the same, and what a client sends passes the check of a server.
//!
//! An input is three parts with line feeds between them: an input schema, arguments, and a value that is sent as a header.

#![no_main]

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use toolgate_wire::headers::{MCP_NAME, ParamHeaders, check_name, decode, encode, name_in};
use toolgate_wire::limits::{HEADER_VALUE_BYTES_MAX, PARAM_HEADERS_MAX};
use toolgate_wire::{Error, RawJson};

/// Base64 between its markers: four bytes for three, and what stands around them.
const MARKER_BYTES: usize = 16;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == b'\n').map(<[u8]>::to_vec);
    let mut part = || parts.next().unwrap_or_default();
    let (schema, arguments, value) = (part(), part(), part());
    encoded_value_decodes(&String::from_utf8_lossy(&value));
    any_header_decodes_or_not(&value);
    let Ok(arguments) = RawJson::from_bytes(arguments) else { return };
    name_passes_its_check(&arguments);
    let fitting = ParamHeaders::of(&schema_for(&arguments))
        .unwrap_or_else(|problem| panic!("a sound schema is refused: {problem}"));
    sent_headers_pass_their_check(&fitting, &arguments);
    let Ok(schema) = RawJson::from_bytes(schema) else { return };
    if let Ok(params) = ParamHeaders::of(&schema) {
        spelling_does_not_matter(&params, &schema, &arguments);
        sent_headers_pass_their_check(&params, &arguments);
    }
});

fn encoded_value_decodes(text: &str) {
    match encode(text) {
        Ok(header) => {
            assert!(header.len() <= HEADER_VALUE_BYTES_MAX);
            assert!(header.as_bytes().iter().all(|byte| (0x20..=0x7e).contains(byte)), "{header:?}");
            assert_eq!(decode(&header).as_deref(), Some(text));
            let padded = HeaderValue::from_bytes(&[b" \t", header.as_bytes(), b"  "].concat());
            assert_eq!(padded.ok().and_then(|header| decode(&header)).as_deref(), Some(text), "white space on the way");
        }
        Err(Error::Limit(breach)) => assert!(text.len() / 3 * 4 + MARKER_BYTES > HEADER_VALUE_BYTES_MAX, "{breach}"),
        Err(error) => panic!("{text:?} cannot travel: {error}"),
    }
}

fn any_header_decodes_or_not(bytes: &[u8]) {
    if let Some(text) = HeaderValue::from_bytes(bytes).ok().as_ref().and_then(decode) {
        encoded_value_decodes(&text);
    }
}

fn name_passes_its_check(params: &RawJson) {
    for (method, member) in [("tools/call", "name"), ("resources/read", "uri"), ("tasks/get", "taskId")] {
        let name = name_in(method, params);
        if params.members().iter().filter(|(key, _)| key == member).count() > 1 {
            assert!(check_name(&HeaderMap::new(), method, params).is_err(), "`{member}` stands twice");
            continue;
        }
        let mut headers = HeaderMap::new();
        if let Some(name) = name {
            let Ok(header) = encode(&name) else { continue };
            headers.insert(MCP_NAME, header);
        }
        let outcome = check_name(&headers, method, params);
        assert!(outcome.is_ok(), "{headers:?} for {params}: {outcome:?}");
        headers.append(MCP_NAME, HeaderValue::from_static("another"));
        assert!(check_name(&headers, method, params).is_err(), "{headers:?} for {params} passes");
    }
}

/// A schema that asks for headers for these arguments, now and then of another type than theirs.
fn schema_for(arguments: &RawJson) -> RawJson {
    let mut count = 0;
    RawJson::from(properties(arguments, &mut count, 1))
}

fn properties(arguments: &RawJson, count: &mut usize, levels_below: usize) -> Value {
    let mut properties = Map::new();
    for (key, value) in arguments.members() {
        let own_type = match value.as_bytes().first() {
            Some(b'{') if levels_below > 0 => {
                properties.entry(key).or_insert_with(|| self::properties(&value, count, levels_below - 1));
                continue;
            }
            Some(b't' | b'f') => "boolean",
            Some(b'"') => "string",
            _ => "integer",
        };
        if *count == PARAM_HEADERS_MAX || properties.contains_key(&key) {
            continue;
        }
        let kind =
            if key.len() % 4 == 3 { ["string", "integer", "boolean"][value.as_bytes().len() % 3] } else { own_type };
        properties.insert(key, json!({ "type": kind, "x-mcp-header": format!("H{count}") }));
        *count += 1;
    }
    json!({ "type": "object", "properties": properties })
}

fn sent_headers_pass_their_check(params: &ParamHeaders, arguments: &RawJson) {
    let sent = match params.for_arguments(arguments) {
        Ok(sent) => sent,
        Err(Error::Limit(_)) => return,
        Err(error) => {
            assert!(
                params.check(&HeaderMap::new(), arguments).is_err(),
                "the server takes {arguments}, the client does not: {error}"
            );
            return;
        }
    };
    let headers = map_of(&sent);
    let outcome = params.check(&headers, arguments);
    assert!(outcome.is_ok(), "{headers:?} for {arguments}: {outcome:?}");
    for (name, value) in &sent {
        let mut without = headers.clone();
        without.remove(name);
        assert!(params.check(&without, arguments).is_err(), "{arguments} passes without {name}");
        let mut changed = headers.clone();
        let text = decode(value).unwrap_or_default();
        if let Ok(other) = encode(&format!("{text}x")) {
            changed.insert(name, other);
            assert!(params.check(&changed, arguments).is_err(), "{arguments} passes with another {name}");
        }
        changed.append(name, value.clone());
        assert!(params.check(&changed, arguments).is_err(), "{arguments} passes with {name} twice");
    }
}

/// A schema asks for the same, whatever escapes its keys are spelled with.
fn spelling_does_not_matter(params: &ParamHeaders, schema: &RawJson, arguments: &RawJson) {
    let Ok(plain) = schema.read::<Value>() else { return };
    let plain =
        ParamHeaders::of(&RawJson::from(plain)).unwrap_or_else(|problem| panic!("{schema} was read, now: {problem}"));
    let sent = |params: &ParamHeaders| params.for_arguments(arguments).map_err(|error| error.to_string());
    assert_eq!(sent(params), sent(&plain), "{schema}");
}

fn map_of(sent: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in sent {
        headers.append(name, value.clone());
    }
    headers
}
