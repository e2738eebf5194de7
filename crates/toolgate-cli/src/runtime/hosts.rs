//! The hosts that the runtime keeps: one for each folder, environment and choice of servers, lent to one command after the other. What would
//! give two commands different servers gives them different hosts.

use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use toolgate::audit::{AuditOptions, FileAudit};
use toolgate::call::{CallRules, ProgressSink};
use toolgate::connect::{FrontEnd, ServerLog, ServerStatus, ServerView};
use toolgate::discovery::Availability;
use toolgate::servers::TransportConfig;
use toolgate::settings::raw::StartMode;
use toolgate::{
    Abilities, BorrowedRequest, Elicitation, ElicitationAnswer, ErrorKind, Host, HostEnv, Interest, Loan, Memory,
    ServerName,
};

use super::context::Context;
use super::visit::Visit;
use crate::configured::Plan;
use crate::front_end::Person;
use crate::limits::{RUNTIME_HOSTS_MAX, RUNTIME_LOGIN_LOOK_MS};

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
    /// How the file with the logins was when they were looked at last.
    logins: Mutex<Option<FileState>>,
    used: Mutex<Instant>,
}

/// What tells whether a file was written since.
pub(crate) type FileState = (SystemTime, u64, u64);

/// A host that was lent to a command.
#[derive(Debug)]
pub(crate) struct Lent {
    /// What it may use of it.
    pub(crate) host: Host,
    /// Kept for as long as it is used.
    kept: Arc<Kept>,
    /// Who is told what servers say meanwhile.
    _listener: Arc<Visitor>,
}

/// Whoever uses a host at the moment: what servers say and ask goes to them.
trait Listener: fmt::Debug + Send + Sync {
    /// Puts a question of a server to them.
    fn answer(self: Arc<Self>, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer>;

    /// Takes a log entry of a server.
    fn hear(self: Arc<Self>, server: &ServerName, entry: ServerLog);
}

/// Somebody who brought a command.
#[derive(Debug)]
pub(crate) struct Visitor {
    /// How they are told something.
    pub(crate) person: Person,
    /// How they are asked something.
    pub(crate) visit: Arc<Visit>,
}

impl Listener for Visitor {
    fn answer(self: Arc<Self>, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async move { self.visit.answer_server(&server, question).await })
    }

    fn hear(self: Arc<Self>, server: &ServerName, entry: ServerLog) {
        self.person.log(server, entry);
    }
}

/// Somebody whose session borrowed a server, while a request of it runs.
impl Listener for BorrowedRequest {
    fn answer(self: Arc<Self>, _server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async move { self.elicit(question).await })
    }

    fn hear(self: Arc<Self>, _server: &ServerName, entry: ServerLog) {
        tokio::spawn(async move { self.log(entry).await });
    }
}

/// A server that is lent to a session.
#[derive(Debug)]
pub(crate) struct LentServer {
    loan: Loan,
    /// Kept for as long as it is used.
    kept: Arc<Kept>,
}

impl LentServer {
    /// Lets the session use it, until the session or the server is gone.
    pub(crate) async fn serve(self, from: OwnedReadHalf, to: OwnedWriteHalf) {
        self.loan.serve(from, to).await;
        *lock(&self.kept.used) = Instant::now();
    }
}

impl Hosts {
    /// Lends a command the host it needs, with the servers it wants; none when all are in use by others.
    pub(crate) async fn lend(&self, context: Context, plan: &Plan, visitor: Visitor) -> Option<Lent> {
        let kept = self.kept_for(context, plan)?;
        let other_logins = kept.other_logins().await;
        kept.bring_up_to_date(plan, &other_logins);
        if plan.shows_all {
            kept.host.renew(plan.interest, |server| plan.wanted.contains(server));
        }
        kept.wake(plan).await;
        let visitor = Arc::new(visitor);
        let hears = Arc::downgrade(&visitor);
        kept.listeners.add(hears);
        let hears = visitor.clone();
        let progress: ProgressSink = Arc::new(move |news| hears.person.progress(news));
        let rules = CallRules { progress: Some(progress), ..plan.call_rules.clone().unwrap_or_default() };
        let host = kept.host.with_rules(rules, &plan.env);
        Some(Lent { host, kept, _listener: visitor })
    }

