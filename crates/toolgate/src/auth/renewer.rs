//! How the login of one server is renewed without a person: with its refresh token, or by a machine that logs in as itself.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use url::Url;

use super::account::{Account, GrantKind};
use super::challenge::Wants;
use super::discover::discover;
use super::dpop::{Nonces, ProofKey};
use super::fetch::{Fetcher, Pools};
use super::journal::{Journal, Step};
use super::kept_logins::KeptLogins;
use super::log_in::{proof_key, signing_key};
use super::login::{ClientIdentity, ClientOrigin, Login};
use super::machine::{self, IdentityProvider};
use super::register::{Choice, ClientRules, choose};
use super::renew::{Renew, RenewError};
use super::scopes::choose_scopes;
use super::token_request::{TokenEndpoint, Wanted};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind};

/// Renews the login of one server.
#[derive(Debug)]
pub(crate) struct Renewer {
    pub(crate) env: Arc<HostEnv>,
    pub(crate) account: Account,
    pub(crate) pools: Pools,
    pub(crate) nonces: Arc<Nonces>,
    kept: KeptLogins,
    /// What the server asked for last.
    wants: Mutex<Wants>,
    /// The steps of the last renewal.
    last: Mutex<Journal>,
}

impl Renew for Renewer {
    fn can_begin(&self) -> bool {
        !self.account.options.grant.needs_a_person()
    }

    fn renew<'a>(&'a self, old: Option<&'a Login>) -> BoxFuture<'a, Result<Login, RenewError>> {
        Box::pin(async move {
            let journal = Journal::default();
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = journal.clone();
            if !self.account.options.grant.needs_a_person() {
                return self.as_machine(old, &journal).await;
            }
            match old {
                Some(old) => self.refresh(old, &journal).await,
                None => Err(RenewError::NeedsPerson("nobody has logged in".to_owned())),
            }
        })
    }
}

impl Renewer {
    pub(crate) fn new(
        env: Arc<HostEnv>,
        account: Account,
        pools: Pools,
        nonces: Arc<Nonces>,
        kept: KeptLogins,
    ) -> Self {
        Self { env, account, pools, nonces, kept, wants: Mutex::default(), last: Mutex::default() }
    }

    /// Remembers what the server asked for.
    pub(crate) fn note(&self, wants: Wants) {
        *self.wants.lock().unwrap_or_else(PoisonError::into_inner) = wants;
    }

    /// What the server asked for last.
    pub(crate) fn wants(&self) -> Wants {
        self.wants.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The steps of the last renewal in this process.
    pub(crate) fn last_steps(&self) -> Vec<Step> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).steps()
    }

    /// Whoever asks on behalf of the server.
    pub(crate) async fn fetcher(&self) -> Fetcher {
        Fetcher::for_account(self.pools.clone(), &self.account).await
    }

    async fn refresh(&self, old: &Login, journal: &Journal) -> Result<Login, RenewError> {
        let unusable = |error: Error| RenewError::NeedsPerson(error.to_string());
        let url = Url::parse(&old.token_endpoint)
            .map_err(|_| RenewError::NeedsPerson("it is not known where the login can be renewed".to_owned()))?;
        let key = signing_key(&self.account).map_err(unusable)?;
        let proof = old.proof_key.as_ref().map(ProofKey::from_kept).transpose().map_err(unusable)?;
        let fetcher = self.fetcher().await;
        let client = self.client_of(old);
        let endpoint = TokenEndpoint {
            exchange: &fetcher,
            url: &url,
            issuer: &old.issuer,
            client: &client,
            key: key.as_ref(),
            proof: proof.as_ref(),
            nonces: &self.nonces,
            clock: &*self.env.clock,
            journal,
        };
        let audiences = &self.account.options.audiences;
        let wanted = Wanted { scopes: &[], audiences, resource: old.resource.as_deref() };
        match machine::refresh(&endpoint, old, &wanted).await {
            // What was given to a client that is not known any more is of no use to the next one.
            Err(error) if error.is_about_client() && client.origin == ClientOrigin::Registered => {
                self.kept.forget_client(&client).await;
                Err(RenewError::Ended(error.words))
            }
            renewed => Ok(renewed?),
        }
    }

    /// The client that the login was made with. Its secret may have been changed in the settings since.
    fn client_of(&self, old: &Login) -> ClientIdentity {
        let options = &self.account.options;
        let mut client = old.client.clone();
        if client.origin == ClientOrigin::Settings && options.client_id.as_ref() == Some(&client.client_id) {
            client.client_secret.clone_from(&options.client_secret);
        }
        client
    }

    async fn as_machine(&self, old: Option<&Login>, journal: &Journal) -> Result<Login, RenewError> {
        let later = |error: Error| RenewError::Transient(error.to_string());
        let unusable = |error: Error| RenewError::NeedsPerson(error.to_string());
        let (wants, options) = (self.wants(), &self.account.options);
        let fetcher = self.fetcher().await;
        let discovered = discover(&fetcher, &self.account, &wants, journal).await.map_err(later)?;
        let server = &discovered.server;
        let rules = ClientRules {
            issuer: &discovered.issuer,
            methods: server.token_endpoint_auth_methods_supported.as_deref(),
            takes_documents: false,
            registration_endpoint: None,
        };
        let client = match choose(options, &rules, None, None, self.env.clock.now()).map_err(unusable)? {
            Choice::Known(client) => client,
            Choice::Register(_) | Choice::Ask => {
                return Err(RenewError::NeedsPerson("there is no `oauth.clientId`".to_owned()));
            }
        };
        let url = address(server.token_endpoint.as_deref().unwrap_or_default(), "tokenUrl").map_err(unusable)?;
        let key = signing_key(&self.account).map_err(unusable)?;
        let proof = proof_key(&wants, &discovered).map_err(unusable)?;
        let endpoint = TokenEndpoint {
            exchange: &fetcher,
            url: &url,
            issuer: &discovered.issuer,
            client: &client,
            key: key.as_ref(),
            proof: proof.as_ref(),
            nonces: &self.nonces,
            clock: &*self.env.clock,
            journal,
        };
        let held = old.map_or(&[][..], |old| &old.scopes);
        let scopes = choose_scopes(&wants, options, &discovered, held);
        let wanted =
            Wanted { scopes: &scopes, audiences: &options.audiences, resource: discovered.resource.as_deref() };
        let login = match (options.grant, &options.assertion) {
            (GrantKind::WorkloadIdentity, Some(assertion)) => {
                machine::workload_identity(&endpoint, assertion, &wanted).await?
            }
            (GrantKind::Enterprise, Some(id_token)) => {
                let token_url = address(options.idp_token_url.as_deref().unwrap_or_default(), "idpTokenUrl");
                let provider = IdentityProvider {
                    token_url: &token_url.map_err(unusable)?,
                    client_id: options.idp_client_id.as_deref().unwrap_or(&client.client_id),
                    client_secret: options.idp_client_secret.as_ref(),
                    id_token,
                };
                machine::enterprise(&endpoint, &provider, &wanted).await?
            }
            _ => machine::client_credentials(&endpoint, &wanted).await?,
        };
        Ok(login)
    }
}

fn address(text: &str, key: &str) -> Result<Url, Error> {
    let wrong = |_| Error::new(ErrorKind::LoginFailed, format!("there is no address for `oauth.{key}`"));
    Url::parse(text).map_err(wrong)
}
