//! What a scripted client has seen: messages in order, texts, HTTP exchanges, and how it ended.

use serde_json::Value;

/// Everything that came from the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// Every message, in the order of arrival; a batch counts as its messages.
    pub messages: Vec<Value>,
    /// Every line, body or event as it stood, whether or not it is JSON.
    pub texts: Vec<String>,
    /// Every HTTP request and what became of it, in the order of sending.
    pub exchanges: Vec<Exchange>,
    /// How the stream ended (over HTTP: how the whole run ended).
    pub end: End,
    /// Requests that were sent again with answers to the server's questions: the id before, the id after.
    pub(crate) retries: Vec<(Value, Value)>,
}

/// One HTTP request and its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The id of the request in the body, if there is one.
    pub id: Option<Value>,
    /// The status; `None` when no answer came.
    pub status: Option<u16>,
    /// The headers of the answer, names in lower case.
    pub headers: Vec<(String, String)>,
    /// How it ended.
    pub end: End,
}

impl Exchange {
    /// The first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// How a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It had not ended when the script had.
    #[default]
    Open,
    /// The server ended it properly; over HTTP: the answer came to its end.
    ByServer,
    /// The script ended it.
    ByClient,
    /// It broke, for this reason.
    Broken(String),
    /// The time limit of the script was reached.
    TimedOut,
}

impl Transcript {
    /// The last answer to this request, also when it had to be sent again under another id.
    #[must_use]
    pub fn answer_to(&self, id: impl Into<Value>) -> Option<&Value> {
        let id = id.into();
        let id = self.last_id(&id);
        let is_answer = |message: &&Value| message.get("method").is_none() && message.get("id") == Some(id);
        self.messages.iter().rev().find(is_answer)
    }

    /// The id under which a request was sent last.
    pub(crate) fn last_id<'a>(&'a self, id: &'a Value) -> &'a Value {
        let next = |id: &Value| self.retries.iter().find(|(before, _)| before == id).map(|(_, after)| after);
        std::iter::successors(Some(id), |id| next(id)).last().unwrap_or(id)
    }

    /// The result of this request.
    #[must_use]
    pub fn result_of(&self, id: impl Into<Value>) -> Option<&Value> {
        self.answer_to(id)?.get("result")
    }

    /// The error of this request.
    #[must_use]
    pub fn error_of(&self, id: impl Into<Value>) -> Option<&Value> {
        self.answer_to(id)?.get("error")
    }

    /// The code of the error of this request.
    #[must_use]
    pub fn code_of(&self, id: impl Into<Value>) -> Option<i64> {
        self.error_of(id)?.get("code")?.as_i64()
    }

    /// The parameters of each notification of this method.
    #[must_use]
    pub fn notifications(&self, method: &str) -> Vec<&Value> {
        let of_method = |message: &&Value| message.get("method").is_some_and(|found| found == method);
        let found = self.messages.iter().filter(of_method).filter(|message| message.get("id").is_none());
        found.map(|message| message.get("params").unwrap_or(&Value::Null)).collect()
    }

    /// The codes of errors that name no request.
    #[must_use]
    pub fn errors_without_id(&self) -> Vec<i64> {
        let nameless = self.messages.iter().filter(|message| message.get("id").is_none_or(Value::is_null));
        nameless.filter_map(|message| message.get("error")?.get("code")?.as_i64()).collect()
    }

    /// The status of each HTTP exchange; 0 when no answer came.
    #[must_use]
    pub fn statuses(&self) -> Vec<u16> {
        self.exchanges.iter().map(|exchange| exchange.status.unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Transcript;
    use serde_json::json;

    #[test]
    fn a_client_script_transcript_follows_retries() {
        let transcript = Transcript {
            messages: vec![
                json!({"id": 1, "result": {"resultType": "input_required"}}),
                json!({"method": "notifications/x", "params": {"a": 1}}),
                json!({"id": "r", "result": 5}),
                json!({"error": {"code": -32700}}),
            ],
            retries: vec![(json!(1), json!("r"))],
            ..Transcript::default()
        };
        assert_eq!(transcript.result_of(1), Some(&json!(5)));
        assert_eq!(transcript.error_of(1), None);
        assert_eq!(transcript.notifications("notifications/x"), [&json!({"a": 1})]);
        assert_eq!(transcript.errors_without_id(), [-32700]);
    }
}
