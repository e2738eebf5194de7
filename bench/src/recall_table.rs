//! The recall table (`bench/recall`) as data: a catalogue of tools, and questions with the tool that is meant.

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate::ServerName;
use toolgate::expose::{OfferedTool, SearchIndex};
use toolgate_wire::view::{Entry, Tool};

/// One tool of the catalogue.
#[derive(Debug)]
pub(crate) struct TableTool {
    /// Whose it is.
    pub(crate) server: String,
    /// What its server calls it.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: Option<String>,
    /// What it does.
    pub(crate) description: String,
    /// What it takes, as JSON Schema.
    pub(crate) input_schema: Value,
}

/// One question and its answer.
#[derive(Debug)]
pub(crate) struct TableQuery {
    /// `server/tool`.
    pub(crate) meant: String,
    /// In somebody's words.
    pub(crate) words: String,
}

/// Why the table cannot be used.
pub(crate) type Problem = Box<dyn std::error::Error + Send + Sync>;

/// The catalogue, server by server in the order of their names.
pub(crate) fn tools() -> Result<Vec<TableTool>, Problem> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder().join("tools"))?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let server = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        for line in fs::read_to_string(&file)?.lines() {
            tools.push(tool(server, line).ok_or_else(|| format!("{}: not a tool: {line}", file.display()))?);
        }
    }
    Ok(tools)
}

/// The questions, in the order in which they are written.
pub(crate) fn queries() -> Result<Vec<TableQuery>, Problem> {
    let text = fs::read_to_string(folder().join("queries.txt"))?;
    let query = |line: &str| {
        let (meant, words) = line.split_once(" | ")?;
        Some(TableQuery { meant: meant.to_owned(), words: words.to_owned() })
    };
    text.lines().map(|line| query(line).ok_or_else(|| format!("not a question: {line}").into())).collect()
}

/// The catalogue as servers would list it.
pub(crate) fn wire_tools() -> Result<Vec<(String, Arc<Tool>)>, Problem> {
    let entry = |tool: TableTool| {
        let TableTool { server, name, title, description, input_schema } = tool;
        let entry = json!({"name": name, "title": title, "description": description, "inputSchema": input_schema});
        Ok((server, Arc::new(Tool::read(entry.into())?)))
    };
    tools()?.into_iter().map(entry).collect()
}

/// The catalogue as a model may be offered it.
pub(crate) fn offered() -> Result<Vec<OfferedTool>, Problem> {
    let offered = |(server, tool): (String, Arc<Tool>)| {
        let name = format!("{server}__{}", tool.name);
        Ok(OfferedTool { name, server: ServerName::new(&server)?, tool })
    };
    wire_tools()?.into_iter().map(offered).collect()
}

/// Every question with the place at which its tool is found, counted from 1; `None` when it is not among the first 50.
pub(crate) fn ranks() -> Result<Vec<(TableQuery, Option<usize>)>, Problem> {
    let tools = wire_tools()?;
    let index = SearchIndex::build(tools.iter().map(|(server, tool)| (server.as_str(), &**tool)));
    let rank = |query: TableQuery| {
        let found = index.search(&query.words, 50);
        let is_meant =
            |at: usize| tools.get(at).is_some_and(|(server, tool)| format!("{server}/{}", tool.name) == query.meant);
        let place = found.iter().position(|hit| is_meant(hit.position)).map(|at| at + 1);
        (query, place)
    };
    Ok(queries()?.into_iter().map(rank).collect())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recall")
}

fn tool(server: &str, line: &str) -> Option<TableTool> {
    let mut parts = line.split('|').map(str::trim);
    let (name, title, description) = (parts.next()?, parts.next()?, parts.next()?);
    let title = Some(title.to_owned()).filter(|title| !title.is_empty());
    let input_schema = schema(parts.next()?)?;
    let (server, name, description) = (server.to_owned(), name.to_owned(), description.to_owned());
    Some(TableTool { server, name, title, description, input_schema })
}

fn schema(parameters: &str) -> Option<Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let (marked, description) = parameter.split_once('=')?;
        let (marked, mut property) = if let Some(rest) = marked.strip_suffix("[]") {
            (rest, json!({"type": "array", "items": {"type": "string"}}))
        } else if let Some(rest) = marked.strip_suffix('#') {
            (rest, json!({"type": "number"}))
        } else if let Some(rest) = marked.strip_suffix('!') {
            (rest, json!({"type": "boolean"}))
        } else {
            (marked, json!({"type": "string"}))
        };
        let name = marked.strip_suffix('?').unwrap_or(marked);
        if name == marked {
            required.push(name.to_owned());
        }
        property.as_object_mut()?.insert("description".to_owned(), description.into());
        properties.insert(name.to_owned(), property);
    }
    Some(json!({"type": "object", "properties": properties, "required": required}))
}
