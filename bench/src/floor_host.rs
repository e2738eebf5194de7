//! The floor of a host: a bare client that starts every server at once, initializes, lists, calls and prints, without an MCP library.
//!
//! `floor --config FILE tools` prints one line for each tool, `tools --json` prints them as they came, `call MESSAGE` calls `echo` of the
//! first server, and `floor nothing` is a process that starts and ends.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;

use crate::{Outcome, block_on};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    mcp_servers: BTreeMap<String, ServerSetting>,
}

#[derive(Deserialize)]
struct ServerSetting {
    command: String,
    args: Vec<String>,
}

#[derive(Deserialize)]
struct Answer<T> {
    id: Option<u64>,
    result: Option<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    description: std::borrow::Cow<'a, str>,
}

/// Runs one of the floor's commands.
pub(crate) fn run(words: &[&str]) -> Outcome {
    match words {
        ["nothing"] => Ok(()),
        ["--config", file, "tools"] => block_on(tools(read(file)?, |server, tool, out| {
            let tool: Tool<'_> = serde_json::from_str(tool.get())?;
            Ok(writeln!(out, "{server} {} {}", tool.name, tool.description)?)
        })),
        ["--config", file, "tools", "--json"] => {
            block_on(tools(read(file)?, |_, tool, out| Ok(writeln!(out, "{},", tool.get())?)))
        }
        ["--config", file, "call", message] => block_on(call(read(file)?, message)),
        _ => Err("usage: toolgate-bench floor nothing | floor --config FILE tools [--json] | call MESSAGE".into()),
    }
}

fn read(file: &str) -> Outcome<Settings> {
    Ok(serde_json::from_slice(&std::fs::read(file)?)?)
}

/// Prints the tools of each server as soon as they are there.
async fn tools(settings: Settings, print: impl Fn(&str, &RawValue, &mut dyn Write) -> Outcome) -> Outcome {
    let mut listing = JoinSet::new();
    for (name, setting) in settings.mcp_servers {
        listing.spawn(async move {
            let mut server = Server::start(&setting).await?;
            let tools = server.tools().await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((name, tools, server))
        });
    }
    let mut servers = Vec::new();
    while let Some(listed) = listing.join_next().await {
        let (name, tools, server) = listed??;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for tool in tools {
            print(&name, &tool, &mut out)?;
        }
        out.flush()?;
        servers.push(server);
    }
    end(servers).await
}

async fn call(settings: Settings, message: &str) -> Outcome {
    let setting = settings.mcp_servers.into_values().next().ok_or("no server")?;
    let mut server = Server::start(&setting).await?;
    server.tools().await?;
    let params = json!({"name": "echo", "arguments": {"message": message}});
    let result: Value = server.request("tools/call", &params).await?;
    crate::say(result["content"][0]["text"].as_str().ok_or("no text")?);
    end(vec![server]).await
}

/// Servers leave when their input ends.
async fn end(servers: Vec<Server>) -> Outcome {
    let children: Vec<Child> = servers.into_iter().map(|server| server.child).collect();
    for mut child in children {
        child.wait().await?;
    }
    Ok(())
}

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    next_id: u64,
}

impl Server {
    async fn start(setting: &ServerSetting) -> Outcome<Self> {
        let mut command = Command::new(&setting.command);
        command.args(&setting.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut server = Self { child, stdin, stdout, line: Vec::new(), next_id: 0 };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "floor", "version": "1"}});
        let _about: Value = server.request("initialize", &params).await?;
        server.stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await?;
        Ok(server)
    }

    async fn request<T: DeserializeOwned>(&mut self, method: &str, params: &Value) -> Outcome<T> {
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.stdin.write_all(format!("{request}\n").as_bytes()).await?;
        loop {
            self.line.clear();
            if self.stdout.read_until(b'\n', &mut self.line).await? == 0 {
                return Err("the server left".into());
            }
            let answer: Answer<T> = serde_json::from_slice(&self.line)?;
            if answer.id == Some(self.next_id) {
                return answer.result.ok_or_else(|| format!("`{method}` was refused").into());
            }
        }
    }

    async fn tools(&mut self) -> Outcome<Vec<Box<RawValue>>> {
        let mut tools = Vec::new();
        let mut params = json!({});
        loop {
            let page: Page = self.request("tools/list", &params).await?;
            tools.extend(page.tools);
            let Some(cursor) = page.next_cursor else { return Ok(tools) };
            params = json!({"cursor": cursor});
        }
    }
}
