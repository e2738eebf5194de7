//! The `toolgate` program with a real keychain: GNOME Keyring over D-Bus, in a session of its own that `interop/keychain` starts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use toolgate_testkit::TestWorld;
use toolgate_testkit::command::CommandOutput;

use crate::installed;

/// A bus, a keychain and a server start on a machine that may be busy.
const RUN_MAX: Duration = Duration::from_secs(110);

const SECRET: &str = "open sesame ✓";

/// A world in which one server has its token in the keychain, and writes it down before it starts.
fn world() -> TestWorld {
    let world = TestWorld::new().expect("a world");
    let line = r#"printf %s "\$TOKEN" > ../token; exec "\$0" --local-timezone UTC"#;
    let entry = json!({
        "command": "sh", "args": ["-c", line, installed::time().program], "env": {"TOKEN": "${keychain:my time}"},
    });
    let settings = json!({"mcpServers": {"time": entry}, "mcp": {"excluded": ["workspace"]}});
    world.write_in_home(".toolgate/settings.json", &settings.to_string()).expect("settings");
    world
}

/// Runs `toolgate` beside a keychain that holds the secret under that name. A test without a keychain fails: skipping it would prove nothing.
fn beside_keychain(world: &TestWorld, keychain: &[&str], words: &[&str]) -> CommandOutput {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/keychain");
    let command = world.command(script).args(keychain.iter().copied()).arg(env!("CARGO_BIN_EXE_toolgate"));
    let output = command.args(words.iter().copied()).input(SECRET).timeout(RUN_MAX).run().expect("it ends");
    assert!(output.code() != Some(125), "{}", output.transcript());
    assert!(!output.transcript().contains(SECRET), "the secret is told:\n{}", output.transcript());
    output
}

fn token(world: &TestWorld) -> Option<String> {
    std::fs::read_to_string(world.root().join("token")).ok()
}

#[test]
fn a_server_receives_what_the_keychain_holds() {
    let world = world();
    let output = beside_keychain(&world, &["my time"], &["tools", "--json"]);
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.contains("convert_time"), "{}", output.transcript());
    assert_eq!(token(&world).as_deref(), Some(SECRET));
}

#[test]
fn a_keychain_without_the_secret_says_how_to_store_it() {
    let world = world();
    let output = beside_keychain(&world, &["other"], &["tools", "time"]);
    let transcript = output.transcript();
    assert_eq!((output.code(), token(&world)), (Some(2), None), "{transcript}");
    let why = "mcpServers.time.env.TOKEN: `${keychain:my time}`: the keychain has no entry for the account `my time` of the service `toolgate`";
    assert!(transcript.contains(why), "{transcript}");
    let hint = "store it: `secret-tool store --label=toolgate service toolgate username 'my time'`";
    assert!(transcript.contains(hint), "{transcript}");
}

#[test]
fn a_locked_keychain_is_not_waited_for() {
    let world = world();
    let output = beside_keychain(&world, &["--locked", "my time"], &["tools", "time"]);
    let transcript = output.transcript();
    assert_eq!((output.code(), token(&world)), (Some(2), None), "{transcript}");
    assert!(transcript.contains("`${keychain:my time}`: the keychain is locked: "), "{transcript}");
}

/// A program of the library that keeps logins; it is built with the tests.
fn login_store() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let built = test.parent().and_then(Path::parent).expect("tests are built below the target folder");
    let program = built.join("examples/login_store");
    assert!(program.exists(), "{} is missing; `cargo build -p toolgate --examples` builds it", program.display());
    program
}

/// Runs a line of `sh` beside a keychain, in which `$K` keeps logins in a home of its own.
fn keep(world: &TestWorld, keychain: &[&str], line: &str) -> CommandOutput {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/keychain");
    let kept = format!("K='{} {}'; {line}", login_store().display(), world.root().join("kept").display());
    let command = world.command(script).args(keychain.iter().copied()).args(["sh", "-c", &kept]);
    let output = command.input(SECRET).timeout(RUN_MAX).run().expect("it ends");
    assert!(output.code() != Some(125), "{}", output.transcript());
    output
}

#[test]
fn logins_are_sealed_with_a_key_in_the_keychain() {
    let world = TestWorld::new().expect("a world");
    let line = "$K auto put one first && $K auto put two second && $K keychain get one && $K auto get two; \
                unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR; $K auto get one";
    let output = keep(&world, &["other"], line);
    let transcript = output.transcript();
    assert_eq!(output.stdout, "sealed with keychain\nsealed with keychain\nfirst\nsecond\n", "{transcript}");
    let gone =
        "mcp-oauth-tokens.json is sealed with a key in the keychain, which cannot be reached: there is no session bus";
    assert!(transcript.contains(gone), "{transcript}");
    let files = world.root().join("kept");
    let text = std::fs::read_to_string(files.join("mcp-oauth-tokens.json")).expect("kept logins");
    assert!(!text.contains("first") && !text.contains("second"), "{text}");
    assert!(!files.join("mcp-oauth-tokens.key").exists());
    let anew = keep(&world, &["other"], "$K auto get one");
    assert!(anew.transcript().contains("in the keychain, which is not there any more"), "{}", anew.transcript());
}

#[test]
fn beside_a_locked_keychain_the_key_is_in_a_file() {
    let world = TestWorld::new().expect("a world");
    let output =
        keep(&world, &["--locked", "other"], "$K keychain put one first; $K auto put one first && $K auto get one");
    let transcript = output.transcript();
    assert_eq!(output.stdout, "sealed with file\nfirst\n", "{transcript}");
    let locked = "logins cannot be sealed with a key in the keychain: it is locked: ";
    assert!(transcript.contains(locked), "{transcript}");
}
