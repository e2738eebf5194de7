//! One connection to a model: requests one after the other, each read in its format, written down, and answered as the script says.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use super::record::{ModelRecord, SeenRequest};
use super::script::{ModelAnswer, ModelStop};
use super::{WireFormat, anthropic, checks, gemini, openai};
use crate::http::body::{After, BodyWriter, ResponseHead};
use crate::http::request::{Request, RequestReader};

/// One thing that is done while an answer is written.
#[derive(Debug)]
pub(super) enum Step {
    /// An event, or all of a document.
    Bytes(String),
    Pause(u64),
}

/// Serves one connection to its end.
pub(super) async fn serve(record: Arc<ModelRecord>, stream: TcpStream) {
    // Small answers must not wait for the acknowledgement of the ones before.
    let _nodelay = stream.set_nodelay(true).is_ok();
    let (read, write) = stream.into_split();
    let mut connection = Connection { record: &record, reader: RequestReader::new(read), write };
    // Whoever leaves in the middle of something has left.
    let _after = connection.run().await.is_ok();
}

struct Connection<'a> {
    record: &'a ModelRecord,
    reader: RequestReader,
    write: OwnedWriteHalf,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<After> {
        while let Some(head) = self.reader.head().await? {
            let request = self.reader.body(head).await?;
            let after = self.answer(&request).await?;
            if after != After::KeepOpen {
                return Ok(after);
            }
        }
        Ok(After::Close)
    }

    async fn answer(&mut self, request: &Request) -> io::Result<After> {
        let seen = match read(request) {
            Ok(seen) => seen,
            Err((status, message)) => return self.refuse(status, &message, None).await,
        };
        let (format, is_streamed) = (seen.format, seen.is_streamed);
        let complaint = checks::complaint(&seen);
        let Some((number, answer)) = self.record.take(seen) else {
            return self.refuse(400, "the script of this model has no more answers", None).await;
        };
        if let Some(complaint) = complaint {
            return self.refuse(400, &complaint, None).await;
        }
        tokio::time::sleep(Duration::from_millis(answer.delay_ms)).await;
        if let Some(refusal) = &answer.refusal {
            return self.refuse(refusal.status, "refused by the script", refusal.retry_after.as_deref()).await;
        }
        if is_streamed {
            self.stream(&answer, events(format, &answer, number)).await
        } else {
            let document = document(format, &answer, number).to_string();
            self.whole(200, &[("Content-Type", "application/json")], &document).await
        }
    }

    async fn stream(&mut self, answer: &ModelAnswer, steps: Vec<Step>) -> io::Result<After> {
        let headers = vec![("Content-Type".to_owned(), "text/event-stream".to_owned())];
        let head = ResponseHead { status: 200, headers, cut_after: None };
        let begun = BodyWriter::begin(&mut self.write, &head, None, None).await?;
        let Some(mut body) = begun else { return Ok(After::Close) };
        for step in steps {
            match step {
                Step::Bytes(text) => body.write(text.as_bytes()).await.inspect_err(|_| self.record.abandoned())?,
                Step::Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            }
        }
        match answer.stop {
            // Without the last chunk the client can tell.
            ModelStop::Cut => Ok(After::Close),
            ModelStop::Hang => {
                self.reader.closed().await;
                self.record.abandoned();
                Ok(After::Close)
            }
            ModelStop::Whole | ModelStop::TooLong | ModelStop::Other(_) | ModelStop::Short => body.finish().await,
        }
    }

    async fn refuse(&mut self, status: u16, message: &str, retry_after: Option<&str>) -> io::Result<After> {
        let body = json!({"type": "error", "error": {"type": "scripted", "code": status, "message": message}});
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(retry_after.map(|wait| ("Retry-After", wait)));
        self.whole(status, &headers, &body.to_string()).await
    }

    async fn whole(&mut self, status: u16, headers: &[(&str, &str)], text: &str) -> io::Result<After> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = ResponseHead { status, headers, cut_after: None };
        let begun = BodyWriter::begin(&mut self.write, &head, Some(text.len()), None).await?;
        let Some(mut body) = begun else { return Ok(After::Close) };
        body.write(text.as_bytes()).await?;
        body.finish().await
    }
}

/// What a request says, or the status and the words it is refused with.
fn read(request: &Request) -> Result<SeenRequest, (u16, String)> {
    let path = request.path();
    let Some(format) = format_of(path).filter(|_| request.method == "POST") else {
        return Err((404, format!("nothing is at {} {path}", request.method)));
    };
    let body: Value = serde_json::from_slice(&request.body).map_err(|error| (400, format!("not JSON: {error}")))?;
    let key = match format {
        WireFormat::Gemini => request.header("x-goog-api-key").or_else(|| request.query("key")),
        WireFormat::OpenAi => request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")),
        WireFormat::Anthropic => request.header("x-api-key"),
    };
    let mut seen = match format {
        WireFormat::Gemini => gemini::read(path, body),
        WireFormat::OpenAi => openai::read(body),
        WireFormat::Anthropic => anthropic::read(body),
    }
    .map_err(|message| (400, message))?;
    seen.key = key.map(ToOwned::to_owned);
    Ok(seen)
}

fn format_of(path: &str) -> Option<WireFormat> {
    if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        return Some(WireFormat::Gemini);
    }
    match path {
        "/v1/chat/completions" => Some(WireFormat::OpenAi),
        "/v1/messages" => Some(WireFormat::Anthropic),
        _ => None,
    }
}

fn events(format: WireFormat, answer: &ModelAnswer, number: usize) -> Vec<Step> {
    match format {
        WireFormat::Gemini => gemini::events(answer),
        WireFormat::OpenAi => openai::events(answer, number),
        WireFormat::Anthropic => anthropic::events(answer, number),
    }
}

fn document(format: WireFormat, answer: &ModelAnswer, number: usize) -> Value {
    match format {
        WireFormat::Gemini => gemini::document(answer),
        WireFormat::OpenAi => openai::document(answer, number),
        WireFormat::Anthropic => anthropic::document(answer, number),
    }
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
