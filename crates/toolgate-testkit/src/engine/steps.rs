//! What a transport is told to do, in order. A log of steps is written by the engine and followed by a transport; an
//! HTTP event stream can be followed again from the middle, which is what resumption is.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

use crate::guarded::Guarded;

/// One thing to do on a stream.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Write a message, framed as the transport frames it.
    Frame(Frame),
    /// Write something that is not UTF-8, framed as the transport frames it.
    InvalidUtf8,
    /// Write that many bytes of filler without a frame.
    Fill { bytes: u64 },
    /// Write that many bytes to stderr.
    StderrFlood { bytes: u64 },
    /// Wait.
    Pause(Duration),
    /// Start an event stream with an event that only carries an id. Pipes have no such thing and go on.
    Prime { retry_ms: Option<u64> },
    /// The same, and close the stream; what follows waits for a resumption.
    PrimeAndClose { retry_ms: Option<u64> },
    /// Stop for good.
    End(End),
    /// Write nothing more.
    Stall,
    /// Write and read nothing more.
    Freeze,
    /// A step that was carried out and must not be repeated on resumption.
    Spent,
}

/// How a stream stops before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Close,
    Reset,
    Exit(u8),
}

/// One message, or a piece of one.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The JSON text.
    pub(crate) text: Arc<str>,
    /// What it is for the stream it is written to.
    pub(crate) role: Role,
    /// First byte of the framed message to write.
    pub(crate) from: usize,
    /// Where to stop; `None` writes to the end.
    pub(crate) to: Option<usize>,
    /// Piece size and pause, when it is written slowly.
    pub(crate) drip: Option<(usize, Duration)>,
}

/// What a message is for the stream it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A notification or a request to the client.
    Aside,
    /// The answer, and the HTTP status it would have as a document of its own.
    Answer { status: u16 },
}

impl Frame {
    pub(crate) fn new(text: impl Into<Arc<str>>, role: Role) -> Self {
        Self { text: text.into(), role, from: 0, to: None, drip: None }
    }

    /// The part of the framed bytes that is to be written.
    pub(crate) fn part<'a>(&self, framed: &'a [u8]) -> &'a [u8] {
        let to = self.to.unwrap_or(framed.len()).min(framed.len());
        framed.get(self.from.min(to)..to).unwrap_or_default()
    }
}

/// A growing list of steps. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct StepLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    steps: Guarded<Vec<Step>>,
    news: watch::Sender<News>,
}

#[derive(Clone, Copy, Debug, Default)]
struct News {
    count: usize,
    finished: bool,
}

impl StepLog {
    pub(crate) fn new() -> Self {
        let news = watch::Sender::new(News::default());
        Self(Arc::new(Inner { steps: Guarded::default(), news }))
    }

    /// Appends steps that belong together: nothing comes between them.
    pub(crate) fn push(&self, steps: impl IntoIterator<Item = Step>) {
        let count = {
            let mut log = self.0.steps.lock();
            log.extend(steps);
            log.len()
        };
        self.0.news.send_modify(|news| news.count = news.count.max(count));
    }

    /// Nothing more will come.
    pub(crate) fn finish(&self) {
        self.0.news.send_modify(|news| news.finished = true);
    }

    /// How many steps there are now.
    pub(crate) fn len(&self) -> usize {
        self.0.steps.lock().len()
    }

    /// The step at `index`, waiting for it; `None` when the log is finished before it.
    pub(crate) async fn get(&self, index: usize) -> Option<Step> {
        let mut news = self.0.news.subscribe();
        // The sender lives as long as this log, so the wait cannot fail.
        let _arrived = news.wait_for(|now| now.count > index || now.finished).await.is_ok();
        self.0.steps.lock().get(index).cloned()
    }

    /// Marks a step as carried out, so that nobody carries it out again; frees what it held.
    pub(crate) fn spend(&self, index: usize) {
        if let Some(step) = self.0.steps.lock().get_mut(index) {
            *step = Step::Spent;
        }
    }
}
