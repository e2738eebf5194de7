//! Names: what a tool is called on the wire (`ToolId`) and how it is shown (`ExposedName`). Pure, and the same on every run.
//!
//! A tool keeps its own name, cleaned. On a collision the later one, in the order of the settings, is `server__tool`. What would still clash
//! gets a short hash. Every tool can also be called `server__tool`, so no tool may be *shown* under a name of that form that means another.
//! While an earlier server may still claim the name of a tool, it is shown as `server__tool`, which nobody can take away.

use std::fmt;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};

use crate::server_name::ServerName;
pub(crate) use crate::shown_name::{BETWEEN, clean, qualified};
use crate::shown_name::{prefixed, with_hash};

/// The identity of a tool: what is sent back to its server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId {
    /// Whose tool.
    pub server: ServerName,
    /// Its name on the wire.
    pub tool: Arc<str>,
}

/// The name shown to models and people: letters, digits, `_`, `.` and `-`, at most 63 of them, unique in its catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExposedName(Arc<str>);

impl ExposedName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExposedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for ExposedName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// How tools are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// Their own name; `server__tool` on a collision.
    #[default]
    Short,
    /// `mcp_server_tool` for all of them.
    Qualified,
}

/// Whether a tool or prompt can be given its name for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Every server before its own has said what it offers.
    Firm,
    /// One of them has not.
    Open,
}

/// Whether what a server offers can be given names for good: other servers may have said the one and not the other yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) tools: Claim,
    pub(crate) prompts: Claim,
}

impl Claims {
    pub(crate) const FIRM: Self = Self { tools: Claim::Firm, prompts: Claim::Firm };
}

/// The names given so far. A name once given stays with its tool or prompt.
#[derive(Debug, Clone, Default)]
pub struct NameBook {
    /// Each tool is named once, so nobody asks for its name again.
    is_for_once: bool,
    names: HashMap<ToolId, ExposedName>,
    taken: HashMap<ExposedName, ToolId>,
    prompts: HashMap<ToolId, Arc<str>>,
    prompts_taken: HashMap<Arc<str>, ToolId>,
}

/// All servers, also those that offer nothing yet, with what the qualified names of their tools begin with.
#[derive(Debug)]
pub(crate) struct Prefixes(HashMap<String, Vec<ServerName>>);

impl Prefixes {
    pub(crate) fn of<'a>(servers: impl Iterator<Item = &'a ServerName>) -> Self {
        let mut prefixes: HashMap<String, Vec<ServerName>> = HashMap::new();
        for server in servers {
            prefixes.entry(clean(server).into_owned()).or_default().push(server.clone());
        }
        Self(prefixes)
    }

    /// The server other than `own` that `name` would read like a tool of.
    fn read_in(&self, name: &str, own: &ServerName) -> Option<&ServerName> {
        // Underscores in a row can be divided in more than one way.
        let pairs = name.as_bytes().windows(BETWEEN.len()).enumerate();
        let places = pairs.filter(|(_, pair)| *pair == BETWEEN.as_bytes()).map(|(at, _)| at);
        let before = places.filter(|at| at + BETWEEN.len() < name.len()).filter_map(|at| name.get(..at));
        before.filter_map(|prefix| self.0.get(prefix)).flatten().find(|server| *server != own)
    }
}

/// A name and how it came about.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) id: ToolId,
    pub(crate) name: ExposedName,
    /// Why it is not simply the tool's own name.
    pub(crate) why: Option<Why>,
}

/// Why a tool is shown under another name than its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Characters that names may not have, or too many of them.
    Cleaned,
    /// Another tool has the name.
    Taken(ToolId),
    /// The name reads like a tool of that server.
    ReadsLike(ServerName),
    /// A server that stands before its own has not said yet whether it has that name.
    Open,
    /// All names are qualified.
    Qualified,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cleaned => f.write_str("its own name is too long or has characters that names may not have"),
            Self::Taken(by) => write!(f, "`{}` has that name", by.server),
            Self::ReadsLike(server) => write!(f, "its own name reads like a tool of `{server}`"),
            Self::Open => f.write_str("a server that is still starting may have that name"),
            Self::Qualified => f.write_str("names are qualified"),
        }
    }
}

