//! What may stand in front of a scripted HTTP server and answers in its place.

use std::fmt;

use futures_util::future::BoxFuture;

use crate::auth_server::answer::Answer;
use crate::http::request::Request;

/// Decides about each request before the script sees it.
pub(crate) trait Gate: Send + Sync + fmt::Debug {
    /// Whether the request, perhaps changed, goes on to the script.
    fn judge<'a>(&'a self, request: &'a mut Request) -> BoxFuture<'a, Verdict>;
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The script answers it.
    Pass,
    /// This is its answer.
    Answer(Answer),
}
