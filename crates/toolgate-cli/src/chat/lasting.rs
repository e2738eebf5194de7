//! `LastingHost`: the host of a session. It outlives the commands that are typed one after the other: each borrows its servers, and shares what
//! was allowed for the session and the record of calls.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolgate::audit::AuditSink;
use toolgate::connect::Lender;
use toolgate::expose::{SlashCommand, SlashCommands};
use toolgate::grants::Grants;
use toolgate::registry::CatalogPrompt;
use toolgate::results::ResultStore;
use toolgate::trust::AdmittedServers;
use toolgate::{CallRules, Host, Interest, Memory, ServerName, ServerView};

use super::line::command_names;
use crate::arrival::Waiting;
use crate::call_rules;
use crate::configured::{Configured, Plan};
use crate::error::Result;
use crate::interrupt::{Interrupts, interrupted};
use crate::runtime::hosts::{FileState, state_of};
use crate::session::Session;

/// The host of a session.
#[derive(Debug)]
pub(crate) struct LastingHost {
    host: Host,
    grants: Arc<Grants>,
    audit: Arc<dyn AuditSink>,
    /// The one server that the session is about.
    only: Option<String>,
    /// Servers that are switched off for as long as the session lasts.
    switched_off: Mutex<BTreeSet<String>>,
    /// How the file with the logins was when it was looked at last.
    logins: Mutex<Option<FileState>>,
    /// Turned on when the person wants what runs to stop.
    stop: watch::Sender<bool>,
    /// What the model could not be told about when it was asked last, a line each.
    undeclared: Mutex<Vec<String>>,
    /// Whether a line waits for servers that are still starting.
    waiting: Waiting,
    /// Prompts as commands, and those whose new names nobody was told of yet.
    prompts: Mutex<(SlashCommands, Vec<SlashCommand>)>,
}

impl LastingHost {
    /// The host of a session that begins. Nothing is started yet.
    pub(crate) fn new(session: &Session, configured: &Configured, lender: Option<Arc<dyn Lender>>) -> Result<Self> {
        let env = &configured.setup().env;
        // What is too long for a model to be shown whole is kept for it.
        let results = Some(Arc::new(ResultStore::new(env)));
        let rules = CallRules { results, ..call_rules::for_calls(session, configured.setup())? };
        let grants = rules.grants.clone().unwrap_or_else(|| session.grants(env));
        let audit = rules.audit.clone();
        let plan = configured.plan(Interest::ALL).with(rules).borrowing(lender);
        let host = session.builder(&plan).memory(Memory::Used).build();
        let logins = Mutex::new(state_of(host.login_store().path()));
        let only = session.options().server.clone();
        let (switched_off, undeclared, prompts) = (Mutex::default(), Mutex::default(), Mutex::default());
        let stop = watch::Sender::new(false);
        let waiting = if session.printer.terminal().stdin { Waiting::ForNobody } else { Waiting::ForAll };
        Ok(Self { host, grants, audit, only, switched_off, logins, stop, undeclared, waiting, prompts })
    }

    /// The host itself.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    /// What the person allowed, also for the session only.
    pub(crate) const fn grants(&self) -> &Arc<Grants> {
        &self.grants
    }

    /// Who keeps the record of calls.
    pub(crate) fn audit(&self) -> Arc<dyn AuditSink> {
        self.audit.clone()
    }

    /// Who may want a command to stop.
    pub(crate) fn interrupts(&self) -> Interrupts {
        Interrupts::Elsewhere(self.stop.subscribe())
    }

    /// What is turned on when the person wants what runs to stop.
    pub(crate) fn stop(&self) -> watch::Sender<bool> {
        self.stop.clone()
    }

    /// Whether the person wanted what ran last to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Something new runs; whoever wanted what ran before to stop did not mean this.
    pub(crate) fn begins(&self) {
        self.stop.send_replace(false);
    }

    /// Stops what runs whenever somebody wants that, for as long as the session lasts.
    pub(crate) async fn heed_interrupts(&self) {
        loop {
            interrupted().await;
            self.stop.send_replace(true);
        }
    }

    /// Servers that are switched off for as long as the session lasts.
    pub(crate) fn switched_off(&self) -> BTreeSet<String> {
        lock(&self.switched_off).clone()
    }

