//! Writes the steps of a stream to a body, as events or as one document, and notices when the client goes away.

use std::io;

use crate::engine::steps::{End, Role, Step};
use crate::http::body::{After, BodyWriter};
use crate::http::connection::Hub;
use crate::http::event_stream::{self, Event as SseEvent};
use crate::http::reply::{Shape, Stream};
use crate::http::request::RequestReader;
use crate::record::Event;

/// Records that the client closed a stream, and cancels its request where closing means that.
pub(crate) fn closed_by_client(hub: &Hub, stream: &Stream) -> After {
    let id = if stream.id.is_null() { String::new() } else { stream.id.to_string() };
    let method = if stream.method.is_empty() { "GET".to_owned() } else { stream.method.clone() };
    hub.server.record.event(Event::StreamClosedByClient { method, id });
    if let Some(session) = &stream.cancels {
        session.cancel(&stream.id);
    }
    After::Close
}

/// What one step did to the stream.
enum Went {
    On,
    Ended(After),
    /// The body is to be ended properly.
    Finished,
    Silent,
    Frozen,
}

/// Writes the steps of a stream.
pub(crate) struct Follower<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) stream: &'a Stream,
    pub(crate) shape: &'a Shape,
}

/// Whether a message becomes an event or a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dress {
    Event,
    Plain,
}

impl Follower<'_> {
    pub(crate) async fn events(&self, body: BodyWriter<'_>, reader: &mut RequestReader) -> io::Result<After> {
        self.follow(body, reader, Dress::Event).await
    }

    pub(crate) async fn document(&self, body: BodyWriter<'_>, reader: &mut RequestReader) -> io::Result<After> {
        self.follow(body, reader, Dress::Plain).await
    }

    async fn follow(&self, mut body: BodyWriter<'_>, reader: &mut RequestReader, dress: Dress) -> io::Result<After> {
        let mut index = self.stream.from;
        loop {
            let went = tokio::select! {
                went = self.next(&mut body, index, dress) => went?,
                () = reader.closed() => return Ok(closed_by_client(self.hub, self.stream)),
            };
            index += 1;
            if let Some(session) = &self.stream.common_of {
                session.common_reader.lock().next = index;
            }
            match went {
                Went::On => (),
                Went::Ended(after) => return Ok(after),
                Went::Finished => return body.finish().await,
                Went::Silent => {
                    reader.closed().await;
                    return Ok(closed_by_client(self.hub, self.stream));
                }
                Went::Frozen => std::future::pending().await,
            }
        }
    }

    async fn next(&self, body: &mut BodyWriter<'_>, index: usize, dress: Dress) -> io::Result<Went> {
        let Some(step) = self.stream.log.get(index).await else { return Ok(Went::Finished) };
        if !matches!(step, Step::Frame(_)) {
            self.stream.log.spend(index);
        }
        let id = self.stream.key.as_ref().map(|key| format!("{key}-{index}"));
        match step {
            Step::Frame(frame) => {
                let is_last = matches!(frame.role, Role::Answer { .. });
                let event = SseEvent {
                    kind: Some("message"),
                    id: id.as_deref(),
                    data: &frame.text,
                    is_last,
                    ..SseEvent::default()
                };
                let text = match dress {
                    Dress::Event => event_stream::write(&event, self.shape.events),
                    Dress::Plain => frame.text.to_string(),
                };
                body.write_slowly(frame.part(text.as_bytes()), frame.drip).await?;
            }
            Step::InvalidUtf8 => body.write(event_stream::NOT_UTF8).await?,
            Step::Fill { bytes } => body.fill(bytes).await?,
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Prime { retry_ms } => self.prime(body, id.as_deref(), retry_ms).await?,
            Step::PrimeAndClose { retry_ms } => {
                self.prime(body, id.as_deref(), retry_ms).await?;
                return Ok(Went::Finished);
            }
            Step::End(End::Close) => return Ok(Went::Ended(After::Close)),
            Step::End(End::Reset) => return Ok(Went::Ended(After::Reset)),
            Step::End(End::Exit(code)) => {
                let _stopping = self.hub.stop.send(code).is_ok();
                return Ok(Went::Ended(After::Close));
            }
            Step::Stall => return Ok(Went::Silent),
            Step::Freeze => return Ok(Went::Frozen),
            Step::StderrFlood { .. } | Step::Spent => (),
        }
        Ok(Went::On)
    }

    async fn prime(&self, body: &mut BodyWriter<'_>, id: Option<&str>, retry_ms: Option<u64>) -> io::Result<()> {
        let event = SseEvent { id, retry_ms, ..SseEvent::default() };
        body.write(event_stream::write(&event, self.shape.events).as_bytes()).await
    }
}
