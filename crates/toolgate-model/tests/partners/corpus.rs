//! The tools of real servers, listed by the servers themselves and declared to every provider.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolgate::RawJson;
use toolgate::wire::view::Tool;
use toolgate::wire::{ClientSide, ConnectOptions, Endpoint, Question, RpcError, Version, connect};
use toolgate_model::declare::{Declarations, ToolSource, declare};

use crate::servers::{SERVERS, Server};
use crate::subsets::{PROVIDERS, breaches};

/// One server may take this long to start and to list its tools, on a machine that is busy.
const LISTING_MAX: Duration = Duration::from_secs(60);

/// Servers that run at once.
const AT_ONCE: usize = 3;

/// A client that can do nothing and answers nothing.
struct Guest;

impl ClientSide for Guest {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate-corpus", "version": "1.0.0"}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        json!({}).into()
    }

    fn ask(&self, _question: Question) -> futures_util::future::BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async { Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "nobody is here")) })
    }
}

/// What a server lists, as it says it.
async fn tools_of(server: Server) -> Vec<Tool> {
    let folder = tempfile::tempdir().unwrap();
    let listing = async {
        let endpoint = Endpoint::Child(server.command(folder.path()));
        let client = connect(endpoint, ConnectOptions::new(Arc::new(Guest))).await.expect(server.package);
        let listing = client.list_tools().await.expect(server.package);
        assert!(listing.defects.is_empty(), "{}: {:?}", server.package, listing.defects);
        client.close().await;
        listing.entries
    };
    tokio::time::timeout(LISTING_MAX, listing).await.expect(server.package)
}

fn declared(provider: toolgate_model::provider::Provider, tools: &[Tool]) -> Declarations {
    let schemas: Vec<&str> =
        tools.iter().map(|tool| tool.input_schema.as_ref().map_or("{}", RawJson::as_str)).collect();
    let sources = tools.iter().zip(schemas).map(|(tool, schema)| {
        let description = tool.description.as_deref().unwrap_or_default();
        ToolSource { name: &tool.name, description, schema }
    });
    let declarations = declare(provider, sources);
    let broken = breaches(provider, &declarations);
    assert!(broken.is_empty(), "{provider:?}: {broken:#?}");
    declarations
}

/// A row of the report: what became of the tools of one server, or of all.
fn row(name: &str, tools: &[Tool], report: &mut String) -> Vec<Declarations> {
    let all: Vec<Declarations> = PROVIDERS.iter().map(|&provider| declared(provider, tools)).collect();
    write!(report, "| {name} | {} |", tools.len()).unwrap();
    for declarations in &all {
        let exact = declarations.accepted.iter().filter(|declaration| !declaration.is_loosened).count();
        let (accepted, quarantined) = (declarations.accepted.len(), declarations.quarantined.len());
        write!(report, " {accepted} ({exact} exact), {quarantined} left out |").unwrap();
    }
    report.push('\n');
    all
}

#[tokio::test]
async fn the_tools_of_real_servers_are_declared_to_every_provider() {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut listings = JoinSet::new();
    for (index, server) in SERVERS.into_iter().enumerate() {
        let places = places.clone();
        listings.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            (index, tools_of(server).await)
        });
    }
    let mut listed: Vec<(usize, Vec<Tool>)> = listings.join_all().await;
    listed.sort_by_key(|(index, _)| *index);
    let mut report =
        String::from("| server | tools | Gemini | OpenAI | Anthropic |\n| --- | --- | --- | --- | --- |\n");
    let mut wrong = Vec::new();
    for (index, tools) in &listed {
        let server = SERVERS[*index];
        let all = row(server.package, tools, &mut report);
        if tools.len() != server.tools {
            wrong.push(format!("{} lists {} tools, not {}", server.package, tools.len(), server.tools));
        }
        wrong.extend(all.iter().flat_map(|one| &one.quarantined).map(|one| format!("{}: {}", one.tool, one.reason)));
    }
    let everything: Vec<Tool> = listed.into_iter().flat_map(|(_, tools)| tools).collect();
    row("all at once", &everything, &mut report);
    println!("{report}");
    assert!(SERVERS.len() >= 25);
    assert!(wrong.is_empty(), "{wrong:#?}\n{report}");
}
