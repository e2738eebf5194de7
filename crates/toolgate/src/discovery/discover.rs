//! A connection → everything its server offers. Lists are read at once, each page of them; what cannot be used is set aside with its reason.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolgate_wire::view::{EntryDefect, Listing, Prompt, Resource, ResourceTemplate, Tool};
use toolgate_wire::{Error as WireError, RpcError, Subscription, Watch};

use crate::connect::{Connection, Kind};
use crate::error::{Error, ErrorKind, Result};
use crate::filter::{Strictness, ToolFilter, Visibility};
use crate::limits::{DISCOVERY_MS, INSTRUCTIONS_CHARS_MAX};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;

/// What is looked for. A front end that only calls tools need not make servers list their prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// Tools.
    pub tools: bool,
    /// Prompts.
    pub prompts: bool,
    /// Resources and resource templates.
    pub resources: bool,
}

impl Interest {
    /// Everything.
    pub const ALL: Self = Self { tools: true, prompts: true, resources: true };
    /// Only tools.
    pub const TOOLS: Self = Self { tools: true, prompts: false, resources: false };
    /// Only prompts.
    pub const PROMPTS: Self = Self { tools: false, prompts: true, resources: false };
    /// Only resources.
    pub const RESOURCES: Self = Self { tools: false, prompts: false, resources: true };
    /// Nothing: only whether the servers are there.
    pub const NONE: Self = Self { tools: false, prompts: false, resources: false };

    pub(crate) const fn wants(self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.tools,
            Kind::Prompts => self.prompts,
            Kind::Resources => self.resources,
        }
    }
}

/// Everything one server offers, at one moment.
#[derive(Debug, Clone)]
pub struct ServerCatalog {
    /// Who answers.
    pub connection: Connection,
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
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// What could not be used.
    pub quarantined: Vec<Quarantined>,
    /// What its lists hide.
    pub filtered: Vec<Filtered>,
    /// What went wrong without being the end of it: a list that could not be read, a server that offers nothing.
    pub problems: Vec<Problem>,
}

/// Something that went wrong without being the end of it.
#[derive(Debug, Clone)]
pub struct Problem {
    /// With which list; with none when the server as a whole offers nothing.
    pub kind: Option<Kind>,
    /// What.
    pub error: Error,
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
    /// Which rule hides it.
    pub reason: String,
}

/// Finds out what a server offers.
pub(crate) async fn discover(connection: &Connection, interest: Interest) -> Result<ServerCatalog> {
    let mut catalog = ServerCatalog::empty(connection);
    let wanted: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| interest.wants(*kind)).collect();
    let offered: Vec<Kind> = wanted.iter().copied().filter(|kind| offers(connection, *kind)).collect();
    let listings = futures_util::future::join_all(offered.iter().map(|kind| list(connection, *kind))).await;
    let mut failures = Vec::new();
    for (kind, listing) in offered.iter().zip(listings) {
        match listing {
            Ok(listing) => catalog.take(listing),
            Err(error) => failures.push(Problem { kind: Some(*kind), error }),
        }
    }
    if !failures.is_empty() && failures.len() == offered.len() {
        return Err(failures.swap_remove(0).error);
    }
    catalog.problems = failures;
    let offers_nothing = Kind::ALL.iter().all(|kind| !offers(connection, *kind));
    let lists_nothing = wanted.len() == Kind::ALL.len() && catalog.is_empty() && catalog.quarantined.is_empty();
    if catalog.problems.is_empty() && (offers_nothing || lists_nothing) {
        let what = "server offers no tools, prompts or resources";
        let error = Error::new(ErrorKind::Protocol, what).about(connection.server());
        catalog.problems.push(Problem { kind: None, error });
    }
    Ok(catalog)
}

/// The same catalog with one list read anew.
pub(crate) async fn refresh(catalog: &ServerCatalog, kind: Kind) -> Result<ServerCatalog> {
    let listing = list(&catalog.connection, kind).await?;
    let mut catalog = catalog.clone();
    catalog.forget(kind);
    catalog.take(listing);
    Ok(catalog)
}

