//! `recall`: whether the right tool is found among 500, and what a question costs against going through all tools.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate::expose::budget::estimated_tokens;
use toolgate::expose::{OfferedTool, SearchIndex, ToolOffer};
use toolgate::settings::{SearchMode, ToolSearchSettings};
use toolgate_wire::view::Tool;

use crate::recall_table::{self, ranks};
use crate::{Outcome, say};

/// How often the table stands in the catalogue that is timed: 10,000 tools.
const COPIES: usize = 20;

/// Runs of each measurement; the median counts.
const RUNS: usize = 9;

/// Prints the table.
pub(crate) fn run() -> Outcome {
    let ranks = ranks()?;
    let within = |most: usize| ranks.iter().filter(|(_, rank)| rank.is_some_and(|rank| rank <= most)).count();
    say(&format!("| right tool among | of {} questions |", ranks.len()));
    say("| --- | --- |");
    for most in [1, 3, 5, 10] {
        say(&format!("| the first {most} | {} |", within(most)));
    }
    say("");
    for (query, rank) in ranks.iter().filter(|(_, rank)| rank.is_none_or(|rank| rank > 5)) {
        let place = rank.map_or_else(|| "not found".to_owned(), |rank| format!("place {rank}"));
        say(&format!("- {}: {place}: {}", query.meant, query.words));
    }
    say("");
    print_tokens()?;
    print_times()
}

/// What the first request carries of the 500 tools.
fn print_tokens() -> Outcome {
    let offered = recall_table::offered()?;
    let all: usize = offered.iter().map(OfferedTool::tokens).sum();
    let search = ToolSearchSettings { mode: SearchMode::On, ..ToolSearchSettings::default() };
    let offer = ToolOffer::new(offered, &search);
    let functions = offer.functions().iter();
    let bytes: usize = functions
        .map(|function| function.name.len() + function.description.len() + function.input_schema.to_string().len())
        .sum();
    let searched = estimated_tokens(bytes);
    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    let share = 100.0 * searched as f64 / all as f64;
    say(&format!("tokens of the declarations: {all} in full, {searched} through search ({share:.1} %)"));
    Ok(())
}

fn print_times() -> Outcome {
    let tools = recall_table::wire_tools()?;
    let many: Vec<(String, Arc<Tool>)> = (0..COPIES).flat_map(|_| tools.clone()).collect();
    let each = || many.iter().map(|(server, tool)| (server.as_str(), &**tool));
    let built = median(|| drop(black_box(SearchIndex::build(each()))));
    let index = SearchIndex::build(each());
    let questions: Vec<String> = recall_table::queries()?.into_iter().map(|query| query.words).collect();
    let count = u32::try_from(questions.len())?;
    let asked = median(|| questions.iter().for_each(|words| drop(black_box(index.search(words, 5))))) / count;
    let scanned = median(|| questions.iter().for_each(|words| drop(black_box(scan(&many, words))))) / count;
    let times = format!("index built in {built:?}; a question {asked:?}, going through all tools {scanned:?}");
    say(&format!("{} tools: {times}", many.len()));
    say(&format!("ratio of a question to going through all tools: {:.3}", asked.as_secs_f64() / scanned.as_secs_f64()));
    Ok(())
}

/// The floor: for every tool, how many of the words stand anywhere in what is said about it.
fn scan(tools: &[(String, Arc<Tool>)], words: &str) -> Vec<(usize, usize)> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, (_, tool)) in tools.iter().enumerate() {
        let text = tool.raw.as_str().to_lowercase();
        let count = words.iter().filter(|word| text.contains(word.as_str())).count();
        if count > 0 {
            found.push((count, at));
        }
    }
    found.sort_unstable_by_key(|(count, at)| (std::cmp::Reverse(*count), *at));
    found.truncate(5);
    found
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(RUNS / 2).copied().unwrap_or_default()
}
