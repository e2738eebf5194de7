//! The server that partner clients are run against: what the partner servers in `interop` offer, on the server role of this crate.
//!
//! `partner_server stdio` serves its own stdin and stdout; `partner_server http PORT` and `partner_server sse PORT` listen on 127.0.0.1 (0
//! for any free port) and print where on stderr. A call of `slow` that is given up leaves a line in the file that `PARTNER_LOG` names.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolgate_wire::server::{About, Interruption, Reply, RequestContext, Server, Service};
use toolgate_wire::transport::http_server::{HttpOptions, HttpService, SseService, serve};
use toolgate_wire::{RawJson, RpcError, Version};

const USAGE: &str = "usage: partner_server stdio | http PORT | sse PORT";
const NOTE_URI: &str = "note://one";

/// How long `slow` runs when nobody gives it up, unless `PARTNER_SLOW_SECONDS` says otherwise.
const SLOW_SECONDS: u64 = 60;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::new(Partner::new());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stdio"] => {
            server.serve_stream(tokio::io::stdin(), tokio::io::stdout()).await;
        }
        ["http", port] => {
            let listener = listen(port, "/mcp").await?;
            let _serving = serve(listener, HttpService::new(&server, HttpOptions::new().path("/mcp")));
            tokio::signal::ctrl_c().await?;
        }
        ["sse", port] => {
            let listener = listen(port, "/sse").await?;
            let _serving = serve(listener, SseService::new(&server, HttpOptions::new(), "/sse", "/messages"));
            tokio::signal::ctrl_c().await?;
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "whoever starts it reads the address there")]
async fn listen(port: &str, path: &str) -> Result<TcpListener, Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
    eprintln!("listening http://{}{path}", listener.local_addr()?);
    Ok(listener)
}

struct Partner {
    about: Arc<About>,
    slow: Duration,
    log: Option<PathBuf>,
}

impl Partner {
    fn new() -> Self {
        let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}});
        let about = About::new("partner", "1.0.0", capabilities.into()).instructions("partner instructions");
        let seconds = variable("PARTNER_SLOW_SECONDS").and_then(|seconds| seconds.to_str()?.parse().ok());
        Self {
            about: Arc::new(about),
            slow: Duration::from_secs(seconds.unwrap_or(SLOW_SECONDS)),
            log: variable("PARTNER_LOG").map(PathBuf::from),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a program of its own; the variables are its only settings")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl Service for Partner {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let (slow, log) = (self.slow, self.log.clone());
        Box::pin(async move {
            let name = text_of(&cx.params(), "name");
            match (cx.method(), name.as_deref()) {
                ("tools/list", _) => Ok(json!({"tools": tools(cx.version())}).into()),
                ("tools/call", Some("echo")) => Ok(said(&needed::<String>(&cx, "message")?)),
                ("tools/call", Some("add")) => add(&cx),
                ("tools/call", Some("count")) => count(&cx).await,
                ("tools/call", Some("slow")) => Ok(run_slowly(slow, log).await),
                ("tools/call", Some("ask")) => ask(&cx).await,
                ("tools/call", _) => Err(RpcError::invalid_params("there is no such tool").into()),
                ("prompts/list", _) => Ok(prompts().into()),
                ("prompts/get", Some("greet")) => {
                    let text = format!("Please greet {}.", needed::<String>(&cx, "name")?);
                    Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}).into())
                }
                ("prompts/get", _) => Err(RpcError::invalid_params("there is no such prompt").into()),
                ("resources/list", _) => {
                    Ok(json!({"resources": [{"uri": NOTE_URI, "name": "one", "mimeType": "text/plain"}]}).into())
                }
                ("resources/templates/list", _) => Ok(json!({"resourceTemplates": []}).into()),
                ("resources/read", _) => read(&cx),
                (method, _) => Err(RpcError::method_not_found(method).into()),
            }
        })
    }
}

