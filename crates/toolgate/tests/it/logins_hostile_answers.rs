//! Registration and the way back of the browser, in every wrong way: no code is redeemed that does not belong to this login.

use serde_json::{Value, json};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{Consent, Registration};
use toolgate_testkit::auth_server::{Answer, Ending};

use crate::login_room::{Case, LoginRoom, Way, check};

/// What to do when a client cannot be registered.
const BY_HAND: &str =
    "register a client there by hand with the redirect URI `$HERE/oauth/callback`, and set `oauth.clientId`";

/// How a client is registered, with something said otherwise.
fn registered(how: Registration, member: &str, value: Option<Value>) -> AuthScript {
    AuthScript::new().issuer(|issuer| {
        issuer.registration = how;
        issuer.registration_members.insert(member.to_owned(), value);
    })
}

#[tokio::test]
async fn a_registration_must_give_a_client_that_can_be_used() {
    let answers = |answer: Answer| AuthScript::new().answer("/register", answer);
    let page = "<!doctype html><title>Welcome</title>";
    let refused = AuthScript::new().issuer(|issuer| issuer.registration = Registration::Refused);
    let fails = |what, script, why: &str| {
        let told = format!("the registration endpoint $ORIGIN/register {why}").replace("$BY_HAND", BY_HAND);
        Case::fails(what, script, told, "RFC 7591 §3.2").seen("register")
    };
    let public = Registration::Public;
    check(vec![
        fails("refused", refused, "refused with `invalid_client_metadata`: clients are registered by hand (it does not take clients like this one) | $BY_HAND"),
        fails("no name", registered(public, "client_id", None), "gave no client ID | $BY_HAND"),
        fails("a number for a name", registered(public, "client_id", Some(json!(7))), "gave no client ID | $BY_HAND"),
        fails("a name over two lines", registered(public, "client_id", Some(json!("a\nb"))), "gave a client ID that cannot be used | $BY_HAND"),
        fails("a name without an end", registered(public, "client_id", Some(json!("x".repeat(100_000)))), "gave a client ID that cannot be used | $BY_HAND"),
        fails("another way back", registered(public, "redirect_uris", Some(json!(["https://evil.example/"]))), "registered other redirect URIs than `$HERE/oauth/callback` | $BY_HAND"),
        fails("no secret", registered(Registration::SecretBasic, "client_secret", None), "wants `client_secret_basic` and gave no client secret | $BY_HAND"),
        fails(
            "another way to show who we are",
            registered(public, "token_endpoint_auth_method", Some(json!("private_key_jwt"))),
            "wants clients to show who they are by `private_key_jwt`, which was not asked for | $BY_HAND",
        ),
        fails("a page", answers(Answer::html(200, page)), "answered 200 with a page instead of data | $BY_HAND"),
        fails("nothing", answers(Answer::status(201)), "answered 201 with nothing | $BY_HAND"),
        fails("an error of the server", answers(Answer::html(500, page)), "answered 500 | try again later"),
        fails("nobody there", answers(Answer::status(404)), "answered 404 with nothing | $BY_HAND"),
        fails("bytes that are no text", answers(Answer::status(201).bytes(b"{\"client_id\": \"\xff\"}")), "answered 201 with bytes that are not text | $BY_HAND"),
        fails("two megabytes", answers(Answer::status(201).body("{").filler(2 * 1024 * 1024)), "cannot be reached: POST $ORIGIN/register: the answer is larger than 1048576 bytes | try again later"),
        fails("a closed connection", answers(Answer::ending(Ending::Close)), "cannot be reached: POST $ORIGIN/register: connection closed before message completed | try again later"),
        fails("a redirect", answers(Answer::redirect("$ORIGIN/evil")), "answered 302, and what is posted there is not sent anywhere else | $BY_HAND"),
        Case::new(
            "a secret that has ended",
            registered(Registration::SecretBasic, "client_secret_expires_at", Some(json!(1))),
        ),
    ])
    .await;
}

