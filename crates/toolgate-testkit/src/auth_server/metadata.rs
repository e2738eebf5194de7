//! The document in which an authorization server says what it offers, at the addresses where clients look for it.

use serde_json::{Value, json};

use crate::auth_server::answer::Answer;
use crate::auth_server::script::{IssuerMetadata, Registration};
use crate::auth_server::world::World;
use crate::http::request::Request;

pub(crate) fn answer(world: &World, request: &Request) -> Option<Answer> {
    let path = &world.script.issuer.path;
    let place = |kind: &IssuerMetadata| match kind {
        IssuerMetadata::Oauth => format!("/.well-known/oauth-authorization-server{path}"),
        IssuerMetadata::Oidc => format!("/.well-known/openid-configuration{path}"),
        IssuerMetadata::OidcBehindPath => format!("{path}/.well-known/openid-configuration"),
    };
    let is_here = world.script.issuer.metadata.iter().any(|kind| place(kind) == request.path());
    (is_here && request.method == "GET").then(|| Answer::json(200, &document(world)))
}

fn document(world: &World) -> Value {
    let issuer = &world.script.issuer;
    let mut grants = vec![
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
    ];
    let mut document = json!({
        "issuer": world.places.issuer,
        "authorization_endpoint": world.address("/authorize"),
        "token_endpoint": world.address("/token"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ["ES256", "ES384", "RS256", "PS256", "EdDSA"],
        "dpop_signing_alg_values_supported": ["ES256"],
        "authorization_response_iss_parameter_supported": true,
    });
    if issuer.registration != Registration::Absent {
        document["registration_endpoint"] = json!(world.address("/register"));
    }
    if issuer.client_documents {
        document["client_id_metadata_document_supported"] = json!(true);
    }
    if issuer.device.is_some() {
        grants.push("urn:ietf:params:oauth:grant-type:device_code");
        document["device_authorization_endpoint"] = json!(world.address("/device_authorization"));
    }
    document["grant_types_supported"] = json!(grants);
    world.change(document, &issuer.metadata_members)
}
