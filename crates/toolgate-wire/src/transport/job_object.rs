//! The same net as the watchdog, for Windows: a job that the system ends together with this process.
//!
//! Untested: the rest of this crate is written for Unix and does not build on Windows yet. The job has no name and its one handle is ours, so
//! the system closes it with this process, whatever that dies of, and ends every process in it and what those started.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle as _, OwnedHandle};
use std::ptr::null;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};

/// A job whose processes end with its last handle.
#[derive(Debug)]
pub(crate) struct JobObject(OwnedHandle);

#[expect(unsafe_code, reason = "the system has no other door to job objects")]
impl JobObject {
    /// A job without processes yet.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: both arguments may be null: no attributes, no name.
        let handle = unsafe { CreateJobObjectW(null(), null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just made, is valid, and nobody else closes it.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
        let (kind, limits) = (JobObjectExtendedLimitInformation, (&raw const limits).cast());
        // SAFETY: `limits` points to a value of the kind and of the size that are named, which outlives the call.
        let is_set = unsafe { SetInformationJobObject(job.0.as_raw_handle(), kind, limits, size) } != 0;
        if is_set { Ok(job) } else { Err(io::Error::last_os_error()) }
    }

    /// Takes a process in, with whatever it starts from now on.
    pub(crate) fn take_in(&self, process: &impl AsRawHandle) -> io::Result<()> {
        // SAFETY: both handles are open for as long as they are borrowed.
        let is_in = unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process.as_raw_handle()) } != 0;
        if is_in { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
