//! Which way a client shows who it is, and how that is written.

use http::HeaderMap;

use super::super::login::{ClientIdentity, ClientMethod, ClientOrigin};
use super::{Form, Means, choose_method, show};
use crate::secret::Secret;

const NOTHING: Means = Means { secret: false, key: false };
const SECRET: Means = Means { secret: true, key: false };
const KEY: Means = Means { secret: false, key: true };
const BOTH: Means = Means { secret: true, key: true };

#[test]
fn the_best_way_that_the_server_takes_and_we_have_is_taken() {
    use ClientMethod::{None as Nothing, PrivateKeyJwt, SecretBasic, SecretPost};
    let rows: &[(Option<&[&str]>, Means, ClientMethod)] = &[
        (None, NOTHING, Nothing),
        (None, SECRET, SecretBasic),
        (None, KEY, PrivateKeyJwt),
        (None, BOTH, PrivateKeyJwt),
        (Some(&["client_secret_basic", "client_secret_post"]), SECRET, SecretBasic),
        (Some(&["client_secret_post", "client_secret_basic"]), SECRET, SecretBasic),
        (Some(&["client_secret_post"]), SECRET, SecretPost),
        (Some(&["client_secret_post", "none"]), SECRET, SecretPost),
        (Some(&["none"]), SECRET, Nothing),
        (Some(&["client_secret_post", "private_key_jwt"]), BOTH, PrivateKeyJwt),
        (Some(&["client_secret_post"]), BOTH, SecretPost),
        (Some(&["private_key_jwt"]), KEY, PrivateKeyJwt),
        (Some(&["client_secret_basic"]), KEY, PrivateKeyJwt),
        (Some(&["client_secret_basic"]), NOTHING, Nothing),
        (Some(&["private_key_jwt"]), SECRET, SecretBasic),
        (Some(&["tls_client_auth", "client_secret_jwt"]), SECRET, SecretBasic),
        (Some(&[]), SECRET, SecretBasic),
        (Some(&[]), NOTHING, Nothing),
    ];
    for (supported, means, expected) in rows {
        let list: Option<Vec<String>> = supported.map(|list| list.iter().map(|&name| name.to_owned()).collect());
        let chosen = choose_method(None, list.as_deref(), *means).unwrap();
        assert_eq!(chosen, *expected, "{supported:?} with {means:?}");
    }
}

#[test]
fn what_the_settings_say_is_taken_whatever_the_server_lists() {
    let list = ["none".to_owned()];
    for (wish, means, expected) in [
        ("none", SECRET, ClientMethod::None),
        ("client_secret_post", SECRET, ClientMethod::SecretPost),
        ("client_secret_basic", BOTH, ClientMethod::SecretBasic),
        ("private_key_jwt", BOTH, ClientMethod::PrivateKeyJwt),
    ] {
        assert_eq!(choose_method(Some(wish), Some(&list), means).unwrap(), expected);
    }
}

#[test]
fn a_wish_that_cannot_be_met_says_what_is_missing() {
    let one_of = "it is one of private_key_jwt, client_secret_basic, client_secret_post, none";
    for (wish, means, message, hint) in [
        ("basic", SECRET, "`oauth.tokenEndpointAuthMethod` is `basic`, which is not known here", one_of),
        (
            "client_secret_post",
            KEY,
            "`oauth.tokenEndpointAuthMethod` is `client_secret_post`, and there is no `oauth.clientSecret`",
            "set `oauth.clientSecret`",
        ),
        (
            "private_key_jwt",
            SECRET,
            "`oauth.tokenEndpointAuthMethod` is `private_key_jwt`, and there is no `oauth.privateKey`",
            "set `oauth.privateKey`",
        ),
    ] {
        let error = choose_method(Some(wish), None, means).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint()), (message, Some(hint)));
    }
}

/// A way, its header, and its form.
type Written<'a> = (ClientMethod, Option<&'a str>, Vec<(&'a str, &'a str)>);

#[test]
fn every_way_is_written_as_it_has_to_be() {
    let (name, secret) = ("a:b c", "ü/+%");
    let assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    // `a%3Ab+c:%C3%BC%2F%2B%25`
    let basic = "Basic YSUzQWIrYzolQzMlQkMlMkYlMkIlMjU=";
    let rows: [Written<'_>; 4] = [
        (ClientMethod::None, None, vec![("client_id", name)]),
        (ClientMethod::SecretBasic, Some(basic), vec![("client_id", name)]),
        (ClientMethod::SecretPost, None, vec![("client_id", name), ("client_secret", secret)]),
        (
            ClientMethod::PrivateKeyJwt,
            None,
            vec![("client_id", name), ("client_assertion_type", assertion_type), ("client_assertion", "signed")],
        ),
    ];
    for (method, header, written) in rows {
        let client = ClientIdentity {
            issuer: "https://as.example".to_owned(),
            client_id: name.to_owned(),
            client_secret: Some(Secret::new(secret)),
            method,
            origin: ClientOrigin::Settings,
            redirect_uri: None,
            expires_at: None,
        };
        let (mut headers, mut form) = (HeaderMap::new(), Form::new());
        show(&client, Some(&Secret::new("signed")), &mut headers, &mut form);
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(form, written);
        let found = headers.get("authorization");
        assert_eq!(found.map(|value| value.to_str().unwrap()), header);
        assert!(found.is_none_or(http::HeaderValue::is_sensitive));
    }
}
