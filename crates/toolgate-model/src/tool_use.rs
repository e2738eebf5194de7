//! One call that a model asks for: bound to the catalog, run through the host's one door, and told to the model in words it can use. Whatever
//! goes wrong is told too.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use toolgate::policy::Verdict;
use toolgate::registry::nearest;
use toolgate::results::ResultStore;
use toolgate::shape::{ModelContent, ModelPart, for_display, for_model};
use toolgate::wire::view::CallResult;
use toolgate::{Asker, CallOutcome, CallReport, Catalog, Error, ErrorKind, Host, RawJson, RunOptions, ToolCall};

use crate::answer::AskedCall;
use crate::event::{CANCELLED, CallEnding, CallNews, TurnEvent, TurnEvents};
use crate::history::Told;
use crate::offer::{Meant, Offer};
use crate::own_function::{OwnAnswer, Within};

/// Pictures that all models which look at pictures can look at.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What the calls of one answer are made with.
pub(crate) struct ToolUse<'a> {
    pub(crate) host: &'a Host,
    pub(crate) catalog: &'a Catalog,
    pub(crate) offer: &'a Offer<'a>,
    pub(crate) events: &'a TurnEvents<'a>,
    pub(crate) takes_images: bool,
    pub(crate) result_chars_max: Option<usize>,
}

/// How a call ended, before it is told to anybody.
struct Ended {
    word: &'static str,
    is_error: bool,
    told: Told,
    outcome: Option<Arc<CallOutcome>>,
}

impl Ended {
    fn refused(word: &'static str, text: impl Into<String>) -> Self {
        Self { word, is_error: true, told: Told::from(text.into()), outcome: None }
    }
}

