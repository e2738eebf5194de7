//! A session with a model: what is typed, what the model gets, and what of its answer is shown.

use serde_json::json;
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{ModelAnswer, ModelScript, ModelServer, ToolScript};

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
