//! `subscriptions/listen` (2026-07-28): a request that stays open and carries news until one side ends it.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;

use super::ServerCore;
use super::about::{About, Feature};
use super::changes::{Audience, Wanted};
use super::context::RequestContext;
use crate::error::RpcError;
use crate::limits::{LimitBreach, SUBSCRIPTIONS_MAX};
use crate::message::Notification;
use crate::meta::SUBSCRIPTION_ID;
use crate::raw::RawJson;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
    tools_list_changed: Option<bool>,
    prompts_list_changed: Option<bool>,
    resources_list_changed: Option<bool>,
    resource_subscriptions: Option<BTreeSet<String>>,
    task_ids: Option<BTreeSet<String>>,
}

/// Runs until the client gives up, which drops this future, or the server ends.
pub(super) async fn run(core: &ServerCore, cx: &RequestContext) -> Result<RawJson, RpcError> {
    let asked = cx.params().member("notifications").filter(RawJson::is_object);
    let asked = asked.ok_or_else(|| RpcError::invalid_params("`notifications` must be an object"))?;
    let asked: Asked = asked.read().map_err(|error| RpcError::invalid_params(format!("`notifications`: {error}")))?;
    let wanted = honoured(asked, &cx.inside().about);
    if wanted.uris.len() + wanted.tasks.len() > SUBSCRIPTIONS_MAX {
        let breach =
            LimitBreach::new("SUBSCRIPTIONS_MAX", SUBSCRIPTIONS_MAX, "resources and tasks in one subscription");
        return Err(RpcError::invalid_params(breach.to_string()));
    }
    let tag = RawJson::EMPTY_OBJECT.with_member(SUBSCRIPTION_ID, &cx.id().to_raw());
    let acknowledgement =
        RawJson::EMPTY_OBJECT.with_member("notifications", &described(&wanted)).with_member("_meta", &tag);
    let listener = core.hub.listen(Audience::Subscription, wanted); // Before the acknowledgement, so that nothing after it is missed.
    let acknowledged = Notification::new("notifications/subscriptions/acknowledged", Some(acknowledgement));
    cx.inside().outlet.notify(acknowledged).await?;
    while let Some(news) = listener.next().await {
        let params = tagged(&news.params.unwrap_or(RawJson::EMPTY_OBJECT), cx);
        cx.inside().outlet.notify(Notification::new(news.method, Some(params))).await?;
    }
    Ok(RawJson::EMPTY_OBJECT.with_member("_meta", &tag))
}

fn tagged(params: &RawJson, cx: &RequestContext) -> RawJson {
    let meta = params.member("_meta").filter(RawJson::is_object).unwrap_or(RawJson::EMPTY_OBJECT);
    params.with_member("_meta", &meta.with_member(SUBSCRIPTION_ID, &cx.id().to_raw()))
}

/// What of it this server can tell.
fn honoured(asked: Asked, about: &About) -> Wanted {
    let list = |asked: Option<bool>, feature| asked == Some(true) && about.offers(feature);
    let set = |asked: Option<BTreeSet<String>>, feature| asked.filter(|_| about.offers(feature)).unwrap_or_default();
    Wanted {
        tools: list(asked.tools_list_changed, Feature::ToolsChanged),
        prompts: list(asked.prompts_list_changed, Feature::PromptsChanged),
        resources: list(asked.resources_list_changed, Feature::ResourcesChanged),
        uris: set(asked.resource_subscriptions, Feature::ResourceUpdates),
        tasks: set(asked.task_ids, Feature::Tasks),
    }
}

/// The same as the acknowledgement writes it.
fn described(wanted: &Wanted) -> RawJson {
    let mut out = RawJson::EMPTY_OBJECT;
    let lists = [
        ("resourcesListChanged", wanted.resources),
        ("promptsListChanged", wanted.prompts),
        ("toolsListChanged", wanted.tools),
    ];
    for (name, set) in [("taskIds", &wanted.tasks), ("resourceSubscriptions", &wanted.uris)] {
        if !set.is_empty() {
            out = out.with_member(name, &json!(set).into());
        }
    }
    for (name, _) in lists.into_iter().filter(|(_, told)| *told) {
        out = out.with_member(name, &json!(true).into());
    }
    out
}
