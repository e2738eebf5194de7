//! Which request is for whom: a scripted answer, the authorization server, or the service behind the check of its token.

use futures_util::future::BoxFuture;
use std::sync::Arc;

use crate::auth_server::answer::Answer;
use crate::auth_server::world::World;
use crate::auth_server::{authorize, device, metadata, register, resource, token};
use crate::http::gate::{Gate, Verdict};
use crate::http::request::Request;

/// What this server's port is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    Resource,
    Issuer,
}

/// Stands before a scripted server.
#[derive(Debug)]
pub(crate) struct AuthGate {
    pub(crate) world: Arc<World>,
    pub(crate) side: Side,
}

/// Where programs ask from outside what was seen.
pub(crate) const SUMMARY_PATH: &str = "/__summary";

impl Gate for AuthGate {
    fn judge<'a>(&'a self, request: &'a mut Request) -> BoxFuture<'a, Verdict> {
        Box::pin(async move { self.verdict(request) })
    }
}

impl AuthGate {
    fn verdict(&self, request: &mut Request) -> Verdict {
        let world = &*self.world;
        if request.path() == SUMMARY_PATH {
            return Verdict::Answer(Answer::json(200, &world.record.summary()));
        }
        world.record.request(request);
        let scripted = world.scripted(request);
        if let Some((answer, false)) = scripted {
            return Verdict::Answer(answer);
        }
        let verdict = self.right_verdict(request);
        match scripted {
            Some((answer, _)) => Verdict::Answer(answer),
            None => verdict,
        }
    }

    /// What happens when nothing else is scripted.
    fn right_verdict(&self, request: &mut Request) -> Verdict {
        if self.side != Side::Issuer
            && let Some(verdict) = resource::judge(&self.world, request)
        {
            return verdict;
        }
        let answer = (self.side != Side::Resource).then(|| issuer_answer(&self.world, request)).flatten();
        Verdict::Answer(answer.unwrap_or_else(|| Answer::html(404, "<p>There is nothing here.</p>")))
    }
}

/// What the authorization server answers; `None` where it has nothing.
fn issuer_answer(world: &World, request: &Request) -> Option<Answer> {
    if let Some(answer) = metadata::answer(world, request) {
        return Some(answer);
    }
    let endpoint = request.path().strip_prefix(world.script.issuer.path.as_str())?;
    match (request.method.as_str(), endpoint) {
        ("POST", "/register") => register::answer(world, request),
        ("GET", "/authorize") => Some(authorize::answer(world, request)),
        ("POST", "/consent") => Some(authorize::decide(world, request)),
        ("POST", "/token") => Some(token::answer(world, request)),
        ("POST", "/device_authorization") => device::answer(world, request),
        ("GET", "/device") => Some(device::page(world)),
        (_, "/register" | "/authorize" | "/consent" | "/token" | "/device_authorization") => Some(Answer::status(405)),
        _ => None,
    }
}
