//! Watches one process: when it had printed what was awaited, when it ended, and how much memory it held.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::Outcome;
use crate::typed_at::{Output, Screen};

/// A process that takes longer is ended, and the run fails.
const PROCESS_MAX: Duration = Duration::from_secs(120);

/// How often the memory of a process is looked at.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// How long a process is left alone before its memory at rest is read.
const REST: Duration = Duration::from_millis(300);

/// How long a process that has nothing to do is watched.
const ALONE: Duration = Duration::from_secs(10);

/// What a process is to print.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Awaited {
    pub(crate) text: &'static str,
    /// How often the text has to come.
    pub(crate) times: usize,
}

/// What happens once everything awaited was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Then {
    /// The process ends by itself.
    Ends,
    /// The process ends by itself, and its memory is looked at until then.
    EndsWatched,
    /// The process would wait for something that never comes: it is ended.
    IsEnded,
    /// The same, after its memory at rest was read; it must have this many children by then.
    IsHeld { children: usize },
    /// The same, and what it does while there is nothing to do is looked at for a while.
    IsLeftAlone { children: usize },
}

/// What was seen of one process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) printed: Duration,
    /// Not known when the process was ended from here.
    pub(crate) ended: Option<Duration>,
    /// Resident at rest, when it was held.
    pub(crate) resident_kb: u64,
    /// The most that was resident, when it was watched or held.
    pub(crate) peak_kb: u64,
    /// What it did while there was nothing to do, when it was left alone.
    pub(crate) activity: Activity,
}

/// How busy a process was, all its threads together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Activity {
    pub(crate) cpu: Duration,
    /// How often it gave up the CPU, so how often it had woken up.
    pub(crate) switches: u64,
}

/// A program with its arguments and the folder that is its home.
pub(crate) struct Program<'a> {
    pub(crate) words: &'a [String],
    pub(crate) home: &'a Path,
    pub(crate) streams: Streams,
}

/// What a program is connected to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Streams {
    Pipes,
    /// A terminal, at which nobody types.
    Terminal,
}

impl Program<'_> {
    /// Runs it to its end, which has to be a good one.
    pub(crate) async fn finish(&self) -> Outcome {
        self.watch(Awaited { text: "", times: 0 }, Then::Ends).await.map(drop)
    }

    /// Runs it once.
    pub(crate) async fn watch(&self, awaited: Awaited, then: Then) -> Outcome<Seen> {
        let (program, arguments) = self.words.split_first().ok_or("a program has a name")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.home);
        let complaints = self.home.join("stderr");
        let stderr = std::fs::File::create(&complaints)?;
        command.current_dir(self.home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let screen = match self.streams {
            Streams::Pipes => None,
            Streams::Terminal => Some(Screen::new(&mut command)?),
        };
        let started = Instant::now();
        let mut child = command.kill_on_drop(true).spawn().map_err(|error| format!("{program}: {error}"))?;
        let output = match screen {
            Some(screen) => screen.output()?,
            None => Box::new(child.stdout.take().ok_or("no stdout")?),
        };
        let watching = watch(&mut child, output, started, (awaited, then));
        let in_time = tokio::time::timeout(PROCESS_MAX, watching).await;
        let outcome = in_time.unwrap_or_else(|_| Err(format!("not done after {PROCESS_MAX:?}").into()));
        if outcome.is_ok() {
            return outcome;
        }
        child.kill().await.ok();
        let said = std::fs::read_to_string(complaints).unwrap_or_default();
        outcome.map_err(|error| format!("{}: {error}\n{said}", self.words.join(" ")).into())
    }
}

