//! Where the browser comes back to: a listener on this machine only, for as long as one login takes.
//!
//! A browser is kept waiting until it is known how the login ended, so that its page tells what really happened.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use url::{Host, Url};

use super::page::Page;
use super::place::is_loopback;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    CALLBACK_BROWSERS_MAX, CALLBACK_FLUSH_MS, CALLBACK_HEADER_BYTES_MAX, CALLBACK_HEADER_MS, CALLBACK_PAGE_MS,
};

/// The path that is listened on when the settings name none.
const PATH: &str = "/oauth/callback";

/// A listener for one login.
#[derive(Debug)]
pub(crate) struct Callback {
    redirect_uri: String,
    arrivals: mpsc::Receiver<Arrival>,
    listening: Vec<AbortHandle>,
    /// Whether a browser came back with anything.
    pub(crate) was_visited: bool,
}

/// A browser that came back.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What it brought. Holds a code.
    pub(crate) query: String,
    page: oneshot::Sender<Shown>,
    written: oneshot::Receiver<()>,
}

#[derive(Debug)]
struct Shown {
    status: StatusCode,
    page: Page,
}

/// What every connection of a listener needs.
#[derive(Debug)]
struct Place {
    path: String,
    arrivals: mpsc::Sender<Arrival>,
    browsers: Arc<Semaphore>,
}

impl Callback {
    /// Listens where `wanted` says (`redirectUri`), or on any port; `before` is the port that was listened on for the same client the last
    /// time, and is taken again when it is free.
    ///
    /// # Errors
    /// When the port that is wanted cannot be had.
    pub(crate) async fn listen(wanted: Option<&str>, port: Option<u16>, before: Option<&str>) -> Result<Self> {
        let wanted =
            wanted.map(|text| Url::parse(text).map_err(|error| unusable(text, &error.to_string()))).transpose()?;
        let Some(wanted) = wanted else {
            let is_free_to_choose = port.is_none();
            let port = port.or_else(|| before.and_then(own_port)).unwrap_or(0);
            let listeners = match bind(&[Ipv4Addr::LOCALHOST.into()], port).await {
                Err(_) if is_free_to_choose => bind(&[Ipv4Addr::LOCALHOST.into()], 0).await,
                bound => bound,
            };
            let listeners = listeners.map_err(|error| busy(port, &error))?;
            let port = listeners.first().map_or(0, |(_, address)| address.port());
            return Ok(Self::start(format!("http://127.0.0.1:{port}{PATH}"), PATH, listeners));
        };
        let addresses = addresses(&wanted);
        let wanted_port = port.or_else(|| wanted.port()).or_else(|| wanted.port_or_known_default());
        let is_here = is_loopback(&wanted);
        // Behind a forwarder or a tunnel any port may be meant, so only one that is written can be listened on.
        let port = if is_here || port.is_some() { wanted_port.unwrap_or(0) } else { wanted.port().unwrap_or(0) };
        let listeners = bind(&addresses, port).await.map_err(|error| busy(port, &error))?;
        let path = wanted.path().to_owned();
        let mut redirect_uri = wanted.to_string();
        if is_here && wanted.port() == Some(0) {
            let port = listeners.first().map_or(0, |(_, address)| address.port());
            let mut filled = wanted.clone();
            let _is_http = filled.set_port(Some(port)).is_ok();
            redirect_uri = filled.to_string();
        }
        Ok(Self::start(redirect_uri, &path, listeners))
    }

    fn start(redirect_uri: String, path: &str, listeners: Vec<(TcpListener, SocketAddr)>) -> Self {
        let (sender, arrivals) = mpsc::channel(CALLBACK_BROWSERS_MAX);
        let browsers = Arc::new(Semaphore::new(CALLBACK_BROWSERS_MAX));
        let place = Arc::new(Place { path: path.to_owned(), arrivals: sender, browsers });
        let listen = |(listener, _)| tokio::spawn(accept(listener, place.clone())).abort_handle();
        let listening = listeners.into_iter().map(listen).collect();
        Self { redirect_uri, arrivals, listening, was_visited: false }
    }

    /// The address that browsers are to come back to.
    pub(crate) fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// The next browser that comes back with something.
    pub(crate) async fn next(&mut self) -> Option<Arrival> {
        let arrival = self.arrivals.recv().await;
        self.was_visited |= arrival.is_some();
        arrival
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        self.listening.iter().for_each(AbortHandle::abort);
    }
}

