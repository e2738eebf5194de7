//! What servers are asked besides calls of their tools, and what changes nothing: prompts, resources, and whether they are still there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toolgate_wire::view::{PromptResult, ReadResult};
use toolgate_wire::{Call, Error as WireError, RawJson, RpcError, SendMark};

use super::Host;
use crate::connect::Connection;
use crate::discovery::Line;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::TIME_LIMIT_MS_MAX;
use crate::registry::CatalogPrompt;

impl Host {
    /// Gets a prompt, filled in. The arguments are checked for those that are required and missing.
    pub async fn get_prompt(
        &self,
        prompt: &CatalogPrompt,
        arguments: &BTreeMap<String, String>,
    ) -> Result<PromptResult> {
        let required = prompt.arguments().iter().filter(|argument| argument.required);
        let missing: Vec<String> = required
            .filter(|argument| !arguments.contains_key(&argument.name))
            .map(|argument| format!("--{}", argument.name))
            .collect();
        if !missing.is_empty() {
            let what = format!("missing required argument(s): {}", missing.join(", "));
            return Err(Error::new(ErrorKind::InvalidArguments, what).about(&prompt.server));
        }
        let arguments = if arguments.is_empty() { None } else { RawJson::of(arguments).ok() };
        let line = self.line(&prompt.server)?;
        let (connection, result) = look(&line, Call::prompt(&prompt.prompt.name, arguments)).await?;
        let result = result.map_err(|error| connection.failed(error))?;
        PromptResult::read(result).map_err(|error| connection.failed(error))
    }

    /// Reads a resource of a server.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResult> {
        let (connection, result) = look(&self.line(server)?, Call::read(uri)).await?;
        let result = result.map_err(|error| match error {
            WireError::Rpc(rpc) if says_unknown(&connection, rpc.code) => {
                let what = format!("resource {uri}: {}", rpc.message);
                Error::new(ErrorKind::UnknownResource, what).about(connection.server())
            }
            _ => connection.failed(error).while_doing(&format!("resource {uri}")),
        })?;
        ReadResult::read(result).map_err(|error| connection.failed(error))
    }

    /// Asks whether a server is still there; how long its answer took.
    pub async fn ping(&self, server: &str) -> Result<Duration> {
        let connection = self.line(server)?.live().await?.connection;
        let started = Instant::now();
        let limit = connection.config().connect_timeout;
        match tokio::time::timeout(limit, connection.asks(|| connection.client().ping())).await {
            Ok(answered) => answered.map(|()| started.elapsed()).map_err(|error| connection.failed(error)),
            Err(_) => {
                let what = format!("no answer to a ping within {} s", limit.as_secs());
                Err(Error::new(ErrorKind::TimedOut, what).about(connection.server()))
            }
        }
    }
}

/// Whether a refusal to read says that there is no such resource.
fn says_unknown(connection: &Connection, code: i64) -> bool {
    let is_modern = connection.client().version().is_modern();
    code == RpcError::RESOURCE_NOT_FOUND || (is_modern && code == RpcError::INVALID_PARAMS)
}

/// Asks a server for something that changes nothing, within its own time limits. When the connection is lost meanwhile, it is asked once more
/// on the next one.
pub(super) async fn look(line: &Line, call: Call) -> Result<(Connection, Result<RawJson, WireError>)> {
    let config = line.config();
    let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
    let call = call.idle_limit(config.call_timeout).total_limit(config.max_duration.unwrap_or(longest)).begun();
    let ask = async |connection: &Connection| {
        let (_running, mark) = (connection.runs(), SendMark::default());
        let answer = connection.asks(|| connection.client().request(call.clone().mark(&mark))).await;
        answer.inspect_err(|error| connection.failed_to_send(error, &mark))
    };
    let connection = line.live().await?.connection;
    let answer = ask(&connection).await;
    if answer.is_ok() || connection.is_open() {
        return Ok((connection, answer));
    }
    let connection = line.live().await?.connection;
    let answer = ask(&connection).await;
    Ok((connection, answer))
}
