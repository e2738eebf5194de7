//! Words as people type them, against schemas as servers write them.

use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::from_bytes(text.to_owned()).unwrap()
}

fn words(given: &[&str]) -> Vec<String> {
    given.iter().map(|&word| word.to_owned()).collect()
}

/// The arguments, or what is wrong.
fn outcome(schema: &str, given: &[&str]) -> String {
    from_words(&raw(schema), &words(given)).map_or_else(|error| error.to_string(), |arguments| arguments.to_string())
}

const TOOL: &str = r##"{"type":"object","required":["path"],"additionalProperties":false,"properties":{
    "path":{"type":"string"},
    "limit":{"type":"integer"},
    "ratio":{"type":"number"},
    "force":{"type":"boolean"},
    "nothing":{"type":"null"},
    "maybe":{"type":["string","null"]},
    "id":{"type":["string","integer"]},
    "size":{"anyOf":[{"type":"integer"},{"type":"null"}]},
    "tags":{"type":"array","items":{"type":"string"}},
    "cells":{"type":"array","items":{"type":"integer"}},
    "rows":{"type":"array","items":{"type":"object"}},
    "one_or_many":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
    "optional_tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},
    "filter":{"$ref":"#/$defs/Filter"},
    "mode":{"enum":["fast","slow","1"]},
    "level":{"enum":[1,2,"max"]},
    "auto":{"anyOf":[{"const":"true"},{"type":"boolean"}]},
    "a.b":{"type":"integer"},
    "anything":{}},
    "$defs":{"Filter":{"type":"object","additionalProperties":false,"properties":{
        "field":{"type":"string"},"depth":{"type":"integer"},"and":{"$ref":"#/$defs/Filter"},"free":{"type":"object"}}}}}"##;

