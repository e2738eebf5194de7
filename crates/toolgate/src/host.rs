//! `Host`: wires the stages together and holds no rules of its own. Settings in, catalog out, calls through.

mod ahead;
mod ask;
mod attend;
mod backoff;
mod board;
mod builder;
mod complete;
mod follow;
mod lend;
mod logins;
mod renew;
mod shown;
mod start_plan;
mod watching;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use self::ahead::ReadAhead;
use self::board::Board;
pub use self::builder::HostBuilder;
pub use self::lend::{BorrowedRequest, Loan};
use self::shown::Shown;
use self::start_plan::Life;
use crate::call::{self, CallContext, CallOutcome, CallRules, RunOptions};
use crate::connect::ServerView;
use crate::discovery::{Interest, Line};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{DiscoveryState, HostEvent, HostEvents};
use crate::policy::{Explanation, Mode};
use crate::registry::{Catalog, CatalogPrompt, CatalogTool, PreparedCall, nearest};
use crate::rulebook::Rulebook;
use crate::server_name::ServerName;
use crate::servers::built_in_tools::real_name;
use crate::trust::AdmittedServers;

/// All servers of a person, as one. Dropping it ends every connection.
pub struct Host {
    board: Arc<Board>,
    calls: CallContext,
    /// Which servers it shows, and whether they are another host's.
    shown: Shown,
}

/// What a host does with what servers offered in earlier runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Memory {
    /// Nothing, and it keeps nothing either.
    #[default]
    Off,
    /// Servers are asked; what they say is kept for later.
    Renewed,
    /// What is kept is shown at once, and servers are started when they are used or when it is old.
    Used,
}

impl Host {
    /// A host in that world.
    pub fn builder(env: impl Into<Arc<HostEnv>>) -> HostBuilder {
        HostBuilder::new(env.into())
    }

    /// Begins to read what is kept of these servers, for a host in that world that lives for one question and is built later: whoever has to find
    /// out by which rules it works need not wait for it.
    pub fn read_ahead(env: &Arc<HostEnv>, interest: Interest, servers: &AdmittedServers) -> ReadAhead {
        ReadAhead::for_one_question(env, interest, servers)
    }

    /// The same servers behind other rules: what somebody else may do with them. They stay this host's, which has to outlive it. It shows those
    /// that it is asked to start, as if there were no others.
    #[must_use]
    pub fn with_rules(&self, rules: CallRules, env: &HostEnv) -> Self {
        let calls = CallContext::new(rules, env).sharing_checks_with(&self.calls);
        Self { board: self.board.clone(), calls, shown: Shown::none_yet() }
    }

    /// The same for somebody who has seen what the host that lends its servers offers ([`Self::catalog`]): a name means what it was shown as,
    /// and one that is known waits for nobody.
    #[must_use]
    pub fn keeping_names(mut self) -> Self {
        self.shown.keep_names();
        self
    }

    /// Starts servers in the background, several at a time, and returns at once. Must be called within a runtime.
    ///
    /// A host whose servers are another one's shows them from now on: starting them is up to the other one.
    pub fn start(&self, servers: AdmittedServers) {
        if self.shown.are_lent() {
            return self.shown.add(servers.iter().map(|server| server.name.clone()));
        }
        attend::start(&self.board, servers);
    }

    /// Makes `servers` the ones of this host: starts those that are new or were changed, stops those that are gone or were changed when the
    /// calls that run on them have ended, and leaves the others alone. Must be called within a runtime.
    ///
    /// A host whose servers are another one's only shows them from now on, and changes nothing.
    pub fn reconcile(&self, servers: AdmittedServers) -> Reconciled {
        if self.shown.are_lent() {
            self.shown.add(servers.iter().map(|server| server.name.clone()));
            return Reconciled::default();
        }
        attend::reconcile(&self.board, servers)
    }

    /// Starts servers and waits until each is ready or has failed.
    pub async fn connect(&self, servers: AdmittedServers) -> Vec<ServerView> {
        self.start(servers);
        self.all_settled().await;
        self.servers()
    }

    /// Waits until every server is ready or has failed.
    pub async fn all_settled(&self) {
        let all_settled =
            |board: &Board| board.order(&self.shown).iter().all(|(_, is_settled)| *is_settled).then_some(());
        self.board.wait(all_settled).await;
    }

    /// Waits until that server is ready or has failed, and gives how it stands.
    pub async fn settled(&self, server: &str) -> Result<ServerView> {
        self.known(server)?;
        let settled =
            |board: &Board| board.manager.views().into_iter().find(|view| view.is_settled && **view.name() == *server);
        Ok(self.board.wait(settled).await)
    }

    /// All servers, in the order of the settings.
    pub fn servers(&self) -> Vec<ServerView> {
        let mut views = self.board.manager.views();
        views.retain(|view| self.shown.has(view.name()));
        views
    }

