//! `ServerLogin`: the login of one server. It shows who we are with every request, and knows what to do when the server refuses that.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use toolgate_wire::transport::http_client::{Credentials, Refusal, RequestFacts};
use toolgate_wire::{Error as WireError, HttpFailure, Result as WireResult};
use url::Url;

use super::account::Account;
use super::challenge::{Wants, parse, wants};
use super::discover::discover;
use super::dpop::{DPOP, ProofKey, Proven};
use super::guide::{LoginGuide, LoginReason};
use super::journal::Journal;
use super::keeper::Keeper;
use super::kept_logins::KeptLogins;
use super::log_in::{LogIn, LoginWish};
use super::login::{Login, TokenType};
use super::probe::probe;
use super::renew::Renew as _;
use super::renewer::Renewer;
use super::store::{KeptLogin, LoginKey};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// The login of one server.
#[derive(Debug)]
pub(crate) struct ServerLogin {
    key: LoginKey,
    kept: KeptLogins,
    renewer: Arc<Renewer>,
    keeper: Keeper,
    /// The key of the login in use, ready to sign.
    proof: Mutex<Option<(Secret, Arc<ProofKey>)>>,
    /// One login of a person at a time.
    logging_in: tokio::sync::Mutex<()>,
}

impl ServerLogin {
    pub(crate) fn new(kept: KeptLogins, renewer: Renewer) -> Self {
        let renewer = Arc::new(renewer);
        let key = LoginKey::new(&renewer.account.server, &renewer.account.url);
        let keeper = Keeper::new(kept.0.clone(), key.clone(), renewer.clone());
        Self { key, kept, renewer, keeper, proof: Mutex::default(), logging_in: tokio::sync::Mutex::default() }
    }

    pub(crate) fn account(&self) -> &Account {
        &self.renewer.account
    }

    pub(crate) fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    pub(crate) fn renewer(&self) -> &Renewer {
        &self.renewer
    }

    /// Leads the person through a login that the server asked for. Whether it is worth asking the server again.
    ///
    /// # Errors
    /// When the login did not work.
    pub(crate) async fn helps(&self, failure: &HttpFailure, guide: Option<&dyn LoginGuide>) -> Result<bool> {
        let options = &self.account().options;
        let Some(guide) = guide.filter(|_| options.grant.needs_a_person() && options.enabled != Some(false)) else {
            return Ok(false);
        };
        let wants = wants(&parse(&failure.challenges));
        let before = self.keeper.current().await.ok().flatten();
        let _one_at_a_time = self.logging_in.lock().await;
        let held = self.keeper.current().await.ok().flatten();
        if held.as_ref().map(|login| login.generation) != before.as_ref().map(|login| login.generation) {
            return Ok(true); // Somebody else has logged in meanwhile.
        }
        let why = match held.as_deref() {
            None if self.has_ended().await => Some(LoginReason::Ended),
            held => reason(&wants, held),
        };
        let Some(why) = why else { return Ok(false) };
        if !guide.wants_to_log_in(self.account().server.clone(), why).await {
            return Ok(false);
        }
        self.log_in(&wants, &LoginWish::default(), guide, &Journal::default()).await?;
        Ok(true)
    }

    /// Whether there is a login that is of no use any more.
    async fn has_ended(&self) -> bool {
        let key = self.key.clone();
        matches!(self.kept.with(move |store| store.get(&key)).await, Ok(Some(_)))
    }

    /// Leads the person through a login that nobody asked for but them. What the server wants is asked of it first. A machine needs nobody.
    pub(crate) async fn log_in_unasked(
        &self,
        wish: &LoginWish,
        guide: &dyn LoginGuide,
        journal: &Journal,
    ) -> Result<()> {
        let _one_at_a_time = self.logging_in.lock().await;
        let fetcher = self.renewer.fetcher().await;
        let wants = probe(&fetcher, &self.account().url, journal).await;
        if self.account().options.grant.needs_a_person() {
            return self.log_in(&wants, wish, guide, journal).await.map(drop);
        }
        self.renewer.note(wants);
        let login = self.renewer.renew(None).await.map_err(|error| error.into_error(&self.account().server))?;
        self.kept.put(&self.key, login).await?;
        self.keeper.reload().await.map(|_| ())
    }

    /// Whether that is the login of this server.
    pub(crate) fn is_kept_as(&self, kept: &KeptLogin) -> bool {
        kept.server == *self.key.server() && kept.url == self.key.address()
    }

    /// Leads the person through a login, because they want one.
    async fn log_in(
        &self,
        wants: &Wants,
        wish: &LoginWish,
        guide: &dyn LoginGuide,
        journal: &Journal,
    ) -> Result<Login> {
        let held = self.keeper.current().await.ok().flatten();
        let fetcher = self.renewer.fetcher().await;
        let flow = LogIn {
            env: &self.renewer.env,
            account: self.account(),
            fetcher: &fetcher,
            store: &self.kept,
            nonces: &self.renewer.nonces,
            wants,
            held: held.as_deref().map_or(&[], |login| &login.scopes),
            guide,
            journal,
        };
        let login = flow.run(wish).await?;
        let login = self.kept.put(&self.key, login).await?;
        self.keeper.reload().await?;
        Ok(login)
    }