    /// Switches servers off for the session, or on again. Which of them were not so before.
    pub(crate) fn switch<'n>(&self, names: &[&'n str], is_off: bool) -> Vec<&'n str> {
        let mut off = lock(&self.switched_off);
        let is_new = |name: &&&str| if is_off { off.insert((**name).to_owned()) } else { off.remove(**name) };
        names.iter().filter(is_new).copied().collect()
    }

    /// What the model could not be told about when it was asked last.
    pub(crate) fn undeclared(&self) -> Vec<String> {
        lock(&self.undeclared).clone()
    }

    /// Notes what the model could not be told about. What of it is new.
    pub(crate) fn note_undeclared(&self, now: Vec<String>) -> Vec<String> {
        let before = std::mem::replace(&mut *lock(&self.undeclared), now.clone());
        now.into_iter().filter(|line| !before.contains(line)).collect()
    }

    /// The prompts of this moment as commands. A name once given stays.
    pub(crate) fn prompts(&self) -> Vec<SlashCommand> {
        self.with_prompts(|commands| commands.all().to_vec())
    }

    fn with_prompts<T>(&self, look: impl FnOnce(&SlashCommands) -> T) -> T {
        let catalog = self.host.catalog();
        let mut prompts = lock(&self.prompts);
        let (commands, untold) = &mut *prompts;
        untold.extend(commands.follow(&catalog, &command_names()));
        look(commands)
    }

    /// What a prompt is called as a command.
    pub(crate) fn command_of(&self, prompt: &CatalogPrompt) -> Arc<str> {
        let is_it = |command: &&SlashCommand| {
            command.prompt.server == prompt.server && command.prompt.prompt.name == prompt.prompt.name
        };
        let name = self.with_prompts(|commands| commands.all().iter().find(is_it).map(|command| command.name.clone()));
        name.unwrap_or_else(|| prompt.name.clone())
    }

    /// The prompt behind a command.
    pub(crate) fn prompt(&self, name: &str) -> Option<SlashCommand> {
        self.with_prompts(|commands| commands.find(name).cloned())
    }

    /// Prompts that got another name than their own since somebody was told last.
    pub(crate) fn take_renamed(&self) -> Vec<SlashCommand> {
        std::mem::take(&mut lock(&self.prompts).1)
    }

    /// The servers behind the rules of one command, after the settings of this moment were made true.
    pub(crate) async fn lend(&self, plan: &Plan) -> Host {
        self.bring_up_to_date(plan.admitted.clone()).await;
        if plan.shows_all {
            self.host.renew(plan.interest, |_| true);
        }
        if plan.shows_all && matches!(self.waiting, Waiting::ForAll) {
            // What a script prints is the same however fast servers start.
            self.host.all_settled().await;
        }
        self.host.with_rules(plan.call_rules.clone().unwrap_or_default(), &plan.env).keeping_names()
    }

    /// Which servers a line waits for: none where somebody looks on and may type it again.
    pub(crate) const fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Makes these servers the ones of the session. One that has another login by now is connected to anew.
    pub(crate) async fn bring_up_to_date(&self, admitted: AdmittedServers) {
        let wanted = self.wanted(admitted);
        let others = self.other_logins().await;
        if !others.is_empty() {
            let _left = self.host.reconcile(wanted.clone().only(|server| !others.contains(&server.name)));
        }
        let _changed = self.host.reconcile(wanted);
    }

    /// Connects to every server anew, or only to that one, and waits until each has said what it offers, or failed.
    pub(crate) async fn restart(&self, admitted: AdmittedServers, only: Option<&str>) {
        let wanted = self.wanted(admitted);
        let is_meant = |server: &ServerName| only.is_none_or(|only| only == server.as_str());
        let _stopped = self.host.reconcile(wanted.clone().only(|server| !is_meant(&server.name)));
        let _started = self.host.reconcile(wanted);
        let views = self.host.servers();
        let names: Vec<&ServerName> = views.iter().map(ServerView::name).filter(|name| is_meant(name)).collect();
        names.iter().filter_map(|name| self.host.line(name).ok()).for_each(|line| line.refresh());
        self.wake(is_meant).await;
        // Why one of them is not there stands in its view.
        let settled = names.iter().map(|name| async { self.host.settled(name).await.is_ok() });
        let _there = futures_util::future::join_all(settled).await;
    }

    /// Has these servers say what they offer, also those that rest, and waits until each has, or has failed.
    pub(crate) async fn wake(&self, is_meant: impl Fn(&ServerName) -> bool) {
        let views = self.host.servers();
        let meant = views.iter().map(ServerView::name).filter(|name| is_meant(name));
        let tries = meant.filter_map(|name| self.host.line(name).ok()).map(async |line| line.live().await.is_ok());
        let _there = futures_util::future::join_all(tries).await;
    }

    fn wanted(&self, admitted: AdmittedServers) -> AdmittedServers {
        admitted.only(|server| self.only.as_deref().is_none_or(|only| only == &*server.name))
    }

    async fn other_logins(&self) -> Vec<ServerName> {
        let now = state_of(self.host.login_store().path());
        let is_as_before = std::mem::replace(&mut *lock(&self.logins), now) == now;
        if is_as_before { Vec::new() } else { self.host.changed_logins().await }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
