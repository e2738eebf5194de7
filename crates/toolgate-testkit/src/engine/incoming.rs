//! What arrives: one text into messages, and each message to its place.

use futures_util::future::{AbortHandle, Abortable, BoxFuture, join_all};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::engine::deliver::{Flow, act_before, act_on_notification, conclude};
use crate::engine::dispatch::dispatch;
use crate::engine::exchange::Exchange;
use crate::engine::server::Server;
use crate::engine::session::Session;
use crate::engine::steps::{Frame, Role, Step, StepLog};
use crate::engine::trigger::Hit;
use crate::record::Event;

/// One client on one stream.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) server: Arc<Server>,
    pub(crate) session: Arc<Session>,
    /// Where answers go.
    pub(crate) outlet: StepLog,
}

/// What one text turned out to be.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request(Value),
    Notification(Value),
    Answer(Value),
    Batch(Vec<Value>),
    Malformed,
}

/// Reads one text.
pub(crate) fn read(text: &str) -> Incoming {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(messages)) => Incoming::Batch(messages),
        Ok(message) => classify(message),
        Err(_) => Incoming::Malformed,
    }
}

fn classify(message: Value) -> Incoming {
    match (message.get("method"), message.get("id")) {
        (Some(_), Some(_)) => Incoming::Request(message),
        (Some(_), None) => Incoming::Notification(message),
        (None, Some(_)) => Incoming::Answer(message),
        (None, None) => Incoming::Malformed,
    }
}

impl Client {
    /// Takes in one text from a pipe; the futures are the requests it asked for.
    pub(crate) fn take_in(&self, text: &str) -> Vec<BoxFuture<'static, ()>> {
        self.server.record.message(text);
        match read(text) {
            Incoming::Request(message) => {
                let hits = self.server.hits_on_message(&message);
                vec![self.request(&message, hits)]
            }
            Incoming::Notification(message) => {
                let hits = self.server.hits_on_message(&message);
                self.notification(&message, &hits);
                Vec::new()
            }
            Incoming::Answer(message) => {
                let hits = self.server.hits_on_message(&message);
                act_on_notification(&self.server, &self.outlet, &hits);
                self.session.answered(&message);
                Vec::new()
            }
            Incoming::Batch(messages) => vec![self.batch(messages)],
            Incoming::Malformed => {
                self.malformed(text);
                Vec::new()
            }
        }
    }

    /// Answers something that is no message.
    pub(crate) fn malformed(&self, text: &str) {
        let text = text.to_owned();
        self.server.record.event(Event::Malformed { text });
        let error = json!({"code": -32700, "message": "this is not a JSON-RPC message"});
        let answer = json!({"jsonrpc": "2.0", "id": null, "error": error});
        let role = Role::Answer { status: 400 };
        self.outlet.push([Step::Frame(Frame::new(answer.to_string(), role))]);
    }

    /// Acts on a notification.
    pub(crate) fn notification(&self, message: &Value, hits: &[Hit]) {
        if act_before(&self.server, &self.outlet, hits) == Flow::Drop {
            return;
        }
        if message["method"] == "notifications/cancelled" {
            let id = &message["params"]["requestId"];
            if self.session.cancel(id) {
                self.server.record.event(Event::Cancelled { id: id.to_string() });
            }
        }
        act_on_notification(&self.server, &self.outlet, hits);
    }

    /// Answers a request; cancelled, it ends without an answer.
    pub(crate) fn request(&self, message: &Value, hits: Vec<Hit>) -> BoxFuture<'static, ()> {
        let exchange = Exchange::new(&self.server, &self.session, &self.outlet, message, hits);
        let (handle, registration) = AbortHandle::new_pair();
        if self.session.started(&exchange.id, handle) {
            self.server.record.event(Event::Cancelled { id: exchange.id.to_string() });
        }
        let outlet = self.outlet.clone();
        Box::pin(async move {
            if let Ok(steps) = Abortable::new(answer(&exchange), registration).await {
                outlet.push(steps);
            }
            exchange.session.ended(&exchange.id);
        })
    }

    /// Answers a batch with one batch of the answers, in the order of the requests.
    pub(crate) fn batch(&self, messages: Vec<Value>) -> BoxFuture<'static, ()> {
        let client = self.clone();
        Box::pin(async move {
            if client.session.version().as_deref() != Some("2025-03-26") || messages.is_empty() {
                client.malformed(&Value::Array(messages).to_string());
                return;
            }
            let mut exchanges = Vec::new();
            for message in messages {
                let hits = client.server.hits_on_message(&message);
                match classify(message) {
                    Incoming::Request(message) => exchanges.push(client.exchange(&message, hits)),
                    Incoming::Notification(message) => client.notification(&message, &hits),
                    Incoming::Answer(message) => client.session.answered(&message),
                    Incoming::Batch(_) | Incoming::Malformed => (),
                }
            }
            let answered = join_all(exchanges.iter().map(answer)).await;
            let answers = answered.iter().flatten().filter_map(|step| match step {
                Step::Frame(frame) => serde_json::from_str::<Value>(&frame.text).ok(),
                _ => None,
            });
            let answers: Vec<Value> = answers.collect();
            if !answers.is_empty() {
                let text = Value::Array(answers).to_string();
                client.outlet.push([Step::Frame(Frame::new(text, Role::Answer { status: 200 }))]);
            }
        })
    }

    fn exchange(&self, message: &Value, hits: Vec<Hit>) -> Exchange {
        Exchange::new(&self.server, &self.session, &self.outlet, message, hits)
    }
}

async fn answer(exchange: &Exchange) -> Vec<Step> {
    if act_before(&exchange.server, &exchange.outlet, &exchange.hits) == Flow::Drop {
        return Vec::new();
    }
    let outcome = dispatch(exchange).await;
    conclude(exchange, outcome).await
}
