//! How much memory processes take, where the system tells: what is resident, of one process or of all in its group.

use std::path::Path;

/// Where the kernel tells about processes.
const PROCESSES: &str = "/proc";

/// The field of `stat` behind the name of a process: its group.
const GROUP_FIELD: usize = 2;

/// What is resident of one process, in bytes.
pub(crate) fn of_process(pid: u32) -> Option<u64> {
    resident(&Path::new(PROCESSES).join(pid.to_string()))
}

/// What is resident of all processes of a group, in bytes.
pub(crate) fn of_group(group: u32) -> Option<u64> {
    let processes = std::fs::read_dir(PROCESSES).ok()?;
    let of_group = processes.filter_map(|process| {
        let folder = process.ok()?.path();
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        if group_in(&stat)? == group { resident(&folder) } else { None }
    });
    Some(of_group.sum())
}

fn resident(folder: &Path) -> Option<u64> {
    let statm = std::fs::read_to_string(folder.join("statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// The name stands in parentheses and may hold anything, also parentheses.
fn group_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(GROUP_FIELD)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{group_in, of_group, of_process};

    #[test]
    fn the_group_stands_behind_the_name() {
        let cases = [
            ("12 (sh) S 1 34 34 0", Some(34)),
            ("12 (a) b) c) R 1 7 7", Some(7)),
            ("12 (sh", None),
            ("", None),
            ("12 (sh) S 1", None),
        ];
        for (stat, expected) in cases {
            assert_eq!(group_in(stat), expected, "{stat}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_part_of_its_group() {
        let own = of_process(std::process::id()).unwrap();
        let group = u32::try_from(rustix::process::getpgrp().as_raw_nonzero().get()).unwrap();
        assert!(own > 0);
        assert!(of_group(group).unwrap() > 0);
    }
}
