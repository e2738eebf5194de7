//! The runtime at work: listens, takes in requests, and ends when it is asked to, is told to by a signal, or has had nothing to do for a while.

mod lending;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as LeavingStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::geteuid;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{JoinError, JoinHandle};
use toolgate::{Clock as _, SystemClock};

use super::conditions::{Conditions, number};
use super::frames::{Errand, FrameReader, PROTOCOL, Request, ToClient, ToRuntime, VERSION, Wants};
use super::hosts::Hosts;
use super::idle::{Activity, Busy, idle_for};
use super::memory;
use super::outbox::Outbox;
use super::place::Place;
use super::status::{HostStatus, RuntimeStatus};
use super::visit::Visit;
use crate::args::{self, Cli, Command, Typed};
use crate::commands;
use crate::exit_code::Ending;
use crate::interrupt::interrupted;
use crate::limits::{
    RUNTIME_CHANGE_MS, RUNTIME_CONNECTIONS_MAX, RUNTIME_LAST_WORDS_MS, RUNTIME_REQUEST_MS, RUNTIME_VISITS_MAX,
};
use crate::session::{self, Session};
use crate::talk::Listener as _;
use crate::warnings;

/// Threads that carry messages between servers and commands. Commands themselves have threads of their own.
const WORKERS: usize = 2;

/// How much is read from a program at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The right to be the runtime of a person, and the socket that shows it.
#[derive(Debug)]
pub(crate) struct Seat {
    listener: std::os::unix::net::UnixListener,
    place: Place,
    /// Which file the socket is: there may be that of somebody else one day.
    socket: Option<(u64, u64)>,
    /// Held for as long as it lives.
    lock: File,
}

