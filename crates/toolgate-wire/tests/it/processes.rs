//! The processes around a child: those that left its group, and the watchdog, which is one of ours and never left behind.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolgate_wire::transport::child::{ChildConfig, ChildHandle, Stray};
use toolgate_wire::{ConnectOptions, Endpoint, connect};

use crate::support::{Side, expect_gone, is_alive, within};

async fn start(script: &str) -> ChildHandle {
    let mut config = ChildConfig::new("/bin/sh");
    config.args = ["-c".into(), script.into()].into();
    config.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    config.grace = Duration::from_millis(50);
    config.spawn().await.unwrap().handle()
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Waits until something is there.
async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(what, looking).await
}

#[tokio::test]
async fn what_left_the_group_is_named_and_not_ended() {
    let child = start("sleep 1000 & setsid sleep 1000 & wait").await;
    let is_sleeping = |strays: &Vec<Stray>| strays.iter().any(|stray| stray.name == "sleep");
    let strays = until("the stray", || Some(child.strays()).filter(is_sleeping)).await;
    assert_eq!(strays.len(), 1, "{strays:?}");
    let (leader, stray) = (child.pid().unwrap(), strays[0].pid);
    drop(child);
    expect_gone(leader).await;
    assert!(is_alive(stray), "it is out of reach");
    kill(stray);
}

#[tokio::test]
async fn a_server_has_ended_when_its_process_has_whoever_holds_its_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let strays = folder.path().join("strays");
    let script = "read line; setsid sh -c 'echo $$ >> \"$STRAYS\"; exec sleep 1000' & \
                  while ! grep -q . \"$STRAYS\" 2>/dev/null; do sleep 0.01; done; exit 3";
    let mut config = ChildConfig::new("/bin/sh");
    config.args = ["-c".into(), script.into()].into();
    config.env = vec![("PATH".into(), "/usr/bin:/bin".into()), ("STRAYS".into(), strays.clone().into())];
    config.grace = Duration::from_millis(50);
    let options = ConnectOptions::new(Arc::new(Side::default()));
    let error = within("its end", connect(Endpoint::Child(config), options)).await.unwrap_err();
    assert!(error.to_string().contains("the server ended with exit status: 3"), "{error}");
    for stray in std::fs::read_to_string(&strays).unwrap().lines().map(|pid| pid.parse().unwrap()) {
        if is_alive(stray) {
            kill(stray);
        }
    }
}

/// Our watchdogs that run; there is never more than one.
fn watchdog() -> Option<u32> {
    let children = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok();
        (command.ends_with("toolgate-watchdog\0") && parent == Some(std::process::id()) && is_alive(pid)).then_some(pid)
    });
    let running: Vec<u32> = children.collect();
    assert!(running.len() < 2, "{running:?}");
    running.first().copied()
}

#[tokio::test]
async fn a_watchdog_that_is_killed_is_started_again() {
    let child = start("exec sleep 1000").await;
    let first = until("the watchdog", watchdog).await;
    let other = start("exec sleep 1000").await;
    assert_eq!(watchdog(), Some(first), "one is enough for all servers");
    kill(first);
    let second = until("another watchdog", || watchdog().filter(|pid| *pid != first)).await;
    until("the first to be reaped", || (!std::path::Path::new(&format!("/proc/{first}")).exists()).then_some(())).await;
    assert!(is_alive(second));
    for handle in [child, other] {
        let pid = handle.pid().unwrap();
        drop(handle);
        expect_gone(pid).await;
    }
}

#[tokio::test]
async fn a_script_that_does_not_say_what_reads_it_is_read_by_a_shell() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server");
    std::fs::write(&script, "echo \"$0 $1\" >&2\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    for (program, path) in [(script.as_os_str(), "/bin"), ("server".as_ref(), folder.path().to_str().unwrap())] {
        let mut config = ChildConfig::new(program);
        config.args = vec!["hi".into()];
        config.env = vec![("PATH".into(), path.into())];
        let child = config.spawn().await.unwrap().handle();
        within("the script", child.ended()).await;
        assert_eq!(child.stderr_tail().trim(), format!("{} hi", script.display()));
    }
}

#[tokio::test]
async fn many_programs_that_do_not_exist_do_no_harm() {
    for _ in 0..20 {
        ChildConfig::new("/nowhere/at/all").spawn().await.unwrap_err();
    }
    let child = start("exec sleep 1000").await;
    let pid = child.pid().unwrap();
    assert!(is_alive(pid));
    drop(child);
    expect_gone(pid).await;
}
