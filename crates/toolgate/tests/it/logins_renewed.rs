//! Logins that go on without a person: renewed before their end, shared, and kept when the authorization server is unwell.

use std::time::Duration;

use serde_json::json;
use toolgate::auth::guide::LoginReason;
use toolgate::{CallOutcome, Host};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::Refresh;
use toolgate_testkit::auth_server::{Answer, AnswerAt, Ending};

use crate::login_room::{LoginRoom, Way, told};
use crate::support::{call, text};

/// When a token for an hour is renewed, and still good.
const SOON_OVER: Duration = Duration::from_secs(3_400);
/// When it is over.
const OVER: Duration = Duration::from_secs(3_700);

/// A person has logged in.
async fn logged_in(script: AuthScript) -> (LoginRoom, Host) {
    let room = LoginRoom::new(script, &json!({}), Way::Opens).await;
    let host = room.host();
    assert_eq!(room.connect(&host).await, "connected");
    (room, host)
}

impl LoginRoom {
    /// What a call gives.
    async fn echoed(&self, host: &Host) -> String {
        let outcome = call(host, "echo", json!({"message": "hello"})).await;
        let told = match &outcome {
            CallOutcome::Failed(error) => told(error),
            outcome => text(outcome),
        };
        self.assert_untold(&format!("{outcome:?} {told}"));
        self.assert_unwritten();
        self.plain(&told)
    }

    /// What was asked of the authorization server after the login.
    fn seen_since(&self) -> String {
        self.seen().replacen("register authorize token", "", 1).trim().to_owned()
    }
}

/// The second answer of the token endpoint, which is that to the first renewal.
fn second(answer: Answer) -> AuthScript {
    AuthScript::new().answer_at(AnswerAt::new("/token", answer).nth(2))
}

#[tokio::test]
async fn a_login_goes_on_for_as_long_as_it_can_be_renewed() {
    for refresh in [Refresh::Rotating, Refresh::Static] {
        let (room, host) = logged_in(AuthScript::new().issuer(|issuer| issuer.refresh = refresh)).await;
        for _ in 0..3 {
            room.clock().advance(OVER);
            assert_eq!(room.echoed(&host).await, "hello", "{refresh:?}");
        }
        assert_eq!(room.seen_since(), "refresh refresh refresh", "{refresh:?}");
        assert_eq!(room.person.reasons(), [LoginReason::New], "{refresh:?}");
        assert_eq!(room.server.record().double_redemptions(), 0);
    }
}

#[tokio::test]
async fn a_token_that_is_taken_back_is_renewed_within_the_call_which_runs_once() {
    let (room, host) = logged_in(AuthScript::new()).await;
    room.server.revoke_access_tokens();
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(room.seen_since(), "refresh");
    assert_eq!(room.server.service_record().count("tools/call"), 1);
    assert_eq!(room.person.reasons(), [LoginReason::New]);
}

#[tokio::test]
async fn hosts_share_a_login_and_renew_it_once() {
    let (room, first) = logged_in(AuthScript::new()).await;
    let second = room.host();
    assert_eq!(room.connect(&second).await, "connected");
    assert_eq!(room.seen_since(), "");
    room.clock().advance(OVER);
    let (one, other) = tokio::join!(room.echoed(&first), room.echoed(&second));
    assert_eq!((one.as_str(), other.as_str()), ("hello", "hello"));
    assert_eq!(room.seen_since(), "refresh");
    assert_eq!(room.server.record().double_redemptions(), 0);
}

