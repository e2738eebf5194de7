//! Encoding and comparison of the `Mcp-*` headers, case by case.

use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::from_bytes(text.to_owned()).unwrap()
}

type Headers<'a> = &'a [(&'a str, &'a str)];

fn header_map(headers: Headers<'_>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
    }
    map
}

#[test]
fn values_are_plain_where_they_can_be() {
    let cases = [
        ("us-west1", "us-west1"),
        ("us west 1", "us west 1"),
        ("", ""),
        ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
        ("https://example.com/resource?id=123", "https://example.com/resource?id=123"),
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("a\tb", "=?base64?YQli?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
        ("\u{7f}", "=?base64?fw==?="),
    ];
    for (value, header) in cases {
        let encoded = encode(value).unwrap();
        assert_eq!(encoded, header, "for {value:?}");
        assert_eq!(decode(&encoded).as_deref(), Some(value));
    }
}

#[test]
fn decoding_is_strict_between_the_markers_and_literal_elsewhere() {
    let cases: [(&[u8], Option<&str>); 10] = [
        (b"=?base64?SGVsbG8=?=", Some("Hello")),
        (b"  =?base64?SGVsbG8=?= \t", Some("Hello")),
        (b"  tool  ", Some("tool")),
        (b"=?base64?SGVsbG8?=", None),
        (b"=?base64?SGVs!!!bG8=?=", None),
        (b"=?base64?/w==?=", None),
        (b"=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?=")),
        (b"=?base64?SGVsbG8=", Some("=?base64?SGVsbG8=")),
        (b"SGVsbG8=?=", Some("SGVsbG8=?=")),
        (b"caf\xe9", None),
    ];
    for (header, value) in cases {
        let header = HeaderValue::from_bytes(header).unwrap();
        assert_eq!(decode(&header).as_deref(), value, "for {header:?}");
    }
}

#[test]
fn a_value_too_long_names_its_limit() {
    let error = encode(&"x".repeat(HEADER_VALUE_BYTES_MAX + 1)).unwrap_err();
    assert!(error.to_string().contains("HEADER_VALUE_BYTES_MAX"), "{error}");
}

