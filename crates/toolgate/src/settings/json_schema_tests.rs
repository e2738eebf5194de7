//! Tests of the schema against the reader: for every key of the table both take the same values and refuse the same ones.

use std::path::Path;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::json_schema;
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::{CONNECT_LIMIT_MAX, RUNNING_CALLS_MAX, SERVER_NAME_CHARS_MAX, TIME_LIMIT_MS_MAX};
use crate::servers::{Switches, resolve};
use crate::settings::keys::key::{Amount, Least, visit};
use crate::settings::keys::{Key, Object, Shape, TOP, Unknown};
use crate::settings::read::read_text;
use crate::settings::{Diagnostic, SettingsSource};

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("no schema: {error}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// A settings file with nothing but one key, on a line of its own.
fn file_with(path: &str, value: &Value) -> String {
    let mut keys: Vec<&str> = path.split('.').collect();
    let last = keys.pop().unwrap();
    let opening: String = keys.iter().map(|key| format!("{{\"{}\": ", key.replace('*', "x"))).collect();
    format!("{opening}{{\n  \"{last}\": {value}\n}}{}", "}".repeat(keys.len()))
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    read_text(text, Path::new("s.json"), SettingsSource::User).unwrap().diagnostics
}

/// With what the next stage says about servers.
fn all_diagnostics(text: &str) -> Vec<Diagnostic> {
    let dirs = HostDirs { user: "/u".into(), system: "/s".into(), home: None };
    let env = HostEnv { vars: Default::default(), dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) };
    let layer = read_text(text, Path::new("s.json"), SettingsSource::User).unwrap();
    resolve(&[layer], &Switches::default(), &env).diagnostics
}

fn right_values(shape: Shape) -> Vec<Value> {
    match shape {
        Shape::Text => vec![json!("text"), json!("")],
        Shape::List | Shape::ListOrOne => vec![json!([]), json!(["one", "two"])],
        Shape::ListOrAll => vec![json!([]), json!(["one", "T*"]), json!(true), json!(false)],
        Shape::Map => vec![json!({}), json!({"NAME": "value"})],
        Shape::Number(amount) => numbers_within(amount),
        Shape::Truth => vec![json!(true), json!(false)],
        Shape::Word(words) => words.iter().map(|word| json!(word)).collect(),
        Shape::Object(Object { unknown: Unknown::Reported, .. }) => vec![json!({})],
        Shape::Object(Object { unknown: Unknown::Kept, .. }) => vec![json!({}), json!({"zzzzzzzz": [1]})],
        Shape::Servers(_) => vec![json!({}), json!({"a": {}, "b 漢": {"command": "c"}})],
        Shape::Anything => vec![json!("x"), json!({"a": [1, null]}), json!([]), json!(5)],
    }
}

fn wrong_values(shape: Shape) -> Vec<Value> {
    match shape {
        Shape::Text => vec![json!(5), json!(true), json!([]), json!({}), json!(["text"])],
        Shape::List => vec![json!(5), json!("text"), json!({}), json!([null]), json!(["a", []])],
        Shape::ListOrOne => vec![json!(5), json!(false), json!({}), json!([null]), json!(["a", {}])],
        Shape::ListOrAll => vec![json!(5), json!({}), json!([null]), json!(["a", {}])],
        Shape::Map => vec![json!(5), json!("A=b"), json!(["A=b"]), json!({"A": null}), json!({"A": ["b"]})],
        Shape::Number(amount) => {
            let mut wrong = vec![json!("soon"), json!(true), json!([]), json!({"ms": 5})];
            // Of a server, the next stage says it.
            if !matches!(amount.unit, "milliseconds" | "calls") {
                wrong.extend(numbers_beyond(amount));
            }
            wrong
        }
        Shape::Truth => vec![json!(1), json!("yes"), json!([]), json!({})],
        Shape::Word(_) => vec![json!("banana"), json!(""), json!(1), json!(["auto"])],
        Shape::Object(Object { unknown, .. }) => {
            let mut wrong = vec![json!(5), json!("text"), json!([]), json!(true)];
            wrong.extend((unknown == Unknown::Reported).then(|| json!({"zzzzzzzz": 1})));
            wrong
        }
        Shape::Servers(_) => vec![json!([]), json!("x"), json!({"a": 5}), json!({"a": null}), json!({"a": {"b": 1}})],
        Shape::Anything => vec![],
    }
}

fn numbers_within(amount: Amount) -> Vec<Value> {
    let least = match amount.least {
        Least::Any => json!(-1.5),
        Least::From(least) => json!(least),
        Least::MoreThan(less) => json!(less + 1),
    };
    vec![least, json!(amount.most.unwrap_or(1_000_000))]
}

fn numbers_beyond(amount: Amount) -> Vec<Value> {
    let less = match amount.least {
        Least::Any => None,
        Least::From(least) => Some(json!(i64::try_from(least).unwrap() - 1)),
        Least::MoreThan(less) => Some(json!(less)),
    };
    less.into_iter().chain(amount.most.map(|most| json!(most + 1))).collect()
}

