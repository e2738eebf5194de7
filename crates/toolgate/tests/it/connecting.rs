//! Servers start in parallel, and one that fails or hangs concerns nobody else.

use serde_json::json;
use toolgate::discovery::Availability;
use toolgate::{DiscoveryState, ErrorKind, HostEvent, ServerStatus};
use toolgate_testkit::{Behaviour, HttpAnswer, Script, ScriptedHttp, ToolScript, What, When};

use crate::lifecycle_room::next;
use crate::support::{LONG, Room, call, names, text};

fn echo(tool: &str) -> Script {
    Script::new("scripted").tool(ToolScript::echo(tool))
}

fn silent() -> Script {
    Script::new("silent").fault(When::Start, What::Freeze)
}

#[tokio::test]
async fn every_transport_is_reached_by_its_settings() {
    let http = ScriptedHttp::start(echo("over_http")).await.unwrap();
    let room = Room::new()
        .server("child", &echo("over_stdio"))
        .entry("typed", json!({"url": http.url(), "type": "http"}))
        .entry("old-field", json!({"httpUrl": http.url(), "url": "http://127.0.0.1:9/unused"}))
        .entry("sse", json!({"url": http.sse_url(), "type": "sse"}))
        .entry("guess", json!({"url": http.url()}))
        .entry("guess-sse", json!({"url": http.sse_url()}))
        .entry("inside", json!({"builtin": "workspace"}));
    let host = room.host().await;
    for view in host.servers() {
        assert_eq!(view.status, ServerStatus::Connected, "{}: {:?}", view.name(), view.error);
        assert!(view.is_settled && view.error.is_none() && view.agreed.is_some());
    }
    for name in
        ["child__over_stdio", "typed__over_http", "old-field__over_http", "sse__over_http", "guess-sse__over_http"]
    {
        assert_eq!(text(&call(&host, name, json!({"message": name})).await), name);
    }
    room.world.write_in_workspace("note.txt", "from inside").unwrap();
    assert!(text(&call(&host, "read_file", json!({"path": "note.txt"})).await).contains("from inside"));
    host.shutdown().await;
    assert!(host.servers().iter().all(|view| view.status == ServerStatus::Disconnected));
}

#[tokio::test]
async fn a_failure_concerns_one_server_alone() {
    let login = Script::new("login").fault(When::Post(1), What::HttpStatus(HttpAnswer::status(401)));
    let login = ScriptedHttp::start(login).await.unwrap();
    let room = Room::new()
        .entry("missing", json!({"command": "no-such-program-anywhere"}))
        .entry("refused", json!({"url": "http://127.0.0.1:9/mcp", "type": "http"}))
        .entry("login", json!({"url": login.url(), "type": "http"}))
        .server("dies", &Script::new("dies").fault(When::Start, What::Exit(3)))
        .server_with("silent", &silent(), &json!({"connectTimeout": 300}))
        .server("good", &echo("echo"));
    let host = room.host().await;
    let seen: Vec<(String, ServerStatus, Option<ErrorKind>)> = host
        .servers()
        .iter()
        .map(|view| {
            let error = view.error.as_ref().map(toolgate::Error::kind);
            // One that has failed may be tried again by now.
            let is_tried_again = view.status == ServerStatus::Connecting && error.is_some();
            let status = if is_tried_again { ServerStatus::Failed } else { view.status };
            (view.name().to_string(), status, error)
        })
        .collect();
    let expected = [
        ("missing", ServerStatus::Failed, Some(ErrorKind::Spawn)),
        ("refused", ServerStatus::Failed, Some(ErrorKind::Connect)),
        ("login", ServerStatus::NeedsLogin, Some(ErrorKind::LoginNeeded)),
        ("dies", ServerStatus::Failed, Some(ErrorKind::Connect)),
        ("silent", ServerStatus::Failed, Some(ErrorKind::Connect)),
        ("good", ServerStatus::Connected, None),
    ];
    for ((name, status, kind), seen) in expected.into_iter().zip(&seen) {
        assert_eq!(*seen, (name.to_owned(), status, kind));
    }
    assert_eq!(names(&host.catalog()), ["echo"]);
    assert_eq!(text(&call(&host, "echo", json!({"message": "still here"})).await), "still here");
    let error = host.servers()[4].error.clone().unwrap();
    assert_eq!(error.server().unwrap().as_str(), "silent");
    assert!(error.to_string().contains("did not answer"), "{error}");
}