    /// What is offered now. What a name means never changes while this host lives, unless its servers are another one's: while a server that
    /// stands earlier may still claim the name of a tool, that tool is shown as `server__tool`.
    pub fn catalog(&self) -> Arc<Catalog> {
        if self.shown.are_lent() { self.catalog_now() } else { self.board.catalog() }
    }

    /// What is offered now, named as if nothing had been shown before: what a new host would show.
    pub fn catalog_now(&self) -> Arc<Catalog> {
        self.board.catalog_now(&self.shown)
    }

    /// Waits just long enough that `name` means what it will mean when every server has settled. The catalog given has it.
    ///
    /// Only servers that stand before the one that has the tool can still take the name away, so nobody waits for the others; and nobody
    /// can take `server__tool` away.
    pub async fn find_tool(&self, name: &str) -> Result<Arc<Catalog>> {
        let found = |catalog: &Catalog| {
            // Alternative names of built-in tools count only when no server has a tool of that name, so all servers must have settled.
            let tool = catalog.find(name).filter(|tool| real_name(name).is_none_or(|own| *tool.id.tool != *own))?;
            Some((tool.id.server.clone(), tool.name.as_str() != name || tool.qualified_name() == name))
        };
        match self.look_for(found).await {
            Ok((catalog, server)) => self.reached(&server).map(|()| catalog),
            Err(catalog) => match catalog.find(name).map(|tool| tool.id.server.clone()) {
                Some(server) => self.reached(&server).map(|()| catalog),
                None => Err(self.missing(catalog.unknown(name))),
            },
        }
    }

    /// The same for a prompt.
    pub async fn find_prompt(&self, name: &str) -> Result<CatalogPrompt> {
        let found = |catalog: &Catalog| {
            let prompt = catalog.find_prompt(name)?;
            Some((prompt.server.clone(), prompt.answers_always_to(name)))
        };
        let unknown = |catalog: &Catalog| {
            let error = Error::new(ErrorKind::UnknownPrompt, format!("there is no prompt `{name}`"));
            match nearest(name, catalog.prompts().iter().map(|prompt| &*prompt.name)).as_slice() {
                [] => error,
                names => error.hinting(format!("did you mean `{}`?", names.join("`, `"))),
            }
        };
        match self.look_for(found).await {
            Ok((catalog, server)) => {
                self.reached(&server)?;
                catalog.find_prompt(name).cloned().ok_or_else(|| unknown(&catalog))
            }
            Err(catalog) => Err(self.missing(unknown(&catalog))),
        }
    }

    /// The server that has the resource at `uri`: one that lists it, else one that has a template for it.
    pub async fn find_resource(&self, uri: &str) -> Result<ServerName> {
        let listed = |catalog: &Catalog| Some((catalog.lister_of(uri)?.clone(), false));
        let fits = |catalog: &Catalog| catalog.template_for(uri).map(|template| template.server.clone());
        let known = match self.board.wait_for(&self.shown, listed).await {
            Ok((_, server)) => Some(server),
            Err(catalog) => fits(&catalog),
        };
        let found = match known {
            Some(server) => Some(server),
            None => match self.look_for(listed).await {
                Ok((_, server)) => Some(server),
                Err(catalog) => fits(&catalog),
            },
        };
        let server = found.ok_or_else(|| {
            let what = format!("no server lists the resource `{}` or has a template for it", uri.escape_debug());
            self.missing(Error::new(ErrorKind::UnknownResource, what))
        })?;
        self.reached(&server).map(|()| server)
    }

    /// Whether a server that has what was looked for can be used, as far as somebody with one question waits for that: the one attempt to reach
    /// it has been made.
    fn reached(&self, server: &ServerName) -> Result<()> {
        let is_meant = |view: &ServerView| view.name() == server && view.is_out_of_reach();
        let failed = || self.board.manager.views().into_iter().find(is_meant).and_then(|view| view.error);
        if self.board.life == Life::Long { Ok(()) } else { failed().map_or(Ok(()), Err) }
    }

    /// Waits until what is looked for is found for good. What no server is known to have may be new: then those are asked that are known from
    /// earlier runs only, or not at all.
    async fn look_for(
        &self,
        find: impl Fn(&Catalog) -> Option<(ServerName, bool)>,
    ) -> Result<(Arc<Catalog>, ServerName), Arc<Catalog>> {
        match self.board.wait_for(&self.shown, &find).await {
            Err(_) if self.board.wake(|server| self.shown.has(server)) => self.board.wait_for(&self.shown, find).await,
            found => found,
        }
    }

    /// When something is missing, a server that failed may be the one that has it.
    fn missing(&self, error: Error) -> Error {
        let failed: Vec<ServerView> = self.servers().into_iter().filter(|view| view.error.is_some()).collect();
        if failed.is_empty() || error.hint().is_some() {
            return error;
        }
        let names: Vec<&str> = failed.iter().map(|view| view.name().as_str()).collect();
        error.hinting(format!("`{}` could not be asked; `toolgate mcp list` says why", names.join("`, `")))
    }

    /// The news of this host, from now on.
    pub fn events(&self) -> HostEvents {
        self.board.events()
    }

