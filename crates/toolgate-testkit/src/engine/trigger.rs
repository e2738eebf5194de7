//! Which faults a message or an HTTP request sets off. Counting happens here and nowhere else.

use serde_json::Value;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::dispatch::knows;
use crate::engine::server::Server;
use crate::fault::{Place, What, When};
use crate::guarded::Guarded;

/// A fault that is due, with its place settled.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) what: What,
    pub(crate) place: Place,
}

/// The counters behind [`When`].
#[derive(Debug)]
pub(crate) struct Triggers {
    messages: AtomicU32,
    posts: AtomicU32,
    gets: AtomicU32,
    matched: Guarded<Vec<u32>>,
}

impl Triggers {
    pub(crate) fn new(faults: usize) -> Self {
        Self {
            messages: AtomicU32::new(0),
            posts: AtomicU32::new(0),
            gets: AtomicU32::new(0),
            matched: Guarded::new(vec![0; faults]),
        }
    }
}

impl Server {
    /// Faults at the start of a process, pipe or HTTP connection.
    pub(crate) fn hits_at_start(&self) -> Vec<Hit> {
        self.hits(|when| *when == When::Start)
    }

    /// Faults set off by one message.
    pub(crate) fn hits_on_message(&self, message: &Value) -> Vec<Hit> {
        let number = self.triggers.messages.fetch_add(1, Ordering::SeqCst) + 1;
        let method = message.get("method").and_then(Value::as_str);
        let tool = message.pointer("/params/name").and_then(Value::as_str);
        let is_request = method.is_some() && message.get("id").is_some();
        self.hits(|when| match when {
            When::Message(nth) => *nth == number,
            When::Method(name) => method == Some(*name),
            When::Tool(name) => method == Some("tools/call") && tool == Some(*name),
            When::UnknownMethod => is_request && !knows(self, message),
            When::Start | When::Post(_) | When::Get(_) | When::Delete => false,
        })
    }

    /// Faults set off by an HTTP request as such.
    pub(crate) fn hits_on_http(&self, method: &str) -> Vec<Hit> {
        let counter = match method {
            "POST" => Some(&self.triggers.posts),
            "GET" => Some(&self.triggers.gets),
            _ => None,
        };
        let number = counter.map_or(0, |counter| counter.fetch_add(1, Ordering::SeqCst) + 1);
        self.hits(|when| match when {
            When::Post(nth) => method == "POST" && *nth == number,
            When::Get(nth) => method == "GET" && *nth == number,
            When::Delete => method == "DELETE",
            _ => false,
        })
    }

    fn hits(&self, is_due: impl Fn(&When) -> bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut matched = self.triggers.matched.lock();
        for (fault, count) in self.script.faults.iter().zip(matched.iter_mut()) {
            if !is_due(&fault.when.on) || fault.when.life.is_some_and(|life| life != self.life()) {
                continue;
            }
            *count += 1;
            if fault.when.nth.is_some_and(|nth| nth != *count) {
                continue;
            }
            let place = fault.when.place.unwrap_or_else(|| fault.what.natural_place());
            hits.push(Hit { what: fault.what.clone(), place });
        }
        hits
    }
}
