//! The same work with toolgate's wire.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::HttpPool;
use toolgate_wire::{
    Call, Client, ClientSide, ConnectOptions, Endpoint, Error, Question, RawJson, Result, RpcError, Version, connect,
};

use crate::measure::{Load, Sample};

struct Side;

impl ClientSide for Side {
    fn info(&self) -> RawJson {
        json!({"name": "bench", "version": "1"}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        RawJson::EMPTY_OBJECT
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move { Err(RpcError::method_not_found(&question.method)) })
    }
}

/// Connects to a child process.
pub(crate) async fn over_stdio(command: &[String]) -> Result<Client> {
    let mut config = ChildConfig::new(&command[0]);
    config.args = command[1..].iter().map(Into::into).collect();
    connect(Endpoint::Child(config), ConnectOptions::new(Arc::new(Side))).await
}

/// Connects to a URL.
pub(crate) async fn over_http(url: &str) -> Result<Client> {
    let endpoint = HttpEndpoint::new(HttpPool::default(), url)?;
    connect(Endpoint::Http(endpoint), ConnectOptions::new(Arc::new(Side))).await
}

/// Runs a load on one connection.
pub(crate) async fn load(client: &Client, load: &Load) -> Result<Sample> {
    let arguments = RawJson::from_bytes(load.arguments.clone())?;
    let mut sample = Sample::new(load.calls);
    let each = load.calls / load.callers;
    let tasks: Vec<_> = (0..load.callers)
        .map(|_| {
            let (client, arguments) = (client.clone(), arguments.clone());
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let started = Instant::now();
                    client.request(Call::tool("echo", &arguments)).await?;
                    times.push(started.elapsed());
                }
                Ok::<_, Error>(times)
            })
        })
        .collect();
    for task in tasks {
        let times = task.await.map_err(|error| Error::from(RpcError::internal(error.to_string())))?;
        sample.add(times?);
    }
    sample.finish();
    Ok(sample)
}
