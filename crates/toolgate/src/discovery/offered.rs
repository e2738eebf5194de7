//! `Offered`: what a server said it offers, before any list of the settings is applied. What is kept of a server from one run to the next, and
//! what its next answer is compared with.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_wire::view::{CacheHint, Entry, Listing, Prompt, Resource, ResourceTemplate, Tool};
use toolgate_wire::{Era, RawJson, Version};

use crate::canonical_json;
use crate::connect::{Agreed, Connection, Kind};
use crate::discovery::Interest;
use crate::limits::{CHECKED_PARTS_MAX, INSTRUCTIONS_CHARS_MAX};

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
    /// Lists that could not be read when the server was last asked for them. What is here of them is what it said before that.
    pub unread: Vec<Kind>,
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnusableEntry {
    /// What it calls itself, if that can be told.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// Something of which a list is made.
trait Keyed: Entry {
    /// What no other entry of the list should have.
    fn key(&self) -> &str;
}

impl Keyed for Tool {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Keyed for Prompt {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Keyed for Resource {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl Keyed for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
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

/// Whether both lists say the same, in whatever order.
fn same<T: Keyed>(left: Option<&OfferedList<T>>, right: Option<&OfferedList<T>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left.entries.len() == right.entries.len()
                && same_set_aside(&left.set_aside, &right.set_aside)
                && (same_bytes(&left.entries, &right.entries) || same_by_key(&left.entries, &right.entries))
        }
        (None, None) => true,
        _ => false,
    }
}

fn same_set_aside(left: &[UnusableEntry], right: &[UnusableEntry]) -> bool {
    let sorted = |entries: &[UnusableEntry]| {
        let mut sorted = entries.to_vec();
        sorted.sort();
        sorted
    };
    left == right || (left.len() == right.len() && sorted(left) == sorted(right))
}

fn same_bytes<T: Keyed>(left: &[Arc<T>], right: &[Arc<T>]) -> bool {
    left.iter().zip(right).all(|(one, other)| one.raw() == other.raw())
}

fn same_by_key<T: Keyed>(left: &[Arc<T>], right: &[Arc<T>]) -> bool {
    // The first of a name counts, so those of one name stay in their order.
    let sorted = |entries: &[Arc<T>]| {
        let mut sorted = entries.to_vec();
        sorted.sort_by(|one, other| one.key().cmp(other.key()));
        sorted
    };
    let (left, right) = (sorted(left), sorted(right));
    // Keys first: whether two entries mean the same takes longer.
    let keys_are = left.iter().zip(&right).all(|(one, other)| one.key() == other.key());
    keys_are && left.iter().zip(&right).all(|(one, other)| same_value(one.raw(), other.raw()))
}

/// Whether both are equal JSON values. Values that are too deep or too large to parse are compared as text.
fn same_value(left: &RawJson, right: &RawJson) -> bool {
    let text = |raw: &RawJson| raw.value_within(CHECKED_PARTS_MAX).ok().map(|value| canonical_json::text(&value));
    left == right || text(left).is_some_and(|left| text(right) == Some(left))
}

/// Puts what was said before in the place of what says the same.
fn keep_order<T: Keyed>(now: &mut Option<OfferedList<T>>, before: Option<&OfferedList<T>>) {
    if same(now.as_ref(), before)
        && let (Some(now), Some(before)) = (now, before)
    {
        now.entries.clone_from(&before.entries);
        now.set_aside.clone_from(&before.set_aside);
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
            unread: Vec::new(),
        }
    }

    /// The same; lists that say what they said before are the very same ones, in the order in which they were shown: what a model is told does
    /// not change without a reason, and what was worked out about tools is not kept twice.
    pub(crate) fn in_order_of(mut self, before: &Self) -> Self {
        keep_order(&mut self.tools, before.tools.as_ref());
        keep_order(&mut self.prompts, before.prompts.as_ref());
        keep_order(&mut self.resources, before.resources.as_ref());
        keep_order(&mut self.templates, before.templates.as_ref());
        self
    }

    /// The same; lists that could not be read are what they were before.
    pub(crate) fn with_unread_of(mut self, before: &Self) -> Self {
        for kind in self.unread.clone() {
            self.set(kind, Some(before));
        }
        self
    }

    /// The same without lists that could not be read: nobody knows what is on them now.
    pub(crate) fn without_unread(mut self) -> Self {
        for kind in self.unread.clone() {
            self.set(kind, None);
        }
        self
    }

    /// The same, where one list could not be read.
    pub(crate) fn with_unread(mut self, kind: Kind) -> Self {
        if !self.unread.contains(&kind) {
            self.unread.push(kind);
        }
        self
    }

    /// Makes one list what it is in `other`.
    fn set(&mut self, kind: Kind, other: Option<&Self>) {
        match kind {
            Kind::Tools => self.tools = other.and_then(|other| other.tools.clone()),
            Kind::Prompts => self.prompts = other.and_then(|other| other.prompts.clone()),
            Kind::Resources => {
                self.resources = other.and_then(|other| other.resources.clone());
                self.templates = other.and_then(|other| other.templates.clone());
            }
        }
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

    /// Whether the server says the same about itself as in `other`.
    pub(crate) fn same_about(&self, other: &Self) -> bool {
        let version = |offered: &Self| (offered.version, offered.era);
        version(self) == version(other)
            && self.instructions == other.instructions
            && same_value(&self.info, &other.info)
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

#[cfg(test)]
#[path = "offered_tests.rs"]
mod tests;
