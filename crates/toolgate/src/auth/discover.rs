//! From a server to whoever gives tokens for it: challenge → the server's own metadata → the metadata of its authorization server.
//!
//! Everything that is asked and every rule that decides is written into the [`Journal`]. What is found is used only when it keeps to the
//! rules of [`checks`](super::checks); what the settings say is used in place of what is found.

mod left_out;

use std::time::Duration;

use url::Url;

use super::account::{Account, GrantKind};
use super::challenge::Wants;
use super::checks::{Check, ISSUER_ADDRESS, IssuerMatch, check_issuer, check_resource, check_server, issuer_url};
use super::fetch::Fetcher;
use super::journal::{Journal, StepOutcome};
use super::metadata::{AuthorizationServer, ProtectedResource, origin_of, resource_candidates, server_candidates};
use super::register::NoClient;
use super::resource::resource_of;
use super::shown::{excerpt, shown};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{LOGIN_DISCOVERY_MS, LOGIN_ISSUERS_MAX};

/// The way of servers that are older than metadata of their own.
const OLD_WAY: &str = "MCP 2025-03-26, \"Server Metadata Discovery\": the server's origin is its authorization server";
/// What such servers have when they publish nothing at all.
const DEFAULT_ENDPOINTS: &str =
    "MCP 2025-03-26, \"Fallbacks for Servers without Metadata Discovery\": `/authorize`, `/token` and `/register`";
/// Settings are the person's own word.
const SETTINGS_DECIDE: &str = "what the settings say about a login is used in place of what is published";

/// Who gives tokens for a server, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discovered {
    /// What the tokens are for, exactly as it is to be sent (RFC 8707); absent for servers that are older than that.
    pub(crate) resource: Option<String>,
    /// What the server says that tokens can be good for.
    pub(crate) scopes_of_resource: Vec<String>,
    /// The authorization server, exactly as it calls itself.
    pub(crate) issuer: String,
    /// What it says about itself, with the endpoints of the settings put in.
    pub(crate) server: AuthorizationServer,
    /// Whether the server takes only tokens that are bound to a key (RFC 9728 §2).
    pub(crate) is_dpop_required: bool,
    /// Whether nothing was published, and the endpoints are those that 2025-03-26 takes for granted.
    pub(crate) is_fallback: bool,
    /// Failed attempts to find values that the settings leave out, one message each.
    pub(crate) tried: Vec<String>,
    /// Whether no metadata was found, and the endpoints are those of the settings alone.
    pub(crate) is_silent: bool,
}

impl Discovered {
    /// The state when no client is known there.
    pub(crate) fn without_client<'a>(&'a self, redirect_uri: Option<&'a str>) -> NoClient<'a> {
        let takes_documents = self.server.client_id_metadata_document_supported;
        NoClient { issuer: &self.issuer, redirect_uri, tried: &self.tried, is_silent: self.is_silent, takes_documents }
    }
}

/// Finds out who gives tokens for the server of `account`.
pub(crate) async fn discover(
    fetcher: &Fetcher,
    account: &Account,
    wants: &Wants,
    journal: &Journal,
) -> Result<Discovered> {
    let search = Search { fetcher, account, wants, journal };
    let found = tokio::time::timeout(Duration::from_millis(LOGIN_DISCOVERY_MS), search.run()).await;
    let found = found.unwrap_or_else(|_| {
        let seconds = LOGIN_DISCOVERY_MS / 1_000;
        Err(search
            .failed(format!("who gives tokens for {} could not be found out within {seconds} s", search.server())))
    });
    found.map_err(|error| error.about(&account.server))
}

struct Search<'a> {
    fetcher: &'a Fetcher,
    account: &'a Account,
    wants: &'a Wants,
    journal: &'a Journal,
}

/// What is at one address.
enum Looked<T> {
    Found(T),
    /// Certainly nothing.
    Nothing,
    /// Something that cannot be used, or nobody knows. The words name the address.
    Trouble(String),
}

/// An authorization server that may be used.
struct Usable {
    issuer: String,
    document: AuthorizationServer,
    is_fallback: bool,
}

