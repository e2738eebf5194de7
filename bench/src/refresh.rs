//! One login, kept by many processes at once, with refresh tokens that are good for one use.

use std::process::Stdio;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::process::Command;

use crate::refresher::{Report, key, login, store};
use crate::token_server::TokenServer;
use crate::{Outcome, block_on, say};

const FIRST: &str = "refresh-first";

#[derive(Debug)]
struct Request {
    processes: u64,
    refreshes: u64,
}

impl Request {
    /// Reads `[--processes N] [--refreshes N]`.
    fn from_words(words: &[&str]) -> Outcome<Self> {
        let mut request = Self { processes: 50, refreshes: 10_000 };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let number = words.next().ok_or_else(|| format!("`{word}` needs a number"))?.parse()?;
            match *word {
                "--processes" => request.processes = number,
                "--refreshes" => request.refreshes = number,
                other => return Err(format!("no option `{other}`; there are `--processes` and `--refreshes`").into()),
            }
        }
        if request.processes == 0 || request.refreshes < request.processes {
            return Err("there is at least one process, and at least one refresh for each".into());
        }
        Ok(request)
    }

    /// How many refreshes each process does; the first ones do what is left over.
    fn shares(&self) -> impl Iterator<Item = u64> + use<> {
        let (each, rest) = (self.refreshes / self.processes, self.refreshes % self.processes);
        (0..self.processes).map(move |number| each + u64::from(number < rest))
    }
}

/// Runs all processes to their end and prints how it went.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let request = Request::from_words(words)?;
    let home = tempfile::tempdir()?;
    store(home.path()).put(&key()?, login("access-first", FIRST))?;
    let server = TokenServer::new(FIRST);
    let (reports, seconds) = block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let serving = tokio::spawn(server.clone().serve(listener));
        let began = Instant::now();
        let mut refreshers = Vec::new();
        for share in request.shares() {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("refresher").arg(home.path()).args([address.as_str(), share.to_string().as_str()]);
            refreshers.push(command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?);
        }
        let ended = futures_util::future::try_join_all(refreshers.into_iter().map(|one| one.wait_with_output()));
        let mut reports: Vec<Report> = Vec::new();
        for output in ended.await? {
            reports.push(serde_json::from_slice(&output.stdout)?);
        }
        serving.abort();
        Ok((reports, began.elapsed().as_secs_f64()))
    })?;
    tell(&request, &server, &reports, seconds)
}

fn tell(request: &Request, server: &TokenServer, reports: &[Report], seconds: f64) -> Outcome {
    let counts = server.counts();
    let lost: u64 = reports.iter().map(|report| report.lost).sum();
    let errors: Vec<&String> = reports.iter().flat_map(|report| &report.errors).collect();
    let mut waits: Vec<u64> = reports.iter().flat_map(|report| report.waits.iter().copied()).collect();
    waits.sort_unstable();
    let wait = |part: usize| {
        let us = waits.get((waits.len() * part / 1000).min(waits.len().saturating_sub(1))).copied().unwrap_or_default();
        format!("{}.{}", us / 1000, us % 1000 / 100)
    };
    let rate = f64::from(u32::try_from(counts.redeemed)?) / seconds;
    say("| processes | refreshes | refreshes/s | double redemptions | logins lost | wait p50 ms | p99 | longest |");
    say("| --- | --- | --- | --- | --- | --- | --- | --- |");
    say(&format!(
        "| {} | {} | {rate:.0} | {} | {lost} | {} | {} | {} |",
        request.processes,
        counts.redeemed,
        counts.twice,
        wait(500),
        wait(990),
        wait(1000)
    ));
    if let Some(error) = errors.first() {
        return Err(format!("{} errors, the first: {error}", errors.len()).into());
    }
    if counts.twice > 0 || counts.unknown > 0 || lost > 0 || counts.redeemed != request.refreshes {
        return Err(format!("not as it should be: {counts:?}, {lost} logins lost").into());
    }
    Ok(())
}
