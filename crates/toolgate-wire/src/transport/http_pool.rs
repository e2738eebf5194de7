//! The HTTP connections of a client: pooled, HTTP/1.1 and HTTP/2, with proxy and certificate settings.
//!
//! One pool may serve many servers. Nothing is read from the environment; certificates of the system are loaded when the first
//! `https` URL is used, not before.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::PROXY_AUTHORIZATION;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::error::{Error, Result};
use crate::limits::{HEADER_BYTES_MAX, LimitBreach, TCP_IDLE_MS, TCP_PROBE_MS, TCP_PROBES_MAX};
use crate::transport::http_kept_alive::KeptAlive;
use crate::transport::http_payload::Payload;
use crate::transport::http_sleep::{Clocks, Moment, Renewable, SleepWatch};
use crate::transport::public_address::{Resolver, check_host};

/// How connections are made.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Proxies to go through.
    pub proxy: ProxySettings,
    /// Certificates (PEM) to trust beside those of the system.
    pub extra_roots: Vec<Vec<u8>>,
    /// Speak HTTP/2 on plain `http` from the first byte. On `https` the two sides agree by themselves.
    pub http2_prior_knowledge: bool,
    /// Connect to public addresses only: for addresses that somebody else has named, who must not reach this machine or network through
    /// us. Of a host that a proxy looks up only the text can be checked.
    pub public_only: bool,
}

/// Proxies, written as the usual environment variables write them. Empty means none. An address may hold a password, so none is ever printed.
#[derive(Clone, Default)]
pub struct ProxySettings {
    /// For `http` URLs.
    pub http: String,
    /// For `https` URLs.
    pub https: String,
    /// Hosts that are reached directly.
    pub no_proxy: String,
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxySettings").field("no_proxy", &self.no_proxy).finish_non_exhaustive()
    }
}

/// A pool of connections. Cheap to clone.
#[derive(Clone)]
pub struct HttpPool(Arc<Inner>);

struct Inner {
    settings: HttpSettings,
    matcher: Arc<Matcher>,
    /// For plain `http` without a proxy.
    direct: KeptAlive,
    plain: Renewable<Connector>,
    secure: OnceLock<Result<Renewable<HttpsConnector<Connector>>>>,
    sleep: SleepWatch,
}

impl fmt::Debug for HttpPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpPool")
    }
}

/// A URL as it may be shown to people and written to logs: what follows the path may hold a key, and is left out.
pub(crate) fn shown(url: &Uri) -> String {
    let origin = match (url.scheme_str(), url.authority()) {
        (Some(scheme), Some(authority)) => {
            let host = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
            format!("{scheme}://{host}")
        }
        _ => String::new(),
    };
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{origin}{}{query}", url.path())
}

/// The same for what need not be a URL.
pub(crate) fn shown_text(url: &str) -> String {
    let (url, query) = url.find(['?', '#']).map_or((url, ""), |end| (url.get(..end).unwrap_or_default(), "?…"));
    let (scheme, rest) = url.find("://").map_or(("", url), |start| url.split_at(start + "://".len()));
    let (authority, path) = rest.find('/').map_or((rest, ""), |start| rest.split_at(start));
    let host = authority.rsplit_once('@').map_or_else(|| authority.to_owned(), |(_, host)| format!("…@{host}"));
    format!("{scheme}{host}{path}{query}")
}

/// What a request is called in errors, where its URL is not to be shown: it goes along with the request.
#[derive(Debug, Clone)]
pub(crate) struct ShownAs(pub(crate) Arc<str>);

impl ShownAs {
    /// What a request to `url` is called.
    pub(crate) fn or_url(this: Option<&Self>, url: &Uri) -> String {
        this.map_or_else(|| shown(url), |this| this.0.to_string())
    }
}

impl Default for HttpPool {
    fn default() -> Self {
        Self::new(HttpSettings::default())
    }
}

impl HttpPool {
    /// A pool without connections yet.
    pub fn new(settings: HttpSettings) -> Self {
        Self::with_clocks(settings, Box::new(Moment::now))
    }

    /// The same with clocks that tell whether the machine has slept.
    pub(crate) fn with_clocks(settings: HttpSettings, clocks: Clocks) -> Self {
        let proxy = &settings.proxy;
        let matcher = Arc::new(Matcher::builder().http(&*proxy.http).https(&*proxy.https).no(&*proxy.no_proxy).build());
        let connector = Connector::new(matcher.clone(), &settings);
        let direct = KeptAlive::new(connector.http.clone());
        let plain = Renewable::new(builder(&settings), connector);
        let (secure, sleep) = (OnceLock::new(), SleepWatch::new(clocks));
        Self(Arc::new(Inner { settings, matcher, direct, plain, secure, sleep }))
    }

    /// Sends a request and waits for the head of the answer.
    pub async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
        self.send(request.map(Payload::from)).await
    }

    /// The same for a body that knows when it begins to leave.
    pub(crate) async fn send(&self, mut request: Request<Payload>) -> Result<Response<Incoming>> {
        if self.0.settings.public_only {
            self.check_public(&request)?;
        }
        if self.0.sleep.has_slept() {
            self.0.forget_idle();
        }
        let is_plain = request.uri().scheme() == Some(&Scheme::HTTP);
        let proxy = if is_plain { self.0.matcher.intercept(request.uri()) } else { None };
        if is_plain && proxy.is_none() && !self.0.settings.http2_prior_knowledge {
            return self.0.direct.request(request).await;
        }
        let (method, url) = (request.method().clone(), request.uri().clone());
        let shown_as = request.extensions().get::<ShownAs>().cloned();
        let answer = if is_plain {
            if let Some(auth) = proxy.and_then(|proxy| proxy.basic_auth().cloned()) {
                request.headers_mut().insert(PROXY_AUTHORIZATION, auth);
            }
            self.0.plain.client().request(request).await
        } else {
            let secure = self.0.secure.get_or_init(|| self.0.secure_client()).as_ref().map_err(Error::clone)?;
            secure.client().request(request).await
        };
        answer.map_err(|error| http_error(format!("{method} {}", ShownAs::or_url(shown_as.as_ref(), &url)), &error))
    }

    /// Names are checked again with what they stand for, while connecting; addresses are not looked up, and so checked here only.
    fn check_public(&self, request: &Request<Payload>) -> Result<()> {
        let (method, url) = (request.method(), request.uri());
        let shown = ShownAs::or_url(request.extensions().get(), url);
        check_host(url.host().unwrap_or_default()).map_err(|error| Error::io(format!("{method} {shown}"), error))
    }
}

