//! How a child is started: from a thread of its own, known to the watchdog from the beginning, and without a copy of this process.
//!
//! A copy (`fork`) costs more the larger this process is, and again whenever it writes to a page that was copied. The system starts a program
//! without one when it is given a path and nothing has to be done in between, so names are looked up here.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Once, OnceLock, mpsc};

use rustix::fs::Access;
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::transport::child::ChildConfig;
use crate::transport::process_group::ProcessGroup;
use crate::transport::watchdog::{self, Newcomer};

/// What reads a script that does not say what reads it, as `execvp` has it.
const SHELL: &str = "/bin/sh";

/// A process and its group. They are ended when nobody takes them, however far whoever wanted them had come.
struct Started(Option<(Child, Option<ProcessGroup>)>);

impl Started {
    fn new(child: Child, newcomer: Newcomer) -> Self {
        let leader = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let group = leader.map(|leader| ProcessGroup { leader, mark: newcomer.has_come(leader) });
        Self(Some((child, group)))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some((_, Some(unwanted))) = &self.0 {
            unwanted.signal(Signal::KILL);
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The one thread that starts children and does nothing else: starting takes as long as the system needs to load a program.
fn starter() -> io::Result<&'static mpsc::Sender<Job>> {
    static STARTER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("child-starter".to_owned());
        thread.spawn(move || queue.into_iter().for_each(|job| job())).ok().map(|_| jobs)
    });
    starter.as_ref().ok_or_else(no_starter)
}

fn no_starter() -> io::Error {
    io::Error::other("there is no thread to start it from")
}

/// Prepares for a child that is started soon: what all of them need is begun while somebody finds out how this one is started.
pub(crate) fn expect() {
    static EXPECTED: Once = Once::new();
    EXPECTED.call_once(|| {
        watchdog::wake();
        let _there_is_one = starter().is_ok();
    });
}

/// Starts a child. The process, and its group.
pub(crate) async fn start(config: &ChildConfig) -> io::Result<(Child, Option<ProcessGroup>)> {
    let config = config.clone();
    start_with(move || start_here(&config)).await
}

/// Starts a command in a group of its own. What it needs to get there is held until then, also when nobody waits for it any more.
pub(crate) async fn start_command<T>(mut command: Command, needed: T) -> io::Result<(Child, Option<ProcessGroup>)>
where
    T: Send + 'static,
{
    command.process_group(0);
    start_with(move || {
        let started = spawn(command);
        drop(needed);
        started
    })
    .await
}

async fn start_with<S>(start: S) -> io::Result<(Child, Option<ProcessGroup>)>
where
    S: FnOnce() -> io::Result<Started> + Send + 'static,
{
    let runtime = tokio::runtime::Handle::current();
    let (done, started) = oneshot::channel();
    let job = Box::new(move || {
        let _entered = runtime.enter();
        if !done.is_closed() {
            let _somebody_waits = done.send(start()).is_ok();
        }
    });
    starter()?.send(job).map_err(|_| no_starter())?;
    started.await.map_err(|_| no_starter())??.0.take().ok_or_else(no_starter)
}

fn start_here(config: &ChildConfig) -> io::Result<Started> {
    let program = located(config);
    let program = program.as_deref().unwrap_or(Path::new(&config.program));
    match spawn(command(config, program.as_os_str(), &config.args)) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            let args: Vec<OsString> = std::iter::once(program.into()).chain(config.args.iter().cloned()).collect();
            spawn(command(config, OsStr::new(SHELL), &args))
        }
        started => started,
    }
}

fn spawn(mut command: Command) -> io::Result<Started> {
    let newcomer = Newcomer::announce(&mut command);
    match command.spawn() {
        Ok(child) => Ok(Started::new(child, newcomer)),
        Err(error) => {
            newcomer.has_failed();
            Err(error)
        }
    }
}

/// It leads a group of its own, and nothing but what its settings name is passed on to it.
fn command(config: &ChildConfig, program: &OsStr, args: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.arg0(&config.program).args(args);
    command.env_clear().envs(config.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0);
    if let Some(cwd) = &config.cwd {
        command.current_dir(cwd);
    }
    command
}

/// Where a program is that was named without a path: the first on the `PATH` of the child that can be run, as seen from its folder. `None`
/// leaves it to the system to find it, or to say why it cannot be run.
fn located(config: &ChildConfig) -> Option<PathBuf> {
    let name = Path::new(&config.program);
    if name.components().count() != 1 || config.program.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let (_, folders) = config.env.iter().rfind(|(name, _)| name == "PATH")?;
    let from = config.cwd.as_deref().unwrap_or(Path::new(""));
    std::env::split_paths(folders).find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let can_run = |path: &Path| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok();
        can_run(&from.join(folder).join(name)).then(|| folder.join(name))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_name_is_looked_up_as_the_system_would_look_it_up() {
        let room = tempfile::tempdir().unwrap();
        for (folder, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
            std::fs::create_dir(room.path().join(folder)).unwrap();
            let file = room.path().join(folder).join("server");
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::create_dir_all(room.path().join("folder/server")).unwrap();
        let rows = [
            ("server", Some("first:second"), Some("first/server")),
            ("server", Some("none:second:first"), Some("second/server")),
            ("server", Some("plain:folder:second"), Some("second/server")),
            ("server", Some("plain:folder"), None),
            ("server", Some(""), None),
            ("server", None, None),
            ("./server", Some("first"), None),
            ("first/server", Some("second"), None),
            ("server/", Some("first"), None),
            ("..", Some("first"), None),
            ("", Some("first"), None),
        ];
        for (program, path, expected) in rows {
            let mut config = ChildConfig::new(program);
            config.env = path.map(|path| ("PATH".into(), path.into())).into_iter().collect();
            config.cwd = Some(room.path().to_owned());
            assert_eq!(located(&config), expected.map(PathBuf::from), "{program} on {path:?}");
        }
    }

    #[tokio::test]
    async fn a_child_whose_starter_went_away_is_ended() {
        let room = tempfile::tempdir().unwrap();
        let told = room.path().join("told");
        let mut config = ChildConfig::new(SHELL);
        config.args = ["-c", "trap '' TERM; echo $$ >pid; mv pid told; exec /bin/sleep 1000"].map(Into::into).to_vec();
        config.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        config.cwd = Some(room.path().to_owned());
        let mut starting = Box::pin(start(&config));
        assert!(futures_util::poll!(&mut starting).is_pending());
        // It may have been handed over by now, or not: nobody takes it.
        while !told.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(starting);
        let pid = std::fs::read_to_string(told).unwrap().trim().parse().ok().and_then(Pid::from_raw).unwrap();
        let is_there = || rustix::process::test_kill_process_group(pid).is_ok();
        while is_there() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}
