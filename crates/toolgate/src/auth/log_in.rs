//! A person logs in: in a browser that comes back by itself or whose address is pasted, or on another device.

use std::time::Duration;

use url::Url;

use super::account::{Account, GrantKind};
use super::answer::{Expected, Unfit, read_pasted, read_query};
use super::authorization_url::{Authorization, authorization};
use super::callback::{Arrival, Callback};
use super::challenge::Wants;
use super::device;
use super::discover::{Discovered, discover};
use super::dpop::{Nonces, ProofKey};
use super::fetch::Fetcher;
use super::guide::{Brought, ClientNeeded, LoginGuide, LoginPage};
use super::journal::{Journal, StepOutcome};
use super::kept_logins::KeptLogins;
use super::login::{ClientIdentity, Login};
use super::page::Page;
use super::place::is_loopback;
use super::register::{Choice, ClientRules, Registration, choose, entered, register, unknown_client};
use super::scopes::choose_scopes;
use super::shown::shown;
use super::signature::SigningKey;
use super::token_error::TokenError;
use super::token_request::{Grant, TokenEndpoint, Wanted};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::LOGIN_WAIT_MS;
use crate::secret::Secret;

/// How a person wants to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginWish {
    /// On another device, with a code to type in.
    pub on_device: bool,
    /// For these scopes, whatever the server and the settings say.
    pub scopes: Vec<String>,
}

/// One login of a person.
#[derive(Debug)]
pub(crate) struct LogIn<'a> {
    pub(crate) env: &'a HostEnv,
    pub(crate) account: &'a Account,
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) store: &'a KeptLogins,
    pub(crate) nonces: &'a Nonces,
    /// What the server asked for.
    pub(crate) wants: &'a Wants,
    /// What the login that is there is good for.
    pub(crate) held: &'a [String],
    pub(crate) guide: &'a dyn LoginGuide,
    pub(crate) journal: &'a Journal,
}

/// What a login goes out with, once everything is known.
struct Ready<'a> {
    discovered: &'a Discovered,
    token_endpoint: Url,
    client: &'a ClientIdentity,
    key: Option<SigningKey>,
    proof: Option<ProofKey>,
}