impl ToolUse<'_> {
    /// Runs a call to its end. The flag says whether it failed. Dropping the future cancels it at its server.
    pub(crate) async fn run(&self, call: &AskedCall, news: &Arc<CallNews>) -> (Told, bool) {
        (self.events)(TurnEvent::CallStarted(news.clone()));
        let started = Instant::now();
        let Ended { word, is_error, told, outcome } = match &call.arguments {
            Err(what) => Ended::refused("malformed", format!("The call was not made: {what}. Write them again.")),
            Ok(arguments) => self.find(&call.name, arguments.clone()).await,
        };
        let report = outcome.as_ref().and_then(|outcome| outcome.report());
        let took = report.map_or_else(|| started.elapsed(), |report| report.took);
        let ending = CallEnding { word, is_error, took, outcome, told: told.text.clone() };
        (self.events)(TurnEvent::CallEnded(news.clone(), ending));
        (told, is_error)
    }

    async fn find(&self, name: &str, arguments: Map<String, Value>) -> Ended {
        let answer = match self.offer.own(name) {
            Some(own) => own.answer(Within { host: self.host, catalog: self.catalog }, arguments).await,
            None => match self.offer.meant(name, arguments) {
                Ok(Meant::Tool(tool, arguments)) => return self.call(&tool, arguments).await,
                Ok(Meant::Answer(answer)) => answer,
                Err(what) => return Ended::refused("malformed", format!("The call was not made: {what}")),
            },
        };
        let said = |text: String| Ended { word: "answered", is_error: false, told: text.into(), outcome: None };
        match answer {
            OwnAnswer::Said(text) => said(text),
            OwnAnswer::Quoted(text) => said(quoted(name, &text)),
            OwnAnswer::Failed(text) => Ended::refused("failed", format!("The call failed: {text}")),
            OwnAnswer::Call { name, arguments } => self.call(&name, arguments).await,
        }
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Ended {
        let call = ToolCall {
            name: name.to_owned(),
            arguments: RawJson::from(Value::Object(arguments)),
            asked_by: Asker::Model,
        };
        let Ok(prepared) = self.catalog.prepare(call) else { return self.unknown(name) };
        let outcome = self.host.run(prepared, RunOptions::default()).await;
        let is_error = !matches!(outcome, CallOutcome::Completed(_));
        let told = self.told(name, &outcome).await;
        Ended { word: outcome.as_str(), is_error, told, outcome: Some(Arc::new(outcome)) }
    }

    fn unknown(&self, name: &str) -> Ended {
        let near = nearest(name, self.offer.names());
        let hint = if near.is_empty() { String::new() } else { format!(" Did you mean `{}`?", near.join("`, `")) };
        Ended::refused("unknown_tool", format!("There is no tool `{}`.{hint}", name.escape_debug()))
    }

    async fn told(&self, name: &str, outcome: &CallOutcome) -> Told {
        let text = match outcome {
            CallOutcome::Completed(report) | CallOutcome::ToolError(report) => return self.shaped(report).await,
            CallOutcome::Denied(verdict) => denied(verdict),
            CallOutcome::Refused { reason } => {
                let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!("The call was not made: the person was asked and said no{why}.")
            }
            CallOutcome::Cancelled => CANCELLED.to_owned(),
            CallOutcome::TimedOut { after, .. } => {
                format!("The call timed out after {after:?}, and was cancelled at its server.")
            }
            CallOutcome::Failed(error) => failed(name, error),
            CallOutcome::Unknown(error) => format!(
                "The server was lost before it answered: the call may have been done or not. Look before you call it again.\n{}",
                quoted(name, &error.to_string())
            ),
            other => format!("The call was not made: {}.", other.as_str()),
        };
        text.into()
    }

    async fn shaped(&self, report: &CallReport) -> Told {
        let content = match self.result_chars_max {
            None => report.for_model(),
            Some(chars_max) => {
                let content = for_model::shape_within(&report.name, &report.result, chars_max);
                let is_cut = content.truncation.is_some();
                let kept = match (&report.kept, self.host.calls().results()) {
                    (Some(kept), _) => Some(kept.clone()),
                    (None, Some(store)) if is_cut => keep(store, report).await,
                    _ => None,
                };
                match kept {
                    Some(kept) => content.naming_kept(&kept),
                    None => content,
                }
            }
        };
        self.parts(content)
    }

    /// Texts one per line; pictures apart, and everything else by its size.
    fn parts(&self, content: ModelContent) -> Told {
        let mut told = Told::default();
        for part in content.parts {
            let line = match part {
                ModelPart::Text(text) => text,
                ModelPart::Inline { mime, data } if self.takes_images && PICTURES.contains(&mime.as_str()) => {
                    told.images.push((mime, data));
                    "[It is shown behind the results of all calls.]".to_owned()
                }
                ModelPart::Inline { data, .. } => {
                    format!("[It is not shown: {} bytes that this model does not take.]", data.len() / 4 * 3)
                }
            };
            if !told.text.is_empty() {
                told.text.push('\n');
            }
            told.text.push_str(&line);
        }
        if told.text.is_empty() {
            "[The tool ran and returned nothing.]".clone_into(&mut told.text);
        }
        told
    }
}

async fn keep(store: &Arc<ResultStore>, report: &CallReport) -> Option<toolgate::results::ResultHandle> {
    let (store, whole) = (store.clone(), for_display::raw(&report.result));
    let kept = tokio::task::spawn_blocking(move || store.keep(whole.as_bytes())).await;
    kept.ok().and_then(|kept| kept.inspect_err(|error| tracing::warn!("a large result is not kept: {error}")).ok())
}

fn denied(verdict: &Verdict) -> String {
    let why = verdict.deny_message().map(|message| format!(" {message}")).unwrap_or_default();
    if verdict.asks_nobody() {
        return format!("The call was denied: it needs the person's confirmation, and nobody can be asked here.{why}");
    }
    format!("The call was denied by the person's rules: {verdict}.{why}")
}

fn failed(name: &str, error: &Error) -> String {
    match error.kind() {
        // About what the model wrote, in our words.
        ErrorKind::InvalidArguments => format!("The call was not made: {error}"),
        _ => format!("The call failed.\n{}", quoted(name, &error.to_string())),
    }
}

/// Words of somebody else, marked as data.
fn quoted(name: &str, text: &str) -> String {
    let result = RawJson::from(json!({"content": [{"type": "text", "text": text}]}));
    match CallResult::read(result) {
        Ok(result) => for_model::shape_within(name, &result, 0).text(),
        Err(_) => String::new(),
    }
}