impl Seat {
    /// Takes the seat; nothing when somebody sits there.
    pub(crate) fn take(place: Place) -> io::Result<Option<Self>> {
        place.prepare()?;
        let lock =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(place.lock())?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        // For whoever wants to end it and gets no answer.
        lock.set_len(0)?;
        (&lock).write_all(format!("{}\n", std::process::id()).as_bytes())?;
        // Whoever left it there has no lock any more.
        match std::fs::remove_file(place.socket()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = std::os::unix::net::UnixListener::bind(place.socket())?;
        std::fs::set_permissions(place.socket(), std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let socket = number(place.socket());
        Ok(Some(Self { listener, place, socket, lock }))
    }
}

/// The runtime.
#[derive(Debug)]
struct Runtime {
    /// Where the person whose runtime it is keeps settings.
    user: PathBuf,
    /// What it runs under, and all that it starts.
    conditions: Conditions,
    hosts: Arc<Hosts>,
    started: Instant,
    activity: watch::Sender<Activity>,
    /// Places for commands.
    places: Semaphore,
    /// Places for whoever is connected, whatever they want.
    connections: Arc<Semaphore>,
    /// Turned on when it ends.
    ends: watch::Sender<bool>,
    /// Somebody asked for the end.
    asked_to_end: Notify,
    /// Those who wait for it: they see the end when it is there.
    leaving: Mutex<Vec<LeavingStream>>,
}

/// Works until the end. `announce` is called when it can be reached.
pub(crate) fn serve(seat: Seat, user: PathBuf, idle: Duration, announce: impl FnOnce()) -> io::Result<()> {
    let Seat { listener, place, socket, lock } = seat;
    let conditions = session::conditions();
    let workers = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()?;
    let runtime = Arc::new(Runtime {
        user,
        conditions,
        hosts: Arc::default(),
        started: Instant::now(),
        activity: watch::Sender::new(Activity::default()),
        places: Semaphore::new(RUNTIME_VISITS_MAX),
        connections: Arc::new(Semaphore::new(RUNTIME_CONNECTIONS_MAX)),
        ends: watch::Sender::new(false),
        asked_to_end: Notify::new(),
        leaving: Mutex::default(),
    });
    let leaving = workers.block_on(async {
        let listener = UnixListener::from_std(listener)?;
        announce();
        let tidying = tokio::spawn(tidy(runtime.hosts.clone(), idle));
        runtime.clone().listen(&listener, idle).await;
        tidying.abort();
        drop(listener);
        let _gone = number(place.socket()) == socket && std::fs::remove_file(place.socket()).is_ok();
        runtime.end().await;
        let leaving = std::mem::take(&mut *runtime.leaving.lock().unwrap_or_else(PoisonError::into_inner));
        io::Result::Ok(leaving)
    })?;
    workers.shutdown_timeout(Duration::from_millis(RUNTIME_CHANGE_MS / 4));
    // Whoever waits for the end may take the seat at once.
    drop(lock);
    drop(leaving);
    Ok(())
}

impl Runtime {
    /// Takes in whoever comes, until it is time to end.
    async fn listen(self: Arc<Self>, listener: &UnixListener, idle: Duration) {
        let mut signalled = std::pin::pin!(interrupted());
        let mut bored = std::pin::pin!(idle_for(idle, self.activity.subscribe()));
        loop {
            tokio::select! {
                came = listener.accept() => match came {
                    Ok((stream, _)) => self.clone().let_in(stream),
                    // Too many files are open, or the like: others have to end first.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                () = self.asked_to_end.notified() => return,
                () = &mut signalled => return,
                () = &mut bored => return,
            }
        }
    }

    /// Cancels what is being done, and ends every server.
    async fn end(&self) {
        self.ends.send_replace(true);
        let mut activity = self.activity.subscribe();
        let limit = Duration::from_millis(RUNTIME_CHANGE_MS / 4);
        let all_done = activity.wait_for(|activity| activity.running == 0);
        let _in_time = tokio::time::timeout(limit, all_done).await.is_ok();
        let _in_time = tokio::time::timeout(limit, self.hosts.shutdown()).await.is_ok();
    }

    /// Whoever finds no place is sent away at once, and does without the runtime.
    fn let_in(self: Arc<Self>, stream: UnixStream) {
        if let Ok(place) = self.connections.clone().try_acquire_owned() {
            tokio::spawn(async move {
                self.receive(stream).await;
                drop(place);
            });
        }
    }

    /// One connection, from its request to its end.
    async fn receive(self: Arc<Self>, stream: UnixStream) {
        let is_owner = stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        if !is_owner {
            return;
        }
        let (from, mut to) = stream.into_split();
        let mut frames = Incoming { from, reader: FrameReader::default(), piece: vec![0; PIECE_BYTES] };
        let limit = Duration::from_millis(RUNTIME_REQUEST_MS);
        let Ok(Some(ToRuntime::Request(request))) = tokio::time::timeout(limit, frames.next()).await else { return };
        let Request { protocol, version, wants } = *request;
        match wants {
            _ if protocol != PROTOCOL => send(&mut to, &ToClient::Yourself).await,
            Wants::Run(_) | Wants::Borrow(_) if version != VERSION => send(&mut to, &ToClient::Yourself).await,
            Wants::Run(errand) => self.run(*errand, frames, to).await,
            Wants::Borrow(borrowing) => self.lend(*borrowing, frames, to).await,
            Wants::Status(of_asker) => {
                // The files of the system are read for it.
                let status = tokio::task::spawn_blocking(move || self.status(&of_asker)).await.ok();
                send(&mut to, &ToClient::Answer(serde_json::to_value(status).unwrap_or_default())).await;
            }
            Wants::Refresh(only) => {
                let folders: Vec<String> = self.refresh(only.as_deref());
                send(&mut to, &ToClient::Answer(folders.into())).await;
            }
            Wants::Leave(folder) => {
                self.hosts.end_in(&folder);
                send(&mut to, &ToClient::Answer(serde_json::Value::Null)).await;
            }
            Wants::Down => {
                send(&mut to, &ToClient::Answer(std::process::id().into())).await;
                if let Some(stream) = frames.from.reunite(to).ok().and_then(|stream| stream.into_std().ok()) {
                    self.leaving.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
                }
                self.asked_to_end.notify_one();
            }
        }
    }

    /// Runs a command for whoever brought it, until it has ended and they have read all of it, or they are gone.
    async fn run(&self, errand: Errand, frames: Incoming, mut to: OwnedWriteHalf) {
        let _busy = Busy::new(&self.activity);
        let place = self.places.try_acquire().ok().filter(|_| !*self.ends.borrow());
        let (Some(_place), Some(cli)) = (place, self.command(&errand)) else {
            return send(&mut to, &ToClient::Yourself).await;
        };
        // Before this is said nothing is done: whoever does not hear it may run the command themselves.
        if to.write_all(&ToClient::Taken.bytes()).await.is_err() {
            return;
        }
        let outbox = Arc::new(Outbox::default());
        let visit = Arc::new(Visit::new(errand.into(), outbox.clone(), self.hosts.clone()));
        let mut sending = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send_to(to).await }
        });
        let working = tokio::task::spawn_blocking({
            let (visit, outbox) = (visit.clone(), outbox.clone());
            move || work(cli, &visit, &outbox)
        });
        let worked = self.listen_to(&visit, frames, working, &outbox).await;
        // Servers that still ask something get no answer any more.
        visit.stop();
        if worked.is_err() {
            outbox.hears("error: the runtime could not finish this command");
            outbox.end(&ToClient::End(Ending::Unreachable.code()));
        }
        // Whoever reads slowly, or has put a pager behind it, gets all of it; at the end they are not waited for.
        let mut ends = self.ends.subscribe();
        let has_left = async {
            ended(&mut ends).await;
            tokio::time::sleep(Duration::from_millis(RUNTIME_LAST_WORDS_MS)).await;
        };
        tokio::select! {
            _ = &mut sending => {}
            () = has_left => sending.abort(),
        }
    }

