//! What servers and authorization servers publish, in every wrong way: nobody is sent anywhere on account of it, and the words say what is wrong.

use serde_json::{Value, json};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::Registration;
use toolgate_testkit::auth_server::{Answer, Ending};
use toolgate_testkit::fault::BodyOddity;

use crate::login_room::{Case, check};

const OF_SERVER: &str = "/.well-known/oauth-protected-resource/mcp";
const OF_ISSUER: &str = "/.well-known/oauth-authorization-server";

/// What to do when nothing usable is published.
const SET: &str = " | set `oauth.authorizationUrl` and `oauth.tokenUrl`, or ask whoever runs the server";
/// What to do when it is about somebody else.
const CHECK: &str = " | check `url` of this server in the settings; the metadata must name the address that is used";
/// What every complaint about the document of the authorization server begins with.
const PUBLISHED: &str = "the metadata of the authorization server `$ORIGIN` cannot be used: $ORIGIN/.well-known/oauth-authorization-server: ";

/// Words with the place of a document in them, and what is always said of it.
fn placed(why: &str, path: &str) -> String {
    why.replace("$PLACE", &format!("$ORIGIN{path}"))
        .replace("$UNUSABLE", "metadata of the authorization server `$ORIGIN` cannot be used")
}

/// A login that fails because what the server publishes cannot be read.
fn unread(what: &'static str, script: AuthScript, why: &str) -> Case {
    let told = format!("the metadata of `$ORIGIN/mcp` cannot be read: {}{SET}", placed(why, OF_SERVER));
    Case::fails(what, script, told, "")
}

/// The server publishes that instead.
fn resource(answer: Answer) -> AuthScript {
    AuthScript::new().answer(OF_SERVER, answer)
}

/// The server says that about itself.
fn resource_says(member: &str, value: Value) -> AuthScript {
    AuthScript::new().protection(|protection| drop(protection.metadata_members.insert(member.to_owned(), Some(value))))
}

/// The authorization server publishes that instead.
fn issuer(answer: Answer) -> AuthScript {
    AuthScript::new().answer(OF_ISSUER, answer)
}

/// The authorization server says that about itself.
fn issuer_says(member: &str, value: Value) -> AuthScript {
    AuthScript::new().says(member, value)
}

fn json_text(text: impl Into<String>) -> Answer {
    Answer::status(200).header("Content-Type", "application/json").body(text)
}

