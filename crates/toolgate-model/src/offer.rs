//! `Offer`: the functions that a model may call in one request, in an order that stays, so that what providers keep of a request stays good.
//!
//! This is the one place where the catalog becomes functions: first those that toolgate answers itself, then the tools of servers in the order of
//! the catalog, or three functions that find them when they are too many to be in view. All of them are declared in the words of the provider.

use std::sync::Arc;

use genai::chat::Tool;
use serde_json::{Map, Value};
use toolgate::expose::{Answer, OfferedTool, ToolOffer};
use toolgate::registry::CatalogTool;
use toolgate::settings::ToolSearchSettings;
use toolgate::{Catalog, Host};

use crate::declare::{Declarations, Quarantined, ToolSource, declare};
use crate::own_function::{OwnAnswer, OwnFunction};
use crate::provider::Provider;

/// What a model may call in one request.
pub(crate) struct Offer<'a> {
    own: &'a [Arc<dyn OwnFunction>],
    made: Arc<Made>,
}

/// What is worked out once for as long as nothing changes.
struct Made {
    provider: Provider,
    names: Vec<String>,
    catalog: Arc<Catalog>,
    tools: ToolOffer,
    declarations: Declarations,
}

/// The offer of the last request: a catalog that did not change is not declared again.
#[derive(Default)]
pub(crate) struct LastOffer(Option<Arc<Made>>);

impl LastOffer {
    /// The tools that the provider was not told about, and why.
    pub(crate) fn quarantined(&self) -> &[Quarantined] {
        self.0.as_ref().map_or(&[], |made| &made.declarations.quarantined)
    }
}

/// What an offer is made of.
pub(crate) struct Offering<'a> {
    pub(crate) host: &'a Host,
    pub(crate) catalog: &'a Arc<Catalog>,
    pub(crate) provider: Provider,
    pub(crate) own: &'a [Arc<dyn OwnFunction>],
    pub(crate) search: &'a ToolSearchSettings,
}

impl<'a> Offering<'a> {
    /// What is offered now. Tools that policy hides are not.
    pub(crate) fn make(&self, last: &mut LastOffer) -> Offer<'a> {
        let shown = self.catalog.tools().iter().filter(|tool| self.host.why_hidden(self.catalog, tool).is_none());
        let tools: Vec<OfferedTool> =
            shown.map(|tool| OfferedTool { name: self.name(tool), ..OfferedTool::from(tool) }).collect();
        let own = self.own.iter().map(|own| own.name().to_owned());
        let names: Vec<String> = own.chain(tools.iter().map(|tool| tool.name.clone())).collect();
        let is_same = |made: &Arc<Made>| {
            made.provider == self.provider && made.names == names && Arc::ptr_eq(&made.catalog, self.catalog)
        };
        let made = match last.0.take().filter(is_same) {
            Some(made) => made,
            None => Arc::new(self.declared(tools, names)),
        };
        last.0 = Some(made.clone());
        Offer { own: self.own, made }
    }

    /// A function of ours goes first, and the tool that has its name is called by its longer one.
    fn name(&self, tool: &CatalogTool) -> String {
        let is_taken = self.own.iter().any(|own| own.name() == tool.name.as_str());
        if is_taken { tool.qualified_name() } else { tool.name.to_string() }
    }

    fn declared(&self, tools: Vec<OfferedTool>, names: Vec<String>) -> Made {
        let tools = ToolOffer::new(tools, self.search);
        let ours: Vec<_> = self.own.iter().map(|own| own.declaration()).collect();
        let finding: Vec<String> = tools.functions().iter().map(|function| function.input_schema.to_string()).collect();
        let own = ours.iter().map(|declared| ToolSource {
            name: &declared.name,
            description: &declared.description,
            schema: declared.parameters.as_str(),
        });
        let in_view = tools.declared().map(|tool| ToolSource {
            name: &tool.name,
            description: tool.tool.description.as_deref().unwrap_or_default(),
            schema: tool.tool.input_schema.as_ref().map_or(ANYTHING, |schema| schema.as_str()),
        });
        let found = tools.functions().iter().zip(&finding).map(|(function, schema)| ToolSource {
            name: &function.name,
            description: &function.description,
            schema,
        });
        // Those that find tools are declared last, and must not be what there is no room for.
        let mut declarations = declare(self.provider, own.chain(found).chain(in_view));
        let is_finding = |name: &str| tools.functions().iter().any(|function| function.name == name);
        declarations.accepted.sort_by_key(|declaration| is_finding(&declaration.tool));
        Made { provider: self.provider, names, catalog: self.catalog.clone(), tools, declarations }
    }
}

/// What a tool takes whose server does not say.
const ANYTHING: &str = r#"{"type":"object"}"#;

/// What a function that a model calls comes to.
pub(crate) enum Meant {
    /// A tool, and its arguments as it takes them. What is not offered may still be there, and then the host decides about it.
    Tool(String, Map<String, Value>),
    /// This answer, without a server.
    Answer(OwnAnswer),
}

impl Offer<'_> {
    /// The same for a request.
    pub(crate) fn declared(&self) -> Vec<Tool> {
        let declare = |declaration: &crate::declare::Declaration| {
            let tool = Tool::new(declaration.name.clone()).with_description(declaration.description.clone());
            match &declaration.parameters {
                Some(parameters) => tool.with_schema(parameters.clone()),
                None => tool,
            }
        };
        self.made.declarations.accepted.iter().map(declare).collect()
    }

    /// The names of all functions, and of the tools that are searched for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let declared = self.made.declarations.accepted.iter().map(|declaration| declaration.name.as_str());
        let searched = self.made.tools.is_searched().then(|| self.made.tools.tools().iter());
        declared.chain(searched.into_iter().flatten().map(|tool| tool.name.as_str()))
    }

    /// The function of ours that has that name.
    pub(crate) fn own(&self, name: &str) -> Option<&Arc<dyn OwnFunction>> {
        self.own.iter().find(|own| own.name() == name)
    }

    /// What is meant by a call of a function that is none of those which are answered with the host.
    ///
    /// # Errors
    /// What is wrong with the arguments, for the model.
    pub(crate) fn meant(&self, name: &str, arguments: Map<String, Value>) -> Result<Meant, String> {
        let Some(declaration) = self.made.declarations.find(name) else {
            return Ok(Meant::Tool(name.to_owned(), arguments));
        };
        let restored = declaration.restore(Value::Object(arguments)).map_err(|error| error.to_string())?;
        let Value::Object(arguments) = restored else {
            return Err(format!("the arguments of `{name}` are no object"));
        };
        match self.made.tools.answer(&declaration.tool, &arguments) {
            None => Ok(Meant::Tool(declaration.tool.clone(), arguments)),
            // Words of servers are marked in it already.
            Some(Ok(Answer::Text(text))) => Ok(Meant::Answer(OwnAnswer::Said(text))),
            Some(Ok(Answer::Call { name, arguments })) => match arguments.read() {
                Ok(Value::Object(arguments)) => Ok(Meant::Tool(name, arguments)),
                _ => Err(format!("the arguments of `{name}` are no object")),
            },
            Some(Err(error)) => Ok(Meant::Answer(OwnAnswer::failed(&error))),
        }
    }
}
