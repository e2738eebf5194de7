//! Twenty servers on which nothing can be relied, killed and stopped at random, and many callers at once: every call ends in one outcome and
//! one record, none is executed twice, no answer goes to the wrong caller, and nothing is left.
//!
//! `CHAOS_CALLS` makes it longer, `CHAOS_SEED` repeats it.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate::audit::{AuditLog, AuditOptions, FileAudit, Query, StoredCall, verify};
use toolgate::{Asker, CallOutcome, CallRules, Host, RunOptions, ToolCall};
use toolgate_testkit::chaos::{ChaosFault, ChaosPlan, Dice, Ledger};

use crate::audit_processes::how_many;
use crate::chaos_room::{ChaosRoom, start_http, until};
use crate::support::{LONG, Room, call, lets_everything_through};

const OVER_STDIO: usize = 12;
const OVER_HTTP: usize = 8;
const CALLERS: usize = 40;

/// Longer than a call can take that waits its turn at a server that answers nobody.
const CALL_LIMIT: Duration = Duration::from_secs(90);

/// A run of that many calls sees everything that can go wrong.
const CALLS_FOR_EVERY_FAULT: u64 = 2_000;

/// Of a hundred calls, how many are completed at least, whatever goes wrong.
const COMPLETED_PERCENT_MIN: usize = 75;

/// How a call ended, seen by its caller.
#[derive(Debug)]
struct Ended {
    nonce: String,
    tool: &'static str,
    /// Nothing, when the caller gave up.
    outcome: Option<CallOutcome>,
}

impl Ended {
    fn word(&self) -> &'static str {
        self.outcome.as_ref().map_or("cancelled", CallOutcome::as_str)
    }
}

/// The run: what all callers share.
struct Run {
    seed: u64,
    calls: u64,
    next: AtomicU64,
    host: Arc<Host>,
    names: Vec<String>,
}

impl Run {
    /// One caller, who makes calls until there are enough.
    async fn caller(self: Arc<Self>) -> Vec<Ended> {
        let mut ended = Vec::new();
        loop {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            if number >= self.calls {
                return ended;
            }
            ended.push(self.call(number).await);
        }
    }

