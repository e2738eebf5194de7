//! A model asked by hand: documents in place of events, and requests that providers would refuse.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::model_server::{ModelAnswer, ModelScript, ModelServer, Said, WireFormat};

/// Posts a document, and gives the status and the body of the answer.
async fn post(server: &ModelServer, format: WireFormat, (path, key): (&str, &str), body: &Value) -> (u16, Value) {
    let base = server.base_url(format);
    let (host, version) = base.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = body.to_string();
    let request = format!(
        "POST /{version}/{path} HTTP/1.1\r\nHost: {host}\r\n{key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

fn request(format: WireFormat) -> ((&'static str, &'static str), Value) {
    match format {
        WireFormat::Gemini => (
            ("models/m:generateContent", "x-goog-api-key: k"),
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
        ),
        WireFormat::OpenAi => (
            ("chat/completions", "Authorization: Bearer k"),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
        ),
        WireFormat::Anthropic => (
            ("messages", "x-api-key: k"),
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}),
        ),
    }
}

#[tokio::test]
async fn whoever_wants_no_events_gets_one_document() {
    for format in WireFormat::ALL {
        let call = Said::Call { name: "t".into(), arguments: json!({"a": 1}) };
        let script = ModelScript::new([ModelAnswer::text(["he", "llo"]).and([call]).costing(3, 4)]);
        let script = ModelScript::from_json(&serde_json::to_string(&script).unwrap()).unwrap();
        let server = ModelServer::start(script).await.unwrap();
        let (place, body) = request(format);
        let (status, answer) = post(&server, format, place, &body).await;
        assert_eq!(status, 200, "{answer}");
        let places = match format {
            WireFormat::Gemini => {
                ["/candidates/0/content/parts/1/text", "/candidates/0/content/parts/2/functionCall/name"]
            }
            WireFormat::OpenAi => ["/choices/0/message/content", "/choices/0/message/tool_calls/0/function/name"],
            WireFormat::Anthropic => ["/content/1/text", "/content/2/name"],
        };
        let [text, name] = places.map(|place| answer.pointer(place).and_then(Value::as_str).unwrap_or_default());
        assert!(text.ends_with("llo") && name == "t", "{answer}");
        let seen = server.record().request(0);
        assert_eq!((seen.format, seen.is_streamed, seen.messages[0].text.as_str()), (format, false, "hi"));
        let (status, _) = post(&server, format, place, &body).await;
        assert_eq!(status, 400, "there are no more answers");
    }
}

#[tokio::test]
async fn what_providers_refuse_is_refused() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}});
    let user = json!({"role": "user", "content": "hi"});
    let asks = json!({"role": "assistant", "content": "", "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "x"});
    let strange = json!({"id": "1", "type": "function", "function": {"name": "t.t", "arguments": "{}"}});
    let twice = json!({"role": "assistant", "content": "", "tool_calls": [call, call]});
    let cases = [
        (json!([user, asks, result]), 200),
        (json!([user, asks, result, asks, result]), 200),
        (json!([user, twice, result, result]), 400),
        (json!([user, {"role": "assistant", "content": "", "tool_calls": [strange]}, result]), 400),
        (json!([user, asks]), 400),
        (json!([user, asks, user]), 400),
        (json!([user, result]), 400),
        (json!([asks, result]), 400),
        (json!([]), 400),
    ];
    for (messages, expected) in cases {
        let server = ModelServer::start(ModelScript::new([ModelAnswer::text(["ok"])])).await.unwrap();
        let (place, _) = request(WireFormat::OpenAi);
        let body = json!({"model": "m", "messages": messages});
        let (status, answer) = post(&server, WireFormat::OpenAi, place, &body).await;
        assert_eq!(status, expected, "{messages}: {answer}");
    }
    let server = ModelServer::start(ModelScript::default()).await.unwrap();
    let (_, body) = request(WireFormat::OpenAi);
    assert_eq!(post(&server, WireFormat::OpenAi, ("nowhere", "X: y"), &body).await.0, 404);
}
