//! A server over HTTP that is started anew under a client that stays. It has lost every session, and each implementation says so in words of
//! its own: 404, 400 with an error that names no request, 400 with plain text. The next calls succeed all the same.

use std::process::Stdio;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::HttpPool;
use toolgate_wire::{Client, Direction, Endpoint, Watch};

use crate::everything::{EVERYTHING, Guest, enter};
use crate::interview::{connected, text};
use crate::partners::{Partner, listening_at, node, python};

/// How many calls find the session gone at the same time.
const CALLERS: usize = 8;

/// A partner server that can be ended and started again at the same address.
struct Restartable {
    partner: Partner,
    child: Child,
    url: String,
}

impl Restartable {
    async fn start(partner: Partner) -> Self {
        let (child, url) = Self::listen(partner, "0").await;
        Self { partner, child, url }
    }

    async fn listen(partner: Partner, port: &str) -> (Child, String) {
        let (program, script) = partner.command();
        let mut command = Command::new(program);
        command.arg(script).args(["http", port]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("the partner starts");
        let url = listening_at(&mut child).await;
        (child, url)
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::Url(HttpEndpoint::new(HttpPool::default(), &self.url).expect("a URL"))
    }

    async fn restart(&mut self) {
        self.child.kill().await.expect("the partner ends");
        let address = self.url.trim_start_matches("http://").split('/').next().expect("an address");
        let (_, port) = address.rsplit_once(':').expect("a port");
        let (child, url) = Self::listen(self.partner, port).await;
        assert_eq!(url, self.url);
        self.child = child;
    }
}

async fn all_echo(client: &Client, prefix: &str) {
    let calls = (0..CALLERS).map(|caller| async move {
        let message = format!("caller {caller}");
        assert_eq!(text(client, "echo", json!({ "message": message })).await, format!("{prefix}{message}"));
    });
    join_all(calls).await;
}

async fn check(partner: Partner) {
    let mut server = Restartable::start(partner).await;
    let client = connected(server.endpoint()).await;
    all_echo(&client, "").await;
    for _ in 0..2 {
        server.restart().await;
        all_echo(&client, "").await;
    }
    client.close().await;
}

#[tokio::test]
async fn python_1_12_4() {
    check(python("python/mcp-1.12.4/bin/python", "python/server_v1.py")).await;
}

#[tokio::test]
async fn python_1_26_0() {
    check(python("python/mcp-1.26.0/bin/python", "python/server_v1.py")).await;
}

#[tokio::test]
async fn python_2_3_0() {
    check(python("python/mcp-2.3.0/bin/python", "python/server_v2.py")).await;
}

#[tokio::test]
async fn typescript_1() {
    check(node("node/server_v1.mjs")).await;
}

/// Its refusal names no request at all; and what the lost session was told is told to the new one, once.
#[tokio::test]
async fn everything() {
    let mut server = Restartable::start(EVERYTHING).await;
    let guest = Guest::new();
    let client = enter(server.endpoint(), &guest).await;
    let uri = "demo://resource/dynamic/text/1";
    let _watching =
        client.watch(&Watch { uris: vec![uri.to_owned()], ..Watch::default() }).await.expect("a subscription");
    server.restart().await;
    all_echo(&client, "Echo: ").await;
    let sent = guest.frames(Direction::Sent);
    let times = |method: &str| sent.iter().filter(|frame| frame["method"] == method).count();
    assert_eq!((times("initialize"), times("resources/subscribe")), (2, 2), "one new session for all calls");
    client.call_tool("toggle-subscriber-updates", json!({}).into()).await.expect("updates begin");
    let is_update = |method: &str, params: &Value| method == "notifications/resources/updated" && params["uri"] == uri;
    guest.hears("an update from the new server", is_update).await;
    client.close().await;
}
