//! What a login to a server would do, and what the login that is there is worth, step by step with the rule of each. Nothing is changed.

use super::account::GrantKind;
use super::challenge::Wants;
use super::discover::{Discovered, discover};
use super::fetch::Fetcher;
use super::journal::{Journal, StepOutcome};
use super::login::Login;
use super::probe::{asks_for_login, handshake, probe};
use super::register::{Choice, ClientRules, choose, unknown_client};
use super::scopes::choose_scopes;
use super::server_login::ServerLogin;
use super::shown::shown;
use http::Method;
use url::Url;

const REGISTRATION: &str =
    "MCP 2026-07-28, \"Client Registration Approaches\": settings, then a published document, then registration";
const SCOPES: &str =
    "MCP 2026-07-28, \"Scope Selection Strategy\": the challenge, then the settings, then the metadata";
const TAKEN: &str = "RFC 6750 §3.1: a token that is not taken is answered with 401";
const RENEWAL: &str = "RFC 6749 §6: a login is renewed with its refresh token";

/// Every step.
pub(crate) async fn explain(login: &ServerLogin) -> Journal {
    let journal = Journal::default();
    let account = login.account();
    let held = match login.keeper().current().await {
        Ok(held) => held,
        Err(error) => {
            journal.note("read the kept login", StepOutcome::Failed, error.to_string(), None);
            None
        }
    };
    for step in login.renewer().last_steps() {
        journal.note(step.what, step.outcome, step.detail, step.rule);
    }
    kept(&journal, held.as_deref(), login.keeper().why_a_person());
    let fetcher = login.renewer().fetcher().await;
    if held.is_some() {
        try_out(&journal, login, &fetcher).await;
    }
    let wants = probe(&fetcher, &account.url, &journal).await;
    let Ok(found) = discover(&fetcher, account, &wants, &journal).await else {
        return journal; // The step that failed is the last one there.
    };
    client(&journal, login, &found);
    scopes(&journal, login, &wants, &found, held.as_deref());
    way(&journal, login, &found);
    journal
}

/// Shows the login to the server.
async fn try_out(journal: &Journal, login: &ServerLogin, fetcher: &Fetcher) {
    let url = &login.account().url;
    let what = format!("POST {} with the kept login", shown(url));
    let Ok(uri) = url.as_str().parse() else { return };
    let headers = match login.shown(&Method::POST, &uri).await {
        Ok(headers) => headers,
        Err(error) => return journal.note(what, StepOutcome::Failed, error.to_string(), None),
    };
    match handshake(fetcher, url, headers).await {
        Ok(answer) if asks_for_login(&answer) => {
            let status = answer.status.as_u16();
            journal.note(what, StepOutcome::Failed, format!("HTTP {status}: the server does not take it"), Some(TAKEN));
        }
        Ok(answer) => journal.note(
            what,
            StepOutcome::Good,
            format!("HTTP {}: the server takes it", answer.status.as_u16()),
            Some(TAKEN),
        ),
        Err(error) => journal.note(what, StepOutcome::Nothing, error.to_string(), None),
    }
}

fn kept(journal: &Journal, held: Option<&Login>, why_a_person: Option<String>) {
    let what = "read the kept login";
    let Some(held) = held else {
        let detail = why_a_person.unwrap_or_else(|| "there is none".to_owned());
        return journal.note(what, StepOutcome::Nothing, detail, None);
    };
    let renewal = if held.refresh_token.is_some() { "it can be renewed" } else { "it cannot be renewed" };
    let scopes = if held.scopes.is_empty() { String::new() } else { format!(", good for `{}`", held.scopes.join(" ")) };
    journal.note(what, StepOutcome::Good, format!("a token of `{}`{scopes}; {renewal}", held.issuer), Some(RENEWAL));
}

fn client(journal: &Journal, login: &ServerLogin, found: &Discovered) {
    let registration = found.server.registration_endpoint.as_deref().and_then(|url| Url::parse(url).ok());
    let rules = ClientRules {
        issuer: &found.issuer,
        methods: found.server.token_endpoint_auth_methods_supported.as_deref(),
        takes_documents: found.server.client_id_metadata_document_supported,
        registration_endpoint: registration.as_ref(),
    };
    let now = login.renewer().env.clock.now();
    let redirect_uri = login.account().options.redirect_uri.as_deref();
    let (outcome, detail) = match choose(&login.account().options, &rules, redirect_uri, None, now) {
        Ok(Choice::Known(client)) => (StepOutcome::Good, format!("the client `{}`", client.client_id)),
        Ok(Choice::Register(at)) => (StepOutcome::Good, format!("a client is registered at {}", shown(&at))),
        Ok(Choice::Ask) => (StepOutcome::Failed, unknown_client(found.without_client(redirect_uri)).to_string()),
        Err(error) => (StepOutcome::Failed, error.to_string()),
    };
    journal.note("choose who we are", outcome, detail, Some(REGISTRATION));
}

fn scopes(journal: &Journal, login: &ServerLogin, wants: &Wants, found: &Discovered, held: Option<&Login>) {
    let held = held.map_or(&[][..], |held| &held.scopes);
    let scopes = choose_scopes(wants, &login.account().options, found, held);
    let detail = if scopes.is_empty() { "nothing in particular".to_owned() } else { format!("`{}`", scopes.join(" ")) };
    journal.note("choose what to ask for", StepOutcome::Good, detail, Some(SCOPES));
}

fn way(journal: &Journal, login: &ServerLogin, found: &Discovered) {
    let device = if found.server.device_authorization_endpoint.is_some() { ", or on another device" } else { "" };
    let detail = match login.account().options.grant {
        GrantKind::AuthorizationCode => format!("a person, in a browser{device}"),
        GrantKind::DeviceCode => "a person, on another device".to_owned(),
        GrantKind::ClientCredentials => "a machine, as itself".to_owned(),
        GrantKind::WorkloadIdentity => "a workload, with a statement about it".to_owned(),
        GrantKind::Enterprise => "a person's login at their company".to_owned(),
    };
    journal.good("choose who logs in", detail);
}
