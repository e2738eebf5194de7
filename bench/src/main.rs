//! Benchmarks of toolgate, as ratios to a floor in the same run.
//!
//! `toolgate-bench run [CASE…] [--runs N]` measures the wire; `toolgate-bench host [CASE…] [--runs N] [--toolgate PATH] [--against PATH]` measures the program.
//! Both start every server and every client as a process of its own, take turns between the contestants, and print medians and ratios.
//! `toolgate-bench refresh [--processes N] [--refreshes N]` lets many processes keep one login.
//! `toolgate-bench plot [--runs N] [--out FILE.svg] [--toolgate PATH]` draws time and memory against the number of servers,
//! `toolgate-bench soak [--seconds N] [--out FILE.svg]` holds a constant load and looks whether anything grows.
//! `toolgate-bench policy [--runs N] [--against PATH]` measures one decision.
//! `toolgate-bench recall` looks for tools in the recall table. The other subcommands are those processes.

mod against;
mod cases;
mod embedded;
mod floor_host;
mod floor_http;
mod floor_stdio;
mod host_cases;
mod host_plot;
mod host_run;
mod host_stage;
mod measure;
mod ours;
mod ours_server;
mod plot;
mod policy;
mod recall;
mod recall_table;
mod refresh;
mod refresher;
mod rmcp_pair;
mod soak;
mod soak_host;
mod stand_in;
mod token_server;
mod typed_at;
mod watch;

use std::process::ExitCode;

const USAGE: &str = "\
usage: toolgate-bench run [CASE…] [--runs N] | host [CASE…] [--runs N] [--toolgate PATH] [--against PATH] | policy [--runs N] [--against PATH] | plot [--runs N] [--out FILE.svg] [--toolgate PATH] | refresh [--processes N] [--refreshes N] | \
soak [--seconds N] [--out FILE.svg] | recall";

/// What a step of the benchmark gives.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["serve", "floor-stdio"] => floor_stdio::serve().map_err(Into::into),
        ["serve", "stand-in", "--starts", folder, options @ ..] => {
            stand_in::note_start(folder).and_then(|()| stand_in::serve(options))
        }
        ["serve", "stand-in", options @ ..] => stand_in::serve(options),
        ["serve", "floor-http"] => block_on(async { Ok(floor_http::serve().await?) }),
        ["serve", "ours-http"] => block_on(ours_server::serve_http(ours_server::Answers::Json)),
        ["serve", "ours-http-sse"] => block_on(ours_server::serve_http(ours_server::Answers::Events)),
        ["serve", "rmcp-http"] => block_on(rmcp_pair::serve()),
        ["load", contestant, case] => cases::load(contestant, case),
        ["load-url", url, case] => cases::load_url(url, case),
        ["floor", words @ ..] => floor_host::run(words),
        ["run", rest @ ..] => cases::run(rest),
        ["host", rest @ ..] => host_run::run(rest),
        ["plot", rest @ ..] => host_plot::run(rest),
        ["policy", rest @ ..] => policy::run(rest),
        ["decide", case] => policy::decide(case),
        ["recall"] => recall::run(),
        ["refresh", rest @ ..] => refresh::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["soak-host", home, seconds, per_second, servers @ ..] => soak_host::run(home, seconds, per_second, servers),
        ["hold"] => embedded::hold(),
        ["refresher", home, address, count] => refresher::run(home, address, count),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Every contestant runs on one thread, so that all of them have the same machine: one core for each side.
pub(crate) fn block_on<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

#[expect(clippy::print_stdout, reason = "this is a program that prints its results")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "this is a program that prints its errors")]
pub(crate) fn complain(text: &str) {
    eprintln!("toolgate-bench: {text}");
}
