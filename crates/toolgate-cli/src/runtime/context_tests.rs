//! What tells the servers of two commands apart.

use serde_json::{Value, json};
use toolgate::Interest;
use toolgate_testkit::TestWorld;

use super::Context;
use crate::args::Options;
use crate::configured::{Configured, Plan};
use crate::talk::Talk;
use crate::terminal::Terminal;
use toolgate::{HostDirs, HostEnv, Setup, SetupOptions, SystemClock};

/// The plan of a command with these variables and this entry among the servers.
pub(crate) fn plan(world: &TestWorld, entry: &Value, vars: &[(&str, &str)]) -> Plan {
    let settings = json!({"mcpServers": {"one": entry}}).to_string();
    world.write_in_home(".toolgate/settings.json", &settings).unwrap();
    let home = world.home();
    let dirs = HostDirs { user: home.join(".toolgate"), system: world.root().join("system"), home: Some(home) };
    let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let env = HostEnv { vars, dirs, workspace: world.workspace().into(), clock: std::sync::Arc::new(SystemClock) };
    let setup = Setup::read(&env, &SetupOptions::default()).unwrap();
    Configured::new(setup, &Talk::new(&Terminal::default())).plan(Interest::TOOLS)
}

fn context(world: &TestWorld, entry: &Value, vars: &[(&str, &str)]) -> Context {
    Context::of(&plan(world, entry, vars), &Options::default(), false)
}

#[test]
fn a_variable_counts_unless_it_is_of_a_terminal_and_nobody_names_it() {
    let world = TestWorld::new().unwrap();
    let plain = json!({"command": "srv"});
    let with = |text: &str| json!({"command": "srv", "env": {"X": text}});
    let cases = [
        (&plain, "SETTING", true),
        (&plain, "TERM", false),
        (&plain, "TERMINAL_TOKEN", true),
        (&plain, "SSH_TTY", false),
        (&plain, "SSH_AUTH_SOCK", true),
        (&plain, "SSH_TOKEN", true),
        (&plain, "TMUX", false),
        (&plain, "TMUX_SECRET", true),
        (&plain, "DBUS_SESSION_BUS_ADDRESS", true),
        (&plain, "ALACRITTY_WINDOW_ID", false),
        (&plain, "GNOME_TERMINAL_SCREEN", false),
        (&plain, "ITERM_SESSION_ID", false),
        (&plain, "KITTY_LISTEN_ON", false),
        (&plain, "KITTY_TOKEN", true),
        (&plain, "KONSOLE_DBUS_SESSION", false),
        (&plain, "TERM_SESSION_ID", false),
        (&plain, "TERMINATOR_UUID", false),
        (&plain, "VSCODE_GIT_IPC_HANDLE", true),
        (&plain, "VSCODE_IPC_HOOK_CLI", false),
        (&plain, "TOOLGATE_WATCHED", false),
        (&plain, "VTE_VERSION", false),
        (&plain, "WEZTERM_UNIX_SOCKET", false),
        (&plain, "WINDOWID", false),
        (&plain, "WT_SESSION", false),
        (&plain, "XDG_ACTIVATION_TOKEN", false),
        (&plain, "ZELLIJ_PANE_ID", false),
        (&with("${env:KITTY_LISTEN_ON}"), "KITTY_LISTEN_ON", true),
        (&with("${env:TERM}"), "TERM", true),
        (&with("${env:TERM}"), "SSH_TTY", false),
        (&with("${cmd:echo $SSH_TTY}"), "SSH_TTY", true),
        (&json!({"command": "srv", "args": ["${env:STY}"]}), "STY", true),
        (&json!({"url": "https://a.example/${env:TMUX}"}), "TMUX", true),
        (&json!({"url": "https://a.example", "headers": {"x": "${env:TMUX}"}}), "TMUX", true),
        (&json!({"url": "https://a.example", "headersHelper": "print $GPG_TTY"}), "GPG_TTY", true),
    ];
    for (entry, name, is_apart) in cases {
        let plans = ["1", "2"].map(|value| plan(&world, entry, &[("PATH", "/bin"), (name, value)]));
        let contexts = plans.each_ref().map(|plan| Context::of(plan, &Options::default(), false));
        assert_eq!(contexts[0] != contexts[1], is_apart, "{name} with {entry}");
        // What they share has nothing of either.
        let shared = contexts[0].world(&plans[0].env).vars;
        assert_eq!((shared.contains_key(name), shared.contains_key("PATH")), (is_apart, true), "{name} with {entry}");
    }
}

#[test]
fn a_folder_that_was_made_anew_is_another_one() {
    let world = TestWorld::new().unwrap();
    let entry = json!({"command": "srv"});
    let before = context(&world, &entry, &[]);
    assert!(before == context(&world, &entry, &[]));
    std::fs::rename(world.workspace(), world.root().join("aside")).unwrap();
    std::fs::create_dir(world.workspace()).unwrap();
    assert!(before != context(&world, &entry, &[]));
}
