//! A server as a child process, spoken to over its stdin and stdout.
//!
//! The child leads a process group of its own, so that stopping reaches what it started too (`npx`, shells). Its stderr is always
//! drained and the end of it kept. Stopping is orderly: close stdin, wait, TERM to the group, wait, KILL to the group. When this process dies
//! without stopping anything, the watchdog ends the group.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::{Error, Result, last_words};
use crate::limits::CHILD_GRACE_MS;
use crate::link::{Inbound, Link, Outgoing};
use crate::peer::lock;
use crate::transport::child_start;
use crate::transport::marked;
use crate::transport::process_group::{self, ProcessGroup};
use crate::transport::stderr_tail::StderrTail;
use crate::transport::stream;
use crate::transport::watchdog::Mark;

pub use crate::transport::process_group::Stray;
pub use crate::transport::stderr_tail::Mask;

/// How long a closed stdout waits for the exit status that explains it.
const EXIT_STATUS_WAIT: Duration = Duration::from_millis(500);

/// How long the rest of stderr is waited for once the group is empty; somebody else may hold it open.
const STDERR_WAIT: Duration = Duration::from_millis(100);

/// How to start a child. Arguments and variables may be secret and are never printed.
#[derive(Clone)]
pub struct ChildConfig {
    /// The program, as a path or a name on the `PATH` of `env`.
    pub program: OsString,
    /// What it is called in warnings: the name of the server, where it has one besides that of its program.
    pub name: Option<String>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment: nothing else is passed on.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory; ours when absent.
    pub cwd: Option<PathBuf>,
    /// How long it may take to leave by itself, and again after TERM.
    pub grace: Duration,
    /// Covers the secrets in what it writes to stderr, whoever reads that.
    pub mask: Option<Mask>,
}

/// Prepares for the first child, which is started soon: what it needs is begun while somebody finds out how it is started.
pub fn expect_child() {
    child_start::expect();
}

impl ChildConfig {
    /// A program with an empty environment and the default patience.
    pub fn new(program: impl Into<OsString>) -> Self {
        let grace = Duration::from_millis(CHILD_GRACE_MS);
        Self { program: program.into(), name: None, args: Vec::new(), env: Vec::new(), cwd: None, grace, mask: None }
    }

    /// Starts the child. The calling thread goes on with other work meanwhile.
    pub async fn spawn(&self) -> Result<ChildTransport> {
        let failed = |source: std::io::Error| {
            let source = self.cwd.as_deref().filter(|cwd| !cwd.is_dir()).map_or(source, no_such_folder);
            Error::Spawn { program: self.program.to_string_lossy().into_owned(), source: Arc::new(source) }
        };
        let (mut child, group) = child_start::start(self).await.map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::protocol("the child has no pipes"));
        };
        let led = group.as_ref().map(|group| (group.leader, group.mark));
        let name = self.name.as_deref().map_or_else(|| self.program.to_string_lossy(), Into::into);
        let tail = StderrTail::new(self.mask.clone());
        let draining = tokio::spawn(tail.clone().drain(stderr));
        let (ended, has_ended) = watch::channel(None);
        let (stop, stop_asked) = watch::channel(());
        tokio::spawn(Supervisor { child, group, grace: self.grace, ended, stop: stop_asked, draining }.run());
        let stdin = Stdin(Arc::new(Mutex::new(Some(stdin))));
        let heard = Arc::new(AtomicU64::new(0));
        let stdout = Stdout { stdout, heard: heard.clone(), ended: Some(Box::pin(ended_of(has_ended.clone()))) };
        let stop = Arc::new(stop);
        let handle = ChildHandle {
            name: name.into(),
            led,
            tail,
            has_ended,
            stdin: stdin.clone(),
            heard,
            _stop_when_dropped: stop,
        };
        Ok(ChildTransport { stdin, stdout, handle })
    }
}

impl fmt::Debug for ChildConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("ChildConfig").field("program", &self.program).field("env", &names).finish_non_exhaustive()
    }
}

