//! The seam between keeping a login and renewing it: whoever can get the next token without a person.

use futures_util::future::BoxFuture;

use super::login::Login;
use crate::error::{Error, ErrorKind};
use crate::server_name::ServerName;

/// Gets the next login without a person.
pub trait Renew: Send + Sync + std::fmt::Debug {
    /// Whether it can get a first login, which only machines can.
    fn can_begin(&self) -> bool {
        false
    }

    /// The login after `old`; with `None` the first one, which only machines can get.
    fn renew<'a>(&'a self, old: Option<&'a Login>) -> BoxFuture<'a, Result<Login, RenewError>>;
}

impl RenewError {
    /// The same for a person.
    pub(crate) fn into_error(self, server: &ServerName) -> Error {
        match self {
            Self::NeedsPerson(words) | Self::Ended(words) => Error::new(ErrorKind::LoginFailed, words),
            Self::Transient(words) => Error::new(ErrorKind::LoginFailed, words).hinting("try again later"),
        }
        .about(server)
    }
}

/// Why there is no next login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenewError {
    /// Only a person can help, and what the login is renewed with may still be good: nothing is thrown away. The words say why.
    NeedsPerson(String),
    /// The authorization server does not take what the login is renewed with, now or later. The words say so.
    Ended(String),
    /// It may work later; the login that is there is kept. The words say what went wrong.
    Transient(String),
}
