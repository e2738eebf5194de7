//! What becomes of a call whose connection is lost: it is made once more where that does nothing twice, and said to be unknown elsewhere.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;
use toolgate::{CallOutcome, CallRules, Host};
use toolgate_testkit::script::UnknownSession;
use toolgate_testkit::{
    Behaviour, Change, HttpAnswer, PromptScript, ResourceScript, Script, ScriptedHttp, ToolScript, What, When,
};

use crate::chaos_room::until;
use crate::lifecycle_room::{Notes, Person, called, connected, in_time, only_reads, rewrite, spawned, starts};
use crate::support::{LONG, Room, call, nothing, text};

fn tool(name: &str, hints: Value) -> ToolScript {
    ToolScript::text(name, "done").annotations(hints)
}

/// One tool, which ends its server in each of these lives after it has done its work.
fn ends(hints: Value, what: &What, lives: &[u32]) -> Script {
    let script = Script::new("ends").tool(tool("work", hints));
    lives.iter().fold(script, |script, life| script.fault(When::Tool("work").in_life(*life), what.clone()))
}

async fn noted(room: &Room) -> (Host, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let host = connected(room, room.builder().call_rules(notes.rules())).await;
    (host, notes)
}

#[tokio::test]
async fn only_what_does_nothing_twice_is_done_again() {
    let (reads, again) = (only_reads(), json!({"idempotentHint": true}));
    let acts = json!({"readOnlyHint": false, "idempotentHint": false});
    // What the tool says about itself, the lives in which it ends its server, how the call ends, and how often it arrived.
    let cases: [(Value, &[u32], &str, usize); 8] = [
        (json!({}), &[1], "unknown", 1),
        (acts, &[1], "unknown", 1),
        (json!({"destructiveHint": false}), &[1], "unknown", 1),
        (json!({"readOnlyHint": "true"}), &[1], "unknown", 1),
        (reads.clone(), &[1], "completed", 2),
        (again.clone(), &[1], "completed", 2),
        (reads, &[1, 2], "unknown", 2),
        (again, &[1, 2], "unknown", 2),
    ];
    for what in [What::Exit(1), What::Close] {
        for (hints, lives, expected, times) in &cases {
            let room = Room::new().server("one", &ends(hints.clone(), &what, lives));
            let (host, notes) = noted(&room).await;
            let outcome = call(&host, "work", json!({})).await;
            assert_eq!(outcome.as_str(), *expected, "{hints} {what:?}: {outcome:?}");
            if let CallOutcome::Unknown(error) = &outcome {
                assert_eq!(error.server().unwrap().as_str(), "one");
            }
            assert_eq!(notes.told(), [format!("{expected} work")], "{hints} {what:?}");
            // Another call finds the server in its next life, and nothing is made up for.
            assert!(in_time(host.ping("one")).await.is_ok());
            assert_eq!(called(&room.record(0), "work"), *times, "{hints} {what:?}");
            host.shutdown().await;
        }
    }
}

#[tokio::test]
async fn what_is_described_in_another_way_is_not_done_again() {
    let same = json!({"readOnlyHint": true, "idempotentHint": true});
    let others = [
        tool("work", same.clone()).description("does more than before"),
        tool("work", json!({"readOnlyHint": true})),
        tool("work", same.clone()).input_schema(json!({"type": "object", "properties": {"force": {}}})),
        tool("other", same.clone()),
    ];
    for other in others {
        let room = Room::new().server("one", &ends(same.clone(), &What::Exit(1), &[1]));
        let (host, notes) = noted(&room).await;
        rewrite(&room, 0, &Script::new("ends").tool(other.clone()));
        let outcome = call(&host, "work", json!({})).await;
        assert_eq!(outcome.as_str(), "unknown", "{outcome:?}");
        assert!(in_time(host.ping("one")).await.is_ok());
        assert_eq!((called(&room.record(0), "work"), starts(&room.record(0))), (1, 2), "{}", other.definition);
        assert_eq!(notes.told(), ["unknown work"]);
        host.shutdown().await;
    }
}

/// A person who says yes when they are told to.
#[derive(Default)]
struct Thinks {
    asked: Notify,
    goes_on: Notify,
}

impl Confirmer for Thinks {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        self.asked.notify_one();
        Box::pin(async {
            self.goes_on.notified().await;
            Confirmation::Proceed(Remember::No)
        })
    }
}

