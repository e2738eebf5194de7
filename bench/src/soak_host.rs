//! The host of a soak: a constant number of calls in every second, over all servers in turn, until its time is over.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::embedded::{self, READY, echo};
use crate::{Outcome, block_on, say};

/// How it went.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Calls that were answered with what they asked for.
    pub(crate) answered: u64,
    /// Calls of the server that is killed again and again that were not.
    pub(crate) lost: u64,
    /// Calls of it that were answered; they are among those above.
    pub(crate) answered_by_killed: u64,
    /// What went wrong with calls of the other servers.
    pub(crate) wrong: Vec<String>,
}

/// What is asked for on the command line: a home, seconds, calls in a second, the server that is killed, and the others.
pub(crate) fn run(home: &str, seconds: &str, per_second: &str, servers: &[&str]) -> Outcome {
    let (seconds, per_second): (u64, u32) = (seconds.parse()?, per_second.parse()?);
    let report = block_on(async {
        let host = Arc::new(embedded::host(Path::new(home))?);
        host.all_settled().await;
        say(READY);
        let report = load(&host, Duration::from_secs(seconds), per_second, servers).await?;
        host.shutdown().await;
        Ok(report)
    })?;
    say(&serde_json::to_string(&report)?);
    Ok(())
}

async fn load(host: &Arc<toolgate::Host>, time: Duration, per_second: u32, servers: &[&str]) -> Outcome<Report> {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / per_second);
    // The load stays constant also after the machine was busy for a while.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut running = JoinSet::new();
    let mut report = Report::default();
    for number in 0_usize.. {
        if started.elapsed() >= time {
            break;
        }
        ticks.tick().await;
        while let Some(ended) = running.try_join_next() {
            take_in(&mut report, ended?);
        }
        let at = number % servers.len().max(1);
        let server = servers.get(at).ok_or("no servers")?.to_string();
        let host = Arc::clone(host);
        running.spawn(async move {
            let message = format!("message {number}");
            let said = match echo(&host, &server, json!({"message": message}).into()).await {
                Ok(outcome) => outcome.report().map_or_else(|| format!("{outcome:?}"), |report| report.result.text()),
                Err(error) => error.to_string(),
            };
            (at == 0, if said == message { Ok(()) } else { Err(format!("{server}: {said}")) })
        });
    }
    while let Some(ended) = running.join_next().await {
        take_in(&mut report, ended?);
    }
    Ok(report)
}

fn take_in(report: &mut Report, (is_of_killed, ended): (bool, Result<(), String>)) {
    match ended {
        Ok(()) => {
            report.answered += 1;
            report.answered_by_killed += u64::from(is_of_killed);
        }
        Err(_) if is_of_killed => report.lost += 1,
        Err(what) => report.wrong.push(what),
    }
}
