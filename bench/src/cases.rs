//! The cases: what each one does, who takes part, and what the ratio should be.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::measure::{Figures, Load, median, resident_kb};
use crate::{Outcome, block_on, embedded, floor_http, floor_stdio, ours, rmcp_pair, say};

/// Which figure a case is about.
#[derive(Clone, Copy)]
enum Figure {
    P50,
    /// Both, each against the floor's.
    P50AndP99,
    PerSecond,
    /// Kilobytes for each connection; told by the contestant as its p50.
    KbEach,
}

struct Case {
    name: &'static str,
    calls: usize,
    callers: usize,
    arguments: &'static str,
    figure: Figure,
    contestants: &'static [&'static str],
    goal: &'static str,
}

const SMALL: &str = r#"{"message":"hello"}"#;
const LARGE: &str = r#"{"message":"","size":1000000}"#;

const CASES: &[Case] = &[
    Case {
        name: "stdio-sequential",
        calls: 5_000,
        callers: 1,
        arguments: SMALL,
        figure: Figure::P50,
        contestants: &["floor-stdio", "ours-stdio"],
        goal: "p50 <= 1.5x",
    },
    Case {
        name: "stdio-64",
        calls: 200_000,
        callers: 64,
        arguments: SMALL,
        figure: Figure::PerSecond,
        contestants: &["floor-stdio", "ours-stdio", "floor-pipelined"],
        goal: ">= 0.5x",
    },
    Case {
        name: "stdio-1mb",
        calls: 200,
        callers: 1,
        arguments: LARGE,
        figure: Figure::P50,
        contestants: &["floor-stdio", "ours-stdio"],
        goal: "p50 <= 1.3x",
    },
    Case {
        name: "http-sequential",
        calls: 5_000,
        callers: 1,
        arguments: SMALL,
        figure: Figure::P50,
        contestants: &["floor-http", "ours-http", "ours-http-sse", "rmcp-http"],
        goal: "no stall",
    },
    Case {
        name: "http-64",
        calls: 64_000,
        callers: 64,
        arguments: SMALL,
        figure: Figure::PerSecond,
        contestants: &["floor-http", "ours-http", "rmcp-http"],
        goal: ">= 0.5x floor, >= 4x rmcp",
    },
    Case {
        name: "http-1mb",
        calls: 200,
        callers: 1,
        arguments: LARGE,
        figure: Figure::P50,
        contestants: &["floor-http", "ours-http", "rmcp-http"],
        goal: "p50 <= 1.3x",
    },
    Case {
        name: "warm",
        calls: 5_000,
        callers: 1,
        arguments: SMALL,
        figure: Figure::P50AndP99,
        contestants: &["wire-stand-in", "host-stand-in"],
        goal: "p50 <= 1.25x, p99 <= 1.5x",
    },
    Case {
        name: "warm-1mb",
        calls: 200,
        callers: 1,
        arguments: LARGE,
        figure: Figure::P50,
        contestants: &["wire-stand-in", "host-stand-in"],
        goal: "p50 <= 1.5x",
    },
    Case {
        name: "idle-memory",
        calls: 100,
        callers: 1,
        arguments: SMALL,
        figure: Figure::KbEach,
        contestants: &["ours-stdio"],
        goal: "<= 64 KB",
    },
];

fn find(name: &str) -> Outcome<&'static Case> {
    let names = || CASES.iter().map(|case| case.name).collect::<Vec<_>>().join(", ");
    CASES.iter().find(|case| case.name == name).ok_or_else(|| format!("no case `{name}`; there are {}", names()).into())
}

/// Runs the cases in turns and prints the table.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let runs_at = words.iter().position(|word| *word == "--runs");
    let runs: usize = runs_at.and_then(|at| words.get(at + 1)).map_or(Ok(7), |runs| runs.parse())?;
    let named: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(at, _)| runs_at.is_none_or(|runs| *at < runs))
        .map(|(_, word)| *word)
        .collect();
    let chosen: Vec<&Case> = if named.is_empty() {
        CASES.iter().collect()
    } else {
        named.iter().map(|name| find(name)).collect::<Outcome<_>>()?
    };
    say("| case | contestant | p50 µs | p99 µs | calls/s | ratio to floor | goal |");
    say("| --- | --- | --- | --- | --- | --- | --- |");
    for case in chosen {
        let mut figures: Vec<Vec<Figures>> = vec![Vec::new(); case.contestants.len()];
        for _ in 0..runs {
            for (contestant, figures) in case.contestants.iter().zip(&mut figures) {
                figures.push(measure(contestant, case.name)?);
            }
        }
        report(case, &figures);
    }
    Ok(())
}

