//! A client as data: what it says, in which order, and what it does wrong. For tests of anything that serves MCP.
//! [`ClientScript::over`] plays it on a byte stream, [`ClientScript::over_http`] on streamable HTTP; both give a
//! [`Transcript`](crate::Transcript) to assert on, and neither outlives the time limit of the script.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits::CLIENT_RUN_MS_DEFAULT;
use crate::script::is_modern;

/// A whole client as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientScript {
    /// The protocol version it speaks.
    pub version: String,
    /// Its capabilities.
    pub capabilities: Value,
    /// What it does, in this order.
    pub steps: Vec<Step>,
    /// How long the whole run may take.
    pub limit_ms: u64,
}

/// Whether a request gets the metadata that a modern version asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meta {
    /// What is missing in `_meta` is filled in (modern versions only).
    #[default]
    Filled,
    /// The parameters are sent as they stand.
    AsWritten,
}

/// One thing a client does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    // What good clients do.
    /// Gets to know the server and waits for its answer: `initialize` and `notifications/initialized`, or `server/discover`.
    Handshake,
    /// Sends a request and goes on; [`Step::Await`] waits for the answer.
    Request {
        /// Its id.
        id: Value,
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
        /// Whether the metadata of the version is added.
        #[serde(default)]
        meta: Meta,
    },
    /// Waits until this request has its last answer, or nothing can come any more.
    Await(Value),
    /// Waits until the server has sent a request or a notification of this method.
    AwaitMethod(String),
    /// Waits until the server has ended the connection, or over HTTP every exchange.
    AwaitEnd,
    /// Sends a notification.
    Notify {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Sends messages as one JSON array.
    Batch(Vec<Value>),
    /// Takes a request back, the way the version and the transport have it: by a notification or by ending its stream.
    Cancel(Value),
    /// From here on, what the server asks by this method is answered so; what has no answer gets `-32601`, `ping` an empty result.
    Answer {
        /// What the server asks, such as `elicitation/create`.
        to_method: String,
        /// The answer.
        result: Value,
    },
    /// Does nothing for a while; what comes is still read.
    Wait {
        /// How long.
        ms: u64,
    },

    // What goes wrong. Over HTTP each of those that send is a request on a connection of its own.
    /// Exactly these bytes.
    Raw(Vec<u8>),
    /// A line, or a body, that is not UTF-8.
    InvalidUtf8,
    /// That many bytes of filler and a newline, or as a body; streamed, never held in memory.
    LongLine {
        /// How many.
        bytes: u64,
    },
    /// Only the first bytes of a message (over HTTP: of the whole request), then the end of the connection.
    Cut {
        /// How many.
        bytes: usize,
        /// Of what.
        message: Value,
    },
    /// A message in pieces.
    Drip {
        /// Bytes in one piece.
        bytes: usize,
        /// Pause before each piece.
        every_ms: u64,
        /// What is sent.
        message: Value,
    },
    /// Resets the connection, over HTTP all that are open. Other streams than TCP are closed.
    Reset,
    /// Ends only what the client says; it goes on reading.
    HalfClose,
    /// Closes the connection, over HTTP all that are open.
    Close,
    /// Reads nothing for a while, but for what is about to arrive; the next step begins at once.
    StopReading {
        /// How long.
        ms: u64,
    },

    // HTTP only; ignored elsewhere.
    /// From here on, this header has this value, or is missing.
    Header {
        /// Its name.
        name: String,
        /// Its value; `None` leaves the header out.
        value: Option<String>,
    },
    /// From here on, the headers are those of a good client again.
    UsualHeaders,
    /// A request with this verb and body.
    Http {
        /// Such as `GET`.
        verb: String,
        /// The body.
        body: String,
    },
}

impl ClientScript {
    /// A client of this version that can be asked everything and does nothing yet.
    pub fn new(version: impl Into<String>) -> Self {
        let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        Self { version: version.into(), capabilities, steps: Vec::new(), limit_ms: CLIENT_RUN_MS_DEFAULT }
    }

