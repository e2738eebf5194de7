//! A server that one host keeps and another uses: one process, and to whoever borrows it everything is as if it were theirs.

use std::sync::{Arc, Mutex, Weak};

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate::connect::{CallProgress, Lender, ServerLog};
use toolgate::servers::ServerConfig;
use toolgate::wire::Endpoint;
use toolgate::{Abilities, BorrowedRequest, Elicitation, ElicitationAnswer, FrontEnd, Host, ServerName};
use toolgate_testkit::record::Event;
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::{called, connected, only_reads, spawned, starts};
use crate::support::{LONG, Room, call, names, nothing, text};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"];

const ABILITIES: Abilities = Abilities { forms: true, urls: true, sampling: false };

/// Keeps servers, and passes what they ask and say on to whoever borrowed them.
#[derive(Default)]
struct Keeper {
    requests: Mutex<Vec<Weak<BorrowedRequest>>>,
}

impl Keeper {
    fn heard(&self) -> Option<Arc<BorrowedRequest>> {
        self.requests.lock().unwrap().iter().find_map(Weak::upgrade)
    }
}

impl FrontEnd for Keeper {
    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn elicit(&self, _server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        let request = self.heard();
        Box::pin(async move {
            match request {
                Some(request) => request.elicit(question).await,
                None => ElicitationAnswer::Cancel,
            }
        })
    }

    fn log(&self, _server: &ServerName, entry: ServerLog) {
        if let Some(request) = self.heard() {
            tokio::spawn(async move { request.log(entry).await });
        }
    }
}

/// A host that lends its servers.
struct Lending {
    host: Arc<Host>,
    keeper: Arc<Keeper>,
}

impl std::fmt::Debug for Lending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lending")
    }
}

impl Lender for Lending {
    fn lend(&self, server: &Arc<ServerConfig>) -> BoxFuture<'static, Option<Endpoint>> {
        let (host, keeper, name) = (self.host.clone(), self.keeper.clone(), server.name.clone());
        Box::pin(async move {
            let hears = move |request: &Arc<BorrowedRequest>| {
                keeper.requests.lock().unwrap().push(Arc::downgrade(request));
            };
            let loan = host.lend(&name, hears).await.ok()?;
            let (there, here) = tokio::io::duplex(1 << 16);
            let (from, to) = tokio::io::split(there);
            tokio::spawn(loan.serve(from, to));
            let (from, to) = tokio::io::split(here);
            Some(Endpoint::Streams(Box::new(from), Box::new(to)))
        })
    }
}

/// Somebody who borrows, answers and notes what is said.
#[derive(Default)]
struct Borrower(Mutex<Vec<String>>);

impl Borrower {
    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl FrontEnd for Borrower {
    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        let (Elicitation::Form { message, .. } | Elicitation::Url { message, .. }) = question;
        self.0.lock().unwrap().push(format!("{server} asks: {message}"));
        Box::pin(async { ElicitationAnswer::Accept(Some(json!({"city": "Oslo"}).into())) })
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        self.0.lock().unwrap().push(format!("{server} logs {}: {}", entry.level, entry.data));
    }

    fn progress(&self, news: &CallProgress) {
        self.0.lock().unwrap().push(format!("{} {:?}%", news.tool, news.percent()));
    }
}

/// The host that keeps the servers of a room, and one that borrows them.
async fn pair(room: &Room) -> (Arc<Host>, Arc<Host>, Arc<Borrower>) {
    let keeper = Arc::new(Keeper::default());
    let keeps = Arc::new(connected(room, room.builder().front_end(keeper.clone())).await);
    let lender = Arc::new(Lending { host: keeps.clone(), keeper });
    let borrower = Arc::new(Borrower::default());
    let borrows = room.builder().front_end(borrower.clone()).lender(Some(lender));
    (keeps, Arc::new(connected(room, borrows).await), borrower)
}

