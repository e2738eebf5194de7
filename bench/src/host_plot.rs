//! Time and memory against the number of servers, as a picture.

use std::path::{Path, PathBuf};

use crate::host_cases::{Figure, HostCase, discovery, idle, kept};
use crate::host_run::{Turn, measure, value};
use crate::measure::median;
use crate::plot::{Chart, Line, svg};
use crate::watch::Seen;
use crate::{Outcome, block_on, complain, say};

const COUNTS: [usize; 5] = [1, 5, 10, 25, 50];

const OUT: &str = "bench/servers.svg";

/// A case that is drawn: one figure of toolgate, and of what it is compared with.
struct Drawn {
    case: fn(&'static str, usize) -> HostCase,
    figure: Figure,
    ours: &'static str,
    reference: &'static str,
}

const TIMES: &[Drawn] = &[
    Drawn { case: discovery, figure: Figure::Ended, ours: "toolgate, cold", reference: "bare client, cold" },
    Drawn { case: kept, figure: Figure::Ended, ours: "toolgate, remembered", reference: "toolgate --version" },
];

const MEMORY: &[Drawn] = &[Drawn { case: idle, figure: Figure::Resident, ours: "toolgate", reference: "bare client" }];

/// Reads `[--runs N] [--out FILE] [--toolgate PATH]`, measures, and draws. What fails is told and left out.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let (mut runs, mut out) = (5, PathBuf::from(OUT));
    let mut toolgate = std::env::current_exe()?.with_file_name("toolgate");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        match *word {
            "--runs" => runs = value.parse()?,
            "--out" => out = value.into(),
            "--toolgate" => toolgate = value.into(),
            other => return Err(format!("no option `{other}`; there are `--runs`, `--out` and `--toolgate`").into()),
        }
    }
    let toolgate = toolgate.canonicalize().map_err(|error| format!("{}: {error}", toolgate.display()))?;
    let charts = [
        chart("Time of `toolgate tools`", "ms", TIMES, &toolgate, runs),
        // What a process holds does not vary, and each look takes ten seconds.
        chart("Resident memory with all servers connected", "MB", MEMORY, &toolgate, 1),
    ];
    std::fs::write(&out, svg(&charts))?;
    say(&format!("{} is drawn", out.display()));
    Ok(())
}

fn chart(title: &str, upward: &str, drawn: &[Drawn], toolgate: &Path, runs: usize) -> Chart {
    Chart {
        title: title.to_owned(),
        across: "servers".to_owned(),
        upward: upward.to_owned(),
        lines: drawn.iter().flat_map(|drawn| lines(drawn, toolgate, runs)).collect(),
    }
}

/// Both lines of a case.
fn lines(drawn: &Drawn, toolgate: &Path, runs: usize) -> [Line; 2] {
    let mut lines = [drawn.ours, drawn.reference].map(|name| Line { name: name.to_owned(), points: Vec::new() });
    for count in COUNTS {
        match block_on(measure(&(drawn.case)(drawn.ours, count), toolgate, runs)) {
            Ok(turns) => {
                let middle = |seen: fn(&Turn) -> &Seen| {
                    median(turns.iter().map(|turn| value(drawn.figure, seen(turn))).collect())
                };
                let figures = [middle(|turn| &turn.ours), middle(|turn| &turn.reference)];
                for (line, figure) in lines.iter_mut().zip(figures) {
                    say(&format!("{}, {count} servers: {figure:.1}", line.name));
                    #[expect(clippy::cast_precision_loss, reason = "a number of servers is far below 2^52")]
                    line.points.push((count as f64, figure));
                }
            }
            Err(error) => complain(&format!("{}, {count} servers: {error}", drawn.ours)),
        }
    }
    lines
}
