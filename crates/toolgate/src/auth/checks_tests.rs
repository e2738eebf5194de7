//! Tests.

use url::Url;

use super::{IssuerMatch, check_issuer, check_resource, check_server, issuer_url};
use crate::auth::account::{GrantKind, LoginOptions};
use crate::auth::metadata::{AuthorizationServer, ProtectedResource};
use crate::auth::place::Place;

fn public() -> Place {
    Place::of(&Url::parse("https://mcp.example/mcp").unwrap(), &["8.8.8.8".parse().unwrap()])
}

fn loopback() -> Place {
    Place::of(&Url::parse("http://localhost:1/mcp").unwrap(), &[])
}

#[test]
fn a_document_must_be_about_the_server() {
    let cases = [
        (Some("https://mcp.example/mcp"), Ok("`https://mcp.example/mcp`")),
        (Some("https://mcp.example"), Ok("`https://mcp.example`")),
        (None, Err("it has no `resource`")),
        (
            Some("https://evil.example.com/mcp"),
            Err("it is about `https://evil.example.com/mcp`, not about `https://mcp.example/mcp`"),
        ),
        (Some("\u{1b}[2J"), Err("it is about `\\u{1b}[2J`, not about `https://mcp.example/mcp`")),
    ];
    for (resource, expected) in cases {
        let document = ProtectedResource { resource: resource.map(str::to_owned), ..ProtectedResource::default() };
        let check = check_resource(&document, &Url::parse("https://mcp.example/mcp?x=1").unwrap());
        assert_eq!(check.found, expected.map(str::to_owned).map_err(str::to_owned));
    }
}

#[test]
fn an_issuer_is_an_address_that_nobody_can_imitate() {
    let cases = [
        (public(), "https://as.example", ""),
        (public(), "https://as.example/tenant1", ""),
        (public(), "http://as.example", "`http://as.example` may not be used: it is not `https`"),
        (public(), "https://as.example?x=1", "`https://as.example?x=1` has a query or fragment"),
        (public(), "https://as.example#x", "`https://as.example#x` has a query or fragment"),
        (public(), "as.example", "`as.example` is no URL"),
        (public(), "", "`` is no URL"),
        (
            public(),
            "https://10.0.0.1",
            "`https://10.0.0.1` may not be used: it is on this machine or in this network, and the server is not",
        ),
        (loopback(), "http://localhost:2", ""),
        (loopback(), "http://as.example", "`http://as.example` may not be used: it is not `https`"),
    ];
    for (place, issuer, expected) in cases {
        assert_eq!(issuer_url(issuer, &place).err().unwrap_or_default(), expected);
    }
}

#[test]
fn a_document_must_be_about_the_issuer_byte_for_byte() {
    use IssuerMatch::{Exact, OriginOfServer};
    let cases = [
        (Some("https://as.example"), "https://as.example", Exact, true),
        (Some("https://as.example/"), "https://as.example/", Exact, true),
        (Some("https://as.example/"), "https://as.example", Exact, false),
        (Some("https://as.example"), "https://as.example/", Exact, false),
        (Some("https://AS.example"), "https://as.example", Exact, false),
        (Some("https://as.example:443"), "https://as.example", Exact, false),
        (Some("https://as.example/%61"), "https://as.example/a", Exact, false),
        (Some("https://attacker.example.com"), "https://as.example", Exact, false),
        (None, "https://as.example", Exact, false),
        (Some("https://as.example/"), "https://as.example", OriginOfServer, true),
        (Some("https://as.example"), "https://as.example", OriginOfServer, true),
        (Some("https://as.example//"), "https://as.example", OriginOfServer, false),
        (Some("https://as.example/x"), "https://as.example", OriginOfServer, false),
        (None, "https://as.example", OriginOfServer, false),
    ];
    for (issuer, asked, how, expected) in cases {
        let document = AuthorizationServer { issuer: issuer.map(str::to_owned), ..AuthorizationServer::default() };
        assert_eq!(check_issuer(&document, asked, how).found.is_ok(), expected, "{issuer:?} for {asked}, {how:?}");
    }
    let document =
        AuthorizationServer { issuer: Some("https://b.example".to_owned()), ..AuthorizationServer::default() };
    let check = check_issuer(&document, "https://a.example", Exact);
    assert_eq!(check.found, Err("its issuer is `https://b.example`, not `https://a.example`".to_owned()));
}

