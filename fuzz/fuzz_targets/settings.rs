//! Settings files: no text breaks the reader, what it says has a place and a bound, and what the schema allows is read without a word.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgate::limits::{EXCERPT_CHARS, SETTINGS_DEPTH_MAX, SETTINGS_DIAGNOSTICS_MAX};
use toolgate::servers::{Switches, resolve};
use toolgate::settings::read::read_text;
use toolgate::settings::{Diagnostic, SettingsLayer, SettingsSource, json_schema};
use toolgate::{HostDirs, HostEnv, SystemClock};

/// What one problem may say at most: a path of keys of some hundred characters each, escaped, and two sentences.
const DIAGNOSTIC_BYTES_MAX: usize = 20_000;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(&json_schema()).unwrap_or_else(|error| panic!("the schema is no JSON: {error}"));
    jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("the schema is none: {error}"))
});

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let plain = serde_json::from_str::<Value>(&text).ok();
    match read_text(&text, Path::new("s.json"), SettingsSource::User) {
        Ok(layer) => {
            let lines = text.matches('\n').count() + 1;
            assert!(layer.diagnostics.len() <= SETTINGS_DIAGNOSTICS_MAX + 1);
            layer.diagnostics.iter().for_each(|diagnostic| has_place_and_bound(diagnostic, lines));
            if let Some(plain) = &plain {
                compare_with_plain_parsing(&layer, plain, &text);
            }
            servers_are_those_of_the_file(&layer);
        }
        Err(error) => {
            let diagnostic = error.diagnostic();
            assert!(diagnostic.origin.line.is_some() && diagnostic.column.is_some(), "{error}");
            let excerpt = error.excerpt().unwrap_or_default();
            assert!(excerpt.lines().all(|line| line.chars().count() <= EXCERPT_CHARS + 40), "{excerpt}");
            if let Some(Value::Object(_)) = &plain {
                // JSON lets a text have U+007F, nest deeper, and have a key twice.
                let is_refused = text.contains('\u{7f}')
                    || text.matches(['{', '[']).count() > SETTINGS_DEPTH_MAX
                    || diagnostic.message.starts_with("written twice");
                assert!(is_refused, "JSON is refused: {error}: {text}");
            }
        }
    }
});

fn has_place_and_bound(diagnostic: &Diagnostic, lines: usize) {
    let Diagnostic { origin, column, message, hint, .. } = diagnostic;
    assert!(origin.line.is_none_or(|line| (1..=lines).contains(&line)), "{diagnostic}");
    assert!(column.is_none_or(|column| column > 0) && origin.line.is_some() == column.is_some(), "{diagnostic}");
    let hint = hint.as_deref().unwrap_or_default();
    let said = diagnostic.to_string();
    assert!(said.len() + hint.len() <= DIAGNOSTIC_BYTES_MAX, "{} bytes are said", said.len());
    let is_visible = |text: &str| !text.chars().any(char::is_control);
    assert!(is_visible(message) && is_visible(hint), "{said:?}");
}

/// JSON that any reader understands must be understood in the same way.
fn compare_with_plain_parsing(layer: &SettingsLayer, plain: &Value, text: &str) {
    let written = plain["mcpServers"].as_object().map(|servers| servers.keys().map(String::as_str).collect());
    let read: BTreeSet<&str> = layer.settings.mcp_servers.iter().map(|entry| entry.name.value.as_str()).collect();
    assert_eq!(read, written.unwrap_or_default(), "{text}");
    if SCHEMA.is_valid(plain) {
        // A key that other clients may have can look like a typo.
        let wrong = layer.diagnostics.iter().find(|one| one.message != "unknown key");
        assert!(wrong.is_none(), "the schema takes {text}, the reader says {wrong:?}");
    }
}

/// Every entry becomes a server or is set aside, none becomes two, and nothing else appears.
fn servers_are_those_of_the_file(layer: &SettingsLayer) {
    let vars = [("HOME", "/h"), ("A", "$A"), ("EMPTY", "")];
    let env = HostEnv {
        vars: vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect::<BTreeMap<_, _>>(),
        dirs: HostDirs { user: "/h/.toolgate".into(), system: "/s".into(), home: Some("/h".into()) },
        workspace: "/w".into(),
        clock: Arc::new(SystemClock),
    };
    let servers = resolve(std::slice::from_ref(layer), &Switches::default(), &env);
    let active = servers.active.iter().map(|server| server.name.as_str());
    let mut known: Vec<&str> = active.chain(servers.set_aside.iter().map(|one| one.name.as_str())).collect();
    let mut written: Vec<&str> = layer.settings.mcp_servers.iter().map(|entry| entry.name.value.as_str()).collect();
    known.sort_unstable();
    written.sort_unstable();
    assert_eq!(known, written);
    assert!(servers.diagnostics.len() <= 2 * (SETTINGS_DIAGNOSTICS_MAX + 1));
}
