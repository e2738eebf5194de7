//! The kept logins for those who must not wait for a disk or a keychain: every access in a thread of its own.

use std::sync::Arc;
use std::time::Duration;

use super::login::{ClientIdentity, ClientOrigin, Login};
use super::store::{LoginKey, LoginStore};
use crate::apart::apart;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::LOGINS_FILE_MS;

/// The kept logins.
#[derive(Clone, Debug)]
pub(crate) struct KeptLogins(pub(crate) Arc<LoginStore>);

impl KeptLogins {
    /// Does something with them.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LoginStore) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.0.clone();
        let path = store.path().to_owned();
        apart(Duration::from_millis(LOGINS_FILE_MS), move || work(&store)).await.unwrap_or_else(|| {
            let what = format!("{}: the kept logins could not be read within {LOGINS_FILE_MS} ms", path.display());
            Err(Error::new(ErrorKind::State, what).hinting("perhaps the keychain asks for a password somewhere"))
        })
    }

    /// Keeps a login.
    pub(crate) async fn put(&self, key: &LoginKey, login: Login) -> Result<Login> {
        let key = key.clone();
        self.with(move |store| store.put(&key, login)).await
    }

    /// The client that is registered with an authorization server, for whatever redirect address.
    pub(crate) async fn client(&self, issuer: &str) -> Result<Option<ClientIdentity>> {
        let issuer = issuer.to_owned();
        self.with(move |store| store.client(&issuer, None)).await
    }

    /// Forgets a registered client that its authorization server does not know any more, so that the next login registers another.
    pub(crate) async fn forget_client(&self, client: &ClientIdentity) {
        if client.origin != ClientOrigin::Registered {
            return;
        }
        let (issuer, id) = (client.issuer.clone(), client.client_id.clone());
        let forgotten = self.with(move |store| {
            // Somebody else may have registered another meanwhile.
            let is_kept = store.client(&issuer, None)?.is_some_and(|kept| kept.client_id == id);
            if is_kept { store.remove_client(&issuer) } else { Ok(false) }
        });
        if let Err(error) = forgotten.await {
            tracing::warn!("{}: the registered client could not be forgotten: {error}", client.issuer);
        }
    }

    /// Keeps a registered client.
    pub(crate) async fn put_client(&self, client: ClientIdentity) -> Result<()> {
        self.with(move |store| store.put_client(&client)).await
    }
}
