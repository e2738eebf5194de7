//! Where a server is on the network, what every request to it carries, and which other addresses count as the same place.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, Request, Response, Uri};
use hyper::body::Incoming;

use crate::error::{Error, Result};
use crate::transport::http_credentials::{Authorized, Credentials};
use crate::transport::http_payload::Payload;
use crate::transport::http_pool::{HttpPool, ShownAs, shown_text};

/// Room for what the protocol adds, so that the map does not grow step by step.
const HEADERS_OF_OUR_OWN: usize = 8;

/// Where a server is and how it is reached. Headers and what follows the path may be secret and are never printed.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// Its connections.
    pub pool: HttpPool,
    /// Its address.
    pub url: Uri,
    /// Headers for every request; they win over everything but the protocol's own.
    pub headers: HeaderMap,
    /// Who we are to the server, where that changes with time. Not asked when the headers above say it already.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// What it is called in errors, when its address is not to be shown.
    shown_as: Option<ShownAs>,
}

impl HttpEndpoint {
    /// An address without extra headers.
    pub fn new(pool: HttpPool, url: &str) -> Result<Self> {
        let doing = || format!("read the URL `{}`", shown_text(url));
        let uri: Uri = url.parse().map_err(|error| Error::io(doing(), error))?;
        if uri.host().is_none() || !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(Error::io(doing(), "it must start with `http://` or `https://` and name a host"));
        }
        let mut endpoint = Self { pool, url: uri, headers: HeaderMap::new(), credentials: None, shown_as: None };
        endpoint.take_user_out_of_url()?;
        Ok(endpoint)
    }

    /// Adds a header for every request. Its value counts as a secret.
    pub fn add_header(&mut self, name: &str, value: &str) -> Result<()> {
        let name: HeaderName = name
            .parse()
            .map_err(|error| Error::io(format!("read the header name `{}`", name.escape_debug()), error))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|error| Error::io(format!("read the value of the header `{name}`"), error))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(())
    }

    /// Calls the address this in errors, because it is secret itself.
    pub fn show_as(&mut self, text: impl Into<Arc<str>>) {
        self.shown_as = Some(ShownAs(text.into()));
    }

    /// A name and password in the URL are meant as a header, and must not be shown with the address.
    fn take_user_out_of_url(&mut self) -> Result<()> {
        let url = std::mem::take(&mut self.url);
        let mut parts = url.into_parts();
        if let Some((user, host)) = parts.authority.as_ref().and_then(|authority| authority.as_str().rsplit_once('@')) {
            let mut basic = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(user)))
                .map_err(|error| Error::io("read the name and password of a URL", error))?;
            basic.set_sensitive(true);
            self.headers.insert(AUTHORIZATION, basic);
            let host = host.parse().map_err(|error| Error::io("read the host of a URL", error))?;
            parts.authority = Some(host);
        }
        self.url = Uri::from_parts(parts).map_err(|error| Error::io("read a URL", error))?;
        Ok(())
    }

    /// The address as it may be shown.
    pub(crate) fn shown(&self) -> String {
        self.shown_at(&self.url)
    }

    /// Another address of the same server, as it may be shown.
    pub(crate) fn shown_at(&self, url: &Uri) -> String {
        ShownAs::or_url(self.shown_as.as_ref(), url)
    }

    /// The headers of every request, without those that show who we are at the moment.
    pub(crate) fn base_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.reserve(HEADERS_OF_OUR_OWN);
        headers
    }

    /// Sends one request, shown to be ours, and waits for the head of the answer. A server that refuses it is asked again with better
    /// credentials, if there are any.
    pub(crate) async fn request(
        &self,
        method: HttpMethod,
        url: Uri,
        headers: HeaderMap,
        body: Payload,
    ) -> Result<Response<Incoming>> {
        match self.credentials.as_deref() {
            Some(credentials) if !headers.contains_key(AUTHORIZATION) => {
                // Boxed, so that requests without credentials do not carry the room for it.
                Box::pin(
                    async move { Authorized { endpoint: self, credentials, method, url, headers, body }.send().await },
                )
                .await
            }
            _ => self.send(method, url, headers, body).await,
        }
    }

    /// Sends one request as it is.
    pub(crate) async fn send(
        &self,
        method: HttpMethod,
        url: Uri,
        headers: HeaderMap,
        body: Payload,
    ) -> Result<Response<Incoming>> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = url;
        *request.headers_mut() = headers;
        if let Some(shown_as) = &self.shown_as {
            request.extensions_mut().insert(shown_as.clone());
        }
        self.pool.send(request).await
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        f.debug_struct("HttpEndpoint").field("url", &self.shown()).field("headers", &names).finish_non_exhaustive()
    }
}

