//! What each provider documents about declarations, as checks that know nothing of how declarations are made.

use serde_json::{Map, Value};
use toolgate_model::declare::{Declaration, Declarations};
use toolgate_model::provider::Provider;

/// All of them.
pub(crate) const PROVIDERS: [Provider; 3] = [Provider::Gemini, Provider::OpenAi, Provider::Anthropic];

/// What a provider accepts.
struct Subset {
    functions_max: usize,
    name_chars_max: usize,
    name_others: &'static str,
    key_others: &'static str,
    letter_first: bool,
    description_chars_max: usize,
    keywords: &'static [&'static str],
    formats: &'static [&'static str],
    /// Google's rules: a type everywhere, `anyOf` alone, lists of texts only, no object without properties.
    is_google: bool,
}

const GOOGLE: Subset = Subset {
    functions_max: 512,
    name_chars_max: 64,
    name_others: "_.:-",
    key_others: "_",
    letter_first: true,
    description_chars_max: usize::MAX,
    // In both `Schema` of OpenAPI and the list of `parametersJsonSchema`.
    keywords: &[
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minimum",
        "maximum",
        "anyOf",
    ],
    formats: &["date-time"],
    is_google: true,
};

const JSON_SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "default",
];

const OPEN_AI: Subset = Subset {
    functions_max: 128,
    name_chars_max: 64,
    name_others: "_-",
    key_others: "_.-",
    letter_first: false,
    description_chars_max: 1024,
    keywords: JSON_SCHEMA,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    is_google: false,
};

const ANTHROPIC: Subset = Subset {
    functions_max: usize::MAX,
    name_chars_max: 128,
    name_others: "_-",
    description_chars_max: usize::MAX,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
    ..OPEN_AI
};

/// One level of nesting is one schema inside another; beyond this, servers refuse.
const DEPTH_MAX: usize = 40;

/// What is sent of one tool, and of all.
const DECLARATION_BYTES_MAX: usize = 64 * 1024;
const ALL_BYTES_MAX: usize = 1024 * 1024;

/// Everything in which declarations break the rules of a provider.
pub(crate) fn breaches(provider: Provider, declarations: &Declarations) -> Vec<String> {
    let subset = subset(provider);
    let mut found = Vec::new();
    if declarations.accepted.len() > subset.functions_max {
        found.push(format!("{} functions", declarations.accepted.len()));
    }
    let mut names: Vec<&str> = declarations.accepted.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() != declarations.accepted.len() {
        found.push("two functions have the same name".to_owned());
    }
    let mut bytes = 0;
    for declaration in &declarations.accepted {
        let own = serde_json::to_string(&declaration.parameters).unwrap().len();
        bytes += own;
        if own > DECLARATION_BYTES_MAX {
            found.push(format!("{}: {own} bytes", declaration.name));
        }
        found.extend(one(provider, declaration).into_iter().map(|breach| format!("{}: {breach}", declaration.name)));
    }
    if bytes > ALL_BYTES_MAX {
        found.push(format!("{bytes} bytes in all"));
    }
    found
}

fn subset(provider: Provider) -> &'static Subset {
    match provider {
        Provider::Gemini => &GOOGLE,
        Provider::OpenAi => &OPEN_AI,
        Provider::Anthropic => &ANTHROPIC,
    }
}

fn one(provider: Provider, declaration: &Declaration) -> Vec<String> {
    let subset = subset(provider);
    let mut found = Vec::new();
    if !is_word(&declaration.name, subset.name_others, subset.letter_first, subset.name_chars_max) {
        found.push("a name that is not accepted".to_owned());
    }
    if declaration.description.chars().count() > subset.description_chars_max {
        found.push("a description that is too long".to_owned());
    }
    let Some(parameters) = &declaration.parameters else {
        if !subset.is_google {
            found.push("no parameters".to_owned());
        }
        return found;
    };
    if parameters["type"] != "object" || !parameters["properties"].is_object() {
        found.push(format!("the root is no object with properties: {parameters}"));
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum", "const", "not"] {
        if parameters.get(keyword).is_some() {
            found.push(format!("`{keyword}` at the root"));
        }
    }
    if !subset.is_google && !jsonschema::draft202012::meta::is_valid(parameters) {
        found.push(format!("no schema of draft 2020-12: {parameters}"));
    }
    schema(subset, parameters, 0, &mut found);
    found
}

