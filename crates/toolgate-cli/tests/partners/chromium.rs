//! A login through a real browser: Chromium shows the page of the authorization server, a button is pressed on it, and what Chromium shows after that is read.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toolgate_testkit::auth_server::script::Consent;
use toolgate_testkit::{AuthScript, AuthServer};

use crate::installed;
use crate::protected::{Protected, SERVER};
use crate::screen::Seen;

/// The program may be done before Chromium has painted its page.
const PAINTING: Duration = Duration::from_secs(45);

/// The first bytes of every PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What came of a login.
struct Visit {
    room: Protected,
    seen: Seen,
    page: String,
    /// Nothing is listened to without them.
    _server: (Runtime, AuthServer),
}

/// Logs in, with this button pressed. A test without Chromium fails: skipping it would prove nothing.
fn press(button: &str) -> Visit {
    let runtime = Runtime::new().expect("a runtime");
    let script = AuthScript::new().issuer(|issuer| {
        issuer.own_origin = true;
        issuer.consent = Consent::Page;
    });
    let server = runtime.block_on(AuthServer::start(script)).expect("a server");
    let mut room = Protected::new().at(server.mcp_url());
    let folder = room.room.world.root().join("chromium");
    std::fs::create_dir(&folder).expect("a folder");
    let browser = installed::chromium().arg(button).arg(folder.display().to_string());
    let seen = room.on_a_terminal(&["mcp", "auth", SERVER], &browser);
    let page = page(&folder.join("page.txt"), &folder.join("failure.txt"));
    let picture = std::fs::read(folder.join("page.png")).expect("a picture");
    assert!(picture.starts_with(PNG) && picture.len() > 1000, "the picture has {} bytes", picture.len());
    Visit { room, seen, page, _server: (runtime, server) }
}

/// What Chromium showed in the end.
fn page(text: &PathBuf, failure: &PathBuf) -> String {
    let deadline = Instant::now() + PAINTING;
    while Instant::now() < deadline {
        if let Ok(page) = std::fs::read_to_string(text)
            && page.ends_with('\n')
        {
            return page;
        }
        if let Ok(why) = std::fs::read_to_string(failure) {
            panic!("Chromium could not be used (on Debian: apt-get install chromium): {why}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("Chromium did not come to an end");
}

#[test]
fn whoever_allows_it_in_chromium_is_logged_in() {
    let visit = press("Allow");
    assert_eq!(visit.seen.code, Some(0), "{}", visit.seen.plain());
    assert!(visit.seen.plain().contains(&format!("✓ logged in to {SERVER} (")), "{}", visit.seen.plain());
    let expected = format!("✓ You are logged in to {SERVER}\n\nYou can close this page and go back to the terminal.\n");
    assert_eq!(visit.page, expected);
    visit.room.call();
}

#[test]
fn whoever_denies_it_in_chromium_is_told_on_the_page_and_on_the_terminal() {
    let visit = press("Deny");
    assert_eq!(visit.seen.code, Some(5), "{}", visit.seen.plain());
    let told = "the login was denied: the person said no";
    assert!(visit.seen.plain().contains(told), "{}", visit.seen.plain());
    assert!(visit.page.contains(&format!("The login to {SERVER} did not work")), "{}", visit.page);
    assert!(visit.page.contains("The login was denied: the person said no."), "{}", visit.page);
    visit.room.is_closed();
}
