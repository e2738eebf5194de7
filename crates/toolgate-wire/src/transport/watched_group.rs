//! `WatchedGroup`: a command that is no server, and what it started. They end when this is dropped, and with this process, whatever that dies of.

use std::io;

use rustix::process::Signal;
use tokio::process::{Child, Command};

use crate::transport::child_start;
use crate::transport::process_group::ProcessGroup;

/// The processes of one command, as far as they stay together. The watchdog knows them as it knows those of a server.
#[derive(Debug)]
pub struct WatchedGroup(Option<ProcessGroup>);

impl WatchedGroup {
    /// Starts a command as the leader of a group of its own. `needed` is what the command refers to by a number or a name, such as an open
    /// folder: it is held until the command runs.
    pub async fn start<T: Send + 'static>(command: Command, needed: T) -> io::Result<(Child, Self)> {
        let (child, group) = child_start::start_command(command, needed).await?;
        Ok((child, Self(group)))
    }

    /// Kills whoever is left. From then on nobody knows of them: their number may be given to others.
    pub fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            group.signal(Signal::KILL);
        }
    }
}

impl Drop for WatchedGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