impl Search<'_> {
    async fn run(&self) -> Result<Discovered> {
        if let Some(found) = self.named_by_settings()? {
            return Ok(if self.lacks_client() { self.completed(found).await } else { found });
        }
        let published = self.resource().await?.unwrap_or_default();
        let issuers = self.issuers(published.authorization_servers);
        let usable = match issuers.as_slice() {
            [] => {
                // Whoever has heard of metadata is not from 2025-03-26.
                let is_old = published.resource.is_none() && self.wants.resource_metadata.is_none();
                match self.at_authorization_url().await {
                    Some(usable) => usable,
                    None => self.at_origin(is_old).await?,
                }
            }
            issuers => self.first_usable(issuers).await?,
        };
        // An authorization server that the settings name is told what its tokens are for, as a published one is.
        let named = || self.account.options.issuer.as_ref().map(|_| resource_of(&self.account.url));
        let resource = published.resource.or_else(named);
        let Usable { issuer, document: server, is_fallback } = usable;
        self.journal.good("choose the authorization server", format!("`{}`", excerpt(&issuer)));
        let scopes_of_resource = published.scopes_supported;
        let is_dpop_required = published.dpop_bound_access_tokens_required;
        let tried = Vec::new();
        Ok(Discovered {
            resource,
            scopes_of_resource,
            issuer,
            server,
            is_dpop_required,
            is_fallback,
            tried,
            is_silent: false,
        })
    }

    /// Nothing has to be found out when the settings have all that this kind of login needs.
    fn named_by_settings(&self) -> Result<Option<Discovered>> {
        let options = &self.account.options;
        let is_complete = match options.grant {
            GrantKind::AuthorizationCode => options.authorization_url.is_some() && options.token_url.is_some(),
            // Where a login on another device begins is not among the settings.
            GrantKind::DeviceCode => false,
            GrantKind::ClientCredentials | GrantKind::WorkloadIdentity | GrantKind::Enterprise => {
                options.token_url.is_some()
            }
        };
        let Some(token_url) = options.token_url.as_deref().filter(|_| is_complete) else { return Ok(None) };
        let server = self.with_settings(AuthorizationServer {
            issuer: options.issuer.clone(),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..AuthorizationServer::default()
        });
        self.journal.note("read the settings", StepOutcome::Good, "they name the endpoints", Some(SETTINGS_DECIDE));
        self.keep_to_rules("the settings", &server).map_err(|why| {
            let message = format!("the settings of the login to {}: {why}", self.server());
            let hint = "check `oauth.authorizationUrl`, `oauth.tokenUrl` and `oauth.registrationUrl`";
            Error::new(ErrorKind::LoginFailed, message).hinting(hint)
        })?;
        let origin = Url::parse(token_url).map(|url| url.origin().ascii_serialization());
        let issuer = options.issuer.clone().or(origin.ok()).unwrap_or_default();
        let resource = Some(resource_of(&self.account.url));
        Ok(Some(Discovered {
            resource,
            scopes_of_resource: Vec::new(),
            issuer,
            server,
            is_dpop_required: false,
            is_fallback: false,
            tried: Vec::new(),
            is_silent: false,
        }))
    }

    /// What the server says about itself, when it does.
    async fn resource(&self) -> Result<Option<ProtectedResource>> {
        let challenged = self.wants.resource_metadata.as_deref().and_then(|text| {
            let url = Url::parse(text);
            if url.is_err() {
                let what = "read `resource_metadata` of the challenge";
                self.journal.note(what, StepOutcome::Failed, format!("it is no URL: `{}`", excerpt(text)), None);
            }
            url.ok()
        });
        let mut trouble = None;
        for url in resource_candidates(challenged.as_ref(), &self.account.url) {
            let is_promised = challenged.as_ref() == Some(&url);
            let document = match self.look(&url, is_promised, ProtectedResource::read).await {
                Looked::Found(document) => document,
                Looked::Nothing => continue,
                Looked::Trouble(why) => {
                    trouble.get_or_insert(why);
                    continue;
                }
            };
            self.note_leftovers(&url, &document.notes);
            let check = check_resource(&document, &self.account.url);
            self.note_check(&shown(&url), &check);
            // Somebody claims to speak for this server and does not: going on elsewhere would hide that.
            return check.found.map(|_| Some(document)).map_err(|why| {
                let message = format!("the metadata at {} cannot be used: {why}", shown(&url));
                let hint =
                    "check `url` of this server in the settings; the metadata must name the address that is used";
                Error::new(ErrorKind::LoginFailed, message).hinting(hint)
            });
        }
        match trouble {
            Some(why) => Err(self.failed(format!("the metadata of {} cannot be read: {why}", self.server()))),
            None => Ok(None),
        }
    }

    /// Who is asked, in this order. The settings decide; else it is for the server to say.
    fn issuers(&self, listed: Vec<String>) -> Vec<String> {
        let Some(own) = &self.account.options.issuer else {
            return listed.into_iter().take(LOGIN_ISSUERS_MAX).collect();
        };
        let detail = match listed.contains(own) {
            true => format!("`{own}`, which the server lists"),
            false if listed.is_empty() => format!("`{own}`; the server lists none"),
            false => format!("`{own}`, which the server does not list"),
        };
        self.journal.note("read `oauth.issuer`", StepOutcome::Good, detail, Some(SETTINGS_DECIDE));
        vec![own.clone()]
    }

    /// The first of several that can be used; when none can, the error is about the first.
    async fn first_usable(&self, issuers: &[String]) -> Result<Usable> {
        let mut first = None;
        for issuer in issuers {
            let url = match issuer_url(issuer, self.fetcher.place()) {
                Ok(url) => url,
                Err(why) => {
                    let what = "read the address of the authorization server";
                    self.journal.note(what, StepOutcome::Failed, why.clone(), Some(ISSUER_ADDRESS));
                    first.get_or_insert(format!("the authorization server of {}: {why}", self.server()));
                    continue;
                }
            };
            match self.server_metadata(&url, issuer, IssuerMatch::Exact).await {
                Looked::Found(document) => {
                    return Ok(Usable { issuer: issuer.clone(), document, is_fallback: false });
                }
                Looked::Nothing => {
                    first
                        .get_or_insert(format!("the authorization server `{}` publishes no metadata", excerpt(issuer)));
                }
                Looked::Trouble(why) => {
                    let subject = format!("the metadata of the authorization server `{}`", excerpt(issuer));
                    first.get_or_insert(format!("{subject} cannot be used: {why}"));
                }
            }
        }
        Err(self.failed(first.unwrap_or_default()))
    }

    /// The way of 2025-03-26: the origin of the server is its authorization server, and may say nothing at all.
    async fn at_origin(&self, is_old: bool) -> Result<Usable> {
        let (url, origin) = (origin_of(&self.account.url), self.account.url.origin().ascii_serialization());
        self.journal.note("choose the origin of the server", StepOutcome::Good, format!("`{origin}`"), Some(OLD_WAY));
        match self.server_metadata(&url, &origin, IssuerMatch::OriginOfServer).await {
            Looked::Found(document) => {
                let issuer = document.issuer.clone().unwrap_or(origin);
                Ok(Usable { issuer, document, is_fallback: false })
            }
            Looked::Nothing if is_old => {
                let document = self.with_settings(AuthorizationServer::at_origin(&self.account.url));
                let what = "take the endpoints for granted";
                self.journal.note(what, StepOutcome::Good, format!("at `{origin}`"), Some(DEFAULT_ENDPOINTS));
                let subject = format!("{} publishes nothing about logins, and", self.server());
                self.keep_to_rules(&origin, &document).map_err(|why| self.failed(format!("{subject} {why}")))?;
                Ok(Usable { issuer: origin, document, is_fallback: true })
            }
            Looked::Nothing => {
                Err(self
                    .failed(format!("{} names no authorization server, and publishes nothing as one", self.server())))
            }
            Looked::Trouble(why) => Err(self
                .failed(format!("the metadata of {} as an authorization server cannot be used: {why}", self.server()))),
        }
    }

    /// The metadata of an authorization server, when it keeps to the rules. A document that does not is passed over for the next place.
    async fn server_metadata(&self, url: &Url, issuer: &str, how: IssuerMatch) -> Looked<AuthorizationServer> {
        let mut trouble = None;
        for url in server_candidates(url) {
            // Whoever is named must have a document; at an origin that we took for one there may be anything.
            let is_promised = how == IssuerMatch::Exact;
            let document = match self.look(&url, is_promised, AuthorizationServer::read).await {
                Looked::Found(document) => document,
                Looked::Nothing => continue,
                Looked::Trouble(why) => {
                    trouble.get_or_insert(why);
                    continue;
                }
            };
            self.note_leftovers(&url, &document.notes);
            let check = check_issuer(&document, issuer, how);
            self.note_check(&shown(&url), &check);
            let document = self.with_settings(document);
            match check.found.and_then(|_| self.keep_to_rules(&shown(&url), &document)) {
                Ok(()) => return Looked::Found(document),
                Err(why) => trouble.get_or_insert(format!("{}: {why}", shown(&url))),
            };
        }
        trouble.map_or(Looked::Nothing, Looked::Trouble)
    }

    /// Every rule, up to the first that is broken.
    fn keep_to_rules(&self, subject: &str, document: &AuthorizationServer) -> Result<(), String> {
        for check in check_server(document, &self.account.options, self.fetcher.place()) {
            self.note_check(subject, &check);
            check.found?;
        }
        Ok(())
    }

    /// One document. What is at a place that was promised to have one must be it; at others a page for people is as good as nothing.
    async fn look<T>(&self, url: &Url, is_promised: bool, read: fn(&[u8]) -> Result<T, String>) -> Looked<T> {
        let what = format!("GET {}", shown(url));
        let answer = match self.fetcher.get(url).await {
            Ok(answer) => answer,
            Err(error) => {
                self.journal.note(what, StepOutcome::Failed, error.why.clone(), None);
                return Looked::Trouble(error.why);
            }
        };
        let status = answer.status;
        // Too many requests, too slow, broken for now: the document may be there all the same.
        let is_unsure = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
        let why = if !status.is_success() {
            status.to_string()
        } else {
            match read(&answer.body) {
                Ok(document) => {
                    self.journal.good(what, format!("{status}, {} bytes", answer.body.len()));
                    return Looked::Found(document);
                }
                Err(why) if answer.body.is_empty() => format!("{status}, {why}"),
                Err(why) => format!("{status}, {why}: `{}`", answer.excerpt()),
            }
        };
        if is_unsure || (is_promised && status.is_success()) {
            self.journal.note(what.clone(), StepOutcome::Failed, why.clone(), None);
            return Looked::Trouble(format!("{what}: {why}"));
        }
        self.journal.note(what, StepOutcome::Nothing, why, None);
        Looked::Nothing
    }

    /// A document with the endpoints of the settings in place of its own.
    fn with_settings(&self, mut document: AuthorizationServer) -> AuthorizationServer {
        let options = &self.account.options;
        let replaced = [
            ("authorizationUrl", &options.authorization_url, &mut document.authorization_endpoint),
            ("tokenUrl", &options.token_url, &mut document.token_endpoint),
            ("registrationUrl", &options.registration_url, &mut document.registration_endpoint),
        ];
        for (key, own, published) in replaced {
            if own.is_some() {
                self.journal.note(
                    format!("read `oauth.{key}`"),
                    StepOutcome::Good,
                    "it is used",
                    Some(SETTINGS_DECIDE),
                );
                published.clone_from(own);
            }
        }
        document
    }

    fn note_check(&self, subject: &str, check: &Check) {
        let (outcome, detail) = match &check.found {
            Ok(found) => (StepOutcome::Good, found),
            Err(why) => (StepOutcome::Failed, why),
        };
        self.journal.note(format!("check {subject}"), outcome, detail.clone(), Some(check.rule));
    }

    fn note_leftovers(&self, url: &Url, notes: &[String]) {
        for note in notes {
            self.journal.note(format!("read {}", shown(url)), StepOutcome::Nothing, note.clone(), None);
        }
    }

    fn server(&self) -> String {
        format!("`{}`", shown(&self.account.url))
    }

    fn failed(&self, message: String) -> Error {
        let hint = match self.account.options.grant {
            GrantKind::AuthorizationCode => "set `oauth.authorizationUrl` and `oauth.tokenUrl`",
            GrantKind::DeviceCode => "set `oauth.issuer`, or log in with a browser",
            GrantKind::ClientCredentials | GrantKind::WorkloadIdentity | GrantKind::Enterprise => {
                "set `oauth.tokenUrl`"
            }
        };
        Error::new(ErrorKind::LoginFailed, message).hinting(format!("{hint}, or ask whoever runs the server"))
    }
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
