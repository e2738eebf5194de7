//! `Visit`: one command that somebody brought to the runtime, as the command sees it. What it prints, says and asks goes to whoever brought it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;
use toolgate::{Elicitation, ElicitationAnswer, ServerName};

use super::frames::{Errand, ToClient, ToRuntime};
use super::hosts::Hosts;
use super::outbox::{Outbox, Results};
use super::server_question::{AnsweredServer, ServerAnswer, ServerQuestion};
use crate::confirm::{AskedQuestion, Look, Picked, choices, meaning};
use crate::interrupt::Interrupts;
use crate::limits::SERVER_QUESTIONS_MAX;
use crate::printer::{Form, Printer};
use crate::talk::Talk;
use crate::terminal::{Paint, Terminal};

/// Pieces of stdin that wait to be read.
const STDIN_PIECES: usize = 4;

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

/// One command that somebody brought.
#[derive(Debug)]
pub(crate) struct Visit {
    outbox: Arc<Outbox>,
    hosts: Arc<Hosts>,
    /// Turned on when whoever brought it wants it to stop, or is gone.
    stop: watch::Sender<bool>,
    /// Who waits for the answer to a question.
    asks: Mutex<Option<oneshot::Sender<Picked>>>,
    /// Who waits for answers to questions of servers.
    server_asks: Mutex<HashMap<u64, oneshot::Sender<AnsweredServer>>>,
    server_questions: AtomicU64,
    /// Where what stands in stdin goes, once the command wants it.
    stdin: Mutex<Option<mpsc::Sender<Piece>>>,
    is_handed_back: AtomicBool,
    world: World,
}

/// The world of whoever brought a command.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// Their environment.
    pub(crate) vars: BTreeMap<String, String>,
    /// The folder they are in.
    pub(crate) folder: PathBuf,
    /// What their streams are.
    pub(crate) terminal: Terminal,
    /// How wide the terminal is on which they are asked.
    talk_columns: usize,
}

impl From<Errand> for World {
    fn from(errand: Errand) -> Self {
        let Errand { vars, folder, terminal, talk_columns, .. } = errand;
        Self { vars, folder: folder.into(), terminal, talk_columns: talk_columns.unwrap_or(COLUMNS) }
    }
}

/// A piece of stdin; nothing at its end.
type Piece = io::Result<Vec<u8>>;

impl Visit {
    /// A command in that world. What is for whoever brought it is put into the outbox.
    pub(crate) fn new(world: World, outbox: Arc<Outbox>, hosts: Arc<Hosts>) -> Self {
        let (stop, asks, is_handed_back) = (watch::Sender::new(false), Mutex::default(), AtomicBool::new(false));
        let (server_asks, server_questions, stdin) = (Mutex::default(), AtomicU64::new(0), Mutex::default());
        Self { outbox, hosts, stop, asks, server_asks, server_questions, stdin, is_handed_back, world }
    }

    /// The world of whoever brought it.
    pub(crate) const fn world(&self) -> &World {
        &self.world
    }

    /// The hosts that are shared.
    pub(crate) const fn hosts(&self) -> &Arc<Hosts> {
        &self.hosts
    }

    /// Where the command prints.
    pub(crate) fn printer(&self, form: Form, terminal: Terminal) -> Printer {
        let talk = Talk::to(self.outbox.clone(), &terminal);
        Printer::to(form, terminal, talk, Box::new(Results(self.outbox.clone())))
    }

    /// Who may want the command to stop.
    pub(crate) fn interrupts(&self) -> Interrupts {
        Interrupts::Elsewhere(self.stop.subscribe())
    }

    /// Gives the command back to whoever brought it: it needs their terminal. False when they have been told something of it already.
    pub(crate) fn hand_back(&self) -> bool {
        let can = !self.outbox.has_begun();
        self.is_handed_back.fetch_or(can, Ordering::Relaxed);
        can
    }

    /// The last frame, when the command ended so.
    pub(crate) fn last_frame(&self, code: u8) -> ToClient {
        if self.is_handed_back.load(Ordering::Relaxed) { ToClient::Yourself } else { ToClient::End(code) }
    }