/// Asks a server that wants to be asked to tell of changes; servers of other versions tell by themselves.
pub(crate) async fn watch_lists(connection: &Connection, interest: Interest) -> Option<Subscription> {
    let capabilities = connection.client().about().capabilities;
    let tells = |kind: Kind| {
        let listed = capabilities.member(kind.as_str()).and_then(|offer| offer.member("listChanged"));
        interest.wants(kind) && listed.is_some_and(|flag| flag.as_bytes() == b"true")
    };
    let (tools, prompts, resources) = (tells(Kind::Tools), tells(Kind::Prompts), tells(Kind::Resources));
    if !connection.client().version().is_modern() || !(tools || prompts || resources) {
        return None;
    }
    let watch = Watch { tools, prompts, resources, ..Watch::default() };
    let watching = within_limit(connection, "watching its lists", || connection.client().watch(&watch)).await;
    watching
        .inspect_err(|error| tracing::debug!(server = %connection.server(), %error, "will not hear of changes"))
        .ok()
}

/// Whether a server says that it has such a list.
pub(crate) fn offers(connection: &Connection, kind: Kind) -> bool {
    connection.client().about().offers(kind.as_str())
}

/// What one list gave.
enum Listed {
    Tools(Listing<Tool>),
    Prompts(Listing<Prompt>),
    Resources(Listing<Resource>, Listing<ResourceTemplate>),
}

async fn list(connection: &Connection, kind: Kind) -> Result<Listed> {
    let client = connection.client();
    let listing = || async move {
        Ok(match kind {
            Kind::Tools => Listed::Tools(or_empty(client.list_tools()).await?),
            Kind::Prompts => Listed::Prompts(or_empty(client.list_prompts()).await?),
            Kind::Resources => {
                let resources = or_empty(client.list_resources());
                let (resources, templates) =
                    futures_util::future::join(resources, or_empty(client.list_resource_templates())).await;
                Listed::Resources(resources?, templates?)
            }
        })
    };
    within_limit(connection, &format!("listing {} failed", kind.as_str()), listing).await
}

/// A server that does not know a list has nothing on it.
async fn or_empty<T>(listing: impl Future<Output = Result<Listing<T>, WireError>>) -> Result<Listing<T>, WireError> {
    match listing.await {
        Err(error) if error.rpc_code() == Some(RpcError::METHOD_NOT_FOUND) => {
            Ok(Listing { entries: Vec::new(), defects: Vec::new(), cache: toolgate_wire::view::CacheHint::default() })
        }
        other => other,
    }
}

async fn within_limit<T, W>(connection: &Connection, doing: &str, work: impl Fn() -> W) -> Result<T>
where
    W: Future<Output = Result<T, WireError>>,
{
    let limit = connection.config().connect_timeout.max(Duration::from_millis(DISCOVERY_MS));
    // A login in between takes as long as it takes.
    let in_time = || {
        let asked = tokio::time::timeout(limit, work());
        async move { asked.await.map_or(Ok(None), |result| result.map(Some)) }
    };
    match connection.asks(in_time).await {
        Ok(Some(done)) => Ok(done),
        Err(error) => Err(connection.failed(error).while_doing(doing)),
        Ok(None) => {
            let what = format!("{doing}: no end within {} s", limit.as_secs());
            Err(Error::new(ErrorKind::TimedOut, what).about(connection.server()))
        }
    }
}

fn filter_of(server: &ServerConfig) -> ToolFilter {
    let strictness = if server.strict { Strictness::Strict } else { Strictness::Open };
    let of = if server.transport.builtin().is_some() { ToolFilter::of_built_in } else { ToolFilter::of };
    of(server.include_tools.as_deref(), &server.exclude_tools, strictness)
}