impl Arrival {
    /// Shows the browser how it ended, and waits until it has been told.
    pub(crate) async fn show(self, page: Page) {
        let status = if page.is_good { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        if self.page.send(Shown { status, page }).is_ok() {
            let limit = Duration::from_millis(CALLBACK_FLUSH_MS);
            let _it_went_away = tokio::time::timeout(limit, self.written).await.is_err();
        }
    }
}

/// Who may be listened for. Never anybody but this machine.
fn addresses(wanted: &Url) -> Vec<IpAddr> {
    match wanted.host() {
        Some(Host::Ipv6(_)) => vec![Ipv6Addr::LOCALHOST.into()],
        Some(Host::Domain(_)) => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Some(Host::Ipv4(_)) | None => vec![Ipv4Addr::LOCALHOST.into()],
    }
}

/// The port of an address that we made ourselves.
fn own_port(redirect_uri: &str) -> Option<u16> {
    let url = Url::parse(redirect_uri).ok()?;
    (url.host_str() == Some("127.0.0.1") && url.path() == PATH).then(|| url.port()).flatten()
}

/// The first address must be had; the others are for browsers that look there first.
async fn bind(addresses: &[IpAddr], port: u16) -> std::io::Result<Vec<(TcpListener, SocketAddr)>> {
    let mut listeners: Vec<(TcpListener, SocketAddr)> = Vec::new();
    for address in addresses {
        let port = listeners.first().map_or(port, |(_, first)| first.port());
        match TcpListener::bind((*address, port)).await.and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        }) {
            Ok(bound) => listeners.push(bound),
            Err(error) if listeners.is_empty() => return Err(error),
            Err(_) => (),
        }
    }
    Ok(listeners)
}

fn busy(port: u16, error: &std::io::Error) -> Error {
    let what = format!("the answer of the browser cannot be listened for on port {port}: {error}");
    Error::new(ErrorKind::LoginFailed, what).hinting("end what uses the port, or change `oauth.redirectUri`")
}

fn unusable(text: &str, why: &str) -> Error {
    Error::new(ErrorKind::Settings, format!("`oauth.redirectUri`: `{text}` is no address: {why}"))
}

async fn accept(listener: TcpListener, place: Arc<Place>) {
    loop {
        let Ok(permit) = place.browsers.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(CALLBACK_FLUSH_MS)).await;
            continue;
        };
        let place = place.clone();
        tokio::spawn(async move {
            serve(stream, place).await;
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, place: Arc<Place>) {
    let (told, written) = oneshot::channel();
    let written = std::sync::Mutex::new(Some(written));
    let service = hyper::service::service_fn(|request: Request<Incoming>| {
        let written = written.lock().ok().and_then(|mut written| written.take());
        let place = place.clone();
        async move { Ok::<_, Infallible>(answer(&request, &place, written).await) }
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(CALLBACK_HEADER_MS))
        .max_buf_size(CALLBACK_HEADER_BYTES_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let limit = Duration::from_millis(CALLBACK_HEADER_MS + CALLBACK_PAGE_MS);
    let _broken_or_late = tokio::time::timeout(limit, serving).await.is_err();
    let _nobody_waits = told.send(()).is_err();
}

async fn answer(
    request: &Request<Incoming>,
    place: &Place,
    written: Option<oneshot::Receiver<()>>,
) -> Response<Full<Bytes>> {
    if request.uri().path() != place.path {
        return shown(StatusCode::NOT_FOUND, &Page::stray("This address only waits for the end of a login"));
    }
    if request.method() != Method::GET {
        return shown(StatusCode::METHOD_NOT_ALLOWED, &Page::stray("A browser comes back here with GET"));
    }
    let (Some(query), Some(written)) = (request.uri().query(), written) else {
        return shown(StatusCode::BAD_REQUEST, &Page::stray("The browser came back without an answer"));
    };
    let (page, to_show) = oneshot::channel();
    if place.arrivals.send(Arrival { query: query.to_owned(), page, written }).await.is_err() {
        return shown(StatusCode::GONE, &Page::stray("The login that this belongs to is over"));
    }
    match tokio::time::timeout(Duration::from_millis(CALLBACK_PAGE_MS), to_show).await {
        Ok(Ok(Shown { status, page })) => shown(status, &page),
        _ => shown(StatusCode::GONE, &Page::stray("The login that this belongs to is over")),
    }
}

fn shown(status: StatusCode, page: &Page) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page.html())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    // The address in the browser holds a code: nothing on the page may pass it on, and nobody keeps it.
    let fixed = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (CONNECTION, "close"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
#[path = "callback_tests.rs"]
mod tests;
