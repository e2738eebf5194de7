//! Who we are to a server, where that changes with time: the headers that show it, and what is done when the server refuses them.

use std::fmt;

use futures_util::future::BoxFuture;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method as HttpMethod, Response, StatusCode, Uri};
use hyper::body::Incoming;

use crate::error::Result;
use crate::limits::AUTHORIZATION_ATTEMPTS_MAX;
use crate::transport::http_answer::drain_later;
use crate::transport::http_endpoint::HttpEndpoint;
use crate::transport::http_payload::Payload;
use crate::transport::http_pool::shown;

/// Sees each request and each refusal. Its futures may be dropped before they end, when nobody waits for the request any more.
pub trait Credentials: Send + Sync + fmt::Debug {
    /// The headers that show who we are, for one request. An empty map sends it without.
    fn headers<'a>(&'a self, request: RequestFacts<'a>) -> BoxFuture<'a, Result<HeaderMap>>;

    /// The server refused a request and so did not execute it. Says whether there is something better now, so that the request is sent
    /// again. Not asked after the last attempt.
    fn refused<'a>(&'a self, refusal: &'a Refusal<'a>) -> BoxFuture<'a, Result<bool>>;

    /// Hears of every answer before its body is read.
    fn answered(&self, _url: &Uri, _headers: &HeaderMap) {}
}

/// What is about to be sent.
#[derive(Clone, Copy)]
pub struct RequestFacts<'a> {
    /// What is done.
    pub method: &'a HttpMethod,
    /// Where it goes. What follows the path may be secret.
    pub url: &'a Uri,
}

impl fmt::Debug for RequestFacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, shown(self.url))
    }
}

/// How a server refused: 401, or 403 with a challenge.
pub struct Refusal<'a> {
    /// Where the request went. What follows the path may be secret.
    pub url: &'a Uri,
    /// What came back.
    pub status: StatusCode,
    /// Every `WWW-Authenticate` header, as sent.
    pub challenges: Vec<String>,
    /// All headers of the answer.
    pub headers: &'a HeaderMap,
    /// How often this request was refused so far, from 1.
    pub attempt: usize,
    /// The headers that showed who we are.
    pub sent: &'a HeaderMap,
}

impl fmt::Debug for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("url", &shown(self.url))
            .field("status", &self.status)
            .field("challenges", &self.challenges)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// Every `WWW-Authenticate` header, as sent.
pub(crate) fn challenges(headers: &HeaderMap) -> Vec<String> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.get_all(WWW_AUTHENTICATE).iter().map(text).collect()
}

/// Whether an answer says that we are not, or not well enough, known.
pub(crate) fn wants_login(status: StatusCode, headers: &HeaderMap) -> bool {
    status == StatusCode::UNAUTHORIZED || (status == StatusCode::FORBIDDEN && headers.contains_key(WWW_AUTHENTICATE))
}

/// One request that shows who we are, sent again while that can be shown better.
pub(crate) struct Authorized<'a> {
    pub(crate) endpoint: &'a HttpEndpoint,
    pub(crate) credentials: &'a dyn Credentials,
    pub(crate) method: HttpMethod,
    pub(crate) url: Uri,
    /// Without those that show who we are.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Payload,
}

impl Authorized<'_> {
    /// The first answer that is no refusal, or the last refusal.
    pub(crate) async fn send(&self) -> Result<Response<Incoming>> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut sent = self.credentials.headers(RequestFacts { method: &self.method, url: &self.url }).await?;
            sent.values_mut().for_each(|value| value.set_sensitive(true));
            let mut headers = self.headers.clone();
            headers.extend(sent.clone());
            let response =
                self.endpoint.send(self.method.clone(), self.url.clone(), headers, self.body.clone()).await?;
            self.credentials.answered(&self.url, response.headers());
            if attempt >= AUTHORIZATION_ATTEMPTS_MAX || !self.sends_again(attempt, &sent, &response).await? {
                return Ok(response);
            }
            drain_later(response.into_body());
        }
    }

    async fn sends_again(&self, attempt: usize, sent: &HeaderMap, response: &Response<Incoming>) -> Result<bool> {
        let (status, headers) = (response.status(), response.headers());
        if !wants_login(status, headers) {
            return Ok(false);
        }
        let challenges = challenges(headers);
        self.credentials.refused(&Refusal { url: &self.url, status, challenges, headers, attempt, sent }).await
    }
}
