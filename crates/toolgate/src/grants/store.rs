//! `Grants`: what the person allowed, for this session in memory and for good in `grants.toml` of their own folder. No other file grants
//! anything, and one that cannot be read grants nothing.
//!
//! The file is looked at again when it changed, so that what one process is told counts in all of them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::choices::check;
use super::covering::{Covering, covering, covers_some_call};
use super::file::{parse, render};
use super::grant::{Grant, GrantScope, GrantState, GrantSubject, ReadingTools, Remember, RememberOptions};
use crate::canonical_json;
use crate::env::{Clock, HostEnv};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{GRANTS_FILE_BYTES_MAX, GRANTS_MAX, SESSION_GRANTS_MAX};
use crate::policy::Mode;
use crate::state_file::{self, Privacy};

/// The file in the person's folder.
pub const GRANTS_FILE: &str = "grants.toml";

/// The shortest id; a longer one is taken where it would not be the only one.
const ID_CHARS: usize = 6;

/// What the person allowed. Looking waits for no other process; changing what is kept for good may, so it is nothing for an async task.
pub struct Grants {
    clock: Arc<dyn Clock>,
    place: Place,
    session: Mutex<Session>,
}

/// Where it is kept what is allowed for good.
enum Place {
    File { path: PathBuf, read: Mutex<Option<Read>> },
    Memory(Mutex<Vec<Grant>>),
}

/// What the file said when it was read.
struct Read {
    stamp: Stamp,
    grants: Result<Arc<Vec<Grant>>>,
}

/// What tells one state of the file from another. It is always replaced as a whole by us; somebody else changes its time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stamp {
    Absent,
    There { modified: Option<SystemTime>, size: u64, number: u64 },
}

/// A grant that is not kept yet, and has no id.
pub(crate) enum Draft {
    Session(Grant),
    Always(Grant),
}

/// What is allowed while the session lasts.
#[derive(Default)]
struct Session {
    grants: Vec<Grant>,
    given: usize,
}

impl Grants {
    /// What is kept in the person's folder. Nothing is read before it is asked for.
    #[must_use]
    pub fn open(env: &HostEnv) -> Self {
        Self::new(env, Place::File { path: Self::file(env), read: Mutex::default() })
    }

    /// Nothing is read or written; what is allowed for good is forgotten with this.
    #[must_use]
    pub fn in_memory(env: &HostEnv) -> Self {
        Self::new(env, Place::Memory(Mutex::default()))
    }

    fn new(env: &HostEnv, place: Place) -> Self {
        Self { clock: env.clock.clone(), place, session: Mutex::default() }
    }

    /// Where it is kept.
    #[must_use]
    pub fn file(env: &HostEnv) -> PathBuf {
        env.dirs.user.join(GRANTS_FILE)
    }

    /// Whether a call is covered. When the file cannot be read only what was allowed for this session counts; [`Self::trouble`] says why.
    #[must_use]
    pub fn covering(&self, subject: &GrantSubject<'_>) -> Covering {
        let kept = self.kept().unwrap_or_default();
        let session = locked(&self.session);
        covering(session.grants.iter().chain(kept.iter()), subject, self.clock.now())
    }

    /// Whether some call of a tool may be covered, whatever its arguments.
    #[must_use]
    pub fn covers_some_call(&self, subject: &GrantSubject<'_>) -> bool {
        let kept = self.kept().unwrap_or_default();
        let session = locked(&self.session);
        covers_some_call(session.grants.iter().chain(kept.iter()), subject, self.clock.now())
    }

    /// Why nothing that was allowed for good counts, when that is so.
    #[must_use]
    pub fn trouble(&self) -> Option<Error> {
        self.kept().err()
    }

