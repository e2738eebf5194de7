//! What is kept of servers is shown without starting them; what they say when they are started decides.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate::call::Confirmation;
use toolgate::connect::Kind;
use toolgate::discovery::Interest;
use toolgate::grants::{Grants, Lasting, Remember};
use toolgate::kept::KeptOffers;
use toolgate::{CallOutcome, CallRules, ErrorKind, Host, HostEvent, Memory, ServerStatus};
use toolgate_testkit::script::CacheScope;
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ScriptedHttp, ToolScript, What, When};

use crate::lifecycle_room::{Person, connected, in_time, later, learn, next, only_reads, remembering, rewrite, starts};
use crate::support::{Room, call, lets_everything_through, names, nothing, text};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn everything() -> Script {
    Script::new("everything")
        .instructions("Ask me anything.")
        .tool(ToolScript::echo("echo"))
        .prompt(PromptScript::text("greet", "hello"))
        .resource(ResourceScript::text("note://1", "first"))
        .template(json!({"uriTemplate": "note://{n}", "name": "notes"}))
}

/// Everything that a host shows, in one line.
fn shown(host: &Host) -> String {
    let catalog = host.catalog();
    let prompts: Vec<&str> = catalog.prompts().iter().map(|prompt| &*prompt.name).collect();
    let resources: Vec<&str> = catalog.resources().iter().map(|resource| &*resource.resource.uri).collect();
    let templates: Vec<&str> = catalog.templates().iter().map(|one| &*one.template.uri_template).collect();
    let instructions: Vec<&str> = catalog.instructions().map(|(_, text)| text).collect();
    format!("{:?} {prompts:?} {resources:?} {templates:?} {instructions:?}", names(&catalog))
}