fn is_word(word: &str, others: &str, letter_first: bool, chars_max: usize) -> bool {
    let first = word.chars().next();
    word.chars().all(|letter| letter.is_ascii_alphanumeric() || others.contains(letter))
        && (1..=chars_max).contains(&word.chars().count())
        && (!letter_first || first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_'))
}

fn schema(subset: &Subset, schema: &Value, depth: usize, found: &mut Vec<String>) {
    let Value::Object(map) = schema else { return found.push(format!("a schema that is no object: {schema}")) };
    if depth > DEPTH_MAX {
        return found.push("nested too deep".to_owned());
    }
    for key in map.keys().filter(|key| !subset.keywords.contains(&key.as_str())) {
        found.push(format!("the keyword `{key}`"));
    }
    keywords(subset, map, found);
    if subset.is_google {
        google(map, found);
    }
    for (key, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !is_word(key, subset.key_others, subset.letter_first, 64) {
            found.push(format!("the key {key:?}"));
        }
        self::schema(subset, property, depth + 1, found);
    }
    if let Some(items) = map.get("items") {
        self::schema(subset, items, depth + 1, found);
    }
    if let Some(others) = map.get("additionalProperties").filter(|others| !others.is_boolean()) {
        self::schema(subset, others, depth + 1, found);
    }
    for alternative in map.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        self::schema(subset, alternative, depth + 1, found);
    }
}

fn keywords(subset: &Subset, map: &Map<String, Value>, found: &mut Vec<String>) {
    let kind = map.get("type");
    let names = ["string", "number", "integer", "boolean", "array", "object", "null"];
    if kind.is_some_and(|kind| !kind.as_str().is_some_and(|kind| names.contains(&kind))) {
        found.push(format!("the type {kind:?}"));
    }
    let is = |name: &str| kind.is_some_and(|kind| kind == name);
    if is("array") && !map.contains_key("items") {
        found.push("a list without `items`".to_owned());
    }
    if is("object") && !map.get("properties").is_some_and(Value::is_object) {
        found.push("an object without `properties`".to_owned());
    }
    if map.get("format").is_some_and(|format| !subset.formats.contains(&format.as_str().unwrap_or_default())) {
        found.push(format!("the format {}", map["format"]));
    }
    for keyword in ["enum", "anyOf", "required"] {
        if map.get(keyword).is_some_and(|list| list.as_array().is_none_or(Vec::is_empty)) {
            found.push(format!("an empty `{keyword}`"));
        }
    }
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten() {
        if map.get("properties").and_then(|all| all.get(name.as_str().unwrap_or_default())).is_none() {
            found.push(format!("{name} is required and no property"));
        }
    }
}

fn google(map: &Map<String, Value>, found: &mut Vec<String>) {
    if map.contains_key("anyOf") {
        if map.len() > 1 {
            found.push("something beside `anyOf`".to_owned());
        }
        return;
    }
    let kind = map.get("type").and_then(Value::as_str);
    if kind.is_none() {
        found.push("no type".to_owned());
    }
    if kind == Some("object") && map["properties"].as_object().is_none_or(Map::is_empty) {
        found.push("an object without any property".to_owned());
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        if kind != Some("string") || !values.iter().all(is_text) {
            found.push(format!("values that are no texts: {values:?}"));
        }
    }
    for keyword in ["minItems", "maxItems"] {
        if map.contains_key(keyword) && kind != Some("array") {
            found.push(format!("`{keyword}` without a list"));
        }
    }
}
