//! References to secrets: followed when a server is started and not before, received by the server, told to nobody else.

use std::fs;

use serde_json::{Value, json};
use toolgate::{ErrorKind, Host, ServerStatus};
use toolgate_testkit::{HttpAnswer, Script, ScriptedHttp, ToolScript, What, When, record};

use crate::support::{LONG, Room};

/// What no error, event or listing may hold.
const SECRET: &str = "open sesame";

fn echo() -> Script {
    Script::new("scripted").tool(ToolScript::echo("echo"))
}

/// A program that writes down its environment and its arguments, and is no server.
fn shows(args: &[&str], env: &Value) -> Value {
    let line = r#"env > "\$OUT.env"; printf '%s\n' "\$@" > "\$OUT.args"; echo started >> "\$OUT.starts"; exit 3"#;
    let mut words = vec!["-c", line, "shows"];
    words.extend(args);
    json!({"command": "sh", "args": words, "env": env})
}

/// A room whose person has a secret in a variable, in a file and behind a command that notes when it is run.
fn room() -> Room {
    let mut room = Room::new();
    room.world.set_variable("SECRET_TOKEN", SECRET);
    room.world.set_variable("SLY", "${cmd:touch pwned}");
    room.world.write_in_home(".secrets/token", &format!("{SECRET}\n")).unwrap();
    room
}

const COMMAND: &str = "${cmd:echo run >> runs; printf '%s\\n' \"$SECRET_TOKEN\"}";

fn runs(room: &Room) -> usize {
    fs::read_to_string(room.world.home().join("runs")).unwrap_or_default().lines().count()
}

/// Everything that can be read of a host whose servers have settled.
async fn told(room: &Room) -> (Host, String) {
    let host = room.builder().build();
    let mut events = host.events();
    let servers = room.servers();
    let mut text = format!("{servers:?}");
    tokio::time::timeout(LONG, host.connect(servers)).await.expect("the servers did not settle");
    for view in host.servers() {
        text.push_str(&format!("{view:?}\n{}\n", view.config.transport.target()));
        text.push_str(&toolgate::connect::trouble(&view).unwrap_or_default());
        if let Some(error) = &view.error {
            text.push_str(&format!("{error} {error:?} {:?} {:?}\n", error.hint(), error.wire()));
        }
    }
    host.shutdown().await;
    text.push_str(&format!("{host:?}"));
    while let Ok(Some(event)) = tokio::time::timeout(std::time::Duration::from_millis(50), events.next()).await {
        text.push_str(&format!("{event:?}\n"));
    }
    (host, text)
}

#[tokio::test]
async fn a_child_receives_what_its_references_stand_for() {
    let room = room();
    let out = room.world.root().join("shown").display().to_string();
    let args = ["--file=${file:~/.secrets/token}!", COMMAND, COMMAND, "$SLY", r"\${cmd:touch pwned}"];
    let env = json!({
        "OUT": out, "FROM_ENV": "${env:SECRET_TOKEN}", "FROM_FILE": "${file:../.secrets/token}", "FROM_CMD": format!("<{COMMAND}>"),
    });
    let room = room.entry("shows", shows(&args, &env));
    drop(room.servers());
    assert_eq!(runs(&room), 0, "listing starts nothing");

    let (_, told) = told(&room).await;
    let seen = fs::read_to_string(format!("{out}.args")).unwrap();
    let sly = "${cmd:touch pwned}";
    assert_eq!(
        seen.lines().collect::<Vec<_>>(),
        [&format!("--file={SECRET}!"), SECRET, SECRET, sly, sly],
        "filled in once, and what a variable brings in is left alone"
    );
    let seen = fs::read_to_string(format!("{out}.env")).unwrap();
    for line in [format!("FROM_ENV={SECRET}"), format!("FROM_FILE={SECRET}"), format!("FROM_CMD=<{SECRET}>")] {
        assert!(seen.lines().any(|one| one == line), "{line} in {seen}");
    }
    assert!(!seen.contains("SECRET_TOKEN"), "the variable itself is not passed on: {seen}");
    assert_eq!(runs(&room), 1, "once, however often it is referred to");
    assert!(!told.contains(SECRET), "{told}");
    assert!(told.contains("${file:~/.secrets/token}"), "{told}");
    for folder in [room.world.home(), room.world.workspace(), room.world.root()] {
        assert!(!folder.join("pwned").exists(), "a variable ran a command");
    }
}

