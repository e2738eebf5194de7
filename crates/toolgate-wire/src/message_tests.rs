//! Reading and writing of frames: what is forgiven, what is named as a defect, what survives.

use super::*;

/// One line that says how a frame was understood.
fn understood(text: &str) -> String {
    match Frame::read(&Bytes::copy_from_slice(text.as_bytes())) {
        Ok(Frame::One(message)) => describe(&message),
        Ok(Frame::Batch(entries)) => {
            let entries: Vec<_> =
                entries.iter().map(|entry| entry.as_ref().map_or_else(|d| format!("{:?}", d.kind), describe)).collect();
            format!("batch[{}]", entries.join("; "))
        }
        Err(defect) => format!("{:?} id={:?}", defect.kind, defect.id.map(|id| id.to_string())),
    }
}

fn describe(message: &Message) -> String {
    match message {
        Message::Request(r) => {
            format!("request {} {} {}", r.id, r.method, r.params.as_ref().map_or("-", RawJson::as_str))
        }
        Message::Notification(n) => format!("note {} {}", n.method, n.params.as_ref().map_or("-", RawJson::as_str)),
        Message::Response(r) => {
            let id = r.id.as_ref().map_or("none".to_owned(), Id::to_string);
            match &r.outcome {
                Ok(result) => format!("result {id} {result}"),
                Err(error) => format!("error {id} {} {}", error.code, error.message),
            }
        }
    }
}

#[test]
fn frames_are_read_forgivingly() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping -"),
        (r#"{"id":"a","method":"x","params":null}"#, r#"request "a" x -"#),
        (r#"{"id":"\u0061","method":"x","params":{"k":[1e5]}}"#, r#"request "a" x {"k":[1e5]}"#),
        (r#"{"method":"n","params":{ "a" : 1 }}"#, r#"note n { "a" : 1 }"#),
        (r#"{"id":null,"method":"n"}"#, "NotAMessage id=None"),
        (r#"{"id":1,"result":{"unknown":12345678901234567890}}"#, r#"result 1 {"unknown":12345678901234567890}"#),
        (r#"{"id":1,"result":null}"#, "result 1 null"),
        (r#"{"id":1,"result":null,"error":{"code":-1,"message":"m"}}"#, "error 1 -1 m"),
        (r#"{"id":1,"error":"just text"}"#, "error 1 -32603 just text"),
        (r#"{"id":1,"error":{"code":-32601.0}}"#, "error 1 -32601 error without a message"),
        (r#"{"id":1,"error":{"code":-5,"message":"m","data":1,"message":"n","data":2}}"#, "error 1 -5 n"),
        (r#"{"id":null,"error":{"code":-32600,"message":"m"}}"#, "error none -32600 m"),
        (r#"{"error":{"code":-32600,"message":"m"}}"#, "error none -32600 m"),
        (r#"{"jsonrpc":"2.0","id":9}"#, "error 9 -32603 the answer has neither a result nor an error"),
        (r#"{"id":1,"id":2,"result":{}}"#, "NotAMessage id=Some(\"1\")"),
        (r#"{"id":3,"result":{"text":"cut"#, "NotJson id=Some(\"3\")"),
        (r#"{"result":{"text":"bad \x"},"id":4}"#, "NotJson id=Some(\"4\")"),
        (r#"{"result":{"id":5,"x":"bad \x"}}"#, "NotJson id=None"),
        ("Listening on port 3000", "NotJson id=None"),
        ("\u{feff}{}", "NotJson id=None"),
        ("{}", "NotAMessage id=None"),
        ("[]", "NotAMessage id=None"),
        ("7", "NotAMessage id=None"),
        (r#"[{"method":"a"},{"id":1,"result":1},5]"#, "batch[note a -; result 1 1; NotAMessage]"),
        (r#"[[7,"ping"],[{"method":"a"}]]"#, "batch[NotAMessage; NotAMessage]"),
        (r#"{"id":1,"error":[-5,"m"]}"#, r#"error 1 -32603 [-5,"m"]"#),
    ];
    for (text, expected) in cases {
        assert_eq!(understood(text), expected, "for {text}");
    }
}

#[test]
fn a_defect_does_not_repeat_all_it_was_told() {
    let text = format!("\"{}\"", "x".repeat(100_000));
    let Err(defect) = Frame::read(&Bytes::from(text)) else { panic!("read") };
    assert!(defect.kind == DefectKind::NotAMessage && defect.detail.len() < 500, "{} bytes", defect.detail.len());
}

#[test]
fn ids_match_whatever_their_spelling() {
    for text in ["7", "7.0", "\"7\""] {
        let id = Id::from_raw(&RawJson::from_bytes(text).unwrap()).unwrap();
        assert_eq!(id.as_number(), Some(7), "{text}");
    }
}

#[test]
fn what_is_written_is_one_line_and_reads_back_the_same() {
    let pretty = "{\n  \"a\": \"x\\ny\",\r\n  \"b\": [1,\n2]\n}";
    let message = Message::Request(Request {
        id: Id::text("q\"uote"),
        method: "tools/call".into(),
        params: Some(RawJson::from_bytes(pretty).unwrap()),
    });
    let bytes = message.to_bytes();
    assert!(!bytes.contains(&b'\n') && !bytes.contains(&b'\r'));
    assert_eq!(
        understood(std::str::from_utf8(&bytes).unwrap()),
        r#"request "q\"uote" tools/call {   "a": "x\ny",    "b": [1, 2] }"#
    );
}

#[test]
fn an_error_passes_through_unchanged() {
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"m","data":{"k":1.0},"extra":true}}"#;
    let Ok(Frame::One(message)) = Frame::read(&Bytes::from_static(text.as_bytes())) else { panic!("not read") };
    assert_eq!(message.to_bytes(), text.as_bytes());
}
