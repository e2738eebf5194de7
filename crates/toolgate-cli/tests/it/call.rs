//! `toolgate call`: arguments in, result out.

use serde_json::json;
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::room::{Room, sample};

fn typed() -> Script {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"}, "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}}, "options": {"type": "object"}
        }
    });
    Script::new("typed").tool(ToolScript::new("show", Behaviour::Params).input_schema(schema))
}

/// The arguments the server got, from what `show` says.
fn received(room: &Room, words: &[&str]) -> serde_json::Value {
    let mut all = vec!["call", "show", "--json"];
    all.extend(words);
    let output = room.command(all).run().unwrap();
    let said: serde_json::Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.transcript()));
    let text = said["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{said}"));
    serde_json::from_str::<serde_json::Value>(text).unwrap()["arguments"].clone()
}

#[test]
fn words_become_what_the_schema_says() {
    let room = Room::new().server("typed", &typed()).without_workspace();
    let cases: [(&[&str], serde_json::Value); 11] = [
        (&[], json!({})),
        (&["text=7"], json!({"text": "7"})),
        (&["text=a=b c"], json!({"text": "a=b c"})),
        (&["count=7", "ratio=0.5", "deep=true"], json!({"count": 7, "ratio": 0.5, "deep": true})),
        (&["tags=[\"a\",\"b\"]"], json!({"tags": ["a", "b"]})),
        (&["tags=a", "tags=b"], json!({"tags": ["a", "b"]})),
        (&["options.deep:=[1]"], json!({"options": {"deep": [1]}})),
        (&["options={\"x\":1}"], json!({"options": {"x": 1}})),
        (&["--args", r#"{"text":"x","count":1}"#], json!({"text": "x", "count": 1})),
        (&["--args", r#"{"text":"x","count":1}"#, "count=2"], json!({"text": "x", "count": 2})),
        (&["text=工具"], json!({"text": "工具"})),
    ];
    for (words, expected) in cases {
        assert_eq!(received(&room, words), expected, "{words:?}");
    }
}

#[test]
fn arguments_come_from_a_file_or_from_stdin() {
    let room = Room::new().server("typed", &typed()).without_workspace();
    room.world.write_in_workspace("request.json", "{\"text\": \"from a file\"}\n").unwrap();
    assert_eq!(received(&room, &["--args", "@request.json"]), json!({"text": "from a file"}));
    let output = room.command(["call", "show", "--args", "-"]).input("{\"text\": \"from stdin\"}").run().unwrap();
    assert!(output.stdout.contains("from stdin"), "{}", output.transcript());
    let wrong = [
        ("@missing.json", "cannot read [WORKSPACE]/missing.json"),
        ("{nope", "--args: the arguments are not JSON: "),
        ("7", "--args: the arguments must be a JSON object"),
        ("-", "stdin: the arguments are not JSON: "),
    ];
    for (args, message) in wrong {
        let output = room.command(["call", "show", "--args", args]).run().unwrap();
        assert_eq!(output.code(), Some(2), "{args}");
        assert!(output.transcript().contains(message), "{args}: {}", output.transcript());
    }
}

#[test]
fn wrong_arguments_are_answered_with_what_the_tool_takes() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    room.check(
        "call add a=1",
        "
            --- stderr
            error: the arguments do not fit `add`: lacks `b`
            hint: `add` takes a=number b=number [how=exactly|roughly]
            --- exit 2
            ",
    );
    room.check(
        "call add a=many b=2",
        "
            --- stderr
            error: `a` takes a number, not `many`
            hint: `add` takes a=number b=number [how=exactly|roughly]
            --- exit 2
            ",
    );
    room.check(
        "call add 1 2",
        "
            --- stderr
            error: `1` is not `key=value`; write the name of a parameter, `=` and its value
            hint: `add` takes a=number b=number [how=exactly|roughly]
            --- exit 2
            ",
    );
    room.check(
        "call add a=1 b=2 how=wrong",
        r#"
            --- stderr
            error: the arguments do not fit `add`: `/how` must be one of `"exactly"` or `"roughly"`
            hint: `add` takes a=number b=number [how=exactly|roughly]
            --- exit 2
            "#,
    );
    let log = std::fs::read_to_string(room.log("one")).unwrap();
    assert!(!log.contains("tools/call"), "nothing wrong reaches the server");
}

/// Tools with results of every kind.
fn results() -> Room {
    let png = json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"});
    let mixed = json!({"content": [
        {"type": "text", "text": "two\nlines"},
        png,
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}},
        {"type": "resource_link", "uri": "docs://start", "name": "start"},
        {"type": "hologram"}
    ]});
    let script = Script::new("results")
        .tool(ToolScript::new("mixed", Behaviour::Reply(mixed)))
        .tool(ToolScript::new(
            "texts",
            Behaviour::Reply(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})),
        ))
        .tool(ToolScript::new("data", Behaviour::structured(json!({"n": 1.50, "z": [1]}))))
        .tool(ToolScript::new("empty", Behaviour::Reply(json!({"content": []}))));
    Room::new().server("results", &script).without_workspace()
}