    /// Takes in what whoever brought a command says, until it has ended.
    async fn listen_to(
        &self,
        visit: &Visit,
        mut frames: Incoming,
        mut working: JoinHandle<()>,
        outbox: &Outbox,
    ) -> Result<(), JoinError> {
        let mut ends = self.ends.subscribe();
        let (mut is_there, mut is_ending) = (true, false);
        loop {
            tokio::select! {
                worked = &mut working => return worked,
                frame = frames.next(), if is_there => match frame {
                    Some(frame) => visit.hear(frame).await,
                    None => {
                        is_there = false;
                        visit.stop();
                        outbox.close();
                    }
                },
                () = ended(&mut ends), if !is_ending => {
                    is_ending = true;
                    visit.stop();
                }
            }
        }
    }

    /// What was typed, when whoever typed it would do the same as is done here.
    fn typed(&self, errand: &Errand) -> Option<Cli> {
        let is_of_owner = session::user_folder(&errand.vars) == self.user;
        let is_same_folder =
            errand.folder_number.is_some() && errand.folder_number == number(Path::new(&errand.folder));
        if !is_of_owner || !is_same_folder || !self.conditions.are_good_for(&errand.conditions) {
            return None;
        }
        let Typed::Run(cli) = args::parse(errand.words.iter().map(Into::into)) else { return None };
        // The wire is shown by whoever has it, and that is not one of many who share it.
        (!cli.options.debug).then_some(*cli)
    }

    /// The command that was brought, when it is one that is run here.
    fn command(&self, errand: &Errand) -> Option<Cli> {
        let cli = self.typed(errand)?;
        let is_shared = matches!(
            cli.command,
            Some(Command::Call(_))
                | Some(Command::Tools(_))
                | Some(Command::Prompts(_))
                | Some(Command::Prompt(_))
                | Some(Command::Resources(_))
                | Some(Command::Read(_))
        );
        is_shared.then_some(cli)
    }

    fn status(&self, of_asker: &Conditions) -> RuntimeStatus {
        let pid = std::process::id();
        let Activity { running, requests } = *self.activity.borrow();
        let groups = memory::of_groups();
        RuntimeStatus {
            pid,
            version: VERSION.to_owned(),
            up_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            serves: self.conditions.are_good_for(of_asker),
            requests,
            running,
            memory_bytes: memory::of_process(pid),
            hosts: self.hosts.all().iter().map(|kept| HostStatus::of(kept, SystemClock.now(), &groups)).collect(),
        }
    }

    /// Has the servers of all hosts, or those of that name, list anew what they offer. The folders of the hosts.
    fn refresh(&self, only: Option<&str>) -> Vec<String> {
        let all = self.hosts.all();
        for kept in &all {
            match only {
                Some(server) => kept.host.line(server).into_iter().for_each(|line| line.refresh()),
                None => kept.host.refresh(),
            }
        }
        all.iter().map(|kept| kept.context.folder.display().to_string()).collect()
    }
}

/// Ends servers that nobody has used for that long, while others are.
async fn tidy(hosts: Arc<Hosts>, idle: Duration) {
    loop {
        tokio::time::sleep(idle / 2).await;
        hosts.end_unused(idle);
    }
}

/// Runs a command to its end. Blocks.
fn work(cli: Cli, visit: &Arc<Visit>, outbox: &Outbox) {
    let mut session = Session::visiting(cli.options, visit.clone());
    let talk = session.printer.talk().clone();
    let ending =
        warnings::of_work(&talk, || cli.command.map_or(Ending::Usage, |command| commands::run(&mut session, command)));
    if ending == Ending::Untrusted {
        visit.hosts().end_in(&visit.world().folder);
    }
    outbox.end(&visit.last_frame(ending.code()));
}

/// Waits until the runtime ends.
async fn ended(ends: &mut watch::Receiver<bool>) {
    let _known = ends.wait_for(|ends| *ends).await.is_ok();
}

/// Says one thing. Whoever is gone, or does not read it, needs no answer.
async fn send(to: &mut OwnedWriteHalf, frame: &ToClient) {
    let bytes = frame.bytes();
    let limit = Duration::from_millis(RUNTIME_REQUEST_MS);
    let _sent = tokio::time::timeout(limit, to.write_all(&bytes)).await.is_ok();
}

/// What a program says.
struct Incoming {
    from: OwnedReadHalf,
    reader: FrameReader,
    piece: Vec<u8>,
}

impl Incoming {
    /// The next frame; nothing when the program is gone, or says what nobody understands.
    async fn next(&mut self) -> Option<ToRuntime> {
        loop {
            match self.reader.next() {
                Ok(Some(frame)) => return Some(frame),
                Ok(None) => {}
                Err(bad) => {
                    tracing::warn!("a program was sent away: {bad}");
                    return None;
                }
            }
            match self.from.read(&mut self.piece).await {
                Ok(count @ 1..) => self.reader.take(self.piece.get(..count)?),
                Ok(0) | Err(_) => return None,
            }
        }
    }
}
