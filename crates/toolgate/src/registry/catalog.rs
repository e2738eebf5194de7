//! `Catalog`: a frozen view of everything discovered, filtered and named. Cheap to share, never edited; `prepare` binds a call to it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use toolgate_wire::RawJson;
use toolgate_wire::view::{Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolHints};

use super::idle_nulls::without_idle_nulls;
use super::name::{
    BETWEEN, Claim, Claims, ExposedName, NameBook, Named, Naming, Prefixes, ToolId, Why, clean, qualified,
};
use crate::asker::Asker;
use crate::discovery::{Availability, Filtered, Live, Quarantined, ServerCatalog};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{NEAREST_CHARS_MAX, NEAREST_COMPARED_MAX, NEAREST_NAMES_MAX};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;
use crate::servers::built_in_tools::real_name;

/// What all servers offer, at one moment.
#[derive(Default)]
pub struct Catalog {
    servers: Vec<Arc<ServerCatalog>>,
    tools: Vec<CatalogTool>,
    by_name: HashMap<ExposedName, u32>,
    prompts: Vec<CatalogPrompt>,
    resources: Vec<CatalogResource>,
    templates: Vec<CatalogTemplate>,
}

/// A tool with the name it is shown under.
#[derive(Debug, Clone)]
pub struct CatalogTool {
    /// The name shown.
    pub name: ExposedName,
    /// What it is to its server.
    pub id: ToolId,
    /// Whether the person trusts its server: no question is asked before a call.
    pub trusted: bool,
    /// Why it is not shown under its own name.
    pub renamed: Option<Why>,
    /// The tool as its server describes it.
    pub tool: Arc<Tool>,
    server: u32,
}

/// A prompt with the name it is shown under.
#[derive(Debug, Clone)]
pub struct CatalogPrompt {
    /// The name shown: its own, or `server.prompt` when another server has a prompt of that name, or may still turn out to.
    pub name: Arc<str>,
    /// Whether it stays: every server before its own has said what it offers.
    pub is_name_final: bool,
    /// Whose prompt.
    pub server: ServerName,
    /// The prompt as its server describes it.
    pub prompt: Arc<Prompt>,
}

/// A resource.
#[derive(Debug, Clone)]
pub struct CatalogResource {
    /// Whose resource.
    pub server: ServerName,
    /// The resource as its server describes it.
    pub resource: Arc<Resource>,
}

/// A resource template.
#[derive(Debug, Clone)]
pub struct CatalogTemplate {
    /// Whose template.
    pub server: ServerName,
    /// The template as its server describes it.
    pub template: Arc<ResourceTemplate>,
}

/// A name that more than one tool would have had.
#[derive(Debug, Clone)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// Who keeps it.
    pub kept_by: ToolId,
    /// The others, and what they are called.
    pub renamed: Vec<(ToolId, ExposedName)>,
}

/// What was asked for, and by whom.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool, by the name shown or as `server__tool`.
    pub name: String,
    /// An object.
    pub arguments: RawJson,
    /// Who asks.
    pub asked_by: Asker,
}

/// A call bound to the tool and the connection that a catalog showed. Only a [`Catalog`] makes one.
#[derive(Debug, Clone)]
pub struct PreparedCall {
    /// What the tool was called by: the name shown, or `server__tool`.
    pub(crate) name: String,
    /// The tool.
    pub(crate) tool: CatalogTool,
    /// Everything else its server offers.
    pub(crate) offer: Arc<ServerCatalog>,
    /// With what.
    pub(crate) arguments: RawJson,
    /// For whom.
    pub(crate) asked_by: Asker,
    /// Whether the program that embeds the host answers for it, when it says so.
    pub(crate) is_trusted: Option<bool>,
}

impl PreparedCall {
    /// What the tool was called by: the name shown, or `server__tool`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool that will be called.
    pub fn tool(&self) -> &CatalogTool {
        &self.tool
    }

    /// With what.
    pub fn arguments(&self) -> &RawJson {
        &self.arguments
    }

    /// Who asks.
    pub fn asked_by(&self) -> Asker {
        self.asked_by
    }

    /// What the server of the tool is meant to be.
    pub(crate) fn config(&self) -> &ServerConfig {
        self.offer.line.config()
    }

