//! Logins beside a real keychain: the key to them is in it, and what is said when it is not to be had.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::auth_server::script::DeviceScript;
use toolgate_testkit::command::CommandOutput;
use toolgate_testkit::{AuthScript, AuthServer, TestWorld};

/// A bus, a keychain and a server start on a machine that may be busy.
const RUN_MAX: Duration = Duration::from_secs(110);

/// What the keychain holds beside the key.
const SECRET: &str = "open sesame";

/// Where logins are kept, and the key to them when no keychain has it.
const LOGINS: &str = "mcp-oauth-tokens.json";
const KEY: &str = "mcp-oauth-tokens.key";

/// A server that people log in to on another device, so that nobody has to be at this one.
async fn protected() -> AuthServer {
    let script = AuthScript::new().issuer(|issuer| issuer.device = Some(DeviceScript::default()));
    AuthServer::start(script).await.expect("a protected server")
}

fn world_with(server: &AuthServer) -> TestWorld {
    let world = TestWorld::new().expect("a world");
    let entry = json!({"url": server.mcp_url(), "type": "http"});
    let settings = json!({"mcpServers": {"gated": entry}, "mcp": {"excluded": ["workspace"]}});
    world.write_in_home(".toolgate/settings.json", &settings.to_string()).expect("settings");
    world
}

/// Runs a script beside a keychain; `$0` is `toolgate`.
fn script(world: &TestWorld, keychain: &[&str], script: &str) -> CommandOutput {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/keychain");
    let command = world.command(program).args(keychain.iter().copied()).args(["sh", "-ec", script]);
    let output = command.arg(env!("CARGO_BIN_EXE_toolgate")).input(SECRET).timeout(RUN_MAX).run().expect("it ends");
    assert!(output.code() != Some(125), "{}", output.transcript());
    output
}

/// How the logins in a world are sealed, and whether the key lies beside them.
fn sealed_with(world: &TestWorld) -> (String, bool) {
    let folder = world.home().join(".toolgate");
    let text = std::fs::read_to_string(folder.join(LOGINS)).expect("logins are kept");
    let kept: Value = serde_json::from_str(&text).expect("they are JSON");
    (kept["sealedWith"].as_str().unwrap_or_default().to_owned(), folder.join(KEY).exists())
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_are_sealed_with_a_key_in_the_keychain() {
    let server = protected().await;
    let world = world_with(&server);
    let run = r#""$0" mcp auth gated --device; "$0" tools gated --fresh
        secret-tool lookup service toolgate username oauth-tokens-key >../key"#;
    let output = script(&world, &["other"], run);
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(
        output.stdout.contains("✓ logged in to gated") && output.stdout.contains("echo"),
        "{}",
        output.transcript()
    );
    assert_eq!(sealed_with(&world), ("keychain".to_owned(), false));
    let key = std::fs::read_to_string(world.root().join("key")).expect("the keychain has the key");
    assert!(key.len() >= 40 && !output.transcript().contains(&key), "{}", output.transcript());
    assert_eq!(server.record().tokens_issued().len(), 1, "the next process found the login");

    // Elsewhere the key is not to be had. That is said, and nothing is lost.
    let cases: [(&[&str], &str); 2] = [
        (&["other"], "is sealed with a key in the keychain, which is not there any more"),
        (&["--locked", "oauth-tokens-key"], "is sealed with a key in the keychain, which cannot be reached: "),
    ];
    for (keychain, why) in cases {
        let output = script(&world, keychain, r#""$0" tools gated --fresh"#);
        assert!(output.code() != Some(0) && output.stderr.contains(why), "{}", output.transcript());
    }
    let output =
        world.command(env!("CARGO_BIN_EXE_toolgate")).args(["tools", "gated", "--fresh"]).run().expect("it ends");
    let why = "is sealed with a key in the keychain, which cannot be reached: ";
    assert!(output.code() != Some(0) && output.stderr.contains(why), "{}", output.transcript());
    assert_eq!(sealed_with(&world), ("keychain".to_owned(), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_keychain_the_key_lies_beside_the_logins() {
    let server = protected().await;
    let world = world_with(&server);
    let words = ["mcp", "auth", "gated", "--device"];
    let output = world.command(env!("CARGO_BIN_EXE_toolgate")).args(words).run().expect("it ends");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert_eq!(sealed_with(&world), ("file".to_owned(), true));
    for file in [KEY, LOGINS] {
        let about = std::fs::metadata(world.home().join(".toolgate").join(file)).expect("it is there");
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "{file}");
    }
}
