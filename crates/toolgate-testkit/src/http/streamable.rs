//! The streamable HTTP endpoint, every era on one path: modern requests without state, legacy ones in sessions.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::engine::incoming::{self, Client, Incoming};
use crate::engine::server::Server;
use crate::engine::session::Session;
use crate::engine::steps::{Step, StepLog};
use crate::engine::trigger::Hit;
use crate::fault::{Place, What};
use crate::http::checks;
use crate::http::connection::Hub;
use crate::http::reply::{Document, Form, Reply, Stream, status_answer};
use crate::http::request::Request;
use crate::record::Event;
use crate::script::{AnswerStyle, GetStream, Priming, Sessions, UnknownSession, is_modern};

/// The key of a session's common stream in event ids.
const COMMON: &str = "common";

/// The session everybody shares on a server without sessions.
const SHARED_SESSION: &str = "shared";

/// A POST whose body was read.
struct Posted<'a> {
    hub: &'a Hub,
    request: &'a Request,
    incoming: Incoming,
    hits: Vec<Hit>,
}

/// Answers a POST; adds the faults its message sets off to `hits`.
pub(crate) async fn post(hub: &Hub, request: &Request, hits: &mut Vec<Hit>) -> Reply {
    if let Some((answer, Place::Before)) = status_answer(hits) {
        return Reply::Document(Document::scripted(answer, &Value::Null));
    }
    if let Some(refusal) = checks::refuse_post(request) {
        return Reply::Document(refusal);
    }
    let text = request.text();
    hub.server.record.message(&text);
    let incoming = incoming::read(&text);
    if let Incoming::Request(message) | Incoming::Notification(message) | Incoming::Answer(message) = &incoming {
        hits.extend(hub.server.hits_on_message(message));
        if let Some((answer, Place::Before)) = status_answer(hits) {
            let id = message.get("id").unwrap_or(&Value::Null);
            return Reply::Document(Document::scripted(answer, id));
        }
    }
    // Sessions are looked up before the message is handled, so forgetting them comes first.
    if hits.iter().any(|hit| hit.what == What::ForgetSessions && hit.place == Place::Before) {
        hub.server.forget_sessions();
        hits.retain(|hit| hit.what != What::ForgetSessions);
    }
    let posted = Posted { hub, request, incoming, hits: hits.clone() };
    if posted.is_modern() { posted.modern().await } else { posted.legacy().await }
}

