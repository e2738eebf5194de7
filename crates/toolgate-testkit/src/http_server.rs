//! A script over HTTP: streamable HTTP of every era on `/mcp`, the older HTTP+SSE on `/sse` and `/messages`.

use serde_json::Value;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use crate::engine::server::Server;
use crate::http::connection::{self, Hub};
use crate::http::gate::Gate;
use crate::offer::Change;
use crate::record::Record;
use crate::script::Script;

/// A running HTTP server. Dropping it stops it with all its connections.
#[derive(Debug)]
pub struct ScriptedHttp {
    hub: Arc<Hub>,
    address: SocketAddr,
    orders: mpsc::UnboundedSender<Order>,
    running: JoinHandle<()>,
}

/// What the accepting task is told.
#[derive(Debug)]
enum Order {
    Restart(oneshot::Sender<()>),
    Stop,
}

impl ScriptedHttp {
    /// Starts a script on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts a script at an address: to come back where another server was.
    ///
    /// # Errors
    /// When the address cannot be opened.
    pub async fn start_at(script: Script, address: SocketAddr) -> io::Result<Self> {
        Self::start_on(script, TcpListener::bind(address).await?, None)
    }

    /// Starts a script on a port that is open already, behind a gate.
    pub(crate) fn start_on(script: Script, listener: TcpListener, gate: Option<Arc<dyn Gate>>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let server = Server::new(script, Record::default(), 1);
        let (jobs, job_queue) = mpsc::unbounded_channel();
        let (stop, stops) = mpsc::unbounded_channel();
        let (orders, order_queue) = mpsc::unbounded_channel();
        let opened = AtomicU64::new(0);
        let open = AtomicUsize::new(0);
        let hub = Arc::new(Hub { server, gate, jobs, stop, opened, open });
        let queues = Queues { jobs: job_queue, stops, orders: order_queue };
        let running = tokio::spawn(accept(Arc::clone(&hub), listener, queues));
        Ok(Self { hub, address, orders, running })
    }

    /// The streamable HTTP endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The endpoint of the legacy HTTP+SSE transport.
    #[must_use]
    pub fn sse_url(&self) -> String {
        format!("http://{}/sse", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it saw.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.hub.server.record
    }

    /// The messages received so far.
    #[must_use]
    pub fn received(&self) -> Vec<Value> {
        self.record().received()
    }

    /// How many TCP connections are open now.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.hub.open.load(Ordering::SeqCst)
    }

    /// Changes what it offers and announces it, as a tool call with that behaviour would.
    pub fn change(&self, change: &Change) {
        self.hub.server.change(change);
    }

    /// Restarts it at the same address: every connection breaks, every session is forgotten.
    pub async fn restart(&self) {
        let (done, is_done) = oneshot::channel();
        // A server that has stopped has nothing to restart.
        if self.orders.send(Order::Restart(done)).is_ok() {
            let _restarted = is_done.await.is_ok();
        }
    }

    /// Stops it: the port is closed and every connection with it.
    pub async fn stop(mut self) {
        let _ordered = self.orders.send(Order::Stop).is_ok();
        let _joined = (&mut self.running).await.is_ok();
    }
}

impl Drop for ScriptedHttp {
    fn drop(&mut self) {
        // The task owns every other task of this server; they end with it.
        self.running.abort();
    }
}

struct Queues {
    jobs: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    stops: mpsc::UnboundedReceiver<u8>,
    orders: mpsc::UnboundedReceiver<Order>,
}

async fn accept(hub: Arc<Hub>, listener: TcpListener, mut queues: Queues) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                tasks.spawn(connection::serve(Arc::clone(&hub), stream));
            },
            Some(job) = queues.jobs.recv() => { tasks.spawn(job); }
            Some(_) = tasks.join_next(), if !tasks.is_empty() => (),
            // The exit code of the script: a server without a process of its own just stops.
            Some(_code) = queues.stops.recv() => break,
            order = queues.orders.recv() => match order {
                Some(Order::Restart(done)) => {
                    tasks.shutdown().await;
                    hub.server.restart();
                    let _told = done.send(()).is_ok();
                }
                Some(Order::Stop) | None => break,
            },
        }
    }
    drop(listener);
    tasks.shutdown().await;
}