/// The system says only that something does not exist.
fn no_such_folder(cwd: &Path) -> std::io::Error {
    let what = format!("its working directory {} does not exist", cwd.display());
    std::io::Error::new(std::io::ErrorKind::NotFound, what)
}

/// A child that was started, before a peer is joined to it.
#[derive(Debug)]
pub struct ChildTransport {
    stdin: Stdin,
    stdout: Stdout,
    handle: ChildHandle,
}

impl ChildTransport {
    /// What can be known of the child while it runs. The child is stopped when the last handle and the peer are gone.
    pub fn handle(&self) -> ChildHandle {
        self.handle.clone()
    }

    /// For [`Peer::start`](crate::Peer::start).
    pub fn open(self) -> impl FnOnce(Inbound) -> Arc<dyn Link> {
        move |inbound| {
            let handle = self.handle;
            let ending = Ending { tail: handle.tail.clone(), has_ended: handle.has_ended.clone() };
            let stream = stream::open_with(self.stdout, self.stdin, async move { ending.explain().await })(inbound);
            Arc::new(ChildLink { stream, handle })
        }
    }
}

/// What can be known of a child while it runs.
#[derive(Debug, Clone)]
pub struct ChildHandle {
    name: Arc<str>,
    /// Its process, which leads its group, and what it carries.
    led: Option<(Pid, Mark)>,
    tail: StderrTail,
    has_ended: watch::Receiver<Option<ExitStatus>>,
    stdin: Stdin,
    heard: Arc<AtomicU64>,
    _stop_when_dropped: Arc<watch::Sender<()>>,
}

impl ChildHandle {
    /// Its process id, which is also that of its group.
    pub fn pid(&self) -> Option<u32> {
        self.led.and_then(|(leader, _)| u32::try_from(leader.as_raw_nonzero().get()).ok())
    }

    /// What descends from it and has left its group since, so that stopping it does not reach that. Empty where the system cannot tell.
    pub fn strays(&self) -> Vec<Stray> {
        self.pid().map(process_group::strays).unwrap_or_default()
    }

    /// Says what stopping it does not reach: what descends from it, and what carries its mark.
    async fn warn_of_strays(&self) {
        // At once, because only of a child that lives it can be told what descends from it.
        let mut strays = if self.exit_status().is_none() { self.strays() } else { Vec::new() };
        if let (Some(leader), Some((_, mark))) = (self.pid(), self.led) {
            strays.extend(marked::strays(leader, mark).await);
        }
        strays.sort_by_key(|stray| stray.pid);
        strays.dedup_by_key(|stray| stray.pid);
        for Stray { pid, name } in strays {
            let what = "a process has left the group of its server: it is out of reach";
            tracing::warn!(server = &*self.name, pid, program = name, "{what}");
        }
    }

    /// The end of what it wrote to stderr, its secrets covered.
    pub fn stderr_tail(&self) -> String {
        self.tail.text()
    }

    /// The time of the last output on stderr. `None` when there was none.
    pub fn last_wrote_to_stderr(&self) -> Option<Instant> {
        self.tail.written_at()
    }

    /// How it ended, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.has_ended.borrow()
    }

    /// Waits until it has ended.
    pub async fn ended(&self) -> Option<ExitStatus> {
        let mut has_ended = self.has_ended.clone();
        has_ended.wait_for(Option::is_some).await.ok().and_then(|status| *status)
    }

    /// How many bytes it has written to its stdout so far: a sign of life, whatever they say.
    pub fn bytes_heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// Whether it has read all that was written to its stdin: one that has not is still starting. `None` where the system cannot tell.
    pub fn has_read_everything(&self) -> Option<bool> {
        let stdin = lock(&self.stdin.0);
        Some(rustix::io::ioctl_fionread(stdin.as_ref()?).ok()? == 0)
    }
}

/// Why the stream of a child ended.
struct Ending {
    tail: StderrTail,
    has_ended: watch::Receiver<Option<ExitStatus>>,
}

