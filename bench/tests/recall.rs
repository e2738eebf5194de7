//! The recall table is what it says it is, and the right tools are found in it.

#![expect(clippy::expect_used, reason = "a test that cannot go on is a failed test")]

use std::collections::{HashMap, HashSet};

#[path = "../src/recall_table.rs"]
mod recall_table;

use recall_table::{TableTool, queries, tools};

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
