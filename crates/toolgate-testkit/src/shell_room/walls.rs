//! Isolation of the commands: a read-only file system, an empty `/dev`, hidden sockets, and stubs in place of
//! programs.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, mount_remount, unmount};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::SHELL_ROOM_FILE_BYTES_MAX;

/// All writable paths.
const MEMORY: &str = "/tmp";
/// The first folder on `PATH`.
pub(super) const PROGRAMS: &str = "/tmp/room/bin";
/// The stub program that is mounted over each recorded command.
const STUB: &str = "/tmp/room/stub";
/// The stub at each path.
pub(super) const NAMES: &str = "/tmp/room/names";
/// Log of the recorded commands, one JSON array per line.
pub(super) const LOG: &str = "/tmp/room/log";

/// Folders in which programs are installed, in the order of `PATH`.
pub(super) const PATH_FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Devices that store nothing.
const DEVICES: [&str; 6] = ["full", "null", "random", "tty", "urandom", "zero"];

/// Folders with sockets of outside programs, or with files of other runs.
const HIDDEN: [&str; 2] = ["/run", "/var/tmp"];

/// Files through which a process with this user id could reach the machine itself.
const PROTECTED: [&str; 3] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq"];

/// Builds the isolation around this process.
pub(super) fn build(stub: &[u8]) -> io::Result<()> {
    let mounts = mounts()?;
    let memory = |place: &str| mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755");
    memory(MEMORY)?;
    devices()?;
    for place in HIDDEN.iter().filter(|place| Path::new(place).is_dir()) {
        memory(place)?;
    }
    for (place, flags) in mounts.iter().filter(|(place, _)| !is_replaced(place)) {
        mount_remount(place, MountFlags::BIND | MountFlags::RDONLY | *flags, c"")
            .map_err(|error| io::Error::other(format!("{} stays writable: {error}", place.display())))?;
    }
    for place in PROTECTED.iter().filter(|place| Path::new(place).exists()) {
        mount_bind(*place, *place)?;
        mount_remount(
            *place,
            MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
            c"",
        )?;
    }
    fs::create_dir_all(PROGRAMS)?;
    fs::write(STUB, stub)?;
    make_executable(Path::new(STUB))?;
    let bytes = Some(SHELL_ROOM_FILE_BYTES_MAX);
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: bytes })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    Ok(())
}

/// The current mounts, each with the flags that a remount must keep.
fn mounts() -> io::Result<Vec<(PathBuf, MountFlags)>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let flag = |name: &str| match name {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    let entry = |line: &str| {
        let mut fields = line.split(' ').skip(4);
        let place = fields.next()?.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        Some((PathBuf::from(place), fields.next()?.split(',').map(flag).collect()))
    };
    Ok(table.lines().filter_map(entry).collect())
}

/// Whether another file is mounted at that path in the room.
fn is_replaced(place: &Path) -> bool {
    [MEMORY, "/dev", "/proc"].iter().chain(&HIDDEN).any(|replaced| place.starts_with(replaced))
}

/// A `/dev` with only devices that store nothing.
fn devices() -> io::Result<()> {
    let place = Path::new(MEMORY).join("dev");
    fs::create_dir(&place)?;
    for name in DEVICES {
        let device = Path::new("/dev").join(name);
        if device.exists() {
            fs::write(place.join(name), "")?;
            mount_bind(&device, place.join(name))?;
        }
    }
    for (name, target) in
        [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx")]
    {
        symlink(target, place.join(name))?;
    }
    for name in ["pts", "shm"] {
        fs::create_dir(place.join(name))?;
    }
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", place.join("pts"), "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    mount_bind_recursive(&place, "/dev")?;
    Ok(())
}

fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

/// The stubs that are mounted now.
#[derive(Debug, Default)]
pub(super) struct Stubs {
    names: Vec<String>,
    /// Installed programs that a stub covers.
    covered: Vec<PathBuf>,
}

impl Stubs {
    /// Mounts exactly these stubs.
    pub(super) fn become_these(&mut self, names: &[String]) -> io::Result<()> {
        if self.names == names {
            return Ok(());
        }
        for place in self.covered.drain(..) {
            unmount(&place, UnmountFlags::DETACH)?;
        }
        for name in self.names.drain(..) {
            fs::remove_file(Path::new(PROGRAMS).join(name))?;
        }
        let mut lines = String::new();
        for name in names {
            fs::hard_link(STUB, Path::new(PROGRAMS).join(name))?;
            self.names.push(name.clone());
            let installed =
                PATH_FOLDERS.iter().filter_map(|folder| fs::canonicalize(Path::new(folder).join(name)).ok());
            for place in installed {
                if !self.covered.contains(&place) && place.is_file() {
                    mount_bind(STUB, &place)?;
                    lines += &format!("{}\t{name}\n", place.display());
                    self.covered.push(place);
                }
            }
        }
        fs::write(NAMES, lines)
    }
}
