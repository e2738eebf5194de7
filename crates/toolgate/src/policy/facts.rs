//! `CallFacts`: all that a rule may look at.

use std::path::Path;

use serde_json::Value;

use super::decision::Mode;
use crate::asker::Asker;
use crate::filter::Arguments;
use crate::server_name::ServerName;

/// All that a rule may look at.
#[derive(Clone, Copy, Debug)]
pub struct CallFacts<'a> {
    /// Whose tool.
    pub server: &'a ServerName,
    /// Which built-in server that is, when it is one. What a server calls itself proves nothing.
    pub builtin: Option<&'a str>,
    /// What its server calls it.
    pub tool: &'a str,
    /// With what.
    pub arguments: &'a Arguments<'a>,
    /// What its server says about it: an object, or null.
    pub annotations: &'a Value,
    /// How much is let through without a question.
    pub mode: Mode,
    /// Whether somebody can be asked.
    pub presence: Presence,
    /// Who asks.
    pub asker: Asker,
    /// Which sub-agent asks, when one does.
    pub subagent: Option<&'a str>,
    /// The folder the work is about; paths in conditions start here.
    pub folder: &'a Path,
    /// Whether that folder is trusted.
    pub folder_is_trusted: bool,
    /// What the person allowed before, when that covers the call.
    pub remembered: Option<Remembered<'a>>,
}

/// All that is known of a tool before it is called.
#[derive(Clone, Copy, Debug)]
pub struct ToolFacts<'a> {
    /// Whose tool.
    pub server: &'a ServerName,
    /// Which built-in server that is, when it is one.
    pub builtin: Option<&'a str>,
    /// What its server calls it.
    pub tool: &'a str,
    /// What its server says about it: an object, or null.
    pub annotations: &'a Value,
    /// How much is let through without a question.
    pub mode: Mode,
    /// Whether somebody can be asked.
    pub presence: Presence,
    /// Who would ask.
    pub asker: Asker,
    /// Which sub-agent would, when one does.
    pub subagent: Option<&'a str>,
    /// What the person allowed before, when that covers some call of it.
    pub remembered: Option<Remembered<'a>>,
}

/// Whether somebody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Yes.
    Interactive,
    /// No: a question is a refusal.
    Headless,
}

/// What the person allowed before. It outranks what toolgate brings, and nothing that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered<'a> {
    /// Which grant.
    pub grant: &'a str,
    /// Whether it was given for exactly these arguments.
    pub is_for_these_arguments: bool,
}
