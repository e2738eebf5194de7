//! A chaos server over streamable HTTP: sessions, answers as JSON or as events, and connections that break at every point.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::asked::Asked;
use super::dice::Dice;
use super::fault::{ChaosFault, Mishap, Way};
use super::http_answer::Writer;
use super::plan::ChaosPlan;
use super::state::{Chaos, stop_this_process};
use crate::guarded::Guarded;
use crate::http::body::After;
use crate::http::request::{Request, RequestReader};
use crate::limits::{CHAOS_DELAY_MS_MAX, CHAOS_LISTEN_ATTEMPTS_MAX, CHAOS_RESTART_MS};

/// A chaos server that listens, and serves when it is told to.
#[derive(Debug)]
pub struct ChaosHttp {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    chaos: Chaos,
    sessions: Guarded<HashSet<String>>,
    given: AtomicU64,
    heads: AtomicU64,
    /// The ids of the calls that are being answered.
    waiting: Guarded<Vec<Value>>,
    /// Answers whose stream was cut, by the id of the event that came before.
    resumable: Guarded<HashMap<String, Value>>,
    starts_anew: Notify,
}

impl ChaosHttp {
    /// Listens on that port of the loopback interface; any, when it is 0.
    ///
    /// # Errors
    /// When the port stays taken, or the files of the plan cannot be written.
    pub async fn listen(plan: ChaosPlan, port: u16) -> io::Result<Self> {
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let address = listener.local_addr()?;
        let shared = Shared {
            chaos: Chaos::begin(plan, Way::Http)?,
            sessions: Guarded::default(),
            given: AtomicU64::new(0),
            heads: AtomicU64::new(0),
            waiting: Guarded::default(),
            resumable: Guarded::default(),
            starts_anew: Notify::new(),
        };
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }

    /// The endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves for ever.
    ///
    /// # Errors
    /// When it cannot listen again after it started anew.
    pub async fn serve(self) -> io::Result<()> {
        let Self { mut listener, address, shared } = self;
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(Arc::clone(&shared), stream));
                },
                Some(_) = connections.join_next(), if !connections.is_empty() => (),
                () = shared.starts_anew.notified() => {
                    drop(listener);
                    connections.shutdown().await;
                    shared.sessions.lock().clear();
                    tokio::time::sleep(Duration::from_millis(CHAOS_RESTART_MS)).await;
                    shared.chaos.begin_life()?;
                    listener = listen(address).await?;
                }
            }
        }
    }
}

/// Connections of the life before may hold the address for a while.
async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let mut attempts = 1;
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempts < CHAOS_LISTEN_ATTEMPTS_MAX => {
                attempts += 1;
                tokio::time::sleep(Duration::from_millis(CHAOS_RESTART_MS)).await;
            }
            other => return other,
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    let _nodelay = stream.set_nodelay(true).is_ok();
    let (read, write) = stream.into_split();
    let mut connection = Connection { shared: &shared, reader: RequestReader::new(read), writer: Writer(write) };
    let after = connection.run().await.unwrap_or(After::Close);
    if after == After::Reset {
        reset(connection.writer.0);
    }
}

fn reset(write: OwnedWriteHalf) {
    let _linger = write.as_ref().set_zero_linger().is_ok();
    // Dropped in the ordinary way the writing half would end the stream first.
    write.forget();
}