    /// Lends a session one server of the host that it would get. None when it cannot have it here.
    pub(crate) async fn lend_server(&self, context: Context, plan: &Plan, server: &str) -> Option<LentServer> {
        let kept = self.kept_for(context, plan)?;
        let other_logins = kept.other_logins().await;
        kept.bring_up_to_date(plan, &other_logins);
        let listeners = kept.listeners.clone();
        // Whoever asks for nothing at the moment is not asked anything either.
        let loan = kept
            .host
            .lend(server, move |request| {
                let hears = Arc::downgrade(request);
                listeners.add(hears);
            })
            .await
            .ok()?;
        Some(LentServer { loan, kept })
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
            end_in_background(vec![all.swap_remove(oldest)]);
        }
        let kept = Arc::new(Kept::new(context, plan));
        all.push(kept.clone());
        Some(kept)
    }

    /// Ends the servers of hosts that nobody has used for that long.
    pub(crate) fn end_unused(&self, idle: Duration) {
        let is_unused = |kept: &Arc<Kept>| Arc::strong_count(kept) == 1 && lock(&kept.used).elapsed() >= idle;
        self.end_those(is_unused);
    }

    /// Ends the servers of a folder in which nothing may be started any more, and of those below it.
    pub(crate) fn end_in(&self, folder: &Path) {
        let is_unused = |kept: &Arc<Kept>| Arc::strong_count(kept) == 1 && kept.context.folder.starts_with(folder);
        self.end_those(is_unused);
    }

    fn end_those(&self, is_meant: impl FnMut(&Arc<Kept>) -> bool) {
        let mut all = lock(&self.kept);
        let (meant, others) = std::mem::take(&mut *all).into_iter().partition(is_meant);
        *all = others;
        end_in_background(meant);
    }

    /// Has the servers of a host list anew what they offer, if there is such a host.
    pub(crate) fn refresh(&self, context: &Context) {
        self.all().iter().filter(|kept| kept.context == *context).for_each(|kept| kept.host.refresh());
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

/// Nobody waits for servers that end.
fn end_in_background(hosts: Vec<Arc<Kept>>) {
    for kept in hosts {
        tokio::spawn(async move { kept.host.shutdown().await });
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        *lock(&self.kept.used) = Instant::now();
    }
}

impl Lent {
    /// Whether a person would be asked to log in to one of the servers that are wanted. Those that are being connected to are waited for, but not
    /// for long: a listing shows what is there meanwhile.
    pub(crate) async fn wants_login(&self, plan: &Plan) -> bool {
        let host = &self.kept.host;
        let is_meant = |view: &&ServerView| {
            let is_remote = !matches!(view.config.transport, TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_));
            is_remote && plan.wanted.contains(view.name()) && !view.is_remembered
        };
        let tries: FuturesUnordered<_> = host
            .servers()
            .iter()
            .filter(is_meant)
            .filter_map(|view| host.line(view.name()).ok())
            .map(|line| async move {
                match line.availability() {
                    Availability::Live => None,
                    Availability::Unavailable(error) => Some(error),
                    // What was to be started only when it is used has been: nobody knew it.
                    Availability::Connecting | Availability::Resting => line.live().await.err(),
                }
            })
            .collect();
        let wanted = tries.any(async |error| error.is_some_and(|error| error.kind() == ErrorKind::LoginNeeded));
        tokio::time::timeout(Duration::from_millis(RUNTIME_LOGIN_LOOK_MS), wanted).await.unwrap_or(false)
    }
}

impl Kept {
    fn new(context: Context, plan: &Plan) -> Self {
        let listeners = Arc::new(Listeners { can_be_asked: context.can_be_asked, all: Mutex::default() });
        let host = Host::builder(context.world(&plan.env))
            .front_end(listeners.clone())
            .interest(Interest::ALL)
            .naming(context.naming)
            .connect_limit(context.connect_limit)
            .env_exceptions(context.env_exceptions.clone())
            .token_store(context.token_store)
            .memory(Memory::Used)
            .build();
        let logins = Mutex::new(state_of(host.login_store().path()));
        Self { context, host, listeners, changing: Mutex::default(), logins, used: Mutex::new(Instant::now()) }
    }

    /// The servers to which somebody has logged in or out in another process: what was connected with the login of before is not theirs.
    async fn other_logins(&self) -> Vec<ServerName> {
        let now = state_of(self.host.login_store().path());
        let is_as_before = std::mem::replace(&mut *lock(&self.logins), now) == now;
        if is_as_before { Vec::new() } else { self.host.changed_logins().await }
    }

