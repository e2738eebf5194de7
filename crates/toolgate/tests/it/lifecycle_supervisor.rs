//! Servers that are lost come back by themselves where that can help, and whoever waits for one that does not is told.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate::discovery::Availability;
use toolgate::{Asker, CallOutcome, ErrorKind, Host, HostEvent, HostEvents, Memory, RunOptions, ServerStatus};
use toolgate_testkit::record::Event;
use toolgate_testkit::script::UnknownSession;
use toolgate_testkit::{Behaviour, Script, ScriptedHttp, ToolScript, What, When, scripted_server_path};

use crate::chaos_room::until;
use crate::lifecycle_room::{
    called, connected, in_time, learn, next, prepared, remembering, spawned, starts, story_until,
};
use crate::support::{LONG, Room, call, names, text};

/// What those are told who wait for a server that is taken away.
const fn told(is_shutdown: bool) -> &'static str {
    if is_shutdown {
        "all servers are being stopped"
    } else {
        "the server was changed or removed in the settings meanwhile"
    }
}

fn echo() -> Script {
    Script::new("echo").tool(ToolScript::echo("echo"))
}

async fn lost(events: &mut HostEvents) {
    next(events, |event| matches!(event, HostEvent::Status { status: ServerStatus::Disconnected, .. })).await;
}

