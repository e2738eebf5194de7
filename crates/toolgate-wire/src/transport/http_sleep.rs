//! Connections that a machine has slept over: found by comparing two clocks, and not used again.
//!
//! While a machine sleeps its servers close what is idle, and nobody hears of it: the first request afterwards would go into a dead
//! connection. How long connections have been idle does not tell, since the steady clock sleeps as well (Linux).

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use hyper_util::client::legacy::connect::Connect;
use hyper_util::client::legacy::{Builder, Client};

use crate::limits::CLOCKS_APART_MS_MAX;
use crate::peer::lock;
use crate::transport::http_payload::Payload;

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) steady: Instant,
    pub(crate) wall: SystemTime,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }

    /// Whether the machine slept between this moment and a later one. A clock on the wall that was set back says nothing.
    fn slept_until(self, later: Self) -> bool {
        let by_wall = later.wall.duration_since(self.wall).unwrap_or_default();
        let steady = later.steady.saturating_duration_since(self.steady);
        by_wall > steady + Duration::from_millis(CLOCKS_APART_MS_MAX)
    }
}

/// Tells what both clocks say.
pub(crate) type Clocks = Box<dyn Fn() -> Moment + Send + Sync>;

/// Notices that the machine has slept.
pub(crate) struct SleepWatch {
    clocks: Clocks,
    last: Mutex<Moment>,
}

impl SleepWatch {
    pub(crate) fn new(clocks: Clocks) -> Self {
        let last = Mutex::new(clocks());
        Self { clocks, last }
    }

    /// Whether the machine has slept since somebody asked last.
    pub(crate) fn has_slept(&self) -> bool {
        let now = (self.clocks)();
        std::mem::replace(&mut *lock(&self.last), now).slept_until(now)
    }
}

/// A client whose idle connections can be forgotten.
pub(crate) struct Renewable<C> {
    builder: Builder,
    connector: C,
    client: Mutex<Client<C, Payload>>,
}

impl<C: Connect + Clone> Renewable<C> {
    pub(crate) fn new(builder: Builder, connector: C) -> Self {
        let client = Mutex::new(builder.build(connector.clone()));
        Self { builder, connector, client }
    }

    pub(crate) fn client(&self) -> Client<C, Payload> {
        lock(&self.client).clone()
    }

    /// Forgets the connections; what runs on them goes on.
    pub(crate) fn renew(&self) {
        *lock(&self.client) = self.builder.build(self.connector.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::Request;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::transport::http_pool::{HttpPool, HttpSettings, ProxySettings};

    /// A server that counts its connections, and answers every request on each.
    async fn counting() -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = count.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut request = [0; 4096];
                    while stream.read(&mut request).await.is_ok_and(|size| size > 0) {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                    }
                });
            }
        });
        (format!("http://{address}/"), count)
    }

    #[tokio::test]
    async fn a_connection_that_was_slept_over_is_not_used_again() {
        let minute = Duration::from_secs(60);
        // How far the clocks went between two requests, and how many connections there are then.
        let cases = [
            ("nothing happens", (minute / 60, minute / 60), 1),
            ("the machine sleeps", (minute / 60, minute), 2),
            ("the clock is set right", (minute / 60, minute / 20), 1),
        ];
        for ((name, (steady, wall), expected), through_proxy) in
            cases.into_iter().flat_map(|case| [(case, false), (case, true)])
        {
            let (url, connections) = counting().await;
            let proxy = ProxySettings {
                http: if through_proxy { url.clone() } else { String::new() },
                ..ProxySettings::default()
            };
            let now = Arc::new(Mutex::new(Moment::now()));
            let clocks = now.clone();
            let settings = HttpSettings { proxy, ..HttpSettings::default() };
            let pool = HttpPool::with_clocks(settings, Box::new(move || *clocks.lock().unwrap()));
            for is_later in [false, true] {
                if is_later {
                    let mut now = now.lock().unwrap();
                    *now = Moment { steady: now.steady + steady, wall: now.wall + wall };
                }
                let request = Request::builder().uri(&url).body(Full::default()).unwrap();
                assert_eq!(pool.request(request).await.unwrap().status(), 200, "{name}");
                tokio::time::sleep(Duration::from_millis(20)).await; // Until the connection counts as idle.
            }
            assert_eq!(connections.load(Ordering::SeqCst), expected, "{name}, through a proxy: {through_proxy}");
        }
    }
}