    /// Makes the settings of this moment true for the servers that run, starts those that are wanted, and gives one that failed, or has another
    /// login now, another try.
    fn bring_up_to_date(&self, plan: &Plan, other_logins: &[ServerName]) {
        let _one_at_a_time = lock(&self.changing);
        let views = self.host.servers();
        let has = |name: &ServerName| views.iter().any(|view| view.name() == name) && !other_logins.contains(name);
        let has_failed = |name: &ServerName| views.iter().any(|view| view.name() == name && has_failed(view));
        let is_tried_again = |name: &ServerName| plan.wanted.contains(name) && has_failed(name);
        if !other_logins.is_empty() || plan.wanted.iter().any(is_tried_again) {
            self.host
                .reconcile(plan.admitted.clone().only(|server| has(&server.name) && !is_tried_again(&server.name)));
        }
        let is_meant = |name: &ServerName| has(name) || plan.wanted.contains(name);
        self.host.reconcile(plan.admitted.clone().only(|server| is_meant(&server.name)));
    }

    /// Starts those servers that are wanted, rest until they are used, and of which what is wanted is not known from earlier.
    async fn wake(&self, plan: &Plan) {
        let views = self.host.servers();
        let is_unknown = |view: &ServerView| view.is_remembered && !self.host.knows(view.name(), plan.interest);
        let rests = |view: &&ServerView| view.config.start == StartMode::Lazy && (has_failed(view) || is_unknown(view));
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
    all: Mutex<Vec<Weak<dyn Listener>>>,
}

impl Listeners {
    fn add(&self, listener: Weak<dyn Listener>) {
        let mut all = lock(&self.all);
        all.retain(|one| one.strong_count() > 0);
        all.push(listener);
    }

    fn all(&self) -> Vec<Arc<dyn Listener>> {
        lock(&self.all).iter().filter_map(Weak::upgrade).collect()
    }
}

impl FrontEnd for Listeners {
    fn abilities(&self) -> Abilities {
        Abilities { forms: self.can_be_asked, urls: self.can_be_asked, sampling: false }
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        match self.all().as_slice() {
            [only] if self.can_be_asked => only.clone().answer(server, question),
            _ => Box::pin(async { ElicitationAnswer::Cancel }),
        }
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        self.all().into_iter().for_each(|listener| listener.hear(server, entry.clone()));
    }
}

/// How a file is; nothing when it is not there.
pub(crate) fn state_of(path: &Path) -> Option<FileState> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len(), about.ino()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::json;
    use toolgate_testkit::TestWorld;

    use super::Hosts;
    use crate::args::Options;
    use crate::limits::RUNTIME_HOSTS_MAX;
    use crate::runtime::context::Context;
    use crate::runtime::context::tests::plan;

    #[tokio::test]
    async fn a_host_that_nobody_uses_makes_room_and_ends_in_time() {
        let world = TestWorld::new().unwrap();
        let plan = |number: usize| plan(&world, &json!({"command": "srv"}), &[("NUMBER", &number.to_string())]);
        let hosts = Hosts::default();
        let kept_for = |number: usize| {
            let plan = plan(number);
            hosts.kept_for(Context::of(&plan, &Options::default(), false), &plan)
        };
        let used = kept_for(0).unwrap();
        assert!(Arc::ptr_eq(&used, &kept_for(0).unwrap()), "the same command gets the same one");
        let others: Vec<_> = (1..RUNTIME_HOSTS_MAX).map(|number| kept_for(number).unwrap()).collect();
        assert!(kept_for(RUNTIME_HOSTS_MAX).is_none(), "all are in use");
        drop(others);
        assert!(kept_for(RUNTIME_HOSTS_MAX).is_some());
        assert_eq!(hosts.all().len(), RUNTIME_HOSTS_MAX);
        hosts.end_unused(Duration::from_secs(3600));
        assert_eq!(hosts.all().len(), RUNTIME_HOSTS_MAX, "they were used just now");
        hosts.end_unused(Duration::ZERO);
        let left = hosts.all();
        assert!(matches!(left.as_slice(), [one] if Arc::ptr_eq(one, &used)), "{left:?}");
    }
}
