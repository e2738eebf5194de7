//! A protected MCP server and the authorization server that gives tokens for it, both as data and both on loopback ports.
//!
//! [`script`] says how they behave, [`answer`] what is answered where instead, [`record`] what they saw; [`browser`] plays the person. Within, `gate` tells requests
//! apart, `resource` checks tokens in front of the scripted service, and each step of a login has a file of its own.

pub mod answer;
pub mod browser;
pub mod record;
pub mod script;

mod authorize;
mod client;
mod device;
mod dpop;
mod form;
mod gate;
mod jwt;
mod metadata;
mod register;
mod resource;
mod token;
mod world;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

use crate::http_server::ScriptedHttp;
use crate::record::Record;

pub use answer::{Answer, AnswerAt, Ending};
pub use record::{AuthRecord, AuthRequest, IssuedToken, Tally};
pub use script::AuthScript;

use gate::{AuthGate, Side};
use world::{Places, World};

/// A running pair of servers. Dropping it stops both.
#[derive(Debug)]
pub struct AuthServer {
    world: Arc<World>,
    service: ScriptedHttp,
    /// The authorization server, where it has an origin of its own.
    _issuer: Option<ScriptedHttp>,
}

impl AuthServer {
    /// Starts a script on free ports of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(script: AuthScript) -> io::Result<Self> {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(anywhere).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let own = if script.issuer.own_origin { Some(TcpListener::bind(anywhere).await?) } else { None };
        let issuer_origin = match &own {
            Some(listener) => format!("http://{}", listener.local_addr()?),
            None => origin.clone(),
        };
        let places = Places {
            issuer: format!("{issuer_origin}{}", script.issuer.path),
            mcp: format!("{origin}{}", script.protection.mcp_path),
            origin,
            issuer_origin,
        };
        let service = script.server.clone();
        let world = Arc::new(World::new(script, places));
        let side = if own.is_some() { Side::Resource } else { Side::Both };
        let gate = |side| Some(Arc::new(AuthGate { world: world.clone(), side }) as _);
        let issuer = match own {
            Some(listener) => Some(ScriptedHttp::start_on(service.clone(), listener, gate(Side::Issuer))?),
            None => None,
        };
        let service = ScriptedHttp::start_on(service, listener, gate(side))?;
        Ok(Self { world, service, _issuer: issuer })
    }

    /// The origin of the service, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.world.places.origin
    }

    /// The MCP endpoint.
    #[must_use]
    pub fn mcp_url(&self) -> &str {
        &self.world.places.mcp
    }

    /// The issuer, which is the address of the authorization server.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.world.places.issuer
    }

    /// Where the service listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.service.address()
    }

    /// What both saw and gave out.
    #[must_use]
    pub fn record(&self) -> &AuthRecord {
        &self.world.record
    }

    /// What the service behind the gate saw.
    #[must_use]
    pub fn service_record(&self) -> &Record {
        self.service.record()
    }

    /// The service behind the gate.
    #[must_use]
    pub const fn service(&self) -> &ScriptedHttp {
        &self.service
    }

    /// Takes back all access tokens given out so far.
    pub fn revoke_access_tokens(&self) {
        self.world.state.lock().access.clear();
    }

    /// Takes back all refresh tokens given out so far.
    pub fn revoke_refresh_tokens(&self) {
        self.world.state.lock().refresh.clear();
    }

    /// Forgets all clients that were registered.
    pub fn forget_clients(&self) {
        let known = self.world.script.issuer.clients.iter().map(|client| (client.id.clone(), client.clone()));
        self.world.state.lock().clients = known.collect();
    }

    /// Asks for other nonces in proofs from now on.
    pub fn change_nonces(&self) {
        self.world.state.lock().nonce += 1;
    }
}
