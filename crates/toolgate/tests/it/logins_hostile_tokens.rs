//! What token endpoints answer, in every wrong way: harmless oddities are taken, everything else is told without what is secret.

use serde_json::{Value, json};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::TokenFormat;
use toolgate_testkit::auth_server::{Answer, Ending};
use toolgate_testkit::fault::BodyOddity;

use crate::login_room::{Case, check};

/// What to do when the answer makes no sense.
const CHECK: &str = "check `oauth.tokenUrl`, or ask whoever runs the authorization server";

fn says(member: &str, value: Value) -> AuthScript {
    AuthScript::new().token_says(member, value)
}

fn answers(answer: Answer) -> AuthScript {
    AuthScript::new().answer("/token", answer)
}

/// A login that fails at the token endpoint, in that way.
fn fails(what: &'static str, script: AuthScript, why: &str) -> Case {
    let told = format!("the token endpoint $ORIGIN/token {why}").replace("$CHECK", CHECK);
    Case::fails(what, script, told, "RFC 6749 §5").seen("register authorize token")
}

fn refuses(status: u16, error: &str) -> AuthScript {
    answers(Answer::json(status, &json!({"error": error, "error_description": "not \u{1b}[31mtoday\r\nX: 1"})))
}

#[tokio::test]
async fn harmless_oddities_are_taken() {
    let format = |format| AuthScript::new().issuer(|issuer| issuer.token_format = format);
    check(vec![
        Case::new("a text for a time", says("expires_in", json!("3600"))),
        Case::new("a fraction for a time", says("expires_in", json!(3600.5))),
        Case::new("a time without an end", says("expires_in", json!(1e300))),
        Case::new("a time before it began", says("expires_in", json!(-5))),
        Case::new("no time at all", says("expires_in", json!(0))),
        Case::new("a list for a time", says("expires_in", json!([1]))),
        Case::new("no word about the time", AuthScript::new().token_omits("expires_in")),
        Case::new("a form", format(TokenFormat::Form)),
        Case::new("JSON that calls itself text", format(TokenFormat::JsonAsText)),
        Case::new("no word about the kind", AuthScript::new().token_omits("token_type")),
        Case::new("a kind in small letters", says("token_type", json!("bearer"))),
        Case::new("a list of scopes", says("scope", json!(["a", "b"]))),
        Case::new("a number for a refresh token", says("refresh_token", json!(7))),
        Case::new("slowly, byte by byte", AuthScript::new().issuer(|issuer| issuer.token_delay_ms = 300)),
    ])
    .await;
}

