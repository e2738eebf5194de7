//! A result as a person reads it.
//!
//! The words of the server stand here as they came, escapes and all, so that they can be written to a file or into JSON unchanged. A
//! front end that prints to a terminal puts them through [`visible::text`](super::visible::text) first.

use std::borrow::Cow;

use toolgate_wire::RawJson;
use toolgate_wire::view::{Block, CallResult, Content, PromptResult, ReadResult, ResourceContents};

use super::for_model::has_content;
use super::indent::{code_block, indented};

/// Every block in a line or a text of its own.
pub fn display(result: &CallResult) -> String {
    if !result.content.is_empty() {
        return joined(result.content.iter().map(block), "\n");
    }
    match &result.structured {
        Some(structured) => code_block(structured),
        None if has_content(result) => String::new(),
        None => code_block(&result.raw),
    }
}

/// What the server sent: texts alone one after the other, anything else as JSON.
pub fn raw(result: &CallResult) -> String {
    if !has_content(result) {
        return code_block(&result.raw);
    }
    let texts: Option<Vec<&str>> = result.content.iter().map(text_of).collect();
    match texts {
        Some(texts) if !texts.is_empty() => texts.concat(),
        _ => code_block(&result.raw.member("content").unwrap_or(RawJson::NULL)),
    }
}

/// The messages of a prompt; who speaks is said when there are several.
pub fn prompt(result: &PromptResult) -> String {
    let mut messages = result.messages.iter();
    match (messages.next(), messages.next()) {
        (Some(only), None) => block(&only.block).into_owned(),
        _ => {
            let said =
                result.messages.iter().map(|message| format!("{}:\n{}", message.role, block(&message.block)).into());
            joined(said, "\n\n")
        }
    }
}

/// The contents of a resource: its texts, and what stands for data.
pub fn resource(result: &ReadResult) -> String {
    let contents = result.contents.iter().map(|part| match part {
        ResourceContents { text: Some(text), .. } => Cow::Borrowed(text.as_str()),
        ResourceContents { blob, mime_type, uri, .. } => {
            let bytes = blob.as_deref().map_or(0, decoded_len);
            let unit = if bytes == 1 { "byte" } else { "bytes" };
            format!("[Binary data: {}, {bytes} {unit}, {uri}]", mime_type.as_deref().unwrap_or("unknown type")).into()
        }
    });
    let defects = result.defects.iter().map(|defect| format!("[Unreadable contents: {}]", defect.reason).into());
    joined(contents.chain(defects), "\n")
}

/// JSON over several lines, numbers and order as they came.
pub fn json(value: &RawJson) -> String {
    indented(value)
}

/// Several texts joined into one. Only the joined text is a copy.
fn joined<'a>(texts: impl Iterator<Item = Cow<'a, str>>, between: &str) -> String {
    let mut all = String::new();
    for (at, text) in texts.enumerate() {
        all.push_str(if at == 0 { "" } else { between });
        all.push_str(&text);
    }
    all
}

/// One block: its text, or a line that says what it is.
fn block(block: &Block) -> Cow<'_, str> {
    match &block.content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Resource(ResourceContents { text: Some(text), .. }) => Cow::Borrowed(text),
        _ => Cow::Owned(in_words(block)),
    }
}

fn in_words(block: &Block) -> String {
    match &block.content {
        Content::Image { mime_type, .. } => format!("[Image: {mime_type}]"),
        Content::Audio { mime_type, .. } => format!("[Audio: {mime_type}]"),
        Content::Resource(resource) => embedded(resource.mime_type.as_deref()),
        Content::Link { uri, name } => {
            let title = block.raw.member("title").and_then(|title| title.read::<String>().ok());
            format!("[Link to {}: {uri}]", title.as_ref().or(name.as_ref()).unwrap_or(uri))
        }
        Content::Unknown { kind, .. } if kind == "resource" => {
            let mime = block.raw.member("resource").and_then(|resource| resource.member("mimeType"));
            embedded(mime.and_then(|mime| mime.read::<String>().ok()).as_deref())
        }
        Content::Unknown { kind, reason } if matches!(kind.as_str(), "text" | "image" | "audio" | "resource_link") => {
            format!("[Unreadable {kind}: {reason}]")
        }
        Content::Unknown { kind, reason } if !kind.is_empty() && block.raw.is_null() => format!("[{reason}]"),
        Content::Unknown { kind, .. } if kind.is_empty() => "[Unknown content type]".to_owned(),
        Content::Unknown { kind, .. } => format!("[Unknown content type: {kind}]"),
        _ => "[Unknown content type]".to_owned(),
    }
}

fn embedded(mime: Option<&str>) -> String {
    format!("[Embedded Resource: {}]", mime.unwrap_or("unknown type"))
}

fn text_of(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Text(text) => Some(text),
        _ => None,
    }
}

