//! Logins and the runtime: who logs out in another process is logged out of what it keeps running.

use serde_json::json;
use toolgate_testkit::AuthScript;

use crate::runtime_room::RuntimeRoom;
use crate::screen;
use crate::visitor::{address, log_in, open, protected, room};

#[tokio::test(flavor = "multi_thread")]
async fn a_login_counts_from_the_next_command_on() {
    let server = protected(AuthScript::new()).await;
    let room = RuntimeRoom::up(room(&server));
    let lines = ["call gated__echo message=x", "tools gated", "call gated__echo message=x --json"];
    let check = |expected: i32| {
        for line in lines {
            let there = room.run(line);
            assert_eq!(there.code(), Some(expected), "{line}: {}", there.transcript());
        }
    };
    check(5);
    log_in(&room, "gated");
    check(0);
    assert_eq!(room.run("mcp logout gated").code(), Some(0));
    check(5);
    log_in(&room, "gated");
    check(0);
    assert_eq!(room.run("mcp logout --all").code(), Some(0));
    check(5);
    assert_eq!(room.status()["requests"], 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_led_through_a_login_by_the_program() {
    // What is odd in the settings is said first, and is no reason not to give the command back.
    for setting in [json!({}), json!({"odd": 1})] {
        for words in [&["tools"][..], &["call", "gated__echo", "message=x"]] {
            let server = protected(AuthScript::new()).await;
            let room = RuntimeRoom::up(room(&server).setting("model", setting.clone()));
            let seen = screen::attended(&room, words, |person| {
                person.sees("MCP server gated needs a login. Log in now?");
                person.presses("y\r");
                person.sees("Waiting for the browser");
                open(&address(&person.screen()).expect("an address is shown"));
            });
            assert_eq!(seen.code, Some(0), "{words:?}: {}", seen.text);
            assert!(seen.terminal_is_as_before, "{words:?}: {}", seen.text);
            let again = screen::run(&room, words, &[]);
            assert_eq!((again.code, again.plain().contains("Log in")), (Some(0), false), "{words:?}: {}", again.text);
        }
    }
}
