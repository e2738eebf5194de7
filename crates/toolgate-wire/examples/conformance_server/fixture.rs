//! `Fixture`: the service of the conformance server; which part answers what.

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate_wire::server::{About, Changes, Interruption, Reply, RequestContext, Service};
use toolgate_wire::{RawJson, RpcError, meta};

use crate::tasks::Tasks;
use crate::{offers, tools};

/// What all requests share.
pub(crate) struct Fixture {
    about: Arc<About>,
    shared: Shared,
}

/// The part that a running request holds on to.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    pub(crate) tasks: Arc<Tasks>,
    changes: Arc<OnceLock<Changes>>,
}

impl Shared {
    /// Announces a change, once the server is there to pass it on.
    pub(crate) fn announce(&self, change: impl FnOnce(&Changes)) {
        if let Some(changes) = self.changes.get() {
            change(changes);
        }
    }
}

impl Default for Fixture {
    fn default() -> Self {
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "logging": {},
            "completions": {},
            "extensions": {meta::TASKS_EXTENSION: {}},
        });
        let about = About::new("toolgate-conformance", env!("CARGO_PKG_VERSION"), capabilities.into());
        Self { about: Arc::new(about.instructions("A server for the conformance suite.")), shared: Shared::default() }
    }
}

impl Fixture {
    /// Names the place where changes are announced.
    pub(crate) fn joined(&self, changes: Changes) {
        self.shared.changes.get_or_init(|| changes);
    }
}

impl Service for Fixture {
    fn about(&self) -> Arc<About> {
        self.about.clone()
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        let shared = self.shared.clone();
        Box::pin(async move { answer(&shared, cx).await })
    }

    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        tools::input_schema(tool)
    }
}

async fn answer(shared: &Shared, cx: RequestContext) -> Result<Reply, Interruption> {
    match cx.method() {
        "tools/list" => Ok(tools::list()),
        "tools/call" => tools::call(shared, &cx).await,
        "prompts/list" => Ok(offers::prompts()),
        "prompts/get" => offers::prompt(&cx).await,
        "resources/list" => Ok(offers::resources()),
        "resources/templates/list" => Ok(offers::templates()),
        "resources/read" => Ok(offers::read(&string_param(&cx, "uri")?)?),
        "completion/complete" => Ok(json!({"completion": {"values": ["test"], "total": 1, "hasMore": false}}).into()),
        "tasks/get" => Ok(shared.tasks.get(&string_param(&cx, "taskId")?)?),
        "tasks/update" => Ok(shared.tasks.update(&string_param(&cx, "taskId")?, &cx.params())?),
        "tasks/cancel" => Ok(shared.tasks.cancel(&string_param(&cx, "taskId")?)?),
        method => Err(RpcError::method_not_found(method).into()),
    }
}

/// A parameter that must be there.
pub(crate) fn string_param(cx: &RequestContext, name: &str) -> Result<String, RpcError> {
    let value = cx.params().member(name).and_then(|value| value.read::<String>().ok());
    value.ok_or_else(|| RpcError::invalid_params(format!("`{name}` must be a string")))
}

/// An argument that must be there.
pub(crate) fn string_argument(cx: &RequestContext, name: &str) -> Result<String, RpcError> {
    let value = cx.arguments().member(name).and_then(|value| value.read::<String>().ok());
    value.ok_or_else(|| RpcError::invalid_params(format!("argument `{name}` must be a string")))
}
