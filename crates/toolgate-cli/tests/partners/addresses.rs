//! The reference server at an address: streamable HTTP and HTTP+SSE, named as such and found.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::installed;
use crate::listening::Listening;
use crate::room::{Room, texts};

/// The reference server on a free port; `how` is `http` or `sse`.
fn everything(how: &str) -> Listening {
    Listening::start(&installed::everything().arg(how).arg("0"), &[])
}

/// An address where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    format!("http://{address}/mcp")
}

/// Each way to write an address, with the transport it comes to.
fn ways(http: &str, sse: &str) -> [(&'static str, Value, &'static str); 5] {
    [
        ("found-http", json!({"url": http}), "http"),
        ("found-sse", json!({"url": sse}), "sse"),
        ("named-http", json!({"httpUrl": http}), "http"),
        ("typed-http", json!({"url": http, "type": "http"}), "http"),
        ("typed-sse", json!({"url": sse, "type": "sse"}), "sse"),
    ]
}

#[test]
fn every_way_to_write_an_address_connects() {
    let (http, sse) = (everything("http"), everything("sse"));
    let room = Room::empty();
    let ways = ways(&http.url, &sse.url);
    let mut entries: Vec<(&str, Value)> = ways.iter().map(|(name, entry, _)| (*name, entry.clone())).collect();
    entries.insert(0, ("nobody", json!({"url": nobody()})));
    let config = room.write_config(&entries);
    let listing = room.json(&["--config", &config, "mcp", "list"]);
    let servers = listing["servers"].as_array().expect("servers");
    let find = |name: &str| servers.iter().find(|server| server["name"] == name).expect("a server");
    for (name, _, transport) in &ways {
        let server = find(name);
        assert_eq!((&server["status"], &server["transport"]), (&json!("connected"), &json!(transport)), "{server:#}");
        assert_eq!(server["serverInfo"]["name"], "mcp-servers/everything", "{server:#}");
        assert_eq!(server["tools"], 14, "{server:#}");
        assert_eq!((&server["prompts"], &server["resources"]), (&json!(4), &json!(7)), "{server:#}");
        let url = if *transport == "http" { &http.url } else { &sse.url };
        assert_eq!(server["target"], url.as_str(), "{server:#}");
    }
    let failed = find("nobody");
    assert_eq!(failed["status"], "failed", "{failed:#}");
    let told = failed.to_string();
    assert!(told.contains("Cannot connect to 'nobody': server may be down or URL incorrect"), "{failed:#}");
}

#[test]
fn calls_travel_over_every_transport() {
    let (http, sse) = (everything("http"), everything("sse"));
    let room = Room::empty();
    for (name, entry, _) in ways(&http.url, &sse.url) {
        let config = room.write_config(&[(name, entry)]);
        let config: [&str; 2] = ["--config", &config];
        let call = |words: &[&str]| room.call(&[words, &config].concat());
        let echo = call(&["echo", "message=hello wörld ✓"]);
        assert_eq!((&echo["server"], texts(&echo).as_str()), (&json!(name), "Echo: hello wörld ✓"));
    }
}

#[test]
fn prompts_resources_and_images_travel_over_both_transports() {
    for how in ["http", "sse"] {
        let listening = everything(how);
        let room = Room::empty();
        let config = room.write_config(&[("everything", json!({"url": listening.url}))]);
        let prints = |words: &[&str]| room.prints(&[&["--config", &config], words].concat());
        let prompt = prints(&["prompt", "args-prompt", "city=Paris"]);
        assert!(prompt.contains("What's weather in Paris?"), "{how}:\n{prompt}");
        let resource = prints(&["read", "demo://resource/static/document/instructions.md"]);
        assert!(resource.contains("# Everything Server"), "{how}:\n{resource}");
        let image = prints(&["call", "--yes", "get-tiny-image"]);
        assert!(image.contains("[Image: image/png]"), "{how}:\n{image}");
    }
}
