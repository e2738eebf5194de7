//! Our client against `server-everything`: what moves while a call runs. Progress, cancellation, questions of the server, log messages and
//! changes.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_wire::view::Content;
use toolgate_wire::{Call, Direction, Error, RpcError, Watch};

use crate::everything::{Visit, over_every_transport};
use crate::partners::Over;

async fn progress_comes_in_order(over: Over) {
    let visit = Visit::begin(over).await;
    let steps = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = steps.clone();
    let arguments = json!({"duration": 1, "steps": 4}).into();
    let call = Call::tool("trigger-long-running-operation", &arguments).on_progress(move |note| {
        let params: Value = note.params.as_ref().expect("params").read().expect("JSON");
        seen.lock().expect("not poisoned").push((params["progress"].as_u64(), params["total"].as_u64()));
    });
    let result = visit.client.finish_tool_call(call).await.expect("the operation ends");
    assert_eq!(result.text(), "Long running operation completed. Duration: 1 seconds, Steps: 4.");
    assert_eq!(*steps.lock().expect("not poisoned"), [1, 2, 3, 4].map(|step| (Some(step), Some(4))));
    visit.client.close().await;
}

/// The server is told; it sends no answer, and late progress of the tool does no harm.
async fn a_dropped_call_is_cancelled(over: Over) {
    let visit = Visit::begin(over).await;
    let stepped = Arc::new(Notify::new());
    let step = stepped.clone();
    let arguments = json!({"duration": 2, "steps": 4}).into();
    let call = Call::tool("trigger-long-running-operation", &arguments).on_progress(move |_| step.notify_one());
    tokio::select! {
        ended = visit.client.finish_tool_call(call) => panic!("ended: {ended:?}"),
        () = stepped.notified() => {}
    }
    let cancelled = |frame: &&Value| frame["method"] == "notifications/cancelled";
    visit
        .guest
        .until("the cancellation", |guest| guest.frames(Direction::Sent).iter().any(|frame| cancelled(&frame)))
        .await;
    let sent = visit.guest.frames(Direction::Sent);
    let asked =
        sent.iter().find(|frame| frame["params"]["name"] == "trigger-long-running-operation").expect("the call");
    let given_up = sent.iter().find(cancelled).expect("the cancellation");
    assert_eq!(given_up["params"]["requestId"], asked["id"]);
    let longer = visit.call("trigger-long-running-operation", json!({"duration": 3, "steps": 1})).await;
    assert!(longer.text().starts_with("Long running operation completed. Duration: 3"), "the connection goes on");
    let received = visit.guest.frames(Direction::Received);
    assert!(!received.iter().any(|frame| frame["id"] == asked["id"]), "a cancelled call is not answered");
    visit.client.close().await;
}

async fn a_form_is_filled_in(over: Over) {
    let visit = Visit::begin(over).await;
    let result = visit.call("trigger-elicitation-request", json!({})).await;
    let question = visit.guest.last_asked("elicitation/create");
    assert_eq!(question["message"], "Please provide inputs for the following fields:");
    assert_eq!(question["requestedSchema"]["required"], json!(["name"]));
    assert_eq!(question["requestedSchema"]["properties"].as_object().expect("properties").len(), 13);
    let text = result.text();
    assert!(text.contains("✅ User provided the requested information!"), "{text}");
    assert!(text.contains("- Name: Ada\n- Agreed to terms: true"), "{text}");
    visit.client.close().await;
}