#[test]
fn reader_and_schema_take_the_same_values_of_every_key() {
    let validator = validator();
    let mut keys = 0;
    visit(TOP, "", &mut |path: &str, key: &'static Key| {
        keys += 1;
        for value in right_values(key.shape) {
            let text = file_with(path, &value);
            assert_eq!(diagnostics(&text), [], "{text}");
            let instance = serde_json::from_str(&text).unwrap();
            let violation = validator.validate(&instance).err();
            assert!(violation.is_none(), "{text}: {violation:?}");
        }
        for value in wrong_values(key.shape) {
            let text = file_with(path, &value);
            let found = diagnostics(&text);
            let [diagnostic] = found.as_slice() else { panic!("{text}: {found:?}") };
            assert_eq!(diagnostic.origin.line, Some(2), "{text}: {diagnostic}");
            let least = "  \"".len() + key.name.len() + "\": ".len();
            assert!(diagnostic.column.is_some_and(|column| column > least), "{text}: {diagnostic}");
            assert!(diagnostic.hint.is_some(), "{text}: {diagnostic}");
            assert!(!validator.is_valid(&serde_json::from_str(&text).unwrap()), "the schema takes {text}");
        }
    });
    assert!(keys > 80, "{keys} keys");
}

#[test]
fn bounds_and_names_of_servers_are_those_of_the_next_stage() {
    let validator = validator();
    let server = |field: Value| {
        let mut entry = json!({"command": "c"});
        entry.as_object_mut().unwrap().extend(field.as_object().unwrap().clone());
        json!({"mcpServers": {"x": entry}})
    };
    let named = |name: &str| json!({"mcpServers": {name: {"command": "c"}}});
    let long = "x".repeat(SERVER_NAME_CHARS_MAX);
    let right = [
        server(json!({"timeout": TIME_LIMIT_MS_MAX})),
        server(json!({"connectTimeout": 1000})),
        server(json!({"maxDuration": 1000.5})),
        server(json!({"maxConcurrency": RUNNING_CALLS_MAX})),
        server(json!({"maxConcurrency": 1})),
        json!({"mcp": {"connectLimit": CONNECT_LIMIT_MAX}}),
        named("中 文"),
        named(&long),
    ];
    let wrong = [
        server(json!({"timeout": 0})),
        server(json!({"timeout": TIME_LIMIT_MS_MAX + 1})),
        server(json!({"connectTimeout": -1})),
        server(json!({"maxDuration": 1e300})),
        server(json!({"maxConcurrency": 0})),
        server(json!({"maxConcurrency": RUNNING_CALLS_MAX + 1})),
        json!({"mcp": {"connectLimit": CONNECT_LIMIT_MAX + 1}}),
        named(""),
        named(" "),
        named("a\u{7}"),
        named("a\u{85}"),
        named(&format!("{long}x")),
    ];
    for instance in right {
        assert_eq!(all_diagnostics(&instance.to_string()), []);
        assert!(validator.is_valid(&instance), "{instance}");
    }
    for instance in wrong {
        assert_eq!(all_diagnostics(&instance.to_string()).len(), 1, "{instance}");
        assert!(!validator.is_valid(&instance), "{instance}");
    }
}

/// The reader takes these, most with a warning; who writes with the help of an editor is told to write them right.
#[test]
fn what_only_the_reader_takes_is_known() {
    let lenient: &[(&str, Value, usize)] = &[
        ("mcpServers.*.timeout", json!("30000"), 1),
        ("mcp.connectLimit", json!("3"), 1),
        ("runtime.idleMinutes", json!("5"), 1),
        ("mcpServers.*.trust", json!("True"), 1),
        ("security.strict", json!("false"), 1),
        ("mcpServers.*.excludeTools", json!("one"), 1),
        ("policyPaths", json!("one"), 1),
        ("mcpServers.*.args", json!([1, true]), 2),
        ("mcpServers.*.env", json!({"PORT": 8080}), 1),
        ("tools.allowed", json!([1]), 1),
        ("mcpServers.*.type", json!("streamable-http"), 1),
        ("mcpServers.*.command", Value::Null, 0),
        ("mcpServers.*.oauth", Value::Null, 0),
        ("model", Value::Null, 0),
        ("audit.fsync", Value::Null, 0),
    ];
    let validator = validator();
    for (path, value, warnings) in lenient {
        let text = file_with(path, value);
        assert_eq!(diagnostics(&text).len(), *warnings, "{text}");
        assert!(diagnostics(&text).iter().all(|one| one.severity == crate::settings::Severity::Warning), "{text}");
        assert!(!validator.is_valid(&serde_json::from_str(&text).unwrap()), "{text}");
    }
}

#[test]
fn mistyped_keys_in_every_object_name_the_nearest_one() {
    visit(TOP, "", &mut |path, key| {
        // One letter of so short a key can mean anything.
        if key.name.len() < 4 {
            return;
        }
        let mistyped = format!("{path}q");
        let text = file_with(&mistyped, &json!(1));
        let found = diagnostics(&text);
        let [diagnostic] = found.as_slice() else { panic!("{text}: {found:?}") };
        assert_eq!(diagnostic.message, "unknown key", "{text}");
        assert_eq!(diagnostic.hint.as_deref(), Some(format!("did you mean `{}`?", key.name).as_str()), "{text}");
        assert_eq!((diagnostic.origin.line, diagnostic.column), (Some(2), Some(3)), "{text}");
    });
}
