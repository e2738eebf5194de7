//! Logins that come from elsewhere: sealed ones of another machine, and those of another client.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use toolgate_testkit::snapshot::assert_snapshot;
use toolgate_testkit::{AuthScript, AuthServer};

use crate::room::Room;
use crate::visitor::{hidden, log_in, protected, room};

/// An age key made for these tests, and used nowhere else.
const RECIPIENT: &str = "age1sm3wxz2at2ttj4rmvtejxsa3tzvysjj0psdvkh88x338mnt5g9rqcxta9m";
const IDENTITY: &str = "AGE-SECRET-KEY-1XMAA5FX9J2XT60GGQDERJWC2WKHAGAZMUP68CW40LU9WFRF8SG6QAG5W5W";

fn with_passphrase(server: &AuthServer, passphrase: &str) -> Room {
    let mut room = room(server);
    room.world.set_variable("TOOLGATE_BUNDLE_PASSPHRASE", passphrase);
    room
}

/// Takes a sealed file from one room to another.
fn carry(from: &Room, to: &Room) {
    let sealed = from.world.workspace().join("logins.age");
    let mode = std::fs::metadata(&sealed).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::copy(sealed, to.world.workspace().join("logins.age")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_taken_to_another_machine_under_a_passphrase() {
    let server = protected(AuthScript::new()).await;
    let (laptop, other) = (with_passphrase(&server, "correct horse"), with_passphrase(&server, "correct horse"));
    log_in(&laptop, "gated");
    let mut told = laptop.run("mcp auth --export logins.age").transcript();
    told.push_str(&laptop.run("mcp auth --export logins.age").transcript());
    carry(&laptop, &other);
    let sealed = std::fs::read_to_string(other.world.workspace().join("logins.age")).unwrap();
    assert!(!server.record().secrets_seen().iter().any(|secret| sealed.contains(secret)), "{sealed}");
    told.push_str(&other.run("mcp auth --import logins.age").transcript());
    assert_snapshot(
        &told,
        "
        --- stdout
        exported 1 login: gated
        sealed in [WORKSPACE]/logins.age
        --- exit 0
        --- stderr
        error: [WORKSPACE]/logins.age is there already, and is not overwritten
        hint: name another file, or remove that one
        --- exit 2
        --- stdout
        imported 1 login: gated
        --- exit 0
        ",
    );
    assert_eq!(other.run("tools gated").code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_with_a_key() {
    let server = protected(AuthScript::new()).await;
    let (laptop, other) = (room(&server), room(&server));
    log_in(&laptop, "gated");
    let words = ["mcp", "auth", "gated", "--export", "logins.age", "--recipient", RECIPIENT, "--json"];
    let output = laptop.command(words).run().unwrap();
    assert_eq!((output.stdout.as_str(), output.code()), ("{\"exported\":[\"gated\"],\"notes\":[]}\n", Some(0)));
    carry(&laptop, &other);
    other.world.write_in_workspace("key.txt", &format!("# a comment\n{IDENTITY}\n")).unwrap();
    let output = other.run("mcp auth --import logins.age --identity key.txt --json");
    assert_eq!((output.stdout.as_str(), output.code()), ("{\"imported\":[\"gated\"],\"notes\":[]}\n", Some(0)));
    assert_eq!((other.run("tools gated").code(), other.remembered()), (Some(0), 1));
    let output = other.run("mcp auth --import logins.age --identity key.txt");
    assert_eq!((output.code(), other.remembered()), (Some(0), 0), "what was offered to somebody else is forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_opened_says_why() {
    let server = protected(AuthScript::new()).await;
    let (laptop, other) = (with_passphrase(&server, "correct horse"), with_passphrase(&server, "wrong horse"));
    log_in(&laptop, "gated");
    assert_eq!(laptop.run("mcp auth --export logins.age").code(), Some(0));
    carry(&laptop, &other);
    other.world.write_in_workspace("key.txt", IDENTITY).unwrap();
    other.world.write_in_workspace("broken.age", "something else").unwrap();
    let mut told = String::new();
    for line in [
        "mcp auth --import logins.age",
        "mcp auth --import logins.age --identity key.txt",
        "mcp auth --import broken.age",
        "mcp auth --import gone.age",
        "mcp auth gated --export more.age",
    ] {
        told.push_str(&format!("$ {line}\n{}", other.run(line).transcript()));
    }
    told.push_str(&laptop.run("mcp auth --export more.age --recipient age1nonsense").transcript());
    let quiet = room(&server).run("mcp auth --export logins.age").transcript();
    told.push_str(&format!("$ without a passphrase\n{quiet}"));
    assert_snapshot(
        &told,
        "
        $ mcp auth --import logins.age
        --- stderr
        error: the bundle of logins cannot be imported: the passphrase is not the one it was locked with
        hint: give the one that was given to `--export`
        --- exit 2
        $ mcp auth --import logins.age --identity key.txt
        --- stderr
        error: the bundle of logins cannot be imported: it was locked with a passphrase
        hint: give that passphrase
        --- exit 2
        $ mcp auth --import broken.age
        --- stderr
        error: the bundle of logins cannot be imported: it is no bundle, or not as it was
        hint: check that all of it was copied
        --- exit 2
        $ mcp auth --import gone.age
        --- stderr
        error: cannot read [WORKSPACE]/gone.age: No such file or directory (os error 2)
        --- exit 2
        $ mcp auth gated --export more.age
        --- stderr
        error: there is no login to `gated` to export
        --- exit 2
        --- stderr
        error: logins cannot be exported: `age1nonsense` is no recipient of age
        hint: it begins with `age1`; `age-keygen` shows it
        --- exit 2
        $ without a passphrase
        --- stderr
        error: nobody is here to be asked for a passphrase
        hint: set `TOOLGATE_BUNDLE_PASSPHRASE`, or use `--recipient`/`--identity` with an age key
        --- exit 2
        ",
    );
    assert_eq!(other.run("tools gated").code(), Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_of_gemini_cli_are_taken_over() {
    let before = toolgate_testkit::auth_server::script::IssuedBefore {
        client_id: "gemini".to_owned(),
        refresh_token: "refresh-of-gemini".to_owned(),
        scope: String::new(),
    };
    let script = AuthScript::new().client("gemini", None).issuer(|issuer| issuer.refresh_tokens = vec![before]);
    let server = protected(script).await;
    let room = room(&server);
    let mut told = room.run("mcp auth --import-gemini").transcript();
    let credential = json!({
        "serverName": "gated", "clientId": "gemini", "tokenUrl": format!("{}/token", server.url()),
        "mcpServerUrl": server.mcp_url(), "updatedAt": 4_000_000,
        "token": {"accessToken": "old", "tokenType": "Bearer", "refreshToken": "refresh-of-gemini", "expiresAt": 1},
    });
    let unknown = json!({"serverName": "gone", "token": {"accessToken": "x", "tokenType": "Bearer"}});
    room.world.write_in_home(".gemini/mcp-oauth-tokens.json", &json!([credential, unknown]).to_string()).unwrap();
    told.push_str(&room.run("mcp auth --import-gemini").transcript());
    assert_snapshot(
        &hidden(&server, &told),
        "
        --- stderr
        error: Gemini CLI keeps no logins here
        hint: looked for `~/.gemini/mcp-oauth-tokens.json` and `~/.gemini/gemini-credentials.json`; name the file if it is elsewhere
        --- exit 2
        --- stdout
        imported 1 login: gated
          note: `gone`: its address stands neither there nor in the settings
          note: gated: a client secret is not written there: if there is one, put it into the settings
        --- exit 0
        ",
    );
    let output = room.run("tools gated");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert_eq!(server.record().tally().refreshes, 1);
}