    /// Nobody waits for it any more, or they want it to stop. Whatever it waits for from them does not come.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
        drop(lock(&self.asks).take());
        drop(lock(&self.stdin).take());
        lock(&self.server_asks).clear();
    }

    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Puts a question of a server to whoever brought the command.
    pub(crate) async fn answer_server(&self, server: &ServerName, question: Elicitation) -> ElicitationAnswer {
        let id = self.server_questions.fetch_add(1, Ordering::Relaxed);
        let (answers, answer) = oneshot::channel();
        let has_room = {
            let mut asks = lock(&self.server_asks);
            asks.retain(|_, asks| !asks.is_closed());
            let has_room = asks.len() < SERVER_QUESTIONS_MAX;
            asks.insert(id, answers);
            has_room
        };
        let is_asked =
            has_room && self.outbox.ask(&ToClient::ServerQuestion(ServerQuestion::new(id, server, question)));
        // Whoever stopped it before did not see this one.
        if !is_asked || self.is_stopped() {
            lock(&self.server_asks).remove(&id);
        }
        answer.await.map_or(ElicitationAnswer::Cancel, Into::into)
    }

    /// Takes in what whoever brought it says.
    pub(crate) async fn hear(&self, frame: ToRuntime) {
        match frame {
            ToRuntime::Answer(picked) => {
                let asks = lock(&self.asks).take();
                // A question that was given up needs no answer.
                let _wanted = asks.is_some_and(|asks| asks.send(picked).is_ok());
            }
            ToRuntime::ServerAnswer(ServerAnswer { id, answer }) => {
                let asks = lock(&self.server_asks).remove(&id);
                let _wanted = asks.is_some_and(|asks| asks.send(answer).is_ok());
            }
            ToRuntime::Interrupt => self.stop(),
            ToRuntime::Stdin(piece) => self.feed(Ok(piece)).await,
            ToRuntime::StdinEnd(None) => self.feed(Ok(Vec::new())).await,
            ToRuntime::StdinEnd(Some(reason)) => self.feed(Err(io::Error::other(reason))).await,
            // There is one request, and it came first.
            ToRuntime::Request(_) => {}
        }
    }

    /// What nobody asked for, or needs any more, is not kept.
    async fn feed(&self, piece: Piece) {
        let wants = lock(&self.stdin).clone();
        let _wanted = match wants {
            Some(wants) => wants.send(piece).await.is_ok(),
            None => false,
        };
    }

    /// What stands in the stdin of whoever brought the command. Blocks, and must not be read within the runtime.
    pub(crate) fn stdin(&self) -> VisitorStdin {
        let (from, to) = mpsc::channel(STDIN_PIECES);
        lock(&self.stdin).replace(from);
        // Whoever stopped it before did not see this one.
        if !self.outbox.ask_for_stdin() || self.is_stopped() {
            drop(lock(&self.stdin).take());
        }
        VisitorStdin { to, piece: io::Cursor::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stands in the stdin of whoever brought a command.
#[derive(Debug)]
pub(crate) struct VisitorStdin {
    to: mpsc::Receiver<Piece>,
    piece: io::Cursor<Vec<u8>>,
}

impl io::Read for VisitorStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(buffer)?;
        if read > 0 {
            return Ok(read);
        }
        // That nothing comes any more is not the end of it: half of what was meant must not be taken for all.
        let piece = self.to.blocking_recv().unwrap_or_else(|| Err(io::ErrorKind::ConnectionAborted.into()));
        self.piece = io::Cursor::new(piece?);
        self.piece.read(buffer)
    }
}

/// The person at the terminal of whoever brought a command.
#[derive(Debug)]
pub(crate) struct VisitorConfirms {
    visit: Arc<Visit>,
    paint: Paint,
}

impl VisitorConfirms {
    /// Whoever brought it, with a terminal that is coloured like that.
    pub(crate) const fn new(visit: Arc<Visit>, paint: Paint) -> Self {
        Self { visit, paint }
    }
}

impl Confirmer for VisitorConfirms {
    fn confirm(&self, mut question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        // The session ends with the command.
        let is_of_session = |one: &Remember| matches!(one, Remember::ToolThisSession | Remember::ServerThisSession);
        question.choices.retain(|remember| !is_of_session(remember));
        let choices = choices(&question);
        let look = Look { columns: self.visit.world.talk_columns, paint: self.paint };
        let asked = AskedQuestion::new(&question, &choices, look);
        let (answers, answer) = oneshot::channel();
        lock(&self.visit.asks).replace(answers);
        if !self.visit.outbox.ask(&ToClient::Question(asked)) || self.visit.is_stopped() {
            drop(lock(&self.visit.asks).take());
        }
        Box::pin(async move {
            match answer.await {
                Ok(picked) => meaning(&choices, picked),
                // Whoever stops the command hears that it was stopped, and not that they said no.
                Err(_) if self.visit.is_stopped() => std::future::pending().await,
                Err(_) => meaning(&choices, Picked::default()),
            }
        })
    }
}

#[cfg(test)]
#[path = "visit_tests.rs"]
mod tests;
