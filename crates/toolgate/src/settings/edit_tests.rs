//! Edits as texts: what is there, what is done, what comes out.

use super::{Json, get, has, remove, set};

fn server(command: &str) -> Json {
    Json::Object(vec![("command".to_owned(), Json::text(command)), ("args".to_owned(), Json::texts(["-y"]))])
}

#[track_caller]
fn check_set(text: &str, path: &[&str], value: &Json, expected: &str) {
    assert_eq!(set(text, path, value).unwrap(), expected, "in:\n{text}");
}

#[track_caller]
fn check_remove(text: &str, path: &[&str], expected: &str) {
    assert_eq!(remove(text, path).unwrap().as_deref(), Some(expected), "in:\n{text}");
}

#[test]
fn a_new_file_is_pretty() {
    let fresh = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  }\n}\n";
    for text in ["", "  \n\n", "\n"] {
        check_set(text, &["mcpServers", "a"], &server("x"), fresh);
    }
    check_set("\u{feff}", &["mcpServers", "a"], &server("x"), &format!("\u{feff}{fresh}"));
    check_set("// mine", &["mcpServers", "a"], &server("x"), &format!("// mine\n{fresh}"));
    check_set("/* mine */\r\n", &["a"], &Json::from(1), "/* mine */\r\n{\r\n  \"a\": 1\r\n}\r\n");
    check_set("{}", &["mcpServers", "a"], &server("x"), fresh.trim_end());
}

#[test]
fn members_are_added_in_the_manner_of_the_object() {
    let one = Json::from(1);
    let cases = [
        // Empty objects.
        ("{}", "{\n  \"new\": 1\n}"),
        ("{ }\n", "{\n  \"new\": 1\n}\n"),
        ("{\n\n}\n", "{\n  \"new\": 1\n}\n"),
        ("{ /* c */ }", "{ /* c */ \"new\": 1 }"),
        ("{ // c\n}", "{ // c\n  \"new\": 1\n}"),
        ("{\n  // c\n}", "{\n  \"new\": 1\n  // c\n}"),
        ("{\r\n\t// c\r\n}", "{\r\n  \"new\": 1\r\n\t// c\r\n}"),
        // One line.
        ("{\"a\":1}", "{\"a\":1,\"new\":1}"),
        ("{ \"a\": 1 }", "{ \"a\": 1, \"new\": 1 }"),
        ("{\"a\": 1,}", "{\"a\": 1, \"new\": 1,}"),
        ("{\"a\": 1 /* c */}", "{\"a\": 1 /* c */, \"new\": 1}"),
        ("{\"a\": 1 // c\n}", "{\"a\": 1, // c\n  \"new\": 1\n}"),
        ("{\"a\": 1, // c\n}", "{\"a\": 1, // c\n  \"new\": 1,\n}"),
        // Many lines.
        ("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"new\": 1\n}\n"),
        ("{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"new\": 1\n}"),
        ("{\r\n    \"a\": 1\r\n}", "{\r\n    \"a\": 1,\r\n    \"new\": 1\r\n}"),
        ("{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"new\": 1,\n}"),
        ("{\n  \"a\": 1 // c\n}", "{\n  \"a\": 1, // c\n  \"new\": 1\n}"),
        ("{\n  \"a\": 1, // c\n  // d\n}", "{\n  \"a\": 1, // c\n  \"new\": 1,\n  // d\n}"),
        ("{\n  \"a\": 1 /* c\n d */\n}", "{\n  \"a\": 1, /* c\n d */\n  \"new\": 1\n}"),
        ("{\n  \"a\": 1\n  // \"b\": 2\n}", "{\n  \"a\": 1,\n  \"new\": 1\n  // \"b\": 2\n}"),
        ("{\n  \"a\": 1\n  , // c\n}", "{\n  \"a\": 1\n  , // c\n  \"new\": 1,\n}"),
        ("{\n  \"a\": 1 }", "{\n  \"a\": 1,\n  \"new\": 1 }"),
        ("{ \"a\": 1,\n  \"b\": 2 }", "{ \"a\": 1,\n  \"b\": 2,\n  \"new\": 1 }"),
        ("\u{feff}{\n \"a\": 1\n}", "\u{feff}{\n \"a\": 1,\n \"new\": 1\n}"),
    ];
    for (text, expected) in cases {
        check_set(text, &["new"], &one, expected);
    }
}

