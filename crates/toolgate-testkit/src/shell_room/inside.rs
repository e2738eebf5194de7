//! The process inside the room: the first of its namespace. It runs one command line after the other and ends leftover processes.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, setsid, wait};

use super::walls::{self, LOG, PATH_FOLDERS, PROGRAMS, Stubs};
use super::{Opening, ShellJob, ShellRun};
use crate::limits::{SHELL_ROOM_GRACE_MS, SHELL_ROOM_POLL_MS, SHELL_ROOM_SAID_BYTES_MAX, SHELL_ROOM_SETTLED_MS};

/// Working directory of the commands.
const FOLDER: &str = "/tmp/room/work";
/// Home folder of the commands.
const HOME: &str = "/tmp/room/home";
/// A git repository that is copied for each job.
const REPOSITORY: &str = "/tmp/room/repository";
/// Standard error of the command.
const SAID: &str = "/tmp/room/said";

/// Answers jobs on stdin until it ends.
///
/// # Errors
/// Returns an error if stdin or stdout breaks.
pub fn serve() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let ready = prepare();
    let opening = match &ready {
        Ok(_) => Opening::Ready,
        Err(error) => Opening::Refused(error.to_string()),
    };
    writeln!(out, "{}", serde_json::to_string(&opening)?)?;
    let Ok(mut stubs) = ready else { return Ok(()) };
    for line in io::stdin().lock().lines() {
        let job: ShellJob = serde_json::from_str(&line?)?;
        let run = run(&job, &mut stubs).map_err(|error| error.to_string());
        writeln!(out, "{}", serde_json::to_string(&run)?)?;
        out.flush()?;
    }
    Ok(())
}

fn prepare() -> io::Result<Stubs> {
    let stub = fs::read(std::env::current_exe()?)?;
    walls::build(&stub)?;
    // Programs ask no questions without a controlling terminal.
    setsid()?;
    repository()?;
    Ok(Stubs::default())
}

fn repository() -> io::Result<()> {
    fresh(Path::new(HOME))?;
    fresh(Path::new(REPOSITORY))?;
    let script = "git init -q . && git config user.email a@b.invalid && git config user.name a && \
        echo 1 >a && git add a && git commit -q -m one && echo 2 >a && git commit -q -a -m two";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(REPOSITORY).stdout(Stdio::null()).stderr(Stdio::null());
    // Without `git`, the rows that need it run nothing, and their test notices that.
    environment(&mut command).status().map(|_| ())
}

fn environment(command: &mut Command) -> &mut Command {
    let path = [&[PROGRAMS][..], &PATH_FOLDERS[..]].concat().join(":");
    let variables = [("PATH", path.as_str()), ("HOME", HOME), ("LANG", "C.UTF-8"), ("TERM", "vt100"), ("USER", "root")];
    command.env_clear().envs(variables)
}

fn fresh(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}

fn run(job: &ShellJob, stubs: &mut Stubs) -> io::Result<ShellRun> {
    clean()?;
    stubs.become_these(&job.stubs)?;
    let folder = Path::new(FOLDER);
    for (name, text) in [("a", "1\n"), ("b", "x y\n"), ("list", "publish\n")] {
        fs::write(folder.join(name), text)?;
    }
    if job.has_repository {
        copy(Path::new(REPOSITORY), folder)?;
    }
    fs::create_dir_all(folder.join("d"))?;
    fs::write(folder.join("d/c"), "")?;
    fs::write(LOG, "")?;
    let mut command = Command::new(shell(&job.shell));
    environment(&mut command).arg0(&job.shell).arg("-c").arg(&job.command).current_dir(folder).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(SAID)?);
    let child = command.spawn()?;
    let exit_code = watch(Pid::from_child(&child), Duration::from_millis(job.milliseconds_max))?;
    let mut said = Vec::new();
    let bytes_max = u64::try_from(SHELL_ROOM_SAID_BYTES_MAX).unwrap_or(u64::MAX);
    File::open(SAID)?.take(bytes_max).read_to_end(&mut said)?;
    let log = fs::read_to_string(LOG)?;
    let ran = log.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(ShellRun { ran, exit_code, said: String::from_utf8_lossy(&said).into_owned() })
}

/// `sh` is the POSIX shell, whatever the system links to that name.
fn shell(name: &str) -> &str {
    if name == "sh" && Path::new("/bin/dash").exists() { "/bin/dash" } else { name }
}

/// Removes the files of the previous command.
fn clean() -> io::Result<()> {
    for entry in fs::read_dir("/tmp")? {
        let path = entry?.path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("room" | "dev") => {}
            _ if path.is_dir() && !path.is_symlink() => fs::remove_dir_all(path)?,
            _ => fs::remove_file(path)?,
        }
    }
    fresh(Path::new(HOME))?;
    fresh(Path::new(FOLDER))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Waits for the shell and its descendants, which this process inherits when their parents end.
fn watch(shell: Pid, time_max: Duration) -> io::Result<Option<i32>> {
    let mut exit_code = None;
    let mut end = Instant::now() + time_max;
    let mut recorded = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if pid == shell {
                    exit_code = status.exit_status();
                    end = end.min(Instant::now() + Duration::from_millis(SHELL_ROOM_GRACE_MS));
                }
                continue;
            }
            Err(Errno::CHILD) => return Ok(exit_code),
            Err(error) => return Err(error.into()),
            Ok(None) => {}
        }
        // A program that runs forever, such as `watch`, has produced all its output.
        let length = fs::metadata(LOG)?.len();
        if length > 0 && recorded.is_none_or(|(known, _)| known != length) {
            recorded = Some((length, Instant::now()));
        }
        let settled = Duration::from_millis(SHELL_ROOM_SETTLED_MS);
        if Instant::now() >= end || recorded.is_some_and(|(_, since)| since.elapsed() >= settled) {
            end_all()?;
            return Ok(exit_code);
        }
        sleep(Duration::from_millis(SHELL_ROOM_POLL_MS));
    }
}

/// Kills every other process of the namespace.
fn end_all() -> io::Result<()> {
    loop {
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let number: Option<i32> = name.to_str().and_then(|name| name.parse().ok());
            if let Some(pid) = number.filter(|number| *number > 1).and_then(Pid::from_raw) {
                let _ended = kill_process(pid, Signal::KILL).is_ok();
            }
        }
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return Ok(()),
            Ok(Some((_, WaitStatus { .. }))) => {}
            Ok(None) => sleep(Duration::from_millis(SHELL_ROOM_POLL_MS)),
            Err(error) => return Err(error.into()),
        }
    }
}
