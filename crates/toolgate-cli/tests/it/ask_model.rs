//! `toolgate -p`: a model, its tools and its answer, through the front door.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolgate_testkit::command::CommandOutput;
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{ModelAnswer, ModelScript, ModelServer, ModelStop, Script, ToolScript, What, When};

use crate::room::{Room, sample};

/// A room with a model that follows a script.
struct Asked {
    room: Room,
    server: ModelServer,
    /// What the model runs in.
    runtime: tokio::runtime::Runtime,
}

impl Asked {
    fn new(format: WireFormat, answers: &[ModelAnswer]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(ModelServer::start(ModelScript::new(answers.to_vec()))).unwrap();
        let script = Script::new("one").instructions("Speak softly.").tool(ToolScript::echo("echo"));
        let model = json!({"name": format.model(), "baseUrl": server.base_url(format), "apiKey": "k", "maxTurns": 3});
        let room = Room::new().server("one", &script).without_workspace().setting("model", model);
        Self { room, server, runtime }
    }

    fn run(&self, words: &[&str]) -> CommandOutput {
        self.room.command(words.iter().copied()).run().unwrap()
    }
}

fn echo(text: &str) -> ModelAnswer {
    ModelAnswer::calls([("echo", json!({ "message": text }))])
}

fn lines(output: &CommandOutput) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", output.transcript()));
    output.stdout.lines().map(parse).collect()
}

#[test]
fn the_answer_goes_to_stdout_and_everything_else_to_stderr() {
    for format in WireFormat::ALL {
        let asked = Asked::new(format, &[echo("hi"), ModelAnswer::text(["It said ", "hi."])]);
        asked.run(&["-p", "Say hi."]).assert_transcript(
            r#"
            --- stdout
            It said hi.
            --- stderr
            echo {"message":"hi"}: completed
            --- exit 0
            "#,
        );
        let request = asked.server.record().request(0);
        assert_eq!(request.messages[0].text, "Say hi.", "{format:?}");
        assert!(request.system.contains("Speak softly."), "{}", request.system);
        assert!(request.system.contains("The person works in the folder "), "{}", request.system);
        assert_eq!(request.tool_names(), ["read_result", "echo"]);
    }
}

#[test]
fn a_server_that_hangs_does_not_keep_the_model_waiting() {
    let asked = Asked::new(WireFormat::OpenAi, &[ModelAnswer::text(["ok"])]);
    let hangs = Script::new("hangs").fault(When::Message(1), What::Stall);
    // It would take ten minutes if it waited, and is ended after a fraction of that.
    let room = asked.room.server("z_hangs", &hangs).with("z_hangs", "connectTimeout", json!(600_000));
    let without = "the model begins without z_hangs; what is still starting is offered to it later\n";
    let output = room.command(["-p", "x"]).run().unwrap();
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), without), "{}", output.transcript());
    assert_eq!(asked.server.record().request(0).tool_names(), ["read_result", "echo"]);
    let asked = Asked::new(WireFormat::OpenAi, &[ModelAnswer::text(["ok"])]);
    let room = asked.room.server("z_hangs", &hangs).with("z_hangs", "connectTimeout", json!(600_000));
    let output = room.command([]).input("hello\n").run().unwrap();
    assert!(output.stderr.contains(without), "{}", output.transcript());
    assert_eq!((output.code(), output.stdout.as_str()), (Some(0), "ok\n"), "{}", output.transcript());
}

#[test]
fn stdin_is_added_to_the_prompt() {
    let asked = Asked::new(WireFormat::Gemini, &[ModelAnswer::text(["ok"])]);
    let output = asked.room.command(["-p", "Sum up:"]).input("a long text\n").run().unwrap();
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert_eq!(asked.server.record().request(0).messages[0].text, "Sum up:\n\na long text");
    let output = asked.room.command(["-p", " "]).input("\n").run().unwrap();
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("the prompt is empty"), "{}", output.transcript());
}

#[test]
fn references_and_prompts_are_understood_as_in_a_session() {
    let cases = [
        ("see @a.txt", "see @a.txt", "the text of a", ""),
        ("/greet --who=me", "Say hello", "", ""),
        ("/gret me", "/gret me", "", "no server has a prompt `/gret`; it is said to the model as it stands\n"),
        ("/etc/hosts is what?", "/etc/hosts is what?", "", ""),
    ];
    for (typed, begins, contains, told) in cases {
        let asked = Asked::new(WireFormat::OpenAi, &[ModelAnswer::text(["ok"])]);
        let room = asked.room.server("two", &sample("two"));
        std::fs::write(room.world.workspace().join("a.txt"), "the text of a").unwrap();
        let output = room.command(["-p", typed]).run().unwrap();
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), told), "{}", output.transcript());
        let said = asked.server.record().request(0).messages[0].text.clone();
        assert!(said.starts_with(begins) && said.contains(contains), "{typed}: {said}");
    }
    let asked = Asked::new(WireFormat::OpenAi, &[]);
    let room = asked.room.server("two", &sample("two"));
    let output = room.command(["-p", "/mcp list"]).run().unwrap();
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("`/mcp` is a command of the session"), "{}", output.transcript());
    let output = room.command(["-p", "/greet help"]).run().unwrap();
    assert!(output.stdout.contains("--who"), "{}", output.transcript());
}

