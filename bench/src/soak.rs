//! A long run at constant load: the memory and the descriptors of the host are looked at every second, and have to stay what they are.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

use crate::embedded::{READY, SERVERS_FILE};
use crate::measure::median;
use crate::plot::{Chart, Line, svg};
use crate::soak_host::Report;
use crate::stand_in::STARTS_FILE;
use crate::watch::memory;
use crate::{Outcome, say};

const OVER_STDIO: usize = 5;
const OVER_HTTP: usize = 2;
const CALLS_PER_SECOND: u32 = 200;

/// The server that is killed again and again, and how often.
const KILLED: &str = "killed";
const KILL_EVERY: u64 = 3;

/// After so many attempts to kill it, it must have been killed twice.
const ATTEMPTS_UNTIL_BACK: u64 = 3;

/// After so many calls a server says that its tools have changed.
const CHANGES_EVERY: usize = 150;

/// How much the last third may have more than the middle one.
const GROWTH_PER_CENT: f64 = 5.0;
const GROWTH_MB: f64 = 1.0;
const GROWTH_DESCRIPTORS: f64 = 2.0;

const KB_PER_MB: f64 = 1024.0;

#[derive(Debug)]
struct Request {
    seconds: u64,
    out: Option<PathBuf>,
}

impl Request {
    /// Reads `[--seconds N] [--out FILE.svg]`.
    fn from_words(words: &[&str]) -> Outcome<Self> {
        let mut request = Self { seconds: 60, out: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            match *word {
                "--seconds" => request.seconds = value.parse()?,
                "--out" => request.out = Some(value.into()),
                other => return Err(format!("no option `{other}`; there are `--seconds` and `--out`").into()),
            }
        }
        if request.seconds < 3 {
            return Err("a soak has at least three seconds".into());
        }
        Ok(request)
    }
}

/// What was seen of the host at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sight {
    second: f64,
    megabytes: f64,
    descriptors: f64,
}

/// How often a server was to be killed, and how often it was there to be.
#[derive(Debug, Clone, Copy, Default)]
struct Kills {
    tried: u64,
    done: u64,
}

/// Runs it, prints how it went, and fails when something grew.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let request = Request::from_words(words)?;
    let home = tempfile::tempdir()?;
    let web: Vec<HttpServer> = (0..OVER_HTTP).map(|_| HttpServer::start()).collect::<Outcome<_>>()?;
    let names = write_settings(home.path(), &web)?;
    let mut host = start_host(home.path(), request.seconds, &names)?;
    let watched = watch(&mut host, home.path(), request.seconds);
    if watched.is_err() {
        host.kill().ok();
    }
    let (sights, kills, report) = watched?;
    if let Some(out) = &request.out {
        std::fs::write(out, svg(&charts(&sights)))?;
    }
    tell(&sights, kills, &report);
    judge(&sights, kills, &report)
}

fn write_settings(home: &Path, web: &[HttpServer]) -> Outcome<Vec<String>> {
    let program = std::env::current_exe()?;
    let changes = CHANGES_EVERY.to_string();
    let mut servers = Map::new();
    let starts = home.display().to_string();
    let args = ["serve", "stand-in", "--starts", &starts];
    servers.insert(KILLED.to_owned(), json!({"command": program, "args": args}));
    for number in 1..OVER_STDIO {
        let args = ["serve", "stand-in", "--changes-every", &changes];
        servers.insert(format!("pipe{number}"), json!({"command": program, "args": args}));
    }
    for (number, server) in web.iter().enumerate() {
        servers.insert(format!("web{number}"), json!({"httpUrl": server.url}));
    }
    let mut names: Vec<String> = servers.keys().filter(|name| *name != KILLED).cloned().collect();
    names.insert(0, KILLED.to_owned());
    std::fs::write(home.join(SERVERS_FILE), json!({"mcpServers": Value::Object(servers)}).to_string())?;
    Ok(names)
}

fn start_host(home: &Path, seconds: u64, names: &[String]) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("soak-host").arg(home).args([seconds.to_string(), CALLS_PER_SECOND.to_string()]).args(names);
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
}

/// Looks at the host once in every second and kills its server now and then, until its time is over.
fn watch(host: &mut Child, home: &Path, seconds: u64) -> Outcome<(Vec<Sight>, Kills, Report)> {
    let mut said = BufReader::new(host.stdout.take().ok_or("no stdout")?);
    let mut first = String::new();
    said.read_line(&mut first)?;
    if first.trim() != READY {
        return Err(format!("the host did not get ready: {first}").into());
    }
    let started = Instant::now();
    let (mut sights, mut kills) = (Vec::new(), Kills::default());
    for second in 1..seconds {
        std::thread::sleep(Duration::from_secs(second).saturating_sub(started.elapsed()));
        sights.push(look(host.id(), started.elapsed()));
        if second % KILL_EVERY == 0 {
            kills.tried += 1;
            kills.done += u64::from(kill_newest(&home.join(STARTS_FILE)));
        }
    }
    let mut rest = String::new();
    said.read_to_string(&mut rest)?;
    host.wait()?;
    let report = serde_json::from_str(&rest).map_err(|error| format!("the host said `{rest}`: {error}"))?;
    Ok((sights, kills, report))
}

