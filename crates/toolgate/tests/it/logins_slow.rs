//! Authorization servers and people who take their time. The clock of the runtime is moved, so that nobody waits here.

use std::time::Duration;

use serde_json::json;
use toolgate::auth::LoginWish;
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{DeviceScript, KnownClient};
use toolgate_testkit::auth_server::{Answer, Ending};

use crate::login_room::{LoginRoom, Way};
use crate::support::LONG;

/// Moves the clock of the runtime.
async fn skip(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// What is told of a login during which the clock is moved once somebody asks at `path`.
async fn told_when_late(script: AuthScript, path: &str) -> (String, String) {
    let room = LoginRoom::new(script, &json!({}), Way::Opens).await;
    let (host, wish) = (room.host(), LoginWish::default());
    let clock = async {
        room.server.record().wait_for_request_to(path, LONG).await.unwrap();
        skip(Duration::from_secs(10)).await;
    };
    let ((told, _), ()) = tokio::join!(room.log_in(&host, &wish), clock);
    (told, room.seen())
}

#[tokio::test]
async fn an_answer_that_drips_or_never_comes_is_given_up() {
    let drip = || Answer::status(200).body("{ }").filler(1_000).drip(1, 200);
    let silent = || Answer::ending(Ending::Silence);
    let resource = "/.well-known/oauth-protected-resource/mcp";
    let issuer = "/.well-known/oauth-authorization-server";
    for (path, answer, expected, seen) in [
        (resource, drip(), "the metadata of `$ORIGIN/mcp` cannot be read: GET", ""),
        (resource, silent(), "the metadata of `$ORIGIN/mcp` cannot be read: GET", ""),
        (issuer, drip(), "the metadata of the authorization server `$ORIGIN` cannot be used: GET", ""),
        ("/register", silent(), "the registration endpoint $ORIGIN/register cannot be reached: POST", "register"),
        ("/token", drip(), "the token endpoint $ORIGIN/token cannot be reached: POST", "register authorize token"),
        ("/token", silent(), "the token endpoint $ORIGIN/token cannot be reached: POST", "register authorize token"),
    ] {
        let (told, seen_then) = told_when_late(AuthScript::new().answer(path, answer), path).await;
        let expected = format!("{expected} $ORIGIN{path}: no whole answer within 10000 ms | ");
        assert!(told.starts_with(&expected), "{told}");
        assert_eq!(seen_then, seen, "{path}");
    }
}

#[tokio::test]
async fn a_person_who_does_not_come_back_is_not_waited_for_for_ever() {
    let room = LoginRoom::new(AuthScript::new(), &json!({}), Way::Stays).await;
    let (host, wish) = (room.host(), LoginWish::default());
    let clock = async {
        while room.person.visits() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // A little more than they have: timers round up, and may have begun in this very millisecond.
        skip(Duration::from_secs(5 * 60 + 1)).await;
    };
    let ((told, _), ()) = tokio::join!(room.log_in(&host, &wish), clock);
    assert_eq!(told, "nobody logged in within 5 minutes");
    assert_eq!(room.seen(), "register");
}

#[tokio::test]
async fn another_device_is_waited_for_as_slowly_as_it_wants() {
    let device = |polls: &[&str]| {
        let polls = polls.iter().map(|&poll| poll.to_owned()).collect();
        AuthScript::new().issuer(|issuer| {
            issuer.clients.push(KnownClient { id: "toolgate".to_owned(), ..KnownClient::default() });
            issuer.device = Some(DeviceScript { polls, ..DeviceScript::default() });
        })
    };
    for (polls, expected, asked) in [
        (&["authorization_pending", "authorization_pending"][..], "logged in", 3),
        (&["slow_down", "authorization_pending"], "logged in", 3),
        (&["access_denied"], "the login was declined on the other device | log in again", 1),
        (&["expired_token"], "the code was not typed in on the other device in time | log in again", 1),
        (
            &["authorization_pending", "invalid_grant"],
            "the token endpoint $ORIGIN/token refused with `invalid_grant`: as scripted | log in again",
            2,
        ),
    ] {
        let room = LoginRoom::new(device(polls), &json!({"clientId": "toolgate"}), Way::Opens).await;
        let (host, wish) = (room.host(), LoginWish { on_device: true, ..LoginWish::default() });
        let clock = async {
            loop {
                // Shorter than any answer may take, and longer than any of these pauses.
                tokio::time::sleep(Duration::from_millis(100)).await;
                skip(Duration::from_secs(7)).await;
            }
        };
        let (told, _) = tokio::select! {
            ended = room.log_in(&host, &wish) => ended,
            () = clock => unreachable!("it goes on for ever"),
        };
        assert_eq!(told, expected, "{polls:?}");
        assert_eq!(room.server.record().requests_to("/token").len(), asked, "{polls:?}");
    }
}
