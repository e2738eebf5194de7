//! Odd answers as data: what is made of each, in exact words.

use std::time::Duration;

use super::super::login::TokenType;
use super::super::renew::RenewError;
use super::super::scripted_exchange::answer;
use super::{Expected, TokenErrorKind, read, visible};
use crate::error::Error;
use crate::limits::{LOGIN_SCOPES_MAX, TOKEN_BYTES_MAX, TOKEN_ERROR_CHARS_MAX};

/// What is made of an answer, on one line: `TYPE TOKEN refresh=… for=… scope=…`, or the kind of the error and its words.
fn outcome(status: u16, body: &[u8], expected: Expected) -> String {
    // The header says something else on purpose: it is not believed.
    let answer = answer(&(status, vec![("content-type", "text/html")], body.to_vec()));
    match read(&answer, expected, &["c0de-secret"]) {
        Ok(token) => {
            let mut line = format!("{:?} {}", token.token_type, token.access_token.expose());
            if let Some(refresh) = token.refresh_token {
                line += &format!(" refresh={}", refresh.expose());
            }
            if let Some(life) = token.expires_in {
                line += &format!(" for={}", life.as_secs_f64());
            }
            if let Some(scopes) = token.scopes {
                line += &format!(" scope={}", scopes.join("|"));
            }
            line
        }
        Err(error) => format!("{:?}: {}", error.kind, error.words),
    }
}

fn check(expected: Expected, rows: &[(u16, &str, &str)]) {
    for (status, body, line) in rows {
        assert_eq!(outcome(*status, body.as_bytes(), expected), *line, "{status} {body}");
    }
}