#[tokio::test]
async fn more_hanging_servers_than_places_delay_nobody() {
    let mut room = Room::new();
    for number in 0..4 {
        room = room.server(&format!("silent{number}"), &silent());
    }
    let room = room.server("good", &echo("echo"));
    let host = room.builder().connect_limit(2).build();
    host.start(room.servers());
    let view = tokio::time::timeout(LONG, host.settled("good")).await.expect("it had to wait").unwrap();
    assert_eq!(view.status, ServerStatus::Connected);
    assert_eq!(host.discovery(), DiscoveryState::InProgress, "the others are still hanging");
    // They stand before it, so the short name may still be theirs.
    assert_eq!(text(&call(&host, "good__echo", json!({"message": "hello"})).await), "hello");
}

#[tokio::test]
async fn no_more_servers_start_at_once_than_are_allowed_to() {
    for limit in [1, 3] {
        // One server that counts, in the place of many.
        let script = echo("echo").versions(&["2025-06-18"]);
        let script = script.fault(When::Method("initialize"), What::LateResponse { ms: 50 });
        let http = ScriptedHttp::start(script).await.unwrap();
        let entry = json!({"url": http.url(), "type": "http"});
        let room = (0..12).fold(Room::new(), |room, number| room.entry(&format!("s{number}"), entry.clone()));
        let host = room.builder().connect_limit(limit).build();
        let views = tokio::time::timeout(LONG, host.connect(room.servers())).await.expect("they did not settle");
        assert!(views.iter().all(|view| view.status == ServerStatus::Connected));
        let (mut starting, mut most) = (0_usize, 0);
        for method in http.record().methods() {
            match method.as_str() {
                "initialize" => starting += 1,
                "notifications/initialized" => starting -= 1,
                _ => {}
            }
            most = most.max(starting);
        }
        assert_eq!((most, starting), (limit, 0));
        host.shutdown().await;
    }
}

#[tokio::test]
async fn discovery_is_complete_when_nobody_is_left_to_wait_for() {
    let room = Room::new().server("good", &echo("echo")).server("silent", &silent());
    let host = room.builder().build();
    host.start(room.servers());
    tokio::time::timeout(LONG, host.settled("good")).await.expect("it did not settle").unwrap();
    assert_eq!(host.discovery(), DiscoveryState::InProgress);
    let mut events = host.events();
    host.reconcile(room.without("silent").servers());
    assert_eq!(host.discovery(), DiscoveryState::Completed);
    next(&mut events, |event| matches!(event, HostEvent::Discovery(DiscoveryState::Completed))).await;
}

#[tokio::test]
async fn a_name_is_waited_for_no_longer_than_it_can_change() {
    let room = Room::new()
        .server("first", &echo("alpha"))
        .server("silent", &silent())
        .server("last", &Script::new("s").tool(ToolScript::echo("alpha")).tool(ToolScript::echo("omega")));
    let host = room.builder().for_one_question().build();
    host.start(room.servers());
    // Nobody stands before `first`, and nobody can take a qualified name away.
    for name in ["alpha", "first__alpha", "last__alpha", "last__omega"] {
        let catalog = tokio::time::timeout(LONG, host.find_tool(name)).await.expect("waited for too long").unwrap();
        assert_eq!(&*catalog.find(name).unwrap().id.tool, name.rsplit("__").next().unwrap());
    }
    // `silent` might still have an `omega`, and it stands before `last`.
    let short = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(short, host.find_tool("omega")).await.is_err());
    host.settled("nobody").await.expect_err("there is no such server");
}

#[tokio::test]
async fn the_news_tell_the_whole_story() {
    let room = Room::new().server("good", &echo("echo")).entry("bad", json!({"command": "no-such-program-anywhere"}));
    let host = room.builder().build();
    let mut events = host.events();
    assert_eq!(host.discovery(), DiscoveryState::NotStarted);
    host.connect(room.servers()).await;
    assert_eq!(host.discovery(), DiscoveryState::Completed);
    host.shutdown().await;
    drop(host);
    let (mut good, mut bad, mut discovery, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event {
            HostEvent::Status { server, status, .. } => {
                if &*server == "good" {
                    good.push(status.as_str())
                } else {
                    bad.push(status.as_str())
                }
            }
            HostEvent::Discovery(state) => discovery.push(state),
            HostEvent::Diagnostic(diagnostic) => diagnostics.push(diagnostic.text),
            _ => {}
        }
    }
    assert_eq!(good, ["connecting", "connected", "disconnecting", "disconnected"]);
    assert_eq!(bad, ["connecting", "failed"]);
    assert_eq!(discovery, [DiscoveryState::InProgress, DiscoveryState::Completed]);
    let [diagnostic] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
    assert!(
        diagnostic.starts_with("MCP server bad: could not be started: cannot start `no-such-program-anywhere`: "),
        "{diagnostic}"
    );
}

