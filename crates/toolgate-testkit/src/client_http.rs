//! Plays a client script on streamable HTTP: every message is a request on a connection of its own, so that one that
//! goes wrong takes no other with it. `client_exchange` writes and reads the bytes.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, broadcast};
use tokio::task::JoinSet;

use crate::client_exchange::{Order, Sending};
use crate::client_script::{ClientScript, HANDSHAKE_ID, Step};
use crate::client_state::Conversation;
use crate::client_stream::{INVALID_UTF8, cancellation, has_method, notification, request};
use crate::client_transcript::{End, Exchange, Transcript};

impl ClientScript {
    /// Plays the script against an endpoint of streamable HTTP.
    pub async fn over_http(&self, address: SocketAddr, path: &str) -> Transcript {
        let player = Arc::new(HttpPlayer {
            conversation: Conversation::new(self.clone()),
            address,
            path: path.to_owned(),
            orders: broadcast::Sender::new(64),
        });
        // Dropped at the end, and with it every exchange that is still open.
        let running = Mutex::new(JoinSet::new());
        let steps = async {
            for step in &self.steps {
                player.perform(step, &running).await;
            }
        };
        let timed_out = tokio::time::timeout(Duration::from_millis(self.limit_ms), steps).await.is_err();
        player.conversation.finish(timed_out)
    }
}

pub(crate) struct HttpPlayer {
    pub(crate) conversation: Conversation,
    pub(crate) address: SocketAddr,
    path: String,
    orders: broadcast::Sender<Order>,
}

/// An exchange that has been announced in the transcript and is to be run.
pub(crate) struct Announced {
    pub(crate) number: usize,
    pub(crate) id: Option<Value>,
    pub(crate) sending: Sending,
    pub(crate) orders: broadcast::Receiver<Order>,
}

type Running = Mutex<JoinSet<()>>;

