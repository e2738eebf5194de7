//! Questions that come up around a session at a terminal: about the folder before it begins, about a login while somebody types.

use serde_json::json;
use toolgate_testkit::AuthScript;

use crate::emulated::Emulated;
use crate::room::{Room, sample};
use crate::visitor::{address, open, protected};

const UP: &str = "\u{1b}[A";

fn room() -> Room {
    Room::new().server("one", &sample("one")).without_workspace()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_types_is_told_of_a_login_and_logs_in_when_they_like() {
    let server = protected(AuthScript::new()).await;
    let room = room();
    let mut terminal = Emulated::run(&room, &[], 300);
    terminal.sees("🟢 one is ready");
    terminal.presses("/call one__ec");
    terminal.sees("> /call one__ec");
    let _room = room.entry("gated", json!({"url": server.mcp_url(), "type": "http"}));
    terminal.sees("needs a login; run `/mcp auth gated`");
    let is_kept = |screen: &str| screen.lines().last().is_some_and(|line| line.starts_with("> /call one__ec "));
    terminal.until("what was typed before", is_kept);
    assert_eq!(terminal.screen().matches("needs a login").count(), 1, "{}", terminal.screen());
    terminal.presses("ho message=hi\r");
    terminal.sees_line("hi");
    terminal.presses("/mcp auth gated\r");
    terminal.sees("Waiting for the browser");
    open(&address(&terminal.screen()).expect("an address is shown"));
    terminal.sees("🟢 gated is ready");
    assert_eq!(terminal.leaves(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_a_call_needs_is_asked_about() {
    let server = protected(AuthScript::new()).await;
    let room = room().entry("gated", json!({"url": server.mcp_url(), "type": "http"}));
    let mut terminal = Emulated::run(&room, &[], 300);
    terminal.sees("needs a login; run `/mcp auth gated`");
    terminal.presses("/call gated__echo message=no\r");
    terminal.sees("MCP server gated needs a login. Log in now?");
    terminal.presses("n\r");
    terminal.sees("error: MCP server gated");
    terminal.presses("/call gated__echo message=yes\r");
    terminal.until("the question again", |screen| screen.matches("Log in now?").count() == 2);
    terminal.presses("y\r");
    terminal.sees("Waiting for the browser");
    open(&address(&terminal.screen()).expect("an address is shown"));
    terminal.sees_line("yes");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn a_folder_is_asked_about_before_the_session_begins() {
    let brought = json!({"mcpServers": {"two": {"command": "../server", "args": ["--script", "../one.json"]}}});
    for (keys, is_trusted) in [([UP; 3].concat(), true), (UP.to_owned(), false), (String::new(), false)] {
        let room = room();
        room.world.write_in_workspace(".toolgate/settings.json", &brought.to_string()).unwrap();
        let mut terminal = Emulated::run(&room, &[], 100);
        terminal.sees("Do you trust it?");
        terminal.presses(&keys);
        let chosen = if is_trusted { "> Trust this folder" } else { "> D" };
        terminal.sees(chosen);
        terminal.presses("\r");
        if is_trusted {
            terminal.sees("2/2 servers");
            terminal.presses("/call two__echo message=hi\r");
            terminal.sees_line("hi");
            assert_eq!(terminal.leaves(), Some(0));
        } else {
            assert_eq!(terminal.ends(), Some(8));
            assert!(!room.log("one").exists(), "nothing was started");
        }
    }
}
