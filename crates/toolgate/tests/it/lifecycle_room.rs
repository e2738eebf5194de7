//! What the tests of the lifecycle share: hosts with a memory, servers that are others the next time, and somebody who notes how calls ended.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate::audit::{AuditRecord, AuditSink};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::policy::file::{self, FileSource};
use toolgate::policy::{Permissions, Policy, Presence, Tier};
use toolgate::registry::PreparedCall;
use toolgate::{
    Asker, CallOutcome, CallRules, Clock, Host, HostBuilder, HostEnv, HostEvent, HostEvents, Memory, RunOptions,
    ServerStatus, ToolCall,
};
use toolgate_testkit::record::Event;
use toolgate_testkit::{Record, Script};

use crate::support::{LONG, Room, lets_everything_through};

/// How often a server was started.
pub(crate) fn starts(record: &Record) -> usize {
    record.events().iter().filter(|event| matches!(event, Event::Started { .. })).count()
}

/// How often a tool was called at its server.
pub(crate) fn called(record: &Record, tool: &str) -> usize {
    let is_it = |message: &&Value| message["method"] == "tools/call" && message["params"]["name"] == tool;
    record.received().iter().filter(is_it).count()
}

/// The nth server follows that script from its next start on; how it is started stays the same.
pub(crate) fn rewrite(room: &Room, nth: usize, script: &Script) {
    std::fs::write(room.world.root().join(format!("{nth}.script")), script.to_json()).unwrap();
}

/// A builder that remembers.
pub(crate) fn remembering(room: &Room, memory: Memory) -> HostBuilder {
    room.builder().memory(memory)
}

/// The host with all servers settled.
pub(crate) async fn connected(room: &Room, builder: HostBuilder) -> Host {
    let host = builder.build();
    tokio::time::timeout(LONG, host.connect(room.servers())).await.expect("the servers did not settle");
    host
}

/// Has every server say what it offers, and keeps that.
pub(crate) async fn learn(room: &Room) {
    let host = connected(room, remembering(room, Memory::Renewed).for_one_question()).await;
    host.shutdown().await;
}

/// The clock of somebody who comes later.
struct Later(Duration);

impl Clock for Later {
    fn now(&self) -> SystemTime {
        SystemTime::now() + self.0
    }
}

/// The world of the room, that much later.
pub(crate) fn later(room: &Room, by: Duration) -> HostEnv {
    HostEnv { clock: Arc::new(Later(by)), ..room.env() }
}

/// A call that has not been made yet, of whatever is shown under that name.
pub(crate) fn prepared(host: &Host, name: &str, arguments: Value, asked_by: Asker) -> PreparedCall {
    host.catalog().prepare(ToolCall { name: name.to_owned(), arguments: arguments.into(), asked_by }).unwrap()
}

/// Makes a call without arguments in a task of its own; ending the task gives the call up.
pub(crate) fn spawned(host: &Arc<Host>, name: &str, arguments: Value) -> tokio::task::JoinHandle<CallOutcome> {
    let (host, call) = (host.clone(), prepared(host, name, arguments, Asker::Cli));
    tokio::spawn(async move { host.run(call, RunOptions::default()).await })
}

/// What comes in time, or the test has failed.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.expect("it did not come in time")
}

/// The next event that is wanted.
pub(crate) async fn next(events: &mut HostEvents, wanted: impl Fn(&HostEvent) -> bool) -> HostEvent {
    in_time(async {
        loop {
            let event = events.next().await.expect("the host lives");
            if wanted(&event) {
                return event;
            }
        }
    })
    .await
}

/// Waits until a server has that status, and gives everything that happened until then in short words.
pub(crate) async fn story_until(events: &mut HostEvents, wanted: ServerStatus) -> Vec<String> {
    let mut story = Vec::new();
    loop {
        let event = next(events, |_| true).await;
        match event {
            HostEvent::Status { status, .. } => {
                story.push(status.as_str().to_owned());
                if status == wanted {
                    return story;
                }
            }
            HostEvent::Diagnostic(diagnostic) => story.push(diagnostic.text),
            _ => {}
        }
    }
}

/// Notes how every call ended, and what was said about it.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The rules that let everything through and tell this.
    pub(crate) fn rules(self: &Arc<Self>) -> CallRules {
        CallRules { audit: self.clone(), ..lets_everything_through() }
    }
}

impl AuditSink for Notes {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(format!("{} {}", record.outcome, record.tool));
    }
}

/// Answers every question in the same way, and notes what it was asked.
pub(crate) struct Person {
    pub(crate) answer: Confirmation,
    asked: Mutex<Vec<String>>,
}

impl Person {
    pub(crate) fn who_says(answer: Confirmation) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    /// The tools it was asked about, and whether each says that it only reads.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// What only reads is let through, and this is asked about everything else.
    pub(crate) fn rules(self: &Arc<Self>) -> CallRules {
        let source = FileSource::new(Tier::User, Path::new("test.toml"));
        let text = "[[rule]]\nmcpName = \"*\"\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\n\
                    toolAnnotations = {readOnlyHint = true}\n";
        let parsed = file::parse(text, &source);
        assert_eq!(parsed.rules.len(), 1);
        let permissions = Permissions::new(Policy::new(parsed.rules));
        CallRules { permissions, confirmer: self.clone(), presence: Presence::Interactive, ..CallRules::default() }
    }
}

impl Confirmer for Person {
    fn confirm(&self, question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        let reads = question.tool.hints().read_only_hint;
        self.asked.lock().unwrap().push(format!("{} {reads:?}", question.tool.id.tool));
        let answer = self.answer.clone();
        Box::pin(async move { answer })
    }
}

/// The hint of a tool that only reads.
pub(crate) fn only_reads() -> Value {
    json!({"readOnlyHint": true})
}
