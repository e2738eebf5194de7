//! How the offer of a server is written down: a first line with a checksum over everything behind it, a head in JSON, and the entries as the
//! server wrote them, one behind the other. They were checked when they came in; the checksum says that they are still the same. What was read
//! shares the bytes of the file. Pure.

use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_wire::view::{CacheHint, Entry};
use toolgate_wire::{Era, RawJson, Version};

use crate::discovery::{Offered, OfferedList, UnusableEntry};
use crate::error::{Error, ErrorKind, Result};

/// Counted up when the same bytes would mean something else.
const FORMAT: u64 = 4;

/// What is said of a file that is not as expected.
const WORDS_CHARS: usize = 200;

/// More than the longest first line: three names and three numbers.
const FIRST_LINE_BYTES: usize = 100;

/// What is kept of a server.
#[derive(Clone, Debug)]
pub struct KeptOffer {
    /// What the server was called when it was asked, for people who look into the file.
    pub server: String,
    /// What it offered.
    pub offered: Offered,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct FirstLine {
    format: u64,
    /// How many bytes of what follows are the head.
    head: usize,
    /// What everything that follows adds up to.
    sum: u64,
}

/// The head. `R` is raw JSON, borrowed from the file or from an offer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenOffer<R> {
    server: String,
    version: String,
    era: String,
    info: R,
    capabilities: R,
    instructions: Option<String>,
    said_at: u64,
    tools: Option<WrittenList>,
    prompts: Option<WrittenList>,
    resources: Option<WrittenList>,
    templates: Option<WrittenList>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenList {
    read_at: u64,
    ttl_ms: Option<u64>,
    is_public: bool,
    set_aside: Vec<WrittenUnusable>,
    /// How long each entry is.
    lengths: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct WrittenUnusable {
    name: Option<String>,
    reason: String,
}

/// Only the first member: whether the rest can be understood at all.
#[derive(Deserialize)]
struct WrittenFormat {
    format: u64,
}

impl KeptOffer {
    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        let broken = |why: String| Error::new(ErrorKind::State, format!("this is no kept offer: {why}"));
        let (head, body) = unseal(&bytes.into()).map_err(broken)?;
        let written: WrittenOffer<&RawValue> =
            serde_json::from_slice(&head).map_err(|error| broken(bounded(&error)))?;
        let none = |what: &str| broken(format!("no {what} is called like that"));
        let mut entries = Entries { rest: body };
        let offered = Offered {
            version: Version::parse(&written.version).ok_or_else(|| none("version of the protocol"))?,
            era: era_of(&written.era).ok_or_else(|| none("era"))?,
            info: RawJson::part_of(&head, written.info),
            capabilities: RawJson::part_of(&head, written.capabilities),
            instructions: written.instructions,
            said_at: time(written.said_at).map_err(broken)?,
            tools: entries.list(written.tools).map_err(broken)?,
            prompts: entries.list(written.prompts).map_err(broken)?,
            resources: entries.list(written.resources).map_err(broken)?,
            templates: entries.list(written.templates).map_err(broken)?,
            unread: Vec::new(),
        };
        if !entries.rest.is_empty() {
            return Err(broken("something stands behind its entries".to_owned()));
        }
        Ok(Self { server: written.server, offered })
    }

    /// A file with this head and these entries, for whoever tests how files are read.
    #[doc(hidden)]
    #[must_use]
    pub fn sealed(head: &[u8], entries: &[u8]) -> Vec<u8> {
        seal([head, entries].concat(), head.len()).unwrap_or_default()
    }

    /// The offer as it is kept.
    ///
    /// # Errors
    /// When it cannot be written as JSON; what a server said always can.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        write(&self.server, &self.offered)
    }
}

/// The offer of a server as it is kept, in one buffer: the entries of a server may be many megabytes.
pub(super) fn write(server: &str, offered: &Offered) -> Result<Vec<u8>> {
    let written = WrittenOffer {
        server: server.to_owned(),
        version: offered.version.as_str().to_owned(),
        era: era_word(offered.era).to_owned(),
        info: &offered.info,
        capabilities: &offered.capabilities,
        instructions: offered.instructions.clone(),
        said_at: millis(offered.said_at),
        tools: offered.tools.as_ref().map(written_list),
        prompts: offered.prompts.as_ref().map(written_list),
        resources: offered.resources.as_ref().map(written_list),
        templates: offered.templates.as_ref().map(written_list),
    };
    let impossible = |error| Error::new(ErrorKind::State, format!("the offer cannot be written: {error}"));
    let mut bytes = serde_json::to_vec(&written).map_err(impossible)?;
    let head = bytes.len();
    let lists = [&written.tools, &written.prompts, &written.resources, &written.templates];
    let entries: usize = lists.into_iter().flatten().flat_map(|list| &list.lengths).sum();
    bytes.reserve_exact(entries + FIRST_LINE_BYTES);
    append(&mut bytes, offered.tools.as_ref());
    append(&mut bytes, offered.prompts.as_ref());
    append(&mut bytes, offered.resources.as_ref());
    append(&mut bytes, offered.templates.as_ref());
    seal(bytes, head).map_err(impossible)
}

