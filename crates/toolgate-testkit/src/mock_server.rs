//! For tests of programs that use MCP: a tool and a server with canned answers, without a word about protocols.

use serde_json::{Value, json};
use std::io;

use crate::behaviour::Behaviour;
use crate::http_server::ScriptedHttp;
use crate::in_process::{self, ClientHalf};
use crate::offer::{PromptScript, ResourceScript, ToolScript};
use crate::record::Record;
use crate::script::{Script, VERSIONS};

/// A tool that gives canned answers, one after the other; the last one repeats.
#[derive(Clone, Debug)]
pub struct TestTool {
    script: ToolScript,
    answers: Vec<Behaviour>,
}

impl TestTool {
    /// A tool that takes any arguments and answers `ok` until told otherwise.
    pub fn new(name: impl Into<String>) -> Self {
        Self { script: ToolScript::new(name, Behaviour::text("ok")), answers: Vec::new() }
    }

    /// What it says it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.script = self.script.description(description);
        self
    }

    /// The schema of its arguments.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.script = self.script.input_schema(schema);
        self
    }

    /// Marks it as reading only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.script = self.script.annotations(json!({"readOnlyHint": true}));
        self
    }

    /// The next answer is this text.
    #[must_use]
    pub fn answers(self, text: impl Into<String>) -> Self {
        self.does(Behaviour::text(text))
    }

    /// The next answer is this structured content.
    #[must_use]
    pub fn answers_json(self, value: Value) -> Self {
        self.does(Behaviour::structured(value))
    }

    /// The next call fails with this text.
    #[must_use]
    pub fn fails(self, text: impl Into<String>) -> Self {
        self.does(Behaviour::tool_error(text))
    }

    /// The next call does this.
    #[must_use]
    pub fn does(mut self, behaviour: Behaviour) -> Self {
        self.answers.push(behaviour);
        self
    }

    fn into_script(mut self) -> ToolScript {
        if !self.answers.is_empty() {
            self.script.behaviour = Behaviour::Turns(self.answers);
        }
        self.script
    }
}

impl From<TestTool> for ToolScript {
    fn from(tool: TestTool) -> Self {
        tool.into_script()
    }
}

/// A server with canned answers. It speaks every protocol version; [`MockServer::script`] gives the whole freedom.
#[derive(Clone, Debug)]
pub struct MockServer {
    script: Script,
}

impl MockServer {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self { script: Script::new(name).versions(&VERSIONS) }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<ToolScript>) -> Self {
        self.script = self.script.tool(tool.into());
        self
    }

    /// Adds a prompt that gives one text.
    #[must_use]
    pub fn prompt(mut self, name: &str, text: &str) -> Self {
        self.script = self.script.prompt(PromptScript::text(name, text));
        self
    }

    /// Adds a resource that reads as one text.
    #[must_use]
    pub fn resource(mut self, uri: &str, text: &str) -> Self {
        self.script = self.script.resource(ResourceScript::text(uri, text));
        self
    }

    /// The script behind it.
    #[must_use]
    pub fn script(self) -> Script {
        self.script
    }

    /// Starts it on a pipe in this process.
    #[must_use]
    pub fn start_in_process(self) -> (ClientHalf, Record) {
        in_process::serve(self.script)
    }

    /// Starts it over HTTP on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start_http(self) -> io::Result<ScriptedHttp> {
        ScriptedHttp::start(self.script).await
    }

    /// The arguments with which the `scripted-server` program serves it over stdio.
    #[must_use]
    pub fn stdio_arguments(&self) -> [String; 2] {
        ["--script".to_owned(), self.script.to_json()]
    }
}

/// The arguments of every call of a tool, in order.
#[must_use]
pub fn calls_of(record: &Record, tool: &str) -> Vec<Value> {
    let received = record.received();
    let calls =
        received.iter().filter(|message| message["method"] == "tools/call" && message["params"]["name"] == tool);
    calls.map(|message| message["params"]["arguments"].clone()).collect()
}