impl LogIn<'_> {
    /// Leads the person through it.
    pub(crate) async fn run(&self, wish: &LoginWish) -> Result<Login> {
        let discovered = discover(self.fetcher, self.account, self.wants, self.journal).await?;
        let scopes = match wish.scopes.as_slice() {
            [] => choose_scopes(self.wants, &self.account.options, &discovered, self.held),
            wished => wished.to_vec(),
        };
        let asked =
            if scopes.is_empty() { "nothing in particular".to_owned() } else { format!("`{}`", scopes.join(" ")) };
        self.journal.good("choose what to ask for", asked);
        let on_device = wish.on_device || self.account.options.grant == GrantKind::DeviceCode;
        let logged_in = if on_device {
            self.on_device(&discovered, &scopes).await
        } else {
            self.in_browser(&discovered, &scopes).await
        };
        logged_in.map_err(|error| error.about(&self.account.server))
    }

    async fn in_browser(&self, discovered: &Discovered, scopes: &[String]) -> Result<Login> {
        let endpoint = self.endpoint(discovered.server.authorization_endpoint.as_deref(), "authorization_endpoint")?;
        let options = &self.account.options;
        let kept = self.store.client(&discovered.issuer).await?;
        let before = kept.as_ref().and_then(|client| client.redirect_uri.as_deref());
        let mut callback = Callback::listen(options.redirect_uri.as_deref(), self.wanted_port()?, before).await?;
        let redirect_uri = self.seen_from_outside(callback.redirect_uri());
        let client = self.client(discovered, Some(&redirect_uri), scopes, kept.as_ref()).await?;
        let ready = self.ready(discovered, &client)?;
        let wanted = self.wanted(discovered, scopes);
        let begun = authorization(&endpoint, &client.client_id, &redirect_uri, &wanted)?;
        self.journal.good(format!("send the browser to {}", shown(&endpoint)), "it comes back with a code");
        let answered = self.wait_for_code(&begun, discovered, &mut callback).await;
        // Whoever forgot a client that they registered shows the person a page about that, and sends nobody back.
        if answered.is_err() && !callback.was_visited && kept.as_ref() == Some(&client) {
            self.store.forget_client(&client).await;
        }
        let (code, arrival) = answered?;
        let grant = Grant::Code { code: &code, verifier: &begun.verifier, redirect_uri: &redirect_uri };
        let tokens = self.token_endpoint(&ready);
        let logged_in = match tokens.redeem(grant, &wanted).await {
            Ok(answer) => Ok(tokens.login(answer, &wanted, None)),
            Err(error) => {
                self.forget_if_unknown(&client, &error).await;
                Err(Error::from(error))
            }
        };
        if let Some(arrival) = arrival {
            let server = self.account.server.as_str();
            arrival
                .show(match &logged_in {
                    Ok(_) => Page::good(server),
                    Err(error) => Page::bad(server, &capital(&error.to_string())),
                })
                .await;
        }
        logged_in
    }

    /// Waits for the browser or for what the person pastes, whichever comes first.
    async fn wait_for_code(
        &self,
        begun: &Authorization,
        discovered: &Discovered,
        callback: &mut Callback,
    ) -> Result<(Secret, Option<Arrival>)> {
        let expected = Expected {
            state: begun.state.clone(),
            issuer: discovered.issuer.clone(),
            names_issuer: discovered.server.authorization_response_iss_parameter_supported,
        };
        let server = &self.account.server;
        let visit = || self.guide.visit(server.clone(), LoginPage::Browser { url: begun.url.to_string() });
        let mut visiting = visit();
        let late = tokio::time::sleep(Duration::from_millis(LOGIN_WAIT_MS));
        tokio::pin!(late);
        loop {
            let (read, arrival) = tokio::select! {
                arrival = callback.next() => match arrival {
                    Some(arrival) => (read_query(&arrival.query, &expected), Some(arrival)),
                    None => return Err(failed("nobody listens for the browser any more")),
                },
                brought = &mut visiting => match brought {
                    Brought::Text(pasted) => (read_pasted(&pasted, &expected), None),
                    Brought::GaveUp => return Err(failed("the login was given up")),
                },
                () = &mut late => {
                    let minutes = LOGIN_WAIT_MS / 60_000;
                    self.journal.note("wait for the browser", StepOutcome::Failed, "it did not come back", None);
                    return Err(failed(&format!("nobody logged in within {minutes} minutes")));
                }
            };
            match (read, arrival) {
                (Ok(code), arrival) => {
                    self.journal
                        .good("read the answer of the browser", "it is from the server that was asked, for this login");
                    return Ok((code, arrival));
                }
                (Err(Unfit::NoAnswer(why)), Some(arrival)) => arrival.show(Page::stray(&capital(why))).await,
                (Err(Unfit::NoAnswer(why)), None) => {
                    tracing::warn!("{server}: {why}");
                    visiting = visit();
                }
                (Err(Unfit::Over { words, rule }), arrival) => {
                    self.journal.note("read the answer of the browser", StepOutcome::Failed, words.clone(), Some(rule));
                    if let Some(arrival) = arrival {
                        arrival.show(Page::bad(server.as_str(), &capital(&words))).await;
                    }
                    return Err(failed(&words));
                }
            }
        }
    }

    async fn on_device(&self, discovered: &Discovered, scopes: &[String]) -> Result<Login> {
        let Some(endpoint) = discovered.server.device_authorization_endpoint.as_deref() else {
            let what = format!("`{}` offers no login on another device", discovered.issuer);
            return Err(failed(&what).hinting("log in without `--device`"));
        };
        let endpoint = self.endpoint(Some(endpoint), "device_authorization_endpoint")?;
        let kept = self.store.client(&discovered.issuer).await?;
        let client = self.client(discovered, None, scopes, kept.as_ref()).await?;
        let ready = self.ready(discovered, &client)?;
        let wanted = self.wanted(discovered, scopes);
        let tokens = self.token_endpoint(&ready);
        let begun = device::begin(&tokens, &endpoint, &wanted).await;
        if let Err(error) = &begun {
            self.forget_if_unknown(&client, error).await;
        }
        let begun = begun?;
        let page = LoginPage::Device {
            url: begun.verification_uri.to_string(),
            code: begun.user_code.clone(),
            complete_url: begun.verification_uri_complete.as_ref().map(Url::to_string),
        };
        let visiting = self.guide.visit(self.account.server.clone(), page);
        let gives_up = async {
            if !matches!(visiting.await, Brought::GaveUp) {
                std::future::pending::<()>().await;
            }
        };
        let sleep =
            |time: Duration| -> futures_util::future::BoxFuture<'static, ()> { Box::pin(tokio::time::sleep(time)) };
        let answer = tokio::select! {
            answer = device::wait(&tokens, &begun, &wanted, &sleep) => answer?,
            () = gives_up => return Err(failed("the login was given up")),
        };
        Ok(tokens.login(answer, &wanted, None))
    }

    /// Who we are, registered now if need be. A new registration is kept at once: its secret is given only once.
    async fn client(
        &self,
        discovered: &Discovered,
        redirect_uri: Option<&str>,
        scopes: &[String],
        kept: Option<&ClientIdentity>,
    ) -> Result<ClientIdentity> {
        let server = &discovered.server;
        let registration = server.registration_endpoint.as_deref().and_then(|url| Url::parse(url).ok());
        let rules = ClientRules {
            issuer: &discovered.issuer,
            methods: server.token_endpoint_auth_methods_supported.as_deref(),
            takes_documents: server.client_id_metadata_document_supported,
            registration_endpoint: registration.as_ref(),
        };
        let now = self.env.clock.now();
        match choose(&self.account.options, &rules, redirect_uri, kept, now)? {
            Choice::Known(client) => {
                self.journal.good("choose who we are", format!("the client `{}`", client.client_id));
                Ok(client)
            }
            Choice::Register(endpoint) => {
                let wish = self.account.options.client_method.as_deref();
                let on_another_device = redirect_uri.is_none();
                let registration = Registration { rules, wish, redirect_uri, scopes, on_another_device };
                let client = register(self.fetcher, &endpoint, &registration, self.journal).await?;
                self.store.put_client(client.clone()).await?;
                Ok(client)
            }
            Choice::Ask => {
                let needed = ClientNeeded {
                    issuer: discovered.issuer.clone(),
                    redirect_uri: redirect_uri.map(str::to_owned),
                    tried: discovered.tried.clone(),
                    is_silent: discovered.is_silent,
                };
                let Some(client) = self.guide.ask_for_client(self.account.server.clone(), needed).await else {
                    return Err(unknown_client(discovered.without_client(redirect_uri)));
                };
                let client = entered(client, &self.account.options, &rules, redirect_uri)?;
                self.journal.good("ask who we are", format!("the client `{}`", client.client_id));
                self.store.put_client(client.clone()).await?;
                Ok(client)
            }
        }
    }

    async fn forget_if_unknown(&self, client: &ClientIdentity, error: &TokenError) {
        if error.is_about_client() {
            self.store.forget_client(client).await;
        }
    }

    fn ready<'a>(&self, discovered: &'a Discovered, client: &'a ClientIdentity) -> Result<Ready<'a>> {
        let token_endpoint = self.endpoint(discovered.server.token_endpoint.as_deref(), "token_endpoint")?;
        let key = signing_key(self.account)?;
        let proof = proof_key(self.wants, discovered)?;
        Ok(Ready { discovered, token_endpoint, client, key, proof })
    }

    fn token_endpoint<'a>(&'a self, ready: &'a Ready<'a>) -> TokenEndpoint<'a> {
        TokenEndpoint {
            exchange: self.fetcher,
            url: &ready.token_endpoint,
            issuer: &ready.discovered.issuer,
            client: ready.client,
            key: ready.key.as_ref(),
            proof: ready.proof.as_ref(),
            nonces: self.nonces,
            clock: &*self.env.clock,
            journal: self.journal,
        }
    }

    fn wanted<'a>(&'a self, discovered: &'a Discovered, scopes: &'a [String]) -> Wanted<'a> {
        let audiences = &self.account.options.audiences;
        Wanted { scopes, audiences, resource: discovered.resource.as_deref() }
    }

    fn endpoint(&self, url: Option<&str>, member: &str) -> Result<Url> {
        let url = url.ok_or_else(|| failed(&format!("the authorization server names no `{member}`")))?;
        Url::parse(url).map_err(|_| failed(&format!("`{member}` of the authorization server is no address")))
    }

    /// Where the browser comes back to, as it is reached from outside: a cloud workstation forwards its ports by names of their own.
    fn seen_from_outside(&self, redirect_uri: &str) -> String {
        let variable = |name: &str| self.env.vars.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let here = Url::parse(redirect_uri).ok().filter(is_loopback);
        match (variable("GOOGLE_CLOUD_WORKSTATIONS"), variable("WEB_HOST"), here.as_ref().and_then(Url::port)) {
            (Some("true"), Some(host), Some(port)) => {
                format!("https://{port}-{host}{}", here.as_ref().map_or("/", Url::path))
            }
            _ => redirect_uri.to_owned(),
        }
    }

    /// The port that a variable names, as other clients take it.
    fn wanted_port(&self) -> Result<Option<u16>> {
        let Some(text) = self.env.vars.get("OAUTH_CALLBACK_PORT").filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(port @ 1..) => Ok(Some(port)),
            _ => {
                let what = format!("`OAUTH_CALLBACK_PORT` is `{}`, which is no port", text.escape_debug());
                Err(Error::new(ErrorKind::Settings, what).hinting("a port is a number from 1 to 65535"))
            }
        }
    }
}

/// Our private key, when the settings have one.
pub(crate) fn signing_key(account: &Account) -> Result<Option<SigningKey>> {
    let options = &account.options;
    let algorithm = options.signing_algorithm.as_deref();
    options.private_key.as_ref().map(|pem| SigningKey::from_pem(pem, algorithm)).transpose()
}

/// A key to bind tokens to, where the server wants that and the authorization server can.
pub(crate) fn proof_key(wants: &Wants, discovered: &Discovered) -> Result<Option<ProofKey>> {
    let can = discovered.server.dpop_signing_alg_values_supported.iter().any(|name| name == "ES256");
    if (wants.dpop || discovered.is_dpop_required) && can { ProofKey::generate().map(Some) } else { Ok(None) }
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::LoginFailed, what)
}

/// The beginning of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
