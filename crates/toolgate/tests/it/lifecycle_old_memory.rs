//! What is kept of servers and is not enough: some of it was never asked for, or it is too old to be believed, or it says that there is nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use toolgate::discovery::Interest;
use toolgate::kept::KeptOffers;
use toolgate::{Clock, ErrorKind, Host, HostEnv, Memory, ServerStatus};
use toolgate_testkit::script::CacheScope;
use toolgate_testkit::{PromptScript, Script, ScriptedHttp, ToolScript, What, When};

use crate::lifecycle_room::{connected, in_time, later, remembering, rewrite, starts};
use crate::support::{Room, call, names, text};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn two_lists() -> Script {
    Script::new("both").tool(ToolScript::echo("echo")).prompt(PromptScript::text("greet", "hello"))
}

/// Has every server say what it offers of that, and keeps it.
async fn learn_only(room: &Room, interest: Interest) {
    let builder = remembering(room, Memory::Used).interest(interest).for_one_question();
    connected(room, builder).await.shutdown().await;
}

#[tokio::test]
async fn what_is_known_is_shown_when_more_is_wanted() {
    // How the server is started, and whether it is when somebody begins who wants everything.
    for (start, is_started) in [("lazy", false), ("auto", true), ("eager", true)] {
        let room = Room::new().server_with("one", &two_lists(), &json!({"start": start}));
        learn_only(&room, Interest::TOOLS).await;
        let host = remembering(&room, Memory::Used).build();
        host.start(room.servers());
        assert_eq!(names(&host.catalog()), ["echo"], "{start}: at once");
        in_time(host.all_settled()).await;
        let view = &host.servers()[0];
        assert!(view.error.is_none() && view.agreed.is_some());
        assert_eq!(
            (starts(&room.record(0)), view.is_remembered),
            (1 + usize::from(is_started), !is_started),
            "{start}"
        );
        assert_eq!(host.catalog().prompts().len(), usize::from(is_started), "{start}");
        // What was never asked for is found at the server.
        assert!(in_time(host.find_prompt("greet")).await.is_ok(), "{start}");
        assert_eq!(text(&call(&host, "echo", json!({"message": "hi"})).await), "hi");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn names_of_tools_that_are_known_are_final_while_more_is_found_out() {
    let hangs_later = two_lists().fault(When::Message(1).in_life(2), What::Stall);
    let room = Room::new()
        .server_with("one", &hangs_later, &json!({"connectTimeout": 600_000}))
        .server("two", &Script::new("two").tool(ToolScript::echo("other")).prompt(PromptScript::text("greet", "hi")));
    learn_only(&room, Interest::TOOLS).await;
    let host = remembering(&room, Memory::Used).build();
    host.start(room.servers());
    in_time(host.settled("two")).await.unwrap();
    assert_eq!(names(&host.catalog()), ["echo", "other"]);
    let prompts: Vec<String> = host.catalog().prompts().iter().map(|prompt| prompt.name.to_string()).collect();
    assert_eq!(prompts, ["two.greet"], "the first may have it");
}

#[tokio::test]
async fn a_server_without_the_list_that_is_wanted_is_not_asked_again() {
    let only_prompts = Script::new("prompts").prompt(PromptScript::text("greet", "hello"));
    let nothing = Script::new("nothing").capabilities(json!({}));
    for (script, problem) in [(only_prompts, ""), (nothing, "server offers no tools, prompts or resources")] {
        let room = Room::new().server("one", &script);
        for nth in 0..3 {
            let builder = remembering(&room, Memory::Used).interest(Interest::TOOLS).for_one_question();
            let host = connected(&room, builder).await;
            let view = &host.servers()[0];
            let said = view.error.as_ref().map(ToString::to_string).unwrap_or_default();
            assert_eq!((said.as_str(), starts(&room.record(0))), (problem, 1), "{nth}");
            host.shutdown().await;
        }
        let builder =
            Host::builder(later(&room, DAY)).memory(Memory::Used).interest(Interest::TOOLS).for_one_question();
        connected(&room, builder).await.shutdown().await;
        assert_eq!(starts(&room.record(0)), 2, "that was a day ago");
    }
}

#[tokio::test]
async fn what_is_old_is_shown_when_its_server_cannot_be_reached() {
    let room = Room::new().server("one", &two_lists());
    learn_only(&room, Interest::ALL).await;
    rewrite(&room, 0, &two_lists().fault(When::Start, What::Exit(3)));
    let builder = Host::builder(later(&room, 2 * DAY)).memory(Memory::Used).for_one_question();
    let host = connected(&room, builder).await;
    let view = &host.servers()[0];
    assert_eq!((view.status, view.is_out_of_reach()), (ServerStatus::Failed, true));
    assert!(view.error.is_some() && view.remembered_at.is_some());
    assert_eq!(names(&host.catalog()), ["echo"]);
    let tried = starts(&room.record(0));
    for error in [host.find_tool("echo").await.unwrap_err(), host.find_prompt("greet").await.unwrap_err()] {
        assert_eq!(error.server().map(|name| &**name), Some("one"), "{error}");
        assert!(!matches!(error.kind(), ErrorKind::UnknownTool | ErrorKind::UnknownPrompt), "{error}");
    }
    assert_eq!(host.find_tool("none").await.unwrap_err().kind(), ErrorKind::UnknownTool);
    assert_eq!(starts(&room.record(0)), tried, "nobody waits for it twice");
}

/// A clock that can be moved on.
#[derive(Clone, Default)]
struct MovedClock(Arc<Mutex<Duration>>);

impl Clock for MovedClock {
    fn now(&self) -> SystemTime {
        SystemTime::now() + *self.0.lock().unwrap()
    }
}

impl MovedClock {
    fn world(&self, room: &Room) -> HostEnv {
        HostEnv { clock: Arc::new(self.clone()), ..room.env() }
    }

    fn move_on(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

/// What may happen while a server rests.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// What it is made of is changed.
    Edited,
    /// What is kept of it is to be forgotten.
    Forgotten,
    Days,
}

#[tokio::test]
async fn a_host_that_lives_long_asks_again_when_somebody_wants_to_know() {
    use Meanwhile::{Days, Edited, Forgotten, Nothing};
    // How the server is started, what happens meanwhile, and whether it is started for somebody who wants to know then.
    let cases = [
        ("auto", Nothing, false),
        ("auto", Edited, true),
        ("auto", Forgotten, true),
        ("auto", Days, true),
        ("lazy", Days, false),
    ];
    for (start, meanwhile, is_asked) in cases {
        let room = Room::new().server_with("one", &two_lists(), &json!({"start": start}));
        if matches!(meanwhile, Edited) {
            // What can be started decides what a server offers.
            let script = room.world.root().join("0.script");
            std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        learn_only(&room, Interest::ALL).await;
        let clock = MovedClock::default();
        let host = connected(&room, Host::builder(clock.world(&room)).memory(Memory::Used)).await;
        rewrite(&room, 0, &two_lists().tool(ToolScript::echo("new")));
        match meanwhile {
            Nothing | Edited => {}
            Forgotten => assert_eq!(KeptOffers::new(&Arc::new(room.env())).forget_all(), 1),
            Days => clock.move_on(2 * DAY),
        }
        host.renew(Interest::TOOLS, |_| true);
        in_time(host.all_settled()).await;
        let expected = if is_asked { vec!["echo", "new"] } else { vec!["echo"] };
        let starts = starts(&room.record(0));
        assert_eq!((names(&host.catalog()), starts), (expected, 1 + usize::from(is_asked)), "{start} {meanwhile:?}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_list_that_has_run_out_is_read_again_from_a_server_that_tells_nothing() {
    let script = two_lists().versions(&["2026-07-28"]).caching(60_000, CacheScope::Private);
    let http = ScriptedHttp::start(script.capabilities(json!({"tools": {}, "prompts": {}}))).await.unwrap();
    let room = Room::new().entry("one", json!({"url": http.url(), "type": "http"}));
    let clock = MovedClock::default();
    let host = connected(&room, Host::builder(clock.world(&room)).memory(Memory::Used)).await;
    host.renew(Interest::TOOLS, |_| true);
    let lists = || http.record().count("tools/list");
    assert_eq!(lists(), 1, "it counts for a minute");
    clock.move_on(Duration::from_secs(61));
    let read_again = async {
        while lists() < 2 {
            // Whoever attends to the server may not be there yet.
            host.renew(Interest::TOOLS, |_| true);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    in_time(read_again).await;
}
