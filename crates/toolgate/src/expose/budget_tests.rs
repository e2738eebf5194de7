//! When tools are searched for, what is declared then, and what our functions answer.

use serde_json::json;
use toolgate_wire::view::Entry;

use super::*;

fn offered(server: &str, shown: &str, name: &str, description: &str) -> OfferedTool {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}, "deep": {}}, "required": ["path"]});
    let tool = json!({"name": name, "description": description, "inputSchema": schema});
    let tool = Arc::new(Tool::read(tool.into()).unwrap());
    OfferedTool { name: shown.to_owned(), server: ServerName::new(server).unwrap(), tool }
}

fn several(count: usize) -> Vec<OfferedTool> {
    let name = |number: usize| format!("tool_{number}");
    (0..count).map(|number| offered("one", &name(number), &name(number), "Does something.")).collect()
}

fn settings(mode: SearchMode, threshold: Option<usize>, pinned: &[&str]) -> ToolSearchSettings {
    ToolSearchSettings { mode, threshold, pinned: pinned.iter().map(|name| (*name).to_owned()).collect() }
}

#[test]
fn the_threshold_is_tokens_or_tools() {
    let each = several(1)[0].tokens();
    assert!((30..80).contains(&each), "{each}");
    let cases = [
        (SearchMode::Auto, None, 10, false),
        (SearchMode::Auto, None, SEARCH_ABOVE_TOOLS_COUNT, false),
        (SearchMode::Auto, None, SEARCH_ABOVE_TOOLS_COUNT + 1, true),
        (SearchMode::Auto, Some(5), 5, false),
        (SearchMode::Auto, Some(5), 6, true),
        (SearchMode::Auto, Some(0), 1, true),
        (SearchMode::Auto, Some(0), 0, false),
        (SearchMode::Auto, Some(5_000), 5_000 / each - 20, false),
        (SearchMode::Auto, Some(5_000), 5_000 / each + 9, true),
        (SearchMode::On, None, 1, true),
        (SearchMode::On, None, 0, false),
        (SearchMode::Off, Some(1), 900, false),
    ];
    for (mode, threshold, count, expected) in cases {
        let offer = ToolOffer::new(several(count), &settings(mode, threshold, &[]));
        assert_eq!(offer.is_searched(), expected, "{mode:?} {threshold:?} {count}");
        assert_eq!(offer.declared().count(), if expected { 0 } else { count });
        assert_eq!(offer.functions().len(), if expected { 3 } else { 0 });
        assert_eq!(offer.tools().len(), count);
    }
}

#[test]
fn pinned_tools_stay_in_view_in_the_order_of_the_catalog() {
    let tools = || {
        vec![
            offered("a", "read", "read", ""),
            offered("b", "b__read", "read", ""),
            offered("b", "write", "write", ""),
            offered("c", "clean_name", "clean name", ""),
        ]
    };
    let cases: [(&[&str], &[&str], &[&str]); 6] = [
        (&[], &[], &[]),
        (&["write", "b__read"], &["b__read", "write"], &[]),
        (&["read"], &["read", "b__read"], &[]),
        (&["a__read"], &["read"], &[]),
        (&["clean name"], &["clean_name"], &[]),
        (&["nothing", "write"], &["write"], &["nothing"]),
    ];
    for (pinned, declared, in_vain) in cases {
        let offer = ToolOffer::new(tools(), &settings(SearchMode::On, None, pinned));
        let names: Vec<&str> = offer.declared().map(|tool| tool.name.as_str()).collect();
        assert_eq!((names.as_slice(), offer.pinned_in_vain().len()), (declared, in_vain.len()), "{pinned:?}");
    }
}

#[test]
fn our_functions_take_no_name_from_a_tool() {
    let tools = vec![offered("a", "call_tool", "call_tool", ""), offered("a", "search_tools", "search_tools", "")];
    let offer = ToolOffer::new(tools, &settings(SearchMode::On, None, &["call_tool"]));
    let names: Vec<&str> = offer.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["toolgate_search_tools", "describe_tool", "toolgate_call_tool"]);
    assert!(offer.answer("call_tool", &Map::new()).is_none());
}

fn told(offer: &ToolOffer, function: &str, arguments: Value) -> String {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    match offer.answer(function, &arguments) {
        None => "not ours".to_owned(),
        Some(Err(error)) => format!("error: {error}"),
        Some(Ok(Answer::Text(text))) => text,
        Some(Ok(Answer::Call { name, arguments })) => format!("{name} {}", arguments.as_str()),
    }
}

#[test]
fn questions_are_answered_and_calls_lead_to_the_inner_tool() {
    let tools = vec![
        offered("files", "read", "read", "Reads a file.\nWith hidden \u{202e}marks."),
        offered("other", "other__read", "read", "Reads a meter."),
    ];
    let offer = ToolOffer::new(tools, &settings(SearchMode::On, None, &[]));
    let cases = [
        ("read", json!({}), "not ours"),
        ("search_tools", json!({}), "error: `query` is missing or not a text"),
        ("search_tools", json!({"query": " "}), "error: `query` is missing or not a text"),
        ("search_tools", json!({"query": "x", "limit": 0}), "error: `limit` has to be a number from 1 on"),
        (
            "search_tools",
            json!({"query": "meter", "limit": 1.0}),
            "- other__read (other): Reads a meter. Takes: path, deep?\ndescribe_tool says what one of them takes, call_tool calls it.",
        ),
        (
            "search_tools",
            json!({"query": "spaceship"}),
            "No tool fits. Try other words. There are 2 tools of these servers: files, other.",
        ),
        ("describe_tool", json!({"name": 7}), "error: `name` is missing or not a text"),
        ("describe_tool", json!({"name": "raed"}), "error: there is no tool `raed`"),
        ("call_tool", json!({"name": "read", "arguments": {"path": "a"}}), r#"read {"path":"a"}"#),
        ("call_tool", json!({"name": "files__read", "arguments": {}}), "read {}"),
        ("call_tool", json!({"name": "other__read"}), "other__read {}"),
        ("call_tool", json!({"name": "read", "arguments": "{\"path\": 1}"}), r#"read {"path":1}"#),
        ("call_tool", json!({"name": "read", "arguments": "[1]"}), "error: `arguments` has to be an object"),
        ("call_tool", json!({"name": "read", "arguments": [1]}), "error: `arguments` has to be an object"),
        ("call_tool", json!({"name": "call_tool", "arguments": {}}), "error: there is no tool `call_tool`"),
    ];
    for (function, arguments, expected) in cases {
        assert_eq!(told(&offer, function, arguments.clone()), expected, "{function} {arguments}");
    }
    let found = told(&offer, "search_tools", json!({"query": "read a file"}));
    assert!(found.starts_with(r"- read (files): Reads a file.\nWith hidden \u{202e}marks."), "{found}");
    let described = told(&offer, "describe_tool", json!({"name": "read"}));
    assert!(described.starts_with("read is a tool of files, which says:\n<untrusted_context>\n"), "{described}");
    assert!(described.contains(r#"inputSchema: {"type":"object","properties":{"#), "{described}");
}
