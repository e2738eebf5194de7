//! Every documented settings key, once, as data: what it takes, what holds without it, what it does, how layers come together.
//!
//! The reader looks every key up here before it reads it, and checks by it what no stage uses yet; the JSON Schema and the tables of the
//! settings page are printed from it. So there is no key that one of them knows and another does not.
//!
//! Reading order: [`key`] says what is known of one key, [`words`] which words some of them take; then the keys themselves, one file for
//! each part of a settings file.

pub(crate) mod key;
pub(crate) mod words;

mod server;
mod top;

mod access;
pub(crate) mod other_clients;

pub(crate) use access::{ENV_REDACTION, FOLDER_TRUST, SECURITY};
pub(crate) use key::{Key, Merge, Object, Preset, Shape, Standing, Unknown, find};
pub(crate) use other_clients::ADVANCED;
pub(crate) use server::SERVER;
pub(crate) use top::{MCP, SEARCH, TOOLS, TOP};

#[cfg(test)]
mod tests;
