//! The watchdog as a program of its own: what it does when its input ends, and that it is told in lines it understands.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process, test_kill_process_group};

use super::*;

/// Whole seconds are too short on a loaded machine; nothing waits this long when all is well.
const PATIENCE: Duration = Duration::from_secs(30);

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

/// Waits, reaping `children` on the way, until a condition holds.
fn wait_until(what: &str, children: &mut [Child], is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        for child in children.iter_mut() {
            child.try_wait().unwrap();
        }
        if is_so() {
            return;
        }
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_there(group: Pid) -> bool {
    test_kill_process_group(group).is_ok()
}

/// A group of two, of which the first may be deaf to TERM.
fn group(is_deaf: bool) -> Child {
    let deaf = if is_deaf { "trap '' TERM;" } else { "" };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{deaf} sleep 1000 & wait; sleep 1000")]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A group of one that carries a mark.
#[cfg(target_os = "linux")]
fn marked_group(mark: Option<&str>) -> Child {
    let mut command = Command::new("/bin/sleep");
    command.arg("1000").env_clear().envs(mark.map(|mark| (MARK, mark))).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_line_is_a_sign_a_number_and_an_end() {
    let rows = [(b'+', 1, "+1\n"), (b'-', 90, "-90\n"), (b'+', i32::MAX, "+2147483647\n")];
    for (sign, group, expected) in rows {
        assert_eq!(Line::new(sign, group).as_bytes(), expected.as_bytes());
    }
}

#[test]
fn what_found_no_room_is_told_when_there_is_some() {
    let (reader, writer) = io::pipe().unwrap();
    for end in [reader.as_fd(), writer.as_fd()] {
        rustix::io::ioctl_fionbio(end, true).unwrap();
    }
    let mut watchdog = Watchdog { pipe: Some(Arc::new(writer)), announced: 4, ..Watchdog::NEW };
    let read = || {
        let mut text = Vec::new();
        let _nothing_more_is_there = (&reader).read_to_end(&mut text).is_err();
        String::from_utf8(text).unwrap()
    };
    while !watchdog.has_missed {
        watchdog.say(b"-7\n");
    }
    read();
    // What there is by then; whether somebody is being started; what is said next; what is heard of all that.
    let rows: [(&[i32], bool, &[u8], &str); 4] = [
        (&[2, 3], true, b"-5\n", "?\n+2\n+3\n!4\n-5\n"),
        (&[3], false, b"-2\n", "?\n+3\n-2\n"),
        (&[], false, b"-3\n", "?\n-3\n"),
        (&[3, 9], false, b"+9\n", "?\n+3\n+9\n+9\n"),
    ];
    for (groups, is_expecting, said, heard) in rows {
        (watchdog.groups, watchdog.is_expecting) = (groups.iter().copied().collect(), is_expecting);
        watchdog.has_missed = true;
        watchdog.say(said);
        assert_eq!(read(), heard);
        watchdog.say(said);
        assert_eq!(read().as_bytes(), said, "once is enough");
    }
}

#[test]
fn the_watchdog_ends_the_groups_it_knows_when_its_input_ends() {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut watchdog = command(&reader).unwrap().spawn().unwrap();
    let mut children: Vec<Child> = [false, true, false, false].map(group).into();
    let groups: Vec<Pid> = children.iter().map(pid_of).collect();
    let line = |sign: char, at: usize| format!("{sign}{}\n", groups[at].as_raw_nonzero());
    // The third ends before, and its number is looked at; the fourth is taken back. Noise is no harm.
    children[2].kill().unwrap();
    rustix::process::kill_process_group(groups[2], Signal::KILL).unwrap();
    wait_until("the third", &mut children, || !is_there(groups[2]));
    for text in [
        &*line('+', 3),
        "?\n",
        &line('+', 0),
        &line('+', 1),
        &line('+', 0),
        &line('+', 2),
        "?\n",
        &line('-', 3),
        "\n",
        "-1\n",
        "+1\n",
        "+0\n",
        "+x\n",
    ] {
        writer.write_all(text.as_bytes()).unwrap();
    }
    wait_until("it to read", &mut children, || rustix::io::ioctl_fionread(&reader).unwrap() == 0);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill_process(pid_of(&watchdog), signal).unwrap_or_default();
    }
    assert!(watchdog.try_wait().unwrap().is_none() && is_there(groups[0]) && is_there(groups[1]));
    drop((reader, writer));
    wait_until("the groups to end", &mut children, || !is_there(groups[0]) && !is_there(groups[1]));
    watchdog.wait().unwrap();
    assert!(is_there(groups[3]), "what was taken back is left alone");
    rustix::process::kill_process_group(groups[3], Signal::KILL).unwrap();
    children[3].wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_newcomer_whose_group_was_never_told_is_found_by_its_mark() {
    // What was said last; which of the three that carry the marks 6, 7 and none is ended.
    let rows = [("!7\n", [false, true, false]), ("!6\n!7\n", [false, true, false]), ("!7\n?\n", [false; 3])];
    for (said, expected) in rows {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut watchdog = command(&reader).unwrap().spawn().unwrap();
        let marks = [Some(6), Some(7), None].map(|number| number.map(|number| format!("{}{number}", mark_start())));
        let mut children: Vec<Child> = marks.map(|mark| marked_group(mark.as_deref())).into();
        let groups: Vec<Pid> = children.iter().map(pid_of).collect();
        writer.write_all(said.as_bytes()).unwrap();
        drop((reader, writer));
        watchdog.wait().unwrap();
        wait_until(said, &mut children, || groups.iter().zip(expected).all(|(group, ends)| !ends || !is_there(*group)));
        for ((group, ends), child) in groups.iter().zip(expected).zip(&mut children) {
            assert_eq!(is_there(*group), !ends, "{said}");
            rustix::process::kill_process_group(*group, Signal::KILL).unwrap_or_default();
            child.wait().unwrap();
        }
    }
}

#[test]
fn a_watchdog_with_nothing_to_end_ends_at_once() {
    for text in ["", "+2147483646\n", "+2147483646\n-2147483646\n"] {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut watchdog = command(&reader).unwrap().spawn().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        drop((reader, writer));
        assert!(watchdog.wait().is_ok(), "{text}");
    }
}
