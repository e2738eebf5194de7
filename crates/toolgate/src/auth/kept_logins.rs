//! The kept logins for those who must not wait for a disk or a keychain: every access in a thread of its own.

use std::sync::Arc;
use std::time::Duration;

use super::login::{ClientIdentity, Login};
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

    /// Keeps a registered client.
    pub(crate) async fn put_client(&self, client: ClientIdentity) -> Result<()> {
        self.with(move |store| store.put_client(&client)).await
    }
}
