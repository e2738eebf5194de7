//! Frames and raw JSON: nothing that arrives can break the reader, and what was read is written without loss.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgate_wire::limits::BATCH_MESSAGES_MAX;
use toolgate_wire::link::Outgoing;
use toolgate_wire::message::{Frame, Message, Response};
use toolgate_wire::{Defect, Id, RawJson};

/// What a defect may say at most: an excerpt of 120 characters, escaped, and a sentence around it.
const DETAIL_BYTES_MAX: usize = 2048;

/// More than a value needs to be searched before it is parsed.
const LARGE_BYTES: usize = 4200;

fuzz_target!(|input: &[u8]| {
    let frame = Frame::read(&Bytes::copy_from_slice(input));
    if let Ok(value) = serde_json::from_slice::<Value>(input) {
        compare_with_plain_parsing(&frame, &value, input);
    }
    match frame {
        Ok(Frame::One(message)) => message_reads_back(&message),
        Ok(Frame::Batch(entries)) => batch_reads_back(entries),
        Err(defect) => detail_is_bounded(&defect),
    }
    if let Ok(raw) = RawJson::from_bytes(Bytes::copy_from_slice(input)) {
        assert_eq!(raw.as_bytes(), input.trim_ascii());
        members_are_found_and_set(&raw);
    }
});

/// JSON that any reader understands must be understood in the same way.
fn compare_with_plain_parsing(frame: &Result<Frame, Defect>, value: &Value, input: &[u8]) {
    match (frame, value) {
        (Ok(Frame::One(message)), value) => compare_message(message, value),
        (Ok(Frame::Batch(entries)), Value::Array(values)) => {
            assert_eq!(entries.len(), values.len());
            for (entry, value) in entries.iter().zip(values) {
                entry.iter().for_each(|message| compare_message(message, value));
            }
        }
        (Ok(Frame::Batch(_)), _) => panic!("{value} was read as a batch"),
        (Err(defect), Value::Object(members)) => {
            let keys = RawJson::from_bytes(Bytes::copy_from_slice(input)).map(|raw| raw.members().len());
            let has_no_key_twice = keys.is_ok_and(|count| count == members.len());
            let has_id = matches!(members.get("id"), None | Some(Value::String(_) | Value::Number(_)));
            assert!(!(has_no_key_twice && has_id && value["method"].is_string()), "{value} was not read: {defect}");
        }
        (Err(_), _) => {}
    }
}

fn compare_message(message: &Message, value: &Value) {
    assert!(value.is_object(), "{value} was read as {message:?}");
    match message {
        Message::Request(request) => {
            assert_eq!(parsed(Some(&request.id.to_raw())), value["id"]);
            assert_eq!(request.method, value["method"].as_str().unwrap_or_default());
            assert_eq!(parsed(request.params.as_ref()), value["params"]);
        }
        Message::Notification(note) => {
            assert_eq!(value.get("id"), None);
            assert_eq!(note.method, value["method"].as_str().unwrap_or_default());
            assert_eq!(parsed(note.params.as_ref()), value["params"]);
        }
        Message::Response(response) => {
            assert_eq!(value["method"], Value::Null);
            if let Some(id) = &response.id {
                assert_eq!(parsed(Some(&id.to_raw())), value["id"]);
            }
            compare_outcome(response, value);
        }
    }
}

fn compare_outcome(response: &Response, value: &Value) {
    match &response.outcome {
        Ok(result) => assert_eq!(parsed(Some(result)), value["result"]),
        Err(error) => {
            let sent = &value["error"];
            assert_eq!(parsed(error.data.as_ref()), sent["data"]);
            assert!(sent["code"].as_i64().is_none_or(|code| code == error.code), "{error} for {sent}");
            assert!(sent["message"].as_str().is_none_or(|message| message == error.message), "{error} for {sent}");
        }
    }
}

fn parsed(raw: Option<&RawJson>) -> Value {
    raw.map_or(Value::Null, |raw| raw.read().unwrap_or_else(|error| panic!("{raw}: {error}")))
}

fn detail_is_bounded(defect: &Defect) {
    assert!(defect.detail.len() <= DETAIL_BYTES_MAX, "a detail of {} bytes", defect.detail.len());
}

