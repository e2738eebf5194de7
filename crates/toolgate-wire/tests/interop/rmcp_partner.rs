//! rmcp, the Rust SDK of the protocol, on either end: our client and a server of rmcp, a client of rmcp and our server.
//!
//! The server of rmcp offers what the other partner servers offer and is asked the same questions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InputRequest, InputRequests, InputRequiredResult, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::HttpPool;
use toolgate_wire::{ConnectOptions, Endpoint, Era, Version, connect};

use crate::clients::{By, OurServer, SLOW_SECONDS};
use crate::interview::{Ada, Expected, interview};

/// A server of rmcp.
#[derive(Clone)]
struct Partner {
    log: PathBuf,
}

fn read<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("as rmcp writes it")
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn question() -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    read(json!({"mode": "form", "message": "What is your name?", "requestedSchema": schema}))
}

impl Partner {
    async fn count(&self, n: u32, cx: &RequestContext<RoleServer>) -> CallToolResponse {
        let token = cx.meta.get_progress_token().expect("the client asks for progress");
        for step in 1..=n {
            let progress = ProgressNotificationParam::new(token.clone(), step.into()).with_total(n.into());
            cx.peer.notify_progress(progress).await.expect("the client is there");
        }
        said(format!("counted {n}"))
    }

    async fn slow(&self, cx: &RequestContext<RoleServer>) -> CallToolResponse {
        cx.ct.cancelled().await;
        std::fs::write(&self.log, "cancelled slow\n").expect("the log can be written");
        said("cancelled")
    }

    /// Older clients are asked; newer ones are told what is missing and come again.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if cx.protocol_version().is_some_and(|version| version.has_initialize()) {
            let answer = cx
                .peer
                .create_elicitation(question())
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            return Ok(said(format!("hello {}", answer.content.expect("content")["name"].as_str().expect("a name"))));
        }
        let Some(answers) = &request.input_responses else {
            let questions = InputRequests::from_iter([(
                "name".to_owned(),
                InputRequest::Elicitation(ElicitRequest::new(question())),
            )]);
            return Ok(InputRequiredResult::new(Some(questions), Some("the state of rmcp".to_owned())).into());
        };
        assert_eq!(request.request_state.as_deref(), Some("the state of rmcp"));
        Ok(said(format!("hello {}", answers["name"]["content"]["name"].as_str().expect("a name"))))
    }
}

impl ServerHandler for Partner {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_instructions("partner instructions")
            .with_server_info(Implementation::new("partner", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ["echo", "add", "count", "slow", "ask"]
            .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
        Ok(read(json!({"tools": tools})))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let number = |key: &str| arguments[key].as_u64().expect("a number");
        match &*request.name {
            "echo" => Ok(said(arguments["message"].as_str().expect("a message"))),
            "add" => {
                let sum = number("a") + number("b");
                let content = [json!({"type": "text", "text": sum.to_string()})];
                Ok(read::<CallToolResult>(json!({"content": content, "structuredContent": {"sum": sum}})).into())
            }
            "count" => Ok(self.count(u32::try_from(number("n")).expect("a small number"), &cx).await),
            "slow" => Ok(self.slow(&cx).await),
            "ask" => self.ask(&request, &cx).await,
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(read(json!({"prompts": [{"name": "greet", "arguments": [{"name": "name", "required": true}]}]})))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = format!("Please greet {}.", request.arguments.expect("arguments")["name"].as_str().expect("a name"));
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        Ok(read::<GetPromptResult>(json!({"messages": [message]})).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(read(json!({"resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}]})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = [json!({"uri": request.uri, "mimeType": "text/plain", "text": "first note"})];
        Ok(read::<ReadResourceResult>(json!({"contents": contents})).into())
    }
}

/// Asks a server of rmcp everything; `era` says what is taken for granted instead of found out.
async fn ask_rmcp(by: By, era: Option<Era>, version: Version) {
    let folder = tempfile::tempdir().expect("a folder for the log");
    let partner = Partner { log: folder.path().join("log") };
    let log = partner.log.clone();
    let endpoint = if by == By::Stdio { over_streams(partner) } else { over_http(partner).await };
    let mut options = ConnectOptions::new(Arc::new(Ada));
    options.era = era;
    let client = connect(endpoint, options).await.expect("rmcp is understood");
    interview(&client, Expected::version(version), &log).await;
    client.close().await;
}

fn over_streams(partner: Partner) -> Endpoint {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let running = partner.serve(theirs).await.expect("rmcp understands us");
        running.waiting().await.expect("rmcp ends in order");
    });
    let (reader, writer) = tokio::io::split(ours);
    Endpoint::Streams(Box::new(reader), Box::new(writer))
}

async fn over_http(partner: Partner) -> Endpoint {
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(partner.clone()), sessions, StreamableHttpServerConfig::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                builder.serve_connection(TokioIo::new(socket), service).await.ok();
            });
        }
    });
    Endpoint::Url(HttpEndpoint::new(HttpPool::default(), &format!("http://{address}/mcp")).expect("a URL"))
}

#[tokio::test]
async fn server_found_by_its_streams() {
    ask_rmcp(By::Stdio, None, Version::V2026_07_28).await;
}

#[tokio::test]
async fn server_found_by_its_url() {
    ask_rmcp(By::Http, None, Version::V2026_07_28).await;
}

#[tokio::test]
async fn server_with_a_handshake_over_streams() {
    ask_rmcp(By::Stdio, Some(Era::Legacy), Version::V2025_11_25).await;
}

