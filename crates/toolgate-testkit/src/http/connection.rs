//! One TCP connection: requests one after the other, each routed, answered, and written.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;

use crate::auth_server::answer::{Answer, Ending};
use crate::engine::deliver;
use crate::engine::server::Server;
use crate::engine::steps::{End, Role, Step, StepLog};
use crate::engine::trigger::Hit;
use crate::fault::What;
use crate::http::body::{After, BodyWriter, ResponseHead};
use crate::http::event_stream::{self, Event as SseEvent};
use crate::http::follow::{self, Follower};
use crate::http::gate::{Gate, Verdict};
use crate::http::reply::{Document, Form, Reply, Shape, Stream};
use crate::http::request::{Request, RequestReader};
use crate::http::{sse, streamable};
use crate::record::HttpSeen;

/// What all connections of one HTTP server share.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) server: Arc<Server>,
    /// What stands in front of the script.
    pub(crate) gate: Option<Arc<dyn Gate>>,
    pub(crate) jobs: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
    pub(crate) stop: mpsc::UnboundedSender<u8>,
    pub(crate) opened: AtomicU64,
    pub(crate) open: AtomicUsize,
}

impl Hub {
    /// Runs a request beside its connection, which it may outlive.
    pub(crate) fn start(&self, job: BoxFuture<'static, ()>) {
        // The queue is open as long as the server runs.
        let _queued = self.jobs.send(job).is_ok();
    }
}

/// Counts a connection as open while it lives.
struct OpenConnection<'a>(&'a AtomicUsize);

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves one connection to its end.
pub(crate) async fn serve(hub: Arc<Hub>, stream: TcpStream) {
    hub.open.fetch_add(1, Ordering::SeqCst);
    let _open = OpenConnection(&hub.open);
    let number = hub.opened.fetch_add(1, Ordering::SeqCst) + 1;
    // Small answers must not wait for the acknowledgement of the ones before.
    let _nodelay = stream.set_nodelay(true).is_ok();
    let (read, write) = stream.into_split();
    let mut connection = Connection { hub: &hub, reader: RequestReader::new(read), write, number };
    let after = connection.run().await.unwrap_or(After::Close);
    if after == After::Reset {
        let _linger = connection.write.as_ref().set_zero_linger().is_ok();
        // Dropped in the ordinary way the writing half would end the stream first.
        connection.write.forget();
    }
}