#[tokio::test]
async fn what_a_server_publishes_must_be_a_document() {
    let page = "<!doctype html><title>Welcome</title>";
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let bottomless = format!("GET $PLACE: 200 OK, it is not JSON: `{}…`", "[".repeat(200));
    check(vec![
        unread(
            "a page",
            resource(Answer::html(200, page)),
            "GET $PLACE: 200 OK, it is not JSON: `<!doctype html><title>Welcome</title>`",
        ),
        unread("no JSON", resource(json_text("resource: mcp")), "GET $PLACE: 200 OK, it is not JSON: `resource: mcp`"),
        unread("nothing", resource(json_text("")), "GET $PLACE: 200 OK, it is empty"),
        unread("a list", resource(json_text("[1, 2]")), "GET $PLACE: 200 OK, it is JSON, and no object: `[1, 2]`"),
        unread("JSON without a bottom", resource(json_text(deep)), &bottomless),
        unread(
            "bytes that are no text",
            resource(Answer::status(200).bytes(b"{\"resource\": \"\xff\xfe\"}")),
            "GET $PLACE: 200 OK, it is not UTF-8: `{\"resource\": \"��\"}`",
        ),
        unread("an error of the server", resource(Answer::html(500, page)), "GET $PLACE: 500 Internal Server Error"),
        unread("too many requests", resource(Answer::status(429)), "GET $PLACE: 429 Too Many Requests"),
        unread(
            "ten megabytes",
            resource(json_text("{").filler(10 * 1024 * 1024)),
            "GET $PLACE: the answer is larger than 262144 bytes",
        ),
        unread(
            "a closed connection",
            resource(Answer::ending(Ending::Close)),
            "GET $PLACE: connection closed before message completed",
        ),
        unread(
            "half a document",
            resource(json_text("{\"resource\":").oddity(BodyOddity::LengthTooLong)),
            "GET $PLACE: the answer broke off: error reading a body from connection",
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_a_server_publishes_is_not_looked_for_anywhere() {
    let page = "<!doctype html><title>Welcome</title>";
    check(vec![
        unread(
            "a redirect to itself",
            resource(Answer::redirect(format!("$ORIGIN{OF_SERVER}"))),
            "GET $PLACE: more than 3 redirects",
        ),
        unread(
            "a redirect to a file",
            resource(Answer::redirect("file:///etc/passwd")),
            "GET file:/etc/passwd: this address may not be used: `file:` is not `https:`",
        ),
        unread(
            "a redirect to another host",
            resource(Answer::redirect("http://public.example/x")),
            "GET http://public.example/x: this address may not be used: it is not `https`",
        ),
        unread(
            "a redirect to nowhere",
            resource(Answer::status(302)),
            "GET $PLACE: a redirect that does not say where to",
        ),
        Case::new(
            "a page, where nothing was promised",
            resource(Answer::html(200, page)).protection(|protection| {
                protection.challenges = Some(vec!["Bearer".to_owned()]);
            }),
        ),
        Case::new("nothing, though it was promised", resource(Answer::status(404))),
    ])
    .await;
}

#[tokio::test]
async fn what_a_server_publishes_must_be_about_itself() {
    let fails = |what, script, why: &str| {
        Case::fails(
            what,
            script,
            format!("the metadata at $ORIGIN{OF_SERVER} cannot be used: {why}{CHECK}"),
            "RFC 9728 §3.3",
        )
    };
    let says = |resource: &str| resource_says("resource", json!(resource));
    check(vec![
        fails(
            "another host",
            says("https://evil.example/mcp"),
            "it is about `https://evil.example/mcp`, not about `$ORIGIN/mcp`",
        ),
        fails("another port", says("http://127.0.0.1:1/mcp"), "it is about `$HERE/mcp`, not about `$ORIGIN/mcp`"),
        fails(
            "another scheme",
            says("https://127.0.0.1/mcp"),
            "it is about `https://127.0.0.1/mcp`, not about `$ORIGIN/mcp`",
        ),
        fails("a longer path", says("$MCP/deeper"), "it is about `$ORIGIN/mcp/deeper`, not about `$ORIGIN/mcp`"),
        fails("a path that begins alike", says("$ORIGIN/mc"), "it is about `$ORIGIN/mc`, not about `$ORIGIN/mcp`"),
        fails(
            "a name in it",
            says("http://somebody@127.0.0.1/mcp"),
            "it is about `http://somebody@127.0.0.1/mcp`, not about `$ORIGIN/mcp`",
        ),
        fails("a fragment in it", says("$MCP#part"), "it is about `$ORIGIN/mcp#part`, not about `$ORIGIN/mcp`"),
        fails("no address", says("the server"), "it is about `the server`, not about `$ORIGIN/mcp`"),
        fails("a number", resource_says("resource", json!(7)), "it has no `resource`"),
        fails("nothing", resource(json_text("{}")), "it has no `resource`"),
    ])
    .await;
}

#[tokio::test]
async fn a_server_must_name_an_authorization_server_that_can_be_used() {
    let fails =
        |what, script, why: &str, rule| Case::fails(what, script, format!("the authorization server {why}{SET}"), rule);
    let lists = |servers: Value| resource_says("authorization_servers", servers);
    let many: Vec<String> = (0..2_000).map(|number| format!("$ORIGIN/{number}")).collect();
    check(vec![
        fails("no address", lists(json!(["whoever"])), "of `$ORIGIN/mcp`: `whoever` is no URL", "RFC 8414 §2"),
        fails(
            "a file",
            lists(json!(["file:///etc/passwd"])),
            "of `$ORIGIN/mcp`: `file:///etc/passwd` may not be used: `file:` is not `https:`",
            "RFC 8414 §2",
        ),
        fails(
            "spoken to in the clear",
            lists(json!(["http://public.example"])),
            "of `$ORIGIN/mcp`: `http://public.example` may not be used: it is not `https`",
            "RFC 8414 §2",
        ),
        fails(
            "a password in it",
            lists(json!(["https://a:b@public.example"])),
            "of `$ORIGIN/mcp`: `https://a:b@public.example` may not be used: it has a name or password in it",
            "RFC 8414 §2",
        ),
        fails(
            "a query",
            lists(json!(["$ISSUER?tenant=1"])),
            "of `$ORIGIN/mcp`: `$ORIGIN?tenant=1` has a query or fragment",
            "RFC 8414 §2",
        ),
        fails("nothing there", lists(json!(["$ISSUER/elsewhere"])), "`$ORIGIN/elsewhere` publishes no metadata", ""),
        fails("far too many, none of them there", lists(json!(many)), "`$ORIGIN/0` publishes no metadata", ""),
        Case::new("a broken one first", lists(json!(["whoever", "$ISSUER/elsewhere", "$ISSUER"]))),
        Case::new("none, and the origin is one", lists(json!([]))),
        Case::new("a text in place of a list", lists(json!("$ISSUER"))),
        Case::new("wrong types among right ones", lists(json!([null, 7, {"a": []}, "$ISSUER"]))),
    ])
    .await;
}

#[tokio::test]
async fn what_an_authorization_server_publishes_must_be_a_document() {
    let fails = |what, script, why: &str| Case::fails(what, script, format!("the {}{SET}", placed(why, OF_ISSUER)), "");
    let page = "<!doctype html><title>Welcome</title>";
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let bottomless = format!("$UNUSABLE: GET $PLACE: 200 OK, it is not JSON: `{}…`", "[".repeat(200));
    check(vec![
        fails(
            "a page",
            issuer(Answer::html(200, page)),
            "$UNUSABLE: GET $PLACE: 200 OK, it is not JSON: `<!doctype html><title>Welcome</title>`",
        ),
        fails("nothing", issuer(json_text("")), "$UNUSABLE: GET $PLACE: 200 OK, it is empty"),
        fails("a list", issuer(json_text("[]")), "$UNUSABLE: GET $PLACE: 200 OK, it is JSON, and no object: `[]`"),
        fails("JSON without a bottom", issuer(json_text(deep)), &bottomless),
        fails(
            "bytes that are no text",
            issuer(Answer::status(200).bytes(b"\xff\xfe{}")),
            "$UNUSABLE: GET $PLACE: 200 OK, it is not UTF-8: `\u{fffd}\u{fffd}{}`",
        ),
        fails(
            "an error of the server",
            issuer(Answer::html(503, page)),
            "$UNUSABLE: GET $PLACE: 503 Service Unavailable",
        ),
        fails("nothing there", issuer(Answer::status(404)), "authorization server `$ORIGIN` publishes no metadata"),
        fails("forbidden", issuer(Answer::status(403)), "authorization server `$ORIGIN` publishes no metadata"),
        fails(
            "ten megabytes",
            issuer(json_text("{").filler(10 * 1024 * 1024)),
            "$UNUSABLE: GET $PLACE: the answer is larger than 262144 bytes",
        ),
        fails(
            "a closed connection",
            issuer(Answer::ending(Ending::Close)),
            "$UNUSABLE: GET $PLACE: connection closed before message completed",
        ),
        fails(
            "a redirect to itself",
            issuer(Answer::redirect(format!("$ORIGIN{OF_ISSUER}"))),
            "$UNUSABLE: GET $PLACE: more than 3 redirects",
        ),
        fails(
            "a redirect to a file",
            issuer(Answer::redirect("file:///etc/passwd")),
            "$UNUSABLE: GET file:/etc/passwd: this address may not be used: `file:` is not `https:`",
        ),
        fails(
            "a redirect to another host",
            issuer(Answer::redirect("http://public.example/x")),
            "$UNUSABLE: GET http://public.example/x: this address may not be used: it is not `https`",
        ),
    ])
    .await;
}

#[tokio::test]
async fn an_authorization_server_must_be_the_one_that_was_asked() {
    let fails = |what, script, why: &str| {
        Case::fails(
            what,
            script,
            format!("the metadata of the authorization server {}{SET}", placed(why, OF_ISSUER)),
            "RFC 8414 §3.3",
        )
    };
    let other_case =
        AuthScript::new().issuer(|issuer| issuer.path = "/tenant".to_owned()).says("issuer", json!("$AS/Tenant"));
    check(vec![
        fails(
            "another one",
            issuer_says("issuer", json!("https://evil.example")),
            "`$ORIGIN` cannot be used: $PLACE: its issuer is `https://evil.example`, not `$ORIGIN`",
        ),
        fails(
            "a slash at its end",
            issuer_says("issuer", json!("$ISSUER/")),
            "`$ORIGIN` cannot be used: $PLACE: its issuer is `$ORIGIN/`, not `$ORIGIN`",
        ),
        fails(
            "other letters",
            other_case,
            "`$ORIGIN/tenant` cannot be used: $PLACE/tenant: its issuer is `$ORIGIN/Tenant`, not `$ORIGIN/tenant`",
        ),
        fails(
            "its default port written",
            issuer_says("issuer", json!("http://127.0.0.1:80")),
            "`$ORIGIN` cannot be used: $PLACE: its issuer is `$HERE`, not `$ORIGIN`",
        ),
        fails(
            "a list",
            issuer_says("issuer", json!(["$ISSUER"])),
            "`$ORIGIN` cannot be used: $PLACE: it has no `issuer`",
        ),
        fails("no name", AuthScript::new().omits("issuer"), "`$ORIGIN` cannot be used: $PLACE: it has no `issuer`"),
        fails(
            "a name without an end",
            issuer_says("issuer", json!("x".repeat(100_000))),
            "`$ORIGIN` cannot be used: $PLACE: it has no `issuer`",
        ),
    ])
    .await;
}

#[tokio::test]
async fn endpoints_must_be_there_and_safe() {
    let fails = |what, script, why: &str, rule| Case::fails(what, script, format!("{PUBLISHED}{why}{SET}"), rule);
    let at = |member: &str, address: &str| issuer_says(member, json!(address));
    check(vec![
        fails("no place to log in", AuthScript::new().omits("authorization_endpoint"), "it has no `authorization_endpoint`", "RFC 6749 §3.1"),
        fails("no place for tokens", AuthScript::new().omits("token_endpoint"), "it has no `token_endpoint`", "RFC 6749 §3.2"),
        fails("a script to log in", at("authorization_endpoint", "javascript:alert(1)"), "`authorization_endpoint` may not be used, `javascript:` is not `https:`: `javascript:alert(1)`", "RFC 6749 §3.1"),
        fails("a login in the clear", at("authorization_endpoint", "http://public.example/"), "`authorization_endpoint` may not be used, it is not `https`: `http://public.example/`", "RFC 6749 §3.1"),
        fails("a login behind a fragment", at("authorization_endpoint", "$AS/authorize#x"), "`authorization_endpoint` may not be used, it has a fragment: `$ORIGIN/authorize#x`", "RFC 6749 §3.1"),
        fails("a login with a password", at("authorization_endpoint", "https://a:b@public.example/"), "`authorization_endpoint` may not be used, it has a name or password in it: `https://a:b@public.example/`", "RFC 6749 §3.1"),
        fails("a relative place to log in", at("authorization_endpoint", "/authorize"), "`authorization_endpoint` is no URL: `/authorize`", "RFC 6749 §3.1"),
        fails("a number to log in", issuer_says("authorization_endpoint", json!(1)), "it has no `authorization_endpoint`", "RFC 6749 §3.1"),
        fails("tokens in the clear", at("token_endpoint", "http://public.example/token"), "`token_endpoint` may not be used, it is not `https`: `http://public.example/token`", "RFC 6749 §3.2"),
        fails("tokens from a file", at("token_endpoint", "file:///etc/passwd"), "`token_endpoint` may not be used, `file:` is not `https:`: `file:///etc/passwd`", "RFC 6749 §3.2"),
        fails("tokens behind a fragment", at("token_endpoint", "$AS/token#x"), "`token_endpoint` may not be used, it has a fragment: `$ORIGIN/token#x`", "RFC 6749 §3.2"),
        fails("tokens with a password", at("token_endpoint", "https://a:b@public.example/"), "`token_endpoint` may not be used, it has a name or password in it: `https://a:b@public.example/`", "RFC 6749 §3.2"),
        fails("registration in the clear", at("registration_endpoint", "http://public.example/"), "`registration_endpoint` may not be used, it is not `https`: `http://public.example/`", "RFC 7591 §3"),
        fails("registration by mail", at("registration_endpoint", "mailto:a@public.example"), "`registration_endpoint` may not be used, `mailto:` is not `https:`: `mailto:a@public.example`", "RFC 7591 §3"),
        fails("nothing about PKCE", AuthScript::new().omits("code_challenge_methods_supported"), "it has no `code_challenge_methods_supported`", "MCP, \"Authorization Code Protection\""),
        fails("PKCE in plain words", issuer_says("code_challenge_methods_supported", json!(["plain"])), "`code_challenge_methods_supported` does not have `S256`", "MCP, \"Authorization Code Protection\""),
        fails("PKCE that is no list", issuer_says("code_challenge_methods_supported", json!("S256")), "it has no `code_challenge_methods_supported`", "MCP, \"Authorization Code Protection\""),
        Case::fails(
            "no way to be known",
            AuthScript::new().issuer(|issuer| issuer.registration = Registration::Absent),
            "the authorization server $ORIGIN registers no clients by itself | register a client there by hand with the redirect URI `$HERE/oauth/callback`, and set `oauth.clientId`",
            "",
        ),
        Case::new("lists without an end", issuer_says("scopes_supported", json!(vec!["x"; 5_000]))),
        Case::new("wrong types everywhere else", ["scopes_supported", "grant_types_supported", "dpop_signing_alg_values_supported"]
            .iter()
            .fold(AuthScript::new(), |script, member| script.says(member, json!({"a": 7})))),
    ])
    .await;
}

#[tokio::test]
async fn a_challenge_can_be_anything() {
    let challenged = |challenge: &str| {
        AuthScript::new().protection(|protection| protection.challenges = Some(vec![challenge.to_owned()]))
    };
    let elsewhere = json!({"resource": "https://evil.example/mcp", "authorization_servers": ["https://evil.example"]});
    let many =
        AuthScript::new().protection(|protection| protection.challenges = Some(vec!["Negotiate abc".to_owned(); 60]));
    check(vec![
        Case::new("none", AuthScript::new().protection(|protection| protection.challenges = Some(Vec::new()))),
        Case::new("for passwords only", challenged("Basic realm=\"x\"")),
        Case::new("sixty", many),
        Case::new("what is no address", challenged("Bearer resource_metadata=\"the usual place\"")),
        Case::new("a quote that does not end", challenged("Bearer resource_metadata=\"$ORIGIN")),
        Case::new("commas", challenged("Bearer ,,,=,,\"\",scope=,,realm")),
        Case::new("a text without an end", challenged(&format!("Bearer scope=\"{}\"", "x".repeat(6_000)))),
        Case::new("a file", challenged("Bearer resource_metadata=\"file:///etc/passwd\"")),
        Case::new("another host in the clear", challenged("Bearer resource_metadata=\"http://public.example/x\"")),
        Case::fails(
            "metadata of somebody else",
            challenged("Bearer resource_metadata=\"$ORIGIN/metadata\"").answer("/metadata", Answer::json(200, &elsewhere)),
            "the metadata at $ORIGIN/metadata cannot be used: it is about `https://evil.example/mcp`, not about `$ORIGIN/mcp` | check `url` of this server in the settings; the metadata must name the address that is used",
            "RFC 9728 §3.3",
        ),
    ])
    .await;
}
