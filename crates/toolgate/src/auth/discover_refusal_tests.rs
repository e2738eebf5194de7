//! Tests of what is not followed, and what is said about it.

use url::Url;

use super::{OAUTH, PATH, Run, html, pools, resource, server, server_without};
use crate::auth::account::LoginOptions;
use crate::auth::fetch::Fetcher;
use crate::auth::journal::StepOutcome;
use crate::auth::loopback::{Answer, Loopback};
use crate::auth::place::Place;
use crate::error::ErrorKind;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn what_breaks_a_rule_is_refused_in_words() {
    let good = || (PATH, resource(r#""{origin}""#));
    let of_server = |why: &str| {
        format!("the metadata of the authorization server `{{origin}}` cannot be used: {{origin}}{OAUTH}: {why}")
    };
    let of_resource = |why: &str| format!("the metadata at {{origin}}{PATH} cannot be used: {why}");
    let unreadable = |why: &str| format!("the metadata of `{{origin}}/mcp` cannot be read: {why}");
    let cases = [
        (
            vec![
                (
                    PATH,
                    Answer::json(
                        r#"{"resource": "https://evil.example.com/mcp", "authorization_servers": ["{origin}"]}"#,
                    ),
                ),
                (OAUTH, server("{origin}")),
            ],
            of_resource("it is about `https://evil.example.com/mcp`, not about `{origin}/mcp`"),
        ),
        (
            vec![(PATH, Answer::json(r#"{"authorization_servers": ["{origin}"]}"#)), (OAUTH, server("{origin}"))],
            of_resource("it has no `resource`"),
        ),
        (
            vec![(PATH, Answer::json(r#"{"resource": ["{origin}/mcp"]}"#)), (OAUTH, server("{origin}"))],
            of_resource("it has no `resource`"),
        ),
        // Not knowing is not the same as nothing being there.
        (
            vec![(PATH, Answer::status(500)), (OAUTH, server("{origin}"))],
            unreadable(&format!("GET {{origin}}{PATH}: 500 Internal Server Error")),
        ),
        (
            vec![(PATH, Answer::status(429)), (OAUTH, server("{origin}"))],
            unreadable(&format!("GET {{origin}}{PATH}: 429 Too Many Requests")),
        ),
        (
            vec![(PATH, Answer::flood())],
            unreadable(&format!("GET {{origin}}{PATH}: the answer is larger than 262144 bytes")),
        ),
        (
            vec![(PATH, Answer::redirect(302, PATH))],
            unreadable(&format!("GET {{origin}}{PATH}: more than 3 redirects")),
        ),
        (
            vec![(PATH, Answer::redirect(302, "http://as.example/x"))],
            unreadable("GET http://as.example/x: this address may not be used: it is not `https`"),
        ),
        (
            vec![good(), (OAUTH, server("https://attacker.example.com"))],
            of_server("its issuer is `https://attacker.example.com`, not `{origin}`"),
        ),
        (vec![good(), (OAUTH, server("{origin}/"))], of_server("its issuer is `{origin}/`, not `{origin}`")),
        (vec![good(), (OAUTH, server_without("{origin}", "issuer"))], of_server("it has no `issuer`")),
        (
            vec![good(), (OAUTH, server_without("{origin}", "authorization_endpoint"))],
            of_server("it has no `authorization_endpoint`"),
        ),
        (vec![good(), (OAUTH, server_without("{origin}", "token_endpoint"))], of_server("it has no `token_endpoint`")),
        (
            vec![good(), (OAUTH, server_without("{origin}", "code_challenge_methods_supported"))],
            of_server("it has no `code_challenge_methods_supported`"),
        ),
        (vec![good()], "the authorization server `{origin}` publishes no metadata".to_owned()),
        (
            vec![good(), (OAUTH, Answer::bytes(b"{\"issuer\": \"\xff\"}".to_vec()))],
            format!(
                "the metadata of the authorization server `{{origin}}` cannot be used: GET {{origin}}{OAUTH}: 200 OK, it is not UTF-8: `{{\"issuer\": \"\u{fffd}\"}}`"
            ),
        ),
        (
            vec![good(), (OAUTH, Answer::status(503))],
            format!(
                "the metadata of the authorization server `{{origin}}` cannot be used: GET {{origin}}{OAUTH}: 503 Service Unavailable"
            ),
        ),
        (
            vec![(PATH, resource(r#""http://as.example""#))],
            "the authorization server of `{origin}/mcp`: `http://as.example` may not be used: it is not `https`"
                .to_owned(),
        ),
        (
            vec![(PATH, resource(""))],
            "`{origin}/mcp` names no authorization server, and publishes nothing as one".to_owned(),
        ),
        (
            vec![(OAUTH, server("https://attacker.example.com"))],
            format!(
                "the metadata of `{{origin}}/mcp` as an authorization server cannot be used: {{origin}}{OAUTH}: its issuer is `https://attacker.example.com`, not `{{origin}}`"
            ),
        ),
    ];
    for (pages, expected) in cases {
        let run = Run::with(pages, None, LoginOptions::default()).await;
        assert_eq!(run.short(), Err(expected), "{:#?}", run.journal.steps());
        let error = run.found.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LoginFailed);
        assert_eq!(error.server().map(ToString::to_string).as_deref(), Some("web"));
        assert!(error.hint().is_some());
        assert!(run.journal.steps().iter().any(|step| step.outcome != StepOutcome::Good));
    }
}

#[tokio::test]
async fn a_promised_document_must_be_one() {
    let run = Run::with(vec![("/promised", html())], Some("{origin}/promised"), LoginOptions::default()).await;
    let expected = "the metadata of `{origin}/mcp` cannot be read: GET {origin}/promised: 200 OK, it is not JSON: `<!doctype html><title>Hello</title>`";
    assert_eq!(run.short(), Err(expected.to_owned()));
    let good = vec![(PATH, resource(r#""{origin}""#)), (OAUTH, server("{origin}"))];
    let run = Run::with(good, Some("not a URL"), LoginOptions::default()).await;
    assert!(run.found.is_ok(), "the usual places are looked at as well");
    assert_eq!(run.journal.steps()[0].detail, "it is no URL: `not a URL`");
    let run = Run::with(vec![], Some("{origin}/promised"), LoginOptions::default()).await;
    let expected = "`{origin}/mcp` names no authorization server, and publishes nothing as one";
    assert_eq!(run.short(), Err(expected.to_owned()), "nothing is taken for granted");
}

#[tokio::test]
async fn a_public_server_names_nobody_in_this_network() {
    let near = "it is on this machine or in this network, and the server is not";
    let public = |trusted: &str| {
        let place = Place::of(&Url::parse("https://mcp.example/mcp").unwrap(), &["8.8.8.8".parse().unwrap()]);
        Fetcher::at(pools(), place.trusting([trusted]))
    };
    // The server itself counts as public here, so nothing of it may be reached.
    let server = Loopback::serving(vec![]).await;
    let run = Run::at(
        server,
        &public("https://none.example"),
        Some("http://169.254.169.254/latest"),
        LoginOptions::default(),
    )
    .await;
    let expected = format!(
        "the metadata of `{{origin}}/mcp` cannot be read: GET http://169.254.169.254/latest: this address may not be used: {near}"
    );
    assert_eq!(run.short(), Err(expected));
    assert_eq!(run.server.asked(), [""; 0]);

    // Its document can be read, and names somebody who may not be asked.
    let server = Loopback::serving(vec![(PATH, resource(r#""{other}/as""#))]).await;
    let fetcher = public(&server.fill("{origin}"));
    let run = Run::at(server, &fetcher, None, LoginOptions::default()).await;
    let expected = format!("the authorization server of `{{origin}}/mcp`: `{{other}}/as` may not be used: {near}");
    assert_eq!(run.short(), Err(expected));
    assert_eq!(run.server.asked(), [format!("GET {PATH}")]);
}
