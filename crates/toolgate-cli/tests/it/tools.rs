//! `toolgate tools`: what is listed, and how much is said about it.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::room::{Room, sample};

#[test]
fn a_block_per_server() {
    let room = Room::new().server("one", &sample("one")).server("two", &sample("two"));
    // Those that arrive late stand last, so only what each block says is compared.
    let output = room.run("tools");
    let mut blocks: Vec<&str> = output.stdout.split("\n\n").map(str::trim_end).collect();
    blocks.sort_unstable();
    let starts: Vec<&str> = blocks.iter().filter_map(|block| block.lines().next()).collect();
    assert_eq!(starts, ["one  3 tools", "two  3 tools", "workspace  7 tools"], "{}", output.transcript());
    room.check(
        "tools two",
        "
            --- stdout
            two  3 tools
              echo  Says it again.
              add   Adds.
              fail  the scripted tool fail
            --- exit 0
            ",
    );
    room.check(
        "tools --server two --desc",
        "
            --- stdout
            two  3 tools
              echo
                Says it again.

                And nothing else.
                message=string
              add
                Adds.
                a=number  one
                b=number
                [how=exactly|roughly]
              fail
                the scripted tool fail
            --- exit 0
            ",
    );
}

#[test]
fn schemas_are_shown_as_they_were_written() {
    let script = Script::new("typed").tool(
        ToolScript::text("sum", "3")
            .description("Adds.")
            .input_schema(json!({"type": "object", "properties": {"z": {"type": "number"}, "a": {"type": "number"}}, "required": ["z"]}))
            .output_schema(json!({"type": "object"})),
    );
    Room::new().server("typed", &script).check(
        "tools typed --schema",
        r#"
            --- stdout
            typed  1 tool
              sum
                Adds.
                z=number
                [a=number]
                inputSchema: {
                  "type": "object",
                  "properties": {
                    "z": {
                      "type": "number"
                    },
                    "a": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "z"
                  ]
                }
                outputSchema: {
                  "type": "object"
                }
            --- exit 0
            "#,
    );
}

#[test]
fn tools_are_found_by_what_they_do() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    room.check(
        "tools --search adds",
        "
            --- stdout
            found  1 tool, best first
              add  one: Adds.
            --- exit 0
            ",
    );
    let output = room.command(["tools", "--search", "again ECHO"]).run().unwrap();
    assert!(output.stdout.contains("echo") && !output.stdout.contains("add"), "{}", output.stdout);
    room.check(
        "tools --search zebra",
        "
            --- stderr
            no tool fits these words
            --- exit 0
            ",
    );
    let found = room.json("tools --search fail --json");
    assert_eq!(found["tools"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_hidden_or_unusable_is_listed_with_its_reason_when_asked_for() {
    let script = sample("one").tool(ToolScript::raw(json!({"title": "nameless"}), Behaviour::text("x")));
    let room = Room::new().server("one", &script).with("one", "excludeTools", json!(["fail"]));
    let room = room.without_workspace();
    room.check(
        "tools --all",
        "
            --- stdout
            one  2 tools
              echo  Says it again.
              add   Adds.
              (unnamed tool skipped: entry 4: `name` is missing)
              (tool fail hidden: `fail` in `excludeTools` hides it ([HOME]/.toolgate/settings.json:1))
            --- stderr
            no tools of workspace: in `mcp.excluded` of [HOME]/.toolgate/settings.json:1
            --- exit 0
            ",
    );
    room.check(
        "tools",
        "
            --- stdout
            one  2 tools
              echo  Says it again.
              add   Adds.
            --- stderr
            MCP server one: unnamed tool skipped: entry 4: `name` is missing
            --- exit 0
            ",
    );
    let listed = room.json("tools --all --json");
    let file = room.world.home().join(".toolgate/settings.json").display().to_string();
    let reason = format!("`fail` in `excludeTools` hides it ({file}:1)");
    assert_eq!(listed["filtered"], json!([{"server": "one", "tool": "fail", "reason": reason}]));
    assert_eq!(listed["quarantined"], json!([{"server": "one", "tool": null, "reason": "entry 4: `name` is missing"}]));
}

#[test]
fn the_shape_for_programs() {
    let script = Script::new("one").tool(
        ToolScript::text("sum", "3")
            .description("Adds.")
            .field("title", json!("Sum"))
            .input_schema(json!({"type": "object", "properties": {"z": {"type": "number"}}}))
            .annotations(json!({"readOnlyHint": true, "x-own": 1})),
    );
    let room = Room::new().server("one", &script).without_workspace();
    let output = room.run("tools one --json");
    assert_eq!(
        output.stdout,
        "{\"tools\":[{\"name\":\"sum\",\"server\":\"one\",\"tool\":\"sum\",\"title\":\"Sum\",\"description\":\"Adds.\",\
         \"inputSchema\":{\"type\":\"object\",\"properties\":{\"z\":{\"type\":\"number\"}}},\"outputSchema\":null,\
         \"annotations\":{\"readOnlyHint\":true,\"x-own\":1},\"trusted\":false,\"available\":true}],\"quarantined\":[],\"fromMemory\":[],\"unavailable\":[],\"heldBack\":[]}\n"
    );
    assert_eq!(output.stderr, "");
    let trusted = room.with("one", "trust", json!(true));
    let tool = &trusted.json("tools --json")["tools"][0];
    assert_eq!((&tool["trusted"], &tool["available"]), (&json!(true), &json!(true)));
}

#[test]
fn equal_names_are_told_apart() {
    let room = Room::new().server("a", &sample("a")).server("b", &sample("b")).without_workspace();
    let listed = room.json("tools --json");
    let names: Vec<Value> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["name"], one["server"], one["tool"]]))
        .collect();
    assert_eq!(
        Value::Array(names),
        json!([
            ["echo", "a", "echo"],
            ["add", "a", "add"],
            ["fail", "a", "fail"],
            ["b__echo", "b", "echo"],
            ["b__add", "b", "add"],
            ["b__fail", "b", "fail"]
        ])
    );
    room.check(
        "call b__add a=1 b=2",
        "
            --- stdout
            5
            --- exit 0
            ",
    );
    assert_eq!(room.run("call a__add a=1 b=2").stdout, "5\n");
}