impl HttpPlayer {
    async fn perform(self: &Arc<Self>, step: &Step, running: &Running) {
        let conversation = &self.conversation;
        match step {
            Step::Handshake => self.handshake().await,
            Step::Request { id, method, params, meta } => {
                self.begin(self.post(&request(conversation, id, method, params, *meta)), running).await;
            }
            Step::Await(id) => {
                conversation.until(|state| state.has_answer(id) || all_ended(&state.transcript)).await;
            }
            Step::AwaitMethod(method) => {
                let is_over = |transcript: &Transcript| has_method(transcript, method) || all_ended(transcript);
                conversation.until(|state| is_over(&state.transcript)).await;
            }
            Step::AwaitEnd => conversation.until(|state| all_ended(&state.transcript)).await,
            Step::Notify { method, params } => self.run(self.post(&notification(method, params))).await,
            Step::Batch(messages) => self.begin(self.post(&Value::Array(messages.clone())), running).await,
            Step::Cancel(id) if conversation.script.is_modern() => self.order(Order::Cancel(id.clone())),
            Step::Cancel(id) => self.run(self.post(&cancellation(id))).await,
            Step::Answer { to_method, result } => conversation.answer(to_method, result),
            Step::Wait { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Step::Raw(bytes) => self.begin(self.announce(None, Sending::whole(bytes.clone())), running).await,
            Step::InvalidUtf8 => {
                let mut bytes = self.head("POST", None, Some(INVALID_UTF8.len() as u64));
                bytes.extend_from_slice(INVALID_UTF8);
                self.begin(self.announce(None, Sending::whole(bytes)), running).await;
            }
            Step::LongLine { bytes } => {
                let sending = Sending { filler: *bytes, ..Sending::whole(self.head("POST", None, Some(*bytes))) };
                self.begin(self.announce(None, sending), running).await;
            }
            Step::Cut { bytes, message } => {
                let mut announced = self.post(message);
                announced.sending.cut_after = Some(*bytes);
                self.run(announced).await;
            }
            Step::Drip { bytes, every_ms, message } => {
                let mut announced = self.post(message);
                announced.sending.drip = Some(((*bytes).max(1), Duration::from_millis(*every_ms)));
                self.begin(announced, running).await;
            }
            Step::Reset => self.order(Order::Reset),
            Step::HalfClose => self.order(Order::HalfClose),
            Step::Close => self.order(Order::Close),
            Step::StopReading { ms } => conversation.stop_reading(*ms),
            Step::Header { name, value } => conversation.change(|state| {
                state.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                state.headers.push((name.clone(), value.clone()));
            }),
            Step::UsualHeaders => conversation.change(|state| state.headers.clear()),
            Step::Http { verb, body } => {
                let message: Option<Value> = serde_json::from_str(body).ok();
                let length = (!body.is_empty()).then_some(body.len() as u64);
                let mut bytes = self.head(verb, message.as_ref(), length);
                bytes.extend_from_slice(body.as_bytes());
                self.begin(self.announce(message.as_ref(), Sending::whole(bytes)), running).await;
            }
        }
    }

    async fn handshake(self: &Arc<Self>) {
        self.run(self.post(&self.conversation.script.opening())).await;
        if let Some(end) = self.conversation.handshake_end() {
            self.run(self.post(&end)).await;
        }
    }

    /// Runs an exchange beside the script.
    async fn begin(self: &Arc<Self>, announced: Announced, running: &Running) {
        let player = self.clone();
        running.lock().await.spawn(async move { player.run(announced).await });
    }

    fn order(&self, order: Order) {
        let _nobody_is_open = self.orders.send(order).is_err();
    }

    /// An exchange that posts this message.
    pub(crate) fn post(&self, message: &Value) -> Announced {
        self.conversation.sending(message);
        let body = message.to_string();
        let mut bytes = self.head("POST", Some(message), Some(body.len() as u64));
        bytes.extend_from_slice(body.as_bytes());
        self.announce(Some(message), Sending::whole(bytes))
    }

    fn announce(&self, message: Option<&Value>, sending: Sending) -> Announced {
        let id = message.filter(|message| message.get("method").is_some()).and_then(|message| message.get("id"));
        let exchange = Exchange { id: id.cloned(), ..Exchange::default() };
        let number = self.conversation.change(|state| {
            state.transcript.exchanges.push(exchange);
            state.transcript.exchanges.len() - 1
        });
        Announced { number, id: id.cloned(), sending, orders: self.orders.subscribe() }
    }

    /// Request line and headers of a good client, changed as the script wants them.
    fn head(&self, verb: &str, message: Option<&Value>, length: Option<u64>) -> Vec<u8> {
        let script = &self.conversation.script;
        let state = self.conversation.state.lock();
        let mut headers = vec![
            ("host", self.address.to_string()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("connection", "close".to_owned()),
        ];
        if let Some(length) = length {
            headers.push(("content-type", "application/json".to_owned()));
            headers.push(("content-length", length.to_string()));
        }
        if script.is_modern() || state.has_answer(&json!(HANDSHAKE_ID)) {
            headers.push(("mcp-protocol-version", script.version.clone()));
        }
        headers.extend(state.session.clone().map(|session| ("mcp-session-id", session)));
        if script.is_modern()
            && let Some(method) = message.and_then(|message| message.get("method")?.as_str())
        {
            headers.push(("mcp-method", method.to_owned()));
            headers.extend(name_in(method, message).map(|name| ("mcp-name", name.to_owned())));
        }
        headers.retain(|(name, _)| !state.headers.iter().any(|(changed, _)| changed.eq_ignore_ascii_case(name)));
        let chosen = state.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.clone()?)));
        let mut head = format!("{verb} {} HTTP/1.1\r\n", self.path);
        for (name, value) in headers.into_iter().chain(chosen) {
            // Writing to a string cannot fail.
            let _infallible = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

fn all_ended(transcript: &Transcript) -> bool {
    transcript.exchanges.iter().all(|exchange| exchange.end != End::Open)
}

/// The parameter that `Mcp-Name` repeats.
fn name_in<'a>(method: &str, message: Option<&'a Value>) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    message?.get("params")?.get(member)?.as_str()
}
