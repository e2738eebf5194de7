//! What a scripted client knows while it runs, on whichever transport: what it has heard, what it sent and may have to
//! send again, how it answers questions.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::client_script::{ClientScript, HANDSHAKE_ID};
use crate::client_transcript::{End, Transcript};
use crate::guarded::Guarded;

/// Shared by everything that reads and writes for one client.
pub(crate) struct Conversation {
    pub(crate) script: ClientScript,
    pub(crate) state: Guarded<State>,
    changed: watch::Sender<()>,
}

/// What changes.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) transcript: Transcript,
    pub(crate) session: Option<String>,
    pub(crate) headers: Vec<(String, Option<String>)>,
    /// Whether nothing can come any more (on a stream).
    pub(crate) ended: bool,
    answers: BTreeMap<String, Value>,
    /// The ids that have been answered, as text: looked at with every message that comes.
    answered: BTreeSet<String>,
    sent: Vec<Value>,
    deaf_until: Option<Instant>,
}

impl Conversation {
    pub(crate) fn new(script: ClientScript) -> Self {
        Self { script, state: Guarded::default(), changed: watch::Sender::new(()) }
    }

    /// Changes the state and wakes whoever waits for a change.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock());
        self.changed.send_replace(());
        result
    }

    /// Waits until the state is as wished for.
    pub(crate) async fn until(&self, wished: impl Fn(&State) -> bool) {
        let mut changes = self.changed.subscribe();
        while !wished(&self.state.lock()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Remembers a request: it may have to be sent again with answers.
    pub(crate) fn sending(&self, message: &Value) {
        if message.get("id").is_some() && message.get("method").is_some() {
            self.state.lock().sent.push(message.clone());
        }
    }

    pub(crate) fn answer(&self, to_method: &str, result: &Value) {
        self.state.lock().answers.insert(to_method.to_owned(), result.clone());
    }

    pub(crate) fn stop_reading(&self, ms: u64) {
        self.state.lock().deaf_until = Some(Instant::now() + Duration::from_millis(ms));
    }

    /// Waits as long as the script does not want to read.
    pub(crate) async fn may_read(&self) {
        let until = self.state.lock().deaf_until.take();
        if let Some(until) = until {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Writes down a text of the server and gives what is to be sent because of it.
    pub(crate) fn hear(&self, text: &[u8]) -> Vec<Value> {
        let messages = match serde_json::from_slice(text) {
            Ok(Value::Array(batch)) => batch,
            Ok(message) => vec![message],
            Err(_) => Vec::new(),
        };
        self.change(|state| {
            state.transcript.texts.push(String::from_utf8_lossy(text).into_owned());
            let replies = messages.iter().filter_map(|message| state.reply(message)).collect();
            state.transcript.messages.extend(messages);
            replies
        })
    }

    /// The notification that ends the handshake of the older versions, once the server has agreed.
    pub(crate) fn handshake_end(&self) -> Option<Value> {
        let agreed = self.state.lock().transcript.result_of(HANDSHAKE_ID).is_some();
        (agreed && !self.script.is_modern()).then(|| json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    /// What is left when the run is over.
    pub(crate) fn finish(&self, timed_out: bool) -> Transcript {
        let mut transcript = std::mem::take(&mut self.state.lock().transcript);
        if timed_out {
            transcript.end = End::TimedOut;
        }
        transcript
    }
}

impl State {
    /// Whether this request has its last answer.
    pub(crate) fn has_answer(&self, id: &Value) -> bool {
        self.answered.contains(&self.transcript.last_id(id).to_string())
    }

    fn reply(&mut self, message: &Value) -> Option<Value> {
        let id = message.get("id")?;
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            self.answered.insert(id.to_string());
            return self.retry(id, message);
        };
        let answer = match (self.answers.get(method), method) {
            (Some(result), _) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            (None, "ping") => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            (None, _) => {
                let error = json!({"code": -32601, "message": format!("the script has no answer to {method}")});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        Some(answer)
    }

    /// The request again, with what the server has asked for; `None` when nothing was asked or the script has no answer.
    fn retry(&mut self, id: &Value, answer: &Value) -> Option<Value> {
        let result = answer.get("result")?;
        if result.get("resultType")? != "input_required" {
            return None;
        }
        let mut again = self.sent.iter().rev().find(|sent| sent.get("id") == Some(id))?.clone();
        let mut responses = json!({});
        let none = serde_json::Map::new();
        for (key, question) in result.get("inputRequests").and_then(Value::as_object).unwrap_or(&none) {
            responses[key] = self.answers.get(question.get("method")?.as_str()?)?.clone();
        }
        let round = self.transcript.retries.len() + 1;
        let params = again.get_mut("params")?;
        params["inputResponses"] = responses;
        match result.get("requestState") {
            Some(state) => params["requestState"] = state.clone(),
            None => drop(params.as_object_mut()?.remove("requestState")),
        }
        again["id"] = json!(format!("retry {round}"));
        self.transcript.retries.push((id.clone(), again["id"].clone()));
        self.sent.push(again.clone());
        Some(again)
    }
}
