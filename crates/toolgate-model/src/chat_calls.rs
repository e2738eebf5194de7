//! `ChatCalls`: the calls of an answer in the format of `chat/completions`, put together from their pieces.
//!
//! The library would make its list as long as a number that the provider writes, and fill the gaps with copies of a call. Here a call is a call,
//! whatever its number: pieces belong together when they have the same one.

use std::borrow::Cow;

use genai::chat::ToolCall;
use serde_json::Value;

use crate::limits::{ANSWER_BYTES_MAX, CALLS_READ_MAX};

/// What stands in every event that has a piece of a call.
const MARK: &str = "\"tool_calls\"";

/// Calls, in the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct ChatCalls {
    calls: Vec<Unfinished>,
    bytes: usize,
}

/// A call of which more may come.
#[derive(Debug, Default)]
struct Unfinished {
    /// The number that the provider gives it; some give none.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl ChatCalls {
    /// Takes the pieces out of an event.
    ///
    /// # Errors
    /// When it has become too much, and of what.
    pub(crate) fn hear(&mut self, event: &str) -> Result<(), String> {
        if !event.contains(MARK) {
            return Ok(());
        }
        // What cannot be read is told by the library, which reads it too.
        let event = serde_json::from_str::<Value>(event).unwrap_or_default();
        let pieces = event.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
        pieces.into_iter().flatten().try_for_each(|piece| self.join(piece))
    }

    fn join(&mut self, piece: &Value) -> Result<(), String> {
        let text = |place: &str| piece.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let (index, id, name) = (piece.get("index").and_then(Value::as_u64), text("/id"), text("/function/name"));
        let arguments = match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            None | Some(Value::Null) => Cow::Borrowed(""),
            // Some servers write the object itself.
            Some(other) => Cow::Owned(other.to_string()),
        };
        self.bytes = self.bytes.saturating_add(id.len() + name.len() + arguments.len());
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(format!("the calls of the model are longer than {ANSWER_BYTES_MAX} bytes"));
        }
        let at = match self.position(index, id, name) {
            Some(at) => at,
            None if self.calls.len() >= CALLS_READ_MAX => {
                return Err(format!("the model asks for more than {CALLS_READ_MAX} calls at once"));
            }
            None => {
                self.calls.push(Unfinished { index, ..Unfinished::default() });
                self.calls.len() - 1
            }
        };
        if let Some(call) = self.calls.get_mut(at) {
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            call.arguments.push_str(&arguments);
        }
        Ok(())
    }

    /// The call that a piece belongs to; none when it begins one.
    fn position(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        // Some servers give all calls the same number, and some give each piece an id of its own: a call begins with its name.
        let begins = |call: &Unfinished| !name.is_empty() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id),
            None if name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        known.filter(|at| self.calls.get(*at).is_some_and(|call| !begins(call)))
    }

    /// The calls, with their arguments as they were written.
    pub(crate) fn finish(self) -> Vec<ToolCall> {
        let call = |call: Unfinished| ToolCall {
            call_id: call.id,
            fn_name: call.name,
            fn_arguments: Value::String(call.arguments),
            thought_signatures: None,
        };
        self.calls.into_iter().map(call).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ChatCalls;
    use crate::limits::{ANSWER_BYTES_MAX, CALLS_READ_MAX};

    fn event(pieces: &Value) -> String {
        json!({"choices": [{"delta": {"tool_calls": pieces}}]}).to_string()
    }

    #[test]
    fn pieces_that_belong_together_become_one_call() {
        let begin = |index: u64, id: &str, name: &str| json!([{"index": index, "id": id, "function": {"name": name, "arguments": ""}}]);
        let more = |index: u64, text: &str| json!([{"index": index, "function": {"arguments": text}}]);
        let named = |piece: Value| json!([piece]);
        let cases: [(Vec<Value>, &str); 8] = [
            (vec![begin(0, "a", "t"), more(0, "{\"x\""), more(0, ":1}")], "a t {\"x\":1}"),
            (vec![begin(0, "a", "t"), begin(1, "b", "u"), more(1, "{}"), more(0, "[]")], "a t [], b u {}"),
            // Numbers that begin anywhere, or are all the same.
            (vec![begin(4_294_967_295, "a", "t"), more(4_294_967_295, "{}")], "a t {}"),
            (vec![begin(1, "a", "t"), more(1, "{}")], "a t {}"),
            (vec![begin(0, "a", "t"), more(0, "{}"), begin(0, "b", "t"), more(0, "[]")], "a t {}, b t []"),
            // An id for each piece.
            (
                vec![begin(0, "a", "t"), named(json!({"index": 0, "id": "z", "function": {"arguments": "{}"}}))],
                "a t {}",
            ),
            // No number.
            (
                vec![
                    named(json!({"id": "a", "function": {"name": "t", "arguments": {"x": 1}}})),
                    named(json!({"id": "b", "function": {"name": "u"}})),
                    named(json!({"function": {"arguments": "{}"}})),
                ],
                "a t {\"x\":1}, b u {}",
            ),
            (vec![json!("strange"), json!({"index": 1}), Value::Null], ""),
        ];
        for (events, expected) in cases {
            let mut calls = ChatCalls::default();
            events.iter().for_each(|pieces| calls.hear(&event(pieces)).unwrap());
            let told = calls.finish().into_iter();
            let told: Vec<String> = told
                .map(|call| format!("{} {} {}", call.call_id, call.fn_name, call.fn_arguments.as_str().unwrap()))
                .collect();
            assert_eq!(told.join(", "), expected);
        }
    }

    #[test]
    fn too_much_is_told() {
        let mut calls = ChatCalls::default();
        let many = (0..CALLS_READ_MAX).map(|index| json!({"index": index})).collect();
        calls.hear(&event(&Value::Array(many))).unwrap();
        assert!(calls.hear(&event(&json!([{"index": CALLS_READ_MAX}]))).unwrap_err().contains("calls at once"));
        let mut calls = ChatCalls::default();
        let half = json!([{"index": 0, "function": {"arguments": "x".repeat(ANSWER_BYTES_MAX / 2)}}]);
        calls.hear(&event(&half)).unwrap();
        calls.hear(&event(&half)).unwrap();
        assert!(calls.hear(&event(&json!([{"index": 0, "id": "x"}]))).unwrap_err().contains("longer than"));
        assert!(calls.hear("data that is no JSON and says \"tool_calls\"").is_ok());
    }
}