#[tokio::test]
async fn a_remote_server_receives_what_its_references_stand_for() {
    let http = ScriptedHttp::start(echo()).await.unwrap();
    let port = http.url().rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let mut room = room();
    room.world.set_variable("PORT_NOW", port);
    let headers = json!({"Authorization": format!("Bearer {COMMAND}"), "X-Second": COMMAND, "X-File": "${file:~/.secrets/token}"});
    let room = room
        .entry("typed", json!({"url": "http://127.0.0.1:${env:PORT_NOW}/mcp", "type": "http", "headers": headers}))
        .entry("guessed", json!({"url": http.url(), "headers": headers}))
        .entry("sse", json!({"url": http.sse_url(), "type": "sse", "headers": headers}));
    drop(room.servers());
    assert_eq!((runs(&room), http.record().requests().len()), (0, 0));

    let (host, told) = told(&room).await;
    let failed: Vec<_> = host.servers().into_iter().filter(|view| view.error.is_some()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let requests: Vec<record::HttpSeen> = http.record().requests();
    assert!(requests.len() > 6, "{requests:?}");
    for request in requests {
        assert_eq!(request.header("authorization"), Some(&*format!("Bearer {SECRET}")), "{request:?}");
        assert_eq!((request.header("x-second"), request.header("x-file")), (Some(SECRET), Some(SECRET)));
    }
    assert_eq!(runs(&room), 3, "once per server");
    assert!(!told.contains(SECRET), "{told}");
}

#[tokio::test]
async fn an_address_that_is_secret_stays_so_when_the_server_fails() {
    let refusing =
        ScriptedHttp::start(Script::new("r").fault(When::Post(1), What::HttpStatus(HttpAnswer::status(401)))).await;
    let (http, refusing) = (ScriptedHttp::start(echo()).await.unwrap(), refusing.unwrap());
    let base = |url: String| url.rsplit_once('/').unwrap().0.to_owned();
    let mut room = room();
    room.world.set_variable("KEY", "sesame-key");
    let hidden = "${cmd:echo $KEY}";
    let room = room
        .entry("gone", json!({"url": format!("http://127.0.0.1:9/{hidden}/mcp?k={hidden}"), "type": "http"}))
        .entry("gone-sse", json!({"url": format!("http://ada:{hidden}@127.0.0.1:9/{hidden}"), "type": "sse"}))
        .entry("lost", json!({"url": format!("{}/{hidden}", base(http.url())), "type": "http"}))
        .entry("lost-guess", json!({"url": format!("{}/{hidden}", base(http.url()))}))
        .entry("login", json!({"url": format!("{}/mcp?k={hidden}", base(refusing.url())), "type": "http"}))
        .entry("no-url", json!({"url": "${env:KEY}://h/"}))
        .entry("no-header", json!({"url": http.url(), "headers": {"A": "${cmd:printf \"$KEY\\n$KEY\"}"}}));
    let (host, told) = told(&room).await;
    for view in host.servers() {
        assert!(view.error.is_some(), "{view:?}");
    }
    assert!(!told.contains("sesame-key"), "{told}");
    let error =
        |name: &str| host.servers().into_iter().find(|view| view.name().as_str() == name).unwrap().error.unwrap();
    assert!(error("gone").to_string().contains("http://127.0.0.1:9/${cmd:echo $KEY}/mcp?…"), "{}", error("gone"));
    assert!(error("gone-sse").to_string().contains("http://127.0.0.1:9/${cmd:echo $KEY}"), "{}", error("gone-sse"));
    assert_eq!(error("no-url").to_string(), "mcpServers.no-url.url: filled in, this is no address for HTTP");
    assert_eq!(
        error("no-header").to_string(),
        "mcpServers.no-header.headers.A: filled in, this cannot be sent as a header"
    );
    assert_eq!(error("no-header").kind(), ErrorKind::Settings);
}

#[tokio::test]
async fn a_secret_that_cannot_be_had_stops_its_server_alone() {
    let room = room();
    fs::create_dir(room.world.home().join("folder")).unwrap();
    let broken = [
        ("unset", "${env:NO_SUCH}", "the variable is not set"),
        ("missing", "${file:none}", "there is no such file"),
        ("folder", "${file:~/folder}", "a folder, not a file"),
        ("failing", "${cmd:echo no; echo \"locked\" >&2; exit 4}", "the command ended with exit status 4: locked"),
        ("huge", "${cmd:yes}", "what it stands for is larger than 64 KiB"),
        ("binary", "${cmd:printf '\\377'}", "what it stands for is not UTF-8 text"),
        ("nul", "${cmd:printf 'a\\000b'}", "what it stands for has a NUL character"),
        (
            "keychain",
            "${keychain:github}",
            "no keychain can be reached: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)",
        ),
    ];
    let mut room = room.server("good", &echo());
    let out = room.world.root().join("shown").display().to_string();
    for (name, reference, _) in broken {
        room = room.entry(name, shows(&[], &json!({"OUT": out, "A": reference})));
    }
    let host = room.host().await;
    let views = host.servers();
    assert_eq!(views[0].status, ServerStatus::Connected, "{:?}", views[0].error);
    for (view, (name, reference, why)) in views.iter().skip(1).zip(broken) {
        let error = view.error.as_ref().unwrap();
        assert_eq!(error.to_string(), format!("mcpServers.{name}.env.A: `{reference}`: {why}"));
        assert_eq!((view.status, error.kind()), (ServerStatus::Failed, ErrorKind::Settings));
        assert_eq!(error.server().unwrap().as_str(), name);
        assert!(error.hint().is_some());
    }
    assert!(!fs::exists(format!("{out}.starts")).unwrap(), "a server without its secret was started");
}

#[test]
fn servers_are_compared_by_how_they_are_written() {
    let entry = |reference: &str| {
        let room = room().entry("x", json!({"command": "c", "env": {"A": reference}}));
        room.servers().iter().next().unwrap().transport.clone()
    };
    assert_eq!(entry("${cmd:date +%N}"), entry("${cmd:date +%N}"));
    assert_ne!(entry("${cmd:date +%N}"), entry("${cmd:date}"));
    assert_ne!(entry("${env:A}"), entry("${file:A}"));
}
