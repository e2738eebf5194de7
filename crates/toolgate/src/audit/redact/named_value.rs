//! Secrets in objects where one member names another (`{"name": "API_KEY", "value": "…"}`), private keys as JSON, and member names
//! that are secrets themselves.

use serde_json::{Map, Value};

use crate::servers::secret_name::names_a_secret;
use crate::servers::secret_text::{self, COVERED};

/// Members that name another member.
const NAMES: [&str; 8] = ["name", "key", "header", "variable", "field", "label", "attribute", "k"];

/// Members with the value.
const VALUES: [&str; 8] = ["value", "values", "val", "v", "default", "content", "secretvalue", "text"];

/// Members that say into which field of a page something is written.
const FIELDS: [&str; 10] =
    ["type", "id", "n", "selector", "element", "locator", "placeholder", "field", "target", "label"];

/// Words in the description of a field that is for a secret.
const FIELD_WORDS: [&str; 6] = ["password", "passwd", "passcode", "passphrase", "secret", "token"];

/// Private members of a JSON Web Key.
const OF_KEYS: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// Minimum length of a member name that may be a secret itself.
const NAME_BYTES_MIN: usize = 12;

/// Masks the secrets and counts them.
pub(super) fn cover(members: &mut Map<String, Value>) -> usize {
    let is_called = |all: &[&str], key: &str| all.iter().any(|one| one.eq_ignore_ascii_case(key));
    let names_one = |(key, value): (&String, &Value)| {
        is_called(&NAMES, key) && value.as_str().is_some_and(|name| !name.contains(' ') && names_a_secret(name))
    };
    let describes_one = |(key, value): (&String, &Value)| {
        let describes = |text: &str| {
            let text = text.to_ascii_lowercase();
            FIELD_WORDS.iter().any(|word| text.contains(word))
        };
        is_called(&FIELDS, key) && value.as_str().is_some_and(describes)
    };
    let is_named = members.iter().any(names_one) || members.iter().any(describes_one);
    let is_key = members.get("kty").is_some_and(Value::is_string);
    let mut covered = 0;
    for (key, value) in members.iter_mut() {
        let is_secret = (is_named && is_called(&VALUES, key)) || (is_key && OF_KEYS.contains(&key.as_str()));
        if is_secret && !matches!(value, Value::Null | Value::Bool(_)) && value.as_str() != Some(COVERED) {
            *value = Value::from(COVERED);
            covered += 1;
        }
    }
    covered + cover_names(members)
}

/// Masks member names that are secrets.
fn cover_names(members: &mut Map<String, Value>) -> usize {
    let is_secret = |name: &&String| name.len() >= NAME_BYTES_MIN && secret_text::covered(name) != **name;
    if !members.keys().any(|name| is_secret(&name)) {
        return 0;
    }
    let mut covered = 0;
    for (name, value) in std::mem::take(members) {
        if is_secret(&&name) {
            covered += 1;
            let clean = secret_text::covered(&name).into_owned();
            // Two masked members must keep different names.
            let name = if members.contains_key(&clean) { format!("{clean} {covered}") } else { clean };
            members.insert(name, value);
        } else {
            members.insert(name, value);
        }
    }
    covered
}
