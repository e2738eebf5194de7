//! `Logins`: all logins of a host. One [`ServerLogin`] per server, over the same kept logins and the same connections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::account::Account;
use super::dpop::Nonces;
use super::fetch::Pools;
use super::kept_logins::KeptLogins;
use super::renewer::Renewer;
use super::server_login::ServerLogin;
use super::store::{LoginKey, LoginStore, TokenStore};
use crate::env::HostEnv;
use crate::server_name::ServerName;

/// All logins of a host.
#[derive(Debug)]
pub(crate) struct Logins {
    env: Arc<HostEnv>,
    kept: KeptLogins,
    nonces: Arc<Nonces>,
    servers: Mutex<BTreeMap<LoginKey, Arc<ServerLogin>>>,
}

impl Logins {
    pub(crate) fn new(env: Arc<HostEnv>, store: TokenStore) -> Self {
        let kept = KeptLogins(Arc::new(LoginStore::open(env.clone(), store)));
        Self { env, kept, nonces: Arc::default(), servers: Mutex::default() }
    }

    /// The kept logins.
    pub(crate) const fn kept(&self) -> &KeptLogins {
        &self.kept
    }

    /// The login of a server. The same one every time, unless something was changed about it.
    pub(crate) fn of(&self, account: Account, pools: impl FnOnce() -> Pools) -> Arc<ServerLogin> {
        let key = LoginKey::new(&account.server, &account.url);
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = servers.get(&key).filter(|there| *there.account() == account) {
            return there.clone();
        }
        let renewer = Renewer::new(self.env.clone(), account, pools(), self.nonces.clone(), self.kept.clone());
        let login = Arc::new(ServerLogin::new(self.kept.clone(), renewer));
        servers.insert(key, login.clone());
        login
    }

    /// The servers whose login somebody else has changed. What cannot be read now is looked at when it is needed.
    pub(crate) async fn changed(&self) -> Vec<ServerName> {
        let servers: Vec<_> = self.servers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let mut changed = Vec::new();
        for login in servers {
            if login.keeper().has_changed().await.unwrap_or(true) {
                changed.push(login.account().server.clone());
            }
        }
        changed
    }

    /// Waits for renewals that are on their way: whoever ended now could lose a refresh token that is good for one use.
    pub(crate) async fn settle(&self) {
        let servers: Vec<_> = self.servers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        futures_util::future::join_all(servers.iter().map(|login| login.keeper().settle())).await;
    }
}
