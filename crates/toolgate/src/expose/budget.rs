//! Whether a model has all tools in view, or finds them through three functions of ours.
//!
//! Every declaration costs tokens in every request. Above a threshold only pinned tools are declared, and `search_tools`, `describe_tool` and `call_tool` stand for the
//! others. What `call_tool` names is called like any other tool: policy and confirmation see the inner tool. The order of declarations is that of the catalog, and the
//! three functions come last, so that what a provider has cached stays good.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate_wire::RawJson;
use toolgate_wire::view::Tool;

use super::function::{Function, free_name};
use super::search::SearchIndex;
use super::tool_text::{described, found_line};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    FOUND_TOOLS_COUNT, FOUND_TOOLS_MAX, NAMED_SERVERS_MAX, SEARCH_ABOVE_TOKENS_COUNT, SEARCH_ABOVE_TOOLS_COUNT,
};
use crate::registry::{CatalogTool, nearest};
use crate::server_name::ServerName;
use crate::settings::{SearchMode, ToolSearchSettings};
use crate::shown_name::qualified;

/// From here on a threshold is a number of tokens, and below it one of tools: nobody has room for less, or wants more in view.
const TOKENS_FROM: usize = 1_000;

/// Bytes of JSON that are about one token.
const TOKEN_BYTES: usize = 4;

/// What stands around name, description and schema in a declaration.
const FRAME_BYTES: usize = 48;

/// About how many tokens a text is: a quarter of its bytes, rounded up. Providers differ, and none is off by half for English and JSON.
pub fn estimated_tokens(bytes: usize) -> usize {
    bytes.div_ceil(TOKEN_BYTES)
}

/// A tool that a model may use.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// The name it is called by.
    pub name: String,
    /// Its server.
    pub server: ServerName,
    /// What its server says about it.
    pub tool: Arc<Tool>,
}

impl From<&CatalogTool> for OfferedTool {
    fn from(tool: &CatalogTool) -> Self {
        Self { name: tool.name.to_string(), server: tool.id.server.clone(), tool: tool.tool.clone() }
    }
}

impl OfferedTool {
    /// About how many tokens its declaration takes.
    pub fn tokens(&self) -> usize {
        let description = self.tool.description.as_ref().map_or(0, String::len);
        let schema = self.tool.input_schema.as_ref().map_or(0, |schema| schema.as_bytes().len());
        estimated_tokens(self.name.len() + description + schema + FRAME_BYTES)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || qualified(&self.server, &self.tool.name) == name
    }
}

/// What a model gets to see.
#[derive(Debug)]
pub struct ToolOffer {
    tools: Vec<OfferedTool>,
    tokens: usize,
    search: Option<Search>,
    pinned_in_vain: Vec<String>,
}

/// Tools that are searched for.
#[derive(Debug)]
struct Search {
    index: SearchIndex,
    pinned: HashSet<usize>,
    functions: [Function; 3],
}

/// What a call of one of our functions comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This text.
    Text(String),
    /// The call of this tool, through the same door as every other.
    Call {
        /// The name of the inner tool.
        name: String,
        /// Its arguments, an object.
        arguments: RawJson,
    },
}

impl ToolOffer {
    /// Decides. `tools` are those that the model may use, without what policy hides, in the order of the catalog.
    pub fn new(tools: Vec<OfferedTool>, settings: &ToolSearchSettings) -> Self {
        let tokens = tools.iter().map(OfferedTool::tokens).sum();
        let is_searched = match settings.mode {
            SearchMode::On => !tools.is_empty(),
            SearchMode::Off => false,
            SearchMode::Auto => is_above(settings.threshold, tokens, tools.len()),
        };
        let matches = |name: &str, tool: &OfferedTool| tool.is_called(name) || tool.tool.name == name;
        let in_vain = settings.pinned.iter().filter(|name| !tools.iter().any(|tool| matches(name, tool)));
        let pinned_in_vain = in_vain.cloned().collect();
        let search = is_searched.then(|| {
            let is_pinned = |tool: &OfferedTool| settings.pinned.iter().any(|name| matches(name, tool));
            Search {
                index: SearchIndex::build(tools.iter().map(|tool| (&*tool.server, &*tool.tool))),
                pinned: (0..).zip(&tools).filter(|(_, tool)| is_pinned(tool)).map(|(at, _)| at).collect(),
                functions: functions(&tools),
            }
        });
        Self { tools, tokens, search, pinned_in_vain }
    }

    /// Whether tools are searched for.
    pub fn is_searched(&self) -> bool {
        self.search.is_some()
    }

    /// About how many tokens the declarations of all tools take.
    pub fn tokens_of_all(&self) -> usize {
        self.tokens
    }

    /// All tools, also those that are not declared.
    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// The tools that are declared: all of them, or the pinned ones.
    pub fn declared(&self) -> impl Iterator<Item = &OfferedTool> {
        let is_declared = |at: &usize| self.search.as_ref().is_none_or(|search| search.pinned.contains(at));
        (0..).zip(&self.tools).filter(move |(at, _)| is_declared(at)).map(|(_, tool)| tool)
    }

    /// Our functions, which are declared behind the tools: three, or none.
    pub fn functions(&self) -> &[Function] {
        self.search.as_ref().map_or(&[], |search| &search.functions)
    }

    /// Pinned names that no tool has; worth a warning.
    pub fn pinned_in_vain(&self) -> &[String] {
        &self.pinned_in_vain
    }