fn report(case: &Case, figures: &[Vec<Figures>]) {
    let pick = |figures: &Figures| match case.figure {
        Figure::P50 | Figure::P50AndP99 | Figure::KbEach => figures.p50_us,
        Figure::PerSecond => figures.per_second,
    };
    let floor = figures[0].clone();
    // Each run is compared with the floor's run next to it, so that noise hits both.
    let ratio = |figures: &[Figures], pick: &dyn Fn(&Figures) -> f64| {
        median(figures.iter().zip(&floor).map(|(figures, floor)| pick(figures) / pick(floor)).collect())
    };
    for (contestant, figures) in case.contestants.iter().zip(figures) {
        let middle = |value: fn(&Figures) -> f64| median(figures.iter().map(value).collect());
        let mut compared = format!("{:.2}", ratio(figures, &pick));
        if matches!(case.figure, Figure::P50AndP99) {
            compared += &format!(", p99 {:.2}", ratio(figures, &|figures| figures.p99_us));
        }
        let unit = if matches!(case.figure, Figure::KbEach) { " KB each" } else { "" };
        say(&format!(
            "| {} | {contestant} | {:.1}{unit} | {:.1} | {:.0} | {compared} | {} |",
            case.name,
            middle(|figures| figures.p50_us),
            middle(|figures| figures.p99_us),
            middle(|figures| figures.per_second),
            case.goal,
        ));
    }
}

/// One measurement, in a process of its own.
fn measure(contestant: &str, case: &str) -> Outcome<Figures> {
    let output =
        Command::new(std::env::current_exe()?).args(["load", contestant, case]).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).map_err(|error| format!("{contestant} in {case}: {error}: {text}").into())
}

/// The process that puts load on a server, which it starts.
pub(crate) fn load(contestant: &str, case: &str) -> Outcome {
    let case = find(case)?;
    let load = Load { calls: case.calls, callers: case.callers, arguments: case.arguments.to_owned() };
    let figures = block_on(async {
        if matches!(case.figure, Figure::KbEach) {
            return idle_memory(case.calls).await;
        }
        let warm_up = Load { calls: (load.calls / 10).max(load.callers), ..load.clone() };
        match contestant {
            "floor-stdio" | "floor-pipelined" => {
                let mut client = floor_stdio::FloorClient::start(&server_command("floor-stdio")?).await?;
                client.sequential(&Load { calls: warm_up.calls.min(200), ..warm_up }).await?;
                let sample = match load.callers {
                    1 => client.sequential(&load).await?,
                    _ if contestant == "floor-pipelined" => client.pipelined(&load).await?,
                    _ => tokio::task::LocalSet::new().run_until(client.concurrent(&load)).await?,
                };
                Ok(sample.figures())
            }
            "ours-stdio" => {
                let client = ours::over_stdio(&server_command("floor-stdio")?).await?;
                ours::load(&client, &warm_up).await?;
                Ok(ours::load(&client, &load).await?.figures())
            }
            "wire-stand-in" => {
                let client = ours::over_stdio(&server_command("stand-in")?).await?;
                ours::load(&client, &warm_up).await?;
                Ok(ours::load(&client, &load).await?.figures())
            }
            "host-stand-in" => Ok(embedded::load(&server_command("stand-in")?, &load).await?.figures()),
            "floor-http" => {
                let server = Server::start("floor-http")?;
                floor_http::load(&server.address, &warm_up).await?;
                Ok(floor_http::load(&server.address, &load).await?.figures())
            }
            "ours-http" | "ours-http-sse" => {
                let server = Server::start(contestant)?;
                let client = ours::over_http(&server.url()).await?;
                ours::load(&client, &warm_up).await?;
                Ok(ours::load(&client, &load).await?.figures())
            }
            "rmcp-http" => {
                let server = Server::start("rmcp-http")?;
                let client = rmcp_pair::connect(&server.url()).await?;
                rmcp_pair::load(&client, &warm_up).await?;
                Ok(rmcp_pair::load(&client, &load).await?.figures())
            }
            other => Err(format!("no contestant `{other}`").into()),
        }
    })?;
    say(&serde_json::to_string(&figures)?);
    Ok(())
}

/// Puts the load of a case on a server that runs already, for looking at the server alone.
pub(crate) fn load_url(url: &str, case: &str) -> Outcome {
    let case = find(case)?;
    let load = Load { calls: case.calls, callers: case.callers, arguments: case.arguments.to_owned() };
    let figures = block_on(async {
        let client = ours::over_http(url).await?;
        Ok(ours::load(&client, &load).await?.figures())
    })?;
    say(&serde_json::to_string(&figures)?);
    Ok(())
}

/// How much memory each of many idle connections keeps.
async fn idle_memory(connections: usize) -> Outcome<Figures> {
    let command = server_command("floor-stdio")?;
    let mut clients = vec![ours::over_stdio(&command).await?];
    let before = resident_kb();
    for _ in 0..connections {
        clients.push(ours::over_stdio(&command).await?);
    }
    #[expect(clippy::cast_precision_loss, reason = "kilobytes are far below 2^52")]
    let each = (resident_kb() - before) as f64 / connections as f64;
    for client in clients {
        client.close().await;
    }
    Ok(Figures { p50_us: each, p99_us: 0.0, per_second: 0.0 })
}

fn server_command(name: &str) -> Outcome<Vec<String>> {
    let program = std::env::current_exe()?.to_string_lossy().into_owned();
    Ok(vec![program, "serve".to_owned(), name.to_owned()])
}

/// A server with an address, ended with its owner.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(name: &str) -> Outcome<Self> {
        let command = server_command(name)?;
        let mut child = Command::new(&command[0]).args(&command[1..]).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
