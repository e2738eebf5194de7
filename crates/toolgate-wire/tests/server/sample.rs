//! `Sample`: a small service whose tools do one thing each, and that remembers what happened to it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::Notify;
use toolgate_wire::server::{
    About, Caller, InputRequest, Interest, Interruption, LogLevel, Reply, RequestContext, Service,
};
use toolgate_wire::{Notification, RawJson, RpcError};

#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) about: Arc<About>,
    pub(crate) memory: Arc<Memory>,
}

#[derive(Default)]
pub(crate) struct Memory {
    /// Handlers that were dropped before their end.
    pub(crate) dropped: AtomicUsize,
    /// Messages that found room.
    pub(crate) sent: AtomicUsize,
    /// Handlers that have begun to wait.
    pub(crate) waiting: Notify,
    /// Lets a waiting handler go on.
    pub(crate) gate: Notify,
    pub(crate) heard: Mutex<Vec<String>>,
    pub(crate) watched: Mutex<Vec<String>>,
}

pub(crate) fn capabilities() -> RawJson {
    let changing = json!({"listChanged": true});
    json!({
        "tools": changing,
        "prompts": changing,
        "resources": {"listChanged": true, "subscribe": true},
        "logging": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    })
    .into()
}

impl Sample {
    pub(crate) fn new() -> Self {
        Self::with(About::new("sample", "1.0", capabilities()))
    }

    pub(crate) fn with(about: About) -> Self {
        Self { about: Arc::new(about), memory: Arc::default() }
    }
}

/// Counts itself when it is dropped before it was told that all is well.
struct Counted(Arc<Memory>, bool);

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.1 {
            self.0.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Service for Sample {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let memory = self.memory.clone();
        Box::pin(async move {
            match cx.method() {
                "tools/call" => call(&memory, &cx).await,
                "tools/list" => Ok(json!({"tools": [], "unknown": 12}).into()),
                "prompts/list" => Ok(json!({"prompts": [], "ttlMs": 7, "cacheScope": "public"}).into()),
                "resources/read" => Err(RpcError::invalid_params("no such resource").into()),
                "tasks/get" => Ok(json!({"taskId": "t", "status": "working"}).into()),
                method => Err(RpcError::method_not_found(method).into()),
            }
        })
    }

    fn notification(&self, notification: &Notification, from: &Caller) {
        self.memory.heard.lock().unwrap().push(format!("{} {}", notification.method, from.version()));
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
        (tool == "regional").then(|| schema.into())
    }

    fn watch(&self, uri: &str, interest: Interest) {
        self.memory.watched.lock().unwrap().push(format!("{interest:?} {uri}"));
    }
}

fn form(message: &str) -> serde_json::Value {
    json!({"message": message, "requestedSchema": {"type": "object", "properties": {"x": {"type": "string"}}}})
}

fn x(answer: &RawJson) -> String {
    answer.member("content").and_then(|content| content.member("x")?.read().ok()).unwrap_or_default()
}

/// Tools that ask their client a question.
async fn ask(name: &str, memory: &Arc<Memory>, cx: &RequestContext) -> Result<Reply, Interruption> {
    match name {
        "ask" => {
            let answer = cx.ask("first", "elicitation/create", form("first?")).await?;
            Ok(json!({"x": x(&answer)}).into())
        }
        "ask_in_turn" => {
            let first = cx.ask("first", "elicitation/create", form("first?")).await?;
            cx.keep_state("half way");
            let second = cx.ask("second", "elicitation/create", form("second?")).await?;
            Ok(json!({"x": [x(&first), x(&second)], "state": cx.request_state()}).into())
        }
        "ask_at_once" => {
            let ask = |key: &str| InputRequest::new(key, "elicitation/create", form(key));
            let answers = cx.ask_all(vec![ask("first"), ask("second")]).await?;
            Ok(json!({"x": answers.iter().map(x).collect::<Vec<_>>()}).into())
        }
        "ask_about" => {
            cx.ask("q", "elicitation/create", form(&cx.arguments().to_string())).await?;
            Ok(json!({"ran": true}).into())
        }
        "ask_how_often" => {
            let message = format!("question {}", memory.sent.fetch_add(1, Ordering::SeqCst));
            cx.ask("q", "elicitation/create", form(&message)).await?;
            Ok(json!({"ran": true}).into())
        }
        "sample" => Ok(cx.ask("s", "sampling/createMessage", json!({"messages": [], "maxTokens": 1})).await?.into()),
        _ => Err(RpcError::invalid_params(format!("there is no tool `{name}`")).into()),
    }
}

async fn call(memory: &Arc<Memory>, cx: &RequestContext) -> Result<Reply, Interruption> {
    let name: String = cx.params().member("name").and_then(|name| name.read().ok()).unwrap_or_default();
    match name.as_str() {
        "echo" | "regional" => Ok(RawJson::EMPTY_OBJECT.with_member("echo", &cx.arguments()).into()),
        "fail" => Err(RpcError::invalid_params("it failed").into()),
        "meta" => Ok(json!({"_meta": {"acme/k": 1}, "resultType": "complete"}).into()),
        "progress" => {
            for step in 1..=3 {
                cx.progress(f64::from(step), Some(3.0), Some("step")).await?;
            }
            Ok(json!({"done": true}).into())
        }
        "flood" => {
            for step in 1..=2000 {
                cx.progress(f64::from(step), None, None).await?;
                memory.sent.fetch_add(1, Ordering::SeqCst);
            }
            Ok(json!({"done": true}).into())
        }
        "log" => {
            cx.log(LogLevel::Debug, None, json!("quiet")).await?;
            cx.log(LogLevel::Warning, Some("sample"), json!({"loud": true})).await?;
            Ok(json!({"logged": true}).into())
        }
        "wait" | "progress_then_wait" => {
            let mut counted = Counted(memory.clone(), false);
            if name == "progress_then_wait" {
                cx.progress(1.0, None, None).await?;
            }
            memory.waiting.notify_one();
            memory.gate.notified().await;
            counted.1 = true;
            Ok(json!({"waited": true}).into())
        }
        "part" => {
            let parted = cx.close_stream();
            memory.waiting.notify_one();
            memory.gate.notified().await;
            Ok(json!({"parted": parted}).into())
        }
        name if name.starts_with("ask") || name == "sample" => ask(name, memory, cx).await,
        "task" => Ok(Reply::Task(json!({"taskId": "t", "status": "working"}).into())),
        "who" => {
            Ok(json!({"info": cx.client_info(), "version": cx.version().as_str(), "http": cx.http().is_some()}).into())
        }
        _ => Err(RpcError::invalid_params(format!("there is no tool `{name}`")).into()),
    }
}
