//! Asking the client something in the middle of a request, the same way in every version: the older ones are asked and waited for, 2026-07-28
//! gets "input required" and repeats the request with the answers.

use futures_util::future::try_join_all;
use serde_json::json;

use super::context::{Input, RequestContext, missing_capability};
use super::service::{InputRequest, InputRequired, Interruption};
use super::state;
use crate::call::Call;
use crate::era::Role;
use crate::error::{Error, RpcError};
use crate::limits::{INPUT_REQUESTS_MAX, LimitBreach};
use crate::message::Method;
use crate::peer::lock;
use crate::raw::RawJson;

impl RequestContext {
    /// Asks the client one thing. Pass an interruption on with `?`: the handler is then run again, from its beginning, with the answer.
    pub async fn ask(
        &self,
        key: impl Into<String>,
        method: impl Into<Method>,
        params: impl Into<RawJson>,
    ) -> Result<RawJson, Interruption> {
        let mut answers = self.ask_all(vec![InputRequest::new(key, method, params)]).await?;
        answers.pop().ok_or_else(|| RpcError::internal("the question got no answer").into())
    }

    /// Asks several things at once; the answers come in the order of the questions.
    pub async fn ask_all(&self, requests: Vec<InputRequest>) -> Result<Vec<RawJson>, Interruption> {
        self.may_ask_all(&requests)?;
        let mut answers = Vec::with_capacity(requests.len());
        let mut open = Vec::new();
        for request in requests {
            match self.answer_to(&request) {
                Some(answer) => answers.push(check(&request, answer).map_err(RpcError::invalid_params)?),
                None => open.push(request),
            }
        }
        if open.is_empty() {
            return Ok(answers);
        }
        if self.version().is_modern() || !answers.is_empty() {
            return Err(Interruption::InputRequired(InputRequired { requests: open, state: None }));
        }
        self.ask_directly(&open).await.map_err(Interruption::Failed)
    }

    /// Sends the questions as requests of the server, and waits.
    pub(super) async fn ask_directly(&self, requests: &[InputRequest]) -> Result<Vec<RawJson>, RpcError> {
        self.may_ask_all(requests)?;
        let asked = requests.iter().map(|request| async move {
            let call = Call::new(request.method.clone(), Some(request.params.clone()));
            let answer = self.inside().outlet.call(call).await?;
            check(request, answer)
                .map_err(|problem| RpcError::internal(format!("the client answered wrongly: {problem}")))
        });
        try_join_all(asked).await
    }

    /// What the handler kept with its questions of the round before, already verified.
    pub fn request_state(&self) -> Option<&str> {
        self.inside().input.state.as_deref()
    }

    /// Keeps something for the next run, should the client have to answer something first. It travels with the client, signed.
    pub fn keep_state(&self, state: impl Into<String>) {
        lock(&self.inside().progress_of_rounds).state = Some(state.into());
    }

    /// The answers in this request to questions that were asked, by key, including those of earlier rounds.
    pub fn input_responses(&self) -> &[(String, RawJson)] {
        &self.inside().input.answers
    }

    /// The answer to exactly this question. An answer to another question with the same key does not count.
    fn answer_to(&self, request: &InputRequest) -> Option<RawJson> {
        let Input { asked, answers, .. } = &self.inside().input;
        let (key, answer) = answers.iter().rev().find(|(key, _)| *key == request.key)?;
        let (_, question) = asked.iter().rev().find(|(asked, _)| asked == key)?;
        if *question != state::question(request) {
            return None;
        }
        let mut rounds = lock(&self.inside().progress_of_rounds);
        if !rounds.used.iter().any(|(used, _)| used == key) {
            rounds.used.push((key.clone(), answer.clone()));
        }
        Some(answer.clone())
    }

    /// Whether these questions may be asked, and at once.
    pub(super) fn may_ask_all(&self, requests: &[InputRequest]) -> Result<(), RpcError> {
        if requests.len() > INPUT_REQUESTS_MAX {
            let what = format!("{} questions in one round", requests.len());
            return Err(RpcError::internal(
                LimitBreach::new("INPUT_REQUESTS_MAX", INPUT_REQUESTS_MAX, what).to_string(),
            ));
        }
        requests.iter().try_for_each(|request| self.may_ask(request))
    }

    /// Whether client and version allow the question.
    fn may_ask(&self, request: &InputRequest) -> Result<(), RpcError> {
        if !self.version().is_modern() && !self.version().allows(Role::Server, &request.method) {
            let error = Error::NotInThisVersion { what: request.method.to_string(), version: self.version() };
            return Err(RpcError::internal(error.to_string()));
        }
        match &*request.method {
            "sampling/createMessage" => self.require_capability("sampling"),
            "roots/list" => self.require_capability("roots"),
            "elicitation/create" => self.may_elicit(&request.params),
            _ => Ok(()),
        }
    }

    fn may_elicit(&self, params: &RawJson) -> Result<(), RpcError> {
        let capability = self.client_capabilities().member("elicitation").filter(|value| !value.is_null());
        let capability = capability.ok_or_else(|| missing_capability(&json!({"elicitation": {}})))?;
        let mode =
            params.member("mode").and_then(|mode| mode.read::<String>().ok()).unwrap_or_else(|| "form".to_owned());
        // A client that names no mode means forms.
        let declared = capability.member(&mode).is_some() || (mode == "form" && capability.member("url").is_none());
        if declared { Ok(()) } else { Err(missing_capability(&json!({"elicitation": {mode: {}}}))) }
    }
}

/// Whether an answer has the one member that makes it an answer to that question.
fn check(request: &InputRequest, answer: RawJson) -> Result<RawJson, String> {
    let needed = match &*request.method {
        "elicitation/create" => Some("action"),
        "sampling/createMessage" => Some("content"),
        "roots/list" => Some("roots"),
        _ => None,
    };
    if answer.is_object() && needed.is_none_or(|needed| answer.member(needed).is_some()) {
        return Ok(answer);
    }
    let needed = needed.map(|needed| format!(" with `{needed}`")).unwrap_or_default();
    Err(format!("the answer `{}` to `{}` must be an object{needed}", request.key, request.method))
}
