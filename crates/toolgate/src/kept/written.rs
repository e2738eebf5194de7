//! How the offer of a server is written down: one JSON object, its entries as the server wrote them. Read in one pass, and what was read
//! shares the bytes of the file. Pure.

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
const FORMAT: u64 = 2;

/// What is said of a file that is not as expected.
const WORDS_CHARS: usize = 200;

/// What is kept of a server.
#[derive(Clone, Debug)]
pub struct KeptOffer {
    /// What the server was called when it was asked, for people who look into the file.
    pub server: String,
    /// What it offered.
    pub offered: Offered,
}

/// The file. `R` is raw JSON, borrowed from the file or from an offer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenOffer<R> {
    format: u64,
    server: String,
    version: String,
    era: String,
    info: R,
    capabilities: R,
    instructions: Option<String>,
    tools: Option<WrittenList<R>>,
    prompts: Option<WrittenList<R>>,
    resources: Option<WrittenList<R>>,
    templates: Option<WrittenList<R>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenList<R> {
    read_at: u64,
    ttl_ms: Option<u64>,
    is_public: bool,
    set_aside: Vec<WrittenUnusable>,
    entries: Vec<R>,
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
        let bytes = bytes.into();
        let broken = |why: &str| Error::new(ErrorKind::State, format!("this is no kept offer: {why}"));
        let written: WrittenOffer<&RawValue> = match serde_json::from_slice(&bytes) {
            Ok(written) => written,
            Err(error) => {
                let other = serde_json::from_slice(&bytes).ok().filter(|WrittenFormat { format }| *format != FORMAT);
                return Err(broken(&other.map_or_else(|| bounded(&error), |other| other_format(other.format))));
            }
        };
        if written.format != FORMAT {
            return Err(broken(&other_format(written.format)));
        }
        let version = Version::parse(&written.version);
        let offered = Offered {
            version: version.ok_or_else(|| broken("no version of the protocol is called like that"))?,
            era: era_of(&written.era).ok_or_else(|| broken("no era is called like that"))?,
            info: RawJson::part_of(&bytes, written.info),
            capabilities: RawJson::part_of(&bytes, written.capabilities),
            instructions: written.instructions,
            tools: read_list(&bytes, written.tools).map_err(|why| broken(&why))?,
            prompts: read_list(&bytes, written.prompts).map_err(|why| broken(&why))?,
            resources: read_list(&bytes, written.resources).map_err(|why| broken(&why))?,
            templates: read_list(&bytes, written.templates).map_err(|why| broken(&why))?,
        };
        Ok(Self { server: written.server, offered })
    }

    /// The offer as it is kept.
    ///
    /// # Errors
    /// When it cannot be written as JSON; what a server said always can.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        write(&self.server, &self.offered)
    }
}

/// The offer of a server as it is kept.
pub(super) fn write(server: &str, offered: &Offered) -> Result<Vec<u8>> {
    let written = WrittenOffer {
        format: FORMAT,
        server: server.to_owned(),
        version: offered.version.as_str().to_owned(),
        era: era_word(offered.era).to_owned(),
        info: &offered.info,
        capabilities: &offered.capabilities,
        instructions: offered.instructions.clone(),
        tools: offered.tools.as_ref().map(|list| write_list(list, |tool| &tool.raw)),
        prompts: offered.prompts.as_ref().map(|list| write_list(list, |prompt| &prompt.raw)),
        resources: offered.resources.as_ref().map(|list| write_list(list, |resource| &resource.raw)),
        templates: offered.templates.as_ref().map(|list| write_list(list, |template| &template.raw)),
    };
    serde_json::to_vec(&written)
        .map_err(|error| Error::new(ErrorKind::State, format!("the offer cannot be written: {error}")))
}

/// Words of the file may stand in it, at any length.
fn bounded(error: &serde_json::Error) -> String {
    error.to_string().chars().take(WORDS_CHARS).collect()
}

fn other_format(format: u64) -> String {
    format!("it has format {format}, this toolgate writes {FORMAT}")
}

fn write_list<'a, T>(list: &'a OfferedList<T>, raw: impl Fn(&'a T) -> &'a RawJson) -> WrittenList<&'a RawJson> {
    let set_aside = |entry: &UnusableEntry| WrittenUnusable { name: entry.name.clone(), reason: entry.reason.clone() };
    let since_epoch = list.read_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    WrittenList {
        read_at: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
        ttl_ms: list.cache.ttl_ms,
        is_public: list.cache.is_public,
        set_aside: list.set_aside.iter().map(set_aside).collect(),
        entries: list.entries.iter().map(|entry| raw(entry)).collect(),
    }
}

fn read_list<T: Entry>(
    bytes: &Bytes,
    written: Option<WrittenList<&RawValue>>,
) -> Result<Option<OfferedList<T>>, String> {
    let Some(written) = written else { return Ok(None) };
    let entries = written.entries.into_iter().map(|entry| T::read(RawJson::part_of(bytes, entry)).map(Arc::new));
    let read_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(written.read_at));
    let set_aside =
        written.set_aside.into_iter().map(|WrittenUnusable { name, reason }| UnusableEntry { name, reason });
    Ok(Some(OfferedList {
        entries: entries.collect::<Result<_, String>>()?,
        set_aside: set_aside.collect(),
        cache: CacheHint { ttl_ms: written.ttl_ms, is_public: written.is_public },
        read_at: read_at.ok_or("it was read at no time")?,
    }))
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