fn look(pid: u32, since: Duration) -> Sight {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    #[expect(clippy::cast_precision_loss, reason = "kilobytes and descriptors are far below 2^52")]
    let (kilobytes, descriptors) = (memory(pid, "VmRSS:") as f64, descriptors as f64);
    Sight { second: since.as_secs_f64(), megabytes: kilobytes / KB_PER_MB, descriptors }
}

/// Kills the process that was noted last; whether it was there.
fn kill_newest(starts: &Path) -> bool {
    let noted = std::fs::read_to_string(starts).unwrap_or_default();
    let pid = noted.lines().last().and_then(|line| line.parse().ok()).and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// The middle value of one figure in the middle third and in the last third.
fn thirds(sights: &[Sight], figure: fn(&Sight) -> f64) -> (f64, f64) {
    let size = sights.len() / 3;
    let middle = |part: &[Sight]| median(part.iter().map(figure).collect());
    let (begin, end) = (sights.len() - 2 * size, sights.len() - size);
    (middle(sights.get(begin..end).unwrap_or_default()), middle(sights.get(end..).unwrap_or_default()))
}

fn tell(sights: &[Sight], kills: Kills, report: &Report) {
    let (memory, later_memory) = thirds(sights, |sight| sight.megabytes);
    let (descriptors, later_descriptors) = thirds(sights, |sight| sight.descriptors);
    say(
        "| seconds | calls answered | kills | lost to kills | answered by the killed | memory, middle → last third | descriptors |",
    );
    say("| --- | --- | --- | --- | --- | --- | --- |");
    say(&format!(
        "| {:.0} | {} | {} | {} | {} | {memory:.1} → {later_memory:.1} MB | {descriptors} → {later_descriptors} |",
        sights.last().map_or(0.0, |sight| sight.second),
        report.answered,
        kills.done,
        report.lost,
        report.answered_by_killed,
    ));
}

fn judge(sights: &[Sight], kills: Kills, report: &Report) -> Outcome {
    if let Some(first) = report.wrong.first() {
        return Err(format!(
            "{} calls of servers that nobody killed went wrong, the first: {first}",
            report.wrong.len()
        )
        .into());
    }
    if kills.tried >= ATTEMPTS_UNTIL_BACK && kills.done < 2 {
        return Err("the server that was killed did not come back".into());
    }
    let (memory, later_memory) = thirds(sights, |sight| sight.megabytes);
    if later_memory > memory * (1.0 + GROWTH_PER_CENT / 100.0) + GROWTH_MB {
        return Err(format!("memory grew from {memory:.1} to {later_memory:.1} MB").into());
    }
    let (descriptors, later_descriptors) = thirds(sights, |sight| sight.descriptors);
    if later_descriptors > descriptors + GROWTH_DESCRIPTORS {
        return Err(format!("descriptors grew from {descriptors} to {later_descriptors}").into());
    }
    Ok(())
}

fn charts(sights: &[Sight]) -> Vec<Chart> {
    let chart = |title: &str, upward: &str, figure: fn(&Sight) -> f64| Chart {
        title: title.to_owned(),
        across: "seconds".to_owned(),
        upward: upward.to_owned(),
        lines: vec![Line {
            name: "host".to_owned(),
            points: sights.iter().map(|sight| (sight.second, figure(sight))).collect(),
        }],
    };
    let load = format!("{CALLS_PER_SECOND} calls/s over {OVER_STDIO} stdio and {OVER_HTTP} HTTP servers");
    vec![
        chart(&format!("Resident memory of a host at {load}"), "MB", |sight| sight.megabytes),
        chart("Open descriptors", "descriptors", |sight| sight.descriptors),
    ]
}

/// A server over HTTP, ended with its owner.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start() -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.args(["serve", "ours-http"]).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut address)?;
        Ok(Self { child, url: format!("http://{}/mcp", address.trim()) })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::{Kills, Report, Sight, judge};

    fn sights(megabytes: impl Fn(f64) -> f64, descriptors: impl Fn(f64) -> f64) -> Vec<Sight> {
        let seconds = (0..60).map(f64::from);
        seconds.map(|second| Sight { second, megabytes: megabytes(second), descriptors: descriptors(second) }).collect()
    }

    #[test]
    fn what_grows_is_found() {
        let flat = |_: f64| 20.0;
        let cases: [(Vec<Sight>, Option<&str>); 5] = [
            (sights(flat, flat), None),
            (sights(|second| 20.0 - second / 10.0, flat), None),
            (sights(|second| if second < 20.0 { second } else { 20.0 }, flat), None),
            (sights(|second| 20.0 + second / 5.0, flat), Some("memory grew from 26.0 to 30.0 MB")),
            (sights(flat, |second| 20.0 + second.trunc() / 4.0), Some("descriptors grew from 27.5 to 32.5")),
        ];
        for (sights, expected) in cases {
            let said = judge(&sights, Kills::default(), &Report::default()).err().map(|error| error.to_string());
            assert_eq!(said.as_deref(), expected);
        }
    }

    #[test]
    fn what_went_wrong_is_told() {
        let sights = sights(|_| 1.0, |_| 1.0);
        let wrong = Report { wrong: vec!["web0: no".to_owned()], ..Report::default() };
        let said = judge(&sights, Kills::default(), &wrong).unwrap_err().to_string();
        assert_eq!(said, "1 calls of servers that nobody killed went wrong, the first: web0: no");
        let gone = judge(&sights, Kills { tried: 3, done: 1 }, &Report::default()).unwrap_err().to_string();
        assert_eq!(gone, "the server that was killed did not come back");
    }
}