impl NameBook {
    /// A book for one catalog.
    pub(crate) fn for_once() -> Self {
        Self { is_for_once: true, ..Self::default() }
    }

    /// Makes room for this many names in all.
    pub(crate) fn expect(&mut self, count: usize) {
        if !self.is_for_once {
            self.names.reserve(count.saturating_sub(self.names.len()));
        }
        self.taken.reserve(count.saturating_sub(self.taken.len()));
    }

    /// Names a tool. Those that come first have the first choice.
    pub(crate) fn name(
        &mut self,
        (naming, claim): (Naming, Claim),
        servers: &Prefixes,
        server: &ServerName,
        tool: &str,
    ) -> Named {
        let id = ToolId { server: server.clone(), tool: tool.into() };
        let given = self.names.get(&id).cloned();
        let is_final = given.is_some() || claim == Claim::Firm;
        let name = given.unwrap_or_else(|| {
            let name = ExposedName(self.choose((naming, claim), servers, &id).into());
            // Whatever it is called later: nobody else is ever called this.
            self.taken.insert(name.clone(), id.clone());
            if is_final && !self.is_for_once {
                self.names.insert(id.clone(), name.clone());
            }
            name
        });
        let why = self.why((naming, is_final), servers, &id, &name);
        Named { name, why, id }
    }

    fn choose(&self, (naming, claim): (Naming, Claim), servers: &Prefixes, id: &ToolId) -> String {
        let ToolId { server, tool } = id;
        let is_free = |name: &str| self.taken.get(name).is_none_or(|by| by == id);
        let is_clear = |name: &str| naming == Naming::Qualified || servers.read_in(name, server).is_none();
        if (naming, claim) == (Naming::Short, Claim::Firm) {
            let own = clean(tool);
            if is_free(&own) && is_clear(&own) {
                return own.into_owned();
            }
        }
        let with_server = match naming {
            Naming::Short => qualified(server, tool),
            Naming::Qualified => prefixed(server, tool),
        };
        if is_free(&with_server) && is_clear(&with_server) {
            return with_server;
        }
        let hashed = |round| with_hash(&with_server, server, tool, round);
        (0..).map(hashed).find(|name| is_free(name)).unwrap_or_default()
    }

    fn why(
        &self,
        (naming, is_final): (Naming, bool),
        servers: &Prefixes,
        id: &ToolId,
        name: &ExposedName,
    ) -> Option<Why> {
        if name.as_str() == &*id.tool {
            return None;
        }
        if naming == Naming::Qualified {
            return Some(Why::Qualified);
        }
        let first = clean(&id.tool);
        if name.as_str() == &*first {
            return Some(Why::Cleaned);
        }
        match self.taken.get(&*first) {
            Some(by) if by != id => Some(Why::Taken(by.clone())),
            _ if !is_final => Some(Why::Open),
            _ => {
                Some(servers.read_in(&first, &id.server).map_or(Why::Cleaned, |server| Why::ReadsLike(server.clone())))
            }
        }
    }

    /// Names a prompt: its own name, or `server.prompt` when another has that or may still claim it. Names of prompts are not cleaned; no model
    /// sees them.
    pub(crate) fn name_prompt(&mut self, claim: Claim, server: &ServerName, prompt: &str) -> Arc<str> {
        let id = ToolId { server: server.clone(), tool: prompt.into() };
        if let Some(name) = self.prompts.get(&id) {
            return name.clone();
        }
        let first = if claim == Claim::Firm { 0 } else { 1 };
        let candidates = (first..).map(|round: u32| match round {
            0 => prompt.to_owned(),
            1 => qualified_prompt(server, prompt),
            _ => format!("{}.{round}", qualified_prompt(server, prompt)),
        });
        let is_free = |name: &Arc<str>| self.prompts_taken.get(name).is_none_or(|by| *by == id);
        let name = candidates.map(Arc::from).find(is_free).unwrap_or_default();
        self.prompts_taken.insert(name.clone(), id.clone());
        if claim == Claim::Firm {
            self.prompts.insert(id, name.clone());
        }
        name
    }
}

/// The name under which every prompt can be asked for.
pub(crate) fn qualified_prompt(server: &str, prompt: &str) -> String {
    format!("{server}.{prompt}")
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
