//! The requests a client makes most, in their own words.

use bytes::BytesMut;

use crate::call::Call;
use crate::client::Client;
use crate::error::Result;
use crate::raw::{RawJson, write_string};
use crate::tasks::Task;
use crate::view::{CallResult, PromptResult, ReadResult};

impl Call {
    /// A call of a tool.
    pub fn tool(name: &str, arguments: &RawJson) -> Self {
        let mut params = BytesMut::with_capacity(arguments.as_bytes().len() + name.len() + 32);
        params.extend_from_slice(b"{\"name\":");
        write_string(&mut params, name);
        params.extend_from_slice(b",\"arguments\":");
        params.extend_from_slice(arguments.as_bytes());
        params.extend_from_slice(b"}");
        Self::new("tools/call", Some(RawJson::assembled(params))).named(name)
    }

    /// A prompt, filled in.
    pub fn prompt(name: &str, arguments: Option<RawJson>) -> Self {
        let mut params = RawJson::EMPTY_OBJECT;
        if let Some(arguments) = arguments {
            params = params.with_member("arguments", &arguments);
        }
        Self::new("prompts/get", Some(params.with_member("name", &RawJson::string(name)))).named(name)
    }

    /// The contents of a resource.
    pub fn read(uri: &str) -> Self {
        Self::new("resources/read", Some(RawJson::EMPTY_OBJECT.with_member("uri", &RawJson::string(uri)))).named(uri)
    }
}

impl Client {
    /// Calls a tool and waits for its result; a task it turns into is followed to its end.
    pub async fn call_tool(&self, name: &str, arguments: RawJson) -> Result<CallResult> {
        self.finish_tool_call(Call::tool(name, &arguments)).await
    }

    /// The same for a call with time limits or progress of its own.
    pub async fn finish_tool_call(&self, call: Call) -> Result<CallResult> {
        let call = call.begun();
        let result = self.request(call.clone()).await?;
        // Following a task takes room that most calls do without.
        let is_task = Task::is_in(&result)?;
        CallResult::read(if is_task { Box::pin(self.finish_task(&call, &result)).await? } else { result })
    }

    /// Gets a prompt.
    pub async fn get_prompt(&self, name: &str, arguments: Option<RawJson>) -> Result<PromptResult> {
        PromptResult::read(self.request(Call::prompt(name, arguments)).await?)
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResult> {
        ReadResult::read(self.request(Call::read(uri)).await?)
    }

    /// Asks whether the server is still there; in versions without `ping`, what it offers.
    pub async fn ping(&self) -> Result<()> {
        let method = if self.version().is_modern() { "server/discover" } else { "ping" };
        self.request(Call::new(method, None)).await.map(drop)
    }
}
