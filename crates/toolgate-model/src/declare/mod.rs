//! Tools in the words of a provider: function declarations that it accepts, and the way back from the arguments its model gives.
//!
//! The flow of one tool: `source` (the text of its schema) → `references` → `read` (a `shape` without references; `keywords`, `merge` and
//! `union` are its parts) → `root` (one object) → `write` and `object` (in the keywords of a `dialect`) → [`Declaration`], whose `plan`
//! restores arguments. All of it is pure, bounded by `limits`, and the same for the same tools.

mod limits;

mod dialect;
mod names;
mod source;

mod references;
mod shape;

mod keywords;
mod merge;
mod read;
mod union;

mod root;

mod object;
mod plan;
mod write;

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::provider::Provider;
use dialect::Dialect;
use limits::{
    DECLARATION_BYTES_MAX, DECLARATIONS_BYTES_MAX, FUNCTION_DESCRIPTION_CHARS_MAX, SHORT_DESCRIPTION_CHARS_MAX,
};
use plan::Plan;
use read::Reader;
use references::References;
use root::{Root, WRAPPED_KEY};
use shape::{Ledger, shortened};
use source::Source;
use write::Writer;

/// A tool that is to be declared.
#[derive(Debug, Clone, Copy)]
pub struct ToolSource<'a> {
    /// The name it is called by in this host.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// The JSON text of the schema of its arguments, however it is nested.
    pub schema: &'a str,
}

/// A function as a provider is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// The tool it stands for, by the name in this host.
    pub tool: String,
    /// The name of the function: the same, as far as the provider takes it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments; `None` for a function without any, where the provider wants that left out.
    pub parameters: Option<Value>,
    /// Whether arguments that the declaration allows may still be refused by the schema of the tool.
    pub is_loosened: bool,
    plan: Plan,
    is_wrapped: bool,
}

/// A tool that is not declared, with the reason for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The tool, by the name in this host.
    pub tool: String,
    /// Why, as the rest of a sentence about the tool.
    pub reason: String,
}

/// What became of several tools. Both lists are in the order of the tools.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declarations {
    /// Those that the provider is told about.
    pub accepted: Vec<Declaration>,
    /// Those that it is not told about; they never take others with them.
    pub quarantined: Vec<Quarantined>,
}

/// Arguments that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentsError {
    tool: String,
    found: &'static str,
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the arguments of `{}` are {}, not a JSON object", self.tool, self.found)
    }
}

impl std::error::Error for ArgumentsError {}

/// Declares tools to a provider, within its limits. Tools that stand first are declared first.
#[must_use]
pub fn declare<'a>(provider: Provider, tools: impl IntoIterator<Item = ToolSource<'a>>) -> Declarations {
    let dialect = Dialect::of(provider);
    let mut declarations = Declarations::default();
    let mut names: HashSet<String> = HashSet::new();
    let mut bytes_left = DECLARATIONS_BYTES_MAX;
    for tool in tools {
        let declared = if declarations.accepted.len() >= dialect.functions_max {
            Err(format!("{} takes at most {} functions", dialect.provider, dialect.functions_max))
        } else {
            declare_one(dialect, &tool)
        };
        let declared = declared.and_then(|declaration| {
            let bytes = declaration.bytes();
            if names.contains(&declaration.name) {
                return Err(format!("another tool is declared as `{}` already", declaration.name));
            }
            if bytes > bytes_left {
                let most = DECLARATIONS_BYTES_MAX / 1024;
                return Err(format!(
                    "the tools before it leave no room: all declarations together have at most {most} KB"
                ));
            }
            bytes_left -= bytes;
            names.insert(declaration.name.clone());
            Ok(declaration)
        });
        match declared {
            Ok(declaration) => declarations.accepted.push(declaration),
            Err(reason) => declarations.quarantined.push(Quarantined { tool: tool.name.to_owned(), reason }),
        }
    }
    declarations
}

/// What a provider can be told for a name: the same, as far as it takes its letters.
pub(crate) fn function_name(provider: Provider, name: &str) -> String {
    Dialect::of(provider).names.function(name)
}

impl Declarations {
    /// The declaration of a function that a model calls.
    #[must_use]
    pub fn find(&self, function: &str) -> Option<&Declaration> {
        self.accepted.iter().find(|declaration| declaration.name == function)
    }
}