#[test]
fn entries_look_like_their_neighbours() {
    let cases = [
        // Indentation by tabs, by four, and of an object that is not where it should be.
        (
            "{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"url\": \"x\"\n\t\t}\n\t}\n}",
            "{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"url\": \"x\"\n\t\t},\n\t\t\"b\": {\n\t\t\t\"command\": \"x\",\n\t\t\t\"args\": [\n\t\t\t\t\"-y\"\n\t\t\t]\n\t\t}\n\t}\n}",
        ),
        (
            "{\n    \"mcpServers\": {}\n}",
            "{\n    \"mcpServers\": {\n        \"b\": {\n            \"command\": \"x\",\n            \"args\": [\n                \"-y\"\n            ]\n        }\n    }\n}",
        ),
        // One line stays one line.
        (
            "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"x\"} // c\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"x\"}, // c\n    \"b\": {\"command\": \"x\", \"args\": [\"-y\"]}\n  }\n}",
        ),
        ("{\"mcpServers\":{}}", "{\"mcpServers\":{\"b\":{\"command\":\"x\",\"args\":[\"-y\"]}}}"),
        (
            "{\"mcpServers\": {\"a\": {}}}",
            "{\"mcpServers\": {\"a\": {}, \"b\": {\"command\": \"x\", \"args\": [\"-y\"]}}}",
        ),
        // What is made on the way is pretty even beside a section on one line.
        (
            "{\n  \"mcp\": {\"excluded\": [\"x\"]}\n}\n",
            "{\n  \"mcp\": {\"excluded\": [\"x\"]},\n  \"mcpServers\": {\n    \"b\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  }\n}\n",
        ),
        // A section that is `null` is as good as none.
        (
            "{\n  \"mcpServers\": null // none yet\n}",
            "{\n  \"mcpServers\": {\n    \"b\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  } // none yet\n}",
        ),
    ];
    for (text, expected) in cases {
        check_set(text, &["mcpServers", "b"], &server("x"), expected);
    }
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let text = "{ // mine\n  \"mcpServers\": { /* all */\n    \"a\": { // old\n      \"url\": \"${URL}\"\n    }, // about a\n    \"b\": {\"url\": \"$B\"}\n  }\n}";
    let expected = "{ // mine\n  \"mcpServers\": { /* all */\n    \"a\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    }, // about a\n    \"b\": {\"url\": \"$B\"}\n  }\n}";
    check_set(text, &["mcpServers", "a"], &server("x"), expected);
    let expected = "{ // mine\n  \"mcpServers\": { /* all */\n    \"a\": { // old\n      \"url\": \"${URL}\"\n    }, // about a\n    \"b\": {\"command\": \"x\", \"args\": [\"-y\"]}\n  }\n}";
    check_set(text, &["mcpServers", "b"], &server("x"), expected);
    // The one that counts.
    check_set("{\"a\": 1, \"a\": 2}", &["a"], &Json::from(3), "{\"a\": 1, \"a\": 3}");
    check_set("{\"a\": {\"b\": 1}, \"a\": {}}", &["a", "b"], &Json::from(3), "{\"a\": {\"b\": 1}, \"a\": {\"b\": 3}}");
    // Keys may be written with escapes.
    check_set("{\"\\u0061\": 1}", &["a"], &Json::Null, "{\"\\u0061\": null}");
}