    async fn call(&self, number: u64) -> Ended {
        let mut dice = Dice::about(self.seed, &["call", &number.to_string()]);
        let tool = *dice.pick(&["act", "act", "look", "put"]).unwrap();
        let nonce = format!("{tool}-{number}");
        let prepared = loop {
            let server = dice.pick(&self.names).unwrap();
            let (name, arguments) = (format!("{server}__{tool}"), json!({"nonce": nonce}).into());
            // One that has never been there offers nothing; then another one is asked.
            match self.host.catalog().prepare(ToolCall { name, arguments, asked_by: Asker::Cli }) {
                Ok(prepared) => break prepared,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let running = self.host.run(prepared, RunOptions::default());
        // Some callers lose their patience.
        if dice.happens(20) {
            let patience = Duration::from_millis(dice.below(60));
            let outcome = tokio::time::timeout(patience, running).await.ok();
            return Ended { nonce, tool, outcome };
        }
        let outcome = tokio::time::timeout(CALL_LIMIT, running).await;
        let outcome = outcome.unwrap_or_else(|_| panic!("{nonce} does not end"));
        Ended { nonce, tool, outcome: Some(outcome) }
    }
}

/// What one call may have done, by what its caller was told.
fn allowed_executions(ended: &Ended) -> RangeInclusive<usize> {
    let most = if ended.tool == "act" { 1 } else { 2 };
    match &ended.outcome {
        Some(CallOutcome::Completed(_) | CallOutcome::ToolError(_)) => 1..=most,
        Some(CallOutcome::Denied(_) | CallOutcome::Refused { .. }) => 0..=0,
        // The server did it, and said that it had not.
        Some(CallOutcome::Failed(error)) if error.to_string().contains("HTTP 400") => 0..=1,
        // It says that nothing was done.
        Some(CallOutcome::Failed(_)) => 0..=0,
        _ => 0..=most,
    }
}

/// Every answer carries what was asked for, and was executed as often as its caller may think.
fn check_executions(all: &[Ended], ledger: &Ledger) -> Vec<String> {
    let mut wrong = Vec::new();
    for ended in all {
        let executed = ledger.count(&ended.nonce);
        if !allowed_executions(ended).contains(&executed) {
            let outcome = &ended.outcome;
            wrong.push(format!("{} was executed {executed} times and ended as {outcome:?}", ended.nonce));
        }
        let Some(report) = ended.outcome.as_ref().and_then(CallOutcome::report) else { continue };
        let expected = json!({"nonce": ended.nonce}).to_string();
        if report.result.text() != expected {
            wrong.push(format!("{} was answered with {}", ended.nonce, report.result.text()));
        }
    }
    wrong
}

/// Every call has one record, which says what its caller was told.
fn check_records(all: &[Ended], stored: &[StoredCall]) -> Vec<String> {
    let mut records: HashMap<&str, Vec<&str>> = HashMap::new();
    for call in stored {
        let nonce = call.arguments["nonce"].as_str().unwrap_or_default();
        records.entry(nonce).or_default().push(&call.outcome);
    }
    let mut wrong = Vec::new();
    for ended in all {
        let found = records.remove(ended.nonce.as_str()).unwrap_or_default();
        // Who gave up does not know whether the call had ended just then; there is one record of it all the same.
        let is_right = if ended.outcome.is_some() { found == [ended.word()] } else { found.len() == 1 };
        if !is_right {
            wrong.push(format!("{} ended as {} and is recorded as {found:?}", ended.nonce, ended.word()));
        }
    }
    wrong.extend(
        records.keys().filter(|nonce| !nonce.starts_with("after-")).map(|nonce| format!("{nonce} was never asked for")),
    );
    wrong
}

fn tally(all: &[Ended]) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    all.iter().for_each(|ended| *counts.entry(ended.word()).or_default() += 1);
    let mut counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    counts.sort();
    counts.join(", ")
}

/// Every kind of fault has occurred, and most calls have succeeded all the same.
fn check_run(run: &Run, all: &[Ended], faults: &BTreeMap<String, (usize, usize)>) -> Vec<String> {
    if run.calls < CALLS_FOR_EVERY_FAULT {
        return Vec::new();
    }
    let seen = |fault: &ChaosFault| faults.get(&format!("{fault:?}")).copied().unwrap_or_default();
    let over_stdio = ChaosFault::over_stdio().into_iter().filter(|fault| seen(fault).0 == 0);
    let over_http = ChaosFault::over_http().into_iter().filter(|fault| seen(fault).1 == 0);
    let mut wrong: Vec<String> = over_stdio.chain(over_http).map(|fault| format!("{fault:?} never occurred")).collect();
    let completed = all.iter().filter(|ended| ended.word() == "completed").count();
    if completed * 100 < all.len() * COMPLETED_PERCENT_MIN {
        wrong.push(format!("only {completed} of {} calls were completed", all.len()));
    }
    wrong
}

/// A plain call on every server succeeds, once nothing goes wrong any more.
async fn everything_works(run: &Run) {
    for (number, server) in run.names.iter().enumerate() {
        let started = Instant::now();
        loop {
            let arguments = json!({"nonce": format!("after-{number}-{}", started.elapsed().as_nanos())}).into();
            let call = ToolCall { name: format!("{server}__look"), arguments, asked_by: Asker::Cli };
            let mut last = "not offered".to_owned();
            if let Ok(prepared) = run.host.catalog().prepare(call) {
                let outcome = run.host.run(prepared, RunOptions::default()).await;
                if outcome.as_str() == "completed" {
                    break;
                }
                last = format!("{outcome:?}");
            }
            assert!(started.elapsed() < LONG, "`{server}` does not come back: {last}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test]
async fn what_may_have_been_done_is_not_said_to_have_failed() {
    // `look` is repeated, and the second attempt finds nobody: that says nothing about the first.
    for tool in ["act", "look", "put"] {
        let room = Room::new();
        let plan = ChaosPlan {
            is_modern: true,
            call_faults_per_mille: 1_000,
            only: vec![ChaosFault::Exit],
            ..ChaosPlan::in_folder(&room.world.root(), "web", 1)
        };
        let (mut server, url) = start_http(&plan, "0");
        let room = room.entry("web", json!({"httpUrl": url}));
        let host = room.host().await;
        let outcome = call(&host, tool, json!({"nonce": "n"})).await;
        assert_eq!(outcome.as_str(), "unknown", "{tool}: {outcome:?}");
        assert_eq!(server.wait().unwrap().code(), Some(3), "it ended by itself");
        host.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_once_whatever_servers_do() {
    let seed = how_many("CHAOS_SEED", std::process::id().into());
    let calls = how_many("CHAOS_CALLS", 2_000);
    println!("CHAOS_SEED={seed} CHAOS_CALLS={calls}");
    let mut room = ChaosRoom::new(seed, OVER_STDIO, OVER_HTTP);
    let env = room.room.env();
    let audit = Arc::new(FileAudit::open(&env, AuditOptions::default()));
    let rules = CallRules { audit, ..lets_everything_through() };
    let host = Arc::new(room.room.builder().call_rules(rules).build());
    host.start(room.room.servers());
    let run =
        Arc::new(Run { seed, calls, next: AtomicU64::new(0), host: Arc::clone(&host), names: room.names.clone() });

    let trouble = room.troublemaker(seed);
    let callers: Vec<_> = (0..CALLERS).map(|_| tokio::spawn(Arc::clone(&run).caller())).collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.expect("a caller gets to its end"));
    }
    room.calm_down();
    trouble.end();
    everything_works(&run).await;
    let faults = room.faults();
    println!("{}\n{faults:?}", tally(&all));
    let mut wrong = check_run(&run, &all, &faults);
    host.shutdown().await;
    room.end();
    until("the end of every server", LONG, || room.alive().is_empty()).await;
    drop((host, run));

    assert_eq!(u64::try_from(all.len()).unwrap(), calls);
    let log = AuditLog::open(&env).unwrap();
    let mut stored = Vec::new();
    let unreadable = log.each(&Query::default(), |call| {
        stored.push(call);
        true
    });
    assert_eq!(unreadable.unwrap(), 0);
    let verified = verify(&log).unwrap();
    assert_eq!((verified.findings, verified.notes), (vec![], vec![]));
    wrong.extend(check_executions(&all, &Ledger::read(&room.ledger())));
    wrong.extend(check_records(&all, &stored));
    assert!(wrong.is_empty(), "seed {seed}: {} broken promises\n{}", wrong.len(), wrong.join("\n"));
}
