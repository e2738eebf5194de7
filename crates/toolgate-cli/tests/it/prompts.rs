//! `toolgate prompts` and `toolgate prompt`.

use serde_json::json;
use toolgate_testkit::{Behaviour, PromptScript, Record, Script, offer::Need};

use crate::room::{Room, sample};

fn talks() -> Script {
    let two = json!({"description": "d", "messages": [
        {"role": "user", "content": {"type": "text", "text": "Question"}},
        {"role": "assistant", "content": {"type": "text", "text": "\u{1b}[2JAnswer"}}
    ]});
    Script::new("talks")
        .prompt(PromptScript::new("dialogue", Behaviour::Reply(two)))
        .prompt(
            PromptScript::text("show", "shown")
                .argument("from", Need::Required)
                .argument("to", Need::Required)
                .argument("style", Need::Optional),
        )
        .prompt(PromptScript::new("silent", Behaviour::Reply(json!({"messages": []}))))
}

#[test]
fn prompts_are_listed_with_what_they_take() {
    let room = Room::new().server("one", &sample("one")).server("talks", &talks());
    // The order of the blocks is that of arrival on a machine that is busy.
    let all = room.run("prompts").stdout;
    assert!(all.contains("one  1 prompt\n") && all.contains("talks  3 prompts\n"), "{all}");
    room.check(
        "prompts talks",
        "
            --- stdout
            talks  3 prompts
              dialogue                    the scripted prompt dialogue
              show from=… to=… [style=…]  the scripted prompt show
              silent                      the scripted prompt silent
            --- exit 0
            ",
    );
    room.check(
        "prompts one --json",
        r#"
            --- stdout
            {"prompts":[{"name":"greet","server":"one","prompt":"greet","title":null,"description":"the scripted prompt greet","arguments":[{"name":"who","description":null,"required":true},{"name":"style","description":null,"required":false}]}],"quarantined":[],"fromMemory":["one"],"unavailable":[]}
            --- exit 0
            "#,
    );
    room.check(
        "prompts workspace",
        "
            --- stderr
            there are no prompts
            --- exit 0
            ",
    );
}

#[test]
fn a_prompt_is_filled_in() {
    let room = Room::new().server("one", &sample("one")).server("talks", &talks());
    room.check(
        "prompt greet who=you",
        "
            --- stdout
            Say hello
            --- exit 0
            ",
    );
    room.check(
        "prompt greet dear reader",
        "
            --- stdout
            Say hello
            --- exit 0
            ",
    );
    room.check(
        "prompt talks.dialogue",
        r#"
            --- stdout
            user:
            Question

            assistant:
            \e[2JAnswer
            --- exit 0
            "#,
    );
    room.check(
        "prompt dialogue --json",
        r#"
            --- stdout
            {"name":"dialogue","server":"talks","prompt":"dialogue","description":"d","messages":[{"role":"user","content":{"type":"text","text":"Question"}},{"role":"assistant","content":{"type":"text","text":"\u001b[2JAnswer"}}]}
            --- exit 0
            "#,
    );
}

#[test]
fn words_find_their_arguments() {
    let room = Room::new().server("talks", &talks());
    let cases = [
        ("prompt show from=a to=b", r#"{"from":"a","to":"b"}"#),
        ("prompt show a b", r#"{"from":"a","to":"b"}"#),
        ("prompt show to=x some words", r#"{"from":"some words","to":"x"}"#),
        ("prompt show a b style=short", r#"{"from":"a","style":"short","to":"b"}"#),
        ("prompt show --from=a --to=b=c", r#"{"from":"a","to":"b=c"}"#),
        ("prompt show --to=x some --json words", r#"{"from":"some words","to":"x"}"#),
        ("--json prompt show -- --to=x --from=y", r#"{"from":"y","to":"x"}"#),
        ("prompt show --style=s a -- b", r#"{"from":"a","style":"s","to":"b"}"#),
    ];
    for (line, expected) in cases {
        let output = room.run(line);
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(output.code(), Some(0), "{line}: {}", output.transcript());
        let received = Record::of_log(room.log("talks")).received();
        let asked = received.iter().rfind(|message| message["method"] == json!("prompts/get")).unwrap();
        assert_eq!(asked["params"]["arguments"], expected, "{line}");
    }
}

#[test]
fn what_is_missing_or_too_much_is_said() {
    let room = Room::new().server("talks", &talks()).server("one", &sample("one"));
    room.check(
        "prompt show",
        "
            --- stderr
            error: missing required argument(s): --from, --to
            hint: toolgate prompt show from=… to=… [style=…]
            --- exit 2
            ",
    );
    room.check(
        "prompt show a b c",
        "
            --- stderr
            error: `show` takes fewer arguments than were given
            hint: toolgate prompt show from=… to=… [style=…]
            --- exit 2
            ",
    );
    room.check(
        "prompt show a --colour=red b",
        "
            --- stderr
            error: `show` takes no argument `--colour`
            hint: toolgate prompt show from=… to=… [style=…]
            --- exit 2
            ",
    );
    room.check(
        "prompt dialogue extra",
        "
            --- stderr
            error: `dialogue` takes no argument for `extra`
            hint: toolgate prompt dialogue
            --- exit 2
            ",
    );
    room.check(
        "prompt gret who=you",
        "
            --- stderr
            error: there is no prompt `gret`
            hint: did you mean `greet`?
            --- exit 7
            ",
    );
    room.check(
        "prompt silent",
        "
            --- stderr
            error: the server returned no usable prompt text
            --- exit 4
            ",
    );
}