#[tokio::test]
async fn what_is_no_token_is_not_taken() {
    let token = |token: &str| says("access_token", json!(token));
    let good = json!({"access_token": "good", "token_type": "Bearer"}).to_string();
    check(vec![
        fails("no token", AuthScript::new().token_omits("access_token"), "gave no access token | $CHECK"),
        fails("an empty token", token(""), "gave an empty access token | $CHECK"),
        fails("a number", says("access_token", json!(7)), "gave an access token that is not text | $CHECK"),
        fails("a token with a header behind it", token("abcdefgh\r\nX-Evil: 1"), "gave an access token with characters that no request can carry | $CHECK"),
        fails("a token of two words", token("abcdefgh ijklmnop"), "gave an access token with characters that no request can carry | $CHECK"),
        fails("a token of other letters", token("abcdefgh\u{e9}"), "gave an access token with characters that no request can carry | $CHECK"),
        fails("a token without an end", token(&"x".repeat(100_000)), "gave an access token of 100000 bytes; 65536 are taken | $CHECK"),
        fails("another kind", says("token_type", json!("mac")), "gave a token of the type `mac`; only `Bearer` and `DPoP` can be used | $CHECK"),
        fails("a kind that is no text", says("token_type", json!({"a": 1})), "gave a token whose type is not text | $CHECK"),
        fails("a token for a key that was not shown", says("token_type", json!("DPoP")), "gave a token of the type `DPoP`, and no proof was sent | $CHECK"),
        fails("a page", answers(Answer::html(200, "<h1>Welcome</h1>")), "answered 200 with a page instead of data | $CHECK"),
        fails("nothing", answers(Answer::status(200)), "answered 200 with nothing | $CHECK"),
        fails("a list", answers(Answer::json(200, &json!([good]))), "answered 200 with JSON that is not an object | $CHECK"),
        fails("broken JSON", answers(Answer::status(200).body("{\"access_token\": \"good\"")), "answered 200 with broken JSON | $CHECK"),
        fails("bytes that are no text", answers(Answer::status(200).bytes(b"{\"access_token\": \"\xff\"}")), "answered 200 with bytes that are not text | $CHECK"),
        fails("two megabytes", answers(Answer::status(200).body(good.clone()).filler(2 * 1024 * 1024)), "cannot be reached: POST $ORIGIN/token: the answer is larger than 1048576 bytes | try again later"),
        fails("half an answer", answers(Answer::status(200).body(good).oddity(BodyOddity::LengthTooLong)), "cannot be reached: POST $ORIGIN/token: the answer broke off: error reading a body from connection | try again later"),
        fails("a closed connection", answers(Answer::ending(Ending::Close)), "cannot be reached: POST $ORIGIN/token: connection closed before message completed | try again later"),
        fails("a redirect", answers(Answer::redirect("$ORIGIN/evil")), "answered 302, and what is posted there is not sent anywhere else | $CHECK"),
        fails("a redirect that keeps the form", answers(Answer::status(307).header("Location", "$ORIGIN/evil")), "answered 307, and what is posted there is not sent anywhere else | $CHECK"),
    ])
    .await;
}

#[tokio::test]
async fn refusals_are_told_in_one_line_with_what_to_do() {
    let nested = json!({"error": {"code": "NOT_TODAY", "message": "come back later"}});
    check(vec![
        fails("the code", refuses(400, "invalid_grant"), "refused with `invalid_grant`: not [31mtoday X: 1 | log in again"),
        fails("the client", refuses(401, "invalid_client"), "refused with `invalid_client`: not [31mtoday X: 1 | check `oauth.clientId` and `oauth.clientSecret`, or remove them to register anew"),
        fails("the scope", refuses(400, "invalid_scope"), "refused with `invalid_scope`: not [31mtoday X: 1 | check `oauth.scopes`"),
        fails("the service", refuses(400, "invalid_target"), "refused with `invalid_target`: not [31mtoday X: 1 | the authorization server gives no tokens for this server; check its address and `oauth.audiences`"),
        fails("the grant", refuses(400, "unsupported_grant_type"), "refused with `unsupported_grant_type`: not [31mtoday X: 1 | the authorization server does not let this client log in this way; check `oauth.grantType`"),
        fails("with status 200", refuses(200, "invalid_grant"), "refused with `invalid_grant`: not [31mtoday X: 1 | log in again"),
        fails("for now", refuses(503, "temporarily_unavailable"), "answered 503 and refused with `temporarily_unavailable`: not [31mtoday X: 1 | try again later"),
        fails("for now, as there are too many", answers(Answer::status(429).header("Retry-After", "1")), "answered 429 | try again later"),
        fails("with a page", answers(Answer::html(500, "<h1>Sorry</h1>")), "answered 500 | try again later"),
        fails("without a reason", answers(Answer::json(400, &json!({}))), "answered 400 without a reason | $CHECK"),
        fails("with a reason of its own", answers(Answer::json(400, &nested)), "refused with `NOT_TODAY`: come back later | log in again"),
        fails("with nobody there", answers(Answer::status(404)), "answered 404 with nothing | $CHECK"),
        fails("a code that was forged", AuthScript::new().callback("code", Some("forged-code")), "refused with `invalid_grant`: the code is not known | log in again"),
    ])
    .await;
}
