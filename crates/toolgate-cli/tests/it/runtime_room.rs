//! A room with a runtime in it, which ends with the room whatever happens.

use std::io::Read as _;
use std::ops::Deref;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::room::Room;

/// A room whose runtime is up.
pub(crate) struct RuntimeRoom {
    room: Room,
    pid: Pid,
}

impl RuntimeRoom {
    /// Starts the runtime of a room.
    #[track_caller]
    pub(crate) fn up(room: Room) -> Self {
        let room = prepared(room);
        let pid = started(&room);
        Self { room, pid }
    }

    /// Its process.
    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    /// The same with other settings.
    pub(crate) fn changed(mut self, change: impl FnOnce(Room) -> Room) -> Self {
        let room = std::mem::replace(&mut self.room, Room::new());
        self.room = change(room);
        self
    }

    /// What `toolgate ps` says.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.room.json("ps --json")["runtime"].clone()
    }

    /// Whether its process is there.
    pub(crate) fn is_up(&self) -> bool {
        rustix::process::test_kill_process(self.pid).is_ok()
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        socket_of(&self.room).expect("it listens somewhere")
    }

    /// Ends it, and stands in its place.
    pub(crate) fn stand_in(&self) -> UnixListener {
        let socket = self.socket();
        assert_eq!(self.room.run("down").code(), Some(0));
        UnixListener::bind(socket).unwrap()
    }

    /// What a program says to the runtime when it brings that command. Whoever is told nothing runs it without.
    pub(crate) fn overheard(&self, line: &str) -> Value {
        let listener = self.stand_in();
        let (child, _) = begun(&self.room, &line.split(' ').collect::<Vec<_>>(), Stdio::null());
        let mut stream = listener.accept().unwrap().0;
        let mut head = [0; 5];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut body).unwrap();
        drop((stream, listener));
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0), "it is run without the runtime");
        std::fs::remove_file(self.socket()).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Starts it once more.
    pub(crate) fn up_again(&mut self) {
        self.pid = started(&self.room);
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> UnixStream {
        UnixStream::connect(self.socket()).unwrap()
    }
}

impl Deref for RuntimeRoom {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.room
    }
}

impl Drop for RuntimeRoom {
    fn drop(&mut self) {
        // The runtime is to be gone also when a test has failed half-way.
        let _asked = kill_process(self.pid, Signal::TERM).is_ok();
        let _ended = self.room.command(["down"]).run().is_ok();
    }
}

/// A room in which a runtime can be started. Sockets have short paths, and this one is nobody else's.
pub(crate) fn prepared(mut room: Room) -> Room {
    let short = room.world.root().join("r");
    std::fs::create_dir_all(&short).unwrap();
    room.world.set_variable("XDG_RUNTIME_DIR", short.display().to_string());
    room
}

/// Where the runtime of a room listens, if there is one.
pub(crate) fn socket_of(room: &Room) -> Option<PathBuf> {
    let beside = room.world.home().join(".toolgate/run/toolgate.sock");
    let folder = room.world.root().join("r/toolgate");
    let mut short = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    if beside.exists() { Some(beside) } else { short.next() }
}

/// Starts the runtime of a room.
#[track_caller]
fn started(room: &Room) -> Pid {
    let said = room.json("up --json");
    let pid = said["pid"].as_i64().unwrap_or_else(|| panic!("{said}"));
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a program hears signals itself: before that they end it, as they end any other.
#[track_caller]
pub(crate) fn hears_signals(pid: Pid) {
    let term = 1 << (Signal::TERM.as_raw() - 1);
    eventually("it hears signals", || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_none_or(|bits| u64::from_str_radix(bits.trim(), 16).is_ok_and(|bits| bits & term != 0))
    });
}

/// A command that is left running.
pub(crate) fn begun(room: &Room, words: &[&str], stdin: impl Into<Stdio>) -> (Child, Pid) {
    let child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(words)
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    (child, pid)
}
