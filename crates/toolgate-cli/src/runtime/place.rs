//! Where the runtime of a person is found: a folder that nobody else can enter, with the socket, the lock and the log in it.

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::geteuid;

use crate::limits::SOCKET_PATH_BYTES_MAX;

/// The folder beside the settings.
const FOLDER: &str = "run";

/// The rights of the folder: nobody else.
const FOLDER_MODE: u32 = 0o700;

/// The rights of others, of which there may be none.
const OTHERS: u32 = 0o077;

/// Where the runtime is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    folder: PathBuf,
    socket: PathBuf,
}

/// What was found there.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nobody.
    Nobody,
    /// Somebody who listens.
    Runtime(UnixStream),
    /// Something that is not ours, or that others can change.
    NotOurs(String),
}

impl Place {
    /// The place of whoever keeps their settings in `user`. A socket has a short path, so that a long one stands in `short`.
    pub(crate) fn of(user: &Path, short: Option<&Path>) -> Self {
        let folder = user.join(FOLDER);
        let socket = folder.join("toolgate.sock");
        if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return Self { folder, socket };
        }
        let mut hasher = DefaultHasher::new();
        user.hash(&mut hasher);
        let name = format!("{:016x}.sock", hasher.finish());
        let short = match short {
            Some(short) if short.is_absolute() => short.join("toolgate"),
            _ => PathBuf::from(format!("/tmp/toolgate-{}", geteuid().as_raw())),
        };
        Self { folder, socket: short.join(name) }
    }

    /// The socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Held by whoever listens.
    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("toolgate.lock")
    }

    /// The process that holds the lock, whether it can be reached or not. What others could have written is not believed.
    pub(crate) fn holder(&self) -> Option<u32> {
        self.check(&self.folder).ok()?;
        let mut lock = File::open(self.lock()).ok()?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) | Err(TryLockError::Error(_)) => return None,
        }
        let mut pid = String::new();
        lock.read_to_string(&mut pid).ok()?;
        pid.trim().parse().ok()
    }

    /// What the runtime has to say.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("toolgate.log")
    }

    /// What the log is called when it is full.
    pub(crate) fn old_log(&self) -> PathBuf {
        self.folder.join("toolgate.log.1")
    }

    /// Makes the folders, and sees that they are ours alone.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        for folder in self.folders() {
            match std::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(at(folder, &error)),
                _ => {}
            }
            self.check(folder)?;
        }
        Ok(())
    }

    /// Connects to whoever listens there.
    pub(crate) fn connect(&self) -> Found {
        let Some(of_socket) = self.socket.parent() else { return Found::Nobody };
        let Ok(about) = std::fs::symlink_metadata(&self.socket) else { return Found::Nobody };
        if let Err(error) = self.check(of_socket) {
            return Found::NotOurs(error.to_string());
        }
        let is_ours = about.file_type().is_socket() && about.uid() == geteuid().as_raw();
        if !is_ours {
            return Found::NotOurs(format!("{} is no socket of yours", self.socket.display()));
        }
        match connect_at_once(&self.socket) {
            Ok(stream) if is_same_person(&stream) => Found::Runtime(stream),
            Ok(_) => Found::NotOurs(format!("somebody else listens at {}", self.socket.display())),
            Err(_) => Found::Nobody,
        }
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        let of_socket = self.socket.parent().filter(|folder| *folder != self.folder);
        std::iter::once(self.folder.as_path()).chain(of_socket)
    }

    /// Whether a folder is ours, and nobody else's to change or enter.
    fn check(&self, folder: &Path) -> io::Result<()> {
        let about = std::fs::symlink_metadata(folder).map_err(|error| at(folder, &error))?;
        let wrong = if about.file_type().is_symlink() {
            "is a link"
        } else if !about.is_dir() {
            "is no folder"
        } else if about.uid() != geteuid().as_raw() {
            "belongs to somebody else"
        } else if about.mode() & OTHERS != 0 {
            "can be entered by others"
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {wrong}", folder.display())))
    }
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Connects, or does not: where so many wait that nobody else can, nobody is let in soon.
fn connect_at_once(socket: &Path) -> io::Result<UnixStream> {
    let stream = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&stream, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&stream, true)?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    ioctl_fionbio(&stream, false)?;
    Ok(UnixStream::from(stream))
}

/// Whether the other end is of the same person. Where that cannot be asked, the rights of the folder say it.
fn is_same_person(stream: &UnixStream) -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == geteuid())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _nobody_to_ask = stream;
        true
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
