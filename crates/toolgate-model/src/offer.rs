//! `Offer`: the functions that a model may call in one request, in an order that stays, so that what providers keep of a request stays good.
//!
//! This is the one place where the catalog becomes functions: first those that toolgate answers itself, then the tools of servers in the order of
//! the catalog. Schemas pass as servers wrote them.

use std::sync::Arc;

use genai::chat::Tool;
use serde_json::{Map, Value, json};
use toolgate::{Catalog, Host};

use crate::own_function::OwnFunction;
use crate::provider::Provider;

/// What a model may call in one request.
pub(crate) struct Offer<'a> {
    own: &'a [Arc<dyn OwnFunction>],
    functions: Vec<Function>,
}

/// A function as a model is told of it.
struct Function {
    name: String,
    /// The tool it stands for, by the name in this host.
    tool: String,
    description: String,
    parameters: Value,
}

impl<'a> Offer<'a> {
    /// What is offered now. Tools that policy hides are not.
    pub(crate) fn make(host: &Host, catalog: &Catalog, _provider: Provider, own: &'a [Arc<dyn OwnFunction>]) -> Self {
        let own_functions = own.iter().map(|own| own.declaration()).map(|declared| Function {
            tool: declared.name.clone(),
            name: declared.name,
            description: declared.description,
            parameters: declared.parameters.read().unwrap_or_else(|_| anything()),
        });
        let shown = catalog.tools().iter().filter(|tool| host.why_hidden(catalog, tool).is_none());
        // A function of ours goes first, and the tool that has its name is called by its longer one.
        let name = |tool: &toolgate::registry::CatalogTool| {
            let is_taken = own.iter().any(|own| own.name() == tool.name.as_str());
            if is_taken { tool.qualified_name() } else { tool.name.to_string() }
        };
        let tools = shown.map(|tool| Function {
            name: name(tool),
            tool: tool.name.to_string(),
            description: tool.description().unwrap_or_default().to_owned(),
            parameters: tool.input_schema().read().unwrap_or_else(|_| anything()),
        });
        Self { own, functions: own_functions.chain(tools).collect() }
    }

    /// The same for a request.
    pub(crate) fn declared(&self) -> Vec<Tool> {
        let declare = |function: &Function| {
            Tool::new(function.name.clone())
                .with_description(function.description.clone())
                .with_schema(function.parameters.clone())
        };
        self.functions.iter().map(declare).collect()
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name.as_str())
    }

    /// The function of ours that has that name.
    pub(crate) fn own(&self, name: &str) -> Option<&Arc<dyn OwnFunction>> {
        self.own.iter().find(|own| own.name() == name)
    }

    /// The tool that is meant by a function, and its arguments as the tool takes them. What is not offered may still be there, and then the host
    /// decides about it.
    ///
    /// # Errors
    /// What is wrong with the arguments, for the model.
    pub(crate) fn meant(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<(String, Map<String, Value>), String> {
        let function = self.functions.iter().find(|function| function.name == name);
        Ok((function.map_or(name, |function| &function.tool).to_owned(), arguments))
    }
}

/// For a schema that cannot be read.
fn anything() -> Value {
    json!({"type": "object"})
}