fn message_reads_back(message: &Message) {
    let written = message.to_bytes();
    assert!(!written.iter().any(|byte| matches!(byte, b'\n' | b'\r')), "{written:?} is not one line");
    let Ok(Frame::One(again)) = Frame::read(&written) else { panic!("{written:?} is no message") };
    assert_eq!(essence(&again), essence(message));
    assert_eq!(again.to_bytes(), written);
}

fn batch_reads_back(entries: Vec<Result<Message, Defect>>) {
    assert!((1..=BATCH_MESSAGES_MAX).contains(&entries.len()));
    let mut messages = Vec::new();
    for entry in entries {
        match entry {
            Ok(message) => messages.push(message),
            Err(defect) => detail_is_bounded(&defect),
        }
    }
    messages.iter().for_each(message_reads_back);
    if messages.is_empty() {
        return;
    }
    let expected: Vec<Essence> = messages.iter().map(essence).collect();
    let written = Outgoing::batch(messages).to_bytes();
    let Ok(Frame::Batch(again)) = Frame::read(&written) else { panic!("{written:?} is no batch") };
    let again: Vec<Essence> = again.iter().flatten().map(essence).collect();
    assert_eq!(again, expected);
}

/// What of a message must survive: line breaks between tokens may become spaces, and nothing else changes.
#[derive(Debug, PartialEq)]
enum Essence {
    Asked(Option<Id>, String, Option<Vec<u8>>),
    Answered(Option<Id>, Vec<u8>),
    Failed(Option<Id>, i64, Vec<u8>, Option<Vec<u8>>),
}

fn essence(message: &Message) -> Essence {
    let flat = |bytes: &[u8]| {
        bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect::<Vec<u8>>()
    };
    let flat_raw = |raw: &RawJson| flat(raw.as_bytes());
    match message {
        Message::Request(request) => {
            Essence::Asked(Some(request.id.clone()), request.method.to_string(), request.params.as_ref().map(flat_raw))
        }
        Message::Notification(note) => {
            Essence::Asked(None, note.method.to_string(), note.params.as_ref().map(flat_raw))
        }
        Message::Response(Response { id, outcome }) => match outcome {
            Ok(result) => Essence::Answered(id.clone(), flat_raw(result)),
            Err(error) => Essence::Failed(
                id.clone(),
                error.code,
                flat(error.message.as_bytes()),
                error.data.as_ref().map(flat_raw),
            ),
        },
    }
}

fn members_are_found_and_set(object: &RawJson) {
    let members = object.members();
    let texts = members.iter().filter_map(|(_, value)| value.read::<String>().ok());
    let some = ["", "_meta", "a\"b", "\n", "io.modelcontextprotocol/tasks"].map(str::to_owned);
    let keys: Vec<String> =
        members.iter().map(|(key, _)| key.clone()).take(4).chain(texts.take(2)).chain(some).collect();
    let large = padded(object);
    for key in &keys {
        let found = object.member(key);
        let first = members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        assert_eq!(found.as_ref(), first, "`{key}` of {object}");
        assert_eq!(large.member(key), found, "`{key}` of the same object with white space: {object}");
        for value in [&RawJson::NULL, &RawJson::string(key), object] {
            member_is_set(object, key, value);
        }
        member_is_set(&large, key, &RawJson::EMPTY_OBJECT);
    }
}

fn member_is_set(object: &RawJson, key: &str, value: &RawJson) {
    let set = object.with_member(key, value);
    assert_eq!(RawJson::from_bytes(set.to_bytes()).ok().as_ref(), Some(&set), "no JSON comes of setting `{key}`");
    assert_eq!(set.member(key).as_ref(), Some(value), "`{key}` was set in {object}");
    assert_eq!(members_but(key, &set), members_but(key, object), "setting `{key}` changed something else");
}

/// All members but the first one of that name.
fn members_but(key: &str, object: &RawJson) -> Vec<(String, RawJson)> {
    let mut members = object.members();
    if let Some(at) = members.iter().position(|(name, _)| name == key) {
        members.remove(at);
    }
    members
}

/// The same object with enough white space in it to count as large.
fn padded(object: &RawJson) -> RawJson {
    let (first, rest) = object.as_bytes().split_at(usize::from(object.is_object()));
    let text = [first, &[b' '; LARGE_BYTES], rest].concat();
    RawJson::from_bytes(text).unwrap_or_else(|error| panic!("white space breaks {object}: {error}"))
}
