//! A script over stdio: `scripted-server --script FILE|JSON [--log FILE]`.
//! What arrives is written to the log as lines of JSON, which `Record::of_log` reads.

use std::path::PathBuf;
use std::process::ExitCode;
use toolgate_testkit::{Script, stdio};

const USAGE: &str = "usage: scripted-server --script FILE|JSON [--log FILE]";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let mut script = None;
    let mut log = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
        match flag.as_str() {
            "--script" => script = Some(value),
            "--log" => log = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown argument `{flag}`\n{USAGE}")),
        }
    }
    let script = read_script(&script.ok_or(USAGE)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let ended = runtime.block_on(stdio::serve(script, log.as_deref()));
    // A read of stdin may still be under way in its thread; nobody waits for it.
    runtime.shutdown_background();
    ended.map_err(|error| format!("the log cannot be opened: {error}"))
}

fn read_script(given: &str) -> Result<Script, String> {
    let is_json = given.trim_start().starts_with('{');
    let text = if is_json {
        given.to_owned()
    } else {
        std::fs::read_to_string(given).map_err(|error| format!("{given}: {error}"))?
    };
    Script::from_json(&text).map_err(|error| error.to_string())
}

#[expect(clippy::print_stderr, reason = "stderr is where a program says what is wrong with its arguments")]
fn complain(message: &str) {
    eprintln!("scripted-server: {message}");
}