    /// The same call of the tool as its server offers it at this moment.
    ///
    /// # Errors
    /// When it does not offer it any more.
    pub(crate) fn as_offered_by(&self, live: &Live) -> Result<Self> {
        if Arc::ptr_eq(&self.offer.offered, &live.offered) {
            return Ok(self.clone());
        }
        let offer = Arc::new(ServerCatalog::of_live(&self.offer.line, live));
        let Some(tool) = offer.tools.iter().find(|tool| *tool.name == *self.tool.id.tool) else {
            let what = format!("the server does not offer `{}` any more", self.tool.id.tool);
            return Err(Error::new(ErrorKind::UnknownTool, what).about(&self.tool.id.server));
        };
        let tool = CatalogTool { tool: tool.clone(), ..self.tool.clone() };
        Ok(Self { tool, offer, ..self.clone() })
    }
}

impl CatalogTool {
    /// `server__tool`: the name that it always answers to, whatever other servers have.
    pub fn qualified_name(&self) -> String {
        qualified(&self.id.server, &self.id.tool)
    }

    /// Its name for people.
    pub fn title(&self) -> Option<&str> {
        self.tool.title.as_deref()
    }

    /// What it does, in its server's words.
    pub fn description(&self) -> Option<&str> {
        self.tool.description.as_deref()
    }

    /// What it takes; an object of anything when its server does not say.
    pub fn input_schema(&self) -> RawJson {
        self.tool.input_schema.clone().unwrap_or_else(|| serde_json::json!({"type": "object"}).into())
    }

    /// What it promises to give.
    pub fn output_schema(&self) -> Option<&RawJson> {
        self.tool.output_schema.as_ref()
    }

    /// What its server says about its effects.
    pub fn hints(&self) -> ToolHints {
        self.tool.hints
    }

    /// The same as it was written.
    pub fn annotations(&self) -> Option<&RawJson> {
        self.tool.annotations.as_ref()
    }
}

impl CatalogPrompt {
    /// Whether `name` is this prompt whatever other servers have.
    pub(crate) fn answers_always_to(&self, name: &str) -> bool {
        let own = name.strip_prefix(&*self.server).and_then(|rest| rest.strip_prefix('.'));
        own == Some(&self.prompt.name)
    }

    /// What it takes.
    pub fn arguments(&self) -> &[PromptArgument] {
        &self.prompt.arguments
    }
}

impl Catalog {
    /// Builds a catalog. `servers` stand in the order of the settings, each with its claims to names; `all` are the names of all servers, also of
    /// those that are not there.
    pub(crate) fn build(
        servers: Vec<(Arc<ServerCatalog>, Claims)>,
        all: &Prefixes,
        naming: Naming,
        book: &mut NameBook,
    ) -> Self {
        let (servers, claims): (_, Vec<Claims>) = servers.into_iter().unzip();
        let mut catalog = Self { servers, ..Self::default() };
        let count = catalog.servers.iter().map(|offer| offer.tools.len()).sum();
        book.expect(count);
        catalog.tools.reserve_exact(count);
        catalog.by_name.reserve(count);
        for ((index, offer), claim) in (0..).zip(&catalog.servers).zip(&claims) {
            let config = offer.line.config();
            let trusted = config.trust && !config.comes_with_folder();
            for tool in &offer.tools {
                let Named { name, id, why } = book.name((naming, claim.tools), all, offer.server(), &tool.name);
                let position = u32::try_from(catalog.tools.len()).unwrap_or(u32::MAX);
                catalog.by_name.insert(name.clone(), position);
                catalog.tools.push(CatalogTool { name, id, trusted, renamed: why, tool: tool.clone(), server: index });
            }
        }
        catalog.gather_prompts(&claims, book);
        catalog.gather_resources();
        catalog
    }

    fn gather_prompts(&mut self, claims: &[Claims], book: &mut NameBook) {
        for (offer, claim) in self.servers.iter().zip(claims) {
            for prompt in &offer.prompts {
                let (server, name) =
                    (offer.server().clone(), book.name_prompt(claim.prompts, offer.server(), &prompt.name));
                let is_name_final = claim.prompts == Claim::Firm;
                self.prompts.push(CatalogPrompt { name, is_name_final, server, prompt: prompt.clone() });
            }
        }
        self.prompts.sort_by(|left, right| left.name.cmp(&right.name));
    }

    fn gather_resources(&mut self) {
        for offer in &self.servers {
            let server = offer.server();
            let resource =
                |resource: &Arc<Resource>| CatalogResource { server: server.clone(), resource: resource.clone() };
            let template = |template: &Arc<ResourceTemplate>| CatalogTemplate {
                server: server.clone(),
                template: template.clone(),
            };
            self.resources.extend(offer.resources.iter().map(resource));
            self.templates.extend(offer.templates.iter().map(template));
        }
    }

