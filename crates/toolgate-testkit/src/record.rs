//! What a scripted server saw: every message in order, every HTTP request with its headers, and events such as the end
//! of its input. Kept in memory for servers in the same process, read from a log file for others.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::guarded::Guarded;
use crate::limits::{LOG_POLL_INTERVAL_MS, SHOWN_MESSAGE_CHARS_MAX};

/// One thing a scripted server saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A message, exactly as it arrived.
    Message(String),
    /// An HTTP request.
    Http(HttpSeen),
    /// Anything else.
    Event(Event),
}

/// The head of an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpSeen {
    /// `POST`, `GET`, `DELETE`, …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text; empty where there was none.
    pub body: String,
    /// Which TCP connection it came on, counted from 1: tells whether connections are reused.
    pub connection: u64,
}

impl HttpSeen {
    /// The first header of this name (any case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }
}

/// Something other than a message or a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The server began a life: the Nth with this log, or after N - 1 restarts.
    Started {
        /// Its process.
        pid: u32,
        /// Which life.
        life: u32,
    },
    /// The client ended the input (closed stdin).
    EndOfInput,
    /// The client closed the response stream of this request before its end.
    StreamClosedByClient {
        /// The method of the request, or `GET`.
        method: String,
        /// Its id as JSON text; empty for GET.
        id: String,
    },
    /// A request was cancelled by `notifications/cancelled` while it ran.
    Cancelled {
        /// Its id as JSON text.
        id: String,
    },
    /// A legacy HTTP session began.
    SessionOpened {
        /// Its id.
        id: String,
    },
    /// A legacy HTTP session was ended by DELETE.
    SessionDeleted {
        /// Its id.
        id: String,
    },
    /// A grandchild was started.
    Grandchild {
        /// Its process.
        pid: u32,
    },
    /// SIGTERM arrived and was ignored.
    Terminated,
    /// Something that is not JSON arrived.
    Malformed {
        /// What it was, as far as it can be shown.
        text: String,
    },
    /// A retry did not bring back the request state as it was given.
    StateNotEchoed {
        /// What arrived, as JSON text; `null` when nothing did.
        got: String,
    },
}

/// What was waited for did not come.
#[derive(Debug, thiserror::Error)]
#[error("the scripted server did not see it within {waited:?}; it saw {} entries:\n{}", .seen.len(), listed(.seen))]
pub struct NotSeen {
    waited: Duration,
    seen: Vec<Entry>,
}

/// The record of one scripted server. Clones share it.
#[derive(Clone, Debug)]
pub struct Record {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Memory(Arc<Memory>),
    LogFile(PathBuf),
}

#[derive(Debug)]
struct Memory {
    entries: Guarded<Vec<Entry>>,
    count: watch::Sender<usize>,
    log: Option<Guarded<File>>,
}

impl Default for Record {
    fn default() -> Self {
        Self::in_memory(None)
    }
}

impl Record {
    /// The record of another process that was started with `--log FILE`. The file may not exist yet.
    pub fn of_log(path: impl AsRef<Path>) -> Self {
        Self { source: Source::LogFile(path.as_ref().to_owned()) }
    }

    pub(crate) fn in_memory(log: Option<File>) -> Self {
        let memory = Memory { entries: Guarded::default(), count: watch::Sender::new(0), log: log.map(Guarded::new) };
        Self { source: Source::Memory(Arc::new(memory)) }
    }

