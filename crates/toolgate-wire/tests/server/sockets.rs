//! The HTTP services on real sockets, in HTTP/1.1 and HTTP/2, and the transport of 2024-11-05.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use toolgate_wire::transport::http_server::{HttpOptions, Serving, SseService, serve};

use crate::room::{Events, Room, USUAL, modern, modern_headers, request, soon};

async fn serving(room: &Room) -> (Serving, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let serving = serve(listener, room.http.clone());
    let socket = TcpStream::connect(serving.address().unwrap()).await.unwrap();
    (serving, socket)
}

fn list() -> http::Request<Full<Bytes>> {
    request("POST", &[USUAL, &modern_headers("tools/list", None)].concat(), modern(1, "tools/list", json!({})))
}

#[tokio::test]
async fn both_versions_of_http_are_spoken() {
    let room = Room::new();
    let (serving, socket) = serving(&room).await;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
    let http1 = tokio::spawn(connection);
    for _ in 0..3 {
        let answer = soon(sender.send_request(list())).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(answer.headers().contains_key("content-length"));
        let body = soon(answer.into_body().collect()).await.unwrap().to_bytes();
        assert!(body.starts_with(b"{\"jsonrpc\""));
    }
    let socket = TcpStream::connect(serving.address().unwrap()).await.unwrap();
    let (mut sender2, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
    let http2 = tokio::spawn(connection);
    let mut over_http2 = list();
    *over_http2.uri_mut() = "http://localhost/mcp".parse().unwrap();
    over_http2.headers_mut().remove("host");
    assert_eq!(
        soon(sender2.send_request(over_http2)).await.unwrap().status(),
        StatusCode::OK,
        "the host is in the target"
    );

    soon(serving.stop()).await;
    soon(http1).await.unwrap().unwrap();
    soon(http2).await.unwrap().ok();
    assert!(soon(sender.send_request(list())).await.is_err(), "nobody is there any more");
}

#[tokio::test]
async fn a_preface_in_pieces_is_understood() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let room = Room::new();
    let (serving, mut socket) = serving(&room).await;
    for piece in ["P", "RI * HTTP/2.0\r\n\r\nSM\r\n", "\r\n"] {
        socket.write_all(piece.as_bytes()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
    let mut frame = [0; 9];
    soon(socket.read_exact(&mut frame)).await.unwrap();
    assert_eq!(frame[3], 4, "the server answers with its settings");

    let mut socket = TcpStream::connect(serving.address().unwrap()).await.unwrap();
    for piece in ["P", "OST / HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        socket.write_all(piece.as_bytes()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let mut line = [0; 12];
    soon(socket.read_exact(&mut line)).await.unwrap();
    assert_eq!(&line, b"HTTP/1.1 415");
}

#[tokio::test]
async fn a_connection_that_breaks_ends_its_request() {
    let room = Room::new();
    let (_serving, socket) = serving(&room).await;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(socket)).await.unwrap();
    let connection = tokio::spawn(connection);
    let headers = [USUAL, &modern_headers("tools/call", Some("wait"))].concat();
    let call = request("POST", &headers, modern(1, "tools/call", json!({"name": "wait"})));
    let waiting = tokio::spawn(async move { sender.send_request(call).await.map(drop) });
    soon(room.sample.memory.waiting.notified()).await;
    connection.abort();
    waiting.abort();
    soon(async {
        while room.sample.memory.dropped.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn dropping_the_server_ends_its_connections() {
    let room = Room::new();
    let (serving, socket) = serving(&room).await;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
    let connection = tokio::spawn(connection);
    let headers = [USUAL, &modern_headers("subscriptions/listen", None)].concat();
    let body = modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut stream = soon(sender.send_request(request("POST", &headers, body))).await.unwrap().into_body();
    soon(stream.frame()).await.unwrap().unwrap();
    drop(serving);
    assert!(soon(stream.frame()).await.is_none_or(|frame| frame.is_err()), "the stream is cut");
    let _cut = soon(connection).await.unwrap();
}

#[tokio::test]
async fn the_oldest_transport_has_one_stream_for_everything() {
    let room = Room::new();
    let sse = SseService::new(&room.server, HttpOptions::new(), "/sse", "/messages");
    let send = |method: &str, path: String, body: String| {
        let mut sent = request(method, USUAL, body);
        *sent.uri_mut() = path.parse().unwrap();
        soon(sse.handle(sent))
    };
    let mut stream = Events::of(send("GET", "/sse".into(), String::new()).await);
    let endpoint = stream.next().await.unwrap();
    assert_eq!(endpoint.event, "endpoint");
    assert!(endpoint.data.starts_with("/messages?sessionId="), "{}", endpoint.data);
    assert_eq!(sse.connection_count(), 1);

    let params =
        json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"a": 1}}}),
    ];
    for message in messages {
        let answer = send("POST", endpoint.data.clone(), message.to_string()).await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
    }
    assert_eq!(stream.message().await["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(stream.message().await["result"], json!({"echo": {"a": 1}}));
    room.server.changes().tools_changed();
    assert_eq!(stream.message().await["method"], "notifications/tools/list_changed");

    assert_eq!(send("POST", endpoint.data.clone(), "{".into()).await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(send("POST", "/messages?sessionId=other".into(), "{}".into()).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(send("PUT", "/sse".into(), String::new()).await.status(), StatusCode::METHOD_NOT_ALLOWED);
    let mut both = sse.clone().beside(room.http.clone());
    for (path, expected) in [("/messages?sessionId=other", StatusCode::NOT_FOUND), ("/mcp", StatusCode::OK)] {
        let mut sent = list();
        *sent.uri_mut() = path.parse().unwrap();
        let answer = soon(tower_service::Service::call(&mut both, sent)).await.unwrap();
        assert_eq!(answer.status(), expected, "{path}");
    }

    drop(stream);
    assert_eq!(sse.connection_count(), 0, "a client that left is forgotten");
    assert_eq!(send("POST", endpoint.data, "{}".into()).await.status(), StatusCode::NOT_FOUND);
}
