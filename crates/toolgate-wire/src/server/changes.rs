//! `Changes`: news that concern many clients at once, such as a changed list, on their way to whoever wants to hear them.
//!
//! What a listener has not taken yet is merged, not queued: two changes of one list are one piece of news, and of a task only its last
//! state counts. So a slow client costs a bounded amount of memory and misses nothing that still matters.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::service::{Interest, Service};
use crate::message::Notification;
use crate::peer::lock;
use crate::raw::RawJson;

/// Tells clients what has changed. Cheap to clone; never waits.
#[derive(Clone)]
pub struct Changes(pub(super) Arc<Hub>);

impl Changes {
    /// The list of tools is another one now.
    pub fn tools_changed(&self) {
        self.0.tell(|wanted, news| news.tools |= wanted.tools);
    }

    /// The list of prompts is another one now.
    pub fn prompts_changed(&self) {
        self.0.tell(|wanted, news| news.prompts |= wanted.prompts);
    }

    /// The list of resources is another one now.
    pub fn resources_changed(&self) {
        self.0.tell(|wanted, news| news.resources |= wanted.resources);
    }

    /// The content of a resource is another one now. Told to those who watch it.
    pub fn resource_updated(&self, uri: &str) {
        self.0.tell(|wanted, news| {
            if wanted.uris.contains(uri) {
                news.uris.insert(uri.to_owned());
            }
        });
    }

    /// A task has changed; `task` is the whole of it as `tasks/get` would answer, with its `taskId`.
    pub fn task_changed(&self, task: &RawJson) {
        let Some(id) = task.member("taskId").and_then(|id| id.read::<String>().ok()) else {
            tracing::warn!("a task without `taskId` was not announced");
            return;
        };
        self.0.tell(|wanted, news| {
            if wanted.tasks.contains(&id) {
                news.tasks.insert(id.clone(), task.clone());
            }
        });
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("listeners", &lock(&self.0.listeners).len()).finish()
    }
}

/// What a listener wants to hear.
#[derive(Debug, Default, Clone)]
pub(super) struct Wanted {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: BTreeSet<String>,
    pub(super) tasks: BTreeSet<String>,
}

/// What it has not heard yet.
#[derive(Debug, Default)]
struct News {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: BTreeSet<String>,
    tasks: BTreeMap<String, RawJson>,
}

impl News {
    fn next(&mut self) -> Option<Notification> {
        let list =
            |told: &mut bool, method: &'static str| std::mem::take(told).then(|| Notification::new(method, None));
        list(&mut self.tools, "notifications/tools/list_changed")
            .or_else(|| list(&mut self.prompts, "notifications/prompts/list_changed"))
            .or_else(|| list(&mut self.resources, "notifications/resources/list_changed"))
            .or_else(|| {
                let params = RawJson::EMPTY_OBJECT.with_member("uri", &RawJson::string(&self.uris.pop_first()?));
                Some(Notification::new("notifications/resources/updated", Some(params)))
            })
            .or_else(|| Some(Notification::new("notifications/tasks", Some(self.tasks.pop_first()?.1))))
    }
}

/// Where all listeners are known.
pub(super) struct Hub {
    service: Arc<dyn Service>,
    listeners: Mutex<HashMap<u64, Arc<Ear>>>,
    next: AtomicU64,
    /// How many listeners watch each resource.
    watched: Mutex<HashMap<String, usize>>,
}

/// For whom somebody listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// A subscription, which the server may end.
    Subscription,
    /// A session, which hears news as long as it lives.
    Session,
}

/// The part of a listener that the hub knows.
struct Ear {
    audience: Audience,
    state: Mutex<EarState>,
    wake: Notify,
}

struct EarState {
    wanted: Wanted,
    news: News,
    ended: bool,
}

impl Hub {
    pub(super) fn new(service: Arc<dyn Service>) -> Arc<Self> {
        Arc::new(Self { service, listeners: Mutex::default(), next: AtomicU64::new(0), watched: Mutex::default() })
    }

    /// Begins to listen.
    pub(super) fn listen(self: &Arc<Self>, audience: Audience, wanted: Wanted) -> Listener {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let uris = wanted.uris.clone();
        let state = EarState { wanted, news: News::default(), ended: false };
        let ear = Arc::new(Ear { audience, state: Mutex::new(state), wake: Notify::new() });
        lock(&self.listeners).insert(id, ear.clone());
        let listener = Listener { hub: self.clone(), id, ear };
        uris.iter().for_each(|uri| self.count(uri, Interest::Begins));
        listener
    }

    /// Ends every subscription in order.
    pub(super) fn end_subscriptions(&self) {
        for ear in lock(&self.listeners).values().filter(|ear| ear.audience == Audience::Subscription) {
            lock(&ear.state).ended = true;
            ear.wake.notify_one();
        }
    }

    fn tell(&self, add: impl Fn(&Wanted, &mut News)) {
        for ear in lock(&self.listeners).values() {
            let mut state = lock(&ear.state);
            let EarState { wanted, news, .. } = &mut *state;
            add(wanted, news);
            ear.wake.notify_one();
        }
    }

    /// Counts who watches a resource and tells the service about the first and the last.
    fn count(&self, uri: &str, change: Interest) {
        let mut watched = lock(&self.watched);
        let turned = match change {
            Interest::Begins => {
                let count = watched.entry(uri.to_owned()).or_default();
                *count += 1;
                *count == 1
            }
            Interest::Ends => {
                let left = watched.get_mut(uri).map(|count| {
                    *count -= 1;
                    *count
                });
                left == Some(0) && watched.remove(uri).is_some()
            }
        };
        drop(watched);
        if turned {
            self.service.watch(uri, change);
        }
    }
}

/// One who listens; stops when dropped.
pub(super) struct Listener {
    hub: Arc<Hub>,
    id: u64,
    ear: Arc<Ear>,
}

impl Listener {
    /// The next piece of news; `None` when the server ends the listening.
    pub(super) async fn next(&self) -> Option<Notification> {
        loop {
            {
                let mut state = lock(&self.ear.state);
                if state.ended {
                    return None;
                }
                if let Some(news) = state.news.next() {
                    return Some(news);
                }
            }
            self.ear.wake.notified().await;
        }
    }

    /// Watches one more resource; `false` when there are `max` already.
    pub(super) fn watch(&self, uri: &str, max: usize) -> bool {
        let new = {
            let uris = &mut lock(&self.ear.state).wanted.uris;
            if !uris.contains(uri) && uris.len() >= max {
                return false;
            }
            uris.insert(uri.to_owned())
        };
        if new {
            self.hub.count(uri, Interest::Begins);
        }
        true
    }

    /// Hears nothing any more, at once, whoever still holds it.
    pub(super) fn leave(&self) {
        lock(&self.hub.listeners).remove(&self.id);
        let uris = std::mem::take(&mut lock(&self.ear.state).wanted.uris);
        uris.iter().for_each(|uri| self.hub.count(uri, Interest::Ends));
    }

    /// Watches it no longer.
    pub(super) fn unwatch(&self, uri: &str) {
        if lock(&self.ear.state).wanted.uris.remove(uri) {
            self.hub.count(uri, Interest::Ends);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.leave();
    }
}