/// `reference` seen from `base`, if it stays on the same origin.
pub(crate) fn resolve_same_origin(base: &Uri, reference: &str) -> Option<Uri> {
    let resolved: Uri = if reference.contains("://") {
        reference.parse().ok()?
    } else {
        let path = if reference.starts_with('/') {
            reference.to_owned()
        } else if reference.starts_with('?') {
            format!("{}{reference}", base.path())
        } else {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{reference}")
        };
        format!("{}://{}{path}", base.scheme_str()?, base.authority()?).parse().ok()?
    };
    (resolved.scheme() == base.scheme() && resolved.authority() == base.authority()).then_some(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_resolve_on_their_own_origin_only() {
        let base: Uri = "http://localhost:3000/a/mcp".parse().unwrap();
        let cases = [
            ("/x?y=1", Some("http://localhost:3000/x?y=1")),
            ("x", Some("http://localhost:3000/a/x")),
            ("?session=1", Some("http://localhost:3000/a/mcp?session=1")),
            ("http://localhost:3000/z", Some("http://localhost:3000/z")),
            ("http://localhost:3001/z", None),
            ("https://localhost:3000/z", None),
            ("http://evil.example/z", None),
        ];
        for (reference, expected) in cases {
            let resolved = resolve_same_origin(&base, reference).map(|uri| uri.to_string());
            assert_eq!(resolved.as_deref(), expected, "{reference}");
        }
    }

    #[test]
    fn secrets_in_a_url_are_used_and_never_shown() {
        let endpoint = HttpEndpoint::new(HttpPool::default(), "http://ada:secret@localhost:1/mcp?key=secret").unwrap();
        assert_eq!(endpoint.shown(), "http://localhost:1/mcp?…");
        assert_eq!(endpoint.url.to_string(), "http://localhost:1/mcp?key=secret");
        assert_eq!(endpoint.headers[AUTHORIZATION], "Basic YWRhOnNlY3JldA==");
        assert!(!format!("{endpoint:?}").contains("secret"), "{endpoint:?}");
    }

    #[test]
    fn an_address_can_be_secret_as_a_whole() {
        let mut endpoint = HttpEndpoint::new(HttpPool::default(), "http://localhost:1/secret/mcp").unwrap();
        endpoint.show_as("http://localhost:1/${keychain:x}/mcp");
        let other: Uri = "http://localhost:1/secret/messages".parse().unwrap();
        assert_eq!(endpoint.shown(), "http://localhost:1/${keychain:x}/mcp");
        assert_eq!(endpoint.shown_at(&other), endpoint.shown());
        assert!(!format!("{endpoint:?}").contains("secret"), "{endpoint:?}");
    }

    #[test]
    fn secrets_in_a_wrong_url_are_covered() {
        let cases = [
            ("ftp://ada:secret@host/x?key=secret", "`ftp://…@host/x?…`"),
            ("ada:secret@host:1/mcp#secret", "`…@host:1/mcp?…`"),
            ("http://ho st/?secret", "`http://ho st/?…`"),
            ("http:///?secret", "`http:///?…`"),
        ];
        for (url, expected) in cases {
            let error = HttpEndpoint::new(HttpPool::default(), url).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_with_a_reason() {
        for url in ["localhost:3000", "ftp://x", "not a url", "/mcp", ""] {
            let error = HttpEndpoint::new(HttpPool::default(), url).unwrap_err().to_string();
            assert!(error.contains(url), "{error}");
        }
    }
}