impl Inner {
    /// Gives up all idle connections.
    fn forget_idle(&self) {
        self.direct.forget();
        self.plain.renew();
        if let Some(Ok(secure)) = self.secure.get() {
            secure.renew();
        }
    }

    fn secure_client(&self) -> Result<Renewable<HttpsConnector<Connector>>> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for pem in &self.settings.extra_roots {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| Error::io("read a certificate", error.to_string()))?;
                roots.add(certificate).map_err(|error| Error::io("trust a certificate", error))?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::io("set up TLS", error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = Connector::new(self.matcher.clone(), &self.settings);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_only()
            .enable_all_versions()
            .wrap_connector(connector);
        Ok(Renewable::new(builder(&HttpSettings::default()), connector))
    }
}

fn builder(settings: &HttpSettings) -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new());
    builder
        .http1_max_buf_size(HEADER_BYTES_MAX)
        .http2_max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX));
    builder.http2_only(settings.http2_prior_knowledge);
    builder
}

/// An HTTP failure in words, with the breach of the header limit named.
pub(crate) fn http_error(doing: String, error: &(dyn StdError + 'static)) -> Error {
    let mut text = error.to_string();
    let mut source = Some(error);
    while let Some(cause) = source {
        if cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse_too_large) {
            let what = format!("{doing}: the head of the answer");
            return Error::Limit(LimitBreach::new("HEADER_BYTES_MAX", HEADER_BYTES_MAX, what));
        }
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    Error::io(doing, text)
}

/// Connects directly or through a proxy.
#[derive(Clone)]
struct Connector {
    http: HttpConnector<Resolver>,
    /// A proxy is named by the settings, and may well be in this network.
    to_proxy: HttpConnector<Resolver>,
    matcher: Arc<Matcher>,
}

impl Connector {
    fn new(matcher: Arc<Matcher>, settings: &HttpSettings) -> Self {
        let names = if settings.public_only { Resolver::of_public_addresses() } else { Resolver::of_all_addresses() };
        Self { http: tcp(names), to_proxy: tcp(Resolver::of_all_addresses()), matcher }
    }
}

fn tcp(resolver: Resolver) -> HttpConnector<Resolver> {
    let mut http = HttpConnector::new_with_resolver(resolver);
    http.set_nodelay(true);
    http.enforce_http(false);
    // A peer that is gone without a word is found by the system, without anybody asking.
    http.set_keepalive(Some(Duration::from_millis(TCP_IDLE_MS)));
    http.set_keepalive_interval(Some(Duration::from_millis(TCP_PROBE_MS)));
    http.set_keepalive_retries(Some(TCP_PROBES_MAX));
    #[cfg(target_os = "linux")]
    http.set_tcp_user_timeout(Some(Duration::from_millis(crate::limits::TCP_UNACKNOWLEDGED_MS)));
    http
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = BoxFuture<'static, std::result::Result<Stream, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), Self::Error>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let Some(proxy) = self.matcher.intercept(&target) else {
            let mut http = self.http.clone();
            return Box::pin(async move { Ok(Stream { tcp: http.call(target).await?, absolute_form: false }) });
        };
        let mut http = self.to_proxy.clone();
        if proxy.uri().scheme().is_some_and(|scheme| *scheme != Scheme::HTTP) {
            let scheme = proxy.uri().scheme_str().unwrap_or_default().to_owned();
            return Box::pin(
                async move { Err(format!("a proxy with `{scheme}:` is not supported; use `http:`").into()) },
            );
        }
        if target.scheme() == Some(&Scheme::HTTPS) {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), http);
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            return Box::pin(async move { Ok(Stream { tcp: tunnel.call(target).await?, absolute_form: false }) });
        }
        let proxy = proxy.uri().clone();
        Box::pin(async move { Ok(Stream { tcp: http.call(proxy).await?, absolute_form: true }) })
    }
}

/// A connection that knows whether requests on it name the whole URL, as a proxy wants.
struct Stream {
    tcp: TokioIo<TcpStream>,
    absolute_form: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.tcp.connected().proxy(self.absolute_form)
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, into)
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_finds_out_by_itself_that_its_peer_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: Uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let stream = tcp(Resolver::of_all_addresses()).call(url).await.unwrap().into_inner();
        assert!(rustix::net::sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(rustix::net::sockopt::tcp_keepidle(&stream).unwrap(), Duration::from_millis(TCP_IDLE_MS));
        assert_eq!(rustix::net::sockopt::tcp_keepintvl(&stream).unwrap(), Duration::from_millis(TCP_PROBE_MS));
        assert_eq!(rustix::net::sockopt::tcp_keepcnt(&stream).unwrap(), TCP_PROBES_MAX);
        assert_eq!(u64::from(rustix::net::sockopt::tcp_user_timeout(&stream).unwrap()), 60_000);
    }
}
