//! Tests.

use proptest::prelude::{Strategy, any, prop, proptest};

use super::{Challenge, Wants, parse, to_follow, wants};
use crate::limits::{CHALLENGE_PARAMETERS_MAX, CHALLENGE_TEXT_CHARS_MAX, CHALLENGES_MAX, LOGIN_SCOPES_MAX};

/// Challenges in short: `Scheme name=value|name=value`, with `~token68` where there is one, and `;` between them.
fn short(challenges: &[Challenge]) -> String {
    let one = |challenge: &Challenge| {
        let parameters: Vec<String> =
            challenge.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let token = challenge.token68.as_ref().map(|token| format!("~{token}")).unwrap_or_default();
        format!("{} {}{token}", challenge.scheme, parameters.join("|")).trim_end().to_owned()
    };
    challenges.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn parsed(headers: &[&str]) -> Vec<Challenge> {
    parse(&headers.iter().map(|&header| header.to_owned()).collect::<Vec<_>>())
}

#[test]
fn headers_are_read_in_all_the_ways_they_are_written() {
    let cases: &[(&[&str], &str)] = &[
        // As they should be.
        (&["Bearer"], "Bearer"),
        (&[r#"Bearer realm="mcp""#], "Bearer realm=mcp"),
        (
            &[r#"Bearer realm="mcp", scope="a b", error="invalid_token""#],
            "Bearer realm=mcp|scope=a b|error=invalid_token",
        ),
        (
            &[r#"Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource/mcp""#],
            "Bearer resource_metadata=https://a.example/.well-known/oauth-protected-resource/mcp",
        ),
        (&["Bearer error=invalid_token"], "Bearer error=invalid_token"),
        (&[r#"DPoP algs="ES256 RS256", error="use_dpop_nonce""#], "DPoP algs=ES256 RS256|error=use_dpop_nonce"),
        // Several.
        (&["Negotiate", "Bearer"], "Negotiate; Bearer"),
        (&["Negotiate, Bearer"], "Negotiate; Bearer"),
        (&[r#"Basic realm="a", Bearer realm="b""#], "Basic realm=a; Bearer realm=b"),
        (
            &[r#"Basic realm="a", charset="UTF-8", Bearer scope="x", error="y""#],
            "Basic realm=a|charset=UTF-8; Bearer scope=x|error=y",
        ),
        (
            &[r#"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#],
            "Newauth realm=apps|type=1|title=Login to \"apps\"; Basic realm=simple",
        ),
        (&[r#"Bearer a="1""#, r#"b="2""#], "Bearer a=1"),
        (&[r#"Bearer a="1", DPoP b="2", Bearer c="3""#], "Bearer a=1; DPoP b=2; Bearer c=3"),
        // What stands for itself.
        (&["Negotiate YIIJvwYG"], "Negotiate ~YIIJvwYG"),
        (&["Negotiate YII+/._~-=="], "Negotiate ~YII+/._~-=="),
        (&["Negotiate YIIJ=, Bearer realm=x"], "Negotiate ~YIIJ=; Bearer realm=x"),
        (&["Negotiate YIIJ==  ,Basic realm=x"], "Negotiate ~YIIJ==; Basic realm=x"),
        (&["Bearer realm=, scope=a"], "Bearer scope=a~realm="),
        // Quotes and escapes.
        (&[r#"Bearer a="b\"c\\d""#], "Bearer a=b\"c\\d"),
        (&[r#"Bearer a="1, Basic realm=x", b="2""#], "Bearer a=1, Basic realm=x|b=2"),
        (&[r#"Bearer a="", b="2""#], "Bearer a=|b=2"),
        (&[r#"Bearer a="=,=", b=2"#], "Bearer a==,=|b=2"),
        (&[r#"Bearer a="not ended"#], "Bearer a=not ended"),
        (&[r#"Bearer a="not ended\"#], "Bearer a=not ended"),
        (&[r#"Bearer a="not ended, b="2""#], "Bearer a=not ended, b=; 2"),
        (&[r#"Bearer a=""#], "Bearer a="),
        (&["Bearer a=\"é ünïcode\""], "Bearer a=é ünïcode"),
        // Letter case.
        (&[r#"bearer REALM="A", Scope="B""#], "bearer realm=A|scope=B"),
        (&[r#"BEARER Resource_Metadata="X""#], "BEARER resource_metadata=X"),
        // Spaces, commas and the lack of them.
        (&[r#"Bearer   realm="a"  ,   scope="b""#], "Bearer realm=a|scope=b"),
        (&[r#"Bearer realm = "a" , scope= "b", error ="c""#], "Bearer realm=a|scope=b|error=c"),
        (&["\tBearer\trealm=\"a\",\tscope=\"b\""], "Bearer realm=a|scope=b"),
        (&[r#"Bearer realm="a",scope="b""#], "Bearer realm=a|scope=b"),
        (&[r#",, Bearer realm="a",,, scope="b",,"#], "Bearer realm=a|scope=b"),
        (&[r#"Bearer, realm="a""#], "Bearer realm=a"),
        (&[r#"Bearer realm="a" scope="b""#], "Bearer realm=a|scope=b"),
        (&[r#"Bearer realm="a" DPoP algs="b""#], "Bearer realm=a; DPoP algs=b"),
        (&[r#"Bearer realm="a"scope="b""#], "Bearer realm=a|scope=b"),
        // Unquoted addresses.
        (
            &["Bearer resource_metadata=https://a.example/x?y=1&z=2, scope=a"],
            "Bearer resource_metadata=https://a.example/x?y=1&z=2|scope=a",
        ),
        // A name twice.
        (&[r#"Bearer scope="a", SCOPE="b""#], "Bearer scope=a"),
        // Nothing to be understood.
        (&[], ""),
        (&[""], ""),
        (&["   ,  , "], ""),
        (&[r#"realm="a""#], ""),
        (&[r#"="a""#], ""),
        (&[r#"Bearer ="a", b=c"#], ""),
        (&[r#""quoted", Bearer"#], "Bearer"),
        (&[r#"""""#], ""),
        (&["==="], ""),
        (&["Bearer \u{fffd}\u{fffd}=x"], "Bearer \u{fffd}\u{fffd}=x"),
    ];
    for (headers, expected) in cases {
        assert_eq!(short(&parsed(headers)), *expected, "{headers:?}");
    }
}

#[test]
fn there_are_only_so_many_challenges_parameters_and_letters() {
    let many = vec!["Bearer a=1".to_owned(); CHALLENGES_MAX + 1];
    assert_eq!(parse(&many).len(), CHALLENGES_MAX);
    let many = "Bearer, ".repeat(CHALLENGES_MAX + 1);
    assert_eq!(parsed(&[&many]).len(), CHALLENGES_MAX);

    let parameters: Vec<String> = (0..=CHALLENGE_PARAMETERS_MAX).map(|at| format!("p{at}=x")).collect();
    assert_eq!(parsed(&[&format!("Bearer {}", parameters.join(","))])[0].parameters.len(), CHALLENGE_PARAMETERS_MAX);

    let long = "x".repeat(CHALLENGE_TEXT_CHARS_MAX);
    let challenge = &parsed(&[&format!("Bearer a=\"{long}\", scope=\"{}\", b=1", "y ".repeat(2_000))])[0];
    assert_eq!(challenge.parameter("a"), None, "too long with its name, and half of it would be wrong");
    assert_eq!(challenge.parameter("b"), Some("1"));

    let scopes: Vec<String> = (0..=LOGIN_SCOPES_MAX).map(|at| format!("s{at}")).collect();
    assert_eq!(parsed(&[&format!("Bearer scope=\"{}\"", scopes.join(" "))])[0].scope().len(), LOGIN_SCOPES_MAX);
}

#[test]
fn what_a_challenge_says_is_found_by_name() {
    let header = r#"bearer Resource_Metadata="https://a.example/m", SCOPE=" b  a b ", Error="insufficient_scope", error_description="more, please""#;
    let challenge = &parsed(&[header])[0];
    assert_eq!(challenge.resource_metadata(), Some("https://a.example/m"));
    assert_eq!(challenge.scope(), ["b", "a"]);
    assert_eq!(challenge.error(), Some("insufficient_scope"));
    assert_eq!(challenge.error_description(), Some("more, please"));
    assert!(challenge.is_oauth() && !challenge.is_dpop());

    let empty = &parsed(&[r#"dpop resource_metadata="", scope="", error="", error_description="""#])[0];
    assert_eq!((empty.resource_metadata(), empty.error(), empty.error_description()), (None, None, None));
    assert!(empty.scope().is_empty() && empty.is_dpop() && empty.is_oauth());
}

#[test]
fn only_scopes_that_can_be_asked_for_are_taken() {
    let cases = [
        ("a b c", vec!["a", "b", "c"]),
        ("a\tb", vec!["a", "b"]),
        ("https://a.example/auth/x:y", vec!["https://a.example/auth/x:y"]),
        (r#"a\\b c"#, vec!["c"]),
        ("é a", vec!["a"]),
        ("a\u{7f} b", vec!["b"]),
        ("", vec![]),
    ];
    for (scope, expected) in cases {
        assert_eq!(parsed(&[&format!("Bearer scope=\"{scope}\", x=1")])[0].scope(), expected, "{scope}");
    }
}

#[test]
fn the_challenge_to_follow_is_one_that_leads_somewhere() {
    let cases: &[(&[&str], Option<&str>)] = &[
        (&[], None),
        (&["Basic realm=x"], None),
        (&["Basic realm=x", "Bearer a=1", "Bearer a=2"], Some("Bearer a=1")),
        (&["Bearer a=1", "Bearer resource_metadata=u"], Some("Bearer resource_metadata=u")),
        (&["Bearer a=1", "DPoP resource_metadata=u"], Some("DPoP resource_metadata=u")),
        (&["Other resource_metadata=o", "Bearer resource_metadata=u"], Some("Bearer resource_metadata=u")),
        (&["Other resource_metadata=o", "Bearer a=1"], Some("Other resource_metadata=o")),
        (&["DPoP a=1"], Some("DPoP a=1")),
    ];
    for (headers, expected) in cases {
        let challenges = parsed(headers);
        let found = to_follow(&challenges).map(|one| short(std::slice::from_ref(one)));
        assert_eq!(found.as_deref(), *expected, "{headers:?}");
    }
}

#[test]
fn what_is_wanted_is_what_all_challenges_say_together() {
    let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let cases: [(&[&str], Wants); 6] = [
        (&[], Wants::default()),
        (&["Basic scope=a, error=insufficient_scope"], Wants::default()),
        (
            &[r#"Bearer resource_metadata="u", scope="a b", error="invalid_token""#],
            Wants {
                resource_metadata: Some("u".to_owned()),
                scopes: texts(&["a", "b"]),
                error: Some("invalid_token".to_owned()),
                ..Wants::default()
            },
        ),
        (
            &[r#"Bearer error="insufficient_scope", scope="c""#, "Bearer resource_metadata=u"],
            Wants {
                resource_metadata: Some("u".to_owned()),
                scopes: texts(&["c"]),
                insufficient_scope: true,
                error: Some("insufficient_scope".to_owned()),
                ..Wants::default()
            },
        ),
        (
            &[r#"DPoP algs="ES256""#, r#"Bearer resource_metadata="u""#],
            Wants { resource_metadata: Some("u".to_owned()), dpop: true, ..Wants::default() },
        ),
        (
            &["DPoP error=use_dpop_nonce"],
            Wants { dpop: true, error: Some("use_dpop_nonce".to_owned()), ..Wants::default() },
        ),
    ];
    for (headers, expected) in cases {
        assert_eq!(wants(&parsed(headers)), expected, "{headers:?}");
    }
}

/// Letters that mean something in these headers, more often than others.
fn header() -> impl Strategy<Value = String> {
    let pieces = ["Bearer", "DPoP", "scope", "=", "\"", "\\", ",", " ", "\t", "a", "==", "é", "error=\"x\""];
    let piece = prop::sample::select(pieces.to_vec()).prop_map(str::to_owned);
    let any_letter = any::<char>().prop_map(String::from);
    prop::collection::vec(proptest::prop_oneof![9 => piece, 1 => any_letter], 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn whatever_arrives_is_read(headers in prop::collection::vec(header(), 0..4)) {
        for challenge in parse(&headers) {
            assert!(!challenge.scheme.is_empty());
            assert!(!challenge.scheme.contains([' ', ',', '=', '"']));
            let names: std::collections::BTreeSet<&String> = challenge.parameters.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), challenge.parameters.len(), "each name once");
        }
    }

    #[test]
    fn what_is_written_well_is_read_as_it_was_meant(
        meant in prop::collection::vec(("[A-Z][a-z]{0,5}", prop::collection::btree_map("[a-z_]{1,6}", any::<String>(), 0..4)), 0..4),
    ) {
        let mut challenges: Vec<Challenge> = Vec::new();
        let mut written: Vec<String> = Vec::new();
        for (scheme, parameters) in meant {
            let quoted = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
            let list: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}=\"{}\"", quoted(value))).collect();
            written.push(format!("{scheme} {}", list.join(", ")));
            challenges.push(Challenge { scheme, parameters: parameters.into_iter().collect(), token68: None });
        }
        assert_eq!(parse(&written), challenges, "one header each");
        assert_eq!(parse(&[written.join(", ")]), challenges, "all in one header");
    }
}
