//! A server on toolgate's wire that does the same work as the floor's.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::net::TcpListener;
use toolgate_wire::server::{About, Interruption, Reply, RequestContext, Server, Service};
use toolgate_wire::transport::http_server::{HttpOptions, HttpService, serve};
use toolgate_wire::{RawJson, RpcError};

use crate::Outcome;

/// How an answer travels.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Answers {
    Json,
    /// A notification goes first, so that the answer becomes an event stream.
    Events,
}

struct Echo {
    about: Arc<About>,
    answers: Answers,
}

impl Service for Echo {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let answers = self.answers;
        Box::pin(async move {
            if cx.method() == "tools/list" {
                let echo = json!({"name": "echo", "inputSchema": {"type": "object"}});
                return Ok(Reply::Complete(json!({"tools": [echo]}).into()));
            }
            if cx.method() != "tools/call" {
                return Err(RpcError::method_not_found(cx.method()).into());
            }
            if answers == Answers::Events {
                cx.progress(1.0, None, None).await?;
            }
            let arguments = cx.arguments();
            let size = arguments.member("size").and_then(|size| size.read::<usize>().ok());
            let mut result = Vec::with_capacity(size.unwrap_or(0) + 128);
            result.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
            match size {
                Some(size) => {
                    result.push(b'"');
                    result.resize(result.len() + size, b'x');
                    result.push(b'"');
                }
                None => result.extend_from_slice(arguments.member("message").unwrap_or(RawJson::NULL).as_bytes()),
            }
            result.extend_from_slice(b"}]}");
            Ok(Reply::Complete(RawJson::from_bytes(result)?))
        })
    }
}

fn server(answers: Answers) -> Server {
    let about = About::new("bench", "1", json!({"tools": {}}).into());
    Server::new(Echo { about: Arc::new(about), answers })
}

/// Serves until the process is ended; prints its address first.
pub(crate) async fn serve_http(answers: Answers) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    crate::say(&listener.local_addr()?.to_string());
    let _serving = serve(listener, HttpService::new(&server(answers), HttpOptions::new().path("/mcp")));
    std::future::pending().await
}
