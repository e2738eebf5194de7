//! `Connection`: one live server. It closes when the last clone is dropped.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use toolgate_wire::{Client, DefectKind, Error as WireError, Notification, SendMark};

use super::front_end::FrontEnd;
use super::status::Agreed;
use crate::auth::ServerLogin;
use crate::auth::server_login::untold;
use crate::error::Error;
use crate::limits::LOGINS_FOR_REQUEST_MAX;
use crate::server_name::ServerName;
use crate::servers::ServerConfig;

/// One live server. Cheap to clone.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

pub(super) struct Inner {
    pub(super) config: Arc<ServerConfig>,
    pub(super) client: Client,
    pub(super) front_end: Arc<dyn FrontEnd>,
    /// Who can log in to the server, where that is a thing to do.
    pub(super) login: Option<Arc<ServerLogin>>,
    pub(super) took: Duration,
    pub(super) changed: watch::Sender<Changed>,
    /// How many requests of ours wait for their answers.
    pub(super) running: watch::Sender<usize>,
    /// Why no new request is made on it, although it stands: the server has forgotten it, or cannot be reached any more.
    pub(super) given_up: watch::Sender<Option<WireError>>,
    /// Somebody waited for an answer in vain, and wants to know whether the server is still there.
    pub(super) suspected: Notify,
}

/// A request that runs: its connection is not retired under it.
#[derive(Debug)]
pub(crate) struct Running(Connection);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.running.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources and resource templates.
    Resources,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    /// The word for it, also the name of the capability.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }
}

/// How often each list was said to have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    times: [u64; 3],
}

impl Changed {
    pub(super) fn note(&mut self, kind: Kind) {
        let times = self.times.get_mut(kind as usize);
        times.into_iter().for_each(|times| *times += 1);
    }

    fn note_all(&mut self) {
        Kind::ALL.into_iter().for_each(|kind| self.note(kind));
    }

    pub(crate) fn times(&self, kind: Kind) -> u64 {
        self.times.get(kind as usize).copied().unwrap_or_default()
    }
}

impl Connection {
    pub(super) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// Whose connection it is.
    pub fn server(&self) -> &ServerName {
        &self.0.config.name
    }