#[test]
fn each_method_has_its_name() {
    let cases = [
        ("tools/call", r#"{"name":"my-hyphenated-tool","arguments":{}}"#, Some("my-hyphenated-tool")),
        ("prompts/get", r#"{"name":"p"}"#, Some("p")),
        ("resources/read", r#"{"uri":"file:///a"}"#, Some("file:///a")),
        ("tasks/get", r#"{"taskId":"t"}"#, Some("t")),
        ("tasks/update", r#"{"taskId":"t"}"#, Some("t")),
        ("tasks/cancel", r#"{"taskId":"t"}"#, Some("t")),
        ("tools/list", r#"{"name":"x"}"#, None),
        ("tools/call", r#"{"name":7}"#, None),
        ("tools/call", "{}", None),
    ];
    for (method, params, name) in cases {
        assert_eq!(name_in(method, &raw(params)).as_deref(), name, "{method} {params}");
    }
}

#[test]
fn the_standard_headers_must_repeat_the_body() {
    let call = r#"{"name":"echo"}"#;
    let cases: [(Headers<'_>, &str, &str, Option<&str>); 12] = [
        (&[("Mcp-Method", "tools/list")], "tools/list", "{}", None),
        (&[("MCP-METHOD", " tools/list ")], "tools/list", "{}", None),
        (&[], "tools/list", "{}", Some("Mcp-Method is missing")),
        (&[("mcp-method", "TOOLS/LIST")], "tools/list", "{}", Some("Mcp-Method is")),
        (&[("mcp-method", "a"), ("mcp-method", "a")], "a", "{}", Some("more than once")),
        (&[("mcp-method", "tools/call"), ("mcp-name", "  echo  ")], "tools/call", call, None),
        (&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?ZWNobw==?=")], "tools/call", call, None),
        (&[("mcp-method", "tools/call")], "tools/call", call, Some("Mcp-Name is missing")),
        (&[("mcp-method", "tools/call"), ("mcp-name", "other")], "tools/call", call, Some("`other`")),
        (&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?ZWNobw?=")], "tools/call", call, Some("decoded")),
        (&[("mcp-method", "tools/call"), ("mcp-name", "echo")], "tools/call", "{}", Some("has none")),
        (&[("mcp-method", "tools/call")], "tools/call", r#"{"name":"a","name":"b"}"#, Some("more than once")),
    ];
    for (headers, method, params, problem) in cases {
        let outcome = check_request(&header_map(headers), method, &raw(params));
        match problem {
            None => assert!(outcome.is_ok(), "{headers:?}: {outcome:?}"),
            Some(problem) => {
                let error = outcome.unwrap_err();
                assert_eq!(error.code, RpcError::HEADER_MISMATCH);
                assert!(error.message.contains(problem), "{headers:?}: {error}");
            }
        }
    }
}

const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Method"}}},
    "plain":{"type":"string"},
    "x-mcp-header":{"type":"string","default":{"x-mcp-header":"data"}}}}"#;

#[test]
fn annotated_arguments_become_headers() {
    let cases = [
        (r#"{"region":"eu"}"#, "mcp-param-region: eu"),
        (r#"{"region":""}"#, "mcp-param-region: "),
        (r#"{"region":null,"plain":"x","x-mcp-header":"y"}"#, ""),
        (r#"{"count":42}"#, "mcp-param-count: 42"),
        (r#"{"count":-42.0}"#, "mcp-param-count: -42"),
        (r#"{"deep":{"flag":false}}"#, "mcp-param-method: false"),
        (r#"{"deep":{},"region":"世"}"#, "mcp-param-region: =?base64?5LiW?="),
        (
            r#"{"count":9007199254740993}"#,
            "argument `count` is no integer within ±(2^53-1), so it cannot travel as header mcp-param-count",
        ),
        (
            r#"{"count":1.5}"#,
            "argument `count` is no integer within ±(2^53-1), so it cannot travel as header mcp-param-count",
        ),
        (
            r#"{"region":[1]}"#,
            "argument `region` is neither text, integer nor boolean, so it cannot travel as header mcp-param-region",
        ),
    ];
    let params = ParamHeaders::of(&raw(SCHEMA)).unwrap();
    for (arguments, expected) in cases {
        let found = match params.for_arguments(&raw(arguments)) {
            Ok(headers) => headers
                .iter()
                .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                .collect::<Vec<_>>()
                .join("; "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "for {arguments}");
    }
}

#[test]
fn an_annotation_counts_however_it_is_spelled() {
    let params = ParamHeaders::of(&raw(r#"{"properties":{"a":{"type":"string","x-mcp-\u0068eader":"A"}}}"#)).unwrap();
    assert!(!params.is_empty());
}

#[test]
fn a_server_compares_them_with_the_arguments() {
    let cases: [(Headers<'_>, &str, Option<&str>); 15] = [
        (&[], "{}", None),
        (&[("Mcp-Param-Region", "Hello")], r#"{"region":"Hello"}"#, None),
        (&[("Mcp-Param-Region", "=?base64?SGVsbG8=?=")], r#"{"region":"Hello"}"#, None),
        (&[("Mcp-Param-Region", "SGVsbG8=")], r#"{"region":"SGVsbG8="}"#, None),
        (&[("Mcp-Param-Region", "=?base64?SGVsbG8=")], r#"{"region":"=?base64?SGVsbG8="}"#, None),
        (&[("Mcp-Param-Region", "=?base64?SGVsbG8?=")], r#"{"region":"Hello"}"#, Some("decoded")),
        (&[("Mcp-Param-Region", "hello")], r#"{"region":"Hello"}"#, Some("differs")),
        (&[], r#"{"region":"Hello"}"#, Some("missing")),
        (&[("Mcp-Param-Region", "Hello")], r#"{"region":null}"#, Some("was not")),
        (&[("Mcp-Param-Count", "42.0")], r#"{"count":42}"#, None),
        (&[("Mcp-Param-Count", "43")], r#"{"count":42}"#, Some("differs")),
        (&[("Mcp-Param-Count", "many")], r#"{"count":"many"}"#, None),
        (&[("Mcp-Param-Count", "more")], r#"{"count":"many"}"#, Some("differs")),
        (&[("Mcp-Param-Unknown", "x")], "{}", None),
        (&[("Mcp-Param-Region", "a")], r#"{"region":"a","region":"b"}"#, Some("more than once")),
    ];
    let params = ParamHeaders::of(&raw(SCHEMA)).unwrap();
    for (headers, arguments, problem) in cases {
        let outcome = params.check(&header_map(headers), &raw(arguments));
        match problem {
            None => assert_eq!(outcome, Ok(()), "{headers:?} {arguments}"),
            Some(problem) => assert!(
                outcome.as_ref().is_err_and(|found| found.contains(problem)),
                "{headers:?} {arguments}: {outcome:?}"
            ),
        }
    }
}

#[test]
fn a_schema_with_a_wrong_annotation_is_refused() {
    let cases = [
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#, "not a string"),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, "no header name"),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#, "no header name"),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a:b"}}}"#, "no header name"),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":"Région"}}}"#, "no header name"),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a\tb"}}}"#, "no header name"),
        (r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#, "its type"),
        (r#"{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}"#, "its type"),
        (r#"{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}"#, "its type"),
        (r#"{"properties":{"a":{"type":"null","x-mcp-header":"A"}}}"#, "its type"),
        (r#"{"properties":{"a":{"type":["string"],"x-mcp-header":"A"}}}"#, "its type"),
        (r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#, "its type"),
        (
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            "twice",
        ),
        (r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#, "no single argument"),
        (r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#, "no single argument"),
        (r#"{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}"#, "no single argument"),
        (r#"{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#, "no single argument"),
        (r#"{"additionalProperties":{"type":"string","x-mcp-header":"A"}}"#, "no single argument"),
        (r#"{"patternProperties":{"^a":{"type":"string","x-mcp-header":"A"}}}"#, "no single argument"),
        (r#"{"type":"string","x-mcp-header":"A"}"#, "no single argument"),
    ];
    for (schema, problem) in cases {
        let reason = ParamHeaders::of(&raw(schema)).unwrap_err();
        assert!(reason.contains(problem), "{schema}: {reason}");
    }
}

#[test]
fn a_schema_without_annotations_asks_for_nothing() {
    for schema in [
        "{}",
        "true",
        r#"{"properties":{"a":{"type":"number"}}}"#,
        r#"{"properties":{"x-mcp-header":{"type":"number"}}}"#,
    ] {
        assert!(ParamHeaders::of(&raw(schema)).unwrap().is_empty(), "{schema}");
    }
}