#[test]
fn tokens_are_read_however_they_are_written() {
    check(
        Expected::Bearer,
        &[
            (200, r#"{"access_token":"t","token_type":"Bearer","expires_in":3600}"#, "Bearer t for=3600"),
            (201, r#"{"access_token":"t"}"#, "Bearer t"),
            (200, "\u{feff} {\"access_token\":\"t\"} \r\n", "Bearer t"),
            (200, r#"{"access_token":" t\n"}"#, "Bearer t"),
            (200, "access_token=t&token_type=bearer&scope=a%20b&expires_in=60", "Bearer t for=60 scope=a|b"),
            (200, "access_token=t&scope=repo%2Cgist&token_type=bearer", "Bearer t scope=repo|gist"),
            (200, r#"{"access_token":"t","token_type":"BEARER"}"#, "Bearer t"),
            (200, r#"{"access_token":"t","token_type":""}"#, "Bearer t"),
            (200, r#"{"access_token":"t","token_type":null,"expires_in":null,"scope":null}"#, "Bearer t"),
            (200, r#"{"access_token":"t","error":null}"#, "Bearer t"),
            (200, r#"{"access_token":"t","error":""}"#, "Bearer t"),
            (200, r#"{"access_token":"t","unknown":{"a":[1]}}"#, "Bearer t"),
            (200, r#"{"access_token":"a","access_token":"b"}"#, "Bearer b"),
        ],
    );
}

#[test]
fn lifetimes_are_read_however_they_are_written_and_kept_within_reason() {
    let rows = [
        ("3600", " for=3600"),
        ("\"3600\"", " for=3600"),
        ("\" 60 \"", " for=60"),
        ("59.5", " for=59.5"),
        ("\"1e3\"", " for=1000"),
        ("0", ""),
        ("-5", ""),
        ("\"-5\"", ""),
        ("1e300", " for=315360000"),
        ("18446744073709551615", " for=315360000"),
        ("\"inf\"", " for=315360000"),
        ("\"NaN\"", ""),
        ("\"soon\"", ""),
        ("\"\"", ""),
        ("true", ""),
        ("[3600]", ""),
    ];
    for (written, expected) in rows {
        let body = format!(r#"{{"access_token":"t","expires_in":{written}}}"#);
        assert_eq!(outcome(200, body.as_bytes(), Expected::Bearer), format!("Bearer t{expected}"), "{written}");
    }
}

#[test]
fn scopes_and_refresh_tokens_are_read_however_they_are_written() {
    check(
        Expected::Bearer,
        &[
            (200, r#"{"access_token":"t","scope":"a  b\tc"}"#, "Bearer t scope=a|b|c"),
            (200, r#"{"access_token":"t","scope":"a,b"}"#, "Bearer t scope=a|b"),
            (200, r#"{"access_token":"t","scope":"a,b c"}"#, "Bearer t scope=a,b|c"),
            (200, r#"{"access_token":"t","scope":["a","b",3,""]}"#, "Bearer t scope=a|b"),
            (200, r#"{"access_token":"t","scope":""}"#, "Bearer t"),
            (200, r#"{"access_token":"t","scope":7}"#, "Bearer t"),
            (200, r#"{"access_token":"t","refresh_token":"r"}"#, "Bearer t refresh=r"),
            (200, r#"{"access_token":"t","refresh_token":""}"#, "Bearer t"),
            (200, r#"{"access_token":"t","refresh_token":null}"#, "Bearer t"),
            (200, r#"{"access_token":"t","refresh_token":false}"#, "Bearer t"),
        ],
    );
    let many = vec!["s"; LOGIN_SCOPES_MAX + 1].join(" ");
    let body = format!(r#"{{"access_token":"t","scope":"{many}"}}"#);
    let token = read(&answer(&(200, vec![], body.into_bytes())), Expected::Bearer, &[]).unwrap();
    assert_eq!(token.scopes.unwrap().len(), LOGIN_SCOPES_MAX);
}

#[test]
fn the_type_of_a_token_is_one_that_was_asked_for() {
    let mac = "Malformed: gave a token of the type `mac`; only `Bearer` and `DPoP` can be used";
    check(
        Expected::Bearer,
        &[
            (200, r#"{"access_token":"t","token_type":"mac"}"#, mac),
            (
                200,
                r#"{"access_token":"t","token_type":"DPoP"}"#,
                "Malformed: gave a token of the type `DPoP`, and no proof was sent",
            ),
            (200, r#"{"access_token":"t","token_type":7}"#, "Malformed: gave a token whose type is not text"),
        ],
    );
    check(
        Expected::Dpop,
        &[
            (200, r#"{"access_token":"t","token_type":"dpop"}"#, "Dpop t"),
            (200, r#"{"access_token":"t","token_type":"Bearer"}"#, "Bearer t"),
            (200, r#"{"access_token":"t","token_type":"mac"}"#, mac),
        ],
    );
    let id_jag = "urn:ietf:params:oauth:token-type:id-jag";
    check(
        Expected::Statement,
        &[
            (200, &format!(r#"{{"access_token":"j","issued_token_type":"{id_jag}","token_type":"N_A"}}"#), "Bearer j"),
            (200, r#"{"access_token":"j","token_type":"N_A"}"#, "Bearer j"),
            (
                200,
                r#"{"access_token":"j","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}"#,
                &format!(
                    "Malformed: gave a token of the type `urn:ietf:params:oauth:token-type:access_token` instead of `{id_jag}`"
                ),
            ),
        ],
    );
}

#[test]
fn what_is_no_token_says_what_it_is() {
    let long = format!(r#"{{"access_token":"{}"}}"#, "t".repeat(TOKEN_BYTES_MAX + 1));
    check(
        Expected::Bearer,
        &[
            (200, "", "Malformed: answered 200 with nothing"),
            (200, " \n", "Malformed: answered 200 with nothing"),
            (204, "", "Malformed: answered 204 with nothing"),
            (200, "{}", "Malformed: gave no access token"),
            (200, r#"{"access_token":null}"#, "Malformed: gave no access token"),
            (200, r#"{"access_token":""}"#, "Malformed: gave an empty access token"),
            (200, r#"{"access_token":12}"#, "Malformed: gave an access token that is not text"),
            (
                200,
                r#"{"access_token":"a b"}"#,
                "Malformed: gave an access token with characters that no request can carry",
            ),
            (
                200,
                r#"{"access_token":"a\r\nX-Evil: 1"}"#,
                "Malformed: gave an access token with characters that no request can carry",
            ),
            (
                200,
                r#"{"access_token":"tök"}"#,
                "Malformed: gave an access token with characters that no request can carry",
            ),
            (200, &long, "Malformed: gave an access token of 65537 bytes; 65536 are taken"),
            (200, "{\"access_token\":\"t\"", "Malformed: answered 200 with broken JSON"),
            (200, "[]", "Malformed: answered 200 with JSON that is not an object"),
            (200, "\"t\"", "Malformed: answered 200 with JSON that is not an object"),
            (200, "<html>access_token=t</html>", "Malformed: answered 200 with a page instead of data"),
            (200, "OK", "Malformed: answered 200 with text that is neither JSON nor a form"),
            (200, "a = b", "Malformed: answered 200 with text that is neither JSON nor a form"),
            (200, "user=1", "Malformed: gave no access token"),
            (302, "", "Malformed: answered 302, and what is posted there is not sent anywhere else"),
            (400, "<html>", "Malformed: answered 400 with a page instead of data"),
            (401, "", "Malformed: answered 401 with nothing"),
            (404, r#"{"detail":"Not Found"}"#, "Malformed: answered 404 without a reason"),
            (403, r#"{"access_token":"t"}"#, "Malformed: answered 403 without a reason"),
        ],
    );
    assert_eq!(
        outcome(200, &[0xff, 0xfe, b'{'], Expected::Bearer),
        "Malformed: answered 200 with bytes that are not text"
    );
}

#[test]
fn errors_are_found_wherever_they_are() {
    check(
        Expected::Bearer,
        &[
            (400, r#"{"error":"invalid_grant"}"#, r#"Rejected("invalid_grant"): refused with `invalid_grant`"#),
            (
                400,
                r#"{"error":"invalid_grant","error_description":"Token expired"}"#,
                r#"Rejected("invalid_grant"): refused with `invalid_grant`: Token expired"#,
            ),
            (401, r#"{"error":"invalid_client"}"#, r#"Rejected("invalid_client"): refused with `invalid_client`"#),
            (
                400,
                r#"{"error":"unauthorized_client"}"#,
                r#"Rejected("unauthorized_client"): refused with `unauthorized_client`"#,
            ),
            (400, r#"{"error":"invalid_scope"}"#, r#"Rejected("invalid_scope"): refused with `invalid_scope`"#),
            (
                200,
                r#"{"error":"bad_verification_code","error_description":"The code is incorrect."}"#,
                r#"Rejected("bad_verification_code"): refused with `bad_verification_code`: The code is incorrect."#,
            ),
            (
                200,
                "error=bad_refresh_token&error_description=It+has+expired",
                r#"Rejected("bad_refresh_token"): refused with `bad_refresh_token`: It has expired"#,
            ),
            (
                200,
                r#"{"error":"invalid_grant","access_token":"t"}"#,
                r#"Rejected("invalid_grant"): refused with `invalid_grant`"#,
            ),
            (
                403,
                r#"{"error":{"code":"PERMISSION","message":"not you"}}"#,
                r#"Rejected("PERMISSION"): refused with `PERMISSION`: not you"#,
            ),
            (400, r#"{"error":{}}"#, r#"Rejected("unknown"): refused with `unknown`"#),
            (400, r#"{"error":400,"message":"no"}"#, r#"Rejected("400"): refused with `400`: no"#),
            (400, r#"{"error":true}"#, "Malformed: answered 400 without a reason"),
            (
                400,
                "{\"error\":\"invalid_grant\",\"error_description\":\"a\\u0007\\u001b[31m\\u202eb\\nc\"}",
                r#"Rejected("invalid_grant"): refused with `invalid_grant`: a [31m b c"#,
            ),
            (
                400,
                r#"{"error":"invalid_grant","error_description":"code c0de-secret is unknown"}"#,
                r#"Rejected("invalid_grant"): refused with `invalid_grant`: code … is unknown"#,
            ),
            (400, r#"{"error":"c0de-secret"}"#, r#"Rejected("…"): refused with `…`"#),
        ],
    );
}

#[test]
fn what_may_pass_is_no_refusal() {
    check(
        Expected::Bearer,
        &[
            (500, "", "Transient: answered 500"),
            (502, "<html>Bad Gateway</html>", "Transient: answered 502"),
            (503, r#"{"access_token":"t"}"#, "Transient: answered 503"),
            (429, "slow down", "Transient: answered 429"),
            (408, "", "Transient: answered 408"),
            (500, r#"{"error":"invalid_grant"}"#, "Transient: answered 500 and refused with `invalid_grant`"),
            (
                429,
                r#"{"error":"rate_limited","error_description":"later"}"#,
                "Transient: answered 429 and refused with `rate_limited`: later",
            ),
            (
                400,
                r#"{"error":"temporarily_unavailable"}"#,
                "Transient: answered 400 and refused with `temporarily_unavailable`",
            ),
            (200, r#"{"error":"server_error"}"#, "Transient: answered 200 and refused with `server_error`"),
        ],
    );
}

#[test]
fn foreign_words_are_bounded() {
    let long = "x".repeat(TOKEN_ERROR_CHARS_MAX + 1);
    assert_eq!(visible(&long, &[]).chars().count(), TOKEN_ERROR_CHARS_MAX + 1);
    assert!(visible(&long, &[]).ends_with("x…"));
    // A secret is taken out before the words are cut, so that no part of it stays.
    let told = visible(&format!("{}secret", "x".repeat(TOKEN_ERROR_CHARS_MAX - 3)), &["secret", ""]);
    assert!(!told.contains("sec"), "{told}");
}

#[test]
fn tokens_are_never_printed() {
    let body = r#"{"access_token":"acc3ss","refresh_token":"r3fresh","expires_in":1}"#;
    let answer = answer(&(200, vec![], body.as_bytes().to_vec()));
    let token = read(&answer, Expected::Bearer, &[]).unwrap();
    let printed = format!("{answer:?} {token:?}");
    assert!(!printed.contains("acc3ss") && !printed.contains("r3fresh"), "{printed}");
    assert_eq!((token.token_type, token.expires_in), (TokenType::Bearer, Some(Duration::from_secs(1))));
}

#[test]
fn every_error_says_what_to_do_and_only_clear_refusals_need_a_person() {
    let rows = [
        ("invalid_grant", "log in again"),
        ("invalid_client", "check `oauth.clientId` and `oauth.clientSecret`, or remove them to register anew"),
        ("invalid_scope", "check `oauth.scopes`"),
        (
            "unauthorized_client",
            "the authorization server does not let this client log in this way; check `oauth.grantType`",
        ),
        (
            "invalid_target",
            "the authorization server gives no tokens for this server; check its address and `oauth.audiences`",
        ),
    ];
    for (code, hint) in rows {
        let body = format!(r#"{{"error":"{code}"}}"#).into_bytes();
        let error = read(&answer(&(400, vec![], body)), Expected::Bearer, &[]).unwrap_err();
        assert_eq!(error.kind, TokenErrorKind::Rejected(code.to_owned()));
        let error = error.by("the token endpoint https://as.example/token");
        let words = format!("the token endpoint https://as.example/token refused with `{code}`");
        let renewed = if code == "invalid_grant" { RenewError::Ended } else { RenewError::NeedsPerson };
        assert_eq!(RenewError::from(error.clone()), renewed(words.clone()));
        let error = Error::from(error);
        assert_eq!((error.to_string(), error.hint()), (words, Some(hint)));
    }
    for (status, body, words, hint) in [
        (503, "", "answered 503", "try again later"),
        (200, "", "answered 200 with nothing", "check `oauth.tokenUrl`, or ask whoever runs the authorization server"),
    ] {
        let error = read(&answer(&(status, vec![], body.as_bytes().to_vec())), Expected::Bearer, &[]).unwrap_err();
        assert_eq!(error.hint(), hint);
        assert_eq!(RenewError::from(error), RenewError::Transient(words.to_owned()));
    }
}

proptest::proptest! {
    /// Whatever is answered, it is read without harm, what is repeated of the request is not told, and the words stay on one short line.
    #[test]
    fn any_answer_is_read(status in 200_u16..600, body in proptest::collection::vec(proptest::num::u8::ANY, 0..200), said in ".*") {
        let told = serde_json::json!({"error": "e", "error_description": format!("{said}c0de-secret{said}")});
        for body in [body, told.to_string().into_bytes()] {
            let line = outcome(status, &body, Expected::Dpop);
            proptest::prop_assert!(!line.contains("c0de-secret") && !line.contains('\n'), "{line}");
            proptest::prop_assert!(line.chars().count() < 2 * TOKEN_ERROR_CHARS_MAX, "{line}");
        }
    }
}
