//! A server on which nothing can be relied: `chaos-server --plan FILE|JSON [--port N]`.
//! Over stdio without a port; with one it prints the address of its endpoint as one line and ends when its input ends.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use toolgate_testkit::chaos::http::ChaosHttp;
use toolgate_testkit::chaos::{ChaosPlan, stdio};

const USAGE: &str = "usage: chaos-server --plan FILE|JSON [--port N]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut plan = None;
    let mut port = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
        match flag.as_str() {
            "--plan" => plan = Some(value),
            "--port" => port = Some(value.parse().map_err(|_| format!("`{value}` is no port"))?),
            _ => return Err(format!("unknown argument `{flag}`\n{USAGE}")),
        }
    }
    let plan = read_plan(&plan.ok_or(USAGE)?)?;
    match port {
        None => stdio::serve(plan).map_err(|error| error.to_string()),
        Some(port) => serve_http(plan, port).map_err(|error| error.to_string()),
    }
}

fn serve_http(plan: ChaosPlan, port: u16) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(end_with_input);
    runtime.block_on(async {
        let server = ChaosHttp::listen(plan, port).await?;
        let mut out = std::io::stdout();
        writeln!(out, "{}", server.url())?;
        out.flush()?;
        server.serve().await
    })
}

/// Whoever started this holds the other end.
#[expect(clippy::exit, reason = "the server itself never ends")]
fn end_with_input() {
    let mut ignored = Vec::new();
    let _read = std::io::stdin().read_to_end(&mut ignored).is_ok();
    std::process::exit(0)
}

fn read_plan(given: &str) -> Result<ChaosPlan, String> {
    let is_json = given.trim_start().starts_with('{');
    let text = if is_json {
        given.to_owned()
    } else {
        std::fs::read_to_string(given).map_err(|error| format!("{given}: {error}"))?
    };
    ChaosPlan::from_json(&text).map_err(|error| error.to_string())
}

#[expect(clippy::print_stderr, reason = "stderr is where a program says what is wrong with its arguments")]
fn complain(message: &str) {
    eprintln!("chaos-server: {message}");
}
