//! What is told to whoever keeps the record of calls: when, in what order, and on which thread.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate::audit::{AuditRecord, AuditSink};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;
use toolgate::policy::{Mode, Permissions, Policy, Presence};
use toolgate::{Asker, CallOutcome, CallRules, Error, ErrorKind, Host, Result, RunOptions, ToolCall};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::support::{LONG, Room, call, lets_everything_through};

/// Notes what it is told.
#[derive(Debug, Default)]
struct Notes {
    told: Mutex<Vec<String>>,
    refuses: bool,
    /// Waits for this before it answers that a call may begin.
    waits_for: Mutex<Option<Receiver<()>>>,
}

impl Notes {
    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

impl AuditSink for Notes {
    fn begin(&self, record: &AuditRecord) -> Result<Option<u64>> {
        if let Some(signal) = self.waits_for.lock().unwrap().take() {
            signal.recv_timeout(LONG).expect("nothing else goes on while this waits");
        }
        self.told.lock().unwrap().push(format!("begin {} {}", record.tool, record.mode.as_str()));
        if self.refuses { Err(Error::new(ErrorKind::State, "the disk is full")) } else { Ok(Some(7)) }
    }

    fn record(&self, record: &AuditRecord) {
        let line = format!("{} {} {:?} {}", record.outcome, record.tool, record.begun, record.mode.as_str());
        self.told.lock().unwrap().push(line);
    }
}

fn room() -> Room {
    let script = Script::new("one").tool(ToolScript::echo("echo")).tool(ToolScript::new("never", Behaviour::Never));
    Room::new().server("one", &script)
}

async fn host(room: &Room, rules: CallRules) -> Host {
    let host = room.builder().call_rules(rules).build();
    tokio::time::timeout(LONG, host.connect(room.servers())).await.expect("the servers settle");
    host
}

#[tokio::test]
async fn a_call_is_begun_and_ended_and_nothing_else_waits_for_that() {
    let room = room();
    let (signal, waits) = channel();
    let notes = Arc::new(Notes { waits_for: Mutex::new(Some(waits)), ..Notes::default() });
    let host = host(&room, CallRules { audit: notes.clone(), ..lets_everything_through() }).await;
    // The only thread there is does something else while the record is kept waiting.
    let other = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        signal.send(()).unwrap();
    };
    let (outcome, ()) = tokio::join!(call(&host, "echo", json!({"message": "x"})), other);
    assert_eq!(outcome.as_str(), "completed");
    assert_eq!(notes.told(), ["begin echo default", "completed echo Some(7) default"]);
}

#[tokio::test]
async fn a_call_that_may_not_begin_is_not_sent() {
    let room = room();
    let notes = Arc::new(Notes { refuses: true, ..Notes::default() });
    let host = host(&room, CallRules { audit: notes.clone(), ..lets_everything_through() }).await;
    let CallOutcome::Failed(error) = call(&host, "echo", json!({"message": "x"})).await else { panic!("it was made") };
    let said = "the call was not made, since it could not be recorded: the disk is full";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::State, said));
    assert_eq!(room.record(0).count("tools/call"), 0);
    assert_eq!(notes.told(), ["begin echo default"]);
}

#[tokio::test]
async fn what_is_denied_or_given_up_has_one_record() {
    let room = room();
    let notes = Arc::new(Notes::default());
    let rules =
        CallRules { audit: notes.clone(), permissions: Permissions::new(Policy::new(vec![])), ..CallRules::default() };
    let denying = host(&room, rules).await;
    assert_eq!(call(&denying, "echo", json!({})).await.as_str(), "denied");
    assert_eq!(notes.told(), ["denied echo None default"]);
    let notes = Arc::new(Notes::default());
    let host = host(&room, CallRules { audit: notes.clone(), ..lets_everything_through() }).await;
    let never = ToolCall { name: "never".into(), arguments: json!({}).into(), asked_by: Asker::Cli };
    let never = host.catalog().prepare(never).unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(500), host.run(never, RunOptions::default())).await.is_err());
    drop(host);
    assert_eq!(notes.told(), ["begin never default", "cancelled never Some(7) default"], "nothing is lost at the end");
}

/// Says yes, and changes the mode before that.
#[derive(Default)]
struct Changes(OnceLock<Weak<Host>>);

impl Confirmer for Changes {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        self.0.get().and_then(Weak::upgrade).unwrap().set_mode(Mode::Yolo);
        Box::pin(async { Confirmation::Proceed(Remember::No) })
    }
}

#[tokio::test]
async fn the_mode_of_a_record_is_the_one_it_was_decided_in() {
    let room = room();
    let notes = Arc::new(Notes::default());
    let changes = Arc::new(Changes::default());
    let rules = CallRules {
        audit: notes.clone(),
        confirmer: changes.clone(),
        presence: Presence::Interactive,
        permissions: Permissions::new(Policy::new(vec![])),
        ..CallRules::default()
    };
    let host = Arc::new(host(&room, rules).await);
    changes.0.set(Arc::downgrade(&host)).unwrap();
    assert_eq!(call(&host, "echo", json!({"message": "x"})).await.as_str(), "completed");
    assert_eq!(notes.told(), ["begin echo default", "completed echo Some(7) default"]);
    assert_eq!(host.calls().mode(), Mode::Yolo);
}

/// Says yes after a while.
struct Ponders(Duration);

impl Confirmer for Ponders {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async {
            tokio::time::sleep(self.0).await;
            Confirmation::Proceed(Remember::No)
        })
    }
}

#[tokio::test]
async fn the_time_of_whoever_is_asked_is_not_that_of_the_call() {
    let room = room();
    let pondered = Duration::from_millis(200);
    let rules = CallRules {
        confirmer: Arc::new(Ponders(pondered)),
        presence: Presence::Interactive,
        permissions: Permissions::new(Policy::new(vec![])),
        ..CallRules::default()
    };
    let host = host(&room, rules).await;
    let began = Instant::now();
    let outcome = call(&host, "echo", json!({"message": "x"})).await;
    let elapsed = began.elapsed();
    let took = outcome.report().expect("it was made").took;
    assert!(!took.is_zero() && took + pondered <= elapsed, "{took:?} of {elapsed:?}");
}