    /// All tools: server by server in the order of the settings, each in its own order.
    pub fn tools(&self) -> &[CatalogTool] {
        &self.tools
    }

    /// The tools of one server, in its own order.
    pub fn tools_of(&self, server: &str) -> &[CatalogTool] {
        let Some(at) = self.servers.iter().position(|offer| **offer.server() == *server) else { return &[] };
        let before = |bound: usize| self.tools.partition_point(|tool| (tool.server as usize) < bound);
        self.tools.get(before(at)..before(at + 1)).unwrap_or_default()
    }

    /// All prompts, by name.
    pub fn prompts(&self) -> &[CatalogPrompt] {
        &self.prompts
    }

    /// All resources.
    pub fn resources(&self) -> &[CatalogResource] {
        &self.resources
    }

    /// All resource templates.
    pub fn templates(&self) -> &[CatalogTemplate] {
        &self.templates
    }

    /// What could not be used, and why.
    pub fn quarantined(&self) -> impl Iterator<Item = &Quarantined> {
        self.servers.iter().flat_map(|offer| &offer.quarantined)
    }

    /// Tools that are hidden, and why.
    pub fn filtered(&self) -> impl Iterator<Item = &Filtered> {
        self.servers.iter().flat_map(|offer| &offer.filtered)
    }

    /// How each server wants to be used.
    pub fn instructions(&self) -> impl Iterator<Item = (&ServerName, &str)> {
        self.servers.iter().filter_map(|offer| Some((offer.server(), offer.instructions()?)))
    }

    /// What each server offers.
    pub fn servers(&self) -> impl Iterator<Item = &ServerCatalog> {
        self.servers.iter().map(AsRef::as_ref)
    }

    /// Names that more than one tool would have had, with who keeps them.
    pub fn collisions(&self) -> Vec<Collision> {
        let mut found: BTreeMap<&ToolId, Collision> = BTreeMap::new();
        for tool in &self.tools {
            let Some(Why::Taken(kept_by)) = &tool.renamed else { continue };
            let collision = found.entry(kept_by).or_insert_with(|| {
                let name = clean(&tool.id.tool).into_owned();
                Collision { name, kept_by: kept_by.clone(), renamed: Vec::new() }
            });
            collision.renamed.push((tool.id.clone(), tool.name.clone()));
        }
        found.into_values().collect()
    }

    /// The tool of that name: as shown, or `server__tool`.
    pub fn find(&self, name: &str) -> Option<&CatalogTool> {
        match self.by_name.get(name) {
            Some(position) => self.tools.get(*position as usize),
            None => self.find_qualified(name).or_else(|| self.find_built_in(name)),
        }
    }

    /// The built-in tool with this alternative name, when no tool has it as its own.
    fn find_built_in(&self, name: &str) -> Option<&CatalogTool> {
        let (server, name) = name.split_once(BETWEEN).map_or((None, name), |(server, name)| (Some(server), name));
        let own = real_name(name)?;
        let is_meant = |offer: &&ServerCatalog| {
            let config = offer.line.config();
            config.transport.builtin().is_some() && server.is_none_or(|server| *server == *config.name)
        };
        let server = self.servers().find(is_meant)?.line.config().name.clone();
        self.tool_of(&server, own)
    }

    fn find_qualified(&self, name: &str) -> Option<&CatalogTool> {
        // The longest name of a server that fits is meant.
        let written = name.rmatch_indices(BETWEEN).find_map(|(at, _)| {
            let (server, tool) = (name.get(..at)?, name.get(at + BETWEEN.len()..)?);
            self.tool_of(server, tool)
        });
        written.or_else(|| {
            let is_meant = |tool: &&CatalogTool| qualified(&tool.id.server, &tool.id.tool) == name;
            self.tools.iter().find(is_meant)
        })
    }

    /// A tool by its server and its own name.
    pub fn tool_of(&self, server: &str, tool: &str) -> Option<&CatalogTool> {
        self.tools.iter().find(|one| &*one.id.tool == tool && &*one.id.server == server)
    }

    /// The prompt of that name: as `server.prompt`, which nobody can take away, or as shown.
    pub fn find_prompt(&self, name: &str) -> Option<&CatalogPrompt> {
        let is_meant = |prompt: &&CatalogPrompt| prompt.answers_always_to(name);
        self.prompts.iter().find(is_meant).or_else(|| self.prompts.iter().find(|prompt| &*prompt.name == name))
    }

