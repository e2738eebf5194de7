//! The model in front of a [`toolgate::Host`]: which tools it is offered and in which words, and the turns in which it uses them.
//!
//! [`config`] (which model, read from settings) → [`model`] (somebody who answers, on [`provider`]'s wire format) → [`conversation`]: for each
//! input of the person the catalog becomes an offer ([`declare`]), the answer is read as it streams in, its calls go through the host, and their
//! results go back, until the model is done. [`event`] is what a front end hears of it; [`own_function`] what is answered here instead of by a
//! server.

pub mod provider;

mod route;

pub mod config;

pub mod declare;

pub mod own_function;

mod offer;
mod read_result;
mod resource_function;
mod system;

mod answer;
mod arguments;
mod chat_calls;
mod frames;
mod trouble;
mod web;

pub mod model;

pub mod event;
pub mod input;
pub mod usage;

mod history;
mod tool_use;

pub mod conversation;

pub mod error;
pub mod limits;

pub use config::{ModelConfig, Retry};
pub use conversation::Conversation;
pub use error::{ModelError, ModelErrorKind};
pub use event::{CallEnding, CallNews, TurnEnd, TurnEvent, TurnEvents, TurnReport};
pub use input::{Input, InputPart};
pub use model::Model;
pub use own_function::{OwnAnswer, OwnFunction, Within};
pub use provider::Provider;
pub use usage::TokenUsage;