    /// Whether the server still takes tokens of whoever gave us this one. Asked before a token is renewed that it refused: what belongs to one
    /// authorization server is not shown to it any more once the server has turned to another.
    async fn is_of_the_same_issuer(&self, login: &Login, wants: &Wants) -> bool {
        let fetcher = self.renewer.fetcher().await;
        match discover(&fetcher, self.account(), wants, &Journal::default()).await {
            Ok(found) => login.issuer.is_empty() || found.issuer == login.issuer,
            Err(_) => true, // That nobody can be asked now says nothing about it.
        }
    }

    /// Whether there is something better than what the server refused.
    async fn has_better(&self, refusal: &Refusal<'_>) -> Result<bool> {
        let wants = wants(&parse(&refusal.challenges));
        if wants.error.as_deref() == Some("use_dpop_nonce") {
            return Ok(refusal.sent.contains_key(DPOP)); // It came with the answer.
        }
        self.renewer.note(wants.clone());
        let held = self.keeper.current().await?;
        let is_machine = !self.account().options.grant.needs_a_person();
        let Some(login) = held else {
            let got_one = self.keeper.refused(0).await?.is_some();
            return if is_machine && !got_one { Err(self.without_a_person()) } else { Ok(got_one) };
        };
        let sent = refusal.sent.get(AUTHORIZATION);
        if sent != Some(&authorization(&login).map_err(|_| unsendable())?) {
            return Ok(sent.is_none() || refusal.attempt == 1); // There is another one already.
        }
        if refusal.status == StatusCode::FORBIDDEN && !is_machine {
            return Ok(false); // A fresh token is good for no more than this one.
        }
        if refusal.attempt > 1 || !(is_machine || self.is_of_the_same_issuer(&login, &wants).await) {
            return Ok(false);
        }
        let fresh = self.keeper.refused(login.generation).await?;
        if is_machine && fresh.is_none() {
            return Err(self.without_a_person());
        }
        Ok(fresh.is_some_and(|fresh| fresh.access_token != login.access_token))
    }

    /// Why a machine could not log in, with nobody to help it.
    fn without_a_person(&self) -> Error {
        let why = self.keeper.why_a_person().unwrap_or_else(|| "no token was given".to_owned());
        Error::new(ErrorKind::LoginFailed, format!("no login as a machine: {why}")).about(&self.account().server)
    }

    /// What shows who we are with a request.
    pub(crate) async fn shown(&self, method: &Method, url: &Uri) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        let Some(login) = self.keeper.current().await? else { return Ok(headers) };
        headers.insert(AUTHORIZATION, authorization(&login).map_err(|_| unsendable())?);
        if login.token_type == TokenType::Dpop
            && let Some(key) = self.proof_key(&login)?
        {
            let url = Url::parse(&url.to_string()).map_err(|_| unsendable())?;
            let nonce = self.renewer.nonces.get(&url);
            let proven = Proven {
                method: method.as_str(),
                url: &url,
                access_token: Some(&login.access_token),
                nonce: nonce.as_deref(),
                now: self.renewer.env.clock.now(),
            };
            headers.insert(DPOP, HeaderValue::try_from(key.proof(&proven)?).map_err(|_| unsendable())?);
        }
        Ok(headers)
    }

    fn proof_key(&self, login: &Login) -> Result<Option<Arc<ProofKey>>> {
        let Some(kept) = &login.proof_key else { return Ok(None) };
        let mut ready = self.proof.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, key)) = ready.as_ref()
            && of == kept
        {
            return Ok(Some(key.clone()));
        }
        let key = Arc::new(ProofKey::from_kept(kept)?);
        *ready = Some((kept.clone(), key.clone()));
        Ok(Some(key))
    }
}

impl Credentials for ServerLogin {
    fn headers<'a>(&'a self, request: RequestFacts<'a>) -> BoxFuture<'a, WireResult<HeaderMap>> {
        Box::pin(async move { self.shown(request.method, request.url).await.map_err(|error| untold(&error)) })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal<'a>) -> BoxFuture<'a, WireResult<bool>> {
        Box::pin(async move { self.has_better(refusal).await.map_err(|error| untold(&error)) })
    }

    fn answered(&self, url: &Uri, headers: &HeaderMap) {
        if headers.contains_key(super::dpop::DPOP_NONCE)
            && let Ok(url) = Url::parse(&url.to_string())
        {
            self.renewer.nonces.note(&url, headers);
        }
    }
}

/// Why a person should log in; `None` when that would change nothing.
fn reason(wants: &Wants, held: Option<&Login>) -> Option<LoginReason> {
    let Some(held) = held else { return Some(LoginReason::New) };
    if !wants.insufficient_scope {
        return Some(LoginReason::Ended);
    }
    let more: Vec<String> = wants.scopes.iter().filter(|scope| !held.scopes.contains(scope)).cloned().collect();
    (!more.is_empty()).then_some(LoginReason::MoreScopes(more))
}

fn authorization(login: &Login) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let scheme = match login.token_type {
        TokenType::Bearer => "Bearer",
        TokenType::Dpop => "DPoP",
    };
    HeaderValue::try_from(format!("{scheme} {}", login.access_token.expose()))
}

fn unsendable() -> Error {
    Error::new(ErrorKind::LoginFailed, "the token cannot be sent as a header")
}

/// A failure as the wire tells it, with what to do about it.
pub(crate) fn untold(error: &Error) -> WireError {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    WireError::Credentials(format!("{error}{hint}").into())
}
