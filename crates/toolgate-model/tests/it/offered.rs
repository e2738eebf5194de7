//! What a model is offered besides plain tools: functions that find tools, functions that read resources, and schemas in the words of its provider.

use serde_json::{Value, json};
use toolgate::settings::{SearchMode, ToolSearchSettings};
use toolgate_model::TurnEnd;
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{Behaviour, ModelAnswer, ModelScript, ResourceScript, Script, ToolScript};

use crate::room::{BIG_BYTES, Room, Wishes, message};

#[tokio::test]
async fn tools_that_are_not_in_view_are_found_described_and_called_through_all_rules() {
    for format in WireFormat::ALL {
        let script = ModelScript::new([
            ModelAnswer::calls([("search_tools", json!({"query": "echo a message"}))]),
            ModelAnswer::calls([("describe_tool", json!({"name": "params"}))]),
            ModelAnswer::calls([
                ("call_tool", json!({"name": "params", "arguments": {"a": 1}})),
                ("call_tool", json!({"name": "forbidden", "arguments": {"x": 1}})),
                ("call_tool", json!({"name": "nothing", "arguments": {}})),
                ("echo", message("in view")),
            ]),
            ModelAnswer::text(["Done."]),
        ]);
        let search = ToolSearchSettings { mode: SearchMode::On, pinned: vec!["echo".to_owned()], threshold: None };
        let mut room = Room::new(script, Wishes { search, ..Wishes::new(format) }).await;
        assert_eq!(room.say("Please.").await.end, TurnEnd::Done, "{format:?}");
        let requests = room.requests();
        let offered = ["read_result", "echo", "search_tools", "describe_tool", "call_tool"];
        assert_eq!(requests[0].tool_names(), offered, "{format:?}");
        let (found, described) = (requests[1].new_results()[0], requests[2].new_results()[0]);
        assert!(found.starts_with("- echo (tools)"), "{format:?}: {found}");
        assert!(
            described.contains("<untrusted_context>\nthe scripted tool params\ninputSchema: "),
            "{format:?}: {described}"
        );
        let told = requests[3].new_results();
        assert!(told[0].contains(r#""a":1"#), "{format:?}: {told:?}");
        assert!(told[1].contains("Ask the owner."), "policy sees the inner tool, {format:?}: {told:?}");
        assert!(told[2].contains("there is no tool `nothing`"), "{format:?}: {told:?}");
        let mut called = room.called();
        called.sort();
        assert_eq!(called, ["echo", "params"], "{format:?}");
    }
}

#[tokio::test]
async fn five_hundred_tools_cost_a_tenth_of_their_declarations_at_most() {
    fn many(script: Script) -> Script {
        (0..500).fold(script, |script, nth| {
            let schema = json!({"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}});
            let tool =
                ToolScript::text(format!("tool_{nth}"), "ok").description(format!("Does what is done {nth} times."));
            script.tool(tool.input_schema(schema))
        })
    }
    for format in [WireFormat::Gemini, WireFormat::Anthropic] {
        let mut bytes = Vec::new();
        for mode in [SearchMode::Off, SearchMode::Auto] {
            let search = ToolSearchSettings { mode, ..ToolSearchSettings::default() };
            let wishes = Wishes { search, more: many, ..Wishes::new(format) };
            let mut room = Room::new(ModelScript::new([ModelAnswer::text(["Hi."])]), wishes).await;
            room.say("Please.").await;
            bytes.push(room.requests()[0].body["tools"].to_string().len());
        }
        assert!(bytes[1] * 10 < bytes[0], "{format:?}: {bytes:?}");
    }
}

/// What the long resource below is kept as.
const LONG_HANDLE: &str = "sha256:aa7f55402c3c13f2";

#[tokio::test]
async fn resources_are_listed_and_read_while_there_are_any() {
    fn resources(script: Script) -> Script {
        script
            .resource(ResourceScript::text("docs://start", "Begin here."))
            .resource(ResourceScript::text("docs://long", format!("{}the end", "z".repeat(BIG_BYTES))))
    }
    for format in WireFormat::ALL {
        let script = ModelScript::new([
            ModelAnswer::calls([("list_mcp_resources", json!({}))]),
            ModelAnswer::calls([
                ("read_mcp_resource", json!({"uri": "tools:docs://start"})),
                ("read_mcp_resource", json!({"uri": "docs://long"})),
                ("read_mcp_resource", json!({"uri": "docs://none"})),
            ]),
            ModelAnswer::calls([("read_result", json!({"handle": LONG_HANDLE, "offset": BIG_BYTES}))]),
            ModelAnswer::text(["Done."]),
        ]);
        let mut room = Room::new(script, Wishes { more: resources, ..Wishes::new(format) }).await;
        assert_eq!(room.say("Please.").await.end, TurnEnd::Done, "{format:?}");
        let requests = room.requests();
        let offered = ["list_mcp_resources", "read_mcp_resource", "read_result"];
        assert_eq!(requests[0].tool_names()[..3], offered, "{format:?}");
        assert!(requests[1].new_results()[0].contains("- tools:docs://start"), "{format:?}");
        let told = requests[2].new_results();
        assert!(told[0].contains("Begin here.") && told[0].contains("<untrusted_context>"), "{format:?}: {told:?}");
        let (shown, rest) = told[1].split_once("z\n[These are the first 40000 of 200007 bytes; read on with ").unwrap();
        assert!(
            shown.ends_with(&"z".repeat(30_000)) && rest.starts_with("read_result, handle sha256:"),
            "{format:?}: {rest}"
        );
        assert_eq!(told[1].matches("<untrusted_context>").count(), 1, "{format:?}");
        assert!(told[2].contains("docs://none"), "{format:?}: {}", told[2]);
        let rest = requests[3].new_results()[0];
        assert!(rest.contains("\nthe end\n[200007 bytes in all; this is the end]"), "{format:?}: {rest}");
    }
}

#[tokio::test]
async fn arguments_come_back_in_the_words_of_the_tool() {
    fn typed(script: Script) -> Script {
        let schema = json!({
            "type": "object",
            "properties": {"level": {"enum": [1, 2]}, "tags": {"$ref": "#/$defs/tags"}},
            "$defs": {"tags": {"type": "array", "items": {"type": "string"}}},
        });
        script.tool(ToolScript::new("typed", Behaviour::Params).input_schema(schema))
    }
    for format in WireFormat::ALL {
        // Gemini takes texts as the values of an enumeration, the others take what the server wrote.
        let level: Value = if format == WireFormat::Gemini { json!("2") } else { json!(2) };
        let script = ModelScript::new([
            ModelAnswer::calls([("typed", json!({"level": level, "tags": "[\"a\"]"}))]),
            ModelAnswer::text(["Done."]),
        ]);
        let mut room = Room::new(script, Wishes { more: typed, ..Wishes::new(format) }).await;
        assert_eq!(room.say("Please.").await.end, TurnEnd::Done, "{format:?}");
        let sent = room.tools.received().into_iter().find(|message| message["method"] == "tools/call").unwrap();
        assert_eq!(sent["params"]["arguments"], json!({"level": 2, "tags": ["a"]}), "{format:?}");
    }
}
