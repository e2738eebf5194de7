//! What a scripted server does when a tool is called, a prompt is got or a resource is read.
//! Behaviours are data; most of them do one thing and go on with `then`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::offer::{Change, ToolScript};

/// One behaviour; those with `then` do their part first and go on with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Answers with this `result`. A 2026-07-28 answer gets `resultType` and `serverInfo` when they are missing.
    Reply(Value),
    /// Answers with the text of `arguments.message`.
    Echo,
    /// Answers with a JSON-RPC error.
    Error {
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
        /// `error.data`, left out when `None`.
        #[serde(default)]
        data: Option<Value>,
    },
    /// Answers with exactly this text in place of the whole JSON-RPC message; `$ID` stands for the request's id.
    Raw(String),
    /// Answers with one text of that many bytes.
    Big {
        /// Length of the text.
        bytes: usize,
    },
    /// Answers with how often this tool, prompt or resource was asked for, this time included.
    Count,
    /// Answers with what the client said to the questions asked before, one text block of JSON for each.
    Report,
    /// Answers with the request's `params` as one text block of JSON.
    Params,
    /// Never answers. The request stays open until it is cancelled.
    Never,
    /// A different behaviour each time; the last one repeats.
    Turns(Vec<Self>),
    /// Waits, then goes on.
    Delay {
        /// How long.
        ms: u64,
        /// What comes then.
        then: Box<Self>,
    },
    /// Sends `count` progress notifications (1 of count, 2 of count, …), then goes on. Silent when the request has no progress token.
    Progress {
        /// How many.
        count: u32,
        /// Pause before each.
        every_ms: u64,
        /// What comes then.
        then: Box<Self>,
    },
    /// Sends one log message, then goes on. In 2026-07-28 only when the request asked for that level.
    Log {
        /// `debug` … `emergency`.
        level: String,
        /// The logged value.
        data: Value,
        /// What comes then.
        then: Box<Self>,
    },
    /// Asks the client by `elicitation/create` (2026-07-28: by an `input_required` result with a request state that must come
    /// back byte for byte), then goes on.
    Elicit {
        /// Parameters of `elicitation/create`.
        params: Value,
        /// What comes then.
        then: Box<Self>,
    },
    /// Asks the client by `sampling/createMessage`, then goes on.
    Sample {
        /// Parameters of `sampling/createMessage`.
        params: Value,
        /// What comes then.
        then: Box<Self>,
    },
    /// Asks the client by `roots/list`, then goes on.
    Roots {
        /// What comes then.
        then: Box<Self>,
    },
    /// Several questions at once, each a method and parameters under a key. Legacy clients are asked one after the other.
    Ask {
        /// `{key: {"method": …, "params": …}}`.
        requests: serde_json::Map<String, Value>,
        /// The request state to be echoed (2026-07-28); `None` sends none and refuses one in the retry.
        state: Option<String>,
        /// What comes then.
        then: Box<Self>,
    },
    /// Sends a `ping` request and waits for the answer, then goes on. 2026-07-28 has no ping: goes on at once.
    Ping {
        /// What comes then.
        then: Box<Self>,
    },
    /// Changes a list and announces it: to the client (legacy), to subscribers only (2026-07-28); then goes on.
    ListChanged {
        /// The change.
        change: Box<Change>,
        /// What comes then.
        then: Box<Self>,
    },
    /// Announces `notifications/resources/updated` to whoever subscribed to the URI, then goes on.
    ResourceUpdated {
        /// The resource.
        uri: String,
        /// What comes then.
        then: Box<Self>,
    },
    /// Ends every `subscriptions/listen` with its result, then goes on.
    EndSubscriptions {
        /// What comes then.
        then: Box<Self>,
    },
    /// Sends any notification on the stream of this request, then goes on.
    Notify {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
        /// What comes then.
        then: Box<Self>,
    },
    /// Holds back every message of `then` and sends them, answer included, as one JSON-RPC batch (2025-03-26).
    Batch {
        /// What produces the messages.
        then: Box<Self>,
    },
}

impl Behaviour {
    /// Answers with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Reply(json!({"content": [{"type": "text", "text": text.into()}]}))
    }

    /// Answers with one text block and `isError`.
    pub fn tool_error(text: impl Into<String>) -> Self {
        Self::Reply(json!({"content": [{"type": "text", "text": text.into()}], "isError": true}))
    }

    /// Answers with structured content and its text.
    #[must_use]
    pub fn structured(value: Value) -> Self {
        let block = json!({"type": "text", "text": value.to_string()});
        let mut result = json!({"content": [block]});
        result["structuredContent"] = value;
        Self::Reply(result)
    }

    /// Answers with a JSON-RPC error without data.
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into(), data: None }
    }

    /// Waits, then does `then`.
    #[must_use]
    pub fn delay(ms: u64, then: Self) -> Self {
        Self::Delay { ms, then: Box::new(then) }
    }

    /// Sends progress, then does `then`.
    #[must_use]
    pub fn progress(count: u32, every_ms: u64, then: Self) -> Self {
        Self::Progress { count, every_ms, then: Box::new(then) }
    }

    /// Logs at a level, then does `then`.
    pub fn log(level: impl Into<String>, data: Value, then: Self) -> Self {
        Self::Log { level: level.into(), data, then: Box::new(then) }
    }

    /// Elicits and reports what was answered.
    #[must_use]
    pub fn elicit(params: Value) -> Self {
        Self::Elicit { params, then: Box::new(Self::Report) }
    }

    /// Asks for a form with one required string, and reports what was answered.
    #[must_use]
    pub fn elicit_text(field: &str) -> Self {
        Self::elicit(json!({
            "mode": "form",
            "message": format!("Please give {field}"),
            "requestedSchema": {
                "type": "object",
                "properties": {field: {"type": "string"}},
                "required": [field],
            },
        }))
    }

    /// Asks the client's model one question, and reports what was answered.
    pub fn sample(question: impl Into<String>) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": question.into()}});
        Self::Sample { params: json!({"messages": [message], "maxTokens": 100}), then: Box::new(Self::Report) }
    }

    /// Asks for the roots and reports them.
    #[must_use]
    pub fn roots() -> Self {
        Self::Roots { then: Box::new(Self::Report) }
    }

    /// Pings the client and reports the answer.
    #[must_use]
    pub fn ping() -> Self {
        Self::Ping { then: Box::new(Self::Report) }
    }

    /// Adds a tool, announces it and answers `added`.
    #[must_use]
    pub fn add_tool(tool: ToolScript) -> Self {
        Self::change(Change::AddTool(tool), Self::text("added"))
    }

    /// Makes a change, announces it, then does `then`.
    #[must_use]
    pub fn change(change: Change, then: Self) -> Self {
        Self::ListChanged { change: Box::new(change), then: Box::new(then) }
    }

    /// Sends the messages of `then` as one batch.
    #[must_use]
    pub fn batch(then: Self) -> Self {
        Self::Batch { then: Box::new(then) }
    }
}
