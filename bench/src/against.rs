//! Comparison of two builds of the program. Both run every case in turns; the newer one also runs against itself to show the noise.

use std::path::Path;

use crate::host_cases::{Figure, HostCase, Who};
use crate::host_run::{value, words};
use crate::host_stage::Stage;
use crate::measure::median;
use crate::watch::Seen;
use crate::{Outcome, say};

/// Ratios up to this count as equal, whatever the noise.
pub(crate) const EQUAL_PERCENT: f64 = 10.0;

/// One round: the build before, the build now, and the build now once more.
struct Round {
    before: Seen,
    now: Seen,
    again: Seen,
}

pub(crate) fn head() {
    say("| case | figure | before | now | now / before (range) | now / now (range) | no worse |");
    say("| --- | --- | --- | --- | --- | --- | --- |");
}

/// Whether a second build of the program can run the case. An embedded host is part of the benchmark itself.
pub(crate) fn can_play(case: &HostCase) -> bool {
    case.ours.who != Who::Embedded
}

/// Runs one case and prints a row for each of its figures.
pub(crate) async fn measure(case: &HostCase, before: &Path, now: &Path, runs: usize) -> Outcome {
    let mut stages =
        [Stage::set(&case.ours, before).await?, Stage::set(&case.ours, now).await?, Stage::set(&case.ours, now).await?];
    let rounds = take_turns(&mut stages, runs).await;
    for stage in &mut stages {
        stage.clear().await?;
    }
    report(case, &rounds?);
    Ok(())
}

/// The order rotates, so that a machine that slows down or speeds up favours neither build.
async fn take_turns(stages: &mut [Stage<'_>; 3], runs: usize) -> Outcome<Vec<Round>> {
    let mut rounds = Vec::with_capacity(runs);
    for run in 0..runs {
        let mut seen = [None, None, None];
        for step in 0..stages.len() {
            let at = (run + step) % stages.len();
            seen[at] = Some(stages[at].play().await?);
        }
        if let [Some(before), Some(now), Some(again)] = seen {
            rounds.push(Round { before, now, again });
        }
    }
    Ok(rounds)
}

fn report(case: &HostCase, rounds: &[Round]) {
    for &(figure, _) in case.figures {
        let column =
            |pick: fn(&Round) -> &Seen| -> Vec<f64> { rounds.iter().map(|round| value(figure, pick(round))).collect() };
        let (before, now, again) =
            (column(|round| &round.before), column(|round| &round.now), column(|round| &round.again));
        say(&row(case.name, figure, &before, &now, &again));
    }
}

fn row(name: &str, figure: Figure, before: &[f64], now: &[f64], again: &[f64]) -> String {
    let (what, unit) = words(figure);
    let comparison = Comparison::of(before, now, again);
    format!(
        "| {name} | {what} | {:.2} {unit} | {:.2} {unit} | {comparison} |",
        median(before.to_vec()),
        median(now.to_vec()),
    )
}

/// The ratio of two builds, and the ratio of one build to itself.
pub(crate) struct Comparison {
    between: Vec<f64>,
    identical: Vec<f64>,
}

impl Comparison {
    /// Compares each run with its neighbour, so that noise affects both.
    pub(crate) fn of(before: &[f64], now: &[f64], again: &[f64]) -> Self {
        let ratios = |of: &[f64], to: &[f64]| of.iter().zip(to).map(|(of, to)| of / to).collect();
        Self { between: ratios(now, before), identical: ratios(again, now) }
    }

    fn is_no_worse(&self) -> bool {
        let noise = (median(self.identical.clone()) - 1.0).abs();
        let ratio = median(self.between.clone());
        // Both are zero where nothing is used.
        ratio.is_nan() || ratio <= 1.0 + noise.max(EQUAL_PERCENT / 100.0)
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let range = |ratios: &[f64]| {
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(0.0, f64::max);
            format!("{:.3} ({least:.2}–{most:.2})", median(ratios.to_vec()))
        };
        let verdict = if self.is_no_worse() { "yes" } else { "**no**" };
        write!(to, "{} | {} | {verdict}", range(&self.between), range(&self.identical))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(before: &[f64], now: &[f64], again: &[f64]) -> bool {
        Comparison::of(before, now, again).is_no_worse()
    }

    #[test]
    fn ten_percent_or_the_noise_of_one_build_counts_as_equal() {
        assert!(verdict(&[10.0, 10.0, 10.0], &[10.9, 10.9, 10.9], &[10.9, 10.9, 10.9]));
        assert!(!verdict(&[10.0, 10.0, 10.0], &[11.2, 11.2, 11.2], &[11.2, 11.2, 11.2]));
        assert!(verdict(&[10.0, 10.0, 10.0], &[11.2, 11.2, 11.2], &[13.0, 13.0, 13.0]));
        assert!(verdict(&[10.0, 10.0, 10.0], &[5.0, 5.0, 5.0], &[5.0, 5.0, 5.0]));
        assert!(verdict(&[0.0], &[0.0], &[0.0]));
        assert!(!verdict(&[0.0], &[3.0], &[3.0]));
    }
}
