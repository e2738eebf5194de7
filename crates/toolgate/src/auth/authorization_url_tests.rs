//! Where the browser is sent.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use url::Url;

use super::super::token_request::Wanted;
use super::authorization;

const REDIRECT: &str = "http://127.0.0.1:7777/oauth/callback";

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

/// The endpoint, scopes, audiences, resource, and the parameters that these add.
type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], Option<&'a str>, &'a [(&'a str, &'a str)]);

#[test]
fn the_address_has_all_that_was_asked_for_and_keeps_what_it_had() {
    let rows: &[Row<'_>] = &[
        ("https://as.example/authorize", &[], &[], None, &[]),
        ("https://as.example/authorize?tenant=a%20b", &[], &[], None, &[("tenant", "a b")]),
        (
            "https://as.example/authorize",
            &["read", "offline_access"],
            &["api"],
            Some("https://mcp.example/mcp"),
            &[
                ("scope", "read offline_access"),
                ("prompt", "consent"),
                ("audience", "api"),
                ("resource", "https://mcp.example/mcp"),
            ],
        ),
        (
            "https://as.example/authorize?prompt=login",
            &["offline_access"],
            &[],
            None,
            &[("scope", "offline_access"), ("prompt", "login")],
        ),
        ("https://as.example/authorize", &[], &["a", "b"], None, &[("audience", "a b")]),
    ];
    for (endpoint, scopes, audiences, resource, more) in rows {
        let (scopes, audiences) = (texts(scopes), texts(audiences));
        let wanted = Wanted { scopes: &scopes, audiences: &audiences, resource: *resource };
        let begun = authorization(&Url::parse(endpoint).unwrap(), "me", REDIRECT, &wanted).unwrap();
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, begun.verifier.expose().as_bytes()));
        let mut expected = BTreeMap::from([
            ("client_id", "me"),
            ("response_type", "code"),
            ("redirect_uri", REDIRECT),
            ("state", begun.state.expose()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ]);
        expected.extend(more.iter().copied());
        let found: Vec<(String, String)> = begun.url.query_pairs().into_owned().collect();
        assert_eq!(found.len(), expected.len(), "nothing is said twice");
        let found: BTreeMap<_, _> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
        assert!(begun.verifier.expose().len() >= 43 && begun.state.expose().len() >= 22);
        assert!(!begun.url.as_str().contains(begun.verifier.expose()));
        assert!(!format!("{begun:?}").contains(begun.verifier.expose()));
    }
}

#[test]
fn no_two_logins_share_anything() {
    let endpoint = Url::parse("https://as.example/authorize").unwrap();
    let begin = || authorization(&endpoint, "me", REDIRECT, &Wanted::default()).unwrap();
    let (one, two) = (begin(), begin());
    assert_ne!(one.state, two.state);
    assert_ne!(one.verifier, two.verifier);
}

#[test]
fn the_way_back_is_sent_exactly_as_it_is_written() {
    let endpoint = Url::parse("https://as.example/authorize").unwrap();
    for redirect in ["http://localhost:1", "http://LOCALHOST:1/a", "com.example.app:/back"] {
        let begun = authorization(&endpoint, "me", redirect, &Wanted::default()).unwrap();
        let (_, found) = begun.url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap();
        assert_eq!(found, redirect);
    }
    let error = authorization(&endpoint, "me", "back", &Wanted::default()).unwrap_err();
    assert_eq!(error.to_string(), "`oauth.redirectUri` is `back`, which is not an address");
}
