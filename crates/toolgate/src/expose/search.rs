//! Tools found by what somebody wants: the index over names, titles, descriptions, servers and parameters of tools.

use std::borrow::Cow;

use toolgate_wire::RawJson;
use toolgate_wire::view::Tool;

use super::search_index::{FIELDS, Index};
use crate::limits::{SEARCH_QUESTION_CHARS_MAX, SEARCHED_PARAMETERS_MAX, SEARCHED_TEXT_CHARS_MAX};
use crate::registry::Catalog;
use crate::shape::truncate::before_chars;

/// An index over tools. Building it takes a moment for each thousand of them, a question next to nothing.
#[derive(Debug, Default)]
pub struct SearchIndex(Index);

/// A tool that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which one, in the order in which the tools were given.
    pub position: usize,
    /// How well, in comparison with the others that fit the same question.
    pub score: f32,
}

impl SearchIndex {
    /// Builds the index over tools, each with the name of its server.
    pub fn build<'a>(tools: impl Iterator<Item = (&'a str, &'a Tool)>) -> Self {
        Self(Index::build(tools.map(|(server, tool)| fields(server, tool))))
    }

    /// The same of all tools of a catalog, in its order.
    pub fn of(catalog: &Catalog) -> Self {
        Self::build(catalog.tools().iter().map(|one| (&*one.id.server, &*one.tool)))
    }

    /// The tools that fit a question, best first. Those that fit equally well stay in their order.
    pub fn search(&self, question: &str, limit: usize) -> Vec<Hit> {
        let found = self.0.search(before_chars(question, SEARCH_QUESTION_CHARS_MAX), limit);
        found.into_iter().map(|(position, score)| Hit { position, score }).collect()
    }
}

/// What a tool says in each field, from the one that counts most to the one that counts least.
fn fields<'a>(server: &'a str, tool: &'a Tool) -> [Cow<'a, str>; FIELDS] {
    let short = |text: &'a str| Cow::Borrowed(before_chars(text, SEARCHED_TEXT_CHARS_MAX));
    let (names, texts) = tool.input_schema.as_ref().map(parameters).unwrap_or_default();
    [
        short(&tool.name),
        short(tool.title.as_deref().unwrap_or_default()),
        short(tool.description.as_deref().unwrap_or_default()),
        short(server),
        Cow::Owned(names),
        Cow::Owned(texts),
    ]
}

/// The names of the parameters, and what is said about them.
fn parameters(schema: &RawJson) -> (String, String) {
    let (mut names, mut texts) = (String::new(), String::new());
    let properties = schema.member("properties").map(|all| all.members_within(SEARCHED_PARAMETERS_MAX));
    for (name, property) in &properties.unwrap_or_default().0 {
        names.push_str(before_chars(name, SEARCHED_TEXT_CHARS_MAX));
        names.push('\n');
        for member in ["title", "description"] {
            let said = property.member(member).and_then(|text| text.to_text());
            texts.push_str(before_chars(said.as_deref().unwrap_or_default(), SEARCHED_TEXT_CHARS_MAX));
            texts.push('\n');
        }
        let choices = property.member("enum").and_then(|list| list.elements_within(SEARCHED_PARAMETERS_MAX));
        for choice in choices.unwrap_or_default().0.iter().filter_map(RawJson::to_text) {
            texts.push_str(before_chars(&choice, SEARCHED_TEXT_CHARS_MAX));
            texts.push('\n');
        }
        if texts.len() > SEARCHED_TEXT_CHARS_MAX {
            break;
        }
    }
    (names, texts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_wire::view::{Entry, Tool};

    use super::SearchIndex;

    fn tools() -> Vec<Tool> {
        let tool = |name: &str, title: &str, description: &str, schema: serde_json::Value| {
            let value = json!({"name": name, "title": title, "description": description, "inputSchema": schema});
            Tool::read(value.into()).unwrap()
        };
        let none = || json!({"type": "object"});
        vec![
            tool(
                "create_ticket",
                "",
                "Opens something.",
                json!({"properties": {"priority": {"enum": ["urgent", "low"]}}}),
            ),
            tool(
                "sendMail",
                "Send",
                "Sends a letter.",
                json!({"properties": {"recipient": {"description": "who gets it"}}}),
            ),
            tool("list_files", "", "Lists a directory.", none()),
            tool("search", "", "搜索文件内容", none()),
            tool("x", "", "Удаляет старые файлы.", none()),
            tool("twin_a", "", "The same words.", none()),
            tool("twin_b", "", "The same words.", none()),
        ]
    }

    #[test]
    fn every_field_is_searched_and_ties_keep_their_order() {
        let cases: [(&str, &[&str]); 15] = [
            ("ticket", &["create_ticket"]),
            ("urgent", &["create_ticket"]),
            ("mail", &["sendMail"]),
            ("letters", &["sendMail"]),
            ("recipients", &["sendMail"]),
            ("folder", &["list_files"]),
            ("direct", &["list_files"]),
            ("文件", &["search"]),
            ("файлы", &["x"]),
            ("same words", &["twin_a", "twin_b"]),
            ("twin", &["twin_a", "twin_b"]),
            ("kindly unknownword", &[]),
            ("", &[]),
            ("the of", &["twin_a", "twin_b"]),
            ("!!! ???", &[]),
        ];
        let tools = tools();
        let index = SearchIndex::build(tools.iter().map(|tool| ("work", tool)));
        for (question, expected) in cases {
            let found = index.search(question, 10);
            let names: Vec<&str> = found.iter().map(|hit| tools[hit.position].name.as_str()).collect();
            assert_eq!(names, expected, "{question}");
        }
        assert_eq!(index.search("work", 10).len(), tools.len());
        assert_eq!(index.search("work", 3).iter().map(|hit| hit.position).collect::<Vec<_>>(), [0, 1, 2].map(|at| at));
        assert!(SearchIndex::default().search("anything", 5).is_empty());
    }
}