/// Puts the first line before a head of this length and what follows it.
fn seal(mut bytes: Vec<u8>, head: usize) -> serde_json::Result<Vec<u8>> {
    let first = serde_json::to_vec(&FirstLine { format: FORMAT, head, sum: sum(&bytes) })?;
    bytes.splice(..0, first.into_iter().chain([b'\n']));
    Ok(bytes)
}

/// The head and what follows it, when both are as they were written.
fn unseal(bytes: &Bytes) -> Result<(Bytes, Bytes), String> {
    let end = bytes.iter().take(FIRST_LINE_BYTES).position(|byte| *byte == b'\n');
    let first = end.and_then(|end| Some((end, serde_json::from_slice::<FirstLine>(bytes.get(..end)?).ok()?)));
    let Some((end, first)) = first.filter(|(_, first)| first.format == FORMAT) else {
        let line = end.and_then(|end| bytes.get(..end)).unwrap_or(bytes);
        let other = serde_json::from_slice(line).ok().filter(|WrittenFormat { format }| *format != FORMAT);
        return Err(other.map_or_else(|| "it does not begin like one".to_owned(), |other| other_format(other.format)));
    };
    let mut head = bytes.slice(end + 1..);
    if sum(&head) != first.sum || first.head > head.len() {
        return Err("it is not as it was written".to_owned());
    }
    let body = head.split_off(first.head);
    Ok((head, body))
}

/// What bytes add up to. It need not be the same in another build: what is not recognised is asked for again.
fn sum(bytes: &[u8]) -> u64 {
    foldhash::quality::FixedState::default().hash_one(bytes)
}

/// Words of the file may stand in it, at any length.
fn bounded(error: &serde_json::Error) -> String {
    error.to_string().chars().take(WORDS_CHARS).collect()
}

fn other_format(format: u64) -> String {
    format!("it has format {format}, this toolgate writes {FORMAT}")
}

fn written_list<T: Entry>(list: &OfferedList<T>) -> WrittenList {
    let set_aside = |entry: &UnusableEntry| WrittenUnusable { name: entry.name.clone(), reason: entry.reason.clone() };
    WrittenList {
        read_at: millis(list.read_at),
        ttl_ms: list.cache.ttl_ms,
        is_public: list.cache.is_public,
        set_aside: list.set_aside.iter().map(set_aside).collect(),
        lengths: list.entries.iter().map(|entry| entry.raw().as_bytes().len()).collect(),
    }
}

/// A time as it is written.
fn millis(time: SystemTime) -> u64 {
    let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

fn time(millis: u64) -> Result<SystemTime, String> {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    time.ok_or_else(|| "it was said at no time".to_owned())
}

fn append<T: Entry>(bytes: &mut Vec<u8>, list: Option<&OfferedList<T>>) {
    for entry in list.into_iter().flat_map(|list| &list.entries) {
        bytes.extend_from_slice(entry.raw().as_bytes());
    }
}

/// The entries of all lists that were not read yet.
struct Entries {
    rest: Bytes,
}

impl Entries {
    /// The next list.
    fn list<T: Entry>(&mut self, written: Option<WrittenList>) -> Result<Option<OfferedList<T>>, String> {
        let Some(written) = written else { return Ok(None) };
        let entries = written.lengths.into_iter().map(|length| T::read(self.next(length)?).map(Arc::new));
        let entries = entries.collect::<Result<_, String>>()?;
        let set_aside =
            written.set_aside.into_iter().map(|WrittenUnusable { name, reason }| UnusableEntry { name, reason });
        Ok(Some(OfferedList {
            entries,
            set_aside: set_aside.collect(),
            cache: CacheHint { ttl_ms: written.ttl_ms, is_public: written.is_public },
            read_at: time(written.read_at)?,
        }))
    }

    fn next(&mut self, length: usize) -> Result<RawJson, String> {
        if length > self.rest.len() {
            return Err("an entry ends behind its end".to_owned());
        }
        Ok(RawJson::unchanged(self.rest.split_to(length)))
    }
}

const ERAS: [(&str, Era); 3] = [("modern", Era::Modern), ("legacy", Era::Legacy), ("legacySse", Era::LegacySse)];

const fn era_word(era: Era) -> &'static str {
    let [modern, legacy, legacy_sse] = ERAS;
    match era {
        Era::Modern => modern.0,
        Era::Legacy => legacy.0,
        Era::LegacySse => legacy_sse.0,
    }
}

fn era_of(word: &str) -> Option<Era> {
    ERAS.into_iter().find(|(name, _)| *name == word).map(|(_, era)| era)
}

#[cfg(test)]
#[path = "written_tests.rs"]
mod tests;
