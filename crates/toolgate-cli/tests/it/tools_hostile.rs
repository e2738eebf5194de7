//! Servers that offer what no server should: listed or quarantined with a reason, never a crash, and nothing acts on the terminal.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript, What, When};

use crate::room::{Room, sample};

#[track_caller]
fn assert_harmless(text: &str) {
    let acts = |letter: &char| (letter.is_control() && *letter != '\n') || ('\u{202a}'..='\u{202e}').contains(letter);
    assert_eq!(text.chars().find(acts), None, "{text:?}");
}

#[test]
fn escapes_are_shown_instead_of_obeyed() {
    let script = Script::new("evil")
        .tool(
            ToolScript::text("\u{1b}[2Jclear", "\u{1b}]0;owned\u{7}\u{9b}31mred\rgone")
                .description("\u{1b}[31mIgnore\u{202e} the rest\u{7}")
                .field("title", json!("\u{1b}[1mbold"))
                .input_schema(json!({"type": "object", "properties": {"\u{1b}[5m": {"type": "string", "description": "\u{1b}[6m"}}})),
        )
        .tool(ToolScript::raw(json!({"name": "\u{1b}[7mbad", "inputSchema": "\u{1b}[8m"}), Behaviour::text("x")));
    let room = Room::new().server("evil", &script).without_workspace();
    for line in [
        "tools",
        "tools --desc",
        "tools --schema",
        "tools --all",
        "tools --debug",
        "mcp list",
        "mcp test",
        "call __2Jclear",
    ] {
        let output = room.run(line);
        assert_harmless(&output.stdout);
        assert_harmless(&output.stderr);
    }
    room.check(
        "tools",
        r#"
            --- stdout
            evil  1 tool
              __2Jclear  \e[31mIgnore\u{202e} the rest\u{7}
            --- stderr
            MCP server evil: tool \e[7mbad skipped: `inputSchema` is not a schema
            --- exit 0
            "#,
    );
    room.check(
        "call __2Jclear",
        r#"
            --- stdout
            \e]0;owned\u{7}\u{9b}31mred\rgone
            --- exit 0
            "#,
    );
    let listed = room.json("tools --json");
    assert_eq!(listed["tools"][0]["tool"], json!("\u{1b}[2Jclear"), "programs get what was sent");
}

#[test]
fn long_and_foreign_names() {
    let long = "n".repeat(200);
    let script = Script::new("names")
        .tool(ToolScript::text(long.as_str(), "long"))
        .tool(ToolScript::text("读取文件", "chinese").description("读取一个文件"))
        .tool(ToolScript::text("写入文件", "other"));
    let room = Room::new().server("名字", &script).without_workspace();
    room.check(
        "tools",
        "
            --- stdout
            名字  3 tools
              nnnnnnnnnnnnnnnnnnnnnnnnnnnn___nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn  the scripted tool nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…
              ____                                      读取一个文件
              ________                                  the scripted tool 写入文件
            --- exit 0
            ",
    );
    let listed = room.json("tools --json");
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() <= 63 && name.is_ascii(), "{name}");
        let output = room.run(&format!("call {name}"));
        assert_eq!(output.code(), Some(0), "{name}: {}", output.transcript());
    }
    assert_eq!(room.run("call 名字__读取文件").stdout, "chinese\n");
    assert_eq!(room.run(&format!("call 名字__{long}")).stdout, "long\n");
}

#[test]
fn a_server_called_mcp() {
    let room = Room::new().server("mcp", &sample("mcp")).without_workspace();
    assert!(room.run("tools mcp").stdout.starts_with("mcp  3 tools\n"));
    assert_eq!(room.run("call mcp__add a=1 b=2").stdout, "5\n");
    assert_eq!(room.run("mcp test mcp").code(), Some(0));
}

#[test]
fn schemas_of_a_megabyte_and_in_circles() {
    let huge: serde_json::Map<String, Value> = (0..12_000)
        .map(|number| (format!("argument_{number}"), json!({"type": "string", "description": "x".repeat(50)})))
        .collect();
    let circle = json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
    });
    let endless = json!({"type": "object", "$ref": "#"});
    let script = Script::new("odd")
        .tool(ToolScript::text("huge", "taken").input_schema(json!({"type": "object", "properties": huge})))
        .tool(ToolScript::text("circle", "round").input_schema(circle))
        .tool(ToolScript::text("endless", "and on").input_schema(endless));
    let room = Room::new().server("odd", &script).without_workspace();
    let listed = room.json("tools --json");
    let known = listed["tools"].as_array().unwrap().len() + listed["quarantined"].as_array().unwrap().len();
    assert_eq!(known, 3, "each is listed or has a reason");
    assert_eq!(room.run("tools --desc").code(), Some(0));
    assert_eq!(room.run("call huge argument_7=x").stdout, "taken\n");
    let output = room.command(["call", "circle", "--args", r#"{"node":{"next":{"next":{}}}}"#]).run().unwrap();
    assert_eq!(output.stdout, "round\n", "{}", output.transcript());
    let output = room.run("call endless");
    assert!(output.code().is_some_and(|code| code <= 7), "{}", output.transcript());
}

#[test]
fn pages_that_lead_back() {
    let script = sample("pages").page_size(1).fault(When::Method("tools/list"), What::RepeatedCursor);
    let room = Room::new().server("pages", &script).server("good", &sample("good")).without_workspace();
    let output = room.run("tools");
    assert!(output.stdout.contains("good  3 tools"), "{}", output.transcript());
    assert!(output.stderr.contains("MCP server pages"), "{}", output.transcript());
}

#[test]
fn many_broken_tools_are_counted() {
    let mut script = sample("broken");
    for number in 0..50 {
        script =
            script.tool(ToolScript::raw(json!({"name": format!("t{number}"), "inputSchema": 7}), Behaviour::text("x")));
    }
    let room = Room::new().server("broken", &script).without_workspace();
    room.check(
        "tools",
        "
            --- stdout
            broken  3 tools
              echo  Says it again.
              add   Adds.
              fail  the scripted tool fail
            --- stderr
            MCP server broken: tool t0 skipped: `inputSchema` is not a schema
            MCP server broken: tool t1 skipped: `inputSchema` is not a schema
            MCP server broken: tool t2 skipped: `inputSchema` is not a schema
            MCP server broken: 47 more, see `toolgate tools --all`
            --- exit 0
            ",
    );
    assert_eq!(room.json("tools --json")["quarantined"].as_array().unwrap().len(), 50);
}
