//! Logins on a terminal: one question, an address, and the terminal as it was before.

use serde_json::json;
use toolgate_testkit::auth_server::script::Consent;
use toolgate_testkit::{AuthScript, AuthServer};

use crate::room::Room;
use crate::screen::{self, Person, Seen};
use crate::visitor::{address, open, protected, room};

const CTRL_C: &str = "\u{3}";

/// The address on the screen, when all of it is there.
fn shown_address(person: &mut Person) -> String {
    person.sees("Waiting for the browser");
    address(&person.screen()).expect("an address is shown")
}

#[track_caller]
fn ended_well(seen: &Seen) {
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    assert!(seen.terminal_is_as_before, "{}", seen.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_lists_tools_is_asked_once_and_led_through() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server);
    let seen = screen::attended(&room, &["tools"], |person| {
        person.sees("MCP server gated needs a login. Log in now?");
        person.presses("y\r");
        open(&shown_address(person));
    });
    ended_well(&seen);
    assert_eq!(seen.plain().matches("Log in now? Yes").count(), 1, "{}", seen.plain());
    assert!(seen.plain().contains("echo"), "{}", seen.plain());
    let again = screen::run(&room, &["tools"], &[]);
    ended_well(&again);
    assert!(!again.plain().contains("Log in"), "{}", again.plain());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_want_to_is_not_asked_again() {
    let server = protected(AuthScript::new()).await;
    let seen = screen::run(&room(&server), &["tools", "gated"], &[("Log in now?", "n\r")]);
    assert_eq!(seen.code, Some(5), "{}", seen.text);
    assert!(seen.terminal_is_as_before);
    assert!(seen.plain().contains("toolgate mcp auth gated"), "{}", seen.plain());
    assert!(server.record().requests_to("/register").is_empty(), "nothing began");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_must_not_ask_does_not() {
    let server = protected(AuthScript::new()).await;
    let room = room(&server).with("gated", "oauth", json!({"enabled": false}));
    for words in [&["tools", "gated"][..], &["tools", "gated", "--headless"], &["tools", "gated", "--json"]] {
        let seen = screen::run(&room, words, &[]);
        assert_eq!(seen.code, Some(5), "{words:?}: {}", seen.text);
        assert!(!seen.plain().contains("Log in now?"), "{}", seen.plain());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_gives_up_gets_the_terminal_back() {
    let server = protected(AuthScript::new()).await;
    for words in [&["mcp", "auth", "gated"][..], &["mcp", "auth", "gated", "--no-browser"]] {
        let seen = screen::attended(&room(&server), words, |person| {
            shown_address(person);
            person.interrupts();
        });
        assert_eq!(seen.code, Some(6), "{}", seen.text);
        assert!(seen.terminal_is_as_before, "{}", seen.text);
    }
    let seen = screen::attended(&room(&server), &["tools"], |person| {
        person.sees("Log in now?");
        person.presses(CTRL_C);
    });
    assert_eq!(seen.code, Some(5), "not now is an answer: {}", seen.text);
    assert!(seen.terminal_is_as_before, "{}", seen.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_can_be_pasted_into_the_terminal() {
    let server = elsewhere().await;
    let room = room(&server);
    let seen = screen::attended(&room, &["mcp", "auth", "gated"], |person| {
        let page = open(&shown_address(person));
        person.presses(&format!("{}\r", page.url));
    });
    ended_well(&seen);
    assert!(seen.plain().contains("✓ logged in to gated"), "{}", seen.plain());
}

/// A server whose browser is sent where nobody listens for it.
async fn elsewhere() -> AuthServer {
    protected(AuthScript::new().issuer(|issuer| issuer.callback.to = Some("$ORIGIN/elsewhere".to_owned()))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_opened_where_there_is_one() {
    let server = protected(AuthScript::new().issuer(|issuer| issuer.consent = Consent::Page)).await;
    let mut room: Room = room(&server);
    let browser = room
        .world
        .write_in_home("browser", "#!/bin/sh\nprintf '%s' \"$1\" > ~/opened.tmp && mv ~/opened.tmp ~/opened\n");
    let browser = browser.unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&browser, everybody).unwrap();
    room.world.set_variable("BROWSER", browser.display().to_string());
    let opened = room.world.home().join("opened");
    let seen = screen::attended(&room, &["mcp", "auth", "gated"], |person| {
        let shown = shown_address(person);
        while !opened.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(std::fs::read_to_string(&opened).unwrap(), shown);
        let page = open(&shown);
        let pressing = page.press("allow");
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(pressing)).unwrap();
    });
    ended_well(&seen);
    assert!(seen.plain().contains("A browser was opened."), "{}", seen.plain());
}