impl Posted<'_> {
    fn is_modern(&self) -> bool {
        let script = &self.hub.server.script;
        let (Incoming::Request(message) | Incoming::Notification(message)) = &self.incoming else {
            return script.newest_legacy().is_none();
        };
        let in_body = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let in_header = self.request.header("mcp-protocol-version");
        let says_modern = in_body.is_some() || in_header.is_some_and(is_modern);
        script.speaks_modern() && (says_modern || script.newest_legacy().is_none())
    }

    async fn modern(self) -> Reply {
        let log = StepLog::new();
        let session = Arc::new(Session::new(log.clone()));
        let client = Client { server: Arc::clone(&self.hub.server), session, outlet: log.clone() };
        match &self.incoming {
            Incoming::Request(message) => {
                if let Some(refusal) = checks::refuse_headers(&self.hub.server, self.request, message) {
                    return Reply::Document(refusal);
                }
                let job = client.request(message, self.hits.clone());
                let stream = self.stream(log, None, message, Some(client.session));
                self.run(stream, job).await
            }
            Incoming::Notification(message) => {
                client.notification(message, &self.hits);
                Reply::Accepted(log)
            }
            Incoming::Answer(_) | Incoming::Batch(_) | Incoming::Malformed => Reply::Document(not_a_message()),
        }
    }

    async fn legacy(self) -> Reply {
        let is_first = matches!(&self.incoming, Incoming::Request(message) if message["method"] == "initialize");
        let mut headers = Vec::new();
        let session = if is_first {
            let (id, session) = open_session(&self.hub.server);
            headers.extend(id.map(|id| ("Mcp-Session-Id".to_owned(), id)));
            session
        } else {
            match find_session(&self.hub.server, self.request) {
                Ok(session) => session,
                Err(refusal) => return Reply::Document(refusal),
            }
        };
        let log = StepLog::new();
        let client = Client { server: Arc::clone(&self.hub.server), session, outlet: log.clone() };
        match &self.incoming {
            Incoming::Request(message) => {
                let job = client.request(message, self.hits.clone());
                let key = self.begin_stream(&client.session, &log);
                let mut stream = self.stream(log, Some(key), message, None);
                stream.headers = headers;
                self.run(stream, job).await
            }
            Incoming::Batch(messages) if messages.iter().any(|one| one.get("method").is_some()) => {
                let job = client.batch(messages.clone());
                let key = self.begin_stream(&client.session, &log);
                let stream = self.stream(log, Some(key), &json!({"method": "batch"}), None);
                self.run(stream, job).await
            }
            Incoming::Batch(messages) => {
                messages.iter().for_each(|message| client.session.answered(message));
                Reply::Accepted(log)
            }
            Incoming::Notification(message) => {
                client.notification(message, &self.hits);
                Reply::Accepted(log)
            }
            Incoming::Answer(message) => {
                client.session.answered(message);
                Reply::Accepted(log)
            }
            Incoming::Malformed => Reply::Document(not_a_message()),
        }
    }

    /// Makes a legacy event stream resumable.
    fn begin_stream(&self, session: &Session, log: &StepLog) -> String {
        let key = format!("stream{}", self.hub.server.fresh_number());
        session.streams.lock().insert(key.clone(), log.clone());
        let http = &self.hub.server.script.http;
        if http.answers == AnswerStyle::Events {
            match http.priming {
                Priming::None => (),
                Priming::Plain => log.push([Step::Prime { retry_ms: None }]),
                Priming::Retry(ms) => log.push([Step::Prime { retry_ms: Some(ms) }]),
            }
        }
        key
    }

    fn stream(&self, log: StepLog, key: Option<String>, message: &Value, cancels: Option<Arc<Session>>) -> Stream {
        Stream {
            log,
            from: 0,
            key,
            headers: Vec::new(),
            form: match self.hub.server.script.http.answers {
                AnswerStyle::Events => Form::DocumentIfRefused,
                AnswerStyle::Json => Form::DocumentIfAnswer,
            },
            method: message["method"].as_str().unwrap_or_default().to_owned(),
            id: message["id"].clone(),
            common_of: None,
            cancels,
        }
    }

    /// Starts a request. What is ready at once is in the log before the head of the answer is written.
    async fn run(self, stream: Stream, job: BoxFuture<'static, ()>) -> Reply {
        let log = stream.log.clone();
        let mut job: BoxFuture<'static, ()> = Box::pin(async move {
            job.await;
            log.finish();
        });
        if let Some((answer, _)) = status_answer(&self.hits) {
            job.await;
            return Reply::Document(Document::scripted(answer, &stream.id));
        }
        if (&mut job).now_or_never().is_none() {
            self.hub.start(job);
        }
        Reply::Stream(stream)
    }
}

/// Answers a GET: the common stream of a legacy session, or a stream resumed.
pub(crate) fn get(hub: &Hub, request: &Request, hits: &[Hit]) -> Reply {
    if let Some((answer, _)) = status_answer(hits) {
        return Reply::Document(Document::scripted(answer, &Value::Null));
    }
    let script = &hub.server.script;
    if script.newest_legacy().is_none() || script.http.get_stream == GetStream::Refused {
        return Reply::Document(Document::text(405, "no GET here").header("Allow", "POST"));
    }
    if let Some(refusal) = checks::refuse_get(request) {
        return Reply::Document(refusal);
    }
    let session = match find_session(&hub.server, request) {
        Ok(session) => session,
        Err(refusal) => return Reply::Document(refusal),
    };
    match request.header("last-event-id") {
        Some(event) => resume(&session, event),
        None => follow_common(&session, None),
    }
}

