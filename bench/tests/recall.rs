//! The recall table is what it says it is, and the right tools are found in it.

#![expect(clippy::expect_used, reason = "a test that cannot go on is a failed test")]

use std::collections::{HashMap, HashSet};

#[path = "../src/recall_table.rs"]
mod recall_table;

use recall_table::{TableTool, offered, queries, ranks, tools};

/// The words of a name or a text: `getBuild_log` and `Get build log` are the same three.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn contains(words: &[String], sequence: &[String]) -> bool {
    !sequence.is_empty() && words.windows(sequence.len()).any(|window| window == sequence)
}

#[test]
fn there_are_500_tools_of_25_servers_and_100_questions_about_different_ones() {
    let tools = tools().expect("the tools");
    let names: HashSet<(&str, &str)> = tools.iter().map(|tool| (tool.server.as_str(), tool.name.as_str())).collect();
    let servers: HashSet<&str> = tools.iter().map(|tool| tool.server.as_str()).collect();
    let queries = queries().expect("the questions");
    let meant: HashSet<&str> = queries.iter().map(|query| query.meant.as_str()).collect();
    let counts = (tools.len(), names.len(), servers.len(), queries.len(), meant.len());
    assert_eq!(counts, (500, 500, 25, 100, 100));
    for tool in &tools {
        let has_properties = tool.input_schema.get("properties").is_some_and(serde_json::Value::is_object);
        let is_described = !tool.description.is_empty() && tool.title.as_deref() != Some("");
        assert!(has_properties && is_described, "{tool:?}");
    }
}

#[test]
fn no_question_contains_the_name_of_its_tool() {
    let tools = tools().expect("the tools");
    let by_name: HashMap<String, &TableTool> =
        tools.iter().map(|tool| (format!("{}/{}", tool.server, tool.name), tool)).collect();
    // What all tools of a server begin with says nothing about one of them: `jira_search` is also called `search`.
    let prefix = |server: &str| {
        let mut names = tools.iter().filter(|tool| tool.server == server).map(|tool| words(&tool.name));
        let first = names.next().expect("a server has tools").first().cloned();
        first.filter(|first| names.all(|name| name.first() == Some(first)))
    };
    let mut complaints = Vec::new();
    for query in queries().expect("the questions") {
        let tool = by_name.get(&query.meant).expect(&query.meant);
        let (asked, name) = (words(&query.words), words(&tool.name));
        let short = if prefix(&tool.server).is_some() { name.get(1..).unwrap_or_default() } else { &[] };
        let written = query.words.to_lowercase().contains(&tool.name.to_lowercase());
        if written || contains(&asked, &name) || contains(&asked, short) {
            complaints.push(format!("{}: {}", query.meant, query.words));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn the_right_tool_is_among_the_first_five_for_nine_questions_of_ten() {
    let ranks = ranks().expect("the table");
    let (found, missed): (Vec<_>, Vec<_>) = ranks.iter().partition(|(_, rank)| rank.is_some_and(|rank| rank <= 5));
    assert!(found.len() >= 90, "only {}: {missed:#?}", found.len());
}

#[test]
fn the_first_request_carries_less_than_a_tenth_of_all_declarations() {
    let tools = offered().expect("the table");
    let declaration = |name: &str, description: &str, schema: &str| serde_json::json!({"name": name, "description": description, "parameters": serde_json::from_str::<serde_json::Value>(schema).expect("a schema")});
    let of_tool = |tool: &toolgate::expose::OfferedTool| {
        let schema = tool.tool.input_schema.as_ref().expect("every tool has one");
        declaration(&tool.name, tool.tool.description.as_deref().unwrap_or_default(), schema.as_str())
    };
    let size = |declarations: Vec<serde_json::Value>| serde_json::Value::from(declarations).to_string().len();
    let all = size(tools.iter().map(of_tool).collect());
    let pinned = ["slack__post_message", "github__create_issue"].map(str::to_owned).to_vec();
    let settings = toolgate::settings::ToolSearchSettings { pinned, ..Default::default() };
    let offer = toolgate::expose::ToolOffer::new(tools, &settings);
    assert!(offer.is_searched(), "500 tools are too many to have in view");
    let ours = offer.functions().iter();
    let ours = ours.map(|one| declaration(&one.name, &one.description, &one.input_schema.to_string()));
    let first = size(offer.declared().map(of_tool).chain(ours).collect());
    assert_eq!(offer.declared().count(), 2);
    assert!(first * 10 < all, "{first} of {all} bytes");
    // The estimate that decides is near what is sent.
    let (estimate, sent) = (offer.tokens_of_all(), all.div_ceil(4));
    assert!(estimate * 10 > sent * 9 && estimate * 9 < sent * 10, "{estimate} and {sent}");
}
