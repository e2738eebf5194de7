//! A room with a runtime in it, which ends with the room whatever happens.

use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

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
    pub(crate) fn up(mut room: Room) -> Self {
        // Sockets have short paths, and this one is nobody else's.
        let short = room.world.root().join("r");
        std::fs::create_dir_all(&short).unwrap();
        room.world.set_variable("XDG_RUNTIME_DIR", short.display().to_string());
        let said = room.json("up --json");
        let pid = said["pid"].as_i64().unwrap_or_else(|| panic!("{said}"));
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
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
        let beside = self.room.world.home().join(".toolgate/run/toolgate.sock");
        let folder = self.room.world.root().join("r/toolgate");
        let mut short = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        if beside.exists() { beside } else { short.next().expect("it listens somewhere") }
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
