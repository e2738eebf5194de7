//! Servers of this host that somebody else uses as if they were theirs, over a stream of bytes: the same process, once for all of them. What they
//! are asked and say passes through as it is, before any list or rule: those who borrow have their own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, pending};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use toolgate_wire::server::{
    About, Changes, InputRequest, InputRequired, Interruption, LogLevel, Reply, RequestContext, Server, Service,
};
use toolgate_wire::{Call, Error as WireError, RawJson, RpcError, SendMark, Task};

use super::Host;
use crate::connect::{Connection, Elicitation, ElicitationAnswer, Kind, ServerLog};
use crate::discovery::Line;
use crate::error::Result;
use crate::limits::TIME_LIMIT_MS_MAX;

/// What `_meta` says about the way a request travels, which is another one from here on.
const OF_THE_WAY: [&str; 2] = ["progressToken", "io.modelcontextprotocol/"];

/// Hears of every request that somebody makes of a server they borrowed. It is over when nobody but the hearer holds it.
type OnRequest = Arc<dyn Fn(&Arc<BorrowedRequest>) + Send + Sync>;

impl Host {
    /// Lends a server, which is started when it does not run. `on_request` hears of what is asked of it, so that whoever asks can be told and asked
    /// something in turn.
    ///
    /// # Errors
    /// When there is no such server, or it cannot be reached.
    pub async fn lend(
        &self,
        server: &str,
        on_request: impl Fn(&Arc<BorrowedRequest>) + Send + Sync + 'static,
    ) -> Result<Loan> {
        let line = self.line(server)?;
        let connection = line.live().await?.connection;
        Ok(Loan(Relay { line, connection, on_request: Arc::new(on_request), lost: Notify::new() }))
    }
}

/// A server that is lent to somebody.
#[derive(Debug)]
pub struct Loan(Relay);

impl Loan {
    /// Lets whoever is at the other end use it. Returns when they are gone, or the connection to the server is.
    pub async fn serve<R, W>(self, reader: R, writer: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let relay = Arc::new(self.0);
        let connection = &relay.connection;
        let server = Server::new(Lent { about: Arc::new(about(connection)), relay: relay.clone() });
        let changes = server.changes();
        tokio::select! {
            _why = server.serve_stream(reader, writer) => {}
            () = connection.over() => {}
            () = relay.lost.notified() => {}
            () = tell_changes(connection, &changes) => {}
        }
    }
}

/// The server as it introduced itself, in the one version it speaks with us.
fn about(connection: &Connection) -> About {
    let client = connection.client();
    let said = client.about();
    let about = About::with_info(said.info, said.capabilities).versions([client.version()]);
    match said.instructions {
        Some(text) => about.instructions(text),
        None => about,
    }
}

/// Tells of lists that change, for as long as it is waited for.
async fn tell_changes(connection: &Connection, to: &Changes) {
    let mut changed = connection.changes();
    let mut known = *changed.borrow_and_update();
    while changed.changed().await.is_ok() {
        let now = *changed.borrow_and_update();
        for kind in Kind::ALL.into_iter().filter(|kind| now.times(*kind) != known.times(*kind)) {
            match kind {
                Kind::Tools => to.tools_changed(),
                Kind::Prompts => to.prompts_changed(),
                Kind::Resources => to.resources_changed(),
            }
        }
        known = now;
    }
    pending().await
}

/// The server, as whoever borrowed it sees it.
struct Lent {
    about: Arc<About>,
    relay: Arc<Relay>,
}

impl Service for Lent {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let relay = self.relay.clone();
        Box::pin(async move { relay.pass_on(cx).await })
    }
}

/// Passes requests on to the server.
struct Relay {
    line: Line,
    connection: Connection,
    on_request: OnRequest,
    /// Nobody knows what became of a request. That is for whoever made it to decide, who sees the stream end.
    lost: Notify,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("server", self.line.server()).finish_non_exhaustive()
    }
}