    /// Tells whoever listens.
    pub(crate) fn tell(&self, event: HostEvent) {
        self.board.tell(event);
    }

    /// Whether all servers have been asked what they offer.
    pub fn discovery(&self) -> DiscoveryState {
        self.board.discovery()
    }

    /// Runs a call to its end: decided, confirmed where that is needed, invoked, recorded. Dropping the future cancels it at the server.
    pub async fn run(&self, call: PreparedCall, options: RunOptions) -> CallOutcome {
        call::run(&self.calls, &call, options).await
    }

    /// What would be decided about a call, and why. Nothing is called.
    pub fn explain(&self, call: &PreparedCall) -> Explanation {
        call::explain(&self.calls, call)
    }

    /// Why a tool is not to be shown, whatever it is called with. `None` when it is.
    pub fn why_hidden(&self, catalog: &Catalog, tool: &CatalogTool) -> Option<String> {
        call::why_hidden(&self.calls, catalog, tool)
    }

    /// What every call goes through.
    pub const fn calls(&self) -> &CallContext {
        &self.calls
    }

    /// Takes other rules, from the next call on. Rules that a program added stay.
    ///
    /// # Errors
    /// Returns an error if a file among them cannot be used. The previous rules then stay in force.
    pub fn use_rules(&self, rules: &Rulebook) -> Result<()> {
        if let Some(error) = rules.error() {
            return Err(error);
        }
        self.calls.use_rules(rules.policy.clone(), &rules.checkers, rules.folder);
        Ok(())
    }

    /// Has these folders beside the workspace, from the next call on: absolute paths without links. Servers are told that the roots changed.
    /// Built-in servers get them with their configuration ([`Self::reconcile`]). Must be called within a runtime.
    /// Says whether they are others than before.
    pub fn include(&self, folders: &[PathBuf]) -> bool {
        let is_other = self.calls.include(folders);
        if !self.shown.are_lent() {
            for connection in self.board.manager.include(folders) {
                tokio::spawn(async move { connection.tell_of_roots().await });
            }
        }
        is_other
    }

    /// Whether some of its servers may be shared ones of a runtime.
    pub(crate) fn borrows(&self) -> bool {
        self.board.manager.borrows()
    }

    /// Lets more or less through without a question, from the next call on.
    pub fn set_mode(&self, mode: Mode) {
        self.calls.set_mode(mode);
    }

    /// The way to a server.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn line(&self, server: &str) -> Result<Line> {
        let line = self.board.line(server).filter(|line| self.shown.has(line.server()));
        line.ok_or_else(|| self.unknown_server(server))
    }

    /// Never frees what servers offered: for a process that ends next. The system takes all memory at once; piece by piece it takes as long as
    /// naming all tools.
    pub fn leave_offers_to_the_system(&self) {
        self.board.leave_offers_to_the_system();
    }

    fn known(&self, server: &str) -> Result<()> {
        let is_known = self.board.order(&self.shown).iter().any(|(name, _)| **name == *server);
        if is_known { Ok(()) } else { Err(self.unknown_server(server)) }
    }

    fn unknown_server(&self, server: &str) -> Error {
        let names = self.board.order(&self.shown);
        unknown_server(server, names.iter().map(|(name, _)| name.as_str()))
    }

    /// The end of what a server wrote to stderr, also of one that failed; empty when it is no child of ours.
    pub fn stderr_tail(&self, server: &str) -> String {
        self.known(server).map(|()| self.board.manager.stderr_tail(server)).unwrap_or_default()
    }

    /// Ends every connection in order, children included. Nothing can be started afterwards. The servers of another host are left alone.
    pub async fn shutdown(&self) {
        if self.shown.are_lent() {
            return;
        }
        self.board.stop_attending();
        self.board.manager.close_all().await;
        self.board.keep_the_rest();
        self.board.manager.logins().settle().await;
        self.board.clear();
    }
}

/// What [`Host::reconcile`] changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Servers that are new.
    pub added: Vec<ServerName>,
    /// Servers that mean something else than before, and were started anew.
    pub restarted: Vec<ServerName>,
    /// Servers that are gone.
    pub removed: Vec<ServerName>,
}

impl Reconciled {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.restarted.is_empty() && self.removed.is_empty()
    }
}

/// There is no server of that name among `names`.
pub fn unknown_server<'a>(server: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let error = Error::new(ErrorKind::UnknownServer, format!("there is no server `{}`", server.escape_debug()));
    match nearest(server, names.clone()).as_slice() {
        [] => error.hinting(format!("there is `{}`", names.collect::<Vec<_>>().join("`, `"))),
        close => error.hinting(format!("did you mean `{}`?", close.join("`, `"))),
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.shown.are_lent() {
            return;
        }
        self.board.stop_attending();
        // A catalog that somebody kept must not keep servers running.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let board = self.board.clone();
            runtime.spawn(async move { board.manager.close_all().await });
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("connections", &self.board.manager).finish_non_exhaustive()
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder").field("env", &self.env).finish_non_exhaustive()
    }
}