    /// The first server that lists the resource at `uri`.
    pub fn lister_of(&self, uri: &str) -> Option<&ServerName> {
        self.resources.iter().find(|one| one.resource.uri == uri).map(|one| &one.server)
    }

    /// The template that fits `uri` best: the one with the longest beginning before its first variable.
    pub fn template_for(&self, uri: &str) -> Option<&CatalogTemplate> {
        let beginning = |one: &CatalogTemplate| one.template.uri_template.split('{').next().unwrap_or_default().len();
        let fits = |one: &&CatalogTemplate| {
            let fixed = one.template.uri_template.split('{').next().unwrap_or_default();
            !fixed.is_empty() && uri.starts_with(fixed)
        };
        self.templates.iter().filter(fits).max_by_key(|one| beginning(one))
    }

    /// Names that `name` may have been meant to be.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        nearest(name, self.tools.iter().map(|tool| tool.name.as_str()))
    }

    /// Everything that the server of a tool offers.
    pub fn offer_of(&self, tool: &CatalogTool) -> Option<&ServerCatalog> {
        self.servers.get(tool.server as usize).map(AsRef::as_ref)
    }

    /// Whether a tool can be used at this moment.
    pub fn availability(&self, tool: &CatalogTool) -> Option<Availability> {
        self.offer_of(tool).map(|offer| offer.line.availability())
    }

    /// Binds a call to the exact tool this catalog showed.
    pub fn prepare(&self, call: ToolCall) -> Result<PreparedCall> {
        let Some(tool) = self.find(&call.name) else { return Err(self.unknown(&call.name)) };
        let Some(offer) = self.servers.get(tool.server as usize) else { return Err(self.unknown(&call.name)) };
        let (tool, offer) = (tool.clone(), offer.clone());
        let ToolCall { name, arguments, asked_by } = call;
        let arguments = without_idle_nulls(arguments, tool.tool.input_schema.as_ref());
        Ok(PreparedCall { name, tool, offer, arguments, asked_by, is_trusted: None })
    }

    /// The reason why an offered tool is missing: hidden or unusable. `name` is its own name or `server__tool`.
    pub fn why_missing(&self, server: Option<&str>, name: &str) -> Option<String> {
        let is_it = |of: &ServerName, tool: &str| match server {
            Some(server) => **of == *server && tool == name,
            None => tool == name || qualified(of, tool) == name,
        };
        let hidden = self.filtered().find(|one| is_it(&one.server, &one.tool));
        let hidden = hidden.map(|one| format!("hidden: {}", one.reason));
        hidden.or_else(|| {
            let mut broken = self.quarantined().filter(|one| one.kind == "tool");
            let broken = broken.find(|one| one.name.as_deref().is_some_and(|tool| is_it(&one.server, tool)))?;
            Some(format!("not usable: {}", broken.reason))
        })
    }

    /// There is no tool of that name.
    pub fn unknown(&self, name: &str) -> Error {
        let error = Error::new(ErrorKind::UnknownTool, format!("there is no tool `{name}`"));
        if let Some(reason) = self.why_missing(None, name) {
            return error.hinting(format!("a tool of that name is {reason}"));
        }
        match self.nearest(name).as_slice() {
            [] => error,
            names => error.hinting(format!("did you mean `{}`?", names.join("`, `"))),
        }
    }
}

/// The few of `names` that are most like `name`.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().take(NEAREST_CHARS_MAX + 1).count();
    if length > NEAREST_CHARS_MAX {
        return Vec::new();
    }
    let allowed = (length / 2).max(2);
    let distance = |candidate: &str| {
        let lower = candidate.to_lowercase();
        if lower.contains(&wanted) || wanted.contains(&lower) {
            return Some(1);
        }
        // Comparing takes time and memory for each pair of characters, and so many are too many already.
        let is_near = lower.chars().take(length + allowed + 1).count().abs_diff(length) <= allowed;
        is_near.then(|| strsim::damerau_levenshtein(&wanted, &lower)).filter(|distance| *distance <= allowed)
    };
    let candidates = names.take(NEAREST_COMPARED_MAX).filter(|candidate| candidate.len() <= NEAREST_CHARS_MAX * 4);
    let mut close: Vec<(usize, &str)> =
        candidates.filter_map(|candidate| Some((distance(candidate)?, candidate))).collect();
    close.sort();
    close.into_iter().take(NEAREST_NAMES_MAX).map(|(_, candidate)| candidate.to_owned()).collect()
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("servers", &self.servers.len())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
