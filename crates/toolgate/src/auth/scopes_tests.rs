//! Tests.

use super::choose_scopes;
use crate::auth::account::{GrantKind, LoginOptions};
use crate::auth::challenge::Wants;
use crate::auth::discover::Discovered;
use crate::auth::metadata::AuthorizationServer;
use crate::limits::LOGIN_SCOPES_MAX;

/// Where scopes may come from, each a list with spaces.
#[derive(Clone, Copy, Default)]
struct Case {
    challenge: &'static str,
    step_up: bool,
    settings: &'static str,
    resource: &'static str,
    server: &'static str,
    held: &'static str,
    grant: GrantKind,
}

fn list(scopes: &str) -> Vec<String> {
    scopes.split_whitespace().map(str::to_owned).collect()
}

fn chosen(case: Case) -> String {
    let wants = Wants { scopes: list(case.challenge), insufficient_scope: case.step_up, ..Wants::default() };
    let options = LoginOptions { scopes: list(case.settings), grant: case.grant, ..LoginOptions::default() };
    let discovered = Discovered {
        resource: None,
        scopes_of_resource: list(case.resource),
        issuer: "https://as.example".to_owned(),
        server: AuthorizationServer { scopes_supported: list(case.server), ..AuthorizationServer::default() },
        is_dpop_required: false,
        is_fallback: false,
        tried: Vec::new(),
        is_silent: false,
    };
    choose_scopes(&wants, &options, &discovered, &list(case.held)).join(" ")
}

#[test]
fn scopes_come_from_the_challenge_then_the_settings_then_the_metadata() {
    let all = Case { challenge: "c", settings: "s", resource: "r", server: "a", held: "h", ..Case::default() };
    let machine = GrantKind::ClientCredentials;
    let cases = [
        (all, "c"),
        (Case { challenge: "", ..all }, "s"),
        (Case { challenge: "", settings: "", ..all }, "r"),
        (Case { challenge: "", settings: "", resource: "", ..all }, ""),
        (Case { challenge: "b a b", ..all }, "b a"),
        (Case { settings: "x\\y é s", challenge: "", ..all }, "s"),
        // Renewing what was there is asking for more only when it was not enough.
        (Case { step_up: true, ..all }, "h c"),
        (Case { step_up: true, held: "c h", ..all }, "c h"),
        (Case { step_up: true, challenge: "", ..all }, "h s"),
        (Case { step_up: true, held: "", ..all }, "c"),
        // Staying logged in.
        (Case { server: "a offline_access", ..all }, "c offline_access"),
        (Case { server: "offline_access", challenge: "", settings: "", ..all }, "r offline_access"),
        (Case { server: "offline_access", challenge: "offline_access c", ..all }, "offline_access c"),
        (Case { server: "offline_access", step_up: true, held: "h offline_access", ..all }, "h offline_access c"),
        (Case { server: "offline_access", challenge: "", settings: "", resource: "", ..all }, ""),
        (Case { server: "offline_access", grant: machine, ..all }, "c"),
        (Case { server: "offline_access", grant: GrantKind::DeviceCode, ..all }, "c offline_access"),
        (Case { settings: "s offline_access", challenge: "", ..all }, "s offline_access"),
        (Case { resource: "r offline_access", challenge: "", settings: "", server: "a", ..all }, "r"),
    ];
    for (at, (case, expected)) in cases.into_iter().enumerate() {
        assert_eq!(chosen(case), expected, "case {at}");
    }
}

#[test]
fn not_more_is_asked_for_than_fits() {
    let many: Vec<String> = (0..2 * LOGIN_SCOPES_MAX).map(|at| format!("s{at}")).collect();
    let case = Case { settings: many.join(" ").leak(), ..Case::default() };
    assert_eq!(chosen(case).split(' ').count(), LOGIN_SCOPES_MAX);
}
