//! Tests.

use url::Url;

use super::{AuthorizationServer, ProtectedResource, resource_candidates, server_candidates};
use crate::limits::{METADATA_LIST_MAX, METADATA_TEXT_CHARS_MAX};

fn texts(urls: &[Url]) -> Vec<&str> {
    urls.iter().map(Url::as_str).collect()
}

#[test]
fn a_server_is_looked_up_where_it_says_then_at_its_path_then_at_its_root() {
    let cases: &[(Option<&str>, &str, &[&str])] = &[
        (
            None,
            "http://localhost:1/mcp",
            &[
                "http://localhost:1/.well-known/oauth-protected-resource/mcp",
                "http://localhost:1/.well-known/oauth-protected-resource",
            ],
        ),
        (
            Some("http://localhost:1/custom/metadata/location.json"),
            "http://localhost:1/mcp",
            &[
                "http://localhost:1/custom/metadata/location.json",
                "http://localhost:1/.well-known/oauth-protected-resource/mcp",
                "http://localhost:1/.well-known/oauth-protected-resource",
            ],
        ),
        (
            Some("https://a.example/.well-known/oauth-protected-resource"),
            "https://a.example/mcp",
            &[
                "https://a.example/.well-known/oauth-protected-resource",
                "https://a.example/.well-known/oauth-protected-resource/mcp",
            ],
        ),
        (None, "https://a.example", &["https://a.example/.well-known/oauth-protected-resource"]),
        (
            None,
            "https://name:word@a.example/x/mcp/?key=1#part",
            &[
                "https://a.example/.well-known/oauth-protected-resource/x/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ],
        ),
    ];
    for (challenged, server, expected) in cases {
        let challenged = challenged.map(|url| Url::parse(url).unwrap());
        let found = resource_candidates(challenged.as_ref(), &Url::parse(server).unwrap());
        assert_eq!(texts(&found), *expected, "{server}");
    }
}

#[test]
fn an_authorization_server_is_looked_up_in_the_order_of_the_specification() {
    let cases: &[(&str, &[&str])] = &[
        (
            "https://as.example",
            &[
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example/",
            &[
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example/tenant1",
            &[
                "https://as.example/.well-known/oauth-authorization-server/tenant1",
                "https://as.example/.well-known/openid-configuration/tenant1",
                "https://as.example/tenant1/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.example:8443/a/b/",
            &[
                "https://as.example:8443/.well-known/oauth-authorization-server/a/b",
                "https://as.example:8443/.well-known/openid-configuration/a/b",
                "https://as.example:8443/a/b/.well-known/openid-configuration",
            ],
        ),
    ];
    for (issuer, expected) in cases {
        assert_eq!(texts(&server_candidates(&Url::parse(issuer).unwrap())), *expected, "{issuer}");
    }
}

#[test]
fn a_whole_document_is_read() {
    let document = AuthorizationServer::read(
        br#"{
            "issuer": "https://as.example",
            "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token",
            "registration_endpoint": "https://as.example/register",
            "device_authorization_endpoint": "https://as.example/device",
            "scopes_supported": ["a", "offline_access"],
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": true,
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": ["ES256"],
            "something_new": {"a": [1]}
        }"#,
    );
    let list = |elements: &[&str]| elements.iter().map(|&element| element.to_owned()).collect::<Vec<_>>();
    let expected = AuthorizationServer {
        issuer: Some("https://as.example".to_owned()),
        authorization_endpoint: Some("https://as.example/authorize".to_owned()),
        token_endpoint: Some("https://as.example/token".to_owned()),
        registration_endpoint: Some("https://as.example/register".to_owned()),
        device_authorization_endpoint: Some("https://as.example/device".to_owned()),
        scopes_supported: list(&["a", "offline_access"]),
        response_types_supported: list(&["code"]),
        grant_types_supported: Some(list(&["authorization_code", "refresh_token"])),
        token_endpoint_auth_methods_supported: Some(list(&["none"])),
        token_endpoint_auth_signing_alg_values_supported: list(&["ES256"]),
        code_challenge_methods_supported: Some(list(&["S256"])),
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        dpop_signing_alg_values_supported: list(&["ES256"]),
        notes: Vec::new(),
    };
    assert_eq!(document, Ok(expected));

    let document = ProtectedResource::read(
        br#"{"resource": "https://a.example/mcp", "authorization_servers": ["https://as.example"], "scopes_supported": ["a"],
            "dpop_bound_access_tokens_required": true, "resource_name": "A"}"#,
    );
    let expected = ProtectedResource {
        resource: Some("https://a.example/mcp".to_owned()),
        authorization_servers: list(&["https://as.example"]),
        scopes_supported: list(&["a"]),
        dpop_bound_access_tokens_required: true,
        notes: Vec::new(),
    };
    assert_eq!(document, Ok(expected));
}

#[test]
fn what_is_no_document_is_called_what_it_is() {
    let cases: &[(&[u8], Result<(), &str>)] = &[
        (b"{}", Ok(())),
        (b"\xef\xbb\xbf{}", Ok(())),
        (b" \n {} ", Ok(())),
        (b"", Err("it is empty")),
        (b"<!doctype html>", Err("it is not JSON")),
        (b"{\"issuer\": \"a\"", Err("it is not JSON")),
        (b"{} {}", Err("it is not JSON")),
        (b"{\"issuer\": \"\xff\xfe\"}", Err("it is not UTF-8")),
        (b"[{}]", Err("it is JSON, and no object")),
        (b"null", Err("it is JSON, and no object")),
        (b"\"text\"", Err("it is JSON, and no object")),
    ];
    for (body, expected) in cases {
        let expected = expected.map_err(str::to_owned);
        assert_eq!(AuthorizationServer::read(body).map(|_| ()), expected, "{}", String::from_utf8_lossy(body));
        assert_eq!(ProtectedResource::read(body).map(|_| ()), expected);
    }
    assert_eq!(AuthorizationServer::read("[".repeat(100_000).as_bytes()), Err("it is not JSON".to_owned()));
}

#[test]
fn a_member_of_a_wrong_type_is_absent_and_noted() {
    let long = "x".repeat(METADATA_TEXT_CHARS_MAX + 1);
    let many = serde_json::json!({ "scopes_supported": vec!["a"; METADATA_LIST_MAX + 1] }).to_string();
    let cases = [
        (r#"{"issuer": 1}"#, "`issuer` is no text; it counts as absent"),
        (r#"{"issuer": ["https://as.example"]}"#, "`issuer` is no text; it counts as absent"),
        (r#"{"token_endpoint": ""}"#, "`token_endpoint` is empty; it counts as absent"),
        (&format!(r#"{{"token_endpoint": "{long}"}}"#), "`token_endpoint` is too long; it counts as absent"),
        (r#"{"scopes_supported": "a b"}"#, "`scopes_supported` is no list; it counts as absent"),
        (
            r#"{"code_challenge_methods_supported": {}}"#,
            "`code_challenge_methods_supported` is no list; it counts as absent",
        ),
        (
            r#"{"client_id_metadata_document_supported": "true"}"#,
            "`client_id_metadata_document_supported` is neither true nor false; it counts as absent",
        ),
        (&many, "`scopes_supported` has more than 1000 elements; the others are left out"),
        (r#"{"issuer": null, "scopes_supported": null, "client_id_metadata_document_supported": null}"#, ""),
    ];
    for (body, expected) in cases {
        let document = AuthorizationServer::read(body.as_bytes()).unwrap();
        assert_eq!(document.notes.join("; "), expected);
        assert_eq!((document.issuer, document.token_endpoint), (None, None));
        assert_eq!(document.code_challenge_methods_supported, None);
        assert!(!document.client_id_metadata_document_supported);
        assert!(document.scopes_supported.len() <= METADATA_LIST_MAX);
    }
    let mixed =
        AuthorizationServer::read(br#"{"code_challenge_methods_supported": ["plain", 7, "", null, "S256"]}"#).unwrap();
    assert_eq!(mixed.code_challenge_methods_supported.unwrap(), ["plain", "S256"]);
    assert_eq!(mixed.notes, ["`code_challenge_methods_supported` has elements that are no texts; they are left out"]);
}

#[test]
fn servers_without_metadata_have_the_endpoints_of_2025_03_26() {
    let document = AuthorizationServer::at_origin(&Url::parse("http://name:word@localhost:1/a/mcp?x=1").unwrap());
    assert_eq!(document.issuer.as_deref(), Some("http://localhost:1"));
    assert_eq!(document.authorization_endpoint.as_deref(), Some("http://localhost:1/authorize"));
    assert_eq!(document.token_endpoint.as_deref(), Some("http://localhost:1/token"));
    assert_eq!(document.registration_endpoint.as_deref(), Some("http://localhost:1/register"));
}