    /// All grants, those of the session first, each with whether it counts.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<(Grant, GrantState)>> {
        let kept = self.kept()?;
        let now = self.clock.now();
        let session = locked(&self.session);
        let with_state = |grant: &Grant| (grant.clone(), grant.state_at(now));
        Ok(session.grants.iter().chain(kept.iter()).map(with_state).collect())
    }

    /// Remembers an answer. What was allowed before about the same is replaced. `None` when there is nothing to remember.
    ///
    /// # Errors
    /// When that is too much to be allowed for good, or the file cannot be read or written; it is as it was then.
    pub fn remember(
        &self,
        subject: &GrantSubject<'_>,
        remember: Remember,
        options: RememberOptions,
    ) -> Result<Option<Grant>> {
        self.draft(subject, remember, options)?.map(|draft| self.keep(draft)).transpose()
    }

    /// What is to be remembered, which needs no file.
    pub(crate) fn draft(
        &self,
        subject: &GrantSubject<'_>,
        remember: Remember,
        options: RememberOptions,
    ) -> Result<Option<Draft>> {
        check(subject, remember)?;
        let scope = match remember {
            Remember::No => return Ok(None),
            Remember::ToolThisSession | Remember::ToolAlways => GrantScope::Tool,
            Remember::ServerThisSession | Remember::ServerAlways => GrantScope::Server,
            Remember::TheseArgumentsAlways => GrantScope::Arguments(canonical_json::text(subject.arguments)),
        };
        let grant = self.new_grant(subject, scope, options);
        let is_of_session = matches!(remember, Remember::ToolThisSession | Remember::ServerThisSession);
        Ok(Some(if is_of_session { Draft::Session(grant) } else { Draft::Always(grant) }))
    }

    /// Remembers it.
    pub(crate) fn keep(&self, draft: Draft) -> Result<Grant> {
        match draft {
            Draft::Session(grant) => Ok(locked(&self.session).put(grant)),
            Draft::Always(grant) => self.change(|grants| put(grants, grant)),
        }
    }

    fn new_grant(&self, subject: &GrantSubject<'_>, scope: GrantScope, options: RememberOptions) -> Grant {
        let own = || BTreeMap::from([(subject.tool.to_owned(), subject.definition.to_owned())]);
        let tools = match scope {
            GrantScope::Tool | GrantScope::Arguments(_) | GrantScope::Reading => own(),
            GrantScope::Server => subject.all_tools.clone().into_iter().chain(own()).collect(),
        };
        Grant {
            id: String::new(),
            server: subject.server.clone(),
            server_identity: subject.server_identity.to_owned(),
            scope,
            tools,
            mode: subject.mode,
            given_at: in_whole_seconds(self.clock.now()),
            given_in: subject.folder.to_owned(),
            expires_at: options.expires_at.map(in_whole_seconds),
        }
    }

    /// Trusts the read-only marks of a server: the tools run without a question until they or the server change. Replaces an
    /// earlier trust in the same server.
    ///
    /// # Errors
    /// Returns an error if there is no such tool, or the file cannot be read or written. The file then stays
    /// unchanged.
    pub fn trust_hints(&self, reading: ReadingTools<'_>) -> Result<Grant> {
        if reading.tools.is_empty() {
            let message = format!("server `{}` marks none of its tools as read-only", reading.server);
            return Err(Error::new(ErrorKind::State, message).about(reading.server));
        }
        let grant = Grant {
            id: String::new(),
            server: reading.server.clone(),
            server_identity: reading.server_identity.to_owned(),
            scope: GrantScope::Reading,
            tools: reading.tools,
            // Read-only tools may run in plan mode, the tightest one.
            mode: Mode::Plan,
            given_at: in_whole_seconds(self.clock.now()),
            given_in: reading.folder.to_owned(),
            expires_at: reading.expires_at.map(in_whole_seconds),
        };
        self.change(|grants| put(grants, grant))
    }

    /// Stops trusting the hints of a server.
    ///
    /// # Errors
    /// As for [`Self::revoke`].
    pub fn distrust_hints(&self, server: &str) -> Result<Vec<Grant>> {
        self.take_back(|grant| grant.scope == GrantScope::Reading && grant.server.as_str() == server)
    }

    /// Takes back the grants with these ids. Those that there were.
    ///
    /// # Errors
    /// When the file cannot be read or written; it is as it was then.
    pub fn revoke(&self, ids: &[&str]) -> Result<Vec<Grant>> {
        self.take_back(|grant| ids.contains(&grant.id.as_str()))
    }

    /// Takes back all grants of a server.
    ///
    /// # Errors
    /// As for [`Self::revoke`].
    pub fn revoke_server(&self, name: &str) -> Result<Vec<Grant>> {
        self.take_back(|grant| grant.server.as_str() == name)
    }

    /// Takes back all grants.
    ///
    /// # Errors
    /// As for [`Self::revoke`].
    pub fn revoke_all(&self) -> Result<Vec<Grant>> {
        self.take_back(|_| true)
    }

    fn take_back(&self, is_meant: impl Fn(&Grant) -> bool) -> Result<Vec<Grant>> {
        let mut taken: Vec<Grant> = locked(&self.session).grants.extract_if(.., |grant| is_meant(grant)).collect();
        // A folder is not made, and a file not touched, for nothing.
        if self.kept()?.iter().any(&is_meant) {
            taken.extend(self.change(|grants| Ok(grants.extract_if(.., |grant| is_meant(grant)).collect::<Vec<_>>()))?);
        }
        Ok(taken)
    }

    /// What is allowed for good, read again when the file is another one by now.
    fn kept(&self) -> Result<Arc<Vec<Grant>>> {
        match &self.place {
            Place::Memory(grants) => Ok(Arc::new(locked(grants).clone())),
            Place::File { path, read } => {
                let mut read = locked(read);
                // Looked at first: a change while the file is read is then seen the next time.
                let stamp = Stamp::of(path);
                match &*read {
                    Some(known) if known.stamp == stamp => known.grants.clone(),
                    _ => {
                        let text = state_file::read(path, GRANTS_FILE_BYTES_MAX);
                        let grants =
                            text.and_then(|text| text.map_or_else(|| Ok(Vec::new()), |text| parse(&text, path)));
                        let grants = grants.map(Arc::new);
                        *read = Some(Read { stamp, grants: grants.clone() });
                        grants
                    }
                }
            }
        }
    }

    /// Changes what is allowed for good. No other process does meanwhile.
    fn change<T>(&self, edit: impl FnOnce(&mut Vec<Grant>) -> Result<T>) -> Result<T> {
        let (path, read) = match &self.place {
            Place::Memory(grants) => return edit(&mut locked(grants)),
            Place::File { path, read } => (path, read),
        };
        let mut outcome = None;
        state_file::update(path, Privacy::Owner, GRANTS_FILE_BYTES_MAX, |old| {
            let mut grants = old.map_or_else(|| Ok(Vec::new()), |text| parse(text, path))?;
            let before = grants.clone();
            outcome = Some(edit(&mut grants)?);
            if grants == before { Ok(None) } else { render(&grants).map(Some) }
        })?;
        *locked(read) = None;
        outcome.ok_or_else(|| Error::new(ErrorKind::State, format!("{}: was not changed", path.display())))
    }
}