async fn a_url_is_visited(over: Over) {
    let visit = Visit::begin(over).await;
    let result = visit.call("trigger-url-elicitation", json!({"url": "https://example.com/x"})).await;
    let question = visit.guest.last_asked("elicitation/create");
    assert_eq!((&question["mode"], &question["url"]), (&json!("url"), &json!("https://example.com/x")));
    assert!(result.text().contains("✅ User completed the URL elicitation flow."), "{}", result.raw);
    let arguments = json!({"url": "https://example.com/x", "errorPath": true});
    let refused = visit.client.call_tool("trigger-url-elicitation", arguments.into()).await;
    let Err(Error::Rpc(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, RpcError::URL_ELICITATION_REQUIRED);
    let data: Value = error.data.expect("data").read().expect("JSON");
    assert_eq!(data["elicitations"][0]["mode"], "url");
    visit.client.close().await;
}

async fn a_model_is_sampled(over: Over) {
    let visit = Visit::begin(over).await;
    let result = visit.call("trigger-sampling-request", json!({"prompt": "say", "maxTokens": 5})).await;
    let question = visit.guest.last_asked("sampling/createMessage");
    assert_eq!(question["maxTokens"], 5);
    assert_eq!(question["systemPrompt"], "You are a helpful test server.");
    assert_eq!(question["messages"][0]["content"]["text"], "Resource trigger-sampling-request context: say");
    let text = result.text();
    assert!(
        text.starts_with("LLM sampling result:") && text.contains("sampled ✓") && text.contains("interop-model"),
        "{text}"
    );
    visit.client.close().await;
}

/// The server asks for the roots by itself, soon after the handshake, and says so in its log.
async fn roots_are_told(over: Over) {
    let visit = Visit::begin(over).await;
    let noted = "Roots updated: 1 root(s) received from client";
    visit.guest.hears(noted, |method, params| method == "notifications/message" && params["data"] == noted).await;
    assert_eq!(visit.guest.last_asked("roots/list"), json!({}));
    let roots = visit.call("get-roots-list", json!({})).await.text();
    assert!(roots.contains("1. workspace\n   URI: file:///workspace"), "{roots}");
    visit.client.close().await;
}

async fn log_messages_are_heard(over: Over) {
    let visit = Visit::begin(over).await;
    assert_eq!(visit.request("logging/setLevel", json!({"level": "debug"})).await, json!({}));
    visit.call("toggle-simulated-logging", json!({})).await;
    let is_simulated = |method: &str, params: &Value| {
        let from_server = params["logger"] == "everything-server";
        method == "notifications/message"
            && !from_server
            && params["data"].as_str().is_some_and(|data| data.contains("level message"))
    };
    visit.guest.hears("a simulated log message", is_simulated).await;
    visit.client.close().await;
}

async fn a_watched_resource_is_updated(over: Over) {
    let visit = Visit::begin(over).await;
    let uri = "demo://resource/dynamic/text/1";
    let watch = Watch { uris: vec![uri.to_owned()], ..Watch::default() };
    let _watching = visit.client.watch(&watch).await.expect("a subscription");
    visit.call("toggle-subscriber-updates", json!({})).await;
    let is_update = |method: &str, params: &Value| method == "notifications/resources/updated" && params["uri"] == uri;
    visit.guest.hears("the update", is_update).await;
    visit.client.close().await;
}

async fn changed_lists_are_announced(over: Over) {
    let visit = Visit::begin(over).await;
    if over != Over::Http {
        // Over HTTP it says so while it hears of the end of the handshake, when there is no stream yet that could carry it.
        visit.guest.hears("new tools", |method, _| method == "notifications/tools/list_changed").await;
    }
    let arguments = json!({"name": "x.txt.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"});
    let packed = visit.call("gzip-file-as-resource", arguments).await;
    let Content::Link { uri, name } = &packed.content[0].content else { panic!("{}", packed.raw) };
    assert_eq!((uri.as_str(), name.as_deref()), ("demo://resource/session/x.txt.gz", Some("x.txt.gz")));
    visit.guest.hears("a new resource", |method, _| method == "notifications/resources/list_changed").await;
    let resources = visit.client.list_resources().await.expect("resources");
    assert!(resources.entries.iter().any(|resource| resource.uri == *uri), "{:?}", resources.entries);
    let read = visit.client.read_resource(uri).await.expect("the packed file");
    assert!(
        read.contents[0].blob.as_deref().is_some_and(|blob| blob.starts_with("H4sI")),
        "gzip in Base64: {}",
        read.raw
    );
    visit.client.close().await;
}

over_every_transport! {
    progress_comes_in_order,
    a_dropped_call_is_cancelled,
    a_form_is_filled_in,
    a_url_is_visited,
    a_model_is_sampled,
    roots_are_told,
    log_messages_are_heard,
    a_watched_resource_is_updated,
    changed_lists_are_announced,
}
