//! Why tools of a server are not there, or not under their own name.

use std::io::Result;

use toolgate::ServerName;
use toolgate::registry::{Catalog, CatalogTool};
use toolgate::shape::visible;

use crate::limits::LIKE_LINES_MAX;
use crate::listing::skipped;
use crate::printer::Printer;
use crate::talk::Talk;

/// How much is said about tools that are not as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explain {
    /// The first few that cannot be used.
    Little,
    /// The first few reasons of every kind, for a listing that shows no tool.
    Few,
    /// Everything: what cannot be used, what is hidden, what is called something else.
    All,
}

/// The reasons for one server, one sentence each.
#[derive(Debug)]
pub(crate) struct Reasons<'a> {
    server: &'a ServerName,
    explain: Explain,
    sentences: Vec<String>,
}

impl<'a> Reasons<'a> {
    /// Collects them. `tools` are those of this server that are shown.
    pub(crate) fn of(server: &'a ServerName, catalog: &Catalog, tools: &[&CatalogTool], explain: Explain) -> Self {
        let unusable = catalog.quarantined().filter(|one| one.kind == "tool" && one.server == *server);
        let mut sentences: Vec<String> = unusable.map(skipped).collect();
        if explain != Explain::Little {
            let hidden = catalog.filtered().filter(|one| one.server == *server);
            sentences.extend(hidden.map(|one| format!("tool {} hidden: {}", one.tool, one.reason)));
            let renamed = tools.iter().filter_map(|tool| Some((tool, tool.renamed.as_ref()?)));
            sentences
                .extend(renamed.map(|(tool, why)| format!("tool {} is called {}: {why}", tool.id.tool, tool.name)));
        }
        Self { server, explain, sentences }
    }

    /// The same with more, when everything is to be said.
    pub(crate) fn and(mut self, more: Vec<String>) -> Self {
        if self.explain != Explain::Little {
            self.sentences.extend(more);
        }
        self
    }

    /// Prints them below the tools.
    pub(crate) fn print(&self, printer: &mut Printer) -> Result<()> {
        for sentence in &self.sentences {
            let line = format!("  ({})", visible::line(sentence));
            let line = printer.paint().dim(line).to_string();
            printer.line(&line)?;
        }
        Ok(())
    }

    /// Says them. Without being asked, only so much is said.
    pub(crate) fn tell(&self, talk: &Talk) {
        let said = match self.explain {
            Explain::Little | Explain::Few => LIKE_LINES_MAX,
            Explain::All => self.sentences.len(),
        };
        let tell = |words: &str| talk.line(&visible::line(&format!("MCP server {}: {words}", self.server)));
        self.sentences.iter().take(said).for_each(|sentence| tell(sentence));
        if self.sentences.len() > said {
            tell(&format!("{} more, see `toolgate tools --all`", self.sentences.len() - said));
        }
    }
}
