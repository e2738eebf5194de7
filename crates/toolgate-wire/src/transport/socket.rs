//! Unix sockets: newline-delimited JSON to a server that listens on a path.

use std::path::Path;
use std::sync::Arc;

use tokio::net::UnixStream;

use crate::error::{Error, Result};
use crate::link::{Inbound, Link};
use crate::transport::stream;

/// Connects to a socket. For [`Peer::start`](crate::Peer::start).
pub async fn connect(path: &Path) -> Result<impl FnOnce(Inbound) -> Arc<dyn Link> + use<>> {
    let socket = UnixStream::connect(path).await;
    let socket = socket.map_err(|error| Error::io(format!("connect to {}", path.display()), error))?;
    Ok(open(socket))
}

/// Uses a socket that is already connected, such as one that a listener accepted.
pub fn open(socket: UnixStream) -> impl FnOnce(Inbound) -> Arc<dyn Link> + use<> {
    let (reader, writer) = socket.into_split();
    stream::open(reader, writer)
}