#[tokio::test]
async fn an_answer_must_belong_to_this_login() {
    let fails = |what, script, told: &str, rule| Case::fails(what, script, told, rule).seen("register authorize");
    let callback = |name: &str, value: Option<&str>| AuthScript::new().callback(name, value);
    let denied = || AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied);
    let answers = |query: &str| AuthScript::new().answer("/authorize", Answer::redirect(format!("$REDIRECT?{query}")));
    let promise = "authorization_response_iss_parameter_supported";
    let page = AuthScript::new().issuer(|issuer| issuer.consent = Consent::Page);
    let page_of_error = |status| AuthScript::new().answer("/authorize", Answer::html(status, "<h1>Sorry</h1>"));
    let mut elsewhere = AuthScript::new();
    elsewhere.issuer.callback.to = Some("$ORIGIN/evil".to_owned());
    check(vec![
        fails(
            "another state",
            callback("state", Some("forged")),
            "the answer belongs to another login: its `state` is not the one that was sent",
            "RFC 6749 §10.12",
        ),
        fails("no state", callback("state", None), "the login was given up", ""),
        fails(
            "two states",
            answers("code=c&state=$STATE&state=$STATE&iss=$ISSUER"),
            "the answer belongs to another login: its `state` is not the one that was sent",
            "RFC 6749 §10.12",
        ),
        fails(
            "another issuer",
            callback("iss", Some("https://evil.example")),
            "the answer comes from `https://evil.example`, not from `$ORIGIN`, which was asked",
            "RFC 9207 §2.4",
        ),
        fails(
            "an issuer with a slash",
            callback("iss", Some("$ISSUER/")),
            "the answer comes from `$ORIGIN/`, not from `$ORIGIN`, which was asked",
            "RFC 9207 §2.4",
        ),
        fails(
            "no issuer, though promised",
            callback("iss", None),
            "the answer does not say who it comes from, though `$ORIGIN` promises to",
            "RFC 9207 §2.4",
        ),
        Case::new("no issuer, as nothing was promised", callback("iss", None).omits(promise)),
        fails(
            "another issuer, though nothing was promised",
            callback("iss", Some("https://evil.example")).omits(promise),
            "the answer comes from `https://evil.example`, not from `$ORIGIN`, which was asked",
            "RFC 9207 §2.4",
        ),
        fails("denied", denied(), "the login was denied: the person said no", "RFC 6749 §4.1.2.1"),
        fails(
            "denied by nobody",
            denied().callback("iss", None),
            "the answer does not say who it comes from, though `$ORIGIN` promises to",
            "RFC 9207 §2.4",
        ),
        fails(
            "denied by somebody else",
            denied().callback("iss", Some("https://evil.example")),
            "the answer comes from `https://evil.example`, not from `$ORIGIN`, which was asked",
            "RFC 9207 §2.4",
        ),
        fails("denied on the page", page, "the login was denied: the person said no", "RFC 6749 §4.1.2.1")
            .way(Way::Presses("deny"))
            .seen("register authorize consent"),
        fails("no code", callback("code", None), "the login was given up", ""),
        fails("an empty code", callback("code", Some("")), "the answer has no usable `code`", "RFC 6749 §4.1.2"),
        fails(
            "two codes",
            answers("code=a&code=b&state=$STATE&iss=$ISSUER"),
            "the answer has no usable `code`",
            "RFC 6749 §4.1.2",
        ),
        fails(
            "a code and an error",
            callback("error", Some("server_error")),
            "the authorization server failed",
            "RFC 6749 §4.1.2.1",
        ),
        fails(
            "an error that nobody knows",
            callback("error", Some("\u{1b}[2Jno\r\nX: 1")),
            "the authorization server answered `\\u{1b}[2Jno\\r\\nX: 1`",
            "RFC 6749 §4.1.2.1",
        ),
        fails("an answer without an end", callback("code", Some(&"x".repeat(20_000))), "the login was given up", ""),
        fails("an error page", page_of_error(500), "the login was given up", ""),
        fails("a page that leads nowhere", page_of_error(200), "the login was given up", ""),
        fails("the way elsewhere", elsewhere, "the login was given up", "").seen("register authorize evil"),
    ])
    .await;
}

#[tokio::test]
async fn a_page_shows_foreign_words_and_lets_nothing_run() {
    let words = "<script>alert('x')</script>\u{1b}[2J & more";
    let script = AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied);
    let room = LoginRoom::new(script.callback("error_description", Some(words)), &json!({}), Way::Opens).await;
    let told = room.connect(&room.host()).await;
    assert_eq!(told, "the login was denied: <script>alert('x')</script>\\u{1b}[2J & more");
    let pages = room.person.pages().await;
    let [page] = pages.as_slice() else { panic!("one page, not {pages:?}") };
    let shown =
        "The login was denied: &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\\u{1b}[2J &amp; more. The terminal says";
    assert!(page.contains(shown) && !page.contains("<script") && !page.contains('\u{1b}'), "{page}");
}