#[tokio::test]
async fn without_servers_discovery_is_complete_at_once() {
    let room = Room::new();
    let host = room.host().await;
    assert_eq!(host.discovery(), DiscoveryState::Completed);
    assert!(host.servers().is_empty() && host.catalog().tools().is_empty());
}

#[tokio::test]
async fn every_frame_can_be_watched() {
    let room = Room::new().server("good", &echo("echo"));
    let frames = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = frames.clone();
    let tap: toolgate::connect::WireTap = std::sync::Arc::new(move |server, direction, frame: &[u8]| {
        kept.lock().unwrap().push(format!("{server} {direction:?} {}", String::from_utf8_lossy(frame)));
    });
    let host = room.builder().tap(tap).build();
    host.connect(room.servers()).await;
    call(&host, "echo", json!({"message": "seen"})).await;
    let frames = frames.lock().unwrap().clone();
    assert!(frames.iter().any(|frame| frame.starts_with("good Sent") && frame.contains("tools/call")), "{frames:?}");
    assert!(frames.iter().any(|frame| frame.starts_with("good Received") && frame.contains("seen")), "{frames:?}");
}

#[tokio::test]
async fn a_child_that_leaves_keeps_its_tools_listed_and_comes_back() {
    let exit = Behaviour::delay(1, Behaviour::text("bye"));
    let script =
        Script::new("leaves").tool(ToolScript::new("leave", exit)).fault(When::Tool("leave").after(), What::Exit(0));
    let room = Room::new().server("leaves", &script);
    let host = room.host().await;
    let mut events = host.events();
    assert_eq!(names(&host.catalog()), ["leave"]);
    call(&host, "leave", json!({})).await;
    let gone = async {
        loop {
            if let Some(HostEvent::Status { status: ServerStatus::Disconnected, error, .. }) = events.next().await {
                return error;
            }
        }
    };
    let error = tokio::time::timeout(LONG, gone).await.expect("its end was not noticed").unwrap();
    assert_eq!(error.kind(), ErrorKind::Connect);
    let catalog = host.catalog();
    assert_eq!(names(&catalog), ["leave"]);
    let availability = catalog.availability(&catalog.tools()[0]);
    assert!(matches!(availability, Some(Availability::Unavailable(_) | Availability::Connecting)), "{availability:?}");
    let view = &host.servers()[0];
    assert!(view.next_attempt.is_some() || view.status == ServerStatus::Connecting, "{view:?}");
    let back = async {
        loop {
            if let Some(HostEvent::Status { status: ServerStatus::Connected, .. }) = events.next().await {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, back).await.expect("it did not come back by itself");
    call(&host, "leave", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_while_connecting_leaves_nothing_behind() {
    let room = Room::new().server("silent", &silent()).server("good", &echo("echo"));
    let host = std::sync::Arc::new(room.builder().build());
    host.start(room.servers());
    host.settled("good").await.unwrap();
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.all_settled().await }
    });
    host.shutdown().await;
    tokio::time::timeout(LONG, waiting).await.expect("somebody waits for ever").unwrap();
    assert!(host.catalog().tools().is_empty());
    assert!(host.servers().iter().all(|view| view.status == ServerStatus::Disconnected));
}

#[tokio::test]
async fn a_failure_keeps_the_last_words_of_the_server() {
    let noisy = json!({"command": "sh", "args": ["-c", "echo first >&2; echo no database >&2; exit 3"]});
    let room = Room::new().entry("noisy", noisy);
    let host = room.host().await;
    assert_eq!(host.servers()[0].status, ServerStatus::Failed);
    assert_eq!(host.stderr_tail("noisy"), "first\nno database\n");
    let sentence = toolgate::connect::trouble(&host.servers()[0]).unwrap();
    assert!(sentence.starts_with("MCP server noisy: discovery failed: "), "{sentence}");
}
