//! `RuntimeLender`: the runtime, as a session sees it that uses its servers instead of starting them once more.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use toolgate::connect::Lender;
use toolgate::servers::{ServerConfig, identity};
use toolgate::wire::Endpoint;

use super::frames::{Borrowing, Errand, FrameReader, Request, ToClient, ToRuntime, Wants};
use super::place::{Found, Place};

/// The answer is a frame without a body, and the server says nothing before it is asked.
const ANSWER_BYTES: usize = 64;

/// The runtime, and what it has to know of the session.
#[derive(Debug)]
pub(crate) struct RuntimeLender {
    place: Place,
    errand: Errand,
}

impl RuntimeLender {
    /// The runtime at that place, for a session that was started like that.
    pub(crate) const fn new(place: Place, errand: Errand) -> Self {
        Self { place, errand }
    }
}

impl Lender for RuntimeLender {
    fn lend(&self, server: &Arc<ServerConfig>) -> BoxFuture<'static, Option<Endpoint>> {
        // Somebody else's place is told about by commands, which ask there too.
        let Found::Runtime(stream) = self.place.connect() else { return Box::pin(async { None }) };
        let borrowing =
            Borrowing { errand: self.errand.clone(), server: server.name.to_string(), identity: identity(server) };
        Box::pin(borrow(stream, borrowing))
    }
}

/// Asks for a server; nothing when it is not lent.
async fn borrow(stream: std::os::unix::net::UnixStream, borrowing: Borrowing) -> Option<Endpoint> {
    stream.set_nonblocking(true).ok()?;
    let mut stream = UnixStream::from_std(stream).ok()?;
    let request = ToRuntime::Request(Box::new(Request::new(Wants::Borrow(Box::new(borrowing)))));
    stream.write_all(&request.bytes()).await.ok()?;
    let mut reader = FrameReader::default();
    let mut answer = [0; ANSWER_BYTES];
    loop {
        let count = stream.read(&mut answer).await.ok().filter(|count| *count > 0)?;
        reader.take(answer.get(..count)?);
        match reader.next().ok()? {
            Some(ToClient::Taken) => break,
            Some(_) => return None,
            None => {}
        }
    }
    let (from, to) = stream.into_split();
    Some(Endpoint::Streams(Box::new(from), Box::new(to)))
}