#[test]
fn results_for_people() {
    let room = results();
    room.check(
        "call mixed",
        "
            --- stdout
            two
            lines
            [Image: image/png]
            [Audio: audio/wav]
            inside
            [Embedded Resource: unknown type]
            [Link to start: docs://start]
            [Unknown content type: hologram]
            --- exit 0
            ",
    );
    room.check(
        "call texts",
        "
            --- stdout
            a
            b
            --- exit 0
            ",
    );
    room.check(
        "call empty",
        "
            --- exit 0
            ",
    );
    room.check(
        "call data",
        r#"
            --- stdout
            {"n":1.5,"z":[1]}
            --- exit 0
            "#,
    );
}

#[test]
fn results_as_the_server_sent_them() {
    let room = results();
    room.check(
        "call texts --raw",
        "
            --- stdout
            ab
            --- exit 0
            ",
    );
    room.check(
        "call mixed --raw",
        r#"
            --- stdout
            ```json
            [
              {
                "type": "text",
                "text": "two\nlines"
              },
              {
                "type": "image",
                "data": "iVBORw0KGgo=",
                "mimeType": "image/png"
              },
              {
                "type": "audio",
                "data": "AAAA",
                "mimeType": "audio/wav"
              },
              {
                "type": "resource",
                "resource": {
                  "uri": "a:b",
                  "text": "inside"
                }
              },
              {
                "type": "resource",
                "resource": {
                  "uri": "a:b",
                  "blob": "AAAA"
                }
              },
              {
                "type": "resource_link",
                "uri": "docs://start",
                "name": "start"
              },
              {
                "type": "hologram"
              }
            ]
            ```
            --- exit 0
            "#,
    );
    room.check(
        "call empty --raw",
        "
            --- stdout
            ```json
            []
            ```
            --- exit 0
            ",
    );
}

#[test]
fn the_shape_for_programs() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let shown = |line: &str| {
        let output = room.run(line);
        let hide = |text: &str| {
            let (before, after) = text.split_once("\"durationMs\":").unwrap();
            let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{before}\"durationMs\":0{rest}")
        };
        (hide(&output.stdout), output.code())
    };
    let (text, code) = shown("call add a=2 b=3 --json");
    assert_eq!(
        text,
        "{\"name\":\"add\",\"server\":\"one\",\"tool\":\"add\",\"outcome\":\"completed\",\"isError\":false,\
         \"content\":[{\"type\":\"text\",\"text\":\"5\"}],\"structuredContent\":null,\"display\":\"5\",\"durationMs\":0}\n"
    );
    assert_eq!(code, Some(0));
    let (text, code) = shown("call fail --json");
    assert_eq!(
        text,
        "{\"name\":\"fail\",\"server\":\"one\",\"tool\":\"fail\",\"outcome\":\"tool_error\",\"isError\":true,\
         \"content\":[{\"type\":\"text\",\"text\":\"it broke\"}],\"structuredContent\":null,\"display\":\"it broke\",\"durationMs\":0}\n"
    );
    assert_eq!(code, Some(1));
    let said = room.json("call add --json");
    assert_eq!(said["outcome"], json!("failed"));
    assert_eq!(said["error"]["kind"], json!("invalid_arguments"));
    assert_eq!(said["error"]["code"], json!(2));
}

#[test]
fn names_that_nobody_has() {
    let room = Room::new().server("one", &sample("one"));
    room.check(
        "call ecko message=x",
        "
            --- stderr
            error: there is no tool `ecko`
            hint: did you mean `echo`?
            --- exit 7
            ",
    );
    room.check(
        "call one__ecko message=x",
        "
            --- stderr
            error: server `one` has no tool `ecko`
            hint: did you mean `echo`?
            --- exit 7
            ",
    );
    room.check(
        "call --server one read_fil",
        "
            --- stderr
            error: server `one` has no tool `read_fil`
            hint: `toolgate tools one` lists those it has
            --- exit 7
            ",
    );
    room.check(
        "call entirely_different_thing",
        "
            --- stderr
            error: there is no tool `entirely_different_thing`
            --- exit 7
            ",
    );
}

#[test]
fn the_settings_say_which_variables_children_get() {
    let redaction = json!({"allowed": ["MY_SECRET_TOKEN"], "blocked": ["PLAIN_NAME"]});
    let mut room = Room::new().setting("security", json!({"environmentVariableRedaction": redaction}));
    for (name, value) in [("MY_SECRET_TOKEN", "allowed"), ("PLAIN_NAME", "blocked"), ("OTHER_NAME", "ordinary")] {
        room.world.set_variable(name, value);
    }
    let command = "command=echo [$MY_SECRET_TOKEN] [$PLAIN_NAME] [$OTHER_NAME]";
    let output = room.command(["call", "run_shell_command", command]).run().unwrap();
    assert!(output.stdout.contains("[allowed] [] [ordinary]"), "{}", output.transcript());
}

#[test]
fn a_hint_repeats_no_arguments_that_were_not_typed_and_no_secret() {
    let room = Room::new().server("s", &sample("s")).with_questions();
    room.world.write_in_workspace("request.json", "{\"message\": \"from-a-file\"}\n").unwrap();
    let cases: [(&[&str], &str, &str, &str); 4] = [
        (&["message=typed"], "", "explain echo --args '{\"message\":\"typed\"}'`", "nothing"),
        (&["--args", "-"], "{\"message\": \"from-stdin\"}", "explain echo --args -`", "from-stdin"),
        (&["--args", "@request.json"], "", "explain echo --args @request.json`", "from-a-file"),
        (&["message=password=hunter2"], "", "explain echo`", "hunter2"),
    ];
    for (words, input, expected, secret) in cases {
        let all = ["call", "echo", "--headless"].iter().chain(words).copied();
        let output = room.command(all).input(input).run().unwrap();
        assert_eq!(output.code(), Some(3), "{words:?}: {}", output.transcript());
        let said = output.stderr.as_str();
        assert!(said.contains(expected) && !said.contains(secret), "{words:?}: {said}");
    }
}
