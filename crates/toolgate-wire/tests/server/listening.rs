//! News: to those who listen (2026-07-28), to sessions that are ready and resources they watch (before).

use serde_json::{Value, json};

use crate::room::{Events, Pipe, Room, modern, modern_headers, modern_with};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

async fn listen(room: &Room, id: u64, wanted: Value) -> Events {
    let tasks =
        json!({"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    let body = modern_with(id, "subscriptions/listen", json!({"notifications": wanted}), &tasks);
    room.post_open(&modern_headers("subscriptions/listen", None), &body).await
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for() {
    let room = Room::new();
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["file:///a"], "taskIds": ["t"]});
    let mut stream = listen(&room, 7, wanted).await;
    let honoured = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"], "taskIds": ["t"]});
    let expected = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {ID: 7}, "notifications": honoured}});
    assert_eq!(stream.message().await, expected);

    let changes = room.server.changes();
    changes.prompts_changed();
    changes.resources_changed();
    changes.resource_updated("file:///b");
    changes.task_changed(&json!({"taskId": "other", "status": "working"}).into());
    changes.tools_changed();
    let tools = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {ID: 7}}});
    assert_eq!(stream.message().await, tools);
    changes.resource_updated("file:///a");
    assert_eq!(stream.message().await["params"], json!({"_meta": {ID: 7}, "uri": "file:///a"}));
    changes.task_changed(&json!({"taskId": "t", "status": "completed"}).into());
    let task = stream.message().await;
    assert_eq!(task["method"], "notifications/tasks");
    assert_eq!(task["params"], json!({"_meta": {ID: 7}, "taskId": "t", "status": "completed"}));
    changes.tools_changed();
    assert_eq!(stream.message().await, tools, "each change is told, not only the first");

    room.server.end_subscriptions();
    let end = stream.message().await;
    assert_eq!(end["id"], 7);
    assert_eq!((&end["result"]["resultType"], &end["result"]["_meta"][ID]), (&json!("complete"), &json!(7)));
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn listeners_do_not_disturb_each_other() {
    let room = Room::new();
    let mut tools = listen(&room, 1, json!({"toolsListChanged": true})).await;
    let mut prompts = listen(&room, 2, json!({"promptsListChanged": true})).await;
    tools.message().await;
    prompts.message().await;
    let changes = room.server.changes();
    changes.tools_changed();
    changes.prompts_changed();
    assert_eq!(tools.message().await["params"]["_meta"][ID], 1);
    let heard = prompts.message().await;
    assert_eq!(
        (&heard["method"], &heard["params"]["_meta"][ID]),
        (&json!("notifications/prompts/list_changed"), &json!(2))
    );
}

#[tokio::test]
async fn what_a_slow_listener_has_not_heard_is_told_once() {
    let room = Room::new();
    let mut stream = listen(&room, 1, json!({"toolsListChanged": true, "taskIds": ["t"]})).await;
    stream.message().await;
    for state in 0..10_000 {
        room.server.changes().tools_changed();
        room.server.changes().task_changed(&json!({"taskId": "t", "state": state}).into());
    }
    assert_eq!(stream.message().await["method"], "notifications/tools/list_changed");
    assert_eq!(stream.message().await["params"]["state"], 9999, "only the last state counts");
    room.server.end_subscriptions();
    assert_eq!(stream.message().await["id"], 1);
}

#[tokio::test]
async fn listening_on_a_pipe_ends_with_a_cancellation() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    let request = modern(5, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(pipe.ask(&request).await["method"], "notifications/subscriptions/acknowledged");
    room.server.changes().tools_changed();
    assert_eq!(pipe.receive().await["params"]["_meta"][ID], 5);
    pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#).await;
    assert_eq!(pipe.ask(&modern(6, "tools/list", json!({}))).await["id"], 6);
    room.server.changes().tools_changed();
    assert_eq!(pipe.ask(&modern(7, "tools/list", json!({}))).await["id"], 7, "nothing more is heard");
}

#[tokio::test]
async fn sessions_hear_lists_always_and_resources_they_watch() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    room.server.changes().tools_changed();
    pipe.initialize("2025-11-25", json!({})).await;
    let subscribe = |what: &str| {
        json!({"jsonrpc": "2.0", "id": what, "method": format!("resources/{what}"), "params": {"uri": "file:///a"}})
            .to_string()
    };
    assert_eq!(pipe.ask(&subscribe("subscribe")).await["result"], json!({}), "nothing from before the handshake");
    let changes = room.server.changes();
    changes.resource_updated("file:///b");
    changes.resource_updated("file:///a");
    let updated =
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "file:///a"}});
    assert_eq!(pipe.receive().await, updated);
    room.server.end_subscriptions();
    changes.prompts_changed();
    let prompts = json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"});
    assert_eq!(pipe.receive().await, prompts, "a session is no subscription: it goes on");
    assert_eq!(pipe.ask(&subscribe("unsubscribe")).await["result"], json!({}));
    changes.resource_updated("file:///a");
    changes.task_changed(&json!({"taskId": "t"}).into());
    changes.tools_changed();
    assert_eq!(pipe.receive().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn the_service_knows_what_anybody_watches() {
    let room = Room::new();
    let watched = || room.sample.memory.watched.lock().unwrap().clone();
    let mut pipe = Pipe::to(&room.server);
    pipe.initialize("2025-11-25", json!({})).await;
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#;
    pipe.ask(subscribe).await;
    pipe.ask(subscribe).await;
    let mut stream = listen(&room, 1, json!({"resourceSubscriptions": ["file:///a", "file:///b"]})).await;
    stream.message().await;
    assert_eq!(watched(), ["Begins file:///a", "Begins file:///b"]);
    drop(stream);
    assert_eq!(watched(), ["Begins file:///a", "Begins file:///b", "Ends file:///b"]);
    pipe.leave().await;
    assert_eq!(watched().last().unwrap(), "Ends file:///a", "a client that left watches nothing");
}