#[test]
fn values_are_what_the_schema_says() {
    let cases: [(&[&str], &str); 38] = [
        (&[], "{}"),
        (&["path=123"], r#"{"path":"123"}"#),
        (&["path="], r#"{"path":""}"#),
        (&["path=a=b c"], r#"{"path":"a=b c"}"#),
        (&["path=@file"], r#"{"path":"@file"}"#),
        (&[r#"path="quoted""#], r#"{"path":"\"quoted\""}"#),
        (&["path=true", "limit=3"], r#"{"path":"true","limit":3}"#),
        (&["limit=3", "path=x"], r#"{"limit":3,"path":"x"}"#),
        (&["limit=-0"], r#"{"limit":-0}"#),
        (&["limit= 7 "], r#"{"limit":7}"#),
        (&["limit=1e3"], r#"{"limit":1e3}"#),
        (&["limit=123456789012345678901234567890"], r#"{"limit":123456789012345678901234567890}"#),
        (&["ratio=1.50"], r#"{"ratio":1.50}"#),
        (&["ratio=2"], r#"{"ratio":2}"#),
        (&["force=true"], r#"{"force":true}"#),
        (&["nothing=null"], r#"{"nothing":null}"#),
        (&["maybe=null"], r#"{"maybe":null}"#),
        (&["maybe=nullable"], r#"{"maybe":"nullable"}"#),
        (&["id=5", "maybe=5"], r#"{"id":5,"maybe":"5"}"#),
        (&["id=5a"], r#"{"id":"5a"}"#),
        (&["id:=\"5\""], r#"{"id":"5"}"#),
        (&["size=null"], r#"{"size":null}"#),
        (&["tags=a"], r#"{"tags":["a"]}"#),
        (&["tags=a", "path=x", "tags=b,c"], r#"{"tags":["a","b,c"],"path":"x"}"#),
        (&[r#"tags=["a","b"]"#], r#"{"tags":["a","b"]}"#),
        (&["tags:=[]"], r#"{"tags":[]}"#),
        (&["cells=1", "cells=2"], r#"{"cells":[1,2]}"#),
        (&[r#"rows={"a":1}"#, r#"rows={"a":2}"#], r#"{"rows":[{"a":1},{"a":2}]}"#),
        (&["one_or_many=x"], r#"{"one_or_many":"x"}"#),
        (&["one_or_many=x", "one_or_many=y"], r#"{"one_or_many":["x","y"]}"#),
        (&["optional_tags=x"], r#"{"optional_tags":["x"]}"#),
        (&[r#"filter={"field":"f"}"#], r#"{"filter":{"field":"f"}}"#),
        (
            &["filter.field=7", "filter.depth=7", "filter.and.depth=8"],
            r#"{"filter":{"field":"7","depth":7,"and":{"depth":8}}}"#,
        ),
        (&[r#"filter={"field":"f","depth":1}"#, "filter.depth=2"], r#"{"filter":{"field":"f","depth":2}}"#),
        (&["filter.free.any=1"], r#"{"filter":{"free":{"any":1}}}"#),
        (&["a.b=1"], r#"{"a.b":1}"#),
        (&["mode=1", "level=1", "auto=true"], r#"{"mode":"1","level":1,"auto":"true"}"#),
        (&["level=max", "anything=[1]"], r#"{"level":"max","anything":[1]}"#),
    ];
    for (given, expected) in cases {
        assert_eq!(outcome(TOOL, given), expected, "{given:?}");
    }
}

#[test]
fn a_schema_that_says_nothing_takes_what_it_looks_like() {
    let cases = [
        ("x=1", r#"{"x":1}"#),
        ("x=1.50", r#"{"x":1.50}"#),
        ("x=true", r#"{"x":true}"#),
        ("x=null", r#"{"x":null}"#),
        ("x=[1, 2]", r#"{"x":[1, 2]}"#),
        (r#"x={"a":1}"#, r#"{"x":{"a":1}}"#),
        ("x=text", r#"{"x":"text"}"#),
        ("x=", r#"{"x":""}"#),
        ("x=007", r#"{"x":"007"}"#),
        ("x=+1", r#"{"x":"+1"}"#),
        ("x= 1", r#"{"x":" 1"}"#),
        ("x=1 2", r#"{"x":"1 2"}"#),
        (r#"x="1""#, r#"{"x":"\"1\""}"#),
        ("x=[broken", r#"{"x":"[broken"}"#),
        ("a.b=1", r#"{"a.b":1}"#),
        ("x\"\n=1", r#"{"x\"\n":1}"#),
    ];
    for schema in ["{}", "true", r#"{"type":"object"}"#, r#"{"properties":{"a":{}}}"#] {
        for (word, expected) in cases {
            assert_eq!(outcome(schema, &[word]), expected, "{schema}: {word}");
        }
    }
    let typed_rest = r#"{"additionalProperties":{"type":"string"}}"#;
    assert_eq!(outcome(typed_rest, &["x=1"]), r#"{"x":"1"}"#);
}

#[test]
fn errors_say_what_is_wrong_and_what_would_be_right() {
    let cases: [(&[&str], &str); 19] = [
        (&["limit=abc"], "`limit` takes an integer, not `abc`"),
        (&["limit="], "`limit` takes an integer, not ``"),
        (&["limit=1.5"], "`limit` takes an integer, not `1.5`"),
        (&["limit=0x10"], "`limit` takes an integer, not `0x10`"),
        (&["ratio=NaN"], "`ratio` takes a number, not `NaN`"),
        (&["force=yes"], "`force` takes `true` or `false`, not `yes`"),
        (&["size=big"], "`size` takes an integer or null, not `big`"),
        (&["cells=1", "cells=x"], "`cells` takes an integer, not `x`"),
        (&["cells=[1,"], "`cells` takes an array of integer, not `[1,`"),
        (&["filter=x"], "`filter` takes an object as JSON, not `x`"),
        (&["path=a", "path=b"], "`path` is given several times and takes one value: a string"),
        (&["path"], "`path` is not `key=value`; write the name of a parameter, `=` and its value"),
        (&["=x"], "`=x` is not `key=value`; write the name of a parameter, `=` and its value"),
        (&["pth=x"], "there is no parameter `pth`; did you mean `path`?"),
        (&["filter.dpth=1"], "there is no parameter `filter.dpth`; did you mean `filter.depth`?"),
        (&["filter.depth=1", "filter={}"], "`filter` is given after a part of it"),
        (&["Limits=1"], "there is no parameter `Limits`; did you mean `limit`?"),
        (&["tag=x"], "there is no parameter `tag`; did you mean `tags` or `optional_tags`?"),
        (&["zzzzzzzz=x"], "there is no parameter `zzzzzzzz`"),
    ];
    for (given, expected) in cases {
        assert_eq!(outcome(TOOL, given), expected, "{given:?}");
    }
    let error =
        from_words(&raw(r#"{"required":["path"],"properties":{"path":{"type":"string"},"n":{}}}"#), &words(&["path"]))
            .unwrap_err();
    assert_eq!(error.hint().unwrap(), "the tool takes path (string, required), n (any)");
    let error = from_words(&raw(r#"{"additionalProperties":false}"#), &words(&["x=1"])).unwrap_err();
    assert_eq!((error.key.as_deref(), error.hint().unwrap().as_str()), (Some("x"), "the tool takes no arguments"));
    let error = from_words(&raw(TOOL), &words(&["limit:={oops"])).unwrap_err();
    assert!(error.to_string().starts_with("`limit` is given with `:=`, but `{oops` is not JSON: "), "{error}");
}

#[test]
fn words_replace_members_of_the_object_they_are_given_with() {
    let cases: [(&str, &[&str], &str); 6] = [
        ("{}", &["limit=1"], r#"{"limit":1}"#),
        (r#"{"path":"a","limit":1.0}"#, &["limit=2", "force=true"], r#"{"path":"a","limit":2,"force":true}"#),
        (r#"{"path" : "a", "x":12345678901234567890123}"#, &[], r#"{"path":"a","x":12345678901234567890123}"#),
        (
            r#"{"filter":{"field":"f","depth":1},"path":"a"}"#,
            &["filter.depth=2"],
            r#"{"filter":{"field":"f","depth":2},"path":"a"}"#,
        ),
        (r#"{"filter":7}"#, &["filter.depth=2"], r#"{"filter":{"depth":2}}"#),
        (r#"{"tags":["a"]}"#, &["tags=b"], r#"{"tags":["b"]}"#),
    ];
    for (object, given, expected) in cases {
        let merged = merge(&raw(TOOL), &raw(object), &words(given)).unwrap();
        assert_eq!(merged.as_str(), expected, "{object} and {given:?}");
    }
}

#[test]
fn json_arguments_are_one_object() {
    let cases = [
        (r#" {"a": 1.50} "#, Ok(r#"{"a": 1.50}"#)),
        ("{}", Ok("{}")),
        ("", Err("the arguments are not JSON: EOF while parsing a value (line 1 column 0)")),
        ("{\n  \"a\": 1,\n}", Err("the arguments are not JSON: key must be a string (line 3 column 1)")),
        ("{} {}", Err("the arguments are not JSON: trailing characters (line 1 column 4)")),
        ("[1]", Err("the arguments must be a JSON object such as {\"key\": \"value\"}, not a list")),
        ("[\"hunter2\"]", Err("the arguments must be a JSON object such as {\"key\": \"value\"}, not a list")),
        ("\"hunter2\"", Err("the arguments must be a JSON object such as {\"key\": \"value\"}, not a text")),
        (" 4711", Err("the arguments must be a JSON object such as {\"key\": \"value\"}, not a number")),
        ("null", Err("the arguments must be a JSON object such as {\"key\": \"value\"}, not `null`")),
        (
            "\"x\u{1b}\"",
            Err(
                "the arguments are not JSON: control character (\\u0000-\\u001F) found while parsing a string (line 1 column 2)",
            ),
        ),
        (r#"{"a":1,"b":2,"a":3}"#, Err("`a` stands twice in the arguments")),
        (r#"{"a":1,"\u0061":3}"#, Err("`a` stands twice in the arguments")),
    ];
    for (text, expected) in cases {
        let found = from_json(text).map(|arguments| arguments.to_string()).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
    }
}

#[test]
fn words_of_servers_and_people_are_made_visible_in_errors() {
    let schema = r#"{"additionalProperties":false,"properties":{"pa\u001bth":{"type":"string"}}}"#;
    let error = from_words(&raw(schema), &words(&["pa\u{202e}th=x"])).unwrap_err();
    let said = format!("{error} {}", error.hint().unwrap());
    assert!(said.contains(r"pa\u{202e}th") && said.contains(r"pa\eth"), "{said}");
    assert!(!said.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{said:?}");
}

#[test]
fn keys_without_end_come_to_an_end() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##;
    assert_eq!(outcome(schema, &[&format!("{}a={{}}", "a.".repeat(20))]).matches("\"a\":").count(), 21);
    assert!(outcome(schema, &[&format!("{}a={{}}", "a.".repeat(50_000))]).starts_with("there is no parameter `a.a."));
}