#[test]
fn programs_get_one_object() {
    for format in WireFormat::ALL {
        let asked = Asked::new(format, &[echo("hi").costing(5, 2), ModelAnswer::text(["Done."]).costing(7, 3)]);
        let words: &[&str] =
            if format == WireFormat::Gemini { &["-p", "x", "--json"] } else { &["-p", "x", "--output-format", "json"] };
        let output = asked.run(words);
        let tokens = json!({"input": 12, "cached": 0, "output": 5, "total": 17});
        let stats = json!({"turns": 2, "tools": {"calls": 1, "failed": 0}, "tokens": tokens});
        assert_eq!(lines(&output), [json!({"response": "Done.", "stats": stats, "error": null})], "{format:?}");
        assert_eq!(output.code(), Some(0));
    }
}

#[test]
fn programs_get_everything_that_happens() {
    let asked = Asked::new(
        WireFormat::OpenAi,
        &[ModelAnswer::refused(429, Some("0")), echo("hi"), ModelAnswer::text(["Do", "ne."])],
    );
    let output = asked.run(&["-p", "x", "--output-format", "stream-json"]);
    let lines = lines(&output);
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let expected = [
        "start",
        "request",
        "retry",
        "request",
        "answer",
        "tool_call",
        "tool_result",
        "request",
        "text",
        "text",
        "answer",
        "result",
    ];
    assert_eq!(kinds, expected, "{}", output.transcript());
    assert_eq!(lines[0]["model"], "gpt-4-scripted");
    let call = json!({"type": "tool_call", "id": "1", "name": "echo", "arguments": {"message": "hi"}});
    assert_eq!(lines[5], call);
    assert_eq!((&lines[6]["outcome"], &lines[6]["isError"]), (&json!("completed"), &json!(false)));
    assert_eq!(lines[11]["response"], "Done.");
}

#[test]
fn what_would_be_asked_about_is_denied_and_the_model_is_told() {
    let asked = Asked::new(WireFormat::Anthropic, &[echo("hi"), ModelAnswer::text(["I may not."])]);
    let asked = Asked { room: asked.room.with_questions(), ..asked };
    let output = asked.run(&["-p", "x"]);
    assert_eq!((output.code(), output.stdout.as_str()), (Some(0), "I may not.\n"), "{}", output.transcript());
    assert!(output.stderr.contains("echo {\"message\":\"hi\"}: denied"), "{}", output.transcript());
    let told = asked.server.record().request(1).new_results()[0].to_owned();
    assert!(told.contains("nobody can be asked here"), "{told}");
    let asked = Asked::new(WireFormat::Anthropic, &[echo("hi"), ModelAnswer::text(["I may."])]);
    let asked = Asked { room: asked.room.with_questions(), ..asked };
    let output = asked.run(&["-p", "x", "--yes"]);
    assert!(output.stderr.contains("echo {\"message\":\"hi\"}: completed"), "{}", output.transcript());
}

#[test]
fn failures_have_their_exit_codes() {
    let cut = ModelAnswer::text(["half"]).ending(ModelStop::TooLong);
    let cases = [
        (vec![ModelAnswer::refused(401, None)], "model_denied", "401 Unauthorized"),
        (vec![echo("a"), echo("b"), echo("c"), echo("d")], "turn_limit", "went on by itself 3 times"),
        (vec![cut], "model_cut_short", "the answer is not whole"),
    ];
    for (answers, kind, words) in cases {
        let output = Asked::new(WireFormat::OpenAi, &answers).run(&["-p", "x"]);
        assert_eq!(output.code(), Some(10), "{}", output.transcript());
        assert!(output.stderr.contains(words), "{}", output.transcript());
        let output = Asked::new(WireFormat::OpenAi, &answers).run(&["-p", "x", "--output-format", "json"]);
        assert_eq!(output.code(), Some(10), "{}", output.transcript());
        let error = lines(&output)[0]["error"].clone();
        assert_eq!((&error["code"], &error["kind"]), (&json!(10), &json!(kind)), "{}", output.transcript());
    }
}

#[test]
fn what_cannot_be_asked_is_wrong_usage() {
    let room = Room::new().without_workspace();
    let output = room.run("-p x");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("error: no model is configured\nhint: "), "{}", output.transcript());
    let output = room.run("-p x --output-format json");
    assert_eq!(lines(&output)[0]["error"]["kind"], "no_model", "{}", output.transcript());
    let cases = [
        (json!({"name": "gpt-x"}), "there is no key for the model `gpt-x`"),
        (json!({"name": "llama"}), "it does not say who has the model `llama`"),
        (
            json!({"name": "gpt-x", "apiKey": "${env:NOBODY_SET_IT}"}),
            "model.apiKey: `${env:NOBODY_SET_IT}`: the variable is not set",
        ),
        (json!({"name": "gpt-x", "apiKey": "k", "baseUrl": "nowhere"}), "model.baseUrl: `nowhere` is no address"),
    ];
    for (model, words) in cases {
        let output = Room::new().without_workspace().setting("model", model).run("-p x");
        assert_eq!(output.code(), Some(2), "{}", output.transcript());
        assert!(output.stderr.contains(words), "{}", output.transcript());
    }
    for line in ["-p x tools", "--output-format json", "-p x --output-format yaml"] {
        assert_eq!(room.run(line).code(), Some(2), "{line}");
    }
}

#[test]
fn an_interrupt_ends_it() {
    let asked = Asked::new(WireFormat::OpenAi, &[ModelAnswer::text(["Well"]).ending(ModelStop::Hang)]);
    let record = asked.server.record();
    let child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["-p", "x"])
        .env_clear()
        .envs(asked.room.world.variables())
        .current_dir(asked.room.world.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    asked.runtime.block_on(record.wait_for(1));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    asked.runtime.block_on(record.wait_until_abandoned());
}
