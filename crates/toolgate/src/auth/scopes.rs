//! What a login asks for. Pure.

use super::account::LoginOptions;
use super::challenge::{Wants, is_scope};
use super::discover::Discovered;
use crate::limits::LOGIN_SCOPES_MAX;

/// The scope that lets a login be renewed while the person is away (OpenID Connect Core §11).
pub(crate) const OFFLINE: &str = "offline_access";

/// What to ask for: what the challenge names, else what the settings say, else what the server publishes, else nothing in particular.
///
/// A token that was good for too little is followed by one that is good for what `held` was good for as well. `offline_access` is added where a person
/// logs in and the authorization server lists it, and never alone: that would take the place of what the server gives by itself. Where it is not
/// listed, it is asked for only when the challenge or the settings say so.
pub(crate) fn choose_scopes(
    wants: &Wants,
    options: &LoginOptions,
    discovered: &Discovered,
    held: &[String],
) -> Vec<String> {
    let is_offered = discovered.server.scopes_supported.iter().any(|scope| scope == OFFLINE);
    let published = discovered.scopes_of_resource.iter().filter(|scope| is_offered || *scope != OFFLINE);
    let chosen: Vec<&String> = match (wants.scopes.as_slice(), options.scopes.as_slice()) {
        ([], []) => published.collect(),
        ([], own) => own.iter().collect(),
        (wanted, _) => wanted.iter().collect(),
    };
    let before = if wants.insufficient_scope { held } else { &[] };
    let mut scopes: Vec<String> = Vec::new();
    for scope in before.iter().chain(chosen) {
        if is_scope(scope) && scopes.len() < LOGIN_SCOPES_MAX && !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    let is_missing = !scopes.is_empty() && !scopes.iter().any(|scope| scope == OFFLINE);
    if is_offered && is_missing && options.grant.needs_a_person() {
        scopes.push(OFFLINE.to_owned());
    }
    scopes
}

#[cfg(test)]
#[path = "scopes_tests.rs"]
mod tests;
