//! `LoginGuide`: what a front end does for a login. It asks the person whether they want to, and sends them where it happens.

use std::fmt;

use futures_util::future::BoxFuture;

use crate::secret::Secret;
use crate::server_name::ServerName;

/// Leads a person through a login.
pub trait LoginGuide: Send + Sync + fmt::Debug {
    /// Whether the person wants to log in to `server` now, because it said `why`.
    fn wants_to_log_in(&self, server: ServerName, why: LoginReason) -> BoxFuture<'static, bool>;

    /// Asks the person for a client that they registered by hand, where nothing else can be had. Nobody is asked by default.
    fn ask_for_client(&self, _server: ServerName, _needed: ClientNeeded) -> BoxFuture<'static, Option<EnteredClient>> {
        Box::pin(async { None })
    }

    /// Sends the person to a page. Gives what they brought back by hand: the address the browser ended at, or a code. A person who brings
    /// nothing back keeps it waiting; it is dropped when the login ends in another way.
    fn visit(&self, server: ServerName, page: LoginPage) -> BoxFuture<'static, Brought>;
}

/// A client that has to be registered by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientNeeded {
    /// With this authorization server.
    pub issuer: String,
    /// To come back to this address.
    pub redirect_uri: Option<String>,
    /// Failed attempts to find a registration endpoint, one message each.
    pub tried: Vec<String>,
    /// Whether no metadata of the authorization server was found.
    pub is_silent: bool,
}

/// A client that a person registered by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnteredClient {
    /// Its name.
    pub client_id: String,
    /// Its secret, if it has one.
    pub client_secret: Option<Secret>,
}

/// Why a login is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// Nobody has logged in yet.
    New,
    /// The login that is there has ended or was refused.
    Ended,
    /// What was wanted needs more than the login that is there: these scopes.
    MoreScopes(Vec<String>),
}

/// Where a login happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginPage {
    /// In a browser, which comes back by itself when it runs on this machine.
    Browser {
        /// Where to go.
        url: String,
    },
    /// In a browser anywhere, where a code is typed in.
    Device {
        /// Where to go.
        url: String,
        /// What to type in there.
        code: String,
        /// Where to go with the code filled in already.
        complete_url: Option<String>,
    },
}

/// What a person brought back from a page.
#[derive(Clone, PartialEq, Eq)]
pub enum Brought {
    /// A text they pasted.
    Text(String),
    /// They do not want to go on.
    GaveUp,
}

impl fmt::Debug for Brought {
    /// A pasted text holds a code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::GaveUp => "GaveUp",
        })
    }
}
