//! Requests that belong to a login: bounded in size and time, to addresses that the server's [`Place`] allows, and never with anything
//! that the server itself gets.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_LENGTH, HeaderMap, HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use toolgate_wire::transport::http_pool::HttpPool;
use url::Url;

use super::account::{Account, LoginOptions};
use super::exchange::{Answer, Exchange};
use super::place::Place;
use super::shown::{excerpt, shown};
use crate::limits::{LOGIN_ANSWER_MS, LOGIN_REDIRECTS_MAX, METADATA_BYTES_MAX, TOKEN_ANSWER_BYTES_MAX};

/// The connections that a login may use.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// To every address.
    pub(crate) anywhere: HttpPool,
    /// To public addresses only.
    pub(crate) public: HttpPool,
}

/// Asks on behalf of one server.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    pools: Pools,
    place: Place,
    /// How long a whole answer may take, redirects included.
    patience: Duration,
}

/// An answer, whatever its status.
#[derive(Clone)]
pub(crate) struct Fetched {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// All of its body.
    pub(crate) body: Bytes,
    /// Where it came from, after redirects.
    pub(crate) url: Url,
}

impl fmt::Debug for Fetched {
    /// Headers and body may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = shown(&self.url);
        let (status, bytes) = (self.status, self.body.len());
        f.debug_struct("Fetched")
            .field("url", &url)
            .field("status", &status)
            .field("bytes", &bytes)
            .finish_non_exhaustive()
    }
}

