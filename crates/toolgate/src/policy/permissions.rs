//! `Permissions`: the policy of a program that changes it while it runs. Whoever decides reads a frozen policy; whoever changes makes a new one.
//!
//! What is added here stands in the tier of the person, beside their own rules, and survives when what is written is read again. What is denied
//! everywhere stands above all, because the program that embeds the library answers for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::broadcast;

use super::decision::{Decision, Mode, Tier};
use super::evaluate::Policy;
use super::explain::Explanation;
use super::facts::{CallFacts, ToolFacts};
use super::rule::{Rule, RuleKind, RuleOrigin, ServerPattern};
use super::verdict::Verdict;
use crate::filter::NamePattern;
use crate::limits::PERMISSION_NEWS_MAX;
use crate::server_name::ServerName;

/// What a set allows outranks its own default.
const SET_ALLOWS_PRIORITY: u16 = 92;
/// The default of a set outranks the `trust` of its server, which it replaces.
const SET_DEFAULT_PRIORITY: u16 = 91;
/// What a program denies, everywhere or to one server, is outranked by nothing.
const EVERYWHERE_PRIORITY: u16 = 999;

/// The policy of a program that changes it while it runs. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Permissions {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    current: RwLock<Policy>,
    parts: Mutex<Parts>,
    news: broadcast::Sender<PermissionChange>,
}

/// What the policy is made of.
#[derive(Debug, Default)]
struct Parts {
    base: Policy,
    added: BTreeMap<RuleId, Arc<Rule>>,
    next_id: u64,
    sets: BTreeMap<ServerName, ServerPermissions>,
    denied_everywhere: BTreeSet<String>,
}

/// A rule that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u64);

/// What one server's tools may be used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPermissions {
    /// Tools that are called without a question, except in mode `plan`.
    pub allowed: Vec<NamePattern>,
    /// Tools that are never called. They outrank those that are allowed.
    pub denied: Vec<NamePattern>,
    /// What holds for all others, in place of the server's `trust`; that holds, when this says nothing.
    pub default: Option<Decision>,
}

impl ServerPermissions {
    /// Exactly these tools and no others.
    pub fn only<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        let allowed = tools.into_iter().map(|tool| NamePattern::Exact(tool.into())).collect();
        Self { allowed, denied: Vec::new(), default: Some(Decision::Deny) }
    }
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionChange {
    /// A rule was added.
    Added(RuleId),
    /// A rule was taken away.
    Removed(RuleId),
    /// A server has a set of its own now, or another one.
    ServerSet(ServerName),
    /// A server has no set of its own any more: its `trust` holds again.
    ServerCleared(ServerName),
    /// A tool is denied everywhere.
    DeniedEverywhere(String),
    /// It is not any more.
    DenyLifted(String),
    /// What is written was read again.
    BaseReplaced,
}

impl Permissions {
    /// Begins with what is written.
    #[must_use]
    pub fn new(base: Policy) -> Self {
        let parts = Parts { base: base.clone(), ..Parts::default() };
        let (news, _) = broadcast::channel(PERMISSION_NEWS_MAX);
        Self { shared: Arc::new(Shared { current: RwLock::new(base), parts: Mutex::new(parts), news }) }
    }

    /// The policy as it is now. Later changes do not reach it.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is decided about a call.
    #[must_use]
    pub fn decide(&self, facts: &CallFacts<'_>) -> Verdict {
        self.policy().decide(facts)
    }

    /// Whether a tool is shown.
    #[must_use]
    pub fn visible(&self, tool: &ToolFacts<'_>) -> bool {
        self.policy().visible(tool)
    }

    /// Why a call is decided as it is.
    #[must_use]
    pub fn explain(&self, facts: &CallFacts<'_>) -> Explanation {
        self.policy().explain(facts)
    }

    /// Adds a rule; its tier and priority say whom it outranks.
    pub fn add(&self, rule: Rule) -> RuleId {
        let rule = Arc::new(Rule { kind: RuleKind::Added, ..rule });
        self.change(|parts| {
            let id = RuleId(parts.next_id);
            parts.next_id += 1;
            parts.added.insert(id, rule);
            (id, Some(PermissionChange::Added(id)))
        })
    }

    /// Takes an added rule away. Whether it was there.
    pub fn remove(&self, id: RuleId) -> bool {
        self.change(|parts| {
            let was_there = parts.added.remove(&id).is_some();
            (was_there, was_there.then_some(PermissionChange::Removed(id)))
        })
    }