/// How many bytes a Base64 text stands for.
pub(crate) fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> CallResult {
        CallResult::read(RawJson::from_bytes(text.to_owned()).unwrap()).unwrap()
    }

    const TEXT: &str = r#"{"type":"text","text":"hi\n"}"#;
    const IMAGE: &str = r#"{"type":"image","data":"QQ==","mimeType":"image/png"}"#;

    #[test]
    fn every_kind_of_block_has_its_line() {
        let cases = [
            (TEXT, "hi\n"),
            (IMAGE, "[Image: image/png]"),
            (r#"{"type":"audio","data":"QQ==","mimeType":"audio/wav"}"#, "[Audio: audio/wav]"),
            (r#"{"type":"resource","resource":{"uri":"a:b","text":"in it"}}"#, "in it"),
            (
                r#"{"type":"resource","resource":{"uri":"a:b","blob":"QQ==","mimeType":"x/y"}}"#,
                "[Embedded Resource: x/y]",
            ),
            (r#"{"type":"resource","resource":{"uri":"a:b","blob":"QQ=="}}"#, "[Embedded Resource: unknown type]"),
            (r#"{"type":"resource","resource":{"uri":"a:b","mimeType":"x/y"}}"#, "[Embedded Resource: x/y]"),
            (r#"{"type":"resource"}"#, "[Embedded Resource: unknown type]"),
            (r#"{"type":"resource_link","uri":"a:b","name":"n"}"#, "[Link to n: a:b]"),
            (r#"{"type":"resource_link","uri":"a:b","name":"n","title":"T"}"#, "[Link to T: a:b]"),
            (r#"{"type":"resource_link","uri":"a:b"}"#, "[Link to a:b: a:b]"),
            (r#"{"type":"hologram"}"#, "[Unknown content type: hologram]"),
            (r#"{"type":"text"}"#, "[Unreadable text: `text` is missing or not a string]"),
            ("7", "[Unknown content type]"),
        ];
        for (block, expected) in cases {
            assert_eq!(display(&read(&format!(r#"{{"content":[{block}]}}"#))), expected, "{block}");
        }
    }

    #[test]
    fn whole_results_for_people_and_raw() {
        let cases = [
            (format!(r#"{{"content":[{TEXT},{TEXT}]}}"#), "hi\n\nhi\n", "hi\nhi\n"),
            (
                format!(r#"{{"content":[{TEXT},{IMAGE}]}}"#),
                "hi\n\n[Image: image/png]",
                "```json\n[\n  {\n    \"type\": \"text\",\n    \"text\": \"hi\\n\"\n  },\n  {\n    \"type\": \"image\",\n    \
                 \"data\": \"QQ==\",\n    \"mimeType\": \"image/png\"\n  }\n]\n```",
            ),
            (r#"{"content":[]}"#.into(), "", "```json\n[]\n```"),
            (
                r#"{"content":[],"structuredContent":{"n":1.50}}"#.into(),
                "```json\n{\n  \"n\": 1.50\n}\n```",
                "```json\n[]\n```",
            ),
            (
                r#"{"content":null}"#.into(),
                "```json\n{\n  \"content\": null\n}\n```",
                "```json\n{\n  \"content\": null\n}\n```",
            ),
            ("{}".into(), "```json\n{}\n```", "```json\n{}\n```"),
            (
                r#"{"content":[{"type":"text"}]}"#.into(),
                "[Unreadable text: `text` is missing or not a string]",
                "```json\n[\n  {\n    \"type\": \"text\"\n  }\n]\n```",
            ),
        ];
        for (result, for_people, as_sent) in cases {
            assert_eq!(display(&read(&result)), for_people, "{result}");
            assert_eq!(raw(&read(&result)), as_sent, "{result}");
        }
    }

    #[test]
    fn prompts_name_the_speakers_when_there_are_several() {
        let cases = [
            (format!(r#"{{"messages":[{{"role":"user","content":{TEXT}}}]}}"#), "hi\n"),
            (
                format!(
                    r#"{{"messages":[{{"role":"user","content":{TEXT}}},{{"role":"assistant","content":{IMAGE}}}]}}"#
                ),
                "user:\nhi\n\n\nassistant:\n[Image: image/png]",
            ),
            (r#"{"messages":[]}"#.into(), ""),
        ];
        for (text, expected) in cases {
            let result = PromptResult::read(RawJson::from_bytes(text.clone()).unwrap()).unwrap();
            assert_eq!(prompt(&result), expected, "{text}");
        }
    }

    #[test]
    fn resources_show_their_texts_and_name_their_data() {
        let cases = [
            (r#"{"contents":[{"uri":"a:b","text":"one\n"}]}"#, "one\n"),
            (r#"{"contents":[{"uri":"a:b","text":"one"},{"uri":"a:c","text":"two"}]}"#, "one\ntwo"),
            (r#"{"contents":[{"uri":"a:b","blob":"QUJD","mimeType":"x/y"}]}"#, "[Binary data: x/y, 3 bytes, a:b]"),
            (
                r#"{"contents":[{"uri":"a:b","blob":"QQ=="},{"uri":"a:b"}]}"#,
                "[Binary data: unknown type, 1 byte, a:b]\n[Unreadable contents: it has neither `text` nor `blob`]",
            ),
            (r#"{"contents":[]}"#, ""),
        ];
        for (text, expected) in cases {
            let result = ReadResult::read(RawJson::from_bytes(text).unwrap()).unwrap();
            assert_eq!(resource(&result), expected, "{text}");
        }
    }
}
