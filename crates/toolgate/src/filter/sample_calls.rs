//! Calls that an entry of `includeTools` is about. When none of them passes the filter, no call does: what restricts reaches everything
//! below what it names, so what holds for the least call holds for the others.

use serde_json::{Map, Value, json};

use super::argument_pattern::ArgumentPattern;
use super::place::Place;

/// What a star is replaced with. Several, because an exclude entry could name one of them.
const FILLINGS: [&str; 3] = ["toolgate-sample", "0", "k"];

/// Keys under which a text without a key is tried.
const TRIED_KEYS: [&str; 7] = ["path", "file_path", "dir_path", "uri", "url", "text", "command"];

/// Arguments that the pattern is about.
pub(super) fn sample_calls(pattern: &ArgumentPattern) -> Vec<Value> {
    match pattern {
        ArgumentPattern::Any => vec![json!({})],
        ArgumentPattern::Text(text) => {
            let texts = examples(text);
            let of_key = |key: &'static str| texts.iter().map(move |text| member(key, Value::from(text.as_str())));
            TRIED_KEYS.into_iter().flat_map(of_key).collect()
        }
        ArgumentPattern::Key { key, pattern } => examples(pattern)
            .into_iter()
            .flat_map(|text| {
                let value = Value::from(text);
                let nested = key.rsplit('.').fold(value.clone(), |inside, step| member(step, inside));
                [nested, member(key, value)]
            })
            .collect(),
    }
}

/// Texts that a pattern certainly means: itself, with its stars replaced, and without its detours.
fn examples(pattern: &str) -> Vec<String> {
    let mut examples = vec![pattern.to_owned()];
    if pattern.contains('*') {
        examples.extend(FILLINGS.iter().map(|filling| filled(pattern, filling)));
    }
    let direct: Vec<String> = examples.iter().map(|example| Place::read(example).to_string()).collect();
    for example in direct {
        if !examples.contains(&example) {
            examples.push(example);
        }
    }
    examples
}

fn filled(pattern: &str, filling: &str) -> String {
    let parts: Vec<&str> = pattern.split('*').collect();
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        let is_second_star = at > 1 && parts.get(at - 1).is_some_and(|before| before.is_empty());
        if at > 0 && !is_second_star {
            text.push_str(filling);
        }
        text.push_str(part);
    }
    text
}

fn member(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}