    /// Says what one server's tools may be used for, in place of its `trust`.
    pub fn set_server(&self, server: &ServerName, permissions: ServerPermissions) {
        self.change(|parts| {
            parts.sets.insert(server.clone(), permissions);
            ((), Some(PermissionChange::ServerSet(server.clone())))
        });
    }

    /// Takes that back. Whether something was said.
    pub fn clear_server(&self, server: &ServerName) -> bool {
        self.change(|parts| {
            let was_set = parts.sets.remove(server).is_some();
            (was_set, was_set.then(|| PermissionChange::ServerCleared(server.clone())))
        })
    }

    /// Denies a tool, whoever offers it, whatever any rule says.
    pub fn deny_everywhere(&self, tool: &str) {
        self.change(|parts| {
            let is_new = parts.denied_everywhere.insert(tool.to_owned());
            ((), is_new.then(|| PermissionChange::DeniedEverywhere(tool.to_owned())))
        });
    }

    /// Takes that back. Whether it was denied.
    pub fn lift_deny(&self, tool: &str) -> bool {
        self.change(|parts| {
            let was_denied = parts.denied_everywhere.remove(tool);
            (was_denied, was_denied.then(|| PermissionChange::DenyLifted(tool.to_owned())))
        })
    }

    /// Takes what is written now; what was added stays.
    pub fn replace_base(&self, base: Policy) {
        self.change(|parts| {
            parts.base = base;
            ((), Some(PermissionChange::BaseReplaced))
        });
    }

    /// News of every change from now on. When it comes, the change holds.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<PermissionChange> {
        self.shared.news.subscribe()
    }

    /// Changes the parts and, when something changed, the policy; one change at a time, so that news come in the order of the changes.
    fn change<T>(&self, change: impl FnOnce(&mut Parts) -> (T, Option<PermissionChange>)) -> T {
        let mut parts = self.shared.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let (answer, news) = change(&mut parts);
        if let Some(news) = news {
            let policy = parts.policy();
            *self.shared.current.write().unwrap_or_else(PoisonError::into_inner) = policy;
            // Nobody listening is no reason to complain.
            drop(self.shared.news.send(news));
        }
        answer
    }
}

impl Parts {
    fn policy(&self) -> Policy {
        let sets = self.sets.iter().flat_map(|(server, set)| set_rules(server, set)).map(Arc::new);
        let everywhere = self.denied_everywhere.iter().map(|tool| Arc::new(everywhere_rule(tool)));
        let added = self.added.values().map(Arc::clone);
        Policy::of_shared(self.base.rules().map(Arc::clone).chain(added).chain(sets).chain(everywhere))
    }
}

fn set_rules(server: &ServerName, set: &ServerPermissions) -> Vec<Rule> {
    let rule = |tool: &NamePattern, decision, place| Rule {
        server: ServerPattern::Named(NamePattern::Exact(server.as_str().to_owned())),
        modes: match decision {
            Decision::Allow => vec![Mode::Default, Mode::AutoEdit, Mode::Yolo],
            Decision::Ask | Decision::Deny => Vec::new(),
        },
        ..added_rule(tool.clone(), decision, place, format!("permissions of `{server}`"))
    };
    let denied = set.denied.iter().map(|tool| rule(tool, Decision::Deny, (Tier::Admin, EVERYWHERE_PRIORITY)));
    let allowed = set.allowed.iter().map(|tool| rule(tool, Decision::Allow, (Tier::User, SET_ALLOWS_PRIORITY)));
    let default = set.default.map(|default| rule(&NamePattern::Any, default, (Tier::User, SET_DEFAULT_PRIORITY)));
    denied.chain(allowed).chain(default).collect()
}

fn everywhere_rule(tool: &str) -> Rule {
    let tool = NamePattern::Exact(tool.to_owned());
    added_rule(tool, Decision::Deny, (Tier::Admin, EVERYWHERE_PRIORITY), "denied everywhere".to_owned())
}

fn added_rule(tool: NamePattern, decision: Decision, (tier, priority): (Tier, u16), label: String) -> Rule {
    let origin = RuleOrigin { label, ..RuleOrigin::default() };
    Rule { tier, priority, kind: RuleKind::Added, origin, ..Rule::about(ServerPattern::Any, tool, decision) }
}
