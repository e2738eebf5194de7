//! What servers ask in a session, when they may, and what keys do at a question.

use serde_json::{Value, json};
use toolgate_testkit::model_server::WireFormat;
use toolgate_testkit::{Behaviour, ModelAnswer, ModelScript, ModelServer, Record, Script, ToolScript};

use crate::emulated::Emulated;
use crate::room::{Room, sample};

const DOWN: &str = "\u{1b}[B";
const UP: &str = "\u{1b}[A";
const INTERRUPT: &str = "\u{3}";

/// A question for a name, with its id.
fn question(id: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"message": "your name?", "requestedSchema": schema});
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

/// A server that asks before it answers, and does not wait for what is said.
fn hasty() -> Script {
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}";
    let both = Behaviour::Raw(format!("{}\n{answer}", question("early")));
    sample("one").versions(&["2025-06-18"]).tool(ToolScript::new("hasty", both))
}

/// What the server was told about a question.
fn told(room: &Room, id: &str) -> Option<Value> {
    let received = Record::of_log(room.log("one")).received();
    received.into_iter().find(|message| message["id"] == json!(id)).map(|message| message["result"]["action"].clone())
}

/// A room with a server, and a model that answers like that.
async fn with_model(answers: impl IntoIterator<Item = ModelAnswer>, script: &Script) -> (Room, ModelServer) {
    let format = WireFormat::OpenAi;
    let model = ModelServer::start(ModelScript::new(answers)).await.unwrap();
    let settings = json!({"name": format.model(), "baseUrl": model.base_url(format), "apiKey": "sesame"});
    (Room::new().server("one", script).without_workspace().setting("model", settings), model)
}

#[test]
fn a_server_of_which_nothing_runs_does_not_get_the_keys() {
    let room = Room::new().server("one", &hasty()).without_workspace();
    room.world.write_in_workspace("question", &format!("{}\n", question("late"))).unwrap();
    let asks =
        "(until [ -e go ]; do sleep 0.02; done; cat question) & exec ../server --script ../one.json --log ../one.log";
    let room = room.entry("one", json!({"command": "sh", "args": ["-c", asks]}));
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("/call echo message=my");
    terminal.sees("/call echo message=my");
    std::fs::write(room.world.workspace().join("go"), "").unwrap();
    terminal.sees_line("one asked for something while nothing of it was running; declined");
    terminal.presses("self\r");
    terminal.sees_line("myself");
    assert!(!terminal.screen().contains("your name?"), "{}", terminal.screen());
    assert_eq!(terminal.leaves(), Some(0));
    assert_eq!(told(&room, "late"), Some(json!("decline")));
}

