//! Names: what a tool is called on the wire (`ToolId`) and how it is shown (`ExposedName`). Pure, and the same on every run.
//!
//! A tool keeps its own name, cleaned. On a collision the later one, in the order of the settings, is `server__tool`. What would still clash
//! gets a short hash. Every tool can also be called `server__tool`, so no tool may be *shown* under a name of that form that means another.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::limits::EXPOSED_NAME_CHARS_MAX;
use crate::server_name::ServerName;

/// What is put between a server's name and a tool's.
pub(crate) const BETWEEN: &str = "__";

/// How much of the beginning and of the end of a long name is kept.
const KEPT_HEAD: usize = 28;
const KEPT_TAIL: usize = 32;

/// How many digits of a hash tell two names apart.
const HASH_DIGITS: usize = 8;

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

/// The names given so far. A name once given stays with its tool or prompt.
#[derive(Debug, Clone, Default)]
pub struct NameBook {
    names: HashMap<ToolId, ExposedName>,
    taken: HashMap<ExposedName, ToolId>,
    prompts: HashMap<ToolId, Arc<str>>,
    prompts_taken: HashSet<Arc<str>>,
}

/// All servers, also those that offer nothing yet, with what the qualified names of their tools begin with.
#[derive(Debug)]
pub(crate) struct Prefixes(Vec<(ServerName, String)>);

impl Prefixes {
    pub(crate) fn of<'a>(servers: impl Iterator<Item = &'a ServerName>) -> Self {
        Self(servers.map(|server| (server.clone(), format!("{}{BETWEEN}", clean(server)))).collect())
    }

    /// The server other than `own` that `name` would read like a tool of.
    fn read_in(&self, name: &str, own: &ServerName) -> Option<&ServerName> {
        if !name.contains(BETWEEN) {
            return None;
        }
        let is_read_in = |(server, prefix): &&(ServerName, String)| {
            server != own && name.strip_prefix(prefix.as_str()).is_some_and(|rest| !rest.is_empty())
        };
        self.0.iter().find(is_read_in).map(|(server, _)| server)
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
    /// All names are qualified.
    Qualified,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cleaned => f.write_str("its own name is too long or has characters that names may not have"),
            Self::Taken(by) => write!(f, "`{}` has that name", by.server),
            Self::ReadsLike(server) => write!(f, "its own name reads like a tool of `{server}`"),
            Self::Qualified => f.write_str("names are qualified"),
        }
    }
}

impl NameBook {
    /// Names tools in the order they are given.
    pub(crate) fn name_all<'a>(
        &mut self,
        naming: Naming,
        servers: &Prefixes,
        tools: impl Iterator<Item = (&'a ServerName, &'a str)>,
    ) -> Vec<Named> {
        tools.map(|(server, tool)| self.name(naming, servers, server, tool)).collect()
    }

    fn name(&mut self, naming: Naming, servers: &Prefixes, server: &ServerName, tool: &str) -> Named {
        let id = ToolId { server: server.clone(), tool: tool.into() };
        let name = match self.names.get(&id) {
            Some(name) => name.clone(),
            None => {
                let name = ExposedName(self.choose(naming, servers, &id).into());
                self.taken.insert(name.clone(), id.clone());
                self.names.insert(id.clone(), name.clone());
                name
            }
        };
        let why = self.why(naming, servers, &id, &name);
        Named { name, why, id }
    }

    fn choose(&self, naming: Naming, servers: &Prefixes, id: &ToolId) -> String {
        let ToolId { server, tool } = id;
        let is_free = |name: &String| !self.taken.contains_key(name.as_str());
        let candidates = match naming {
            Naming::Short => [Some(clean(tool)), Some(qualified(server, tool))],
            Naming::Qualified => [Some(clean(&format!("mcp_{server}_{tool}"))), None],
        };
        let is_clear = |name: &String| naming == Naming::Qualified || servers.read_in(name, server).is_none();
        let [first, last] = candidates.clone();
        let chosen = candidates.into_iter().flatten().find(|name| is_free(name) && is_clear(name));
        chosen.unwrap_or_else(|| {
            let base = last.or(first).unwrap_or_default();
            (0..).map(|round| with_hash(&base, id, round)).find(is_free).unwrap_or(base)
        })
    }

    fn why(&self, naming: Naming, servers: &Prefixes, id: &ToolId, name: &ExposedName) -> Option<Why> {
        if name.as_str() == &*id.tool {
            return None;
        }
        if naming == Naming::Qualified {
            return Some(Why::Qualified);
        }
        let first = clean(&id.tool);
        if name.as_str() == first {
            return Some(Why::Cleaned);
        }
        match self.taken.get(first.as_str()) {
            Some(by) if by != id => Some(Why::Taken(by.clone())),
            _ => {
                Some(servers.read_in(&first, &id.server).map_or(Why::Cleaned, |server| Why::ReadsLike(server.clone())))
            }
        }
    }

    /// Names a prompt: its own name, or `server.prompt` when another has that. Names of prompts are not cleaned; no model sees them.
    pub(crate) fn name_prompt(&mut self, server: &ServerName, prompt: &str) -> Arc<str> {
        let id = ToolId { server: server.clone(), tool: prompt.into() };
        if let Some(name) = self.prompts.get(&id) {
            return name.clone();
        }
        let candidates = (0_u32..).map(|round| match round {
            0 => prompt.to_owned(),
            1 => qualified_prompt(server, prompt),
            _ => format!("{}.{round}", qualified_prompt(server, prompt)),
        });
        let name: Arc<str> =
            candidates.map(Arc::from).find(|name| !self.prompts_taken.contains(name)).unwrap_or_default();
        self.prompts_taken.insert(name.clone());
        self.prompts.insert(id, name.clone());
        name
    }
}

/// The name under which every prompt can be asked for.
pub(crate) fn qualified_prompt(server: &str, prompt: &str) -> String {
    format!("{server}.{prompt}")
}

/// The name under which every tool can be called.
pub(crate) fn qualified(server: &str, tool: &str) -> String {
    clean(&format!("{server}{BETWEEN}{tool}"))
}

/// Only characters that names may have, and not too many of them.
pub(crate) fn clean(name: &str) -> String {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-');
    let cleaned: String = name.chars().map(|letter| if legal(letter) { letter } else { '_' }).collect();
    if cleaned.len() <= EXPOSED_NAME_CHARS_MAX {
        return cleaned;
    }
    // Only ASCII is left, so every byte is a character.
    let (head, tail) = (cleaned.get(..KEPT_HEAD), cleaned.get(cleaned.len() - KEPT_TAIL..));
    format!("{}___{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

/// A name made unlike all others by a hash of what it stands for.
fn with_hash(name: &str, id: &ToolId, round: u32) -> String {
    let mut hash = Fnv::default();
    for part in [id.server.as_bytes(), b"\0", id.tool.as_bytes(), b"\0", &round.to_le_bytes()] {
        hash.write(part);
    }
    let digits = format!("{:016x}", hash.0);
    let room = EXPOSED_NAME_CHARS_MAX - HASH_DIGITS - 1;
    let kept = name.get(..name.len().min(room)).unwrap_or_default();
    // Without two underscores in a row it cannot read like a tool of some server.
    let parts: Vec<&str> = kept.split('_').filter(|part| !part.is_empty()).collect();
    format!("{}_{}", parts.join("_"), digits.get(..HASH_DIGITS).unwrap_or_default())
}

/// FNV-1a, 64 bits: the same on every machine and in every version, which the hashes of the standard library are not.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