impl Relay {
    async fn pass_on(&self, cx: RequestContext) -> Result<Reply, Interruption> {
        let borrowed = Arc::new(BorrowedRequest(cx.clone()));
        (self.on_request)(&borrowed);
        let _running = self.connection.runs();
        // All who use a server share its places.
        let _place = match cx.method() {
            "tools/call" => {
                let place = self.line.gate().enter(self.line.server()).await;
                self.line.count_call();
                Some(place.map_err(|busy| RpcError::internal(busy.to_string()))?)
            }
            _ => None,
        };
        let mark = SendMark::default();
        match self.ask(&cx, &mark).await {
            Ok(result) => read_reply(result),
            Err(WireError::Rpc(refusal)) => Err(refusal.into()),
            Err(error) if is_lost(&cx, &error, &mark) => {
                self.connection.failed_to_send(&error, &mark);
                self.lost.notify_one();
                pending().await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the server, and tells whoever asked how far it is. Time limits are theirs: they cancel what takes too long.
    async fn ask(&self, cx: &RequestContext, mark: &SendMark) -> Result<RawJson, WireError> {
        let limit = Duration::from_millis(TIME_LIMIT_MS_MAX);
        let call = Call::new(cx.method().to_owned(), Some(params(cx))).idle_limit(limit).total_limit(limit);
        let mut call = call.mark(mark);
        let (told, mut progress) = watch::channel(RawJson::NULL);
        if cx.meta().is_some_and(|meta| meta.member("progressToken").is_some()) {
            call = call.on_progress(move |news| {
                told.send_replace(news.params.clone().unwrap_or(RawJson::EMPTY_OBJECT));
            });
        }
        let mut asking = std::pin::pin!(self.connection.client().pass_on(call));
        loop {
            tokio::select! {
                // What was told before the answer arrives before it.
                biased;
                Ok(()) = progress.changed() => {
                    let news = progress.borrow_and_update().clone();
                    // Whoever cannot be told any more is noticed by the connection to them.
                    let _told = cx.pass_on_progress(&news).await.is_ok();
                }
                answer = &mut asking => return answer,
            }
        }
    }
}

/// Whether nobody can tell what became of a request: its connection is gone, or a call was sent and what came back is no answer.
fn is_lost(cx: &RequestContext, error: &WireError, mark: &SendMark) -> bool {
    let is_gone = matches!(error, WireError::Closed(_) | WireError::Io { .. });
    is_gone || (cx.method() == "tools/call" && mark.is_sent())
}

/// What is asked, without what was said of the way that it came, and with the answers to what the server wanted to know first.
fn params(cx: &RequestContext) -> RawJson {
    let is_replaced = |key: &str| matches!(key, "_meta" | "inputResponses" | "requestState");
    let mut params = RawJson::EMPTY_OBJECT;
    for (key, value) in cx.params().members().into_iter().rev().filter(|(key, _)| !is_replaced(key)) {
        params = params.with_member(&key, &value);
    }
    let mut meta = RawJson::EMPTY_OBJECT;
    let own = |(key, _): &(String, RawJson)| !OF_THE_WAY.iter().any(|of_the_way| key.starts_with(of_the_way));
    for (key, value) in cx.meta().map(RawJson::members).unwrap_or_default().into_iter().rev().filter(own) {
        meta = meta.with_member(&key, &value);
    }
    if meta != RawJson::EMPTY_OBJECT {
        params = params.with_member("_meta", &meta);
    }
    if !cx.input_responses().is_empty() {
        let answers = cx.input_responses().iter();
        let answers = answers.fold(RawJson::EMPTY_OBJECT, |all, (key, answer)| all.with_member(key, answer));
        params = params.with_member("inputResponses", &answers);
    }
    match cx.request_state() {
        Some(state) => params.with_member("requestState", &RawJson::string(state)),
        None => params,
    }
}

/// What the server answered, as whoever serves it on has to be told.
fn read_reply(result: RawJson) -> Result<Reply, Interruption> {
    if Task::is_in(&result).map_err(RpcError::from)? {
        return Ok(Reply::Task(result));
    }
    let wants_input = result.member("resultType").is_some_and(|kind| kind.as_str() == "\"input_required\"");
    if !wants_input {
        return Ok(Reply::Complete(result));
    }
    let questions = result.member("inputRequests").map(|questions| questions.members()).unwrap_or_default();
    let question = |(key, question): (String, RawJson)| {
        let method = question.member("method")?.read::<String>().ok()?;
        Some(InputRequest::new(key, method, question.member("params").unwrap_or(RawJson::EMPTY_OBJECT)))
    };
    let requests: Option<Vec<InputRequest>> = questions.into_iter().map(question).collect();
    let requests = requests.ok_or_else(|| RpcError::internal("the server asks something without a method"))?;
    let state = result.member("requestState").and_then(|state| state.read().ok());
    Ok(Reply::InputRequired(InputRequired { requests, state }))
}

/// A request of somebody who borrowed a server, while it runs.
#[derive(Debug)]
pub struct BorrowedRequest(RequestContext);

impl BorrowedRequest {
    /// Puts a question of the server to whoever made the request.
    pub async fn elicit(&self, question: Elicitation) -> ElicitationAnswer {
        let params = match question {
            Elicitation::Form { message, schema } => {
                RawJson::from(json!({"message": message})).with_member("requestedSchema", &schema)
            }
            Elicitation::Url { message, url } => json!({"mode": "url", "message": message, "url": url}).into(),
        };
        match self.0.ask("question", "elicitation/create", params).await {
            Ok(answer) => ElicitationAnswer::read(&answer),
            Err(_) => ElicitationAnswer::Cancel,
        }
    }

    /// Passes on what the server writes to its log.
    pub async fn log(&self, entry: ServerLog) {
        let level = LogLevel::parse(&entry.level).unwrap_or(LogLevel::Info);
        // Whoever cannot be told any more is noticed by the connection to them.
        let _told = self.0.log(level, entry.logger.as_deref(), entry.data).await.is_ok();
    }
}
