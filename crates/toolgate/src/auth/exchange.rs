//! The seam to the network for everything that is posted to an authorization server: one request, one whole answer. How it travels, how much of
//! it is taken and how long is waited is for whoever implements it.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use url::Url;

/// Sends one request to an authorization server and gives the whole answer.
pub(crate) trait Exchange: Send + Sync {
    /// Posts `body`. Redirects are not followed: what is posted is secret. The error says in words why there is no answer.
    fn post<'a>(&'a self, url: &'a Url, headers: HeaderMap, body: Vec<u8>) -> BoxFuture<'a, Result<Answer, String>>;
}

/// A whole answer.
#[derive(Clone)]
pub(crate) struct Answer {
    /// How it went.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// All of the body.
    pub(crate) body: Bytes,
}

impl fmt::Debug for Answer {
    /// The body of an answer that went well holds tokens, so only its size is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

/// An address as it may stand in messages: a query or a user's name in it may be secret.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}
