//! `Conditions`: what a process runs under that cannot be handed to another one, and that servers inherit from whoever starts them: the umask, the
//! groups, the limits, what of the system it sees, variables that libraries read by themselves, and the program itself. A command whose conditions
//! are not those of the runtime is run by the program that was started for it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::{Resource, getegid, getgroups, getrlimit, umask};
use serde::{Deserialize, Serialize};

/// Variables that libraries read from the process, where ours cannot be handed in: the certificates that are trusted, and the way to the keychain.
const AMBIENT: [&str; 3] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/// What tells whether two processes see the same system: files, network, processes, people.
const NAMESPACES: [&str; 4] = ["mnt", "net", "pid", "user"];

/// Limits that somebody sets to keep what they start within them.
const LIMITS: [Resource; 5] = [Resource::As, Resource::Cpu, Resource::Data, Resource::Fsize, Resource::Nproc];

/// What a process runs under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    /// Its program: another build may have the same version.
    program: Option<(u64, u64)>,
    umask: u32,
    groups: Vec<u32>,
    namespaces: Vec<Option<String>>,
    ambient: BTreeMap<String, String>,
    /// None where there is none.
    limits: Vec<Option<u64>>,
}

impl Conditions {
    /// Those of this process. To be asked before there is a second thread: the umask can only be seen by changing it.
    pub(crate) fn here(program: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let before = umask(Mode::empty());
        umask(before);
        let mut groups: Vec<u32> = getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
        groups.push(getegid().as_raw());
        groups.sort_unstable();
        groups.dedup();
        let seen = |name: &&str| {
            let target = std::fs::read_link(Path::new("/proc/self/ns").join(name)).ok();
            target.map(|target| target.to_string_lossy().into_owned())
        };
        let set = |name: &&str| Some(((*name).to_owned(), variable(name)?.to_string_lossy().into_owned()));
        Self {
            program: program.and_then(number),
            umask: before.as_raw_mode(),
            groups,
            namespaces: NAMESPACES.iter().map(seen).collect(),
            ambient: AMBIENT.iter().filter_map(set).collect(),
            limits: LIMITS.iter().map(|limit| getrlimit(*limit).current).collect(),
        }
    }

    /// Whether what is done under these conditions is what would be done under `others`. Limits that are wider are no reason not to.
    pub(crate) fn are_good_for(&self, others: &Self) -> bool {
        let is_within =
            |(own, other): (&Option<u64>, &Option<u64>)| other.is_none_or(|other| own.is_some_and(|own| own <= other));
        let Self { program, umask, groups, namespaces, ambient, limits } = self;
        (program, umask) == (&others.program, &others.umask)
            && (groups, namespaces, ambient) == (&others.groups, &others.namespaces, &others.ambient)
            && limits.len() == others.limits.len()
            && limits.iter().zip(&others.limits).all(is_within)
    }
}

/// Which file or folder that is, wherever it is seen from: its device and its number.
pub(crate) fn number(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{AMBIENT, Conditions, NAMESPACES};

    #[test]
    fn conditions_are_compared_as_servers_would_feel_them() {
        let own = Conditions::here(None, |_| None);
        assert!(own.are_good_for(&own));
        type Change = fn(&mut Conditions);
        let changes: [(&str, Change, bool); 9] = [
            ("another build", |one| one.program = Some((1, 1)), false),
            ("a stricter umask", |one| one.umask ^= 0o077, false),
            ("a group", |one| one.groups.push(4_000_000), false),
            ("another network", |one| one.namespaces[1] = Some("net:[1]".to_owned()), false),
            ("nothing is told about it", |one| one.namespaces = vec![None; NAMESPACES.len()], false),
            ("other certificates", |one| drop(one.ambient.insert("SSL_CERT_FILE".to_owned(), "/a".to_owned())), false),
            ("a limit", |one| one.limits[0] = Some(1), false),
            ("no limits", |one| one.limits = vec![None; one.limits.len()], true),
            ("not told about limits", |one| one.limits.clear(), false),
        ];
        for (what, change, is_good) in changes {
            let mut other = own.clone();
            other.namespaces.iter_mut().for_each(|one| _ = one.get_or_insert_default());
            let own = other.clone();
            change(&mut other);
            assert_eq!(own.are_good_for(&other), is_good, "{what}");
        }
    }

    #[test]
    fn looking_at_them_changes_nothing() {
        let variable = |name: &str| AMBIENT.contains(&name).then(|| OsString::from("x"));
        let first = Conditions::here(None, variable);
        assert_eq!(first, Conditions::here(None, variable));
        assert_eq!(first.ambient.len(), AMBIENT.len());
    }
}