    /// Whether its version works without `initialize`.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        is_modern(&self.version)
    }

    /// Its capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How long the whole run may take.
    #[must_use]
    pub const fn limit_ms(mut self, ms: u64) -> Self {
        self.limit_ms = ms;
        self
    }

    /// Adds any step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds [`Step::Handshake`].
    #[must_use]
    pub fn handshake(self) -> Self {
        self.step(Step::Handshake)
    }

    /// Sends a request and waits for its answer.
    #[must_use]
    pub fn request(self, id: impl Into<Value>, method: &str, params: Value) -> Self {
        let id = id.into();
        self.start(id.clone(), method, params).step(Step::Await(id))
    }

    /// Sends a request and goes on.
    #[must_use]
    pub fn start(self, id: impl Into<Value>, method: &str, params: Value) -> Self {
        self.step(Step::Request { id: id.into(), method: method.to_owned(), params, meta: Meta::Filled })
    }

    /// Sends a notification.
    #[must_use]
    pub fn notify(self, method: &str, params: Value) -> Self {
        self.step(Step::Notify { method: method.to_owned(), params })
    }

    /// Waits for the answer to a request that was started.
    #[must_use]
    pub fn wait_for(self, id: impl Into<Value>) -> Self {
        self.step(Step::Await(id.into()))
    }

    /// From here on, answers what the server asks.
    #[must_use]
    pub fn answer(self, to_method: &str, result: Value) -> Self {
        self.step(Step::Answer { to_method: to_method.to_owned(), result })
    }

    /// Sends a line of its own.
    #[must_use]
    pub fn line(self, text: &str) -> Self {
        self.step(Step::Raw(format!("{text}\n").into_bytes()))
    }

    /// From here on, sends this header with this value (HTTP).
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.step(Step::Header { name: name.to_owned(), value: Some(value.to_owned()) })
    }

    /// From here on, leaves this header out (HTTP).
    #[must_use]
    pub fn without_header(self, name: &str) -> Self {
        self.step(Step::Header { name: name.to_owned(), value: None })
    }

    /// A request with the metadata of the version, as a message: for [`Step::Drip`], [`Step::Cut`] and [`Step::Batch`].
    #[must_use]
    pub fn message(&self, id: &Value, method: &str, params: &Value) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if self.is_modern() && params.is_object() {
            let meta = [
                ("protocolVersion", json!(self.version)),
                ("clientCapabilities", self.capabilities.clone()),
                ("clientInfo", client_info()),
            ];
            for (name, value) in meta {
                let place = &mut message["params"]["_meta"][format!("io.modelcontextprotocol/{name}")];
                if place.is_null() {
                    *place = value;
                }
            }
        }
        message
    }

    /// The request that begins the handshake.
    pub(crate) fn opening(&self) -> Value {
        let id = json!(HANDSHAKE_ID);
        if self.is_modern() {
            return self.message(&id, "server/discover", &json!({}));
        }
        let params = json!({
            "protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": client_info()});
        self.message(&id, "initialize", &params)
    }
}

/// The id of the request that begins the handshake.
pub const HANDSHAKE_ID: &str = "handshake";

fn client_info() -> Value {
    json!({"name": "scripted-client", "version": "1"})
}

#[cfg(test)]
mod tests {
    use super::{ClientScript, Step};
    use serde_json::json;

    #[test]
    fn a_client_script_is_data() {
        let script = ClientScript::new("2026-07-28")
            .handshake()
            .request(1, "tools/list", json!({}))
            .header("host", "elsewhere")
            .step(Step::Cut { bytes: 3, message: json!({}) });
        let text = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<ClientScript>(&text).unwrap(), script);
        assert_eq!(script.steps.len(), 5, "a request is sent and waited for");
    }

    #[test]
    fn a_client_script_fills_in_only_what_is_missing() {
        let version = "io.modelcontextprotocol/protocolVersion";
        let written = json!({"_meta": {version: "1999", "progressToken": 7}});
        let modern = ClientScript::new("2026-07-28").message(&json!(1), "x", &written);
        assert_eq!(modern["params"]["_meta"][version], "1999");
        assert_eq!(modern["params"]["_meta"]["progressToken"], 7);
        assert!(modern["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object());
        let legacy = ClientScript::new("2025-11-25").message(&json!(1), "x", &json!({}));
        assert_eq!(legacy["params"], json!({}));
    }
}