struct Connection<'a> {
    hub: &'a Hub,
    reader: RequestReader,
    write: OwnedWriteHalf,
    number: u64,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<After> {
        if let Some(after) = self.start_faults().await {
            return Ok(after);
        }
        while let Some(head) = self.reader.head().await? {
            if head.expects_continue() {
                self.write.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let mut request = self.reader.body(head).await?;
            self.hub.server.record.http(HttpSeen {
                method: request.method.clone(),
                path: request.target.clone(),
                headers: request.headers.clone(),
                body: request.text(),
                connection: self.number,
            });
            let verdict = match &self.hub.gate {
                Some(gate) => gate.judge(&mut request).await,
                None => Verdict::Pass,
            };
            let after = match verdict {
                Verdict::Pass => self.answer(&request).await?,
                Verdict::Answer(answer) => self.answer_of_gate(&request, &answer).await?,
            };
            if after != After::KeepOpen {
                return Ok(after);
            }
        }
        Ok(After::Close)
    }

    /// Writes what the gate answers in place of the script.
    async fn answer_of_gate(&mut self, request: &Request, answer: &Answer) -> io::Result<After> {
        tokio::time::sleep(Duration::from_millis(answer.delay_ms)).await;
        match answer.ending {
            Some(Ending::Close) => return Ok(After::Close),
            Some(Ending::Reset) => return Ok(After::Reset),
            Some(Ending::Silence) => {
                self.reader.closed().await;
                return Ok(After::Close);
            }
            None => {}
        }
        let content = answer.content();
        let filler = usize::try_from(answer.filler_bytes).unwrap_or(usize::MAX);
        let head = ResponseHead { status: answer.status, headers: answer.headers.clone(), cut_after: None };
        let length = Some(content.len().saturating_add(filler));
        let begun = BodyWriter::begin(&mut self.write, &head, length, answer.oddity).await?;
        let Some(mut body) = begun else { return Ok(After::Close) };
        if request.method != "HEAD" {
            let drip = answer.drip.map(|drip| (drip.bytes.max(1), Duration::from_millis(drip.every_ms)));
            body.write_slowly(&content, drip).await?;
            body.fill(answer.filler_bytes).await?;
        }
        body.finish().await
    }

    async fn start_faults(&mut self) -> Option<After> {
        let log = StepLog::new();
        for hit in self.hub.server.hits_at_start() {
            log.push(deliver::act(&self.hub.server, &hit.what));
        }
        log.finish();
        self.without_body(&log).await
    }

    async fn answer(&mut self, request: &Request) -> io::Result<After> {
        let mut hits = self.hub.server.hits_on_http(&request.method);
        let reply = match (request.method.as_str(), request.path()) {
            ("POST", "/mcp") => streamable::post(self.hub, request, &mut hits).await,
            ("GET", "/mcp") => streamable::get(self.hub, request, &hits),
            ("DELETE", "/mcp") => streamable::delete(self.hub, request, &hits),
            ("GET", "/sse") => return self.answer_sse(request, &hits).await,
            ("POST", "/messages") => sse::post(self.hub, request, &hits),
            (_, "/mcp" | "/sse" | "/messages") => Reply::Document(Document::text(405, "Method Not Allowed")),
            _ => Reply::Document(Document::text(404, "Not Found")),
        };
        let shape = Shape::of(&hits);
        if request.method != "POST"
            && let Some(after) = self.bare_faults(&hits).await
        {
            return Ok(after);
        }
        match reply {
            Reply::Document(document) => self.document(&document, &shape).await,
            Reply::Stream(stream) => self.stream(stream, &shape).await,
            Reply::Accepted(log) => {
                log.finish();
                match self.without_body(&log).await {
                    Some(after) => Ok(after),
                    None => self.document(&Document::status(202), &shape).await,
                }
            }
        }
    }

    /// Faults of a GET or DELETE, which carry no message that could have been given them.
    async fn bare_faults(&mut self, hits: &[Hit]) -> Option<After> {
        let log = StepLog::new();
        for hit in hits.iter().filter(|hit| !matches!(hit.what, What::HttpStatus(_))) {
            log.push(deliver::act(&self.hub.server, &hit.what));
        }
        log.finish();
        self.without_body(&log).await
    }

    async fn answer_sse(&mut self, request: &Request, hits: &[Hit]) -> io::Result<After> {
        let shape = Shape::of(hits);
        match sse::open(self.hub, request, hits) {
            Err(document) => self.document(&document, &shape).await,
            Ok(opened) => {
                let head = self.events_head(&opened.stream, &shape);
                let begun = BodyWriter::begin(&mut self.write, &head, None, shape.body).await?;
                let Some(mut body) = begun else { return Ok(After::Close) };
                let data = opened.endpoint.as_str();
                let first = SseEvent { kind: Some("endpoint"), data, ..SseEvent::default() };
                body.write(event_stream::opening(shape.events)).await?;
                body.write(event_stream::write(&first, shape.events).as_bytes()).await?;
                let follower = Follower { hub: self.hub, stream: &opened.stream, shape: &shape };
                let after = follower.events(body, &mut self.reader).await;
                self.hub.server.remove_session(&opened.session_id);
                after
            }
        }
    }

    /// Carries out steps where there is no body to write to; `Some` when they ended the connection.
    async fn without_body(&mut self, log: &StepLog) -> Option<After> {
        let mut index = 0;
        while let Some(step) = log.get(index).await {
            index += 1;
            match step {
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::End(End::Close) => return Some(After::Close),
                Step::End(End::Reset) => return Some(After::Reset),
                Step::End(End::Exit(code)) => {
                    let _stopping = self.hub.stop.send(code).is_ok();
                    return Some(After::Close);
                }
                Step::Stall => {
                    self.reader.closed().await;
                    return Some(After::Close);
                }
                Step::Freeze => std::future::pending().await,
                _ => (),
            }
        }
        None
    }

    async fn document(&mut self, document: &Document, shape: &Shape) -> io::Result<After> {
        let mut headers = document.headers.clone();
        replace_content_type(&mut headers, shape);
        let head = ResponseHead { status: document.status, headers, cut_after: shape.head_bytes };
        let length = Some(document.body.len());
        let begun = BodyWriter::begin(&mut self.write, &head, length, shape.body).await?;
        let Some(mut body) = begun else { return Ok(After::Close) };
        body.write(document.body.as_bytes()).await?;
        body.finish().await
    }

    fn events_head(&self, stream: &Stream, shape: &Shape) -> ResponseHead {
        let mut headers = vec![
            ("Content-Type".to_owned(), "text/event-stream".to_owned()),
            ("Cache-Control".to_owned(), "no-cache".to_owned()),
        ];
        headers.extend(stream.headers.iter().cloned());
        replace_content_type(&mut headers, shape);
        ResponseHead { status: 200, headers, cut_after: shape.head_bytes }
    }

    async fn stream(&mut self, stream: Stream, shape: &Shape) -> io::Result<After> {
        let after = self.stream_in_its_form(&stream, shape).await;
        if let Some(session) = &stream.common_of {
            session.common_reader.lock().is_followed = false;
        }
        after
    }

    async fn stream_in_its_form(&mut self, stream: &Stream, shape: &Shape) -> io::Result<After> {
        let document = match stream.form {
            Form::Events => None,
            Form::DocumentIfRefused if stream.log.len() == 0 => None,
            Form::DocumentIfRefused | Form::DocumentIfAnswer => tokio::select! {
                first = document_of(stream) => first,
                () = self.reader.closed() => return Ok(follow::closed_by_client(self.hub, stream)),
            },
        };
        let Some((status, text)) = document else {
            let head = self.events_head(stream, shape);
            let begun = BodyWriter::begin(&mut self.write, &head, None, shape.body).await?;
            let Some(mut body) = begun else { return Ok(After::Close) };
            body.write(event_stream::opening(shape.events)).await?;
            let follower = Follower { hub: self.hub, stream, shape };
            return follower.events(body, &mut self.reader).await;
        };
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        headers.extend(stream.headers.iter().cloned());
        replace_content_type(&mut headers, shape);
        let head = ResponseHead { status, headers, cut_after: shape.head_bytes };
        let length = Some(text.len());
        let begun = BodyWriter::begin(&mut self.write, &head, length, shape.body).await?;
        let Some(body) = begun else { return Ok(After::Close) };
        Follower { hub: self.hub, stream, shape }.document(body, &mut self.reader).await
    }
}

/// The status and text of the document a stream is, if it is one.
async fn document_of(stream: &Stream) -> Option<(u16, Arc<str>)> {
    let Some(Step::Frame(first)) = stream.log.get(0).await else { return None };
    let Role::Answer { status } = first.role else { return None };
    if stream.form == Form::DocumentIfRefused && status == 200 {
        return None;
    }
    let is_whole = first.to.is_none();
    let mut index = 1;
    while let Some(step) = stream.log.get(index).await {
        // After a whole message a frame is a second one, which cannot be in the same document; otherwise it is the rest.
        if is_whole && matches!(step, Step::Frame(_)) {
            return None;
        }
        index += 1;
    }
    Some((status, first.text))
}

fn replace_content_type(headers: &mut Vec<(String, String)>, shape: &Shape) {
    if let Some(kind) = &shape.content_type {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        headers.push(("Content-Type".to_owned(), kind.clone()));
    }
}