#[test]
fn a_question_ends_with_the_call_it_is_about() {
    let room = Room::new().server("one", &hasty()).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    for _time in 0..2 {
        terminal.presses("/call hasty\r");
        // The question may have been drawn before the answer, or just after it; a prompt stands below both.
        let stands = |screen: &str| screen.lines().last().is_some_and(|line| line.starts_with(">  "));
        terminal.until("a prompt below the answer", |screen| screen.contains("done\n") && stands(screen));
        terminal.presses("/clear\r");
        terminal.until("a clear screen", |screen| !screen.contains("done") && stands(screen));
    }
    terminal.presses("/call echo message=all-keys-arrive\r");
    terminal.sees_line("all-keys-arrive");
    assert_eq!(terminal.leaves(), Some(0));
    assert_eq!(told(&room, "early"), Some(json!("cancel")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_about_a_call_of_the_model_ends_with_it() {
    let answers = [ModelAnswer::calls([("hasty", json!({}))]), ModelAnswer::text(["that was quick"])];
    let (room, _model) = with_model(answers, &hasty()).await;
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("go\r");
    terminal.until("a prompt below the answer", |screen| screen.contains("that was quick\n>"));
    terminal.presses("/call echo message=all-keys-arrive\r");
    terminal.sees_line("all-keys-arrive");
    assert_eq!(terminal.leaves(), Some(0));
    assert_ne!(told(&room, "early"), None);
}

#[test]
fn a_key_that_was_meant_for_something_else_tells_a_server_nothing() {
    let tool = ToolScript::new("ask", Behaviour::elicit(question("")["params"].clone()));
    let room = Room::new().server("one", &sample("one").tool(tool)).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("/call ask\r");
    terminal.sees("> Cancel");
    terminal.presses("\r");
    terminal.sees("{\"action\":\"cancel\"}");
    terminal.presses("/call ask\r");
    terminal.until("the question again", |screen| screen.matches("Esc to leave").count() == 1);
    terminal.presses(DOWN);
    terminal.sees("> Answer");
    terminal.presses("\r");
    terminal.sees("name (optional):");
    terminal.presses("me\r");
    terminal.sees("\"name\":\"me\"");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn what_is_typed_while_something_runs_is_run_afterwards() {
    let waits = ToolScript::new("work", Behaviour::progress(3, 300, Behaviour::text("done")));
    let room = Room::new().server("one", &sample("one").tool(waits)).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 80);
    terminal.sees("🟢 one is ready");
    terminal.presses("/call work\r");
    terminal.sees("work of one: ");
    terminal.presses("/call echo message=first\r/mode\r/call echo message=second\r/call echo mess");
    terminal.sees_line("second");
    terminal.until("the beginning of a line", |screen| {
        screen.lines().last().is_some_and(|line| line.starts_with("> /call echo mess"))
    });
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().skip_while(|line| *line != "done").take(7).collect();
    let expected =
        ["done", "> /call echo message=first", "first", "> /mode", "default", "> /call echo message=second", "second"];
    assert_eq!(lines, expected, "{screen}");
    assert!(!screen.contains("work of one"), "{screen}");
    terminal.presses("age=third\r");
    terminal.sees_line("third");
    assert_eq!(terminal.leaves(), Some(0));
    let history = std::fs::read_to_string(room.world.home().join(".toolgate/history")).unwrap();
    assert!(history.contains("\n/call echo message=first\n/mode\n"), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_question_ends_the_turn_and_escape_is_a_no() {
    let calls = || ModelAnswer::calls([("add", json!({"a": 1, "b": 2})), ("echo", json!({"message": "b"}))]);
    let (room, model) = with_model([calls(), calls(), ModelAnswer::text(["well then"])], &sample("one")).await;
    let room = room.with_questions();
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("go\r");
    terminal.sees("Make this call?");
    terminal.presses(INTERRUPT);
    terminal.sees("the answer was given up");
    assert_eq!(model.record().requests().len(), 1);
    terminal.presses("/clear\r");
    terminal.until("a clear screen", |screen| !screen.contains("given up"));
    terminal.presses("go\r");
    terminal.sees("Make this call?");
    terminal.presses("\u{1b}");
    terminal.until("the next question", |screen| screen.matches("Make this call?").count() == 2);
    terminal.presses("\u{1b}");
    terminal.sees("well then");
    assert_eq!(terminal.leaves(), Some(0));
    assert_eq!(Record::of_log(room.log("one")).count("tools/call"), 0);
}

#[test]
fn a_folder_is_not_trusted_by_a_key_pressed_too_often() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 100);
    terminal.sees("🟢 one is ready");
    terminal.presses("/trust\r");
    terminal.sees("> Decide later");
    terminal.presses("trust\r");
    terminal.sees_line("nothing was decided");
    terminal.presses("/trust\r");
    terminal.until("the question again", |screen| screen.contains("[↑↓ to move, Enter"));
    terminal.presses(UP);
    terminal.sees("> Do not trust it");
    terminal.presses("\u{1b}");
    terminal.sees("nothing was decided about");
    assert_eq!(terminal.leaves(), Some(0));
}
