//! `ServerCatalog`: what one server offers, after the lists of the settings: what is shown, what is hidden and what cannot be used, with the
//! reasons.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_wire::view::{Prompt, Resource, ResourceTemplate, Tool};

use crate::connect::{Connection, Kind};
use crate::discovery::Problem;
use crate::discovery::line::{Line, Live};
use crate::discovery::offered::{Offered, OfferedList, UnusableEntry};
use crate::error::Error;
use crate::filter::{STRICT_REASON, Strictness, ToolFilter, Visibility};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;

/// Everything one server offers, at one moment.
#[derive(Debug, Clone)]
pub struct ServerCatalog {
    /// The way to it.
    pub line: Line,
    /// Who said so; nobody when it is what was kept of an earlier run.
    pub said_by: Option<Connection>,
    /// The same before the lists of the settings.
    pub offered: Arc<Offered>,
    /// What its lists say about its tools and the calls of them.
    pub filter: Arc<ToolFilter>,
    /// Its tools, in its order, without those that are hidden.
    pub tools: Vec<Arc<Tool>>,
    /// Its prompts.
    pub prompts: Vec<Arc<Prompt>>,
    /// Its resources.
    pub resources: Vec<Arc<Resource>>,
    /// Its resource templates.
    pub templates: Vec<Arc<ResourceTemplate>>,
    /// What could not be used.
    pub quarantined: Vec<Quarantined>,
    /// What its lists hide.
    pub filtered: Vec<Filtered>,
    /// What went wrong without being the end of it: a list that could not be read, a server that offers nothing.
    pub problems: Vec<Problem>,
}

/// An entry that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// Whose entry.
    pub server: ServerName,
    /// `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    /// What it calls itself, if that can be told.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// A tool that is not shown.
#[derive(Debug, Clone)]
pub struct Filtered {
    /// Whose tool.
    pub server: ServerName,
    /// Its own name.
    pub tool: String,
    /// The rule that hides the tool, with its place.
    pub reason: String,
}

fn filter_of(server: &ServerConfig) -> ToolFilter {
    let strictness = if server.strict.is_some() { Strictness::Strict } else { Strictness::Open };
    let of = if server.transport.builtin().is_some() { ToolFilter::of_built_in } else { ToolFilter::of };
    of(server.include_tools.as_deref(), &server.exclude_tools, strictness)
}

impl ServerCatalog {
    /// What a server that is there offers.
    pub(crate) fn of_live(line: &Line, live: &Live) -> Self {
        Self::new(line, Some(live.connection.clone()), live.offered.clone(), Vec::new())
    }

    /// What a server offers, as it said over `said_by`.
    pub(crate) fn new(line: &Line, said_by: Option<Connection>, offered: Arc<Offered>, problems: Vec<Problem>) -> Self {
        let mut catalog = Self {
            line: line.clone(),
            said_by,
            offered,
            filter: Arc::new(filter_of(line.config())),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            quarantined: Vec::new(),
            filtered: Vec::new(),
            problems,
        };
        let offered = catalog.offered.clone();
        let tools = catalog.usable("tool", offered.tools.as_ref(), |tool| &tool.name);
        catalog.take_tools(tools);
        catalog.prompts = catalog.usable("prompt", offered.prompts.as_ref(), |prompt| &prompt.name);
        catalog.resources = catalog.usable("resource", offered.resources.as_ref(), |resource| &resource.uri);
        catalog.templates = catalog.usable("template", offered.templates.as_ref(), |template| &template.uri_template);
        catalog
    }

    /// Whose offer it is.
    pub fn server(&self) -> &ServerName {
        self.line.server()
    }

    /// How it wants to be used.
    pub fn instructions(&self) -> Option<&str> {
        self.offered.instructions.as_deref()
    }

    /// The same with one list as it is now, or with what went wrong when it was read.
    pub(crate) fn updated(&self, offered: Arc<Offered>, kind: Kind, problem: Option<Error>) -> Self {
        let is_other = |problem: &&Problem| problem.kind.is_some_and(|of| of != kind);
        let others = self.problems.iter().filter(is_other).cloned();
        let problem = problem.map(|error| Problem { kind: Some(kind), error });
        Self::new(&self.line, self.said_by.clone(), offered, others.chain(problem).collect())
    }

    /// What went wrong when a list was last read.
    pub(crate) fn problem_with(&self, kind: Kind) -> Option<&Error> {
        self.problems.iter().find(|problem| problem.kind == Some(kind)).map(|problem| &problem.error)
    }

    fn take_tools(&mut self, tools: Vec<Arc<Tool>>) {
        self.tools.reserve_exact(tools.len());
        for tool in tools {
            match self.filter.visibility(&tool.name) {
                Visibility::Shown => self.tools.push(tool),
                Visibility::Hidden(reason) => {
                    let (server, tool) = (self.server().clone(), tool.name.clone());
                    let config = self.line.config();
                    let origin = config.strict.as_ref().filter(|_| reason == STRICT_REASON).unwrap_or(&config.origin);
                    let reason = format!("{reason} ({origin})");
                    self.filtered.push(Filtered { server, tool, reason });
                }
            }
        }
    }

    /// What can be used of a list: entries of which each has a name of its own; the second of a name is set aside.
    fn usable<T>(
        &mut self,
        kind: &'static str,
        list: Option<&OfferedList<T>>,
        name: impl Fn(&T) -> &String,
    ) -> Vec<Arc<T>> {
        let Some(list) = list else { return Vec::new() };
        let server = self.server().clone();
        let quarantined = |UnusableEntry { name, reason }: &UnusableEntry| Quarantined {
            server: server.clone(),
            kind,
            name: name.clone(),
            reason: reason.clone(),
        };
        self.quarantined.extend(list.set_aside.iter().map(quarantined));
        let mut seen: HashSet<&str> = HashSet::with_capacity(list.entries.len());
        let mut once = Vec::with_capacity(list.entries.len());
        for entry in &list.entries {
            if seen.insert(name(entry)) {
                once.push(entry.clone());
                continue;
            }
            let reason = "the server lists this name twice; the first one counts".to_owned();
            let name = Some(name(entry).clone());
            self.quarantined.push(Quarantined { server: server.clone(), kind, name, reason });
        }
        once
    }
}