fn resume(session: &Arc<Session>, event: &str) -> Reply {
    let Some((key, index)) = event.rsplit_once('-') else { return unknown_event(event) };
    let Ok(index) = index.parse::<usize>() else { return unknown_event(event) };
    if key == COMMON {
        return follow_common(session, Some(index + 1));
    }
    let Some(log) = session.streams.lock().get(key).cloned() else { return unknown_event(event) };
    Reply::Stream(Stream { key: Some(key.to_owned()), ..Stream::for_get(log, index + 1) })
}

fn unknown_event(event: &str) -> Reply {
    let message = format!("nothing can be resumed after event `{event}`");
    Reply::Document(Document::error(400, Some(&Value::Null), -32000, &message))
}

fn follow_common(session: &Arc<Session>, from: Option<usize>) -> Reply {
    let mut reader = session.common_reader.lock();
    if reader.is_followed {
        let message = "this session has its stream already";
        return Reply::Document(Document::error(409, Some(&Value::Null), -32000, message));
    }
    reader.is_followed = true;
    let from = from.unwrap_or(reader.next);
    Reply::Stream(Stream {
        key: Some(COMMON.to_owned()),
        common_of: Some(Arc::clone(session)),
        ..Stream::for_get(session.common.clone(), from)
    })
}

/// Answers a DELETE: the end of a session.
pub(crate) fn delete(hub: &Hub, request: &Request, hits: &[Hit]) -> Reply {
    if let Some((answer, _)) = status_answer(hits) {
        return Reply::Document(Document::scripted(answer, &Value::Null));
    }
    if hub.server.script.newest_legacy().is_none() {
        return Reply::Document(Document::text(405, "no DELETE here").header("Allow", "POST"));
    }
    let session = match find_session(&hub.server, request) {
        Ok(session) => session,
        Err(refusal) => return Reply::Document(refusal),
    };
    session.common.finish();
    if let Some(id) = request.header("mcp-session-id") {
        hub.server.remove_session(id);
        hub.server.record.event(Event::SessionDeleted { id: id.to_owned() });
    }
    Reply::Document(Document::status(200))
}

fn open_session(server: &Server) -> (Option<String>, Arc<Session>) {
    if server.script.http.sessions == Sessions::Absent {
        return (None, shared_session(server));
    }
    let id = format!("session-{}-of-life-{}", server.fresh_number(), server.life());
    let session = Arc::new(Session::new(StepLog::new()));
    server.add_session(&id, &session);
    server.record.event(Event::SessionOpened { id: id.clone() });
    (Some(id), session)
}

fn shared_session(server: &Server) -> Arc<Session> {
    server.session(SHARED_SESSION).unwrap_or_else(|| {
        let session = Arc::new(Session::new(StepLog::new()));
        server.add_session(SHARED_SESSION, &session);
        session
    })
}

fn find_session(server: &Server, request: &Request) -> Result<Arc<Session>, Document> {
    if server.script.http.sessions == Sessions::Absent {
        return Ok(shared_session(server));
    }
    let null = Some(&Value::Null);
    let Some(id) = request.header("mcp-session-id") else {
        return Err(Document::error(400, null, -32000, "Bad Request: no session; `initialize` opens one"));
    };
    let Some(session) = server.session(id) else {
        let message = "Bad Request: no valid session id";
        return Err(match server.script.http.unknown_session {
            UnknownSession::NotFound => Document::error(404, null, -32001, "Session not found"),
            UnknownSession::BadRequestWithoutId => Document::error(400, None, -32000, message),
            UnknownSession::BadRequestText => Document::text(400, message),
        });
    };
    let version = request.header("mcp-protocol-version");
    if version.is_some() && version != session.version().as_deref() {
        let message = "Bad Request: MCP-Protocol-Version is not what was negotiated";
        return Err(Document::error(400, null, -32000, message));
    }
    Ok(session)
}

fn not_a_message() -> Document {
    Document::error(400, Some(&Value::Null), -32700, "this is not a JSON-RPC message for this server")
}
