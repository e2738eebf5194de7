//! Hearing of changes: `subscriptions/listen` in 2026-07-28, `resources/subscribe` before.
//!
//! The news themselves reach the [`ClientSide`](crate::ClientSide) as notifications, in every version.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;

use crate::call::Call;
use crate::client::{Client, ClientHandler};
use crate::error::{Error, Result};
use crate::raw::RawJson;

/// A time that no listener waits out.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What to hear of.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Changes of the list of tools.
    pub tools: bool,
    /// Changes of the list of prompts.
    pub prompts: bool,
    /// Changes of the list of resources.
    pub resources: bool,
    /// Changes of these resources.
    pub uris: Vec<String>,
    /// Changes of these tasks.
    pub tasks: Vec<String>,
}

impl Watch {
    fn filter(&self) -> serde_json::Value {
        let mut filter = serde_json::Map::new();
        let flags = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        for (name, wanted) in flags {
            if wanted {
                filter.insert(name.to_owned(), true.into());
            }
        }
        if !self.uris.is_empty() {
            filter.insert("resourceSubscriptions".to_owned(), json!(self.uris));
        }
        if !self.tasks.is_empty() {
            filter.insert("taskIds".to_owned(), json!(self.tasks));
        }
        filter.into()
    }
}

/// A subscription that lives until it is dropped, or until the server or the connection ends it.
#[derive(Debug)]
pub struct Subscription {
    /// What the server agreed to tell, in its words; everything that was asked, in versions that do not say.
    pub honoured: RawJson,
    listening: Option<Listening>,
    /// Resources to unsubscribe from, in versions where that is a request.
    subscribed: Vec<String>,
    client: Client,
}

impl Subscription {
    /// Waits until it is over; never, in versions where only the connection ends it.
    pub async fn ended(&mut self) -> Result<()> {
        match &mut self.listening {
            Some(listening) => listening.ended().await.map(drop),
            None => Err(self.client.peer().closed().await),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let uris = std::mem::take(&mut self.subscribed);
        if uris.is_empty() || self.client.peer().close_reason().is_some() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let client = self.client.clone();
            runtime.spawn(async move {
                for uri in uris {
                    let call = Call::new("resources/unsubscribe", Some(json!({ "uri": uri }).into()));
                    let _is_best_effort = client.request(call).await.is_ok();
                }
            });
        }
    }
}

/// A listen request that runs; given up at the server when it is dropped, also before it was acknowledged.
struct Listening {
    id: u64,
    call: JoinHandle<Result<RawJson>>,
    handler: Arc<ClientHandler>,
}

impl Listening {
    async fn ended(&mut self) -> Result<RawJson> {
        (&mut self.call).await.unwrap_or_else(|_| Err(Error::closed("no longer listening")))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.call.abort();
        self.handler.forget_acknowledgement(self.id);
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Client {
    /// Starts to hear of changes.
    pub async fn watch(&self, watch: &Watch) -> Result<Subscription> {
        if self.version().is_modern() {
            return self.listen(watch).await;
        }
        let mut subscription = Subscription {
            honoured: watch.filter().into(),
            listening: None,
            subscribed: Vec::new(),
            client: self.clone(),
        };
        for uri in &watch.uris {
            self.request(Call::new("resources/subscribe", Some(json!({ "uri": uri }).into()))).await?;
            subscription.subscribed.push(uri.clone());
        }
        Ok(subscription)
    }

    async fn listen(&self, watch: &Watch) -> Result<Subscription> {
        let handler = self.inner().handler.clone();
        let params = RawJson::from(json!({ "notifications": watch.filter() }));
        let id = self.peer().next_call_id();
        let acknowledged = handler.expect_acknowledgement(id);
        let call = Call::new("subscriptions/listen", Some(self.introduced(&params)))
            .id(id)
            .idle_limit(FOREVER)
            .total_limit(FOREVER);
        let peer = self.peer().clone();
        let mut listening = Listening { id, call: tokio::spawn(async move { peer.call(call).await }), handler };
        let honoured = tokio::select! {
            biased;
            Ok(honoured) = acknowledged => honoured,
            ended = listening.ended() => return Err(match ended {
                Err(error) => error.into_answer(),
                Ok(_) => Error::protocol("the server ended the subscription without acknowledging it"),
            }),
        };
        Ok(Subscription { honoured, listening: Some(listening), subscribed: Vec::new(), client: self.clone() })
    }
}