#[test]
fn servers_that_are_not_there() {
    let room = Room::new()
        .server("good", &sample("good"))
        .entry("down", json!({"url": "http://127.0.0.1:1/mcp", "type": "http"}))
        .entry("absent", json!({"command": "/nonexistent/program"}));
    let output = room.run("tools good");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "nobody else is started");
    let output = room.run("tools");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.contains("good  3 tools"), "{}", output.transcript());
    assert_eq!(output.stderr.matches("error: MCP server ").count(), 2, "{}", output.transcript());
    room.check(
        "tools down",
        "
            --- stderr
            error: MCP server down: discovery failed: connect to http://127.0.0.1:1/mcp: tcp connect error: Connection refused (os error 111)
            hint: Cannot connect to 'down': server may be down or URL incorrect
            --- exit 4
            ",
    );
    room.check(
        "tools absent",
        "
            --- stderr
            error: MCP server absent: could not be started: cannot start `/nonexistent/program`: No such file or directory (os error 2)
            hint: check `command` and `cwd` of `absent` in [HOME]/.toolgate/settings.json:1
            --- exit 4
            ",
    );
    let output = room.command(["tools", "down"]).env("SANDBOX", "1").run().unwrap();
    let hint = "hint: Cannot connect to 'down': server may be down or URL incorrect (check sandbox availability)\n";
    assert!(output.stderr.ends_with(hint), "{}", output.stderr);
    room.check(
        "tools godo",
        "
            --- stderr
            error: there is no server `godo`
            hint: did you mean `good`?
            --- exit 7
            ",
    );
    let only = Room::new().entry("absent", json!({"command": "/nonexistent/program"})).without_workspace();
    assert_eq!(only.run("tools").code(), Some(4), "nothing at all is there");
}

#[test]
fn what_nobody_is_to_see_is_hidden_everywhere() {
    let room = Room::new()
        .server("one", &sample("one"))
        .setting("mcp", json!({"excluded": ["workspace"]}))
        .setting("tools", json!({"exclude": ["ec*"]}));
    let manifest = json!({"name": "box", "version": "1", "excludeTools": ["fail"]});
    room.world.write_in_home(".toolgate/extensions/box/toolgate-extension.json", &manifest.to_string()).unwrap();
    let listed = room.json("tools --json");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["add"]);
    for name in ["echo", "one__echo", "fail"] {
        let output = room.run(&format!("call {name} message=x"));
        assert_eq!(output.code(), Some(3), "{name}");
        assert!(output.stderr.contains("denied by tools.exclude"), "{name}: {}", output.stderr);
    }
    let all = room.json("tools --json --all");
    let hidden: Vec<&str> = all["filtered"].as_array().unwrap().iter().filter_map(|one| one["tool"].as_str()).collect();
    assert_eq!(hidden, ["echo", "fail"]);
}
