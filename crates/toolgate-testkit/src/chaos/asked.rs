//! What a request asks for, and what the plain answer to it is.

use serde_json::{Value, json};

/// The tools that every life has, and what they say about themselves.
const TOOLS: [(&str, Option<&str>); 3] =
    [("act", None), ("look", Some("readOnlyHint")), ("put", Some("idempotentHint"))];

/// Every so many lives a server comes back without `put`.
const LIVES_WITHOUT_PUT: u32 = 3;

/// A request that is to be answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) id: Value,
    /// What is written into the ledger, when it is a call.
    pub(super) nonce: Option<String>,
    /// The answer, when nothing goes wrong.
    pub(super) answer: Value,
}

impl Asked {
    /// Reads a message; nothing for notifications and answers.
    pub(super) fn read(message: &Value, life: u32, is_modern: bool) -> Option<Self> {
        let (id, method) = (message.get("id")?.clone(), message.get("method")?.as_str()?);
        let params = message.get("params").unwrap_or(&Value::Null);
        let mut nonce = None;
        let outcome = match method {
            "server/discover" if is_modern => Ok(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
            })),
            "initialize" if !is_modern => Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "chaos", "version": life.to_string()},
            })),
            "ping" if !is_modern => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": tools(life)})),
            "tools/call" => match called(params, life) {
                Some(asked) => {
                    let text = json!({"nonce": asked}).to_string();
                    nonce = Some(asked);
                    Ok(json!({"content": [{"type": "text", "text": text}]}))
                }
                None => Err((-32602, "there is no such tool")),
            },
            _ => Err((-32601, "there is no such method")),
        };
        let answer = match outcome {
            Ok(mut result) => {
                if is_modern {
                    result["resultType"] = json!("complete");
                }
                json!({"jsonrpc": "2.0", "id": id, "result": result})
            }
            Err((code, message)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}),
        };
        Some(Self { id, nonce, answer })
    }

    /// The same answer to a question that nobody asked.
    pub(super) fn answer_with_wrong_id(&self) -> Value {
        self.answer_to(json!(self.id.as_u64().unwrap_or_default() + 1_000_000_000))
    }

    /// The same answer to another question.
    pub(super) fn answer_to(&self, id: Value) -> Value {
        let mut answer = self.answer.clone();
        answer["id"] = id;
        answer
    }
}

/// Notifications that a client has to put up with.
pub(super) fn flood(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|number| match number % 50 {
        0 => json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        1..10 => json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "nobody", "progress": number}}),
        _ => json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}}),
    })
}

fn offered(life: u32) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let is_without_put = life.is_multiple_of(LIVES_WITHOUT_PUT);
    TOOLS.into_iter().filter(move |(name, _)| !(is_without_put && *name == "put"))
}

fn tools(life: u32) -> Vec<Value> {
    let schema = json!({"type": "object", "properties": {"nonce": {"type": "string"}}, "required": ["nonce"]});
    let tool = |name: &str, hint: Option<&str>| {
        let hints: serde_json::Map<String, Value> =
            hint.iter().map(|hint| ((*hint).to_owned(), Value::Bool(true))).collect();
        json!({"name": name, "inputSchema": schema, "annotations": hints})
    };
    let own = tool(&format!("life_{life}"), None);
    offered(life).map(|(name, hint)| tool(name, hint)).chain([own]).collect()
}

/// The nonce of a call of one of the tools.
fn called(params: &Value, life: u32) -> Option<String> {
    let name = params.get("name")?.as_str()?;
    let is_known = offered(life).any(|(known, _)| known == name) || name == format!("life_{life}");
    let nonce = params.get("arguments")?.get("nonce")?.as_str()?;
    is_known.then(|| nonce.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Asked;

    #[test]
    fn lives_offer_different_tools() {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let names = |life| {
            let answer = Asked::read(&list, life, false).unwrap().answer;
            let tools = answer["result"]["tools"].as_array().unwrap().clone();
            tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(1), ["act", "look", "put", "life_1"]);
        assert_eq!(names(3), ["act", "look", "life_3"]);
    }

    #[test]
    fn a_server_begins_in_one_way_only() {
        let answers = |method: &str, is_modern| {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
            Asked::read(&message, 1, is_modern).unwrap().answer["result"].is_object()
        };
        assert_eq!((answers("initialize", false), answers("server/discover", false)), (true, false));
        assert_eq!((answers("initialize", true), answers("server/discover", true)), (false, true));
    }

    #[test]
    fn only_calls_have_a_nonce() {
        let call = |tool: &str| json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {"nonce": "n"}}});
        let cases: [(Value, Option<&str>); 4] = [
            (call("act"), Some("n")),
            (call("life_2"), Some("n")),
            (call("life_1"), None),
            (json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}), None),
        ];
        for (message, nonce) in cases {
            assert_eq!(Asked::read(&message, 2, false).unwrap().nonce.as_deref(), nonce, "{message}");
        }
        assert_eq!(Asked::read(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), 1, false), None);
        assert_eq!(Asked::read(&call("act"), 1, false).unwrap().answer_with_wrong_id()["id"], 1_000_000_007);
    }
}
