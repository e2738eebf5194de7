//! `Frames`: what comes in of one answer, seen event by event before the library reads it. Counted, so that an answer has an end; and in the
//! format of `chat/completions` its calls are put together here.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef, ToolCall};

use crate::chat_calls::ChatCalls;
use crate::limits::{HEAD_SILENCE_MS, STREAM_BYTES_MAX, STREAM_SILENCE_MS};

/// What comes in of one answer.
#[derive(Debug, Default)]
pub(crate) struct Frames(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    count: u64,
    bytes: usize,
    /// Calls, where they are put together here.
    calls: Option<ChatCalls>,
    /// What it is too much of.
    excess: Option<String>,
}

impl Frames {
    /// Frames of the format of `chat/completions`, whose calls are put together here.
    pub(crate) fn with_calls() -> Self {
        Self(Mutex::new(Heard { calls: Some(ChatCalls::default()), ..Heard::default() }))
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls that were put together.
    pub(crate) fn take_calls(&self) -> Vec<ToolCall> {
        self.heard().calls.take().map(ChatCalls::finish).unwrap_or_default()
    }

    /// What it is too much of, if it is.
    pub(crate) fn excess(&self) -> Option<String> {
        self.heard().excess.clone()
    }

    /// Comes back with that. Asked beside the stream, which is what brings frames: so nobody has to be woken.
    pub(crate) async fn exceeded(&self) -> String {
        poll_fn(|_| self.excess().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Comes back when no frame was there for too long. Bytes that never become one are silence too.
    pub(crate) async fn silence(&self) {
        let mut seen = None;
        loop {
            let count = self.heard().count;
            if seen == Some(count) {
                return;
            }
            seen = Some(count);
            let ms = if count == 0 { HEAD_SILENCE_MS } else { STREAM_SILENCE_MS };
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
    }

    fn hear(&self, data: &str) {
        let mut heard = self.heard();
        heard.count = heard.count.saturating_add(1);
        heard.bytes = heard.bytes.saturating_add(data.len());
        if heard.excess.is_some() {
            return;
        }
        let called = heard.calls.as_mut().map_or(Ok(()), |calls| calls.hear(data));
        heard.excess = match called {
            Err(what) => Some(what),
            Ok(()) if heard.bytes > STREAM_BYTES_MAX => {
                Some(format!("the model's answer has more than {STREAM_BYTES_MAX} bytes on its way"))
            }
            Ok(()) => None,
        };
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _stream: &FrameCtx, frame: RawFrameRef<'_>) {
        self.hear(frame.data);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Frames;
    use crate::limits::{HEAD_SILENCE_MS, STREAM_BYTES_MAX, STREAM_SILENCE_MS};

    #[test]
    fn an_answer_without_end_has_one() {
        let frames = Frames::default();
        let frame = "x".repeat(STREAM_BYTES_MAX / 2);
        frames.hear(&frame);
        frames.hear(&frame);
        assert_eq!(frames.excess(), None);
        frames.hear("x");
        assert!(frames.excess().unwrap().contains("on its way"));
    }

    #[tokio::test(start_paused = true)]
    async fn frames_break_the_silence_and_nothing_else_does() {
        let frames = Frames::default();
        let began = tokio::time::Instant::now();
        frames.silence().await;
        assert_eq!(began.elapsed(), Duration::from_millis(HEAD_SILENCE_MS));
        frames.hear("first");
        let talks = async {
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_millis(STREAM_SILENCE_MS - 1)).await;
                frames.hear("more");
            }
            std::future::pending::<()>().await;
        };
        let began = tokio::time::Instant::now();
        tokio::select! {
            () = talks => {}
            () = frames.silence() => {}
        }
        assert_eq!(began.elapsed(), Duration::from_millis(STREAM_SILENCE_MS * 4));
    }
}