struct Connection<'a> {
    shared: &'a Shared,
    reader: RequestReader,
    writer: Writer,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<After> {
        while let Some(head) = self.reader.head().await? {
            if self.is_reset_early() {
                return Ok(After::Reset);
            }
            let request = self.reader.body(head).await?;
            let after = self.answer(&request).await?;
            if after != After::KeepOpen {
                return Ok(after);
            }
        }
        Ok(After::Close)
    }

    /// Whether the connection is reset before anybody knows what is asked for.
    fn is_reset_early(&self) -> bool {
        let chaos = &self.shared.chaos;
        let number = self.shared.heads.fetch_add(1, Ordering::SeqCst).to_string();
        let words = [chaos.plan.name.as_str(), "head", &number, &chaos.life().to_string()];
        let mut dice = Dice::about(chaos.plan.seed, &words);
        let only = &chaos.plan.only;
        let is_possible = only.is_empty() || only.contains(&ChaosFault::ResetBeforeReading);
        // As rare as any other fault of a request that is no call: what it strikes is not known yet.
        let is_reset = is_possible && dice.happens(chaos.plan.other_faults_per_mille) && !chaos.plan.calm.exists();
        if is_reset {
            chaos.note(ChaosFault::ResetBeforeReading);
        }
        is_reset
    }

    async fn answer(&mut self, request: &Request) -> io::Result<After> {
        match request.method.as_str() {
            "POST" => self.post(request).await,
            "GET" => self.resume(request).await,
            "DELETE" => self.writer.status(200).await,
            _ => self.writer.status(405).await,
        }
    }

    async fn post(&mut self, request: &Request) -> io::Result<After> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else { return self.writer.status(400).await };
        let begins = message.get("method").and_then(Value::as_str) == Some("initialize");
        let session = request.header("mcp-session-id");
        let is_known = self.shared.chaos.plan.is_modern
            || session.is_some_and(|session| self.shared.sessions.lock().contains(session));
        let Some(asked) = self.shared.chaos.read(&message) else {
            return self.writer.status(if is_known { 202 } else { 404 }).await;
        };
        // Only one request needs no session, and `server/discover` is answered as unknown.
        if !is_known && session.is_some() {
            return self.writer.status(404).await;
        }
        if !is_known && asked.nonce.is_some() {
            return self.writer.status(400).await;
        }
        let new_session = begins.then(|| self.new_session());
        self.shared.waiting.lock().push(asked.id.clone());
        let after = self.perform(&asked, session, new_session.as_deref()).await;
        self.shared.waiting.lock().retain(|id| *id != asked.id);
        after
    }

    fn new_session(&self) -> String {
        let number = self.shared.given.fetch_add(1, Ordering::SeqCst);
        let session = format!("life-{}-session-{number}", self.shared.chaos.life());
        self.shared.sessions.lock().insert(session.clone());
        session
    }

    async fn perform(&mut self, asked: &Asked, session: Option<&str>, new_session: Option<&str>) -> io::Result<After> {
        let chaos = &self.shared.chaos;
        let (mishap, mut dice) = chaos.mishap(asked);
        tokio::time::sleep(Duration::from_millis(dice.below(CHAOS_DELAY_MS_MAX))).await;
        let Some(Mishap { fault, executes_first }) = mishap else {
            chaos.execute(asked)?;
            return match dice.happens(500) {
                true => self.writer.events(std::slice::from_ref(&asked.answer), new_session).await,
                false => self.writer.json(&asked.answer, new_session).await,
            };
        };
        if executes_first {
            chaos.execute(asked)?;
        }
        match fault {
            ChaosFault::Exit => exit(),
            ChaosFault::Stop => {
                stop_this_process();
                if !executes_first {
                    chaos.execute(asked)?;
                }
                self.writer.json(&asked.answer, new_session).await
            }
            ChaosFault::ResetBeforeReading | ChaosFault::ResetBeforeExecuting | ChaosFault::ResetBeforeHead => {
                Ok(After::Reset)
            }
            ChaosFault::SessionLost => {
                session.map(|session| self.shared.sessions.lock().remove(session));
                self.writer.status(404).await
            }
            ChaosFault::ServerError => self.writer.status(500).await,
            ChaosFault::BadRequest => self.writer.status(400).await,
            ChaosFault::IdOfAnother => {
                let other = self.shared.waiting.lock().iter().find(|id| **id != asked.id).cloned();
                let answer = other.map_or_else(|| asked.answer_with_wrong_id(), |other| asked.answer_to(other));
                self.writer.json(&answer, new_session).await
            }
            ChaosFault::OtherTools => {
                self.shared.starts_anew.notify_one();
                Ok(After::Reset)
            }
            ChaosFault::Late => {
                tokio::time::sleep(Duration::from_millis(chaos.plan.late_ms)).await;
                self.writer.json(&asked.answer, new_session).await
            }
            ChaosFault::CutStream => self.cut_stream(asked, &mut dice, new_session).await,
            fault => self.writer.badly(asked, fault, &mut dice, new_session).await,
        }
    }

    /// Ends a stream before its answer. Half of them can be taken up again.
    async fn cut_stream(&mut self, asked: &Asked, dice: &mut Dice, new_session: Option<&str>) -> io::Result<After> {
        let event = dice.happens(500).then(|| format!("event-{:x}", dice.roll()));
        if let Some(event) = &event {
            self.shared.resumable.lock().insert(event.clone(), asked.answer.clone());
        }
        self.writer.cut_stream(event.as_deref(), new_session).await?;
        Ok(if dice.happens(500) { After::Reset } else { After::Close })
    }

    /// The rest of a stream that was cut; there are no other streams to get.
    async fn resume(&mut self, request: &Request) -> io::Result<After> {
        let event = request.header("last-event-id");
        let answer = event.and_then(|event| self.shared.resumable.lock().remove(event));
        match answer {
            Some(answer) => self.writer.events(&[answer], None).await,
            None => self.writer.status(405).await,
        }
    }
}

#[expect(clippy::exit, reason = "a server that dies in the middle of its work is what this is about")]
fn exit() -> ! {
    std::process::exit(3)
}
