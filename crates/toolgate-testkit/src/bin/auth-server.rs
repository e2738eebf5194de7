//! A protected MCP server with its authorization server as a process of their own: takes the path of a script in JSON, prints the address
//! of the MCP endpoint as one line, and ends when its input ends.

use std::io::Write as _;
use std::process::ExitCode;
use tokio::io::AsyncReadExt as _;
use toolgate_testkit::{AuthScript, AuthServer};

const USAGE: &str = "usage: auth-server FILE";

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
    let mut arguments = std::env::args().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else { return Err(USAGE.to_owned()) };
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let script = AuthScript::from_json(&text).map_err(|error| format!("{path}: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let served = runtime.block_on(serve(script));
    // A read of stdin may still be under way in its thread; nobody waits for it.
    runtime.shutdown_background();
    served.map_err(|error| error.to_string())
}

async fn serve(script: AuthScript) -> std::io::Result<()> {
    let server = AuthServer::start(script).await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.mcp_url())?;
    out.flush()?;
    let mut ignored = [0; 1024];
    let mut input = tokio::io::stdin();
    while input.read(&mut ignored).await? > 0 {}
    Ok(())
}

#[expect(clippy::print_stderr, reason = "stderr is where a program says what is wrong with its arguments")]
fn complain(message: &str) {
    eprintln!("auth-server: {message}");
}
