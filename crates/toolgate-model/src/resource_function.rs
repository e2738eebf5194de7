//! `list_mcp_resources` and `read_mcp_resource`: the resources of servers, for a model that looks for itself. Offered while there are any.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use toolgate::call::FunctionDeclaration;
use toolgate::expose::attach::read_by_model;
use toolgate::expose::resource_tools::{ResourceTool, functions, list, wanted};
use toolgate::expose::{Function, Known};
use toolgate::limits::RESULT_CHARS_MAX;
use toolgate::{Catalog, Host, ServerName};

use crate::own_function::{OwnAnswer, OwnFunction, Within};

/// One of the two.
#[derive(Debug, Clone)]
pub(crate) struct ResourceFunction {
    does: ResourceTool,
    function: Function,
}

impl ResourceFunction {
    /// Both, by names that no tool has; none while there are no resources.
    pub(crate) fn all(catalog: &Catalog) -> impl Iterator<Item = Self> {
        let is_taken = |name: &str| catalog.tools().iter().any(|tool| tool.name.as_str() == name);
        functions(&Known::of(catalog, &[]), is_taken).into_iter().map(|(does, function)| Self { does, function })
    }
}

impl OwnFunction for ResourceFunction {
    fn name(&self) -> &str {
        &self.function.name
    }

    fn declaration(&self) -> FunctionDeclaration {
        let Function { name, description, input_schema } = self.function.clone();
        FunctionDeclaration { name, description, parameters: input_schema.into() }
    }

    fn answer<'a>(&'a self, within: Within<'a>, arguments: Map<String, Value>) -> BoxFuture<'a, OwnAnswer> {
        Box::pin(async move {
            let servers: Vec<ServerName> = within.host.servers().iter().map(|view| view.name().clone()).collect();
            let known = Known::of(within.catalog, &servers);
            let answer = match self.does {
                ResourceTool::List => list(&known, &arguments),
                ResourceTool::Read => match wanted(&known, &arguments) {
                    Ok((server, uri)) => read(within.host, &server, &uri).await,
                    Err(error) => Err(error),
                },
            };
            answer.map_or_else(|error| OwnAnswer::failed(&error), OwnAnswer::Quoted)
        })
    }
}

/// What a resource says. Of one that is long the beginning, and where the rest can be read.
async fn read(host: &Host, server: &ServerName, uri: &str) -> toolgate::Result<String> {
    let result = host.read_resource(server, uri).await?;
    let text = read_by_model(&result);
    let Some((end, _)) = text.char_indices().nth(RESULT_CHARS_MAX) else { return Ok(text) };
    let bytes = text.len();
    let start = text.get(..end).unwrap_or_default().to_owned();
    let store = host.calls().results().cloned();
    let kept = match store {
        Some(store) => tokio::task::spawn_blocking(move || store.keep(text.as_bytes())).await.ok().and_then(Result::ok),
        None => None,
    };
    let rest = kept.map_or_else(
        || "the rest is not kept".to_owned(),
        |handle| format!("read on with read_result, handle {handle}, offset {end}"),
    );
    Ok(format!("{start}\n[These are the first {end} of {bytes} bytes; {rest}.]"))
}