#[test]
fn strings_are_written_so_that_they_can_be_read() {
    let odd = "\" \\ \n \r \t \0 \u{1b} \u{7f} é 漢 \u{1f600} $HOME";
    let text = set("{}", &[odd], &Json::text(odd)).unwrap();
    assert!(!text.trim().chars().any(|letter| letter.is_control() && letter != '\n'), "{text}");
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, serde_json::json!({ odd: odd }));
    assert!(has(&text, &[odd]).unwrap());
}

#[test]
fn what_belongs_to_an_entry_goes_with_it() {
    let cases = [
        // Alone.
        ("{\"x\": 1}", "{}"),
        ("{ \"x\": 1, }", "{}"),
        ("{\n  \"x\": 1\n}\n", "{}\n"),
        ("{\n  // about x\n  \"x\": 1\n}\n", "{}\n"),
        ("{ // mine\n  \"x\": 1\n}\n", "{ // mine\n}\n"),
        ("{ /* c */ \"x\": 1 }", "{ /* c */  }"),
        // First, middle, last, on lines.
        ("{\n  \"x\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\n  \"a\": 1,\n  \"x\": 2,\n  \"b\": 3\n}", "{\n  \"a\": 1,\n  \"b\": 3\n}"),
        ("{\n  \"a\": 1,\n  \"x\": 2\n}", "{\n  \"a\": 1\n}"),
        ("{\n  \"a\": 1,\n  \"x\": 2,\n}", "{\n  \"a\": 1,\n}"),
        ("{\r\n\t\"a\": 1,\r\n\t\"x\": 2\r\n}\r\n", "{\r\n\t\"a\": 1\r\n}\r\n"),
        // Comments: those on its line and right above it are its own, others are not.
        (
            "{\n  \"a\": 1, // about a\n  // about x\n  /* and more\n  of it */\n  \"x\": 2 // x\n  // end\n}",
            "{\n  \"a\": 1 // about a\n  // end\n}",
        ),
        ("{\n  // head\n\n  \"x\": 2,\n  // about b\n  \"b\": 3\n}", "{\n  // head\n\n  // about b\n  \"b\": 3\n}"),
        ("{\n  \"a\": 1, /* spans\n  lines */\n  \"x\": 2\n}", "{\n  \"a\": 1 /* spans\n  lines */\n}"),
        ("{\n  \"x\": 1, /* x */ // x\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\n  \"x\": 1, /* about */ \"b\": 2\n}", "{\n  /* about */ \"b\": 2\n}"),
        ("{\n  \"x\": 1 // x\n  , \"b\": 2\n}", "{\n   // x\n   \"b\": 2\n}"),
        // On one line.
        ("{\"x\": 1, \"b\": 2}", "{\"b\": 2}"),
        ("{\"a\":1,\"x\":2,\"b\":3}", "{\"a\":1,\"b\":3}"),
        ("{ \"a\": 1, \"x\": 2 }", "{ \"a\": 1 }"),
        ("{\"a\": 1, /* c */ \"x\": 2}", "{\"a\": 1 /* c */ }"),
        ("{ \"a\": 1,\n  \"x\": 2 }", "{ \"a\": 1 }"),
        ("{\n    \"a\": 1\n  , \"x\": 2\n  , \"b\": 3\n}", "{\n    \"a\": 1\n  , \"b\": 3\n}"),
        ("{\n    \"a\": 1\n  , \"x\": 2\n}", "{\n    \"a\": 1\n  \n}"),
        // Written twice.
        ("{\"x\": 1, \"a\": 2, \"x\": 3}", "{\"a\": 2}"),
        ("{\n  \"x\": 1,\n  \"a\": 2,\n  // again\n  \"x\": 3\n}", "{\n  \"a\": 2\n}"),
        ("{\n  \"a\": 2,\n  \"x\": 1,\n  \"x\": 3\n}", "{\n  \"a\": 2\n}"),
        ("{\"x\": 1, \"x\": 3}", "{}"),
        ("\u{feff}{\"x\": 1, \"b\": 2}", "\u{feff}{\"b\": 2}"),
    ];
    for (text, expected) in cases {
        check_remove(text, &["x"], expected);
    }
    check_remove(
        "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"x\": {\n      \"url\": \"u\"\n    }\n  },\n}",
        &["mcpServers", "x"],
        "{\n  \"mcpServers\": {\n    \"a\": {}\n  },\n}",
    );
}

