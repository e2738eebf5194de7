//! Those who carry the mark of a server and are not in its group: it started them, whoever their parent is by now.
//!
//! All of them are looked for in one go, for everybody who asks meanwhile: where many servers are closed at once, each look would cost as much as
//! closing one of them.

use crate::transport::process_group::Stray;
use crate::transport::watchdog::Mark;

#[cfg(target_os = "linux")]
mod look {
    use std::fs::File;
    use std::io::Read as _;
    use std::sync::Arc;
    use std::time::Instant;

    use tokio::sync::Mutex;

    use crate::limits::{PROCESS_VARIABLES_BYTES_MAX, PROCESSES_MAX};
    use crate::transport::process_group::Process;
    use crate::transport::watchdog::Mark;

    /// Those that were found, by what they carry.
    pub(super) type Found = Arc<[(Mark, Process)]>;

    /// When it was looked the last time, and who was found.
    static LAST: Mutex<Option<(Instant, Found)>> = Mutex::const_new(None);

    /// Everybody who carries a mark of this process, at some moment from now on.
    pub(super) async fn marked() -> Found {
        let asked = Instant::now();
        let mut last = LAST.lock().await;
        if let Some((begun, found)) = &*last
            && *begun >= asked
        {
            return found.clone();
        }
        let begun = Instant::now();
        let found: Found = tokio::task::spawn_blocking(look).await.unwrap_or_default().into();
        *last = Some((begun, found.clone()));
        found
    }

    /// Whoever we started came later and has a larger number, until the system begins again with small ones.
    fn look() -> Vec<(Mark, Process)> {
        let own = std::process::id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten().take(PROCESSES_MAX);
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let marked = pids.filter(|pid| *pid > own).filter_map(|pid| Some((mark_of(pid)?, Process::of(pid)?)));
        marked.collect()
    }

    fn mark_of(pid: u32) -> Option<Mark> {
        let mut variables = Vec::new();
        let file = File::open(format!("/proc/{pid}/environ")).ok()?;
        file.take(PROCESS_VARIABLES_BYTES_MAX).read_to_end(&mut variables).ok()?;
        Mark::among(&variables)
    }
}

/// Those who carry the mark of a server and have left its group, whether it still runs or not.
#[cfg(target_os = "linux")]
pub(crate) async fn strays(leader: u32, mark: Mark) -> Vec<Stray> {
    let found = look::marked().await;
    let strays = found.iter().filter(|(its, process)| *its == mark && process.group != leader);
    strays.map(|(_, process)| Stray { pid: process.pid, name: process.name.clone() }).collect()
}

/// Elsewhere nobody can tell.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn strays(_leader: u32, _mark: Mark) -> Vec<Stray> {
    Vec::new()
}
