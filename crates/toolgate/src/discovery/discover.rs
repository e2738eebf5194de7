//! A connection → everything its server offers. Lists are read at once, each page of them.

use std::future::Future;
use std::time::{Duration, SystemTime};

use toolgate_wire::view::{Listing, Prompt, Resource, ResourceTemplate, Tool};
use toolgate_wire::{Error as WireError, RawJson, RpcError, Subscription, Watch};

use crate::connect::{Connection, Kind};
use crate::discovery::offered::{Offered, OfferedList};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::DISCOVERY_MS;
use crate::server_name::ServerName;

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

/// What went wrong without being the end of it.
#[derive(Debug, Clone)]
pub struct Problem {
    /// With which list; with none when the server as a whole offers nothing.
    pub kind: Option<Kind>,
    /// What.
    pub error: Error,
}

/// Finds out what a server offers, and what went wrong without being the end of it.
pub(crate) async fn discover(
    connection: &Connection,
    interest: Interest,
    now: SystemTime,
) -> Result<(Offered, Vec<Problem>)> {
    let mut offered = Offered::about(connection, now);
    let wanted: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| interest.wants(*kind)).collect();
    let there: Vec<Kind> = wanted.iter().copied().filter(|kind| offered.offers(*kind)).collect();
    let listings = futures_util::future::join_all(there.iter().map(|kind| list(connection, *kind))).await;
    let mut problems = Vec::new();
    for (kind, listing) in there.iter().zip(listings) {
        match listing {
            Ok(listing) => take(&mut offered, listing, now),
            Err(error) => {
                offered.unread.push(*kind);
                problems.push(Problem { kind: Some(*kind), error });
            }
        }
    }
    if !problems.is_empty() && problems.len() == there.len() {
        return Err(problems.swap_remove(0).error);
    }
    if problems.is_empty() {
        problems.extend(nothing_offered(connection.server(), &offered, interest));
    }
    Ok((offered, problems))
}

/// What is wrong with a server that has nothing, as far as it was asked.
pub(crate) fn nothing_offered(server: &ServerName, offered: &Offered, interest: Interest) -> Option<Problem> {
    let what = "server offers no tools, prompts or resources";
    let error = || Error::new(ErrorKind::Protocol, what).about(server);
    offers_nothing(offered, interest == Interest::ALL).then(|| Problem { kind: None, error: error() })
}

/// Whether a server has nothing, as far as it was asked.
fn offers_nothing(offered: &Offered, was_asked_for_all: bool) -> bool {
    fn is_bare<T>(list: Option<&OfferedList<T>>) -> bool {
        list.is_none_or(|list| list.entries.is_empty() && list.set_aside.is_empty())
    }
    let Offered { tools, prompts, resources, templates, .. } = offered;
    let lists_nothing = is_bare(tools.as_ref())
        && is_bare(prompts.as_ref())
        && is_bare(resources.as_ref())
        && is_bare(templates.as_ref());
    Kind::ALL.iter().all(|kind| !offered.offers(*kind)) || (was_asked_for_all && lists_nothing)
}

/// The same offer with one list read anew.
pub(crate) async fn refresh(
    connection: &Connection,
    offered: &Offered,
    kind: Kind,
    now: SystemTime,
) -> Result<Offered> {
    let listing = list(connection, kind).await?;
    let mut offered = offered.clone();
    offered.unread.retain(|unread| *unread != kind);
    take(&mut offered, listing, now);
    Ok(offered)
}

fn take(offered: &mut Offered, listed: Listed, now: SystemTime) {
    match listed {
        Listed::Tools(listing) => offered.tools = Some(OfferedList::of(listing, now)),
        Listed::Prompts(listing) => offered.prompts = Some(OfferedList::of(listing, now)),
        Listed::Resources(resources, templates) => {
            offered.resources = Some(OfferedList::of(resources, now));
            offered.templates = Some(OfferedList::of(templates, now));
        }
    }
}

/// Whether a server says that it tells of changes of a list.
pub(crate) fn tells_of_changes(capabilities: &RawJson, kind: Kind) -> bool {
    let told = capabilities.member(kind.as_str()).and_then(|offer| offer.member("listChanged"));
    told.is_some_and(|flag| flag.as_bytes() == b"true")
}

/// Asks a server that wants to be asked to tell of changes; servers of other versions tell by themselves.
pub(crate) async fn watch_lists(connection: &Connection, interest: Interest) -> Result<Option<Subscription>> {
    let capabilities = connection.client().about().capabilities;
    let tells = |kind: Kind| interest.wants(kind) && tells_of_changes(&capabilities, kind);
    let (tools, prompts, resources) = (tells(Kind::Tools), tells(Kind::Prompts), tells(Kind::Resources));
    if !connection.client().version().is_modern() || !(tools || prompts || resources) {
        return Ok(None);
    }
    let watch = Watch { tools, prompts, resources, ..Watch::default() };
    within_limit(connection, "watching its lists", || connection.client().watch(&watch)).await.map(Some)
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
