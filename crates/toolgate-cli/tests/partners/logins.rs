//! Logins at authorization servers that nobody here wrote: the npm package `oidc-provider`, whose pages want a name and a consent, and FastMCP's own.

use std::time::Duration;

use crate::installed::{self, CommandLine};
use crate::listening::Listening;
use crate::protected::{Protected, SERVER};

/// Long enough to be used, short enough to be waited for.
const TOKEN_SECONDS: u64 = 8;

/// Tokens that are not waited for.
const HOUR: u64 = 3600;

/// `oidc-provider`, on a free port.
fn oidc(token_seconds: u64) -> CommandLine {
    installed::oidc().arg("0").arg(token_seconds.to_string())
}

/// FastMCP, on a free port.
fn fastmcp(token_seconds: u64) -> CommandLine {
    installed::fastmcp_login().arg("0").arg(token_seconds.to_string())
}

/// A room and the server in its settings.
fn room(partner: &CommandLine) -> (Protected, Listening) {
    let room = Protected::new();
    let log = room.log().display().to_string();
    let listening = Listening::start(partner, &[("PARTNER_LOG", &log)]);
    (room.at(&listening.url), listening)
}

#[track_caller]
fn assert_logged_in(code: Option<i32>, transcript: &str) {
    assert_eq!(code, Some(0), "{transcript}");
    assert!(transcript.contains(&format!("✓ logged in to {SERVER} (")), "{transcript}");
    assert!(transcript.contains("it offers 1 tool"), "{transcript}");
}

/// Logs in on a terminal, in a browser. Then one process after the other uses the login where nobody is, beyond the end of two tokens, until it is
/// given up.
fn lives_until_it_is_given_up(partner: &CommandLine) {
    let (mut room, _listening) = room(partner);
    room.is_closed();
    let seen = room.on_a_terminal(&["mcp", "auth", SERVER], &room.form_browser());
    assert_logged_in(seen.code, &seen.plain());
    let pages = room.seen();
    let last = pages.last().expect("the browser saw something");
    assert!(last.starts_with("200 http://127.0.0.1:"), "{pages:#?}");
    assert!(last.contains(&format!("You are logged in to {SERVER}")), "{pages:#?}");
    room.call();
    for _ in 0..2 {
        let renewals = room.times("granted refresh_token");
        std::thread::sleep(Duration::from_secs(TOKEN_SECONDS));
        room.call();
        assert!(room.times("granted refresh_token") > renewals, "the token has ended");
    }
    assert_eq!(room.room.prints(&["mcp", "logout", SERVER]), format!("logged out of {SERVER}\n"));
    room.is_closed();
    assert_eq!(room.seen(), pages, "no browser was opened again");
    assert_eq!((room.times("registered"), room.times("granted authorization_code")), (1, 1));
}

#[test]
fn a_login_at_oidc_provider_lives_until_it_is_given_up() {
    lives_until_it_is_given_up(&oidc(TOKEN_SECONDS));
}

#[test]
fn a_login_that_is_bound_to_a_key_lives_until_it_is_given_up() {
    lives_until_it_is_given_up(&oidc(TOKEN_SECONDS).arg("dpop"));
}

#[test]
fn a_login_at_fastmcp_lives_until_it_is_given_up() {
    lives_until_it_is_given_up(&fastmcp(TOKEN_SECONDS));
}

#[test]
fn the_browser_may_be_elsewhere() {
    for partner in [oidc(HOUR), fastmcp(HOUR)] {
        let (room, _listening) = room(&partner);
        let (code, transcript) = room.log_in_elsewhere();
        assert_logged_in(code, &transcript);
        let addresses: Vec<String> =
            room.seen().iter().filter_map(|page| page.split(' ').nth(1).map(str::to_owned)).collect();
        assert!(!addresses.iter().any(|address| address.contains("/oauth/callback")), "{addresses:#?}");
        room.call();
        assert_eq!(room.times("granted refresh_token"), 0, "the token is good for long");
    }
}

#[test]
fn another_device_can_be_used_with_oidc_provider() {
    let (mut room, _listening) = room(&oidc(HOUR));
    let seen = room.on_a_terminal(&["mcp", "auth", SERVER, "--device"], &room.form_browser());
    assert_logged_in(seen.code, &seen.plain());
    assert!(seen.plain().contains("and enter the code  "), "{}", seen.plain());
    assert_eq!(room.times("granted urn:ietf:params:oauth:grant-type:device_code"), 1);
    room.call();
}

#[test]
fn whoever_cancels_at_oidc_provider_is_not_logged_in() {
    let (mut room, _listening) = room(&oidc(HOUR));
    let seen = room.on_a_terminal(&["mcp", "auth", SERVER], &room.form_browser().arg("--deny"));
    assert_eq!(seen.code, Some(5), "{}", seen.plain());
    let told = "the login was denied: End-User aborted interaction";
    assert!(seen.plain().contains(told), "{}", seen.plain());
    let pages = room.seen();
    assert!(pages.last().is_some_and(|page| page.contains("denied: End-User aborted")), "{pages:#?}");
    room.is_closed();
}