impl Session {
    fn put(&mut self, mut grant: Grant) -> Grant {
        self.given += 1;
        grant.id = format!("session-{}", self.given);
        self.grants.retain(|one| !is_about_the_same(one, &grant));
        if self.grants.len() >= SESSION_GRANTS_MAX {
            drop(self.grants.remove(0));
        }
        self.grants.push(grant.clone());
        grant
    }
}

/// Puts a grant among those that are kept for good, in place of the one about the same.
fn put(grants: &mut Vec<Grant>, mut grant: Grant) -> Result<Grant> {
    if let Some(same) = grants.iter_mut().find(|one| is_about_the_same(one, &grant)) {
        grant.id.clone_from(&same.id);
        same.clone_from(&grant);
        return Ok(grant);
    }
    if grants.len() >= GRANTS_MAX {
        let message = format!("there are {GRANTS_MAX} grants already, the most that are kept");
        return Err(Error::new(ErrorKind::State, message).hinting("`toolgate grants revoke` takes some of them back"));
    }
    grant.id = new_id(grants, &grant);
    grants.push(grant.clone());
    Ok(grant)
}

/// Whether one takes the place of the other. A server that is reached in another way is another server, also here, and a built-in one does
/// another thing in every folder.
fn is_about_the_same(one: &Grant, other: &Grant) -> bool {
    let is_of_one_server = (&one.server, &one.server_identity) == (&other.server, &other.server_identity);
    let is_same_place = one.given_in == other.given_in;
    is_of_one_server
        && one.scope == other.scope
        && match one.scope {
            // The hints of a server are the same in every folder.
            GrantScope::Reading => true,
            GrantScope::Server => is_same_place,
            GrantScope::Tool | GrantScope::Arguments(_) => is_same_place && one.tools.keys().eq(other.tools.keys()),
        }
}

/// A short word that no other grant has. What is allowed again later has the same one again, mostly.
fn new_id(grants: &[Grant], grant: &Grant) -> String {
    let arguments = match &grant.scope {
        GrantScope::Arguments(text) => Some(text),
        GrantScope::Tool | GrantScope::Server | GrantScope::Reading => None,
    };
    let tools: Vec<&String> = grant.tools.keys().collect();
    let about = json!([grant.server.as_str(), grant.server_identity, grant.scope.as_str(), arguments, tools]);
    let hash = canonical_json::hash(&about);
    let digits = hash.rsplit(':').next().unwrap_or_default();
    let is_free = |id: &&str| grants.iter().all(|one| one.id != *id);
    let shortened = (ID_CHARS..digits.len()).filter_map(|length| digits.get(..length)).find(is_free);
    shortened.unwrap_or(digits).to_owned()
}

/// So that it is the same when it was written and read.
fn in_whole_seconds(time: SystemTime) -> SystemTime {
    time.duration_since(UNIX_EPOCH).map_or(time, |since| UNIX_EPOCH + Duration::from_secs(since.as_secs()))
}

impl Stamp {
    fn of(path: &Path) -> Self {
        match std::fs::metadata(path) {
            Ok(about) => Self::There { modified: about.modified().ok(), size: about.len(), number: number_of(&about) },
            Err(_) => Self::Absent,
        }
    }
}

#[cfg(unix)]
fn number_of(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number_of(_about: &Metadata) -> u64 {
    0
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match &self.place {
            Place::File { path, .. } => Some(path),
            Place::Memory(_) => None,
        };
        f.debug_struct("Grants").field("file", &file).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
