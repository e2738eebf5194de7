//! `Spellings`: the names by which a restriction knows one tool of one server, each worked out at most once.

use std::cell::OnceCell;

use crate::shown_name::{spellings, spellings_with_server};

/// The names of one tool and its server, as a restriction compares them.
#[derive(Clone, Debug)]
pub(super) struct Spellings<'a> {
    server: &'a str,
    tool: &'a str,
    of_server: OnceCell<Vec<String>>,
    of_tool: OnceCell<Vec<String>>,
    of_both: OnceCell<Vec<String>>,
}

impl<'a> Spellings<'a> {
    pub(super) fn new(server: &'a str, tool: &'a str) -> Self {
        Self { server, tool, of_server: OnceCell::new(), of_tool: OnceCell::new(), of_both: OnceCell::new() }
    }

    /// The tool's own name.
    pub(super) fn tool(&self) -> &'a str {
        self.tool
    }

    /// What the server is called.
    pub(super) fn of_server(&self) -> &[String] {
        self.of_server.get_or_init(|| spellings(self.server))
    }

    /// What the tool is called.
    pub(super) fn of_tool(&self) -> &[String] {
        self.of_tool.get_or_init(|| spellings(self.tool))
    }

    /// What the tool is called where it is shown with its server.
    pub(super) fn of_both(&self) -> &[String] {
        self.of_both.get_or_init(|| spellings_with_server(self.server, self.tool))
    }
}