#[tokio::test]
async fn server_with_a_session_over_http() {
    ask_rmcp(By::Http, Some(Era::Legacy), Version::V2025_11_25).await;
}

/// A client of rmcp.
#[derive(Clone, Default)]
struct Asking {
    asked: Arc<Mutex<Vec<String>>>,
    steps: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Asking {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = read(json!({"elicitation": {"form": {}}}));
        let config = ClientConfig::new(capabilities, Implementation::new("rmcp-interop", "1.0.0"));
        config.with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("{request:?} is no form")
        };
        self.asked.lock().expect("not poisoned").push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada"})))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.steps.lock().expect("not poisoned").push(params.progress);
    }
}

type Visitor = RunningService<RoleClient, Asking>;

/// Waits until something outside this task is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not seen in time: {what}");
}

async fn call(client: &Visitor, tool: &'static str, arguments: Value) -> CallToolResult {
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(read(arguments))).await;
    result.unwrap_or_else(|error| panic!("{tool}: {error}"))
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("a text").text
}

/// Lets a client of rmcp ask our server everything.
async fn asked_by_rmcp(by: By, lifecycle: ClientLifecycleMode, version: ProtocolVersion) {
    let server = OurServer::start(by).await;
    let asking = Asking::default();
    let client = if by == By::Stdio {
        let mut command = Command::new(&server.target[1]);
        command.arg("stdio").env("PARTNER_LOG", &server.log).env("PARTNER_SLOW_SECONDS", SLOW_SECONDS);
        asking.serve_with_lifecycle(TokioChildProcess::new(command).expect("our server starts"), lifecycle).await
    } else {
        // Its HTTP client wants to be able to speak TLS, though nobody does here.
        let _is_there_already = rustls::crypto::ring::default_provider().install_default().is_err();
        asking.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(server.target[1].as_str()), lifecycle).await
    };
    let client = client.expect("rmcp understands our server");
    let about = client.peer_info().expect("our server introduced itself");
    assert_eq!(about.protocol_version, version);
    assert_eq!(about.server_info.as_ref().expect("a name").name, "partner");
    assert_eq!(about.instructions.as_deref(), Some("partner instructions"));
    calls(&client).await;
    prompts_and_resources(&client).await;
    cancellation(&client, &server.log).await;
    assert_eq!(text(&call(&client, "echo", json!({"message": "still here"})).await), "still here");
    client.cancel().await.expect("rmcp ends in order");
}

async fn calls(client: &Visitor) {
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["echo", "add", "count", "slow", "ask"]);
    assert_eq!(text(&call(client, "echo", json!({"message": "hello wörld ✓"})).await), "hello wörld ✓");
    let sum = call(client, "add", json!({"a": 2, "b": 3})).await;
    assert_eq!((text(&sum), sum.structured_content.as_ref()), ("5", Some(&json!({"sum": 5}))));
    assert_eq!(text(&call(client, "count", json!({"n": 3})).await), "counted 3");
    // rmcp hands each notification to a task of its own: neither their order nor that they come before the result is kept.
    let steps = client.service().steps.clone();
    until("all progress", || steps.lock().expect("not poisoned").len() >= 3).await;
    let mut steps = steps.lock().expect("not poisoned").clone();
    steps.sort_by(f64::total_cmp);
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    assert_eq!(text(&call(client, "ask", json!({})).await), "hello Ada");
    assert_eq!(*client.service().asked.lock().expect("not poisoned"), ["What is your name?"]);
    let unknown = client.call_tool(CallToolRequestParams::new("nope")).await;
    assert!(unknown.is_err_and(|error| error.to_string().contains("there is no such tool")));
}

async fn prompts_and_resources(client: &Visitor) {
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["greet"]);
    let greet = GetPromptRequestParams::new("greet").with_arguments(read(json!({"name": "Ada"})));
    let greeting = client.get_prompt(greet).await.expect("a prompt");
    let greeting = serde_json::to_value(&greeting.messages).expect("JSON");
    assert_eq!(greeting[0]["content"]["text"], "Please greet Ada.");
    let resources = client.list_all_resources().await.expect("resources");
    assert_eq!(resources.iter().map(|resource| resource.uri.as_str()).collect::<Vec<_>>(), ["note://one"]);
    let note = client.read_resource(ReadResourceRequestParams::new("note://one")).await.expect("the note");
    let note = serde_json::to_value(&note.contents).expect("JSON");
    assert_eq!(note[0]["text"], "first note");
}

async fn cancellation(client: &Visitor, log: &Path) {
    let slow = client.call_tool(CallToolRequestParams::new("slow"));
    assert!(tokio::time::timeout(Duration::from_millis(700), slow).await.is_err(), "it runs until it is cancelled");
    until("the cancellation", || std::fs::read_to_string(log).is_ok_and(|log| log == "cancelled slow\n")).await;
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

#[tokio::test]
async fn client_with_a_handshake_over_stdio() {
    asked_by_rmcp(By::Stdio, ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25).await;
}

#[tokio::test]
async fn client_with_a_session_over_http() {
    asked_by_rmcp(By::Http, ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25).await;
}

#[tokio::test]
async fn client_that_discovers_over_stdio() {
    asked_by_rmcp(By::Stdio, discover(), ProtocolVersion::V_2026_07_28).await;
}

#[tokio::test]
async fn client_that_discovers_over_http() {
    asked_by_rmcp(By::Http, discover(), ProtocolVersion::V_2026_07_28).await;
}
