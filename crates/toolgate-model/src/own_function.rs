//! `OwnFunction`: a function that is offered to models and answered by toolgate itself, beside the tools of servers.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use toolgate::call::FunctionDeclaration;
use toolgate::{Catalog, Error, Host};

/// A function that is answered here. It does nothing that has an effect: calls of tools go through the host.
pub trait OwnFunction: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// What models are told of it.
    fn declaration(&self) -> FunctionDeclaration;

    /// Answers. Dropping the future gives it up.
    fn answer<'a>(&'a self, within: Within<'a>, arguments: Map<String, Value>) -> BoxFuture<'a, OwnAnswer>;
}

/// What a function of ours may look at.
#[derive(Debug, Clone, Copy)]
pub struct Within<'a> {
    /// The host.
    pub host: &'a Host,
    /// What is offered in this request.
    pub catalog: &'a Catalog,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnAnswer {
    /// Our own words.
    Said(String),
    /// Words of somebody else, which the model is to take as data.
    Quoted(String),
    /// It cannot be done, and why.
    Failed(String),
    /// A tool is meant: it is called as if the model had called it by its name, through all the rules.
    Call {
        /// The name of the tool.
        name: String,
        /// With what.
        arguments: Map<String, Value>,
    },
}

impl OwnAnswer {
    /// It cannot be done, and what could be done instead.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Failed(error.hint().map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})")))
    }
}
