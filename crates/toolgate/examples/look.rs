//! Looks at an MCP server: connects, says what it speaks and offers, and calls one of its tools.
//!
//! ```text
//! look                                   a small server in this process
//! look URL                               a server at an address
//! look COMMAND [ARG…]                    a server that is started
//! look … -- TOOL '{"key": "value"}'      and calls one of its tools
//! ```

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate::wire::server::{About, Interruption, Reply, RequestContext, Server, Service};
use toolgate::wire::transport::child::ChildConfig;
use toolgate::wire::transport::http_client::HttpEndpoint;
use toolgate::wire::transport::http_pool::HttpPool;
use toolgate::wire::transport::pair::pair;
use toolgate::wire::{
    Client, ClientSide, ConnectOptions, Endpoint, Question, RawJson, Result, RpcError, Version, connect,
};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<()> {
    let split = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (server, call) = arguments.split_at(split);
    let client = connect(endpoint(server)?, ConnectOptions::new(Arc::new(Onlooker))).await?;
    describe(&client).await?;
    match call {
        [_, tool, arguments] => show_call(&client, tool, RawJson::from_bytes(arguments.clone())?).await?,
        [_, tool] => show_call(&client, tool, RawJson::EMPTY_OBJECT).await?,
        _ if server.is_empty() => show_call(&client, "greet", json!({"name": "world"}).into()).await?,
        _ => {}
    }
    client.close().await;
    Ok(())
}

fn endpoint(server: &[String]) -> Result<Endpoint> {
    Ok(match server {
        [] => {
            let (ours, theirs) = pair();
            tokio::spawn(async move { Server::new(Greeter).serve_pair(theirs).await });
            Endpoint::Pair(ours)
        }
        [url] if url.contains("://") => Endpoint::Url(HttpEndpoint::new(HttpPool::default(), url)?),
        [program, arguments @ ..] => {
            let mut config = ChildConfig::new(program);
            config.args = arguments.iter().map(Into::into).collect();
            config.env = std::env::vars_os().collect();
            Endpoint::Child(config)
        }
    })
}

async fn describe(client: &Client) -> Result<()> {
    let about = client.about();
    say(&format!("server        {}", about.info));
    say(&format!("protocol      {}", client.version()));
    if let Some(instructions) = about.instructions {
        say(&format!("instructions  {}", instructions.lines().next().unwrap_or_default()));
    }
    if about.capabilities.member("tools").is_some() {
        let listing = client.list_tools().await?;
        for tool in &listing.entries {
            say(&format!("tool          {}  {}", tool.name, tool.description.as_deref().unwrap_or_default()));
        }
        for defect in &listing.defects {
            say(&format!("unusable      {}  {}", defect.name.as_deref().unwrap_or("?"), defect.reason));
        }
    }
    if about.capabilities.member("prompts").is_some() {
        for prompt in client.list_prompts().await?.entries {
            say(&format!("prompt        {}  {}", prompt.name, prompt.description.unwrap_or_default()));
        }
    }
    if about.capabilities.member("resources").is_some() {
        for resource in client.list_resources().await?.entries {
            say(&format!("resource      {}  {}", resource.uri, resource.name));
        }
    }
    Ok(())
}

async fn show_call(client: &Client, tool: &str, arguments: RawJson) -> Result<()> {
    say(&format!("\n> {tool} {arguments}"));
    let result = client.call_tool(tool, arguments).await?;
    say(if result.is_error { "the tool reports an error:" } else { "result:" });
    say(&if result.text().is_empty() { result.raw.to_string() } else { result.text() });
    Ok(())
}

/// A client that looks, and answers no questions.
struct Onlooker;

impl ClientSide for Onlooker {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate-look", "version": env!("CARGO_PKG_VERSION")}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        RawJson::EMPTY_OBJECT
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move { Err(RpcError::method_not_found(&question.method)) })
    }
}

/// A server with one tool, to have something to look at.
struct Greeter;

impl Service for Greeter {
    fn about(&self) -> Arc<About> {
        let about = About::new("greeter", env!("CARGO_PKG_VERSION"), json!({"tools": {}}).into());
        Arc::new(about.instructions("A server inside this process, with one tool."))
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        Box::pin(async move {
            match cx.method() {
                "tools/list" => Ok(json!({"tools": [{
                    "name": "greet",
                    "description": "Greets somebody by name.",
                    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                }]})
                .into()),
                "tools/call" => {
                    let name = cx.arguments().member("name").and_then(|name| name.read::<String>().ok());
                    let name = name.ok_or_else(|| RpcError::invalid_params("`name` is missing or not a string"))?;
                    Ok(json!({"content": [{"type": "text", "text": format!("Hello, {name}!")}]}).into())
                }
                other => Err(RpcError::method_not_found(other).into()),
            }
        })
    }
}

#[expect(clippy::print_stdout, reason = "an example program talks to whoever runs it")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "an example program talks to whoever runs it")]
fn complain(text: &str) {
    eprintln!("{text}");
}
