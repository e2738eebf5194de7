//! `Offered`: what a server said it offers, before any list of the settings is applied. What is kept of a server from one run to the next, and
//! what its next answer is compared with.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_wire::view::{CacheHint, Listing, Prompt, Resource, ResourceTemplate, Tool};
use toolgate_wire::{Era, RawJson, Version};

use crate::connect::{Agreed, Connection, Kind};
use crate::discovery::Interest;
use crate::limits::INSTRUCTIONS_CHARS_MAX;

/// What a server said it offers, at one moment.
#[derive(Debug, Clone)]
pub struct Offered {
    /// The protocol version it was said in.
    pub version: Version,
    /// How the server wants to be spoken to.
    pub era: Era,
    /// Its name and version, as it wrote them.
    pub info: RawJson,
    /// What it says it can do, as it wrote it.
    pub capabilities: RawJson,
    /// How it wants to be used, bounded.
    pub instructions: Option<String>,
    /// When it said all of this, and so which lists it has: when the connection was made.
    pub said_at: SystemTime,
    /// Its tools; nothing when it was not asked for them. The same holds for the other lists.
    pub tools: Option<OfferedList<Tool>>,
    /// Its prompts.
    pub prompts: Option<OfferedList<Prompt>>,
    /// Its resources.
    pub resources: Option<OfferedList<Resource>>,
    /// Its resource templates; asked for together with the resources.
    pub templates: Option<OfferedList<ResourceTemplate>>,
}

/// One list of a server, all pages of it.
#[derive(Debug, Clone)]
pub struct OfferedList<T> {
    /// What could be read, in the order of the server. A name may stand twice.
    pub entries: Vec<Arc<T>>,
    /// What could not be used.
    pub set_aside: Vec<UnusableEntry>,
    /// How long the server lets it be kept, and for whom.
    pub cache: CacheHint,
    /// When it was read.
    pub read_at: SystemTime,
}

/// An entry that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableEntry {
    /// What it calls itself, if that can be told.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// Something of which a list is made.
pub(crate) trait Listed {
    /// The entry as the server wrote it.
    fn raw(&self) -> &RawJson;
}

impl Listed for Tool {
    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl Listed for Prompt {
    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl Listed for Resource {
    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl Listed for ResourceTemplate {
    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

impl<T> OfferedList<T> {
    pub(crate) fn of(listing: Listing<T>, read_at: SystemTime) -> Self {
        let set_aside = listing.defects.into_iter().map(|defect| {
            let reason = match &defect.name {
                Some(_) => defect.reason,
                None => format!("entry {}: {}", defect.index + 1, defect.reason),
            };
            UnusableEntry { name: defect.name, reason }
        });
        Self {
            set_aside: set_aside.collect(),
            entries: listing.entries.into_iter().map(Arc::new).collect(),
            cache: listing.cache,
            read_at,
        }
    }
}

/// Whether both lists say the same.
fn same<T: Listed>(left: Option<&OfferedList<T>>, right: Option<&OfferedList<T>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            let mut pairs = left.entries.iter().zip(&right.entries);
            left.set_aside == right.set_aside
                && left.entries.len() == right.entries.len()
                && pairs.all(|(one, another)| one.raw() == another.raw())
        }
        (None, None) => true,
        _ => false,
    }
}

impl Offered {
    /// What a server said about itself just before `now`, without its lists.
    pub(crate) fn about(connection: &Connection, now: SystemTime) -> Self {
        let client = connection.client();
        let about = client.about();
        let bounded = |text: String| text.chars().take(INSTRUCTIONS_CHARS_MAX).collect::<String>();
        Self {
            version: client.version(),
            era: client.era(),
            info: about.info,
            capabilities: about.capabilities,
            instructions: about.instructions.filter(|text| !text.trim().is_empty()).map(bounded),
            said_at: now,
            tools: None,
            prompts: None,
            resources: None,
            templates: None,
        }
    }

    /// The same; tools that are all as they were before are the very same ones, so that what was worked out about them is not kept twice.
    pub(crate) fn with_tools_of(mut self, before: &Self) -> Self {
        if self.same(before, Kind::Tools)
            && let (Some(tools), Some(same)) = (&mut self.tools, &before.tools)
        {
            tools.entries.clone_from(&same.entries);
        }
        self
    }

    /// What was agreed, for somebody who asks before the server is there.
    pub(crate) fn agreed(&self) -> Agreed {
        Agreed {
            version: self.version,
            era: self.era,
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            took: Duration::ZERO,
        }
    }

    /// Whether the server says that it has such a list.
    pub(crate) fn offers(&self, kind: Kind) -> bool {
        self.capabilities.member(kind.as_str()).is_some_and(|offer| !offer.is_null())
    }

    /// When it said something last: when the connection was made, or a list was read over it.
    pub(crate) fn last_said_at(&self) -> SystemTime {
        let Self { tools, prompts, resources, templates, .. } = self;
        let read = [
            tools.as_ref().map(|list| list.read_at),
            prompts.as_ref().map(|list| list.read_at),
            resources.as_ref().map(|list| list.read_at),
            templates.as_ref().map(|list| list.read_at),
        ];
        read.into_iter().flatten().fold(self.said_at, SystemTime::max)
    }

    /// Whether a list that is wanted is here.
    pub(crate) fn has_some(&self, interest: Interest) -> bool {
        Kind::ALL.into_iter().any(|kind| interest.wants(kind) && self.is_read(kind))
    }

    /// Whether every list that is wanted is here, or said not to exist.
    pub(crate) fn has(&self, interest: Interest) -> bool {
        Kind::ALL.into_iter().filter(|kind| interest.wants(*kind)).all(|kind| self.is_known(kind))
    }

    /// Whether a list was read, or there is none.
    pub(crate) fn is_known(&self, kind: Kind) -> bool {
        self.is_read(kind) || !self.offers(kind)
    }

    fn is_read(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.tools.is_some(),
            Kind::Prompts => self.prompts.is_some(),
            Kind::Resources => self.resources.is_some() && self.templates.is_some(),
        }
    }

    /// Whether one list says the same as in `other`.
    pub(crate) fn same(&self, other: &Self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => same(self.tools.as_ref(), other.tools.as_ref()),
            Kind::Prompts => same(self.prompts.as_ref(), other.prompts.as_ref()),
            Kind::Resources => {
                same(self.resources.as_ref(), other.resources.as_ref())
                    && same(self.templates.as_ref(), other.templates.as_ref())
            }
        }
    }
}