#[tokio::test]
async fn what_changes_while_a_person_thinks_is_not_what_they_allowed() {
    let other = || tool("work", json!({})).description("does more than before");
    // What changes meanwhile, and why the call is not made then.
    let cases = [
        (vec![], ""),
        (vec![Change::AddTool(tool("more", json!({})))], ""),
        (
            vec![Change::RemoveTool("work".to_owned()), Change::AddTool(other())],
            "the server describes `work` in another way than before",
        ),
        (vec![Change::RemoveTool("work".to_owned())], "the server does not offer `work` any more"),
    ];
    for (changes, why) in cases {
        let http = ScriptedHttp::start(Script::new("web").tool(tool("work", json!({})))).await.unwrap();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let thinks = Arc::new(Thinks::default());
        let rules = Person::who_says(Confirmation::Proceed(Remember::No)).rules();
        let rules = CallRules { confirmer: thinks.clone(), ..rules };
        let host = Arc::new(connected(&room, room.builder().call_rules(rules)).await);
        let running = spawned(&host, "work", json!({}));
        in_time(thinks.asked.notified()).await;
        changes.iter().for_each(|change| http.change(change));
        let seen = || host.catalog().tools().iter().map(|tool| format!("{:?}", tool.description())).collect::<String>();
        let before = seen();
        until("the change", LONG, || changes.is_empty() || seen() != before).await;
        thinks.goes_on.notify_one();
        let outcome = in_time(running).await.unwrap();
        match &outcome {
            CallOutcome::Failed(error) => assert_eq!(error.to_string(), why),
            _ => assert_eq!((text(&outcome).as_str(), why), ("done", "")),
        }
        assert_eq!(called(http.record(), "work"), usize::from(why.is_empty()));
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_waited_for_its_turn_when_the_server_ended_is_made_on_the_next() {
    let script = Script::new("one")
        .tool(ToolScript::new("end", Behaviour::delay(300, Behaviour::text("never said"))))
        .tool(ToolScript::text("work", "done"))
        .fault(When::Tool("end").in_life(1), What::Exit(1));
    let room = Room::new().server_with("one", &script, &json!({"maxConcurrency": 1}));
    let (host, notes) = noted(&room).await;
    let host = Arc::new(host);
    let ends = spawned(&host, "end", json!({}));
    until("the first call at the server", LONG, || called(&room.record(0), "end") == 1).await;
    let waits: Vec<_> = (0..3).map(|_| spawned(&host, "work", json!({}))).collect();
    assert_eq!(in_time(ends).await.unwrap().as_str(), "unknown");
    for call in waits {
        assert_eq!(text(&in_time(call).await.unwrap()), "done");
    }
    assert_eq!((called(&room.record(0), "end"), called(&room.record(0), "work")), (1, 3));
    assert_eq!(notes.told(), ["unknown end", "completed work", "completed work", "completed work"]);
}

#[tokio::test]
async fn a_call_that_waited_for_its_turn_when_the_server_was_taken_away_is_told_so() {
    let script = Script::new("one")
        .tool(ToolScript::new("slow", Behaviour::delay(500, Behaviour::text("to its end"))))
        .tool(ToolScript::text("work", "done"));
    let room = Room::new().server_with("one", &script, &json!({"maxConcurrency": 1}));
    let (host, _) = noted(&room).await;
    let host = Arc::new(host);
    let runs = spawned(&host, "slow", json!({}));
    until("the first call at the server", LONG, || called(&room.record(0), "slow") == 1).await;
    let waits = spawned(&host, "work", json!({}));
    until("one who waits", LONG, || host.line("one").unwrap().traffic().waiting == 1).await;
    host.reconcile(room.servers().only(|_| false));
    assert_eq!(text(&in_time(runs).await.unwrap()), "to its end");
    let outcome = in_time(waits).await.unwrap();
    match &outcome {
        CallOutcome::Failed(error) => {
            assert_eq!(error.to_string(), "the server was changed or removed in the settings meanwhile");
            assert!(error.hint().is_some_and(|hint| hint.contains("called again")), "{error:?}");
        }
        // It had its place before the connection was closed.
        _ => assert_eq!(text(&outcome), "done"),
    }
    assert_eq!(called(&room.record(0), "work"), usize::from(outcome.report().is_some()));
}

#[tokio::test]
async fn what_the_server_did_not_look_at_is_sent_again() {
    for answer in [UnknownSession::NotFound, UnknownSession::BadRequestWithoutId, UnknownSession::BadRequestText] {
        let script = Script::new("web").tool(ToolScript::new("work", Behaviour::Count)).http(|http| {
            http.unknown_session = answer;
            // Nothing but the call itself can find out.
            http.get_stream = toolgate_testkit::script::GetStream::Refused;
        });
        let http = ScriptedHttp::start(script).await.unwrap();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let (host, notes) = noted(&room).await;
        assert_eq!(text(&call(&host, "work", json!({})).await), "1");
        http.restart().await;
        assert_eq!(text(&call(&host, "work", json!({})).await), "2", "{answer:?}: done once");
        assert_eq!(notes.told(), ["completed work", "completed work"]);
        assert_eq!(host.line("web").unwrap().traffic().connections, 2, "{answer:?}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_over_http_that_may_have_been_done_is_unknown() {
    for (what, hints, expected, times) in [
        (What::Reset, json!({}), "unknown", 1),
        (What::Close, json!({}), "unknown", 1),
        (What::Reset, only_reads(), "completed", 2),
        (What::Close, only_reads(), "completed", 2),
    ] {
        let script = Script::new("web")
            .tool(tool("work", hints.clone()))
            .json_answers()
            .fault(When::Tool("work").nth(1), what.clone());
        let http = ScriptedHttp::start(script).await.unwrap();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let (host, notes) = noted(&room).await;
        let outcome = call(&host, "work", json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{what:?} {hints}: {outcome:?}");
        assert_eq!((called(http.record(), "work"), notes.told().len()), (times, 1), "{what:?} {hints}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_somebody_on_the_way_answers_for_the_server_is_unknown() {
    // What comes in place of an answer, what the tool says about itself, and how the call ends.
    let (status, nothing) = (HttpAnswer::status, json!({}));
    let cases = [
        (status(500), nothing.clone(), "unknown"),
        (status(502), nothing.clone(), "unknown"),
        // A gateway that lost the server says so too.
        (status(503), nothing.clone(), "unknown"),
        (status(504), nothing.clone(), "unknown"),
        (status(504), only_reads(), "unknown"),
        (status(520), nothing.clone(), "unknown"),
        (status(527), nothing.clone(), "unknown"),
        (status(408), nothing.clone(), "unknown"),
        (status(200).body("not JSON"), nothing.clone(), "unknown"),
        (status(202), nothing.clone(), "unknown"),
        (status(429), nothing.clone(), "failed"),
        (status(400).body("your input is wrong"), nothing, "failed"),
    ];
    for (answer, hints, expected) in cases {
        let (status, answer) = (answer.status, What::HttpStatus(answer));
        let script = Script::new("web").tool(tool("work", hints.clone())).fault(When::Tool("work"), answer);
        let http = ScriptedHttp::start(script).await.unwrap();
        let room = Room::new().entry("web", json!({"url": http.url(), "type": "http"}));
        let (host, notes) = noted(&room).await;
        let outcome = call(&host, "work", json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{status} {hints}: {outcome:?}");
        assert_eq!((called(http.record(), "work"), notes.told().len()), (1, 1), "{status} {hints}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_is_made_again_has_its_time_once() {
    let script = ends(only_reads(), &What::Exit(1), &[1]).fault(When::Start.in_life(2), What::Freeze);
    let settings = json!({"maxDuration": 700, "connectTimeout": 40_000});
    let room = Room::new().server_with("one", &script, &settings);
    let (host, notes) = noted(&room).await;
    let started = std::time::Instant::now();
    assert_eq!(call(&host, "work", json!({})).await.as_str(), "unknown");
    assert!(started.elapsed() < LONG / 3, "nobody waits for the next start to fail");
    assert_eq!((called(&room.record(0), "work"), notes.told()), (1, vec!["unknown work".to_owned()]));
}

#[tokio::test]
async fn prompts_and_resources_are_asked_for_again() {
    let script = Script::new("one")
        .tool(ToolScript::echo("echo"))
        .prompt(PromptScript::text("greet", "hello"))
        .resource(ResourceScript::text("note://1", "first"))
        .fault(When::Method("prompts/get").in_life(1), What::Exit(1))
        .fault(When::Method("resources/read").in_life(2), What::Close);
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    let prompt = in_time(host.find_prompt("greet")).await.unwrap();
    assert_eq!(in_time(host.get_prompt(&prompt, &nothing())).await.unwrap().messages.len(), 1);
    assert_eq!(in_time(host.read_resource("one", "note://1")).await.unwrap().contents.len(), 1);
    let record = room.record(0);
    assert_eq!((record.count("prompts/get"), record.count("resources/read"), starts(&record)), (2, 2, 3));
}
