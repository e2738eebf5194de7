//! A room full of servers on which nothing can be relied, somebody who kills and stops them, and somebody who starts them again.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolgate_testkit::chaos::{ChaosFault, ChaosPlan, Dice, faults, lives};
use toolgate_testkit::chaos_server_path;

use crate::support::Room;

/// How long a call waits for a sign of life.
pub(crate) const CALL_TIMEOUT_MS: u64 = 1_500;

/// Servers on which nothing can be relied. Those over stdio are children of the host, those over HTTP of this room.
pub(crate) struct ChaosRoom {
    pub(crate) room: Room,
    pub(crate) names: Vec<String>,
    folder: PathBuf,
    http: Vec<KeptServer>,
}

impl ChaosRoom {
    pub(crate) fn new(seed: u64, over_stdio: usize, over_http: usize) -> Self {
        let mut room = Room::new();
        let folder = room.world.root().join("chaos");
        std::fs::create_dir(&folder).unwrap();
        // Each thing that can go wrong does so at least once, with one of the servers.
        let nth = |all: Vec<ChaosFault>, number: usize, count: usize| {
            all.into_iter().skip(number).step_by(count).collect::<Vec<_>>()
        };
        let plan = |name: &str, number: usize, surely: Vec<ChaosFault>| ChaosPlan {
            surely,
            is_modern: number % 2 == 1,
            call_faults_per_mille: 100,
            other_faults_per_mille: 10,
            late_ms: CALL_TIMEOUT_MS + 500,
            ..ChaosPlan::in_folder(&folder, name, seed)
        };
        let (mut names, mut http) = (Vec::new(), Vec::new());
        for number in 0..over_stdio {
            let name = format!("pipe{number}");
            let surely = nth(ChaosFault::over_stdio(), number, over_stdio);
            let args = ["--plan", &plan(&name, number, surely).to_json()];
            let entry = json!({"command": chaos_server_path().unwrap(), "args": args, "timeout": CALL_TIMEOUT_MS});
            room = room.entry(&name, entry);
            names.push(name);
        }
        for number in 0..over_http {
            let name = format!("web{number}");
            let surely = nth(ChaosFault::over_http(), number, over_http);
            let server = KeptServer::start(plan(&name, number, surely));
            room = room.entry(&name, json!({"httpUrl": server.url, "timeout": CALL_TIMEOUT_MS}));
            names.push(name);
            http.push(server);
        }
        Self { room, names, folder, http }
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    /// Everything that went wrong, with how often it did over pipes and over HTTP.
    pub(crate) fn faults(&self) -> BTreeMap<String, (usize, usize)> {
        let mut counts = BTreeMap::<String, (usize, usize)>::new();
        for (server, fault) in faults(&self.folder.join("faults")) {
            let (over_stdio, over_http) = counts.entry(format!("{fault:?}")).or_default();
            *(if server.starts_with("pipe") { over_stdio } else { over_http }) += 1;
        }
        counts
    }

    /// From now on nothing goes wrong any more.
    pub(crate) fn calm_down(&self) {
        std::fs::write(self.folder.join("calm"), "").unwrap();
    }

    /// The processes of servers that are there now.
    pub(crate) fn alive(&self) -> Vec<u32> {
        alive(&self.folder)
    }

    /// Somebody who makes trouble until it is stopped.
    pub(crate) fn troublemaker(&self, seed: u64) -> Troublemaker {
        Troublemaker::start(self.folder.clone(), seed)
    }

    pub(crate) fn end(&mut self) {
        self.http.drain(..).for_each(KeptServer::end);
    }
}

/// Servers of this folder whose process lives. A process number may belong to somebody else by now, so its words are read.
fn alive(folder: &Path) -> Vec<u32> {
    let mut pids: Vec<u32> = lives(&folder.join("lives")).iter().map(|life| life.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    let folder = folder.display().to_string();
    pids.retain(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&folder)
    });
    pids
}

fn is_stopped(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:\tT"))
}

fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
    // It may have ended meanwhile.
    let _sent = kill_process(pid, signal).is_ok();
}

/// Kills and stops servers at random, and lets those go on that stopped; some of them it kills instead.
pub(crate) struct Troublemaker {
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Troublemaker {
    fn start(folder: PathBuf, seed: u64) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let thread = std::thread::spawn(move || {
            let mut dice = Dice::about(seed, &["trouble"]);
            while !done.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(100 + dice.below(300)));
                let alive = alive(&folder);
                for pid in alive.iter().filter(|pid| is_stopped(**pid)) {
                    send(*pid, if dice.happens(300) { Signal::KILL } else { Signal::CONT });
                }
                let Some(victim) = dice.pick(&alive) else { continue };
                match dice.below(4) {
                    0 => send(*victim, Signal::KILL),
                    1 => send(*victim, Signal::STOP),
                    _ => {}
                }
            }
            alive(&folder).into_iter().for_each(|pid| send(pid, Signal::CONT));
        });
        Self { is_done, thread }
    }

    /// Ends the trouble; whoever was stopped goes on.
    pub(crate) fn end(self) {
        self.is_done.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
    }
}

/// A server over HTTP that is started again at the same address whenever it ends.
struct KeptServer {
    url: String,
    is_done: Arc<AtomicBool>,
    child: Arc<Mutex<Child>>,
    thread: JoinHandle<()>,
}

impl KeptServer {
    fn start(plan: ChaosPlan) -> Self {
        let (child, url) = start_http(&plan, "0");
        let port = url.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned();
        let (is_done, child) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(child)));
        let (done, kept) = (Arc::clone(&is_done), Arc::clone(&child));
        let thread = std::thread::spawn(move || {
            while !done.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(20));
                let mut child = kept.lock().unwrap();
                if child.try_wait().unwrap().is_some() && !done.load(Ordering::SeqCst) {
                    *child = start_http(&plan, &port).0;
                }
            }
        });
        Self { url, is_done, child, thread }
    }

    fn end(self) {
        self.is_done.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Starts a server over HTTP on that port; 0 is any.
pub(crate) fn start_http(plan: &ChaosPlan, port: &str) -> (Child, String) {
    let mut command = Command::new(chaos_server_path().unwrap());
    command.args(["--plan", &plan.to_json(), "--port", port]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    // One that is killed before it says where it listens is started again by its keeper.
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (child, url.trim().to_owned())
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < limit, "{what} did not come true within {limit:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