/// The tools, as far as a version knows what they need.
fn tools(version: Version) -> Vec<Value> {
    let schema = |properties: Value| {
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
        json!({"type": "object", "properties": properties, "required": required})
    };
    let integer = json!({"type": "integer"});
    let mut add = json!({"name": "add", "description": "Adds two integers", "inputSchema": schema(json!({"a": integer, "b": integer}))});
    if version.has_structured_output() {
        add["outputSchema"] = schema(json!({"sum": integer}));
    }
    let echo = schema(json!({"message": {"type": "string"}}));
    let mut tools = vec![
        json!({"name": "echo", "description": "Returns the message", "inputSchema": echo}),
        add,
        json!({"name": "count", "description": "Reports progress n times", "inputSchema": schema(json!({"n": integer}))}),
        json!({"name": "slow", "description": "Runs until it is cancelled", "inputSchema": {"type": "object"}}),
    ];
    if version.has_elicitation() {
        tools.push(json!({"name": "ask", "description": "Asks for a name", "inputSchema": {"type": "object"}}));
    }
    tools
}

fn prompts() -> Value {
    let arguments = [json!({"name": "name", "description": "Who is greeted", "required": true})];
    json!({"prompts": [{"name": "greet", "description": "A greeting", "arguments": arguments}]})
}

fn said(text: &str) -> Reply {
    json!({"content": [{"type": "text", "text": text}]}).into()
}

fn text_of(object: &RawJson, key: &str) -> Option<String> {
    object.member(key)?.read().ok()
}

/// An argument that must be there.
fn needed<T: serde::de::DeserializeOwned>(cx: &RequestContext, key: &str) -> Result<T, RpcError> {
    let value = cx.arguments().member(key).and_then(|value| value.read().ok());
    value.ok_or_else(|| RpcError::invalid_params(format!("the argument `{key}` is missing or of the wrong kind")))
}

fn add(cx: &RequestContext) -> Result<Reply, Interruption> {
    let (a, b): (i64, i64) = (needed(cx, "a")?, needed(cx, "b")?);
    let sum = a.checked_add(b).ok_or_else(|| RpcError::invalid_params("the sum is too large"))?;
    let mut result = json!({"content": [{"type": "text", "text": sum.to_string()}]});
    if cx.version().has_structured_output() {
        result["structuredContent"] = json!({"sum": sum});
    }
    Ok(result.into())
}

async fn count(cx: &RequestContext) -> Result<Reply, Interruption> {
    let n: u32 = needed(cx, "n")?;
    for step in 1..=n {
        cx.progress(step.into(), Some(n.into()), None).await?;
    }
    Ok(said(&format!("counted {n}")))
}

/// Leaves its line when it is dropped before it was disarmed.
struct Cancelled(Option<PathBuf>);

impl Drop for Cancelled {
    fn drop(&mut self) {
        let Some(log) = self.0.take() else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&log);
        if let Err(error) = file.and_then(|mut file| file.write_all(b"cancelled slow\n")) {
            tracing::warn!(%error, log = %log.display(), "cannot note that a call was cancelled");
        }
    }
}

async fn run_slowly(time: Duration, log: Option<PathBuf>) -> Reply {
    let mut cancelled = Cancelled(log);
    tokio::time::sleep(time).await;
    cancelled.0 = None;
    said("slow is done")
}

async fn ask(cx: &RequestContext) -> Result<Reply, Interruption> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let question = json!({"message": "What is your name?", "requestedSchema": schema});
    let answer = cx.ask("name", "elicitation/create", question).await?;
    Ok(match text_of(&answer, "action").as_deref() {
        Some("accept") => {
            let name = answer.member("content").and_then(|content| text_of(&content, "name"));
            said(&format!("hello {}", name.ok_or_else(|| RpcError::invalid_params("the answer has no `name`"))?))
        }
        Some("decline") => said("declined"),
        _ => said("cancelled"),
    })
}

fn read(cx: &RequestContext) -> Result<Reply, Interruption> {
    match text_of(&cx.params(), "uri") {
        Some(uri) if uri.trim_end_matches('/') == NOTE_URI => {
            Ok(json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": "first note"}]}).into())
        }
        _ => Err(RpcError::invalid_params("there is no such resource").into()),
    }
}