impl ServerCatalog {
    fn empty(connection: &Connection) -> Self {
        let instructions = connection.client().about().instructions;
        let bounded = |text: String| text.chars().take(INSTRUCTIONS_CHARS_MAX).collect::<String>();
        Self {
            connection: connection.clone(),
            filter: Arc::new(filter_of(connection.config())),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            instructions: instructions.filter(|text| !text.trim().is_empty()).map(bounded),
            quarantined: Vec::new(),
            filtered: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Whose offer it is.
    pub fn server(&self) -> &ServerName {
        self.connection.server()
    }

    fn is_empty(&self) -> bool {
        let Self { tools, prompts, resources, templates, filtered, .. } = self;
        tools.is_empty() && prompts.is_empty() && resources.is_empty() && templates.is_empty() && filtered.is_empty()
    }

    /// Whether one list holds the same as that of `other`.
    pub(crate) fn same(&self, other: &Self, kind: Kind) -> bool {
        fn same_raw<'a>(
            mut left: impl ExactSizeIterator<Item = &'a toolgate_wire::RawJson>,
            mut right: impl ExactSizeIterator<Item = &'a toolgate_wire::RawJson>,
        ) -> bool {
            left.len() == right.len() && left.all(|entry| right.next() == Some(entry))
        }
        self.quarantined == other.quarantined
            && match kind {
                Kind::Tools => {
                    same_raw(self.tools.iter().map(|tool| &tool.raw), other.tools.iter().map(|tool| &tool.raw))
                }
                Kind::Prompts => {
                    same_raw(self.prompts.iter().map(|one| &one.raw), other.prompts.iter().map(|one| &one.raw))
                }
                Kind::Resources => {
                    same_raw(self.resources.iter().map(|one| &one.raw), other.resources.iter().map(|one| &one.raw))
                        && same_raw(
                            self.templates.iter().map(|one| &one.raw),
                            other.templates.iter().map(|one| &one.raw),
                        )
                }
            }
    }

    fn forget(&mut self, kind: Kind) {
        let kinds: &[&str] = match kind {
            Kind::Tools => {
                self.tools.clear();
                self.filtered.clear();
                &["tool"]
            }
            Kind::Prompts => {
                self.prompts.clear();
                &["prompt"]
            }
            Kind::Resources => {
                self.resources.clear();
                self.templates.clear();
                &["resource", "template"]
            }
        };
        self.quarantined.retain(|entry| !kinds.contains(&entry.kind));
        self.problems.retain(|problem| problem.kind.is_some_and(|of| of != kind));
    }

    fn take(&mut self, listed: Listed) {
        match listed {
            Listed::Tools(listing) => {
                self.quarantine("tool", listing.defects);
                self.take_tools(listing.entries);
            }
            Listed::Prompts(listing) => {
                self.quarantine("prompt", listing.defects);
                let prompts = self.once("prompt", listing.entries, |prompt| &prompt.name);
                self.prompts = prompts.into_iter().map(Arc::new).collect();
            }
            Listed::Resources(resources, templates) => {
                self.quarantine("resource", resources.defects);
                self.quarantine("template", templates.defects);
                let resources = self.once("resource", resources.entries, |resource| &resource.uri);
                let templates = self.once("template", templates.entries, |template| &template.uri_template);
                self.resources = resources.into_iter().map(Arc::new).collect();
                self.templates = templates.into_iter().map(Arc::new).collect();
            }
        }
    }

    fn take_tools(&mut self, tools: Vec<Tool>) {
        let server = self.server().clone();
        let tools = self.once("tool", tools, |tool| &tool.name);
        self.tools.reserve_exact(tools.len());
        for tool in tools {
            match self.filter.visibility(&tool.name) {
                Visibility::Shown => self.tools.push(Arc::new(tool)),
                Visibility::Hidden(reason) => {
                    self.filtered.push(Filtered { server: server.clone(), tool: tool.name, reason });
                }
            }
        }
    }

    /// Entries of which each has a name of its own; the second of a name is set aside.
    fn once<T>(&mut self, kind: &'static str, entries: Vec<T>, name: impl Fn(&T) -> &String) -> Vec<T> {
        let mut seen: HashSet<String> = HashSet::with_capacity(entries.len());
        let (once, again): (Vec<T>, Vec<T>) = entries.into_iter().partition(|entry| seen.insert(name(entry).clone()));
        let server = self.server().clone();
        let reason = "the server lists this name twice; the first one counts";
        self.quarantined.extend(again.iter().map(|entry| Quarantined {
            server: server.clone(),
            kind,
            name: Some(name(entry).clone()),
            reason: reason.to_owned(),
        }));
        once
    }

    fn quarantine(&mut self, kind: &'static str, defects: Vec<EntryDefect>) {
        let server = self.server().clone();
        let quarantined = |defect: EntryDefect| {
            let reason = match &defect.name {
                Some(_) => defect.reason,
                None => format!("entry {}: {}", defect.index + 1, defect.reason),
            };
            Quarantined { server: server.clone(), kind, name: defect.name, reason }
        };
        self.quarantined.extend(defects.into_iter().map(quarantined));
    }
}
