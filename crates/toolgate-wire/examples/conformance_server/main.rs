//! The server that the official conformance suite is run against: what the suite asks for, on the server role of this crate.
//!
//! `conformance_server [PORT]` listens on 127.0.0.1 (any free port by default) and prints where; `conformance_server stdio` serves its
//! own stdin and stdout instead. Every version is served at once, the oldest HTTP transport under `/sse`.

mod asking;
mod content;
mod fixture;
mod offers;
mod tasks;
mod tools;

use std::error::Error;
use std::sync::Arc;

use tokio::net::TcpListener;
use toolgate_wire::server::Server;
use toolgate_wire::transport::http_server::{HttpOptions, HttpService, SseService, serve};

use crate::fixture::Fixture;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever starts it reads the address")]
async fn main() -> Result<(), Box<dyn Error>> {
    let fixture = Arc::new(Fixture::default());
    let server = Server::from_arc(fixture.clone());
    fixture.joined(server.changes());
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("stdio") {
        server.serve_stream(tokio::io::stdin(), tokio::io::stdout()).await;
        return Ok(());
    }
    let port = argument.map(|port| port.parse()).transpose()?.unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening http://{}/mcp", listener.local_addr()?);
    let http = HttpService::new(&server, HttpOptions::new().path("/mcp"));
    let sse = SseService::new(&server, HttpOptions::new(), "/sse", "/messages");
    let serving = serve(listener, sse.beside(http.clone()));
    tokio::signal::ctrl_c().await?;
    http.close_sessions();
    server.end_subscriptions();
    serving.stop().await;
    Ok(())
}
