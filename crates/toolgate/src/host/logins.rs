//! What a front end does with the logins of a host: log in, log out, explain, carry them elsewhere.

use std::sync::Arc;

use super::Host;
use crate::auth::guide::LoginGuide;
use crate::auth::journal::Journal;
use crate::auth::store::{KeptLogin, LoginStore};
use crate::auth::{LoginWish, ServerLogin, explain};
use crate::error::{Error, ErrorKind, Result};
use crate::server_name::ServerName;
use crate::trust::AdmittedServers;

impl Host {
    /// Leads the person through a login to the one server in `server`, whether it asks for one or not. Every step is written into `journal`.
    ///
    /// # Errors
    /// When the login did not work.
    pub async fn log_in(
        &self,
        server: AdmittedServers,
        wish: &LoginWish,
        guide: &dyn LoginGuide,
        journal: &Journal,
    ) -> Result<KeptLogin> {
        let config = server.iter().next().cloned();
        let login = self.login_of(server).await?;
        login.log_in_unasked(wish, guide, journal).await?;
        // What the server offered to somebody else is not shown to whoever logged in.
        config.iter().for_each(|config| self.board.forget(config));
        let found = self.kept_logins()?.into_iter().find(|kept| login.is_kept_as(kept));
        found.ok_or_else(|| Error::new(ErrorKind::State, "the login was not kept").about(&login.account().server))
    }

    /// What a login to the one server in `server` would do and why, step by step. Nothing is changed, and nobody is asked.
    ///
    /// # Errors
    /// When the server cannot be logged in to.
    pub async fn explain_login(&self, server: AdmittedServers) -> Result<Journal> {
        let login = self.login_of(server).await?;
        Ok(explain::explain(&login).await)
    }

    /// All logins that are kept.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn kept_logins(&self) -> Result<Vec<KeptLogin>> {
        self.login_store().list()
    }

    /// Where logins are kept.
    pub fn login_store(&self) -> &LoginStore {
        &self.board.manager.logins().kept().0
    }

    /// The servers whose login another process has changed since this host looked at it, such as by logging out. It is not used any more; a
    /// connection that was made with it is for the caller to end.
    pub async fn changed_logins(&self) -> Vec<ServerName> {
        self.board.manager.logins().changed().await
    }

    async fn login_of(&self, server: AdmittedServers) -> Result<Arc<ServerLogin>> {
        match server.into_inner().as_slice() {
            [server] => self.board.manager.login_of(server).await,
            _ => Err(Error::new(ErrorKind::UnknownServer, "one server can be logged in to at a time")),
        }
    }
}
