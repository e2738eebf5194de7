//! What is shown while a model works, in the form that was asked for: the answer alone, one object at the end, or one for everything that happens.

use std::io::Result;

use toolgate::RawJson;
use toolgate::shape::visible;
use toolgate_model::{TokenUsage, TurnEvent, TurnReport};

use super::OutputFormat;
use crate::error::CommandError;
use crate::json::{JsonWriter, ObjectWriter};
use crate::printer::Printer;

/// Shows what happens.
pub(super) struct Shown<'a> {
    format: OutputFormat,
    printer: &'a mut Printer,
    /// Whether something stands on the line that was written last.
    is_within_line: bool,
}

impl<'a> Shown<'a> {
    pub(super) const fn new(format: OutputFormat, printer: &'a mut Printer) -> Self {
        Self { format, printer, is_within_line: false }
    }

    /// It begins.
    pub(super) fn begin(&mut self, model: &str) -> Result<()> {
        match self.format {
            OutputFormat::Text | OutputFormat::Json => Ok(()),
            OutputFormat::StreamJson => self.object("start", |object| object.string("model", model)),
        }
    }

    /// Something happened.
    pub(super) fn show(&mut self, event: &TurnEvent) -> Result<()> {
        match self.format {
            OutputFormat::Text => self.in_words(event),
            OutputFormat::Json => Ok(()),
            OutputFormat::StreamJson => self.as_object(event),
        }
    }

    /// It is over.
    pub(super) fn end(&mut self, report: &TurnReport, failure: Option<&CommandError>) -> Result<()> {
        match self.format {
            OutputFormat::Text => self.end_line(),
            OutputFormat::Json => self.printer.json(|json| json.object(|object| write_result(object, report, failure))),
            OutputFormat::StreamJson => self.object("result", |object| write_result(object, report, failure)),
        }
    }

    /// On a terminal the answer is seen as it comes. Anybody else gets it when it is whole, since nothing can be taken back.
    fn in_words(&mut self, event: &TurnEvent) -> Result<()> {
        let is_seen = self.printer.terminal().stdout;
        match event {
            TurnEvent::Text(text) if is_seen => {
                self.is_within_line = !text.ends_with('\n') && (self.is_within_line || !text.is_empty());
                self.printer.piece(text)
            }
            TurnEvent::Answered { text, .. } if is_seen || text.is_empty() => self.end_line(),
            TurnEvent::Answered { text, .. } => {
                self.is_within_line = !text.ends_with('\n');
                self.printer.piece(text)?;
                self.end_line()
            }
            TurnEvent::Retry { error, discards, wait, .. } => {
                self.end_line()?;
                let again = if *discards && is_seen { "; what was shown of the answer does not count" } else { "" };
                let message = visible::line(&error.to_string()).into_owned();
                self.printer.talk().line(&format!("{message}; trying again in {:.1} s{again}", wait.as_secs_f64()));
                Ok(())
            }
            TurnEvent::CallEnded(news, ending) => {
                self.end_line()?;
                let what = format!("{} {}", news.name, news.explanation());
                self.printer.talk().line(&format!("{}: {}", visible::line(&what), ending.word));
                Ok(())
            }
            TurnEvent::Asked { .. }
            | TurnEvent::Thinking(_)
            | TurnEvent::Text(_)
            | TurnEvent::CallAsked(_)
            | TurnEvent::CallStarted(_) => Ok(()),
        }
    }

    fn end_line(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_within_line) { self.printer.piece("\n") } else { Ok(()) }
    }

    fn as_object(&mut self, event: &TurnEvent) -> Result<()> {
        match event {
            TurnEvent::Asked { number } => self.object("request", |object| object.number("number", u64::from(*number))),
            TurnEvent::Thinking(text) => self.object("thinking", |object| object.string("text", text)),
            TurnEvent::Text(text) => self.object("text", |object| object.string("text", text)),
            TurnEvent::Answered { text, calls, usage } => self.object("answer", |object| {
                object.string("text", text)?;
                object.number("calls", *calls as u64)?;
                object.member("tokens", |json| write_usage(json, *usage))
            }),
            TurnEvent::Retry { attempt, wait, error, discards } => self.object("retry", |object| {
                object.number("attempt", u64::from(*attempt))?;
                object.number("waitMs", u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))?;
                object.string("reason", &error.to_string())?;
                object.flag("discards", *discards)
            }),
            TurnEvent::CallAsked(news) => self.object("tool_call", |object| {
                object.string("id", &news.id)?;
                object.string("name", &news.name)?;
                let arguments = RawJson::from(serde_json::Value::Object(news.arguments.clone()));
                object.raw("arguments", Some(&arguments))
            }),
            TurnEvent::CallStarted(_) => Ok(()),
            TurnEvent::CallEnded(news, ending) => self.object("tool_result", |object| {
                object.string("id", &news.id)?;
                object.string("name", &news.name)?;
                object.string("outcome", ending.word)?;
                object.flag("isError", ending.is_error)?;
                object.number("durationMs", u64::try_from(ending.took.as_millis()).unwrap_or(u64::MAX))?;
                object.string("text", &ending.told)
            }),
        }
    }

    /// One object on a line of its own, at once.
    fn object(&mut self, kind: &str, members: impl FnOnce(&mut ObjectWriter<'_>) -> Result<()>) -> Result<()> {
        self.printer.json(|json| {
            json.object(|object| {
                object.string("type", kind)?;
                members(object)
            })
        })?;
        self.printer.flush()
    }
}

fn write_result(object: &mut ObjectWriter<'_>, report: &TurnReport, failure: Option<&CommandError>) -> Result<()> {
    object.string("response", &report.text)?;
    object.member("stats", |json| {
        json.object(|stats| {
            stats.number("turns", u64::from(report.turns))?;
            stats.member("tools", |json| {
                json.object(|tools| {
                    tools.number("calls", u64::from(report.calls))?;
                    tools.number("failed", u64::from(report.failed_calls))
                })
            })?;
            stats.member("tokens", |json| write_usage(json, report.usage))
        })
    })?;
    object.member("error", |json| match failure {
        Some(failure) => failure.write_inner(json),
        None => json.null(),
    })
}

fn write_usage(json: &mut JsonWriter<'_>, usage: TokenUsage) -> Result<()> {
    json.object(|tokens| {
        tokens.number("input", usage.input)?;
        tokens.number("cached", usage.cached)?;
        tokens.number("output", usage.output)?;
        tokens.number("total", usage.total())
    })
}
