//! Settings with OAuth endpoints but no client: looks up the missing values at the authorization server. Values in the settings win.

use url::Url;

use super::{Discovered, Looked, SETTINGS_DECIDE, Search, Usable};
use crate::auth::account::GrantKind;
use crate::auth::checks::{IssuerMatch, check_issuer, issuer_url};
use crate::auth::journal::StepOutcome;
use crate::auth::metadata::{AuthorizationServer, origin_of, server_candidates};
use crate::auth::shown::shown;

/// The authorization server that the settings refer to.
struct Meant {
    url: Url,
    issuer: String,
    how: IssuerMatch,
}

impl Search<'_> {
    /// Whether the settings have endpoints but neither a client nor a registration endpoint.
    pub(super) fn lacks_client(&self) -> bool {
        let options = &self.account.options;
        options.grant == GrantKind::AuthorizationCode
            && options.client_id.is_none()
            && options.registration_url.is_none()
    }

    /// The endpoints of the settings, completed from the metadata of the authorization server.
    pub(super) async fn completed(&self, named: Discovered) -> Discovered {
        let meant = match self.meant() {
            Ok(Some(meant)) => meant,
            Ok(None) => return named,
            Err(why) => return Discovered { tried: vec![why], is_silent: true, ..named },
        };
        let mut tried = Vec::new();
        for url in server_candidates(&meant.url) {
            let document = match self.look(&url, false, AuthorizationServer::read).await {
                Looked::Found(document) => document,
                Looked::Nothing => {
                    tried.push(format!("{} has no metadata", shown(&url)));
                    continue;
                }
                Looked::Trouble(why) => {
                    tried.push(why);
                    continue;
                }
            };
            self.note_leftovers(&url, &document.notes);
            let check = check_issuer(&document, &meant.issuer, meant.how);
            self.note_check(&shown(&url), &check);
            let server = about_clients(&named.server, document);
            match check.found.and_then(|_| self.keep_to_rules(&shown(&url), &server)) {
                Ok(()) => {
                    let issuer = server.issuer.clone().unwrap_or_else(|| named.issuer.clone());
                    if server.registration_endpoint.is_none() {
                        tried.push(format!("{} names no `registration_endpoint`", shown(&url)));
                    }
                    return Discovered { issuer, server, tried, is_silent: false, ..named };
                }
                Err(why) => tried.push(format!("{}: {why}", shown(&url))),
            }
        }
        Discovered { tried, is_silent: true, ..named }
    }

    /// The authorization server of `oauth.authorizationUrl`, when nothing else names one.
    pub(super) async fn at_authorization_url(&self) -> Option<Usable> {
        if self.account.options.issuer.is_some() {
            return None;
        }
        let Meant { url, issuer, how } = self.meant().ok()??;
        match self.server_metadata(&url, &issuer, how).await {
            Looked::Found(document) => {
                let issuer = document.issuer.clone().unwrap_or(issuer);
                Some(Usable { issuer, document, is_fallback: false })
            }
            Looked::Nothing | Looked::Trouble(_) => None,
        }
    }

    /// `oauth.issuer`, or the origin of `oauth.authorizationUrl`.
    fn meant(&self) -> Result<Option<Meant>, String> {
        let options = &self.account.options;
        if let Some(issuer) = &options.issuer {
            let url = issuer_url(issuer, self.fetcher.place())?;
            return Ok(Some(Meant { url, issuer: issuer.clone(), how: IssuerMatch::Exact }));
        }
        let Some(url) = options.authorization_url.as_deref().and_then(|url| Url::parse(url).ok()) else {
            return Ok(None);
        };
        let origin = url.origin().ascii_serialization();
        // The address is validated like an issuer, because its metadata decides where the client is registered.
        issuer_url(&origin, self.fetcher.place())?;
        let what = "choose the origin of `oauth.authorizationUrl`";
        self.journal.note(what, StepOutcome::Good, format!("`{origin}`"), Some(SETTINGS_DECIDE));
        Ok(Some(Meant { url: origin_of(&url), issuer: origin, how: IssuerMatch::OriginOfServer }))
    }
}

/// Combines the endpoints of the settings with the values that only the authorization server knows: client
/// registration and authentication.
fn about_clients(own: &AuthorizationServer, published: AuthorizationServer) -> AuthorizationServer {
    AuthorizationServer {
        authorization_endpoint: own.authorization_endpoint.clone(),
        token_endpoint: own.token_endpoint.clone(),
        code_challenge_methods_supported: own.code_challenge_methods_supported.clone(),
        ..published
    }
}