    /// What a call comes to, if it is one of our functions; `None` for any other name, which is that of a tool.
    pub fn answer(&self, function: &str, arguments: &Map<String, Value>) -> Option<Result<Answer>> {
        let search = self.search.as_ref()?;
        let [searches, describes, calls] = &search.functions;
        if function == searches.name {
            Some(self.found(search, arguments).map(Answer::Text))
        } else if function == describes.name {
            Some(self.named(search, arguments).map(|tool| Answer::Text(described(tool))))
        } else if function == calls.name {
            Some(self.inner_call(search, arguments))
        } else {
            None
        }
    }

    fn found(&self, search: &Search, arguments: &Map<String, Value>) -> Result<String> {
        let question = text(arguments, "query")?;
        let limit = match arguments.get("limit") {
            None | Some(Value::Null) => FOUND_TOOLS_COUNT,
            // Models write whole numbers as 5.0 too.
            Some(Value::Number(number)) if number.as_f64().is_some_and(|number| number >= 1.0) => {
                let number = number.as_u64().or_else(|| number.to_string().split('.').next()?.parse().ok());
                number.and_then(|number| usize::try_from(number).ok()).unwrap_or(FOUND_TOOLS_MAX).min(FOUND_TOOLS_MAX)
            }
            Some(_) => return Err(wrong("`limit` has to be a number from 1 on")),
        };
        let hits = search.index.search(question, limit);
        let mut lines: Vec<String> =
            hits.iter().filter_map(|hit| self.tools.get(hit.position)).map(found_line).collect();
        let [_, describes, calls] = &search.functions;
        if lines.is_empty() {
            return Ok(format!("No tool fits. Try other words. {}", servers(&self.tools)));
        }
        lines.push(format!("{} says what one of them takes, {} calls it.", describes.name, calls.name));
        Ok(lines.join("\n"))
    }

    fn inner_call(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Answer> {
        let tool = self.named(search, arguments)?;
        let inner = match arguments.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(Value::Object(inner)) => Value::Object(inner.clone()),
            // Some models write the object as a text.
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(inner)) => Value::Object(inner),
                _ => return Err(wrong("`arguments` has to be an object")),
            },
            Some(_) => return Err(wrong("`arguments` has to be an object")),
        };
        Ok(Answer::Call { name: tool.name.clone(), arguments: inner.into() })
    }

    fn named(&self, search: &Search, arguments: &Map<String, Value>) -> Result<&OfferedTool> {
        let name = text(arguments, "name")?;
        let exact = self.tools.iter().find(|tool| tool.name == name);
        exact.or_else(|| self.tools.iter().find(|tool| tool.is_called(name))).ok_or_else(|| {
            let error = Error::new(ErrorKind::UnknownTool, format!("there is no tool `{name}`"));
            match nearest(name, self.tools.iter().map(|tool| tool.name.as_str())).as_slice() {
                [] => error.hinting(format!("find tools with {}", search.functions[0].name)),
                names => error.hinting(format!("did you mean `{}`?", names.join("`, `"))),
            }
        })
    }
}

/// Whether so much is too much to have in view.
fn is_above(threshold: Option<usize>, tokens: usize, tools: usize) -> bool {
    match threshold {
        None => tokens > SEARCH_ABOVE_TOKENS_COUNT || tools > SEARCH_ABOVE_TOOLS_COUNT,
        Some(threshold) if threshold < TOKENS_FROM => tools > threshold,
        Some(threshold) => tokens > threshold,
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    let text = arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    text.ok_or_else(|| wrong(&format!("`{name}` is missing or not a text")))
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidArguments, what.to_owned())
}

/// The declarations of our functions, by names that no tool has.
fn functions(tools: &[OfferedTool]) -> [Function; 3] {
    let taken: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let [searches, describes, calls] =
        ["search_tools", "describe_tool", "call_tool"].map(|name| free_name(name, |name| taken.contains(name)));
    let name = json!({"type": "string", "description": format!("The name of the tool, as {searches} gives it.")});
    let search = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do, in a few words."},
            "limit": {"type": "integer", "description": format!("How many tools to name, {FOUND_TOOLS_COUNT} when left out, at most {FOUND_TOOLS_MAX}.")},
        },
        "required": ["query"],
    });
    let describe = json!({"type": "object", "properties": {"name": name}, "required": ["name"]});
    let call = json!({
        "type": "object",
        "properties": {"name": name, "arguments": {"type": "object", "description": "What the tool takes, by its schema."}},
        "required": ["name", "arguments"],
    });
    let about_search = format!(
        "Finds tools by what they do. {} Look here before you say that something cannot be done.",
        servers(tools)
    );
    let about_describe =
        "Says what a tool does and gives the schema of its arguments. Ask before the first call of a tool.";
    let about_call = "Calls a tool that is not declared here.";
    let function = |name: String, description: &str, input_schema: Value| Function {
        name,
        description: description.to_owned(),
        input_schema,
    };
    [
        function(searches, &about_search, search),
        function(describes, about_describe, describe),
        function(calls, about_call, call),
    ]
}

/// Whose tools there are.
fn servers(tools: &[OfferedTool]) -> String {
    let mut seen = HashSet::new();
    let servers: Vec<&str> = tools.iter().map(|tool| &*tool.server).filter(|server| seen.insert(*server)).collect();
    let more = servers.len().saturating_sub(NAMED_SERVERS_MAX);
    let named = servers.iter().take(NAMED_SERVERS_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("There are {} tools of these servers: {named}{more}.", tools.len())
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