impl Ending {
    async fn explain(mut self) -> String {
        let waited = tokio::time::timeout(EXIT_STATUS_WAIT, self.has_ended.wait_for(Option::is_some)).await;
        let what = match waited {
            Ok(Ok(status)) => {
                status.map_or_else(|| "the server ended".to_owned(), |status| format!("the server ended with {status}"))
            }
            _ => "the server closed its stdout".to_owned(),
        };
        what + &last_words(&self.tail.text())
    }
}

struct ChildLink {
    stream: Arc<dyn Link>,
    handle: ChildHandle,
}

impl Link for ChildLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        self.stream.send(outgoing)
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        self.stream.try_send(outgoing)
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let ending = async {
                self.stream.close().await; // Closes stdin once everything is written.
                self.handle._stop_when_dropped.send_replace(());
                self.handle.ended().await;
            };
            // The look begins first.
            tokio::join!(biased; self.handle.warn_of_strays(), ending);
        })
    }
}

/// The one that owns the process, sees it end, and ends its group.
struct Supervisor {
    child: Child,
    group: Option<ProcessGroup>,
    grace: Duration,
    ended: watch::Sender<Option<ExitStatus>>,
    stop: watch::Receiver<()>,
    draining: JoinHandle<()>,
}

impl Supervisor {
    async fn run(mut self) {
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            _ = self.stop.changed() => {
                // Asked to stop, or nobody is left: stdin is closed, so it should leave by itself.
                let leaving = tokio::time::timeout(self.grace, self.child.wait()).await;
                match leaving {
                    Ok(status) => status.ok(),
                    Err(_) => self.terminate().await,
                }
            }
        };
        if let Some(group) = &self.group {
            group.end(self.grace).await;
        }
        let _stderr_is_inherited_elsewhere = tokio::time::timeout(STDERR_WAIT, &mut self.draining).await.is_err();
        self.group = None;
        self.ended.send_replace(Some(status.unwrap_or_default()));
    }

    async fn terminate(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::TERM);
        if let Ok(status) = tokio::time::timeout(self.grace, self.child.wait()).await {
            return status.ok();
        }
        self.signal(Signal::KILL);
        self.child.wait().await.ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = &self.group {
            group.signal(signal);
        }
    }
}

impl Drop for Supervisor {
    /// The runtime went down before the child did.
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.draining.abort();
    }
}

/// The child's stdin, shared so that it can be asked whether the child has read it all; closed when the writer is done.
#[derive(Debug, Clone)]
struct Stdin(Arc<Mutex<Option<ChildStdin>>>);

impl Stdin {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut ChildStdin>) -> Poll<std::io::Result<T>>) -> Poll<std::io::Result<T>> {
        match lock(&self.0).as_mut() {
            Some(stdin) => act(Pin::new(stdin)),
            None => Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.with(|stdin| stdin.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.with(|stdin| stdin.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        lock(&self.0).take();
        Poll::Ready(Ok(()))
    }
}

/// Waits until a child and its group have ended, or nobody is left to see it.
async fn ended_of(mut has_ended: watch::Receiver<Option<ExitStatus>>) {
    let _nobody_sees_it = has_ended.wait_for(Option::is_some).await.is_err();
}

/// The child's stdout, which counts what comes. It ends with the child, also where somebody who left its group holds it open.
struct Stdout {
    stdout: ChildStdout,
    heard: Arc<AtomicU64>,
    ended: Option<BoxFuture<'static, ()>>,
}

impl fmt::Debug for Stdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdout").field("heard", &self.heard).finish_non_exhaustive()
    }
}

impl AsyncRead for Stdout {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stdout).poll_read(cx, into);
        self.heard.fetch_add((into.filled().len() - before) as u64, Ordering::Relaxed);
        if read.is_pending() && self.ended.as_mut().is_none_or(|ended| ended.as_mut().poll(cx).is_ready()) {
            self.ended = None; // All that it wrote has been read.
            return Poll::Ready(Ok(()));
        }
        read
    }
}