    /// What the server is meant to be.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.0.config
    }

    /// The protocol below.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Tells the server that it may ask for the roots anew, where its version has a word for that.
    pub(crate) async fn tell_of_roots(&self) {
        let told = self.0.client.notify(Notification::new("notifications/roots/list_changed", None)).await;
        if let Err(error) = told {
            tracing::debug!(server = %self.server(), %error, "not told of other roots");
        }
    }

    pub(crate) fn front_end(&self) -> &Arc<dyn FrontEnd> {
        &self.0.front_end
    }

    /// Asks the server something. When it wants a login, or a better one, the person is led through it and the server is asked again: what it
    /// refused like that it has not done.
    pub(crate) async fn asks<T, A>(&self, ask: impl Fn() -> A) -> Result<T, WireError>
    where
        A: Future<Output = Result<T, WireError>>,
    {
        let mut logins = 0;
        loop {
            let answer = ask().await;
            answer.as_ref().err().filter(|error| self.says_session_is_lost(error)).inspect(|error| self.give_up(error));
            let (Err(WireError::LoginNeeded(failure)), Some(login)) = (&answer, &self.0.login) else { return answer };
            logins += 1;
            let guide = self.0.front_end.login_guide();
            if logins > LOGINS_FOR_REQUEST_MAX {
                return answer;
            }
            // A login takes minutes and a lot of room, which calls that need none do without.
            match Box::pin(login.helps(failure, guide.as_deref())).await {
                // Somebody else may be offered other things.
                Ok(true) => self.0.changed.send_modify(Changed::note_all),
                Ok(false) => return answer,
                Err(error) => return Err(untold(&error)),
            }
        }
    }

    /// Whether the server no longer knows the session. One that says so in an ordinary answer may have looked at the request: it is met anew, and
    /// the request has failed.
    fn says_session_is_lost(&self, error: &WireError) -> bool {
        match error {
            WireError::SessionLost(_) => true,
            WireError::Rpc(refusal) => self.0.client.has_session() && refusal.says_session_is_lost(),
            _ => false,
        }
    }

    /// Changes that the server announced since the connection was made, and those that a login may have made.
    pub(crate) fn changes(&self) -> watch::Receiver<Changed> {
        self.0.changed.subscribe()
    }

    /// What the server said about itself.
    pub fn agreed(&self) -> Agreed {
        let about = self.0.client.about();
        let (version, era) = (self.0.client.version(), self.0.client.era());
        Agreed { version, era, info: about.info, capabilities: about.capabilities, took: self.0.took }
    }

    /// The end of what the server wrote to stderr; empty when it is no child of ours.
    pub fn stderr_tail(&self) -> String {
        self.0.client.child().map(|child| child.stderr_tail()).unwrap_or_default()
    }

    /// Whether both are the same connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Says that a request runs, for as long as what is given lives.
    pub(crate) fn runs(&self) -> Running {
        self.0.running.send_modify(|count| *count += 1);
        Running(self.clone())
    }

    /// Closes when the requests that run have their answers, however long their own limits let them take.
    pub(crate) async fn retire(self) {
        let mut running = self.0.running.subscribe();
        // The sender lives in this very connection.
        let _idle = running.wait_for(|count| *count == 0).await.is_ok();
        self.client().close().await;
    }

    /// Whether requests can still be made on it.
    pub fn is_open(&self) -> bool {
        self.0.client.peer().close_reason().is_none() && self.0.given_up.borrow().is_none()
    }

    /// Waits until no new request can be made on it.
    pub(crate) async fn over(&self) {
        let mut given_up = self.0.given_up.subscribe();
        tokio::select! {
            _why = self.0.client.peer().closed() => {}
            _is_so = given_up.wait_for(Option::is_some) => {}
            () = self.falls_silent() => {}
        }
    }

    /// Says that somebody waited for an answer in vain. Whoever follows the connection asks the server whether it is still there.
    pub(crate) fn suspect(&self) {
        self.0.suspected.notify_one();
    }

    /// Gives the connection up when a server that was suspected says nothing for as long as connecting may take: neither to a ping, nor
    /// to anybody else.
    async fn falls_silent(&self) {
        let (client, limit) = (&self.0.client, self.0.config.connect_timeout);
        loop {
            self.0.suspected.notified().await;
            let before = client.peer().heard();
            let is_silent = tokio::time::timeout(limit, client.ping()).await.is_err();
            if is_silent && client.peer().heard() == before {
                let what = format!("the server has stopped answering: not even a ping within {limit:?}");
                return self.give_up(&WireError::Closed(what.into()));
            }
        }
    }

    /// Gives it up, for that reason: what runs on it goes on, what is new goes over the next one.
    pub(crate) fn give_up(&self, why: &WireError) {
        give_up(&self.0.given_up, why);
    }

    /// Gives it up when a request failed before it could leave: the server cannot be reached.
    pub(crate) fn failed_to_send(&self, error: &WireError, mark: &SendMark) {
        if matches!(error, WireError::Io { .. }) && !mark.is_sent() {
            self.give_up(error);
        }
    }

    /// Answers that came when nobody waited for them any more.
    pub(crate) fn late_answers(&self) -> u64 {
        self.0.client.peer().tally().of(DefectKind::LateResponse)
    }

    /// The process that is the server, when it is a child of ours.
    pub fn pid(&self) -> Option<u32> {
        self.0.client.child().and_then(|child| child.pid())
    }

    /// Why it ended, when it has.
    pub(crate) fn end(&self) -> Option<Error> {
        let why = self.0.client.peer().close_reason().or_else(|| self.0.given_up.borrow().clone());
        why.map(|why| self.failed(why))
    }

    /// A failure on this connection.
    pub(crate) fn failed(&self, error: WireError) -> Error {
        Error::of_server(self.server(), error)
    }
}

/// The first reason is the true one.
pub(super) fn give_up(given_up: &watch::Sender<Option<WireError>>, why: &WireError) {
    given_up.send_if_modified(|reason| {
        let is_first = reason.is_none();
        reason.get_or_insert_with(|| why.clone());
        is_first
    });
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", self.server()).field("client", &self.0.client).finish()
    }
}
