//! How one server is opened: borrowed from whoever keeps it, or started or reached from here, with a login where it asks for one.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, watch};
use toolgate_wire::{
    Client, ConnectOptions, Endpoint, Error as WireError, HttpFailure, Patience, StillStarting, Tap, connect,
};

use super::{ConnectionManager, Wiring};
use crate::auth::ServerLogin;
use crate::connect::client_side::OurSide;
use crate::connect::connection::{Connection, Inner};
use crate::connect::denied::with_env_hint;
use crate::connect::status::ServerStatus;
use crate::error::{Error, Result};
use crate::limits::LOGINS_FOR_REQUEST_MAX;
use crate::servers::{ServerConfig, TransportConfig};
use crate::transport::Opened;

impl ConnectionManager {
    /// The error comes with the end of what the server wrote to stderr.
    pub(super) async fn open_now(&self, config: &Arc<ServerConfig>) -> Result<Connection, (Error, String)> {
        let started = Instant::now();
        let Wiring { env, front_end, tap, .. } = &self.wiring;
        let side = OurSide::new(config.name.clone(), env.clone(), front_end.clone());
        let (changed, given_up) = (side.changed.clone(), side.given_up.clone());
        let mut options = ConnectOptions::new(Arc::new(side));
        options.limit = config.start_limit.limit;
        options.patience = config.start_limit.while_busy.map(|limit| {
            let (server, front_end) = (config.name.clone(), front_end.clone());
            let told: StillStarting = Arc::new(move |line| front_end.still_starting(&server, line, limit));
            Patience { limit, silence: config.start_limit.limit, told: Some(told) }
        });
        // What a server offers in its next session is looked at before anything is asked of it.
        options.renews_sessions = false;
        options.tap = tap.clone().map(|tap| -> Tap {
            let server = config.name.clone();
            Arc::new(move |direction, frame| tap(&server, direction, frame))
        });
        let (client, login) = match self.borrow(config, &options).await {
            Some(client) => (client, None),
            None => self.open_itself(config, options).await?,
        };
        let (config, front_end, took) = (config.clone(), front_end.clone(), started.elapsed());
        let (running, suspected) = (watch::Sender::new(0), Notify::new());
        Ok(Connection::new(Inner { config, client, front_end, login, took, changed, running, given_up, suspected }))
    }

    /// A server that somebody keeps who lends it. What cannot be used is started here instead.
    async fn borrow(&self, config: &Arc<ServerConfig>, options: &ConnectOptions) -> Option<Client> {
        let TransportConfig::Stdio(_) = &config.transport else { return None };
        let lent = self.wiring.lender.as_ref()?.lend(config);
        let endpoint = tokio::time::timeout(config.connect_timeout, lent).await.ok()??;
        connect(endpoint, options.clone()).await.ok()
    }

    /// A server of our own, and who can log in to it.
    async fn open_itself(
        &self,
        config: &Arc<ServerConfig>,
        options: ConnectOptions,
    ) -> Result<(Client, Option<Arc<ServerLogin>>), (Error, String)> {
        let child = options.child.clone();
        let Opened { mut endpoint, login } = self.opener.open(config).await.map_err(|error| (error, String::new()))?;
        let mut logins = 0;
        loop {
            let again = again(&endpoint);
            let error = match connect(endpoint, options.clone()).await {
                Ok(client) => return Ok((client, login)),
                Err(error) => error,
            };
            logins += 1;
            match (&error, &login, again) {
                (WireError::LoginNeeded(failure), Some(login), Some(again))
                    if logins <= LOGINS_FOR_REQUEST_MAX && self.logs_in(config, login, failure).await? =>
                {
                    endpoint = again;
                }
                _ => {
                    let child = child.lock().unwrap_or_else(PoisonError::into_inner).take();
                    let last_words = child.map(|child| child.stderr_tail()).unwrap_or_default();
                    return Err((with_time_hint(config, error, &last_words), last_words));
                }
            }
        }
    }

    /// Whether the person logged in to a server that asked for it, so that it is worth trying again.
    async fn logs_in(
        &self,
        config: &Arc<ServerConfig>,
        login: &ServerLogin,
        failure: &HttpFailure,
    ) -> Result<bool, (Error, String)> {
        let guide = self.wiring.front_end.login_guide();
        if guide.is_none() {
            return Ok(false);
        }
        self.change(config, ServerStatus::NeedsLogin, |_| ());
        // A login takes a lot of room, which connections that need none do without.
        let helped = Box::pin(login.helps(failure, guide.as_deref())).await;
        self.change(config, ServerStatus::Connecting, |_| ());
        helped.map_err(|error| (error.about(&config.name), String::new()))
    }
}

/// The error of a failed connection. If the server was too slow, the hint names the keys that give it more time.
fn with_time_hint(config: &ServerConfig, error: WireError, last_words: &str) -> Error {
    let is_slow = matches!(error, WireError::NotAnswering { .. });
    let error = with_env_hint(config, Error::of_server(&config.name, error), last_words);
    if !is_slow || error.hint().is_some() {
        return error;
    }
    let name = &config.name;
    error.hinting(format!(
        "set a larger `connectTimeout` for `{name}`, or a larger `timeout` if it has no `connectTimeout`"
    ))
}

/// The same place once more; only an address can be gone to twice.
fn again(endpoint: &Endpoint) -> Option<Endpoint> {
    match endpoint {
        Endpoint::Url(http) => Some(Endpoint::Url(http.clone())),
        Endpoint::Http(http) => Some(Endpoint::Http(http.clone())),
        Endpoint::Sse(http) => Some(Endpoint::Sse(http.clone())),
        _ => None,
    }
}
