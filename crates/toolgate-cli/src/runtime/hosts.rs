//! The hosts that the runtime keeps: one for each folder, environment and choice of servers, lent to one command after the other. What would
//! give two commands different servers gives them different hosts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use futures_util::future::BoxFuture;
use toolgate::audit::{AuditOptions, FileAudit};
use toolgate::auth::store::TokenStore;
use toolgate::call::{CallRules, ProgressSink};
use toolgate::connect::{FrontEnd, ServerLog, ServerStatus, ServerView};
use toolgate::settings::EnvExceptions;
use toolgate::settings::raw::StartMode;
use toolgate::{Abilities, Elicitation, ElicitationAnswer, Host, HostEnv, Interest, Memory, Naming, ServerName};

use super::visit::Visit;
use crate::args::Options;
use crate::configured::{Plan, naming};
use crate::front_end::Person;
use crate::limits::RUNTIME_HOSTS_MAX;

/// Variables that differ from one terminal to the next and mean nothing to servers.
const VOLATILE: [&str; 12] = [
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "COLUMNS",
    "LINES",
    "COLORTERM",
    "WINDOWID",
    "STY",
    "DBUS_SESSION_BUS_ADDRESS",
    "TOOLGATE_NO_RUNTIME",
    "GPG_TTY",
];

/// The beginnings of names of others.
const VOLATILE_BEGINNINGS: [&str; 6] = ["TERM", "SSH_", "TMUX", "XDG_SESSION", "VTE_", "KITTY_"];

/// Everything that decides which servers a command gets, and how they are.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Context {
    /// The folder they are started in.
    pub(crate) folder: PathBuf,
    system: PathBuf,
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    allowed: Option<Vec<String>>,
    trust_folder: bool,
    /// Whether servers are told that somebody can be asked: that is said once, when they connect.
    can_be_asked: bool,
    vars: BTreeMap<String, String>,
    naming: Naming,
    connect_limit: usize,
    env_exceptions: EnvExceptions,
    token_store: TokenStore,
}

impl std::fmt::Debug for Context {
    /// Values of variables may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Context {
    /// Of a command with that plan.
    pub(crate) fn of(plan: &Plan, options: &Options, can_be_asked: bool) -> Self {
        let HostEnv { vars, dirs, workspace, .. } = &*plan.env;
        let is_lasting = |(name, _): &(&String, &String)| {
            !VOLATILE.contains(&name.as_str()) && !VOLATILE_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        };
        Self {
            folder: workspace.clone(),
            system: dirs.system.clone(),
            home: dirs.home.clone(),
            config: options.config.as_ref().map(|config| workspace.join(config)),
            allowed: options.allowed_servers(),
            trust_folder: options.trust_folder,
            can_be_asked,
            vars: vars.iter().filter(is_lasting).map(|(name, value)| (name.clone(), value.clone())).collect(),
            naming: naming(&plan.settings),
            connect_limit: plan.settings.connect_limit(),
            env_exceptions: plan.env_exceptions.clone(),
            token_store: TokenStore::of(&plan.settings),
        }
    }
}

/// All hosts of the runtime, and what they have in common.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    kept: Mutex<Vec<Arc<Kept>>>,
    audits: Mutex<Vec<(AuditOptions, FileAudit)>>,
}

/// One host that is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    /// For whom.
    pub(crate) context: Context,
    /// The host.
    pub(crate) host: Host,
    listeners: Arc<Listeners>,
    /// Held while its servers are changed.
    changing: Mutex<()>,
    used: Mutex<Instant>,
}

/// A host that was lent to a command.
#[derive(Debug)]
pub(crate) struct Lent {
    /// What it may use of it.
    pub(crate) host: Host,
    /// Kept for as long as it is used.
    _kept: Arc<Kept>,
    /// Who is told what servers say meanwhile.
    _listener: Arc<Listener>,
}

/// Whoever uses a host at the moment.
#[derive(Debug)]
pub(crate) struct Listener {
    /// How they are told something.
    pub(crate) person: Person,
    /// How they are asked something.
    pub(crate) visit: Arc<Visit>,
}

impl Hosts {
    /// Lends a command the host it needs, with the servers it wants; none when all are in use by others.
    pub(crate) async fn lend(&self, context: Context, plan: &Plan, listener: Listener) -> Option<Lent> {
        let kept = self.kept_for(context, plan)?;
        kept.bring_up_to_date(plan);
        kept.wake(plan).await;
        let listener = Arc::new(listener);
        kept.listeners.add(&listener);
        let hears = listener.clone();
        let progress: ProgressSink = Arc::new(move |news| hears.person.progress(news));
        let rules = CallRules { progress: Some(progress), ..plan.call_rules.clone() };
        let host = kept.host.with_rules(rules, &plan.env);
        Some(Lent { host, _kept: kept, _listener: listener })
    }