fn script(version: &str) -> Script {
    Script::new("one")
        .versions(&[version])
        .instructions("Be brief.")
        .tool(ToolScript::echo("echo"))
        .tool(ToolScript::new("params", Behaviour::Params))
        .tool(ToolScript::new("form", Behaviour::elicit_text("city")))
        .tool(ToolScript::new("progress", Behaviour::progress(2, 50, Behaviour::text("done"))))
        .tool(ToolScript::new("log", Behaviour::log("warning", json!("mind the gap"), Behaviour::text("done"))))
        .tool(ToolScript::new("add", Behaviour::add_tool(ToolScript::echo("added"))))
        .tool(ToolScript::new("refuse", Behaviour::Error { code: -32011, message: "not today".into(), data: None }))
        .prompt(PromptScript::text("greet", "hello"))
        .resource(ResourceScript::text("docs://one", "Begin here."))
}

#[tokio::test]
async fn who_borrows_a_server_sees_what_its_keeper_sees() {
    for version in VERSIONS {
        let room = Room::new().server("one", &script(version));
        let (keeps, borrows, _) = pair(&room).await;
        let (there, here) = (keeps.catalog(), borrows.catalog());
        assert_eq!(names(&here), names(&there), "{version}");
        let said = |host: &Host| {
            let agreed = host.servers()[0].agreed.clone().unwrap();
            let live = host.line("one").unwrap().now().unwrap();
            (agreed.version, agreed.info, agreed.capabilities, live.offered.instructions.clone())
        };
        assert_eq!(said(&borrows), said(&keeps), "{version}");
        assert_eq!(text(&call(&borrows, "echo", json!({"message": "hi"})).await), "hi", "{version}");
        let refused = call(&borrows, "refuse", json!({})).await;
        assert!(format!("{refused:?}").contains("not today"), "{version}: {refused:?}");
        let prompt = here.prompts()[0].clone();
        assert_eq!(borrows.get_prompt(&prompt, &nothing()).await.unwrap().messages.len(), 1, "{version}");
        assert_eq!(borrows.read_resource("one", "docs://one").await.unwrap().contents.len(), 1, "{version}");
        assert_eq!(starts(&room.record(0)), 1, "{version}: there is one process");
        let params = text(&call(&borrows, "params", json!({"a": 1.5})).await);
        assert!(params.contains("1.5") && params.matches("progressToken").count() == 1, "{version}: {params}");
        assert_eq!(keeps.line("one").unwrap().traffic().calls, 3, "{version}: they count for whoever keeps it");
    }
}

#[tokio::test]
async fn questions_progress_and_log_entries_reach_whoever_called() {
    for version in VERSIONS {
        let room = Room::new().server("one", &script(version));
        let (_keeps, borrows, borrower) = pair(&room).await;
        if version >= "2025-06-18" {
            let answer = text(&call(&borrows, "form", json!({})).await);
            assert!(answer.contains("accept") && answer.contains("Oslo"), "{version}: {answer}");
            assert_eq!(borrower.seen().len(), 1, "{version}");
        }
        assert_eq!(text(&call(&borrows, "progress", json!({})).await), "done", "{version}");
        assert_eq!(borrower.seen(), ["progress Some(50.0)%", "progress Some(100.0)%"], "{version}");
        call(&borrows, "log", json!({})).await;
        if version != "2026-07-28" {
            until("the entry", LONG, || borrower.seen() == ["one logs warning: \"mind the gap\""]).await;
        }
    }
}