async fn watch(child: &mut Child, stdout: Output, started: Instant, (awaited, then): (Awaited, Then)) -> Outcome<Seen> {
    let pid = child.id().ok_or("no process id")?;
    let mut reading = Reading { stdout, chunk: vec![0; 256 * 1024], kept: 0, count: 0, awaited };
    let mut seen = Seen::default();
    let sampled = then == Then::EndsWatched;
    let mut ticks = tokio::time::interval(SAMPLE_INTERVAL);
    let mut all = awaited.times == 0;
    loop {
        tokio::select! {
            more = reading.next() => {
                let more = more?;
                if !all && reading.count >= awaited.times {
                    all = true;
                    seen.printed = started.elapsed();
                    if matches!(then, Then::IsEnded | Then::IsHeld { .. } | Then::IsLeftAlone { .. }) { break; }
                }
                if !more { break; }
            }
            _ = ticks.tick(), if sampled => seen.peak_kb = seen.peak_kb.max(memory(pid, "VmHWM:")),
        }
    }
    if !all {
        return Err(format!("`{}` was printed {} times, not {}", awaited.text, reading.count, awaited.times).into());
    }
    match then {
        Then::Ends | Then::EndsWatched => {
            let status = child.wait().await?;
            seen.ended = Some(started.elapsed());
            if !status.success() {
                return Err(format!("{status}").into());
            }
        }
        Then::IsEnded => child.kill().await?,
        Then::IsHeld { children } | Then::IsLeftAlone { children } => {
            tokio::time::sleep(REST).await;
            if matches!(then, Then::IsLeftAlone { .. }) {
                let before = activity(pid);
                tokio::time::sleep(ALONE).await;
                let after = activity(pid);
                let (cpu, switches) = (after.cpu.saturating_sub(before.cpu), after.switches - before.switches);
                seen.activity = Activity { cpu, switches };
            }
            let found = servers_of(pid);
            seen.resident_kb = memory(pid, "VmRSS:");
            seen.peak_kb = memory(pid, "VmHWM:");
            child.kill().await?;
            if found != children {
                return Err(format!("it held {found} servers, not {children}").into());
            }
        }
    }
    Ok(seen)
}

/// Counts a text in a stream of chunks.
struct Reading {
    stdout: Output,
    chunk: Vec<u8>,
    /// Bytes at the start of the chunk that may be the beginning of one more.
    kept: usize,
    count: usize,
    awaited: Awaited,
}

impl Reading {
    /// Reads a chunk; whether there may be more.
    async fn next(&mut self) -> std::io::Result<bool> {
        // Dropped while it waits it has read nothing, so a tick in between loses nothing.
        let size = self.stdout.read(&mut self.chunk[self.kept..]).await?;
        let filled = self.kept + size;
        let (count, kept) = count(&self.chunk[..filled], self.awaited.text.as_bytes());
        self.count += count;
        self.chunk.copy_within(filled - kept..filled, 0);
        self.kept = kept;
        Ok(size > 0)
    }
}

/// How often a text comes, and how many bytes at the end may be the beginning of one more.
fn count(bytes: &[u8], text: &[u8]) -> (usize, usize) {
    if text.is_empty() {
        return (0, 0);
    }
    let finder = Finder::new(text);
    let (mut count, mut after) = (0, 0);
    for at in finder.find_iter(bytes) {
        count += 1;
        after = at + text.len();
    }
    (count, (bytes.len() - after).min(text.len() - 1))
}

/// One line of `/proc/PID/status` in KB; 0 when the process is gone.
pub(crate) fn memory(pid: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap_or_default();
    line.split_whitespace().next().and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// The stand-ins among its child processes, whichever thread started them.
fn servers_of(pid: u32) -> usize {
    let lists = threads(pid).filter_map(|thread| std::fs::read_to_string(thread.join("children")).ok());
    let words = |child: &str| std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
    let is_server = |child: &&str| memchr::memmem::find(&words(child), b"stand-in").is_some();
    lists.map(|list| list.split_whitespace().filter(is_server).count()).sum()
}

/// What a process has done so far.
fn activity(pid: u32) -> Activity {
    let mut sum = Activity::default();
    for thread in threads(pid) {
        let times = std::fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
        let on_cpu = times.split_whitespace().next().and_then(|value| value.parse().ok()).unwrap_or_default();
        sum.cpu += Duration::from_nanos(on_cpu);
        let status = std::fs::read_to_string(thread.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap_or_default();
        sum.switches += line.trim().parse::<u64>().unwrap_or_default();
    }
    sum
}

fn threads(pid: u32) -> impl Iterator<Item = PathBuf> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/task"));
    folder.into_iter().flatten().flatten().map(|thread| thread.path())
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_text_is_counted_once_wherever_a_chunk_ends() {
        let bytes = b"ab tool_9 x tool_9tool_9 tool_";
        for size in 1..bytes.len() {
            let (mut total, mut kept) = (0, Vec::new());
            for chunk in bytes.chunks(size) {
                kept.extend_from_slice(chunk);
                let (found, keep) = count(&kept, b"tool_9");
                total += found;
                kept.drain(..kept.len() - keep);
            }
            assert_eq!(total, 3, "chunks of {size}");
        }
    }
}
