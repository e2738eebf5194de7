//! What servers may ask of the person, in every version; and what they are told when nobody can be asked.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate::connect::{CallProgress, ServerLog};
use toolgate::{Abilities, Elicitation, ElicitationAnswer, FrontEnd, Host, RawJson, ServerName};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::support::{LONG, Room, call, text};

const VERSIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Answers everything the same way, and remembers what was asked.
struct Person {
    abilities: Abilities,
    answer: ElicitationAnswer,
    seen: Mutex<Vec<String>>,
}

impl Person {
    fn new(abilities: Abilities, answer: ElicitationAnswer) -> Arc<Self> {
        Arc::new(Self { abilities, answer, seen: Mutex::default() })
    }

    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

impl FrontEnd for Person {
    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        match question {
            Elicitation::Form { message, schema } => {
                let fields = schema.member("properties").map(|fields| fields.members().len()).unwrap_or_default();
                self.note(format!("{server} asks `{message}` with {fields} field(s)"));
            }
            Elicitation::Url { message, url } => self.note(format!("{server} sends to {url}: {message}")),
        }
        let answer = self.answer.clone();
        Box::pin(async move { answer })
    }

    fn sample(&self, server: ServerName, request: RawJson) -> BoxFuture<'static, Result<RawJson, String>> {
        let count = request.member("messages").and_then(|messages| messages.elements()).map(|messages| messages.len());
        self.note(format!("{server} samples {count:?}"));
        Box::pin(async {
            Ok(json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}).into())
        })
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        self.note(format!("{server} logs {}: {}", entry.level, entry.data));
    }

    fn progress(&self, news: &CallProgress) {
        self.note(format!("{} {} {:?}%", news.server, news.tool, news.percent()));
    }
}

const ALL: Abilities = Abilities { forms: true, urls: true, sampling: true };

async fn host(room: &Room, person: &Arc<Person>) -> Host {
    let host = room.builder().front_end(person.clone()).build();
    tokio::time::timeout(LONG, host.connect(room.servers())).await.unwrap();
    host
}

fn asking(version: &str) -> Script {
    let url = json!({"mode": "url", "message": "log in", "url": "https://example.com/login", "elicitationId": "1"});
    Script::new("asks")
        .versions(&[version])
        .tool(ToolScript::new("form", Behaviour::elicit_text("city")))
        .tool(ToolScript::new("visit", Behaviour::elicit(url)))
        .tool(ToolScript::new("sample", Behaviour::sample("why?")))
        .tool(ToolScript::new("roots", Behaviour::roots()))
        .tool(ToolScript::new("progress", Behaviour::progress(2, 1, Behaviour::text("done"))))
        .tool(ToolScript::new("log", Behaviour::log("warning", json!("mind the gap"), Behaviour::text("done"))))
}

#[tokio::test]
async fn questions_reach_the_person_and_answers_the_server() {
    for version in &VERSIONS[1..] {
        let room = Room::new().server("asks", &asking(version));
        let person = Person::new(ALL, ElicitationAnswer::Accept(Some(json!({"city": "Oslo"}).into())));
        let host = host(&room, &person).await;
        let answer = text(&call(&host, "form", json!({})).await);
        assert!(answer.contains("accept") && answer.contains("Oslo"), "{version}: {answer}");
        assert_eq!(person.seen().len(), 1, "{version}");
        if *version != "2025-06-18" {
            let answer = text(&call(&host, "visit", json!({})).await);
            assert!(answer.contains("accept"), "{version}: {answer}");
            assert_eq!(person.seen(), ["asks sends to https://example.com/login: log in"], "{version}");
        }
    }
}

#[tokio::test]
async fn a_person_may_decline_or_put_the_question_away() {
    for (answer, word) in [(ElicitationAnswer::Decline, "decline"), (ElicitationAnswer::Cancel, "cancel")] {
        let room = Room::new().server("asks", &asking("2025-11-25"));
        let person = Person::new(ALL, answer);
        let host = host(&room, &person).await;
        let heard = text(&call(&host, "form", json!({})).await);
        assert!(heard.contains(word), "{heard}");
    }
}

#[tokio::test]
async fn roots_sampling_progress_and_log_entries_travel_in_every_version() {
    for version in VERSIONS {
        let room = Room::new().server("asks", &asking(version));
        let person = Person::new(ALL, ElicitationAnswer::Cancel);
        let host = host(&room, &person).await;
        let roots = text(&call(&host, "roots", json!({})).await);
        assert!(roots.contains(&format!("file://{}", room.world.workspace().display())), "{version}: {roots}");
        assert!(text(&call(&host, "sample", json!({})).await).contains("sampled"), "{version}");
        assert_eq!(person.seen(), ["asks samples Some(1)"], "{version}");
        assert_eq!(text(&call(&host, "progress", json!({})).await), "done");
        assert_eq!(person.seen(), ["asks progress Some(50.0)%", "asks progress Some(100.0)%"], "{version}");
        call(&host, "log", json!({})).await;
        if version != "2026-07-28" {
            assert_eq!(person.seen(), ["asks logs warning: \"mind the gap\""], "{version}");
        }
    }
}

#[tokio::test]
async fn who_cannot_be_asked_says_so() {
    for version in VERSIONS {
        let room = Room::new().server("asks", &asking(version));
        let host = room.host().await;
        let hello = room.record(0).received().into_iter().find(|message| {
            let version = &message["params"]["protocolVersion"];
            version.is_string() || message["method"] == "tools/list"
        });
        let hello = hello.unwrap();
        let params = &hello["params"];
        let legacy = &params["capabilities"];
        let modern = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let said: &Value = if legacy.is_object() { legacy } else { modern };
        let roots = if legacy.is_object() { json!({"listChanged": true}) } else { json!({}) };
        assert_eq!(*said, json!({"roots": roots}), "{version}: {hello}");
        let refused = call(&host, "form", json!({})).await;
        assert!(!text(&refused).contains("accept"), "{version}: {refused:?}");
    }
}

#[tokio::test]
async fn a_page_that_must_be_visited_first_is_visited_and_the_call_repeated() {
    let page = json!({"mode": "url", "elicitationId": "1", "url": "https://example.com/pay", "message": "pay first"});
    let refusal = Behaviour::Error { code: -32042, message: "pay".into(), data: Some(json!({"elicitations": [page]})) };
    let paid = Behaviour::Turns(vec![refusal, Behaviour::text("paid")]);
    let script = Script::new("asks").versions(&["2025-11-25"]).tool(ToolScript::new("buy", paid));
    for (answer, expected) in [(ElicitationAnswer::Accept(None), "completed"), (ElicitationAnswer::Decline, "failed")] {
        let room = Room::new().server("asks", &script);
        let person = Person::new(ALL, answer);
        let host = host(&room, &person).await;
        assert_eq!(call(&host, "buy", json!({})).await.as_str(), expected);
        assert_eq!(person.seen(), ["asks sends to https://example.com/pay: pay first"]);
    }
}