    /// Everything seen so far, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        match &self.source {
            Source::Memory(memory) => memory.entries.lock().clone(),
            Source::LogFile(path) => read_log(path),
        }
    }

    /// The messages received so far, in order. What was not JSON is left out; see [`Event::Malformed`].
    #[must_use]
    pub fn received(&self) -> Vec<Value> {
        let texts = self.received_texts();
        texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
    }

    /// The messages received so far, byte for byte.
    #[must_use]
    pub fn received_texts(&self) -> Vec<String> {
        let texts = self.entries().into_iter().filter_map(|entry| match entry {
            Entry::Message(text) => Some(text),
            Entry::Http(_) | Entry::Event(_) => None,
        });
        texts.collect()
    }

    /// The HTTP requests received so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpSeen> {
        let requests = self.entries().into_iter().filter_map(|entry| match entry {
            Entry::Http(seen) => Some(seen),
            Entry::Message(_) | Entry::Event(_) => None,
        });
        requests.collect()
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let events = self.entries().into_iter().filter_map(|entry| match entry {
            Entry::Event(event) => Some(event),
            Entry::Message(_) | Entry::Http(_) => None,
        });
        events.collect()
    }

    /// How many messages with this method were received.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        self.received().iter().filter(|message| has_method(message, method)).count()
    }

    /// The methods received so far, in order; answers of the client appear as `answer`.
    #[must_use]
    pub fn methods(&self) -> Vec<String> {
        let received = self.received();
        let names =
            received.iter().map(|message| message.get("method").and_then(Value::as_str).unwrap_or("answer").to_owned());
        names.collect()
    }

    /// Waits for a message, which may have arrived already.
    ///
    /// # Errors
    /// When none came in time; the error lists what did.
    pub async fn wait_for(&self, is_it: impl Fn(&Value) -> bool, at_most: Duration) -> Result<Value, NotSeen> {
        self.wait(at_most, |entry| match entry {
            Entry::Message(text) => serde_json::from_str(text).ok().filter(|value| is_it(value)),
            Entry::Http(_) | Entry::Event(_) => None,
        })
        .await
    }

    /// Waits for a message with this method, which may have arrived already.
    ///
    /// # Errors
    /// When none came in time.
    pub async fn wait_for_method(&self, method: &str, at_most: Duration) -> Result<Value, NotSeen> {
        self.wait_for(|message| has_method(message, method), at_most).await
    }

    /// Waits for an event, which may have happened already.
    ///
    /// # Errors
    /// When none came in time.
    pub async fn wait_for_event(&self, is_it: impl Fn(&Event) -> bool, at_most: Duration) -> Result<Event, NotSeen> {
        self.wait(at_most, |entry| match entry {
            Entry::Event(event) if is_it(event) => Some(event.clone()),
            _ => None,
        })
        .await
    }

    /// Waits for an HTTP request, which may have arrived already.
    ///
    /// # Errors
    /// When none came in time.
    pub async fn wait_for_request(
        &self,
        is_it: impl Fn(&HttpSeen) -> bool,
        at_most: Duration,
    ) -> Result<HttpSeen, NotSeen> {
        self.wait(at_most, |entry| match entry {
            Entry::Http(seen) if is_it(seen) => Some(seen.clone()),
            _ => None,
        })
        .await
    }

    async fn wait<T>(&self, at_most: Duration, pick: impl Fn(&Entry) -> Option<T>) -> Result<T, NotSeen> {
        let deadline = Instant::now() + at_most;
        let mut looked_at = 0;
        loop {
            let entries = self.entries();
            let fresh = entries.get(looked_at..).unwrap_or_default();
            if let Some(found) = fresh.iter().find_map(&pick) {
                return Ok(found);
            }
            looked_at = entries.len();
            if tokio::time::timeout_at(deadline, self.more_than(looked_at)).await.is_err() {
                return Err(NotSeen { waited: at_most, seen: entries });
            }
        }
    }

    async fn more_than(&self, count: usize) {
        match &self.source {
            Source::Memory(memory) => {
                let mut counts = memory.count.subscribe();
                // The sender is held by the record itself, so this cannot fail.
                let _seen = counts.wait_for(|now| *now > count).await.is_ok();
            }
            Source::LogFile(_) => {
                tokio::time::sleep(Duration::from_millis(LOG_POLL_INTERVAL_MS)).await;
            }
        }
    }

    pub(crate) fn message(&self, text: &str) {
        self.add(Entry::Message(text.to_owned()));
    }

    pub(crate) fn event(&self, event: Event) {
        self.add(Entry::Event(event));
    }

    pub(crate) fn http(&self, seen: HttpSeen) {
        self.add(Entry::Http(seen));
    }

    fn add(&self, entry: Entry) {
        let Source::Memory(memory) = &self.source else { return };
        if let Some(log) = &memory.log
            && let Ok(mut line) = serde_json::to_string(&entry)
        {
            line.push('\n');
            // A log that cannot be written shows as a missing entry in the test that reads it.
            let _written = log.lock().write_all(line.as_bytes()).is_ok();
        }
        let count = {
            let mut entries = memory.entries.lock();
            entries.push(entry);
            entries.len()
        };
        // Entries may be added by two tasks at once; the count must not step back.
        memory.count.send_modify(|seen| *seen = count.max(*seen));
    }
}

fn has_method(message: &Value, method: &str) -> bool {
    message.get("method").and_then(Value::as_str) == Some(method)
}

fn read_log(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // The last line may still be in the making; a line that cannot be read yet is read the next time.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn listed(entries: &[Entry]) -> String {
    let lines = entries.iter().map(|entry| {
        let line = serde_json::to_string(entry).unwrap_or_default();
        let shown: String = line.chars().take(SHOWN_MESSAGE_CHARS_MAX).collect();
        format!("  {shown}\n")
    });
    lines.collect()
}
