//! Runs the cases of the host in turns and prints them as a table that fits into `bench/RESULTS.md`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host_cases::{Contestant, Figure, Goal, HOST_CASES, HostCase, Who};
use crate::measure::median;
use crate::stand_in::{Answers, StandIn};
use crate::watch::{Program, Seen};
use crate::{Outcome, block_on, complain, say};

/// The case that needs no run.
const SIZE: &str = "size";
const SIZE_GOAL: Goal = Goal::Megabytes(25.0);

const KB_PER_MB: f64 = 1024.0;

/// What was asked for on the command line.
#[derive(Debug)]
struct Request {
    toolgate: PathBuf,
    runs: usize,
    names: Vec<String>,
}

impl Request {
    /// Reads `[CASE…] [--runs N] [--toolgate PATH]`.
    fn from_words(words: &[&str]) -> Outcome<Self> {
        let beside_this = std::env::current_exe()?.with_file_name("toolgate");
        let mut request = Self { toolgate: beside_this, runs: 7, names: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--runs" => request.runs = words.next().ok_or("`--runs` needs a number")?.parse()?,
                "--toolgate" => request.toolgate = words.next().ok_or("`--toolgate` needs a path")?.into(),
                name if name == SIZE || HOST_CASES.iter().any(|case| case.name == name) => {
                    request.names.push(name.to_owned());
                }
                other => return Err(format!("no case `{other}`; there are {}", names()).into()),
            }
        }
        if request.runs == 0 {
            return Err("`--runs` is at least 1".into());
        }
        let build = "build it with `cargo build --release -p toolgate-cli`, or name it with `--toolgate PATH`";
        let found = request.toolgate.canonicalize();
        request.toolgate = found.map_err(|error| format!("{}: {error}; {build}", request.toolgate.display()))?;
        Ok(request)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

fn names() -> String {
    HOST_CASES.iter().map(|case| case.name).chain([SIZE]).collect::<Vec<_>>().join(", ")
}

/// Runs what was asked for and prints the table. A case that fails is told and does not end the others.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let request = Request::from_words(words)?;
    say("| case | command | figure | toolgate | compared with | ratio (range) | goal | reached |");
    say("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut failed = Vec::new();
    for case in HOST_CASES.iter().filter(|case| request.wants(case.name)) {
        match block_on(measure(case, &request)) {
            Ok(turns) => report(case, &turns),
            Err(error) => {
                complain(&format!("{}: {error}", case.name));
                failed.push(case.name);
            }
        }
    }
    if request.wants(SIZE) {
        report_size(&request.toolgate)?;
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// What both contestants did in one turn.
struct Turn {
    reference: Seen,
    ours: Seen,
}

async fn measure(case: &HostCase, request: &Request) -> Outcome<Vec<Turn>> {
    let reference = Stage::set(&case.reference, &request.toolgate)?;
    let ours = Stage::set(&case.ours, &request.toolgate)?;
    // Files come into the cache, and nobody pays for being first.
    reference.play().await?;
    ours.play().await?;
    let mut turns = Vec::with_capacity(request.runs);
    for run in 0..request.runs {
        // Who goes first changes, so that a machine that slows down or speeds up favours nobody.
        let turn = if run % 2 == 0 {
            let reference = reference.play().await?;
            Turn { reference, ours: ours.play().await? }
        } else {
            let ours = ours.play().await?;
            Turn { reference: reference.play().await?, ours }
        };
        turns.push(turn);
    }
    Ok(turns)
}

/// A contestant with a home of its own and its settings written.
struct Stage<'a> {
    contestant: &'a Contestant,
    words: Vec<String>,
    home: TempDir,
}

impl<'a> Stage<'a> {
    fn set(contestant: &'a Contestant, toolgate: &Path) -> Outcome<Self> {
        let home = tempfile::tempdir()?;
        let this = std::env::current_exe()?.display().to_string();
        let mut words = match contestant.who {
            Who::Floor => vec![this.clone(), "floor".to_owned()],
            Who::Toolgate => vec![toolgate.display().to_string()],
        };
        if contestant.servers.is_some() {
            let file = home.path().join("servers.json");
            std::fs::write(&file, settings(contestant, &this).to_string())?;
            words.extend(["--config".to_owned(), file.display().to_string()]);
        }
        words.extend(contestant.words.iter().map(|&word| word.to_owned()));
        Ok(Self { contestant, words, home })
    }

    async fn play(&self) -> Outcome<Seen> {
        let program = Program { words: &self.words, home: self.home.path() };
        program.watch(self.contestant.awaited, self.contestant.then).await
    }
}

/// `mcpServers` as a person writes it. The names are such that those who never answer stand first, also when sorted.
fn settings(contestant: &Contestant, program: &str) -> Value {
    let mut servers = serde_json::Map::new();
    let mut enter = |name: String, offer: StandIn| {
        let mut args = vec!["serve".to_owned(), "stand-in".to_owned()];
        args.extend(offer.words());
        servers.insert(name, json!({"command": program, "args": args}));
    };
    if let Some(wanted) = contestant.servers {
        for number in 0..wanted.hanging {
            enter(format!("hanging{number}"), StandIn { answers: Answers::Never, ..wanted.offer });
        }
        for number in 0..wanted.answering {
            enter(format!("server{number}"), wanted.offer);
        }
    }
    json!({"mcpServers": servers})
}

fn report(case: &HostCase, turns: &[Turn]) {
    for &(figure, goal) in case.figures {
        let ours: Vec<f64> = turns.iter().map(|turn| value(figure, &turn.ours)).collect();
        let reference: Vec<f64> = turns.iter().map(|turn| value(figure, &turn.reference)).collect();
        // Each run is compared with the one next to it, so that noise hits both.
        let ratios: Vec<f64> = ours.iter().zip(&reference).map(|(ours, reference)| ours / reference).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let (ours, ratio) = (median(ours), median(ratios));
        let (what, unit) = words(figure);
        say(&format!(
            "| {} | `toolgate {}` | {what} | {ours:.1} {unit} | {:.1} {unit} | {ratio:.2} ({least:.2}–{most:.2}) | {} |",
            case.name,
            case.ours.words.join(" "),
            median(reference),
            verdict(goal, ours, ratio),
        ));
    }
}

fn report_size(toolgate: &Path) -> Outcome {
    #[expect(clippy::cast_precision_loss, reason = "kilobytes are far below 2^52")]
    let megabytes = (std::fs::metadata(toolgate)?.len() / 1024) as f64 / KB_PER_MB;
    let verdict = verdict(SIZE_GOAL, megabytes, f64::NAN);
    say(&format!("| {SIZE} | `toolgate` | size of the file | {megabytes:.1} MB | – | – | {verdict} |"));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "kilobytes are far below 2^52")]
fn value(figure: Figure, seen: &Seen) -> f64 {
    match figure {
        Figure::Printed => seen.printed.as_secs_f64() * 1e3,
        Figure::Ended => seen.ended.map_or(f64::NAN, |ended| ended.as_secs_f64() * 1e3),
        Figure::Resident => seen.resident_kb as f64 / KB_PER_MB,
        Figure::Peak => seen.peak_kb as f64 / KB_PER_MB,
    }
}

const fn words(figure: Figure) -> (&'static str, &'static str) {
    match figure {
        Figure::Printed => ("until printed", "ms"),
        Figure::Ended => ("until ended", "ms"),
        Figure::Resident => ("memory at rest", "MB"),
        Figure::Peak => ("most memory", "MB"),
    }
}

/// The goal, and whether it was reached.
fn verdict(goal: Goal, ours: f64, ratio: f64) -> String {
    let reached = |reached: bool| if reached { "yes" } else { "**no**" };
    match goal {
        Goal::Ratio(most) => format!("≤ {most}× | {}", reached(ratio <= most)),
        Goal::Megabytes(most) => format!("≤ {most} MB | {}", reached(ours <= most)),
        Goal::Told => "– | –".to_owned(),
    }
}
