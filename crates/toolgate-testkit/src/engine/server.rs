//! What all connections of one scripted server share: its script, its record, what it offers now, and its sessions.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::engine::rounds::IssuedStates;
use crate::engine::session::Session;
use crate::engine::subscribe::Subscriptions;
use crate::engine::trigger::Triggers;
use crate::guarded::Guarded;
use crate::offer::{Change, ListKind, PromptScript, ResourceScript, ToolScript};
use crate::record::{Event, Record};
use crate::script::Script;

/// One scripted server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) script: Script,
    pub(crate) record: Record,
    pub(crate) triggers: Triggers,
    pub(crate) offers: Guarded<Offers>,
    pub(crate) issued: IssuedStates,
    pub(crate) subscriptions: Subscriptions,
    sessions: Guarded<BTreeMap<String, Arc<Session>>>,
    asked_for: Guarded<BTreeMap<String, u64>>,
    life: AtomicU32,
    next_number: AtomicU64,
}

/// What the server offers at the moment.
#[derive(Debug)]
pub(crate) struct Offers {
    pub(crate) tools: Vec<ToolScript>,
    pub(crate) prompts: Vec<PromptScript>,
    pub(crate) resources: Vec<ResourceScript>,
}

impl Server {
    /// A server in its Nth life.
    pub(crate) fn new(script: Script, record: Record, life: u32) -> Arc<Self> {
        record.event(Event::Started { pid: std::process::id(), life });
        let offers = Offers {
            tools: script.tools.clone(),
            prompts: script.prompts.clone(),
            resources: script.resources.clone(),
        };
        Arc::new(Self {
            triggers: Triggers::new(script.faults.len()),
            script,
            record,
            offers: Guarded::new(offers),
            issued: IssuedStates::default(),
            subscriptions: Subscriptions::default(),
            sessions: Guarded::default(),
            asked_for: Guarded::default(),
            life: AtomicU32::new(life),
            next_number: AtomicU64::new(1),
        })
    }

    /// Which life this is.
    pub(crate) fn life(&self) -> u32 {
        self.life.load(Ordering::SeqCst)
    }

    /// Begins a new life without sessions; the record goes on.
    pub(crate) fn restart(&self) {
        let life = self.life.fetch_add(1, Ordering::SeqCst) + 1;
        self.forget_sessions();
        self.subscriptions.forget();
        self.record.event(Event::Started { pid: std::process::id(), life });
    }

    /// A number nobody was given before: ids of requests to the client, sessions, streams.
    pub(crate) fn fresh_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn add_session(&self, id: &str, session: &Arc<Session>) {
        self.sessions.lock().insert(id.to_owned(), Arc::clone(session));
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions.lock().get(id).cloned()
    }

    pub(crate) fn remove_session(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions.lock().remove(id)
    }

    pub(crate) fn forget_sessions(&self) {
        self.sessions.lock().clear();
    }

    /// Counts `more` uses of a tool, prompt or resource and says how many there were.
    pub(crate) fn count_use(&self, target: &str, more: u64) -> u64 {
        let mut counts = self.asked_for.lock();
        let count = counts.entry(target.to_owned()).or_default();
        *count += more;
        *count
    }

    /// The capabilities it announces.
    pub(crate) fn capabilities(&self) -> Value {
        if let Some(capabilities) = &self.script.capabilities {
            return capabilities.clone();
        }
        let mut capabilities = json!({"tools": {"listChanged": true}, "logging": {}});
        if !self.script.prompts.is_empty() {
            capabilities["prompts"] = json!({"listChanged": true});
        }
        if !self.script.resources.is_empty() || !self.script.templates.is_empty() {
            capabilities["resources"] = json!({"subscribe": true, "listChanged": true});
        }
        if self.script.completion.is_some() {
            capabilities["completions"] = json!({});
        }
        capabilities
    }

    /// Who it says it is.
    pub(crate) fn server_info(&self) -> Value {
        json!({"name": self.script.name, "version": "1.0.0"})
    }

    /// Changes a list and tells everybody who is to know.
    pub(crate) fn change(&self, change: &Change) {
        {
            let mut offers = self.offers.lock();
            match change {
                Change::AddTool(tool) => offers.tools.push(tool.clone()),
                Change::RemoveTool(name) => offers.tools.retain(|tool| tool.name() != name),
                Change::AddPrompt(prompt) => offers.prompts.push(prompt.clone()),
                Change::AddResource(resource) => offers.resources.push(resource.clone()),
                Change::Announce(_) => (),
            }
        }
        self.announce(change.kind());
    }

    fn announce(&self, kind: ListKind) {
        let method = kind.notification();
        for session in self.sessions.lock().values().filter(|session| session.is_initialized()) {
            session.notify(method, None);
        }
        self.subscriptions.list_changed(kind);
    }

    /// Tells subscribers that a resource changed.
    pub(crate) fn resource_updated(&self, uri: &str) {
        let params = json!({"uri": uri});
        for session in self.sessions.lock().values() {
            if session.subscribed_resources.lock().contains(uri) {
                session.notify("notifications/resources/updated", Some(params.clone()));
            }
        }
        self.subscriptions.resource_updated(uri);
    }
}