/// The first broken rule of a document that is given as JSON.
fn broken(document: &str, grant: GrantKind, client_id: Option<&str>, place: &Place) -> Option<String> {
    let document = AuthorizationServer::read(document.as_bytes()).unwrap();
    let options = LoginOptions { grant, client_id: client_id.map(str::to_owned), ..LoginOptions::default() };
    let checks = check_server(&document, &options, place);
    checks.into_iter().find_map(|check| Some(format!("{} | {}", check.rule.split(':').next()?, check.found.err()?)))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn all_that_a_login_needs_must_be_there_and_may_be_used() {
    use GrantKind::{AuthorizationCode, ClientCredentials, DeviceCode};
    let a = r#""authorization_endpoint": "https://as.example/a""#;
    let t = r#""token_endpoint": "https://as.example/t""#;
    let p = r#""code_challenge_methods_supported": ["plain", "S256"]"#;
    let d = r#""device_authorization_endpoint": "https://as.example/d""#;
    let near = "it is on this machine or in this network, and the server is not";
    let cases = [
        (AuthorizationCode, vec![a, t, p], None),
        (AuthorizationCode, vec![t, p], Some("RFC 6749 §3.1 | it has no `authorization_endpoint`".to_owned())),
        (AuthorizationCode, vec![a, p], Some("RFC 6749 §3.2 | it has no `token_endpoint`".to_owned())),
        (
            AuthorizationCode,
            vec![a, t],
            Some("MCP, \"Authorization Code Protection\" | it has no `code_challenge_methods_supported`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![a, t, r#""code_challenge_methods_supported": ["plain"]"#],
            Some("MCP, \"Authorization Code Protection\" | `code_challenge_methods_supported` does not have `S256`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![a, t, r#""code_challenge_methods_supported": []"#],
            Some("MCP, \"Authorization Code Protection\" | `code_challenge_methods_supported` does not have `S256`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![r#""authorization_endpoint": "http://as.example/a""#, t, p],
            Some("RFC 6749 §3.1 | `authorization_endpoint` may not be used, it is not `https`: `http://as.example/a`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![r#""authorization_endpoint": "javascript:alert(1)""#, t, p],
            Some("RFC 6749 §3.1 | `authorization_endpoint` may not be used, `javascript:` is not `https:`: `javascript:alert(1)`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![a, r#""token_endpoint": "/t""#, p],
            Some("RFC 6749 §3.2 | `token_endpoint` is no URL: `/t`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![a, r#""token_endpoint": "https://as.example/t#x""#, p],
            Some("RFC 6749 §3.2 | `token_endpoint` may not be used, it has a fragment: `https://as.example/t#x`".to_owned()),
        ),
        (
            AuthorizationCode,
            vec![a, r#""token_endpoint": "https://169.254.169.254/t""#, p],
            Some(format!("RFC 6749 §3.2 | `token_endpoint` may not be used, {near}: `https://169.254.169.254/t`")),
        ),
        (
            AuthorizationCode,
            vec![a, t, p, r#""registration_endpoint": "http://as.example/r""#],
            Some("RFC 7591 §3 | `registration_endpoint` may not be used, it is not `https`: `http://as.example/r`".to_owned()),
        ),
        (AuthorizationCode, vec![a, t, p, r#""device_authorization_endpoint": "http://as.example/d""#], None),
        (ClientCredentials, vec![t], None),
        (ClientCredentials, vec![t, r#""registration_endpoint": "http://as.example/r""#], None),
        (ClientCredentials, vec![], Some("RFC 6749 §3.2 | it has no `token_endpoint`".to_owned())),
        (DeviceCode, vec![t, d], None),
        (DeviceCode, vec![a, t, p], Some("RFC 8628 §3.1 | it has no `device_authorization_endpoint`".to_owned())),
    ];
    for (grant, members, expected) in cases {
        let document = format!("{{{}}}", members.join(","));
        assert_eq!(broken(&document, grant, None, &public()), expected, "{grant:?} {document}");
    }
    let open = format!(r#"{{{a}, {t}, {p}, "registration_endpoint": "http://as.example/r"}}"#);
    assert_eq!(broken(&open, AuthorizationCode, Some("me"), &public()), None, "nobody has to register");
    let near = r#"{"authorization_endpoint": "http://localhost:2/a", "token_endpoint": "http://127.0.0.1:2/t", "code_challenge_methods_supported": ["S256"]}"#;
    assert_eq!(broken(near, AuthorizationCode, None, &loopback()), None);
    assert!(broken(near, AuthorizationCode, None, &public()).is_some());
}
