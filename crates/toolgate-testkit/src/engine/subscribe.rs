//! Subscribers of 2026-07-28: who listens to what, and what they are told.

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;

use crate::engine::server::Server;
use crate::engine::session::notification;
use crate::engine::steps::{Frame, Role, Step, StepLog};
use crate::guarded::Guarded;
use crate::offer::ListKind;

/// The key that ties a message to its subscription.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// All subscribers of a server.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Guarded<Vec<Subscriber>>);

#[derive(Debug)]
struct Subscriber {
    number: u64,
    id: Value,
    filter: Value,
    outlet: StepLog,
    end: Option<oneshot::Sender<()>>,
}

/// Ends the subscription when the request that opened it ends.
#[derive(Debug)]
pub(crate) struct Listening {
    server: Arc<Server>,
    number: u64,
    ended: oneshot::Receiver<()>,
}

impl Listening {
    /// Acknowledges a `subscriptions/listen` and begins to deliver.
    pub(crate) fn begin(server: &Arc<Server>, id: &Value, wanted: &Value, outlet: &StepLog) -> Self {
        let filter = honoured(server, wanted);
        let (end, ended) = oneshot::channel();
        let number = server.fresh_number();
        let params = json!({"notifications": filter, "_meta": {SUBSCRIPTION_ID: id}});
        push(outlet, "notifications/subscriptions/acknowledged", params);
        let outlet = outlet.clone();
        let subscriber = Subscriber { number, id: id.clone(), filter, outlet, end: Some(end) };
        server.subscriptions.0.lock().push(subscriber);
        Self { server: Arc::clone(server), number, ended }
    }

    /// Waits for the server to end it.
    pub(crate) async fn until_ended(&mut self) {
        // A dropped sender means the server forgot its subscribers, which is an end as well.
        let _told = (&mut self.ended).await.is_ok();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.subscriptions.0.lock().retain(|one| one.number != self.number);
    }
}

impl Subscriptions {
    pub(crate) fn list_changed(&self, kind: ListKind) {
        self.tell(kind.notification(), &json!({}), |filter| filter[kind.filter_key()] == true);
    }

    pub(crate) fn resource_updated(&self, uri: &str) {
        self.tell("notifications/resources/updated", &json!({"uri": uri}), |filter| {
            let uris = filter["resourceSubscriptions"].as_array();
            uris.is_some_and(|uris| uris.iter().any(|wanted| wanted == uri))
        });
    }

    /// Ends them all with a result.
    pub(crate) fn end(&self) {
        for subscriber in self.0.lock().iter_mut() {
            if let Some(end) = subscriber.end.take() {
                // The request may have been cancelled in the same moment.
                let _told = end.send(()).is_ok();
            }
        }
    }

    /// Forgets them without a word.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }

    fn tell(&self, method: &str, params: &Value, wants: impl Fn(&Value) -> bool) {
        for subscriber in self.0.lock().iter().filter(|one| wants(&one.filter)) {
            let mut params = params.clone();
            params["_meta"] = json!({SUBSCRIPTION_ID: subscriber.id});
            push(&subscriber.outlet, method, params);
        }
    }
}

/// The part of a filter that this server can honour.
fn honoured(server: &Server, wanted: &Value) -> Value {
    let capabilities = server.capabilities();
    let mut filter = json!({});
    for kind in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
        let capability = match kind {
            ListKind::Tools => &capabilities["tools"],
            ListKind::Prompts => &capabilities["prompts"],
            ListKind::Resources => &capabilities["resources"],
        };
        if wanted[kind.filter_key()] == true && capability["listChanged"] == true {
            filter[kind.filter_key()] = json!(true);
        }
    }
    if capabilities["resources"]["subscribe"] == true && wanted["resourceSubscriptions"].is_array() {
        filter["resourceSubscriptions"] = wanted["resourceSubscriptions"].clone();
    }
    filter
}

fn push(outlet: &StepLog, method: &str, params: Value) {
    outlet.push([Step::Frame(Frame::new(notification(method, Some(params)), Role::Aside))]);
}
