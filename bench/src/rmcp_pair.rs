//! The same work with rmcp, the official Rust SDK, on both ends, set up as fast as it goes: pooled connections, no delay.

use std::sync::Arc;
use std::time::Instant;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, RoleServer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ClientServiceExt, ErrorData, RoleClient, ServerHandler};
use tokio::net::TcpListener;

use crate::Outcome;
use crate::measure::{Load, Sample};

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = match arguments.get("size").and_then(serde_json::Value::as_u64) {
            Some(size) => "x".repeat(usize::try_from(size).unwrap_or_default()),
            None => arguments.get("message").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Serves until the process is ended; prints its address first.
pub(crate) async fn serve() -> Outcome {
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Echo), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    crate::say(&listener.local_addr()?.to_string());
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            builder.serve_connection(TokioIo::new(socket), service).await.ok();
        });
    }
}

/// Connects in the newest version.
pub(crate) async fn connect(url: &str) -> Outcome<RunningService<RoleClient, ()>> {
    let config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(64);
    // A client of `reqwest` wants to be able to speak TLS, though nobody does here.
    let _is_there_already = rustls::crypto::ring::default_provider().install_default().is_err();
    let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![rmcp::model::ProtocolVersion::LATEST] };
    Ok(().serve_with_lifecycle(transport, lifecycle).await?)
}

/// Runs a load on one connection.
pub(crate) async fn load(client: &RunningService<RoleClient, ()>, load: &Load) -> Outcome<Sample> {
    let arguments: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&load.arguments)?;
    let mut sample = Sample::new(load.calls);
    let each = load.calls / load.callers;
    let callers = (0..load.callers).map(|_| {
        let arguments = arguments.clone();
        async move {
            let mut times = Vec::with_capacity(each);
            for _ in 0..each {
                let started = Instant::now();
                client.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments.clone())).await?;
                times.push(started.elapsed());
            }
            Ok::<_, rmcp::ServiceError>(times)
        }
    });
    for times in futures_util::future::join_all(callers).await {
        sample.add(times?);
    }
    sample.finish();
    Ok(sample)
}