impl Fetched {
    /// The beginning of the body as it may be shown; not for answers that may hold a token.
    pub(crate) fn excerpt(&self) -> String {
        excerpt(&String::from_utf8_lossy(&self.body))
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchError {
    /// What kind of failure.
    pub(crate) what: FetchFailure,
    /// What was asked and what went wrong, in words.
    pub(crate) why: String,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FetchFailure {
    /// The address may not be used; asking again changes nothing.
    Forbidden,
    /// Nobody answered, or the connection broke.
    Unreachable,
    /// The answer took too long.
    TooSlow,
    /// The answer is too large.
    TooLarge,
    /// One redirect after another, or one that leads nowhere.
    Redirects,
}

impl Fetcher {
    /// Asks on behalf of `server`. Its name is looked up to see whether it is a public one; what cannot be looked up counts as public.
    pub(crate) async fn for_server(pools: Pools, server: &Url) -> Self {
        let host = server.host_str().unwrap_or_default();
        let port = server.port_or_known_default().unwrap_or_default();
        let looked_up =
            tokio::time::timeout(Duration::from_millis(LOGIN_ANSWER_MS), tokio::net::lookup_host((host, port)));
        let addresses: Vec<_> = match looked_up.await {
            Ok(Ok(found)) => found.map(|address| address.ip()).collect(),
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        Self::at(pools, Place::of(server, &addresses))
    }

    /// The same for a login: what its settings name may be reached as well.
    pub(crate) async fn for_account(pools: Pools, account: &Account) -> Self {
        Self::for_server(pools, &account.url).await.trusting(&account.options)
    }

    /// Asks on behalf of a server at that place.
    pub(crate) const fn at(pools: Pools, place: Place) -> Self {
        Self { pools, place, patience: Duration::from_millis(LOGIN_ANSWER_MS) }
    }

    /// The same, where also the addresses that the settings name may be reached.
    #[must_use]
    pub(crate) fn trusting(mut self, options: &LoginOptions) -> Self {
        let LoginOptions { authorization_url, token_url, registration_url, issuer, idp_token_url, .. } = options;
        let named = [authorization_url, token_url, registration_url, issuer, idp_token_url];
        self.place = self.place.trusting(named.into_iter().flatten().map(String::as_str));
        self
    }

    /// Where the server is.
    pub(crate) const fn place(&self) -> &Place {
        &self.place
    }

    /// Reads a document. A few redirects are followed, each to where the first request could have gone as well.
    pub(crate) async fn get(&self, url: &Url) -> Result<Fetched, FetchError> {
        let asking = async {
            let mut url = url.clone();
            for _ in 0..=LOGIN_REDIRECTS_MAX {
                self.place.may_read(&url).map_err(|why| forbidden(&Method::GET, &url, &why))?;
                let response = self.send(Method::GET, &url, HeaderMap::new(), Bytes::new()).await?;
                match redirect(&url, &response)? {
                    Some(next) => url = next,
                    None => return body_of(Method::GET, url, response, METADATA_BYTES_MAX).await,
                }
            }
            let why = format!("GET {}: more than {LOGIN_REDIRECTS_MAX} redirects", shown(&url));
            Err(FetchError { what: FetchFailure::Redirects, why })
        };
        self.in_time(&Method::GET, url, asking).await
    }

    /// Sends something secret, with headers of its own. Redirects are answers like others: followed, they would carry it elsewhere.
    pub(crate) async fn post(&self, url: &Url, headers: HeaderMap, body: Bytes) -> Result<Fetched, FetchError> {
        self.place.may_trust(url).map_err(|why| forbidden(&Method::POST, url, &why))?;
        let asking = async {
            let response = self.send(Method::POST, url, headers, body).await?;
            body_of(Method::POST, url.clone(), response, TOKEN_ANSWER_BYTES_MAX).await
        };
        self.in_time(&Method::POST, url, asking).await
    }

    async fn in_time(
        &self,
        method: &Method,
        url: &Url,
        asking: impl Future<Output = Result<Fetched, FetchError>>,
    ) -> Result<Fetched, FetchError> {
        tokio::time::timeout(self.patience, asking).await.unwrap_or_else(|_| {
            let why = format!("{method} {}: no whole answer within {} ms", shown(url), self.patience.as_millis());
            Err(FetchError { what: FetchFailure::TooSlow, why })
        })
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, FetchError> {
        let doing = format!("{method} {}", shown(url));
        let unreachable = |why: String| FetchError { what: FetchFailure::Unreachable, why: format!("{doing}: {why}") };
        // A fragment is never sent.
        let mut address = url.clone();
        address.set_fragment(None);
        let mut request = Request::builder()
            .method(method)
            .uri(address.as_str())
            .body(Full::new(body))
            .map_err(|error| unreachable(error.to_string()))?;
        *request.headers_mut() = headers;
        request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let is_free = self.place.is_local() || self.place.trusts(url);
        let pool = if is_free { &self.pools.anywhere } else { &self.pools.public };
        pool.request(request).await.map_err(|error| match error {
            toolgate_wire::Error::Io { source, .. } => unreachable(source.to_string()),
            other => unreachable(other.to_string()),
        })
    }
}

impl Exchange for Fetcher {
    fn post<'a>(&'a self, url: &'a Url, headers: HeaderMap, body: Vec<u8>) -> BoxFuture<'a, Result<Answer, String>> {
        Box::pin(async move {
            let Fetched { status, headers, body, .. } =
                Self::post(self, url, headers, body.into()).await.map_err(|error| error.why)?;
            Ok(Answer { status, headers, body })
        })
    }
}

fn forbidden(method: &Method, url: &Url, why: &str) -> FetchError {
    FetchError {
        what: FetchFailure::Forbidden,
        why: format!("{method} {}: this address may not be used: {why}", shown(url)),
    }
}

/// Where an answer sends us on to, when it does.
fn redirect(from: &Url, response: &Response<Incoming>) -> Result<Option<Url>, FetchError> {
    let follows = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    if !follows.contains(&response.status()) {
        return Ok(None);
    }
    let nowhere = |why: &str| FetchError { what: FetchFailure::Redirects, why: format!("GET {}: {why}", shown(from)) };
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let location = location.ok_or_else(|| nowhere("a redirect that does not say where to"))?;
    let to = from.join(location).map_err(|_| nowhere("a redirect to what is no URL"))?;
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err(nowhere("a redirect from `https` to what is not `https`"));
    }
    Ok(Some(to))
}

/// The whole body, as far as it is not larger than `most`.
async fn body_of(method: Method, url: Url, response: Response<Incoming>, most: usize) -> Result<Fetched, FetchError> {
    let (head, mut body) = response.into_parts();
    let doing = format!("{method} {}", shown(&url));
    let too_large =
        || FetchError { what: FetchFailure::TooLarge, why: format!("{doing}: the answer is larger than {most} bytes") };
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > most)) {
        return Err(too_large());
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| FetchError {
            what: FetchFailure::Unreachable,
            why: format!("{doing}: the answer broke off: {error}"),
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if read.len() + data.len() > most {
            return Err(too_large());
        }
        read.extend_from_slice(&data);
    }
    Ok(Fetched { status: head.status, headers: head.headers, body: read.freeze(), url })
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
