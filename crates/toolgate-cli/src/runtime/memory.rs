//! How much memory processes take, where the system tells: what is resident, of one process or of all in its group.

use std::collections::HashMap;
use std::path::Path;

/// Where the kernel tells about processes.
const PROCESSES: &str = "/proc";

/// The field of `stat` behind the name of a process: its group.
const GROUP_FIELD: usize = 2;

/// What is resident of one process, in bytes.
pub(crate) fn of_process(pid: u32) -> Option<u64> {
    resident(&Path::new(PROCESSES).join(pid.to_string()))
}

/// What is resident of all processes of each group, in bytes. The system is looked through once, however many groups are asked about.
pub(crate) fn of_groups() -> HashMap<u32, u64> {
    let mut groups = HashMap::new();
    for process in std::fs::read_dir(PROCESSES).into_iter().flatten().flatten() {
        let folder = process.path();
        // Whatever is no process, or has ended meanwhile, has none.
        let group = std::fs::read_to_string(folder.join("stat")).ok().and_then(|stat| group_in(&stat));
        if let (Some(group), Some(bytes)) = (group, resident(&folder)) {
            *groups.entry(group).or_default() += bytes;
        }
    }
    groups
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
    use super::{group_in, of_groups, of_process};

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
        assert!(of_groups().get(&group).is_some_and(|bytes| *bytes > 0));
    }
}
