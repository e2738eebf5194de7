//! Schemas as servers write them, and as nobody should.

use std::fmt::Write as _;

use serde_json::json;

use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::from_bytes(text.to_owned()).unwrap()
}

/// What checking says, in one line.
fn verdict(schema: &RawJson, value: &RawJson) -> String {
    match check(schema, value) {
        Ok(Checked::Fits) => "fits".to_owned(),
        Ok(Checked::Unchecked(why)) => format!("unchecked: {why}"),
        Err(violations) => violations.to_string(),
    }
}

#[track_caller]
fn assert_verdicts(schema: &str, cases: &[(&str, &str)]) {
    for (value, expected) in cases {
        assert_eq!(verdict(&raw(schema), &raw(value)), *expected, "{schema}\n  {value}");
    }
}

#[test]
fn arguments_of_a_usual_tool() {
    let schema = r##"{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100},"path":{"type":"string","minLength":1},
        "mode":{"enum":["text","binary"]},"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
        "filter":{"anyOf":[{"$ref":"#/$defs/Filter"},{"type":"null"}]}},"required":["path"],"additionalProperties":false,
        "$defs":{"Filter":{"type":"object","properties":{"op":{"const":"eq"},"and":{"type":"array","items":{"$ref":"#/$defs/Filter"}}},"required":["op"]}}}"##;
    assert_verdicts(
        schema,
        &[
            (r#"{"path":"a"}"#, "fits"),
            (r#"{"path":"a","limit":7.0,"mode":"text","tags":["x"],"filter":null}"#, "fits"),
            (r#"{"path":"a","filter":{"op":"eq","and":[{"op":"eq"},{"op":"eq","and":[]}]}}"#, "fits"),
            ("{}", "lacks `path`"),
            (r#"{"path":7}"#, "`/path` must be a string, not an integer"),
            (r#"{"path":"a","limit":"7"}"#, "`/limit` must be an integer, not a string"),
            (r#"{"path":"a","limit":7.5}"#, "`/limit` must be an integer, not a number"),
            (r#"{"path":"a","limit":0}"#, "`/limit` must be at least 1"),
            (r#"{"limit":101,"path":""}"#, "`/limit` must be at most 100; `/path` must have at least 1 characters"),
            (r#"{"path":"a","mode":"hex"}"#, "`/mode` must be one of `\"text\"` or `\"binary\"`"),
            (r#"{"path":"a","tags":["x","x"]}"#, "`/tags` must not have the same element twice"),
            (r#"{"path":"a","pth":1,"lmt":2}"#, "takes no `lmt` or `pth`"),
            (
                r#"{"path":"a","filter":{"and":[]}}"#,
                "`/filter` fits none of 2 alternatives: lacks `op`, or must be null, not an object",
            ),
            (
                r#"{"path":"a","filter":{"op":"eq","and":[{"op":"ne"}]}}"#,
                "`/filter` fits none of 2 alternatives: `/filter/and/0/op` must be `\"eq\"`, or must be null, not an object",
            ),
            ("[]", "must be an object, not an array"),
        ],
    );
    assert_verdicts(r#"{"additionalProperties":false}"#, &[("{}", "fits"), (r#"{"a":1}"#, "takes no members")]);
    assert_verdicts(
        r#"{"properties":{},"additionalProperties":false}"#,
        &[("{}", "fits"), (r#"{"a":1}"#, "takes no `a`")],
    );
}

#[test]
fn drafts_are_told_apart_where_they_differ() {
    let cases: [(&str, &[(&str, &str)]); 10] = [
        // No `$schema`: the newest draft, in which `prefixItems` counts.
        (
            r#"{"prefixItems":[{"type":"string"}],"items":false}"#,
            &[
                (r#"["a"]"#, "fits"),
                ("[1]", "`/0` must be a string, not an integer"),
                (r#"["a",1]"#, "`/1` is not allowed"),
            ],
        ),
        // Lists of items are older than the newest draft.
        (
            r#"{"items":[{"type":"string"}],"additionalItems":false}"#,
            &[(r#"["a"]"#, "fits"), ("[1]", "`/0` must be a string, not an integer")],
        ),
        (
            r##"{"definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}"##,
            &[(r#"{"x":1}"#, "`/x` must be a string, not an integer")],
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"x":{"type":"string"}}}"#,
            &[(r#"{"x":1}"#, "`/x` must be a string, not an integer")],
        ),
        (
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","dependentRequired":{"a":["b"]}}"#,
            &[(r#"{"a":1}"#, "lacks `b`")],
        ),
        // As older drafts name a place.
        (
            r##"{"definitions":{"a":{"$id":"#named","type":"string"}},"properties":{"x":{"$ref":"#named"}}}"##,
            &[(r#"{"x":1}"#, "`/x` must be a string, not an integer")],
        ),
        // Booleans for exclusive bounds are those of the oldest draft, named or not.
        (r#"{"minimum":3,"exclusiveMinimum":true}"#, &[("3", "must be more than 3"), ("4", "fits")]),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","id":"tool","minimum":3,"exclusiveMinimum":true}"#,
            &[("3", "must be more than 3")],
        ),
        // An address of its own, used or not, absolute or not.
        (
            r##"{"$id":"https://example.com/tool","$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"https://example.com/tool#/$defs/a"}}}"##,
            &[(r#"{"x":1}"#, "`/x` must be a string, not an integer")],
        ),
        (
            r#"{"$schema":"https://example.com/own-dialect","$id":"tool","type":"object"}"#,
            &[("1", "must be an object, not an integer")],
        ),
    ];
    for (schema, values) in cases {
        assert_verdicts(schema, values);
    }
}

#[test]
fn unknown_keywords_and_formats_are_tolerated_and_known_formats_are_checked() {
    let schema = r#"{"x-order":7,"nullable":true,"properties":{"n":{"type":"integer","format":"int64"},"w":{"format":"date-time"},"u":{"format":"uri"},"z":{"format":"zip"}}}"#;
    assert_verdicts(
        schema,
        &[
            (r#"{"n":1,"w":"2026-07-28T10:00:00Z","u":"https://example.com/","z":"?"}"#, "fits"),
            (r#"{"w":"yesterday"}"#, "`/w` is not in the format `date-time`"),
            (r#"{"n":123456789012345678901234567890}"#, "fits"),
        ],
    );
}

#[test]
fn what_cannot_be_used_is_left_unchecked_with_the_reason() {
    let deep = format!("{}{}", r#"{"not":"#.repeat(10_000) + "{}", "}".repeat(10_000));
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
    let crowded =
        json!({"properties": (0..30_000).map(|n| (format!("p{n}"), json!({}))).collect::<serde_json::Map<_, _>>()});
    let cases = [
        ("true".to_owned(), "it is not an object"),
        ("[]".to_owned(), "it is not an object"),
        (deep, "JSON nested too deeply"),
        (large, "it is larger than 1048576 bytes"),
        (crowded.to_string(), "it holds more than 20000 schemas"),
        (r##"{"$ref":"#"}"##.to_owned(), "it refers to itself without end"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##
                .to_owned(),
            "it refers to itself without end",
        ),
        (
            r#"{"properties":{"a":{"$ref":"http://127.0.0.1:9/x.json"}}}"#.to_owned(),
            "it refers to `http://127.0.0.1:9/x.json`, which is not part of it; nothing is fetched",
        ),
        (r#"{"$ref":"file:///etc/passwd"}"#.to_owned(), "it refers to `file:///etc/passwd`"),
        (r#"{"$ref":"other.json#/a"}"#.to_owned(), "it refers to `other.json#/a`"),
        (r##"{"$ref":"#/$defs/missing"}"##.to_owned(), "it refers to `#/$defs/missing`, which does not exist"),
        (r##"{"$ref":"#nowhere"}"##.to_owned(), "it refers to `#nowhere`, which does not exist"),
        (
            r#"{"properties":{"a":{"$id":"https://example.com/a"}}}"#.to_owned(),
            "it embeds a schema with an address of its own",
        ),
        (r#"{"type":"strnig"}"#.to_owned(), "\"strnig\""),
        (r#"{"properties":[]}"#.to_owned(), "[]"),
        (r#"{"patternProperties":{"(?=a)":{}}}"#.to_owned(), "regex"),
        (r#"{"patternProperties":{"(":{}}}"#.to_owned(), "regex"),
        (
            r#"{"not":{"pattern":"(?=a)"}}"#.to_owned(),
            "the regular expression `(?=a)` needs more than the engine offers",
        ),
    ];
    for (schema, reason) in cases {
        let found = verdict(&raw(&schema), &raw("{}"));
        let shown: String = schema.chars().take(100).collect();
        assert!(
            found.starts_with("unchecked: the schema cannot be used: ") && found.contains(reason),
            "{shown}: {found}"
        );
    }
}

#[test]
fn recursive_schemas_are_checked_all_the_way_down() {
    let schema = r##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##;
    assert_verdicts(
        schema,
        &[(r#"{"next":{"next":{}}}"#, "fits"), (r#"{"next":{"next":{"x":1}}}"#, "`/next/next` takes no `x`")],
    );
    let deep = format!("{}{{}}{}", r#"{"next":"#.repeat(100), "}".repeat(100));
    assert_eq!(verdict(&raw(schema), &raw(&deep)), "fits");
    let deeper = format!("{}{{}}{}", r#"{"next":"#.repeat(1000), "}".repeat(1000));
    assert!(verdict(&raw(schema), &raw(&deeper)).starts_with("unchecked: the value cannot be looked into"));
    let dynamic = r##"{"$dynamicAnchor":"node","type":"object","properties":{"next":{"$dynamicRef":"#node"}},"additionalProperties":false}"##;
    assert_verdicts(dynamic, &[(r#"{"next":{"next":{}}}"#, "fits"), (r#"{"next":{"x":1}}"#, "`/next` takes no `x`")]);
}

#[test]
fn patterns_take_linear_time_or_are_not_checked() {
    let long = format!("\"{}!\"", "a".repeat(50_000));
    assert_verdicts(
        r#"{"pattern":"^(a+)+$"}"#,
        &[(&long, "does not match the pattern `^(a+)+$`"), (r#""aaa""#, "fits")],
    );
    // What looks around is left out, the rest is checked.
    let address = r#"{"properties":{"mail":{"type":"string","pattern":"^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"},"n":{"type":"integer"}}}"#;
    assert_verdicts(
        address,
        &[
            (r#"{"mail":"..@","n":1}"#, "fits"),
            (r#"{"mail":7,"n":1}"#, "`/mail` must be a string, not an integer"),
            (r#"{"n":"1"}"#, "`/n` must be an integer, not a string"),
        ],
    );
    for pattern in [r"(a)\\1", "(a{1000}){1000}", "(", "[", r"\\p{Nonsense}", "(?<name>a)\\\\k<name>"] {
        let schema = format!(r#"{{"properties":{{"a":{{"pattern":"{pattern}"}},"n":{{"type":"integer"}}}}}}"#);
        let found = verdict(&raw(&schema), &raw(r#"{"a":"a","n":"1"}"#));
        assert_eq!(found, "`/n` must be an integer, not a string", "{pattern}");
    }
    assert_verdicts(
        r#"{"pattern":"^\\p{L}{1,16}$"}"#,
        &[(r#""größe""#, "fits"), (r#""1""#, "does not match the pattern `^\\p{L}{1,16}$`")],
    );
}

/// Definitions that each lead to the next one `width` times over.
fn fan(depth: usize, width: usize, combine: &str) -> String {
    let mut definitions = String::new();
    for level in 0..depth {
        let branch = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, level + 1);
        let branches = vec![branch; width].join(",");
        write!(definitions, r#""d{level}":{{"{combine}":[{branches}]}},"#).unwrap();
    }
    format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}"d{depth}":{{"type":"string"}}}}}}"##)
}

#[test]
fn schemas_that_multiply_are_not_begun() {
    let too_much = |schema: &str, value: &str| {
        verdict(&raw(schema), &raw(value)).contains("unchecked: checking would be too much")
    };
    for combine in ["allOf", "anyOf", "oneOf"] {
        assert!(too_much(&fan(25, 4, combine), "7"), "{combine}");
        assert!(!too_much(&fan(5, 4, combine), "7"), "{combine}");
    }
    // The same over levels of the value: every level is visited twice as often as the one above.
    let doubling = r##"{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}"##;
    let value = |depth: usize| format!("{}1{}", r#"{"x":"#.repeat(depth), "}".repeat(depth));
    assert_eq!(verdict(&raw(doubling), &raw(&value(8))), "fits");
    assert!(too_much(doubling, &value(60)));
    // A value is an array or an object, never both: any JSON at all, as common libraries describe it.
    let any_json = r##"{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"null"},
        {"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}"##;
    assert_eq!(verdict(&raw(any_json), &raw(&value(60))), "fits");
    let looking_back = "{\"allOf\":[".repeat(40) + "{}" + &"],\"unevaluatedProperties\":false}".repeat(40);
    assert!(too_much(&looking_back, r#"{"a":1}"#), "{}", verdict(&raw(&looking_back), &raw(r#"{"a":1}"#)));
    let long_chain: String = (0..5000).map(|n| format!(r##""d{n}":{{"$ref":"#/$defs/d{}"}},"##, n + 1)).collect();
    let long_chain = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{long_chain}"d5000":{{}}}}}}"##);
    assert!(verdict(&raw(&long_chain), &raw("1")).contains("more than 64 references follow one another"));
}

#[test]
fn nesting_at_the_limits_fits_the_stack() {
    // Just as many schemas within one another as are allowed, then a value as deep as JSON is read.
    let keywords = [
        (r#"{"properties":{"x":"#, "}}"),
        (r#"{"additionalProperties":"#, "}"),
        (r#"{"unevaluatedProperties":"#, "}"),
        (r#"{"patternProperties":{"^x":"#, "}}"),
    ];
    let value = format!("{}1{}", r#"{"x":"#.repeat(120), "}".repeat(120));
    for (open, close) in keywords {
        let schema = |depth: usize| {
            let inner =
                |n: usize| format!("{}{{\"$ref\":\"#/$defs/d{n}\"}}{}", open.repeat(depth), close.repeat(depth));
            let definitions: Vec<String> = (0..20).map(|n| format!(r#""d{n}":{}"#, inner((n + 1) % 20))).collect();
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, definitions.join(","))
        };
        assert_eq!(verdict(&raw(&schema(10)), &raw(&value)), "fits", "{open}");
        assert!(verdict(&raw(&schema(58)), &raw(&value)).contains("stand within one another"), "{open}");
        let flat = format!("{}{{}}{}", open.repeat(60), close.repeat(60));
        assert_eq!(verdict(&raw(&flat), &raw(&value)), "fits", "{open}");
    }
    let mut chained = r##"{"$ref":"#/$defs/d0","$defs":{"##.to_owned();
    for n in 0..60 {
        write!(chained, r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{}"}}]}},"##, n + 1).unwrap();
    }
    chained.push_str(r##""d60":{"properties":{"x":{"$ref":"#"}}}}}"##);
    let found = verdict(&raw(&chained), &raw(&value));
    assert!(found.contains("references follow one another") || found.contains("nested deeper"), "{found}");
}

#[test]
fn a_large_schema_and_a_large_value_are_checked() {
    let properties: serde_json::Map<_, _> =
        (0..5000).map(|n| (format!("p{n}"), json!({"type": "string", "description": "x".repeat(120)}))).collect();
    let schema = RawJson::from(json!({"type": "object", "properties": properties, "additionalProperties": false}));
    assert!(schema.as_bytes().len() > 800_000);
    assert_eq!(verdict(&schema, &raw(r#"{"p4999":7}"#)), "`/p4999` must be a string, not an integer");
    let rows = RawJson::from(
        json!({"rows": (0..20_000).map(|n| json!({"id": n, "name": format!("row {n}"), "state": "on"})).collect::<Vec<_>>()}),
    );
    let of_rows = r#"{"properties":{"rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"state":{"enum":["on","off"]}},"required":["id","name"]}}}}"#;
    assert_eq!(verdict(&raw(of_rows), &rows), "fits");
}

#[test]
fn only_the_first_violations_are_told() {
    let found = check(&raw(r#"{"items":{"type":"string"}}"#), &raw("[1,2,3,4,5,6,7]")).unwrap_err();
    assert_eq!((found.shown.len(), found.others), (5, 2));
    assert!(found.to_string().ends_with("; `/4` must be a string, not an integer; and 2 more"), "{found}");
    assert_eq!(found.shown[1], Violation { path: "/1".into(), problem: "must be a string, not an integer".into() });
}

#[test]
fn words_of_servers_are_made_visible() {
    let found = verdict(
        &raw(r#"{"required":["a\u001b[2J"],"properties":{"x":{}},"additionalProperties":false}"#),
        &raw(r#"{"b\u202e":1}"#),
    );
    assert!(!found.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{found:?}");
    assert!(found.contains(r"\e[2J") && found.contains(r"\u{202e}"), "{found}");
}

#[test]
fn left_out_structured_content_is_found_in_the_text() {
    let cases = [
        (r#"{"content":[{"type":"text","text":" {\"a\": 1.50} "}]}"#, Some(r#"{"a": 1.50}"#)),
        (r#"{"content":[{"type":"text","text":"[1]"}]}"#, None),
        (r#"{"content":[{"type":"text","text":"{broken"}]}"#, None),
        (r#"{"content":[{"type":"text","text":"hi"},{"type":"text","text":"{}"}]}"#, None),
        (r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{"b":1}}"#, None),
        (r#"{"content":[{"type":"text","text":"{}"}],"isError":true}"#, None),
        (r#"{"content":[]}"#, None),
    ];
    for (result, expected) in cases {
        let repaired = repair(&CallResult::read(raw(result)).unwrap());
        assert_eq!(repaired.as_ref().map(RawJson::as_str), expected, "{result}");
    }
}
