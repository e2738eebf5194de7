//! What the suite tells about a scenario, as the settings of one server.

use serde_json::{Map, Value, json};

/// What the server is called.
pub(crate) const SERVER: &str = "conformance";

/// The document about this client that the suite knows of.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The keys of `oauth` for what the suite may hand over.
const KEYS: [(&str, &str); 8] = [
    ("client_id", "clientId"),
    ("client_secret", "clientSecret"),
    ("private_key_pem", "privateKey"),
    ("signing_algorithm", "signingAlgorithm"),
    ("idp_id_token", "assertion"),
    ("valid_jwt", "assertion"),
    ("idp_token_endpoint", "idpTokenUrl"),
    ("idp_client_id", "idpClientId"),
];

/// The settings.
pub(crate) fn text(url: &str, scenario: &str, context: &Value) -> String {
    let mut oauth = Map::new();
    oauth.insert("clientMetadataUrl".to_owned(), CLIENT_DOCUMENT.into());
    for (given, key) in KEYS {
        if let Some(value) = context[given].as_str() {
            // A dollar sign would be read as a variable.
            oauth.insert(key.to_owned(), value.replace('$', "\\$").into());
        }
    }
    if let Some(grant) = grant(scenario, context) {
        oauth.insert("grantType".to_owned(), grant.into());
    }
    json!({"mcpServers": {SERVER: {"url": url, "oauth": oauth}}}).to_string()
}

/// How a token is got, where it is not by a person in a browser. Only this cannot be told from what is handed over.
fn grant(scenario: &str, context: &Value) -> Option<&'static str> {
    if context["idp_id_token"].is_string() {
        Some("enterprise")
    } else if context["valid_jwt"].is_string() {
        Some("workload_identity")
    } else if scenario.contains("client-credentials") {
        Some("client_credentials")
    } else {
        None
    }
}