#[tokio::test]
async fn however_a_server_is_lost_it_comes_back() {
    let read_only = ToolScript::text("end", "never said").annotations(json!({"readOnlyHint": true}));
    for what in [What::Exit(3), What::Exit(0), What::Close] {
        let script = echo().tool(read_only.clone()).fault(When::Tool("end").in_life(1), what.clone());
        let room = Room::new().server("one", &script);
        let host = room.host().await;
        let mut events = host.events();
        assert_eq!(text(&call(&host, "end", json!({})).await), "never said", "{what:?}: asked again in its next life");
        let story = story_until(&mut events, ServerStatus::Connected).await;
        let [first, said, then @ ..] = story.as_slice() else { panic!("{story:?}") };
        assert_eq!((first.as_str(), then.join(" ")), ("disconnected", "connecting connected".to_owned()), "{what:?}");
        assert!(said.starts_with("MCP server one: connection error: "), "{said}");
        let is_back =
            |event: &HostEvent| matches!(event, HostEvent::Diagnostic(said) if said.text == "MCP server one is back");
        next(&mut events, is_back).await;
        assert_eq!((starts(&room.record(0)), host.line("one").unwrap().traffic().connections), (2, 2));
        assert_eq!(text(&call(&host, "echo", json!({"message": "again"})).await), "again");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn tools_that_are_as_before_are_the_very_same_in_the_next_life() {
    let room = Room::new().server("one", &echo().fault(When::Tool("echo").after().in_life(1), What::Exit(1)));
    let host = room.host().await;
    let before = host.catalog().tools()[0].tool.clone();
    let mut events = host.events();
    drop(call(&host, "echo", json!({"message": "last"})).await);
    story_until(&mut events, ServerStatus::Connected).await;
    assert_eq!(text(&call(&host, "echo", json!({"message": "again"})).await), "again");
    assert!(Arc::ptr_eq(&before, &host.catalog().tools()[0].tool), "what was worked out about it still holds");
    assert_eq!(starts(&room.record(0)), 2);
    host.shutdown().await;
}

#[tokio::test]
async fn nobody_has_to_ask_for_a_server_to_come_back() {
    let script = echo().fault(When::Tool("echo").after().in_life(1), What::Exit(1));
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    let mut events = host.events();
    call(&host, "echo", json!({"message": "last words"})).await;
    lost(&mut events).await;
    assert_eq!(names(&host.catalog()), ["echo"], "what was shown stays");
    next(&mut events, |event| matches!(event, HostEvent::Planned { wait: Some(_), .. })).await;
    next(&mut events, |event| matches!(event, HostEvent::Status { status: ServerStatus::Connected, .. })).await;
    assert_eq!(starts(&room.record(0)), 2);
}

#[tokio::test]
async fn a_server_that_fails_is_tried_again_until_it_works() {
    let room = Room::new();
    let (script, works) = (room.world.root().join("one.script"), room.world.root().join("works"));
    std::fs::write(&script, echo().to_json()).unwrap();
    let words = format!("test -f {} && exec \"$@\"; exit 3", works.display());
    let args = json!(["-c", words, "sh", scripted_server_path().unwrap(), "--script", script]);
    let room = room.entry("one", json!({"command": "sh", "args": args}));
    let host = room.builder().build();
    let mut events = host.events();
    host.start(room.servers());
    let mut story = Vec::new();
    for _ in 0..3 {
        story.extend(story_until(&mut events, ServerStatus::Failed).await);
        until("the plan for the next attempt", LONG, || {
            let view = &host.servers()[0];
            view.next_attempt.is_some_and(|at| at > view.since) || view.status == ServerStatus::Connecting
        })
        .await;
        assert!(host.servers()[0].is_settled && host.servers()[0].error.is_some());
    }
    std::fs::write(works, "").unwrap();
    story.extend(story_until(&mut events, ServerStatus::Connected).await);
    let said = story.remove(2);
    assert!(said.starts_with("MCP server one: discovery failed: "), "{said}");
    let statuses = "connecting failed connecting failed connecting failed connecting connected";
    assert_eq!(story.join(" "), statuses, "what goes wrong in the same way is said once");
    next(&mut events, |event| matches!(event, HostEvent::Diagnostic(said) if said.text == "MCP server one is back"))
        .await;
    let view = &host.servers()[0];
    assert_eq!((view.status, view.next_attempt, view.error.is_none()), (ServerStatus::Connected, None, true));
    assert_eq!(text(&call(&host, "echo", json!({"message": "here"})).await), "here");
    assert_eq!(host.line("one").unwrap().traffic().connections, 1);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_tried_when_somebody_wants_it() {
    let room = Room::new();
    let script = room.world.root().join("late.script");
    std::fs::write(&script, echo().to_json()).unwrap();
    let program = room.world.workspace().join("late");
    let room = room.entry("late", json!({"command": program, "args": ["--script", script]}));
    let host = room.host().await;
    let view = &host.servers()[0];
    assert_eq!((view.status, view.next_attempt), (ServerStatus::Failed, None), "not by itself");
    assert_eq!(in_time(host.line("late").unwrap().live()).await.unwrap_err().kind(), ErrorKind::Spawn);
    std::os::unix::fs::symlink(scripted_server_path().unwrap(), &program).unwrap();
    in_time(host.line("late").unwrap().live()).await.unwrap();
    assert_eq!(text(&call(&host, "echo", json!({"message": "here"})).await), "here");
    assert_eq!(host.line("late").unwrap().traffic().connections, 1);
}

#[tokio::test]
async fn a_server_that_forgot_the_session_is_met_again() {
    for answer in [UnknownSession::NotFound, UnknownSession::BadRequestWithoutId, UnknownSession::BadRequestText] {
        let script = echo().http(|http| http.unknown_session = answer);
        let http = ScriptedHttp::start(script).await.unwrap();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let host = room.host().await;
        assert_eq!(text(&call(&host, "echo", json!({"message": "one"})).await), "one");
        http.restart().await;
        assert_eq!(text(&call(&host, "echo", json!({"message": "two"})).await), "two", "{answer:?}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_came_back_as_another_is_shown_as_it_is() {
    let other = echo().tool(ToolScript::text("more", "more"));
    let cases = [
        (Script::new("other").tool(ToolScript::text("else", "x")), "the server does not offer `echo` any more"),
        (
            Script::new("other").tool(ToolScript::text("echo", "x").description("does more")),
            "the server describes `echo` in another way than before",
        ),
        (other, ""),
    ];
    for (other, why) in cases {
        let http = ScriptedHttp::start(echo()).await.unwrap();
        let address = http.address();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let host = room.host().await;
        let mut events = host.events();
        let old = prepared(&host, "echo", json!({"message": "x"}), Asker::Cli);
        http.stop().await;
        let http = ScriptedHttp::start_at(other.clone(), address).await.unwrap();
        let outcome = in_time(host.run(old, RunOptions::default())).await;
        let methods = http.record().methods();
        let met = methods.iter().skip_while(|method| *method != "initialize");
        let sent = met.filter(|method| *method == "tools/call").count();
        match &outcome {
            CallOutcome::Failed(error) => assert_eq!((error.to_string().as_str(), sent), (why, 0), "{methods:?}"),
            _ => assert_eq!((text(&outcome).as_str(), why, sent), ("x", "", 1), "{methods:?}"),
        }
        next(&mut events, |event| matches!(event, HostEvent::Changed { .. })).await;
        let offered: Vec<&str> = other.tools.iter().map(ToolScript::name).collect();
        assert_eq!(names(&host.catalog()), offered);
        host.shutdown().await;
    }
}

/// A server that can be listed and never started again, and one that works.
async fn hanging() -> (Room, Arc<Host>) {
    let script = echo().fault(When::Start.in_life(2), What::Freeze);
    let quick = Script::new("quick").tool(ToolScript::text("quick", "done"));
    let room = Room::new().server_with("hangs", &script, &json!({"start": "lazy"})).server("quick", &quick);
    learn(&room).await;
    let host = connected(&room, remembering(&room, Memory::Used)).await;
    (room, Arc::new(host))
}

#[tokio::test]
async fn whoever_waits_for_a_server_holds_up_nobody_else() {
    let (room, host) = hanging().await;
    let waiting = spawned(&host, "echo", json!({"message": "x"}));
    until("the start of the one that hangs", LONG, || starts(&room.record(0)) == 2).await;
    assert!(matches!(host.line("hangs").unwrap().availability(), Availability::Connecting));
    assert_eq!(text(&call(&host, "quick", json!({})).await), "done");
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn whoever_waits_for_a_server_that_is_taken_away_is_told() {
    for is_shutdown in [false, true] {
        let (room, host) = hanging().await;
        let waiting = spawned(&host, "echo", json!({"message": "x"}));
        let line = host.line("hangs").unwrap();
        let live = tokio::spawn(async move { line.live().await });
        until("the start of the one that hangs", LONG, || starts(&room.record(0)) == 2).await;
        if is_shutdown {
            in_time(host.shutdown()).await;
        } else {
            host.reconcile(room.servers().only(|server| server.name.as_str() == "quick"));
        }
        let error = in_time(live).await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Connect, told(is_shutdown)));
        let outcome = in_time(waiting).await.unwrap();
        let CallOutcome::Failed(error) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(error.to_string(), told(is_shutdown));
        until("the end of its process", LONG, || !is_alive(&room)).await;
    }
}

/// Whether the last process of the first server is there.
fn is_alive(room: &Room) -> bool {
    let mut pids = room.record(0).events().into_iter().filter_map(|event| match event {
        Event::Started { pid, .. } => Some(pid),
        _ => None,
    });
    let pid = pids.next_back().expect("it was started");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

#[tokio::test]
async fn a_server_that_waits_for_its_next_attempt_can_be_taken_away() {
    for is_shutdown in [false, true] {
        let room = Room::new().server("fails", &echo().fault(When::Start, What::Exit(3)));
        let host = room.host().await;
        until("a planned attempt", LONG, || host.servers()[0].next_attempt.is_some()).await;
        let line = host.line("fails").unwrap();
        if is_shutdown {
            in_time(host.shutdown()).await;
        } else {
            let nothing = room.servers().only(|_| false);
            assert_eq!(host.reconcile(nothing).removed.len(), 1);
            assert!(host.servers().is_empty());
        }
        let error = in_time(line.live()).await.unwrap_err();
        assert_eq!(error.to_string(), told(is_shutdown));
        let before = starts(&room.record(0));
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(starts(&room.record(0)), before, "it would have been tried by now");
    }
}

#[tokio::test]
async fn calls_that_run_when_their_server_ends_all_end() {
    let script = echo()
        .tool(ToolScript::new("never", Behaviour::Never))
        .tool(ToolScript::new("end", Behaviour::Never))
        .fault(When::Tool("end").before(), What::Exit(1));
    let room = Room::new().server("one", &script);
    let host = Arc::new(room.host().await);
    let running: Vec<_> = (0..4).map(|_| spawned(&host, "never", json!({}))).collect();
    let record = room.record(0);
    until("four calls at the server", LONG, || called(&record, "never") == 4).await;
    let end = spawned(&host, "end", json!({}));
    for call in running.into_iter().chain([end]) {
        assert_eq!(in_time(call).await.unwrap().as_str(), "unknown");
    }
    assert_eq!(text(&call(&host, "echo", json!({"message": "on"})).await), "on");
}

#[tokio::test]
async fn a_server_that_answers_nobody_any_more_is_started_anew() {
    let never = || ToolScript::new("never", Behaviour::Never);
    let steps = || ToolScript::new("steps", Behaviour::progress(100, 50, Behaviour::text("done")));
    let script = || Script::new("one").tool(never()).tool(steps()).tool(ToolScript::echo("echo"));
    let deaf = |script: Script| script.fault(When::Method("ping").in_life(1), What::NoAnswer);
    // What goes wrong, whether another call makes progress meanwhile, and how many connections there are in the end.
    let cases = [
        ("it is stuck", script().fault(When::Tool("never").before().in_life(1), What::Freeze), false, 2),
        ("it answers a ping", script(), false, 1),
        ("it does something else", deaf(script()), true, 1),
        ("it reads, and answers nothing", deaf(script()), false, 2),
    ];
    for (name, script, is_busy, connections) in cases {
        let settings = json!({"timeout": 1_000, "connectTimeout": 3_000});
        let room = Room::new().server_with("one", &script, &settings);
        let host = Arc::new(room.host().await);
        let line = host.line("one").unwrap();
        let busy = is_busy.then(|| spawned(&host, "steps", json!({})));
        assert_eq!(call(&host, "never", json!({})).await.as_str(), "timed_out", "{name}");
        if connections > 1 {
            until("the next connection", LONG, || line.traffic().connections == connections).await;
            assert_eq!(text(&call(&host, "echo", json!({"message": "back"})).await), "back", "{name}");
        } else {
            until("the ping", LONG, || room.record(0).count("ping") == 1).await;
        }
        if let Some(busy) = busy {
            assert_eq!(text(&in_time(busy).await.unwrap()), "done", "{name}");
        }
        assert_eq!(line.traffic().connections, connections, "{name}");
        host.shutdown().await;
    }
}