    fn kept_for(&self, context: Context, plan: &Plan) -> Option<Arc<Kept>> {
        let mut all = lock(&self.kept);
        if let Some(kept) = all.iter().find(|kept| kept.context == context) {
            *lock(&kept.used) = Instant::now();
            return Some(kept.clone());
        }
        if all.len() >= RUNTIME_HOSTS_MAX {
            let unused = all.iter().enumerate().filter(|(_, kept)| Arc::strong_count(kept) == 1);
            let (oldest, _) = unused.min_by_key(|(_, kept)| *lock(&kept.used))?;
            let oldest = all.swap_remove(oldest);
            tokio::spawn(async move { oldest.host.shutdown().await });
        }
        let kept = Arc::new(Kept::new(context, plan));
        all.push(kept.clone());
        Some(kept)
    }

    /// The hosts there are.
    pub(crate) fn all(&self) -> Vec<Arc<Kept>> {
        lock(&self.kept).clone()
    }

    /// The one log of this person: closing it takes its time, and it is closed when the runtime ends.
    pub(crate) fn audit(&self, env: &HostEnv, options: AuditOptions) -> FileAudit {
        let mut audits = lock(&self.audits);
        if let Some((_, audit)) = audits.iter().find(|(of, _)| *of == options) {
            return audit.shared();
        }
        let audit = FileAudit::open(env, options);
        let shared = audit.shared();
        audits.push((options, audit));
        shared
    }

    /// Ends every server.
    pub(crate) async fn shutdown(&self) {
        let all = std::mem::take(&mut *lock(&self.kept));
        futures_util::future::join_all(all.iter().map(|kept| kept.host.shutdown())).await;
        lock(&self.audits).clear();
    }
}

impl Kept {
    fn new(context: Context, plan: &Plan) -> Self {
        let listeners = Arc::new(Listeners { can_be_asked: context.can_be_asked, all: Mutex::default() });
        let host = Host::builder((*plan.env).clone())
            .front_end(listeners.clone())
            .interest(Interest::ALL)
            .naming(context.naming)
            .connect_limit(context.connect_limit)
            .env_exceptions(context.env_exceptions.clone())
            .token_store(context.token_store)
            .memory(Memory::Used)
            .build();
        Self { context, host, listeners, changing: Mutex::default(), used: Mutex::new(Instant::now()) }
    }

    /// Makes the settings of this moment true for the servers that run, starts those that are wanted, and gives one that failed another try.
    fn bring_up_to_date(&self, plan: &Plan) {
        let _one_at_a_time = lock(&self.changing);
        let views = self.host.servers();
        let has = |name: &ServerName| views.iter().any(|view| view.name() == name);
        let has_failed = |name: &ServerName| views.iter().any(|view| view.name() == name && has_failed(view));
        let is_tried_again = |name: &ServerName| plan.wanted.contains(name) && has_failed(name);
        if plan.wanted.iter().any(is_tried_again) {
            self.host
                .reconcile(plan.admitted.clone().only(|server| has(&server.name) && !is_tried_again(&server.name)));
        }
        let is_meant = |name: &ServerName| has(name) || plan.wanted.contains(name);
        self.host.reconcile(plan.admitted.clone().only(|server| is_meant(&server.name)));
    }

    /// Starts those servers that are wanted, rest until they are used, and are not known from earlier.
    async fn wake(&self, plan: &Plan) {
        let views = self.host.servers();
        let rests = |view: &&ServerView| view.config.start == StartMode::Lazy && has_failed(view);
        let wanted = views.iter().filter(rests).filter(|view| plan.wanted.contains(view.name()));
        let lines = wanted.filter_map(|view| self.host.line(view.name()).ok());
        // Why one of them cannot be used stands in its view.
        let _woken = futures_util::future::join_all(lines.map(|line| async move { line.live().await.is_ok() })).await;
    }
}

/// Whether nothing of a server can be used or shown. A server that is known from earlier is started by whoever uses it.
fn has_failed(view: &ServerView) -> bool {
    let is_gone = matches!(view.status, ServerStatus::Failed | ServerStatus::Disconnected | ServerStatus::NeedsLogin);
    view.is_settled && is_gone && !view.is_remembered
}

/// Whoever uses a host at the moment. Servers speak to all of them, and can ask one who is alone: nothing says whose call a question is about.
#[derive(Debug)]
struct Listeners {
    can_be_asked: bool,
    all: Mutex<Vec<Weak<Listener>>>,
}

impl Listeners {
    fn add(&self, listener: &Arc<Listener>) {
        let mut all = lock(&self.all);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(listener));
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        lock(&self.all).iter().filter_map(Weak::upgrade).collect()
    }
}

impl FrontEnd for Listeners {
    fn abilities(&self) -> Abilities {
        Abilities { forms: self.can_be_asked, urls: self.can_be_asked, sampling: false }
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        match self.all().as_slice() {
            [only] if self.can_be_asked => {
                let visit = only.visit.clone();
                Box::pin(async move { visit.answer_server(&server, question).await })
            }
            _ => Box::pin(async { ElicitationAnswer::Cancel }),
        }
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        self.all().iter().for_each(|listener| listener.person.log(server, entry.clone()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