#[tokio::test]
async fn what_is_wrong_with_a_renewal_does_not_matter_while_the_token_lives() {
    let html = || Answer::html(200, "<h1>Sorry</h1>");
    let odd = || Answer::json(200, &json!({"access_token": "abcdefgh", "token_type": "mac"}));
    for (what, answer) in [
        ("an error of the server", Answer::status(500)),
        ("too many requests", Answer::status(429)),
        ("a page", html()),
        ("another kind of token", odd()),
        ("no token", Answer::json(200, &json!({"refresh_token": "abcdefgh"}))),
        ("a closed connection", Answer::ending(Ending::Close)),
        ("two megabytes", Answer::status(200).filler(2 * 1024 * 1024)),
    ] {
        let (room, host) = logged_in(second(answer)).await;
        room.clock().advance(SOON_OVER);
        assert_eq!(room.echoed(&host).await, "hello", "{what}");
        assert_eq!(room.echoed(&host).await, "hello", "{what}");
        assert_eq!(room.seen_since(), "refresh", "{what}: not asked again at once");
        room.clock().advance(Duration::from_secs(60));
        assert_eq!(room.echoed(&host).await, "hello", "{what}");
        assert_eq!(room.seen_since(), "refresh refresh", "{what}: asked again after a while");
        assert_eq!(room.person.reasons(), [LoginReason::New], "{what}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_renewal_is_told_when_the_token_is_over_and_nothing_is_lost() {
    let unavailable = Answer::json(503, &json!({"error": "temporarily_unavailable"}));
    for (what, answer, expected) in [
        ("an error of the server", Answer::status(500), "answered 500"),
        ("for now", unavailable, "answered 503 and refused with `temporarily_unavailable`"),
        ("a page", Answer::html(200, "<h1>Sorry</h1>"), "answered 200 with a page instead of data"),
        (
            "a closed connection",
            Answer::ending(Ending::Close),
            "cannot be reached: POST $ORIGIN/token: connection closed before message completed",
        ),
    ] {
        let (room, host) = logged_in(second(answer)).await;
        room.clock().advance(OVER);
        assert_eq!(
            room.echoed(&host).await,
            format!(
                "the login to `protected` is over and could not be renewed: the token endpoint $ORIGIN/token {expected}; try again later; `toolgate mcp auth protected` logs in anew"
            ),
            "{what}"
        );
        assert_eq!(host.kept_logins().unwrap().len(), 1, "{what}");
        assert_eq!(room.echoed(&host).await, "hello", "{what}: it works again");
        assert_eq!(room.seen_since(), "refresh refresh", "{what}");
        assert_eq!(room.person.reasons(), [LoginReason::New], "{what}");
    }
}

#[tokio::test]
async fn a_login_that_is_taken_back_is_used_up_and_then_asked_for_again() {
    let (room, host) = logged_in(AuthScript::new()).await;
    room.server.revoke_refresh_tokens();
    room.clock().advance(SOON_OVER);
    assert_eq!(room.echoed(&host).await, "hello", "the token still works");
    let kept = host.kept_logins().unwrap();
    assert_eq!((kept.len(), kept[0].can_renew), (1, false));
    room.server.revoke_access_tokens();
    room.clock().advance(OVER);
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(room.seen_since(), "refresh authorize token");
    assert_eq!(room.person.reasons(), [LoginReason::New, LoginReason::Ended]);
}

#[tokio::test]
async fn an_answer_that_is_lost_costs_one_login() {
    let lost = AnswerAt::new("/token", Answer::ending(Ending::Close)).nth(2).handled();
    let (room, host) = logged_in(AuthScript::new().answer_at(lost)).await;
    room.clock().advance(SOON_OVER);
    assert_eq!(room.echoed(&host).await, "hello", "the old token still works");
    assert_eq!(room.server.record().double_redemptions(), 0, "nothing is sent twice by itself");
    room.clock().advance(OVER);
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(room.seen_since(), "refresh refresh authorize token");
    assert_eq!(room.person.reasons(), [LoginReason::New, LoginReason::Ended]);
}

#[tokio::test]
async fn scopes_that_were_narrowed_are_known() {
    let narrowed =
        json!({"access_token": "narrowed-token", "token_type": "Bearer", "expires_in": 3600, "scope": "read"});
    let script = second(Answer::json(200, &narrowed)).protection(|protection| {
        protection.scopes = vec!["read".to_owned(), "write".to_owned()];
        protection.accepts.push("narrowed-token".to_owned());
    });
    let (room, host) = logged_in(script).await;
    assert_eq!(host.kept_logins().unwrap()[0].scopes, ["read", "write"]);
    room.clock().advance(OVER);
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(host.kept_logins().unwrap()[0].scopes, ["read"]);
    assert!(host.kept_logins().unwrap()[0].can_renew, "the refresh token that was not repeated is kept");
}

#[tokio::test]
async fn many_calls_at_once_renew_once_and_log_in_once() {
    let (room, host) = logged_in(AuthScript::new()).await;
    let all = || futures_util::future::join_all((0..6).map(|_| room.echoed(&host)));
    room.server.revoke_access_tokens();
    assert_eq!(all().await, ["hello"; 6]);
    assert_eq!(room.seen_since(), "refresh");
    room.server.revoke_access_tokens();
    room.server.revoke_refresh_tokens();
    assert_eq!(all().await, ["hello"; 6]);
    assert_eq!(room.seen_since(), "refresh refresh authorize token");
    assert_eq!(room.person.reasons(), [LoginReason::New, LoginReason::Ended]);
}

#[tokio::test]
async fn a_client_that_was_forgotten_is_registered_anew() {
    let (room, host) = logged_in(AuthScript::new()).await;
    room.server.forget_clients();
    room.clock().advance(OVER);
    room.server.revoke_access_tokens();
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(room.seen_since(), "refresh register authorize token");

    let (room, host) = logged_in(AuthScript::new().issuer(|issuer| issuer.refresh = Refresh::Absent)).await;
    room.server.forget_clients();
    room.server.revoke_access_tokens();
    assert_eq!(room.echoed(&host).await, "the login was given up", "a page says that the client is not known");
    assert_eq!(room.echoed(&host).await, "hello");
    assert_eq!(room.seen_since(), "authorize register authorize token");

    let unknown = Answer::json(401, &json!({"error": "invalid_client"}));
    let script = AuthScript::new().answer_at(AnswerAt::new("/token", unknown).first(1));
    let room = LoginRoom::new(script, &json!({}), Way::Opens).await;
    let told = room.connect(&room.host()).await;
    assert!(told.starts_with("the token endpoint $ORIGIN/token refused with `invalid_client` | "), "{told}");
    assert_eq!(room.connect(&room.host()).await, "connected");
    assert_eq!(room.seen(), "register authorize token register authorize token");
}

#[tokio::test]
async fn a_server_that_turns_to_another_issuer_does_not_get_what_the_first_one_gave() {
    let metadata = "/.well-known/oauth-protected-resource/mcp";
    let other = json!({"resource": "$MCP", "authorization_servers": ["$ORIGIN/other"]});
    let issuer = json!({
        "issuer": "$ORIGIN/other", "authorization_endpoint": "$ORIGIN/other/authorize",
        "token_endpoint": "$ORIGIN/other/token", "code_challenge_methods_supported": ["S256"],
    });
    let turned = AnswerAt { skip: 1, ..AnswerAt::new(metadata, Answer::json(200, &other)) };
    let script = AuthScript::new()
        .answer_at(turned)
        .answer("/.well-known/oauth-authorization-server/other", Answer::json(200, &issuer));
    let (room, host) = logged_in(script).await;
    room.server.revoke_access_tokens();
    let told = room.echoed(&host).await;
    assert!(
        told.starts_with("the authorization server $ORIGIN/other registers no clients by itself; register"),
        "{told}"
    );
    assert_eq!(room.seen_since(), "", "the refresh token of the first one is not sent to anybody");
    assert_eq!(host.kept_logins().unwrap().len(), 1);
}