#[tokio::test]
async fn what_is_kept_is_shown_and_nothing_is_started() {
    use Memory::{Off, Renewed, Used};
    // What the first host does, what the second one does, and how often the server is started for both.
    let cases = [(Used, Used, 1), (Renewed, Used, 1), (Off, Used, 2), (Used, Renewed, 2), (Used, Off, 2)];
    for (first, second, expected) in cases {
        let room = Room::new().server("one", &everything());
        let host = connected(&room, remembering(&room, first).for_one_question()).await;
        let said = shown(&host);
        assert_eq!(said, "[\"echo\"] [\"greet\"] [\"note://1\"] [\"note://{n}\"] [\"Ask me anything.\"]");
        host.shutdown().await;
        let host = connected(&room, remembering(&room, second)).await;
        assert_eq!((shown(&host), starts(&room.record(0))), (said, expected), "{first:?} {second:?}");
        let view = &host.servers()[0];
        assert!(view.agreed.is_some() && view.error.is_none());
        assert_eq!(view.is_remembered, expected == 1, "{first:?} {second:?}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn every_use_starts_the_server_once() {
    let room = Room::new().server("one", &everything());
    learn(&room).await;
    for nth in 0..4 {
        let host = connected(&room, remembering(&room, Memory::Used)).await;
        assert_eq!(host.servers()[0].status, ServerStatus::Disconnected);
        match nth {
            0 => assert_eq!(text(&call(&host, "echo", json!({"message": "hi"})).await), "hi"),
            1 => {
                let prompt = in_time(host.find_prompt("greet")).await.unwrap();
                assert_eq!(in_time(host.get_prompt(&prompt, &nothing())).await.unwrap().messages.len(), 1);
            }
            2 => assert_eq!(in_time(host.read_resource("one", "note://1")).await.unwrap().contents.len(), 1),
            _ => assert!(in_time(host.ping("one")).await.is_ok()),
        }
        assert_eq!(starts(&room.record(0)), nth + 2);
        let view = &host.servers()[0];
        assert_eq!((view.status, view.is_remembered), (ServerStatus::Connected, false));
        host.shutdown().await;
    }
}

#[tokio::test]
async fn what_was_said_in_this_run_is_not_of_an_earlier_one() {
    let script = everything().fault(When::Tool("echo").after().in_life(2), What::Exit(1));
    let room = Room::new().server("one", &script);
    learn(&room).await;
    let host = connected(&room, remembering(&room, Memory::Used)).await;
    assert!(host.servers()[0].is_remembered);
    let mut events = host.events();
    call(&host, "echo", json!({"message": "hi"})).await;
    next(&mut events, |event| matches!(event, HostEvent::Status { status: ServerStatus::Disconnected, .. })).await;
    assert!(!host.servers()[0].is_remembered);
}

#[tokio::test]
async fn a_forbidden_call_starts_nothing() {
    let room = Room::new().server("one", &everything());
    learn(&room).await;
    let host = connected(&room, remembering(&room, Memory::Used).call_rules(CallRules::default())).await;
    assert_eq!(call(&host, "echo", json!({"message": "hi"})).await.as_str(), "denied");
    assert_eq!(starts(&room.record(0)), 1);
}

fn looks(says_so: bool) -> Script {
    let look = ToolScript::text("look", "seen");
    Script::new("looks")
        .tool(if says_so { look.annotations(only_reads()) } else { look })
        .tool(ToolScript::echo("echo"))
}

#[tokio::test]
async fn a_call_is_judged_by_what_the_tool_says_now() {
    let room = Room::new().server("one", &looks(true));
    let person = Person::who_says(Confirmation::Refuse { reason: None });
    learn(&room).await;
    let host = connected(&room, remembering(&room, Memory::Used).call_rules(person.rules())).await;
    assert_eq!(text(&call(&host, "look", json!({})).await), "seen", "it only reads");
    assert_eq!(person.asked().len(), 0);
    host.shutdown().await;

    rewrite(&room, 0, &looks(false));
    let host = connected(&room, remembering(&room, Memory::Used).call_rules(person.rules())).await;
    let mut events = host.events();
    assert_eq!(host.catalog().find("look").unwrap().hints().read_only_hint, Some(true), "as it was");
    let before = room.record(0).count("tools/call");
    assert_eq!(call(&host, "look", json!({})).await.as_str(), "refused");
    assert_eq!(person.asked(), ["look None"], "asked about what it is now");
    assert_eq!(room.record(0).count("tools/call"), before, "nothing was sent");
    next(&mut events, |event| matches!(event, HostEvent::Changed { kind: Kind::Tools, .. })).await;
    assert_eq!(host.catalog().find("look").unwrap().hints().read_only_hint, None);
}

#[tokio::test]
async fn a_tool_that_is_gone_is_said_to_be() {
    let room = Room::new().server("one", &everything());
    learn(&room).await;
    rewrite(&room, 0, &Script::new("everything").tool(ToolScript::echo("other")));
    let host = connected(&room, remembering(&room, Memory::Used)).await;
    assert_eq!(names(&host.catalog()), ["echo"]);
    let CallOutcome::Failed(error) = call(&host, "echo", json!({"message": "hi"})).await else { panic!("it was made") };
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
    assert_eq!(error.to_string(), "the server does not offer `echo` any more");
    assert_eq!(room.record(0).count("tools/call"), 0);
    assert_eq!(names(&host.catalog()), ["other"]);
}

#[tokio::test]
async fn what_is_new_since_a_server_was_remembered_is_found() {
    let grown = everything()
        .tool(ToolScript::text("new", "found"))
        .prompt(PromptScript::text("newer", "hello"))
        .resource(ResourceScript::text("page://2", "second"));
    for is_long in [true, false] {
        // What is looked for, and whether that finds it.
        for (nth, is_there) in [(0, true), (1, true), (2, true), (3, true), (4, false)] {
            let room = Room::new().server("one", &everything());
            learn(&room).await;
            rewrite(&room, 0, &grown);
            let builder = remembering(&room, Memory::Used);
            let host = connected(&room, if is_long { builder } else { builder.for_one_question() }).await;
            assert_eq!(starts(&room.record(0)), 1, "nobody has asked it yet");
            let found = match nth {
                0 => in_time(host.find_tool("new")).await.map(drop),
                1 => in_time(host.find_tool("one__new")).await.map(drop),
                2 => in_time(host.find_prompt("newer")).await.map(drop),
                3 => in_time(host.find_resource("page://2")).await.map(drop),
                _ => in_time(host.find_tool("newest")).await.map(drop),
            };
            assert_eq!((found.is_ok(), starts(&room.record(0))), (is_there, 2), "{nth}: {found:?}");
            // It has said all that it has, and what it has not is told at once.
            assert!(in_time(host.find_tool("none")).await.is_err());
            assert_eq!((names(&host.catalog()), starts(&room.record(0))), (vec!["echo", "new"], 2));
            host.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_nobody_has_started_yet_is_asked_for_what_nobody_else_has() {
    let lazy = json!({"start": "lazy"});
    let room = Room::new()
        .server_with("first", &Script::new("first").tool(ToolScript::text("here", "1")), &lazy)
        .server_with("second", &Script::new("second").tool(ToolScript::text("there", "2")), &lazy);
    let host = connected(&room, remembering(&room, Memory::Used)).await;
    assert_eq!(names(&host.catalog()).len() + starts(&room.record(0)) + starts(&room.record(1)), 0);
    let catalog = in_time(host.find_tool("there")).await.unwrap();
    assert_eq!(&*catalog.find("there").unwrap().id.server, "second");
    assert_eq!(text(&call(&host, "there", json!({})).await), "2");
}

#[tokio::test]
async fn what_was_allowed_for_good_was_allowed_as_it_was() {
    let room = Room::new().server("one", &looks(false));
    let person = Person::who_says(Confirmation::Proceed(Remember::ToolAlways));
    let rules = || {
        let grants = Some(std::sync::Arc::new(Grants::open(&room.env())));
        CallRules { grants, lasting: Lasting::Always, ..person.rules() }
    };
    // The same tool, then one that says something else, is asked about this often in all.
    let other = ToolScript::text("look", "seen").description("looks closer");
    let steps = [(None, 1), (None, 1), (Some(Script::new("looks").tool(other)), 2)];
    for (script, asked) in steps {
        script.iter().for_each(|script| rewrite(&room, 0, script));
        let host = connected(&room, remembering(&room, Memory::Used).call_rules(rules())).await;
        assert_eq!(text(&call(&host, "look", json!({})).await), "seen");
        assert_eq!(person.asked().len(), asked);
        host.shutdown().await;
        learn_nothing_new(&room).await;
    }
}

/// What is kept stays what the first start said, whatever was said later.
async fn learn_nothing_new(room: &Room) {
    let now = std::fs::read(room.world.root().join("0.script")).unwrap();
    rewrite(room, 0, &looks(false));
    learn(room).await;
    std::fs::write(room.world.root().join("0.script"), now).unwrap();
}

#[tokio::test]
async fn the_lists_of_the_settings_count_for_what_is_kept() {
    let script = Script::new("two").tool(ToolScript::echo("good")).tool(ToolScript::echo("bad"));
    let cases = [("excludeTools", json!(["bad"])), ("includeTools", json!(["good"]))];
    for (key, list) in cases {
        let room = Room::new().server("one", &script);
        learn(&room).await;
        let room = room.with("one", key, list);
        let host = connected(&room, remembering(&room, Memory::Used)).await;
        assert_eq!((names(&host.catalog()).join(" "), starts(&room.record(0))), ("good".to_owned(), 1), "{key}");
        assert_eq!(host.catalog().filtered().count(), 1);
    }
}

#[tokio::test]
async fn a_remote_list_is_believed_for_as_long_as_its_server_says() {
    // How long the server says, how much later it is wanted, and whether it is asked then.
    let hours = |count: u32| HOUR * count;
    let cases = [
        (0, Duration::ZERO, true),
        (3 * 60_000, Duration::from_secs(60), false),
        (3 * 60_000, hours(1), true),
        (2 * 3_600_000, hours(1), false),
        (2 * 3_600_000, hours(3), true),
    ];
    for (ttl_ms, by, is_asked) in cases {
        let script = everything().versions(&["2026-07-28"]).caching(ttl_ms, CacheScope::Private);
        let http = ScriptedHttp::start(script).await.unwrap();
        let room = Room::new().entry("one", json!({"url": http.url(), "type": "http"}));
        learn(&room).await;
        let before = http.record().requests().len();
        let builder = Host::builder(later(&room, by)).memory(Memory::Used).for_one_question();
        let host = connected(&room, builder).await;
        assert_eq!(names(&host.catalog()), ["echo"]);
        let asked = http.record().requests().len() > before;
        assert_eq!(asked, is_asked, "{ttl_ms} ms, {by:?} later");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn what_is_old_is_shown_and_renewed_or_asked_for() {
    for is_long in [true, false] {
        let room = Room::new().server("one", &everything());
        learn(&room).await;
        rewrite(&room, 0, &everything().tool(ToolScript::new("new", Behaviour::text("ok"))));
        let builder = Host::builder(later(&room, HOUR * 48)).memory(Memory::Used);
        let builder = builder.call_rules(lets_everything_through());
        let host = if is_long { builder.build() } else { builder.for_one_question().build() };
        let mut events = host.events();
        host.start(room.servers());
        if is_long {
            assert_eq!(names(&host.catalog()), ["echo"], "it is there before anything was started");
            next(&mut events, |event| matches!(event, HostEvent::Changed { kind: Kind::Tools, .. })).await;
        }
        in_time(host.all_settled()).await;
        assert_eq!(names(&host.catalog()), ["echo", "new"]);
        assert_eq!(starts(&room.record(0)), 2);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn what_is_read_ahead_counts_for_the_servers_it_is_about() {
    // Of many servers another thread reads.
    for count in [1, 20] {
        let all: Vec<String> = (0..count).map(|nth| format!("s{nth}")).collect();
        let room = all.iter().fold(Room::new(), |room, name| room.server(name, &everything()));
        learn(&room).await;
        let env = Arc::new(room.env());
        let ahead = Host::read_ahead(&env, Interest::ALL, &room.servers());
        let host = connected(&room, remembering(&room, Memory::Used).with_ahead(Some(ahead)).for_one_question()).await;
        assert_eq!(host.catalog().tools().len(), count);
        assert!((0..count).all(|nth| starts(&room.record(nth)) == 1), "none of {count} is started");
        host.shutdown().await;
    }
    let room = Room::new().server("one", &everything());
    learn(&room).await;
    let env = Arc::new(room.env());
    let ahead = || Some(Host::read_ahead(&env, Interest::ALL, &room.servers()));
    let (of_one, of_another) = (ahead(), ahead());
    assert_eq!(KeptOffers::new(&env).forget_all(), 1);
    let builder = || remembering(&room, Memory::Used).for_one_question();
    let host = connected(&room, builder().with_ahead(of_one)).await;
    assert_eq!((names(&host.catalog()), starts(&room.record(0))), (vec!["echo"], 1), "it was read before");
    host.shutdown().await;
    let room = room.server("two", &everything());
    let builder = remembering(&room, Memory::Used).for_one_question();
    let host = connected(&room, builder.with_ahead(of_another)).await;
    assert_eq!((host.catalog().tools().len(), starts(&room.record(0))), (2, 2), "it is about other servers");
    host.shutdown().await;
}

#[tokio::test]
async fn a_list_that_was_never_read_is_asked_for() {
    // What was asked for first, what is wanted then, and how often the server is started.
    let cases = [
        (Interest::TOOLS, Interest::TOOLS, 1),
        (Interest::TOOLS, Interest::PROMPTS, 2),
        (Interest::TOOLS, Interest::ALL, 2),
        (Interest::ALL, Interest::RESOURCES, 1),
        (Interest::ALL, Interest::NONE, 1),
    ];
    for (first, then, expected) in cases {
        for is_long in [true, false] {
            let room = Room::new().server("one", &everything());
            let builder = remembering(&room, Memory::Used).interest(first).for_one_question();
            connected(&room, builder).await.shutdown().await;
            let builder = remembering(&room, Memory::Used).interest(then);
            let host = connected(&room, if is_long { builder } else { builder.for_one_question() }).await;
            assert_eq!(starts(&room.record(0)), expected, "{first:?} {then:?}");
            assert!(!then.prompts || host.catalog().prompts().len() == 1, "{first:?} {then:?}");
            host.shutdown().await;
        }
    }
}
