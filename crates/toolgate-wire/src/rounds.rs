//! Requests of 2026-07-28 that take several rounds: the server answers "input required", we answer its questions and ask again.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::call::Call;
use crate::client::{Client, Question};
use crate::error::{Error, Result, RpcError};
use crate::limits::{INPUT_REQUESTS_MAX, INPUT_ROUNDS_MAX, LimitBreach};
use crate::raw::RawJson;

/// Runs a request to its end.
pub(crate) async fn run(client: &Client, call: Call) -> Result<RawJson> {
    let call = call.begun();
    let mut round = call.clone();
    let mut refreshed = false;
    for _ in 0..INPUT_ROUNDS_MAX {
        let result = match client.send(round.clone()).await {
            // The headers were made from a definition that is out of date.
            Err(Error::Rpc(error))
                if error.code == RpcError::HEADER_MISMATCH && call.method() == "tools/call" && !refreshed =>
            {
                refreshed = true;
                Box::pin(client.list_tools()).await?;
                continue;
            }
            other => other?,
        };
        match result_type(&result)?.as_deref() {
            Some("input_required") => round = call.in_time(next_round(client, &call, &result)).await?,
            _ => return Ok(result),
        }
    }
    let what = format!("rounds of input in one `{}`", call.method());
    Err(Error::Limit(LimitBreach::new("INPUT_ROUNDS_MAX", INPUT_ROUNDS_MAX, what)))
}

/// Made once: setting up a search costs more than searching a small result.
static RESULT_TYPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"resultType\""));

/// What kind of result this is; `None` is a complete one.
pub(crate) fn result_type(result: &RawJson) -> Result<Option<String>> {
    let bytes = result.as_bytes();
    let Some(at) = RESULT_TYPE.find(bytes) else { return Ok(None) };
    let rest = &bytes[at + RESULT_TYPE.needle().len()..];
    if rest.starts_with(b":\"complete\"") && RESULT_TYPE.find(rest).is_none() {
        return Ok(None); // Named once, and complete: told without parsing, which matters for large results.
    }
    let Some(kind) = result.member("resultType") else { return Ok(None) };
    match kind.read::<String>() {
        Ok(kind) if kind == "complete" => Ok(None),
        Ok(kind) if kind == "input_required" || kind == "task" => Ok(Some(kind)),
        _ => Err(Error::protocol(format!("the result is of an unknown type: {kind}"))),
    }
}

/// The same request again, with the answers to what the server asked and its state exactly as it gave it.
async fn next_round(client: &Client, call: &Call, result: &RawJson) -> Result<Call> {
    let questions = result.member("inputRequests").map(|all| all.members_within(INPUT_REQUESTS_MAX + 1));
    let (questions, _) = questions.unwrap_or_default();
    let state = result.member("requestState");
    if questions.is_empty() && state.is_none() {
        return Err(Error::protocol("the server requires input but asks for nothing"));
    }
    let answers = answer(client, questions).await?;
    let mut params = call.params().cloned().unwrap_or(RawJson::EMPTY_OBJECT);
    if let Some(answers) = answers {
        params = params.with_member("inputResponses", &answers);
    }
    if let Some(state) = state {
        params = params.with_member("requestState", &state);
    }
    Ok(call.clone().with_params(Some(params)))
}

/// Asks our side every question, all at once, and gathers the answers under the same keys.
pub(crate) async fn answer(client: &Client, questions: Vec<(String, RawJson)>) -> Result<Option<RawJson>> {
    if questions.is_empty() {
        return Ok(None);
    }
    if questions.len() > INPUT_REQUESTS_MAX {
        let what = "questions in one round of input";
        return Err(Error::Limit(LimitBreach::new("INPUT_REQUESTS_MAX", INPUT_REQUESTS_MAX, what)));
    }
    let side = &client.inner().handler.side;
    let asked = questions.into_iter().map(|(key, question)| async move {
        let method = question.member("method").and_then(|method| method.read::<String>().ok());
        let method = method.ok_or_else(|| Error::protocol(format!("the question `{key}` names no method")))?;
        let params = question.member("params").unwrap_or(RawJson::EMPTY_OBJECT);
        let answer = side.ask(Question { method: method.into(), params }).await?;
        Ok::<_, Error>((key, answer))
    });
    let answered = futures_util::future::try_join_all(asked).await?;
    let mut answers = RawJson::EMPTY_OBJECT;
    for (key, answer) in &answered {
        answers = answers.with_member(key, answer);
    }
    Ok(Some(answers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_result_is_told() {
        let cases = [
            (r#"{"content":[]}"#, Ok(None)),
            (r#"{"resultType":"complete","content":[{"text":"\"task\""}]}"#, Ok(None)),
            (r#"{"resultType":"complete","structuredContent":{"resultType":"task"}}"#, Ok(None)),
            (r#"{"resultType":"input_required"}"#, Ok(Some("input_required"))),
            (r#"{"content":[],"resultType":"task"}"#, Ok(Some("task"))),
            (r#"{"structuredContent":{"resultType":"task"}}"#, Ok(None)),
            (r#"{"resultType":"surprise"}"#, Err(())),
            (r#"{"resultType":7}"#, Err(())),
        ];
        for (text, expected) in cases {
            let kind = result_type(&RawJson::from_bytes(text).unwrap());
            assert_eq!(kind.as_ref().map(Option::as_deref).map_err(|_| ()), expected, "{text}");
        }
    }
}
