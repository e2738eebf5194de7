//! Runs the cases of the host in turns and prints them as a table that fits into `bench/RESULTS.md`.

use std::path::{Path, PathBuf};

use crate::against;
use crate::host_cases::{Figure, Goal, HOST_CASES, HostCase, Who};
use crate::host_stage::Stage;
use crate::measure::median;
use crate::watch::Seen;
use crate::{Outcome, block_on, complain, say};

/// The case that needs no run.
const SIZE: &str = "size";
const SIZE_GOAL: Goal = Goal::Megabytes(25.0);

const KB_PER_MB: f64 = 1024.0;

/// What was asked for on the command line.
#[derive(Debug)]
struct Request {
    toolgate: PathBuf,
    /// An older build of the program that replaces the floor in the comparison.
    against: Option<PathBuf>,
    runs: usize,
    names: Vec<String>,
}

impl Request {
    /// Reads `[CASE…] [--runs N] [--toolgate PATH] [--against PATH]`.
    fn from_words(words: &[&str]) -> Outcome<Self> {
        let beside_this = std::env::current_exe()?.with_file_name("toolgate");
        let mut request = Self { toolgate: beside_this, against: None, runs: 7, names: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--runs" => request.runs = words.next().ok_or("`--runs` needs a number")?.parse()?,
                "--toolgate" => request.toolgate = words.next().ok_or("`--toolgate` needs a path")?.into(),
                "--against" => request.against = Some(words.next().ok_or("`--against` needs a path")?.into()),
                name if name == SIZE || HOST_CASES.iter().any(|case| case.name == name) => {
                    request.names.push(name.to_owned());
                }
                other => return Err(format!("no case `{other}`; there are {}", names()).into()),
            }
        }
        if request.runs == 0 {
            return Err("`--runs` is at least 1".into());
        }
        for program in [Some(&mut request.toolgate), request.against.as_mut()].into_iter().flatten() {
            *program = found(program)?;
        }
        Ok(request)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

fn found(program: &Path) -> Outcome<PathBuf> {
    let build = "build it with `cargo build --release -p toolgate-cli`, or name it with `--toolgate PATH`";
    Ok(program.canonicalize().map_err(|error| format!("{}: {error}; {build}", program.display()))?)
}

fn names() -> String {
    HOST_CASES.iter().map(|case| case.name).chain([SIZE]).collect::<Vec<_>>().join(", ")
}

/// Runs what was asked for and prints the table. A case that fails is told and does not end the others.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let request = Request::from_words(words)?;
    if let Some(before) = &request.against {
        return run_against(&request, before);
    }
    say("| case | command | figure | toolgate | compared with | ratio (range) | goal | reached |");
    say("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut failed = Vec::new();
    for case in HOST_CASES.iter().filter(|case| request.wants(case.name)) {
        match block_on(measure(case, &request.toolgate, request.runs)) {
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

/// Compares this build with another one.
fn run_against(request: &Request, before: &Path) -> Outcome {
    against::head();
    let mut failed = Vec::new();
    for case in HOST_CASES.iter().filter(|case| request.wants(case.name) && against::can_play(case)) {
        if let Err(error) = block_on(against::measure(case, before, &request.toolgate, request.runs)) {
            complain(&format!("{}: {error}", case.name));
            failed.push(case.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// What both contestants did in one turn.
pub(crate) struct Turn {
    pub(crate) reference: Seen,
    pub(crate) ours: Seen,
}

/// Lets both contestants take turns.
pub(crate) async fn measure(case: &HostCase, toolgate: &Path, runs: usize) -> Outcome<Vec<Turn>> {
    // Files come into the cache, and nobody pays for being first.
    let mut reference = Stage::set(&case.reference, toolgate).await?;
    let mut ours = Stage::set(&case.ours, toolgate).await?;
    let turns = take_turns(&mut reference, &mut ours, runs).await;
    ours.clear().await?;
    turns
}

async fn take_turns(reference: &mut Stage<'_>, ours: &mut Stage<'_>, runs: usize) -> Outcome<Vec<Turn>> {
    let mut turns = Vec::with_capacity(runs);
    for run in 0..runs {
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

fn report(case: &HostCase, turns: &[Turn]) {
    for &(figure, goal) in case.figures {
        let ours: Vec<f64> = turns.iter().map(|turn| value(figure, &turn.ours)).collect();
        let reference: Vec<f64> = turns.iter().map(|turn| value(figure, &turn.reference)).collect();
        // Each run is compared with the one next to it, so that noise hits both.
        let ratios: Vec<f64> = ours.iter().zip(&reference).map(|(ours, reference)| ours / reference).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let (ours, ratio) = (median(ours), median(ratios));
        let range = if ratio.is_finite() { format!("{ratio:.2} ({least:.2}–{most:.2})") } else { "–".to_owned() };
        let (what, unit) = words(figure);
        say(&format!(
            "| {} | `{} {}` | {what} | {ours:.1} {unit} | {:.1} {unit} | {range} | {} |",
            case.name,
            if case.ours.who == Who::Embedded { "toolgate-bench" } else { "toolgate" },
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
pub(crate) fn value(figure: Figure, seen: &Seen) -> f64 {
    match figure {
        Figure::Printed => seen.printed.as_secs_f64() * 1e3,
        Figure::Ended => seen.ended.map_or(f64::NAN, |ended| ended.as_secs_f64() * 1e3),
        Figure::Resident => seen.resident_kb as f64 / KB_PER_MB,
        Figure::Peak => seen.peak_kb as f64 / KB_PER_MB,
        Figure::Cpu => seen.activity.cpu.as_secs_f64() * 1e3,
        Figure::Switches => seen.activity.switches as f64,
    }
}

pub(crate) const fn words(figure: Figure) -> (&'static str, &'static str) {
    match figure {
        Figure::Printed => ("until printed", "ms"),
        Figure::Ended => ("until ended", "ms"),
        Figure::Resident => ("memory at rest", "MB"),
        Figure::Peak => ("most memory", "MB"),
        Figure::Cpu => ("CPU time in 10 s at rest", "ms"),
        Figure::Switches => ("context switches in 10 s at rest", "times"),
    }
}

/// The goal, and whether it was reached.
fn verdict(goal: Goal, ours: f64, ratio: f64) -> String {
    let reached = |reached: bool| if reached { "yes" } else { "**no**" };
    match goal {
        Goal::Ratio(most) => format!("≤ {most}× | {}", reached(ratio <= most)),
        Goal::Megabytes(most) => format!("≤ {most} MB | {}", reached(ours <= most)),
        Goal::Nothing => format!("0 | {}", reached(ours == 0.0)),
        Goal::Told => "– | –".to_owned(),
    }
}
