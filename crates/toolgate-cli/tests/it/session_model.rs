//! A session with a model: what is typed, what the model gets, and what of its answer is shown.

use serde_json::json;
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{Behaviour, ModelAnswer, ModelScript, ModelServer, ToolScript};

use crate::emulated::Emulated;
use crate::room::{Room, sample};

const FORMAT: WireFormat = WireFormat::OpenAi;

/// A room with a server full of tools, and a model that answers like that.
async fn room(answers: impl IntoIterator<Item = ModelAnswer>) -> (Room, ModelServer) {
    let model = ModelServer::start(ModelScript::new(answers)).await.unwrap();
    let settings = json!({"name": FORMAT.model(), "baseUrl": model.base_url(FORMAT), "apiKey": "sesame"});
    let room = Room::new().server("one", &sample("one")).without_workspace().setting("model", settings);
    (room, model)
}

fn run(room: &Room, lines: &str) -> toolgate_testkit::command::CommandOutput {
    room.command([]).input(lines).run().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn free_text_is_answered_with_the_tools_of_the_session() {
    let answers =
        [ModelAnswer::calls([("echo", json!({"message": "hi"}))]), ModelAnswer::text(["It says ", "**hi**.\n", "Bye"])];
    let (room, model) = room(answers).await;
    let output = run(&room, "/tools\nwhat does it say?\n/stats\n");
    assert!(output.stdout.contains("It says **hi**.\nBye\n"), "{}", output.transcript());
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(model.record().request(0).tool_names().contains(&"echo"));
    assert!(model.record().request(1).new_results()[0].contains("hi"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_until_it_is_cleared() {
    let (room, model) = room(["one", "two", "three"].map(|text| ModelAnswer::text([text]))).await;
    let output = run(&room, "a\nb\n/clear\nc\n");
    assert_eq!(output.stdout, "one\ntwo\nthree\n", "{}", output.transcript());
    let messages: Vec<usize> = model.record().requests().iter().map(|request| request.messages.len()).collect();
    assert_eq!(messages, [1, 3, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_references_go_to_the_model() {
    let (room, model) = room(["one", "two"].map(|text| ModelAnswer::text([text]))).await;
    room.world.write_in_workspace("notes.txt", "remember the milk").unwrap();
    let output = run(&room, "/greet --who=me\nread @notes.txt and @one:docs://start, not me@home.example\n");
    assert_eq!(output.stdout, "one\ntwo\n", "{}", output.transcript());
    assert!(model.record().request(0).messages[0].text.contains("Say hello"));
    let asked = &model.record().request(1).messages[2].text;
    for text in ["read @notes.txt", "remember the milk", "Content of @one:docs://start", "Begin here."] {
        assert!(asked.contains(text), "{text}:\n{asked}");
    }
    let output = run(&room, "what is in @one:docs://nothing?\n");
    assert_ne!(output.code(), Some(0), "{}", output.transcript());
    assert_eq!(model.record().requests().len(), 2, "what cannot be read is not sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_cannot_be_told_about_is_said_and_listed() {
    let (room, model) = room([ModelAnswer::text(["ok"])]).await;
    let many = (0..130).fold(sample("many"), |script, nth| script.tool(ToolScript::text(format!("t{nth}"), "x")));
    let room = room.server("many", &many).setting("tools", json!({"search": {"mode": "off"}}));
    let output = run(&room, "/tools\nhello\n/mcp\n");
    let why = "is not offered to the model: OpenAI takes at most 128 functions";
    assert_eq!(model.record().request(0).tool_names().len(), 128);
    assert!(output.stderr.contains(why), "{}", output.transcript());
    assert!(output.stdout.contains(&format!("tool t129 {why}")), "{}", output.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_answer_is_told() {
    let (room, _model) = room([ModelAnswer::refused(401, None)]).await;
    let output = run(&room, "hello\n");
    assert_eq!(output.code(), Some(10), "{}", output.transcript());
    assert!(output.stderr.starts_with("error: "), "{}", output.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_shown_at_a_terminal_as_it_is_meant() {
    let answers = [
        ModelAnswer::calls([("echo", json!({"message": "hi"}))]),
        ModelAnswer::text(["# Title\n", "- **bold** and \u{1b}[2Jmore\n"]).costing(1200, 34),
    ];
    let (room, _model) = room(answers).await;
    let mut terminal = Emulated::run(&room, &[], 120);
    terminal.sees("🟢 one is ready");
    terminal.presses("go\r");
    terminal.sees("⚙ echo {\"message\":\"hi\"}");
    terminal.sees("✓ echo (completed, ");
    terminal.sees_line("Title");
    terminal.sees_line("• bold and \\e[2Jmore");
    terminal.sees("k tokens");
    assert_eq!(terminal.leaves(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_goes_on_with_what_was_said() {
    let answers = [
        ModelAnswer::calls([("echo", json!({"message": "hi"}))]),
        ModelAnswer::text(["one"]),
        ModelAnswer::text(["two"]),
        ModelAnswer::text(["three"]),
    ];
    let (room, model) = room(answers).await;
    let to = WireFormat::Anthropic;
    let output = run(&room, &format!("/tools\na\n/model {}\nb\n/model\n/model {}\nc\n", to.model(), FORMAT.model()));
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    let formats: Vec<WireFormat> = model.record().requests().iter().map(|request| request.format).collect();
    assert_eq!(formats, [FORMAT, FORMAT, to, FORMAT], "{}", output.transcript());
    let asked = model.record().request(2);
    assert_eq!(asked.messages.len(), 5, "question, call, result, answer, question");
    assert_eq!(asked.messages[1].calls[0].name, "echo");
    assert!(asked.messages[2].results[0].text.contains("hi"));
    let shown = format!("claude-scripted · Anthropic · {}/\n", model.base_url(to));
    assert_eq!(output.stdout.matches(&shown).count(), 2, "{}", output.transcript());
    assert!(output.stdout.contains("/model NAME switches for this session"), "{}", output.transcript());
}

#[test]
fn a_model_that_cannot_be_asked_is_not_switched_to() {
    let settings = json!({"name": "gpt-x", "apiKey": "sesame"});
    let room = Room::new().server("one", &sample("one")).without_workspace().setting("model", settings);
    let cases = [
        ("llama", "it does not say who has the model `llama`", "`ollama::llama`"),
        ("nobody::x", "no provider is called `nobody`", "`openai::`"),
        ("claude-x", "there is no key for the model `claude-x`", "set ANTHROPIC_API_KEY"),
    ];
    for (name, why, hint) in cases {
        let output = run(&room, &format!("/model {name}\n/model\n"));
        for text in [why, hint, "hint: gpt-x still answers"] {
            assert!(output.stderr.contains(text), "{text}:\n{}", output.transcript());
        }
        assert!(output.stdout.starts_with("gpt-x · OpenAI\n"), "{}", output.transcript());
        assert_eq!(output.code(), Some(2), "{}", output.transcript());
    }
    let output = run(&room, "/model two names\n");
    assert!(output.stderr.contains("/model takes one name"), "{}", output.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_model_does_not_take_is_told() {
    let (room, model) = room(["one", "two"].map(|text| ModelAnswer::text([text]))).await;
    std::fs::write(room.world.workspace().join("a.png"), b"\x89PNG\r\n").unwrap();
    let output = run(&room, "what is in @a.png\n/model ollama::small\nand now?\n");
    let told = "ollama::small takes texts only; left out of the conversation from here on: 1 attachment";
    assert!(output.stderr.contains(told), "{}", output.transcript());
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(model.record().request(1).messages[0].text.contains("which this model does not take"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_is_switched_at_a_terminal() {
    let (room, _model) = room([]).await;
    let mut terminal = Emulated::run(&room, &[], 120);
    terminal.sees("🟢 one is ready");
    terminal.presses("/model claude-scripted\r");
    terminal.until("the status follows", |screen| screen.ends_with("1/1 server · claude-scripted · default"));
    terminal.presses("/model gp\t");
    terminal.sees("> /model gpt-4-scripted");
    terminal.presses("\r");
    terminal.until("the status follows", |screen| screen.ends_with("1/1 server · gpt-4-scripted · default"));
    assert_eq!(terminal.leaves(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_large_does_not_go_to_the_model() {
    let (room, model) = room([]).await;
    let file = std::fs::File::create(room.world.workspace().join("large.txt")).unwrap();
    file.set_len(10 * 1024 * 1024 + 1).unwrap();
    let output = run(&room, "what is in @large.txt\n");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    for text in ["error: @large.txt: it is larger than 10 MiB", "hint: name it without `@`"] {
        assert!(output.stderr.contains(text), "{}", output.transcript());
    }
    assert!(model.record().requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn how_far_a_call_of_the_model_is_is_a_bar() {
    let answers = [ModelAnswer::calls([("work", json!({}))]), ModelAnswer::text(["Finished."])];
    let (room, _model) = room(answers).await;
    let work = ToolScript::new("work", Behaviour::progress(4, 400, Behaviour::text("done")));
    let room = room.server("one", &sample("one").tool(work));
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("go\r");
    terminal.until("a bar", |screen| screen.contains("░") && screen.contains("work of one: "));
    terminal.sees_line("Finished.");
    assert!(!terminal.screen().contains("░"), "{}", terminal.screen());
    assert_eq!(terminal.leaves(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_calls_of_a_session_stand_together_in_the_record() {
    let (room, _model) =
        room([ModelAnswer::calls([("echo", json!({"message": "hi"}))]), ModelAnswer::text(["ok"])]).await;
    let lines = "/call echo message=hi\ngo\n/call add a=1 b=2\n";
    for sessions in 1..=2 {
        let output = run(&room, lines);
        assert!(sessions == 2 || output.code() == Some(0), "{}", output.transcript());
        let shown = room.json("audit show --json");
        let calls = shown["calls"].as_array().unwrap();
        let found: std::collections::BTreeSet<&str> =
            calls.iter().map(|call| call["session"].as_str().unwrap()).collect();
        assert_eq!(found.len(), sessions, "{shown}");
    }
}