#[test]
fn what_is_not_there_is_not_removed() {
    let cases: [(&str, &[&str]); 6] = [
        ("", &["x"]),
        ("// \"x\": 1", &["x"]),
        ("{}", &["x"]),
        ("{\"a\": {\"b\": 1}}", &["a", "x"]),
        ("{\"a\": null}", &["a", "x"]),
        ("{\"a\": {\"x\": 1}, \"a\": {}}", &["a", "x"]),
    ];
    for (text, path) in cases {
        assert_eq!(remove(text, path).unwrap(), None, "{text}");
        assert!(!has(text, path).unwrap(), "{text}");
    }
}

#[test]
fn values_are_read_in_their_order() {
    let text = "\u{feff}{ // c\n \"b\": {\"x\": [1.50, null], \"a\": \"$T\"}, \"a\": true}";
    let inner = Json::Object(vec![
        ("x".to_owned(), Json::List(vec![Json::Number("1.50".parse().unwrap()), Json::Null])),
        ("a".to_owned(), Json::text("$T")),
    ]);
    let whole = Json::Object(vec![("b".to_owned(), inner.clone()), ("a".to_owned(), Json::from(true))]);
    assert_eq!(get(text, &[]).unwrap(), Some(whole));
    assert_eq!(get(text, &["b"]).unwrap(), Some(inner));
    assert_eq!(get(text, &["b", "c"]).unwrap(), None);
    assert_eq!(get("// none", &[]).unwrap(), None);
}

#[test]
fn what_cannot_be_changed_says_why_and_where() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let cases: [(&str, &[&str], &str); 9] = [
        ("{\n  \"a\": oops\n}", &["x"], "2:8: expected JSON"),
        ("{\n  \"a\": 1", &["x"], "1:1: expected `}` at the end of the object that starts here"),
        ("{\n  \"a\": \"\0\"}", &["x"], "2:9: the control character U+0000 has no place in a settings file"),
        ("[1]", &["x"], "1:1: expected `{`: the file has to be one object"),
        ("// c\n\"text\"", &["x"], "2:1: expected `{`: the file has to be one object"),
        ("{}{}", &["x"], "1:3: expected the end of the file"),
        ("{\n  \"mcpServers\": []\n}", &["mcpServers", "x"], "2:17: mcpServers: expected an object, found a list"),
        ("{\"a\": {\"b c\": \"t\"}}", &["a", "b c", "x"], "1:15: a[\"b c\"]: expected an object, found a string"),
        (&deep, &["x"], "1:70: more than 64 levels of `{` and `[`"),
    ];
    for (text, path, expected) in cases {
        assert_eq!(set(text, path, &Json::Null).unwrap_err().to_string(), expected, "{text}");
        assert_eq!(remove(text, path).unwrap_err().to_string(), expected, "{text}");
        assert_eq!(has(text, path).unwrap_err().to_string(), expected, "{text}");
    }
    // What would be too deep to be read again is not written.
    let deep = (0..100).fold(Json::Null, |inner, _| Json::List(vec![inner]));
    assert!(set("{}", &["x"], &deep).is_err());
}

#[test]
fn large_files_are_changed_in_one_pass() {
    let members: Vec<String> =
        (0..60_000).map(|number| format!("  \"x\": {number}, // {number}\n  \"k{number}\": 1")).collect();
    let text = format!("{{\n{}\n}}", members.join(",\n"));
    let left = remove(&text, &["x"]).unwrap().unwrap();
    assert!(!left.contains("\"x\""));
    assert!(set(&left, &["x"], &Json::from(1)).unwrap().ends_with("\"k59999\": 1,\n  \"x\": 1\n}"));
}
