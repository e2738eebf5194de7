//! Registration and the way back of the browser, in every wrong way: no code is redeemed that does not belong to this login.

use serde_json::{Value, json};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{Consent, DeviceScript, Registration};
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
    let registers = |answer: Answer| AuthScript::new().answer("/register", answer);
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
        fails("a page", registers(Answer::html(200, page)), "answered 200 with a page instead of data | $BY_HAND"),
        fails("nothing", registers(Answer::status(201)), "answered 201 with nothing | $BY_HAND"),
        fails("an error of the server", registers(Answer::html(500, page)), "answered 500 | try again later"),
        fails("nobody there", registers(Answer::status(404)), "answered 404 with nothing | $BY_HAND"),
        fails("bytes that are no text", registers(Answer::status(201).bytes(b"{\"client_id\": \"\xff\"}")), "answered 201 with bytes that are not text | $BY_HAND"),
        fails("two megabytes", registers(Answer::status(201).body("{").filler(2 * 1024 * 1024)), "cannot be reached: POST $ORIGIN/register: the answer is larger than 1048576 bytes | try again later"),
        fails("a closed connection", registers(Answer::ending(Ending::Close)), "cannot be reached: POST $ORIGIN/register: connection closed before message completed | try again later"),
        fails("a redirect", registers(Answer::redirect("$ORIGIN/evil")), "answered 302, and what is posted there is not sent anywhere else | $BY_HAND"),
        Case::new(
            "a secret that has ended",
            registered(Registration::SecretBasic, "client_secret_expires_at", Some(json!(1))),
        ),
    ])
    .await;
}

/// A login that ends when the browser comes back: no code of it is redeemed.
fn unanswered(what: &'static str, script: AuthScript, told: &str, rule: &'static str) -> Case {
    Case::fails(what, script, told, rule).seen("register authorize")
}

fn callback(name: &str, value: Option<&str>) -> AuthScript {
    AuthScript::new().callback(name, value)
}

fn denied() -> AuthScript {
    AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied)
}

fn answers(query: &str) -> AuthScript {
    AuthScript::new().answer("/authorize", Answer::redirect(format!("$REDIRECT?{query}")))
}

#[tokio::test]
async fn an_answer_must_belong_to_this_login() {
    let other = "the answer belongs to another login: its `state` is not the one that was sent";
    let evil = "the answer comes from `https://evil.example`, not from `$ORIGIN`, which was asked";
    let slash = "the answer comes from `$ORIGIN/`, not from `$ORIGIN`, which was asked";
    let nobody = "the answer does not say who it comes from, though `$ORIGIN` promises to";
    let promise = "authorization_response_iss_parameter_supported";
    let by_evil = |script: AuthScript| script.callback("iss", Some("https://evil.example"));
    let (state, issuer) = ("RFC 6749 §10.12", "RFC 9207 §2.4");
    let two_states = answers("code=c&state=$STATE&state=$STATE&iss=$ISSUER");
    check(vec![
        unanswered("another state", callback("state", Some("forged")), other, state),
        unanswered("no state", callback("state", None), "the login was given up", ""),
        unanswered("two states", two_states, other, state),
        unanswered("another issuer", by_evil(AuthScript::new()), evil, issuer),
        unanswered("an issuer with a slash", callback("iss", Some("$ISSUER/")), slash, issuer),
        unanswered("no issuer, though promised", callback("iss", None), nobody, issuer),
        Case::new("no issuer, as nothing was promised", callback("iss", None).omits(promise)),
        unanswered("another issuer, and no promise", by_evil(AuthScript::new().omits(promise)), evil, issuer),
        unanswered("denied by nobody", denied().callback("iss", None), nobody, issuer),
        unanswered("denied by somebody else", by_evil(denied()), evil, issuer),
    ])
    .await;
}

#[tokio::test]
async fn an_answer_must_have_a_code() {
    let page = AuthScript::new().issuer(|issuer| issuer.consent = Consent::Page);
    let leads_nowhere = |status| AuthScript::new().answer("/authorize", Answer::html(status, "<h1>Sorry</h1>"));
    let mut elsewhere = AuthScript::new();
    elsewhere.issuer.callback.to = Some("$ORIGIN/evil".to_owned());
    let (no, gave_up) = ("the login was denied: the person said no", "the login was given up");
    let no_code = "the answer has no usable `code`";
    let unknown = "the authorization server answered `\\u{1b}[2Jno\\r\\nX: 1`";
    let (refused, code) = ("RFC 6749 §4.1.2.1", "RFC 6749 §4.1.2");
    let endless = "x".repeat(20_000);
    check(vec![
        unanswered("denied", denied(), no, refused),
        unanswered("denied on the page", page, no, refused)
            .way(Way::Presses("deny"))
            .seen("register authorize consent"),
        unanswered("no code", callback("code", None), gave_up, ""),
        unanswered("an empty code", callback("code", Some("")), no_code, code),
        unanswered("two codes", answers("code=a&code=b&state=$STATE&iss=$ISSUER"), no_code, code),
        unanswered(
            "a code and an error",
            callback("error", Some("server_error")),
            "the authorization server failed",
            refused,
        ),
        unanswered("an error that nobody knows", callback("error", Some("\u{1b}[2Jno\r\nX: 1")), unknown, refused),
        unanswered("an answer without an end", callback("code", Some(&endless)), gave_up, ""),
        unanswered("an error page", leads_nowhere(500), gave_up, ""),
        unanswered("a page that leads nowhere", leads_nowhere(200), gave_up, ""),
        unanswered("the way elsewhere", elsewhere, gave_up, "").seen("register authorize evil"),
    ])
    .await;
}

#[tokio::test]
async fn a_login_on_another_device_must_begin_with_what_a_person_can_use() {
    let right = json!({
        "device_code": "device-code-1", "user_code": "ABCD", "verification_uri": "$ORIGIN/device", "expires_in": 600,
    });
    let says = |member: &str, value: Value| {
        let mut document = right.clone();
        document[member] = value;
        Answer::json(200, &document)
    };
    let fails = |what, answer: Answer, why: &str| {
        let script = AuthScript::new().client("toolgate", None).answer("/device_authorization", answer);
        let script = script.issuer(|issuer| issuer.device = Some(DeviceScript::default()));
        let told = format!("the device authorization endpoint $ORIGIN/device_authorization {why}");
        let case = Case::fails(what, script, told, "RFC 8628 §3.2").on_device().seen("device");
        case.oauth(json!({"clientId": "toolgate"}))
    };
    check(vec![
        fails("a page", Answer::html(200, "<h1>Welcome</h1>"), "answered 200 with a page instead of data | check"),
        fails("an error of the server", Answer::status(500), "answered 500 | try again later"),
        fails("a redirect", Answer::redirect("$ORIGIN/evil"), "answered 302, and what is posted there"),
        fails("no code to ask with", says("device_code", json!(7)), "gave no device code"),
        fails("no code to type in", says("user_code", json!("")), "gave no code to type in"),
        fails("a code that steers", says("user_code", json!("\u{1b}[2J")), "gave a code that nobody can type in"),
        fails("a code without an end", says("user_code", json!("x".repeat(9_999))), "gave a code that nobody can"),
        fails("no address", says("verification_uri", json!(null)), "gave no address to type the code in at"),
        fails("a script", says("verification_uri", json!("javascript:alert(1)")), "gave an address that no browser"),
        fails("a file", says("verification_uri", json!("file:///etc/passwd")), "gave an address that no browser"),
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