impl Declaration {
    /// The arguments of the tool from those of the function. What a model often gets wrong is put right: an object or a list written as a
    /// text, `null` for something that can be left out. Whether they are valid is for the schema of the tool to say.
    ///
    /// # Errors
    ///
    /// When they are no object.
    pub fn restore(&self, arguments: Value) -> Result<Value, ArgumentsError> {
        let arguments = match arguments {
            Value::Null => Value::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
            arguments => arguments,
        };
        match self.plan.restore(arguments) {
            Value::Object(mut map) if self.is_wrapped => Ok(map.remove(WRAPPED_KEY).unwrap_or(Value::Object(map))),
            Value::Object(map) => Ok(Value::Object(map)),
            other => Err(ArgumentsError { tool: self.tool.clone(), found: a_kind(&other) }),
        }
    }

    /// Its size as it is sent, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let parameters = self.parameters.as_ref().map_or(0, |parameters| parameters.to_string().len());
        self.name.len() + self.description.len() + parameters
    }
}

fn a_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// One declaration, with as many levels as there is room for.
fn declare_one(dialect: &'static Dialect, tool: &ToolSource<'_>) -> Result<Declaration, String> {
    let source = source::read(tool.schema)?;
    let references = References::of(&source.schema);
    let fewer = [8, 5, 3, 2, 1].into_iter().filter(|levels| *levels < dialect.levels_max);
    let mut bytes = 0;
    let mut deepest = usize::MAX;
    for (number, levels) in std::iter::once(dialect.levels_max).chain(fewer).enumerate() {
        // The second attempt has shorter words; further ones only make sense with fewer levels than there are.
        if number > 1 && levels > 1 && levels >= deepest {
            continue;
        }
        let mut ledger = Ledger::new();
        ledger.is_loosened = source.is_cut;
        ledger.is_last_attempt = levels == 1;
        if number > 0 {
            ledger.description_chars_max = SHORT_DESCRIPTION_CHARS_MAX;
        }
        let declaration = attempt(dialect, tool, (&source, &references), (&mut ledger, levels))?;
        deepest = ledger.deepest;
        let Some(declaration) = declaration else { continue };
        bytes = declaration.bytes();
        if bytes <= DECLARATION_BYTES_MAX {
            return Ok(declaration);
        }
    }
    let (found, most) = (bytes.div_ceil(1024), DECLARATION_BYTES_MAX / 1024);
    Err(format!("its declaration has {found} KB, even without what is nested in it; at most {most} KB are sent"))
}

/// A declaration of some levels; `None` when it has too many parts.
fn attempt(
    dialect: &'static Dialect,
    tool: &ToolSource<'_>,
    (source, references): (&Source, &References<'_>),
    (ledger, levels): (&mut Ledger, usize),
) -> Result<Option<Declaration>, String> {
    let shape = Reader::new(references, ledger, levels).document(&source.schema);
    if ledger.has_failed() {
        return Ok(None);
    }
    let root = Root::of(shape, ledger).ok_or("no arguments at all satisfy its schema")?;
    let mut words = root.words;
    // The description of the whole is that of the function; servers that have one in both places say the same twice.
    let (description, rest) = split(tool.description, words.description.take(), dialect);
    words.description = rest;
    words.title = None;
    let mut writer = Writer { dialect, ledger };
    let (parameters, plan) = writer.arguments(&root.object, words);
    Ok(Some(Declaration {
        tool: tool.name.to_owned(),
        name: dialect.names.function(tool.name),
        description,
        parameters,
        is_loosened: writer.ledger.is_loosened,
        plan,
        is_wrapped: root.is_wrapped,
    }))
}

/// What stands in the description of the function, and what only has room in that of its parameters.
fn split(tool: &str, schema: Option<String>, dialect: &Dialect) -> (String, Option<String>) {
    let whole = shortened(tool.trim(), FUNCTION_DESCRIPTION_CHARS_MAX);
    let schema = schema.filter(|schema| !whole.contains(schema.as_str()));
    let whole = if whole.is_empty() { schema.clone().unwrap_or_default() } else { whole };
    let schema = schema.filter(|schema| *schema != whole);
    if whole.chars().count() <= dialect.description_chars_max {
        return (whole, schema);
    }
    let most = dialect.description_chars_max - 1;
    let beginning: String = whole.chars().take(most).collect();
    let end = beginning.rfind(char::is_whitespace).filter(|end| *end > beginning.len() / 2).unwrap_or(beginning.len());
    let (first, rest) = whole.split_at(end);
    let rest = format!("…{rest}");
    let rest = schema.map_or(rest.clone(), |schema| format!("{rest}\n\n{schema}"));
    (format!("{}…", first.trim_end()), Some(rest))
}