#[tokio::test]
async fn a_list_that_changes_is_read_again_by_both() {
    for version in VERSIONS {
        let room = Room::new().server("one", &script(version));
        let (keeps, borrows, _) = pair(&room).await;
        if version == "2026-07-28" {
            room.record(0).wait_for_method("subscriptions/listen", LONG).await.unwrap();
        }
        // What changes before somebody listens is told to nobody, in the newest version; it can be asked for again.
        let has_it = |host: &Host| names(&host.catalog()).contains(&"added");
        until("the change", LONG, || {
            if !has_it(&keeps) {
                let borrows = borrows.clone();
                drop(spawned(&borrows, "add", json!({})));
            }
            has_it(&keeps) && has_it(&borrows)
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_given_up_at_the_server() {
    for version in VERSIONS {
        let room = Room::new().server("one", &script(version).tool(ToolScript::new("never", Behaviour::Never)));
        let (_keeps, borrows, _) = pair(&room).await;
        let running = spawned(&borrows, "never", json!({}));
        until("the call at the server", LONG, || called(&room.record(0), "never") == 1).await;
        running.abort();
        let record = room.record(0);
        record.wait_for_event(|event| matches!(event, Event::Cancelled { .. }), LONG).await.unwrap();
        assert_eq!(text(&call(&borrows, "echo", json!({"message": "hi"})).await), "hi", "{version}");
    }
}

#[tokio::test]
async fn a_server_that_is_lost_with_a_call_is_lost_to_both_and_comes_back() {
    let cases = [(json!({}), "unknown", 1), (only_reads(), "completed", 2)];
    for (hints, expected, times) in cases {
        let work = ToolScript::text("work", "done").annotations(hints.clone());
        let script = script("2025-11-25").tool(work).fault(When::Tool("work").in_life(1), What::Exit(1));
        let room = Room::new().server("one", &script);
        let (_keeps, borrows, _) = pair(&room).await;
        let outcome = call(&borrows, "work", json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{hints}: {outcome:?}");
        assert_eq!(called(&room.record(0), "work"), times, "{hints}");
        assert_eq!(text(&call(&borrows, "echo", json!({"message": "hi"})).await), "hi", "{hints}");
        assert_eq!(starts(&room.record(0)), 2, "{hints}: it was started anew, once for both");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_lost_to_whoever_asked_alone() {
    let broken = Behaviour::Raw(r#"{"jsonrpc":"2.0","id":$ID,"result":7,"error":{}}"#.into());
    let script = script("2025-11-25").tool(ToolScript::new("broken", broken));
    let room = Room::new().server("one", &script);
    let (keeps, borrows, _) = pair(&room).await;
    let (there, here) = (call(&keeps, "broken", json!({})).await, call(&borrows, "broken", json!({})).await);
    assert_eq!(there.as_str(), here.as_str(), "{there:?} {here:?}");
    assert_eq!(text(&call(&borrows, "echo", json!({"message": "hi"})).await), "hi");
    assert_eq!((starts(&room.record(0)), keeps.line("one").unwrap().traffic().connections), (1, 1));
}

#[tokio::test]
async fn all_who_use_a_server_share_its_places() {
    let script = script("2025-11-25").tool(ToolScript::new("never", Behaviour::Never));
    let room = Room::new().server_with("one", &script, &json!({"maxConcurrency": 2}));
    let (keeps, borrows, _) = pair(&room).await;
    let _running = [spawned(&keeps, "never", json!({})), spawned(&borrows, "never", json!({}))];
    until("both run", LONG, || called(&room.record(0), "never") == 2).await;
    let waits = spawned(&borrows, "echo", json!({"message": "hi"}));
    until("the third waits", LONG, || keeps.line("one").unwrap().traffic().waiting == 1).await;
    assert_eq!(called(&room.record(0), "echo"), 0);
    waits.abort();
    until("nobody waits", LONG, || keeps.line("one").unwrap().traffic().waiting == 0).await;
}

#[tokio::test]
async fn what_is_not_lent_is_started() {
    let room = Room::new().server("one", &script("2025-11-25"));
    let (keeps, borrows, _) = pair(&room).await;
    keeps.shutdown().await;
    assert_eq!(text(&call(&borrows, "echo", json!({"message": "hi"})).await), "hi");
    assert_eq!(starts(&room.record(0)), 2, "it has its own now");
}
