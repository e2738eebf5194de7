//! Reaching a server through each of the ways.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::Version;
use serde_json::json;
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::transport::http_pool::{HttpPool, HttpSettings, ProxySettings};
use toolgate_wire::{ClientSide, ConnectOptions, Endpoint, Question, RawJson, Result, RpcError, connect};

use crate::listening::Listening;
use crate::proxy::Proxy;

struct Quiet;

impl ClientSide for Quiet {
    fn info(&self) -> RawJson {
        json!({"name": "quiet", "version": "1"}).into()
    }

    fn capabilities(&self, _version: toolgate_wire::Version) -> RawJson {
        RawJson::EMPTY_OBJECT
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move { Err(RpcError::method_not_found(&question.method)) })
    }
}

/// Connects and makes a few calls at once; gives the text of one.
async fn reach(settings: HttpSettings, url: &str) -> Result<String> {
    let endpoint = HttpEndpoint::new(HttpPool::new(settings), url)?;
    let client = connect(Endpoint::Http(endpoint), ConnectOptions::new(Arc::new(Quiet))).await?;
    let calls = (0..8).map(|number| client.call_tool("echo", json!({ "number": number }).into()));
    let results = futures_util::future::try_join_all(calls).await?;
    client.close().await;
    Ok(results[7].text())
}

const ANSWER: &str = r#"{"number":7}"#;

#[tokio::test]
async fn a_certificate_of_ones_own_is_trusted_and_http_2_is_agreed_on() {
    let server = Listening::securely().await;
    let settings = HttpSettings { extra_roots: vec![server.authority.clone()], ..HttpSettings::default() };
    let url = format!("https://localhost:{}/mcp", server.port);
    assert_eq!(reach(settings, &url).await.unwrap(), ANSWER);
    assert_eq!(server.versions(), [Version::HTTP_2]);
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_with_the_reason() {
    let server = Listening::securely().await;
    let url = format!("https://localhost:{}/mcp", server.port);
    let error = reach(HttpSettings::default(), &url).await.unwrap_err().to_string();
    assert!(error.contains(&url) && error.contains("certificate"), "{error}");
    assert!(server.versions().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_read_is_an_error() {
    let broken = b"-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n".to_vec();
    let settings = HttpSettings { extra_roots: vec![broken], ..HttpSettings::default() };
    let error = reach(settings, "https://localhost:1/mcp").await.unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[tokio::test]
async fn http_2_is_spoken_plainly_where_that_is_wanted() {
    let server = Listening::plainly().await;
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let settings = HttpSettings { http2_prior_knowledge: true, ..HttpSettings::default() };
    assert_eq!(reach(settings, &url).await.unwrap(), ANSWER);
    assert_eq!(reach(HttpSettings::default(), &url).await.unwrap(), ANSWER);
    assert_eq!(server.versions(), [Version::HTTP_2, Version::HTTP_11]);
}

#[tokio::test]
async fn plain_requests_go_through_the_proxy_with_the_whole_url() {
    let (server, proxy) = (Listening::plainly().await, Proxy::start().await);
    let settings = through(&proxy, "");
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    assert_eq!(reach(settings, &url).await.unwrap(), ANSWER);
    let heads = proxy.heads();
    assert!(heads.len() >= 9, "every request went through: {}", heads.len());
    for head in heads {
        assert!(head.starts_with(&format!("POST {url} HTTP/1.1\r\n")), "{head}");
        assert!(head.contains("proxy-authorization: Basic YWRhOnNlY3JldA=="), "{head}");
    }
}

#[tokio::test]
async fn secure_requests_go_through_a_tunnel() {
    let (server, proxy) = (Listening::securely().await, Proxy::start().await);
    let settings = HttpSettings { extra_roots: vec![server.authority.clone()], ..through(&proxy, "") };
    let url = format!("https://localhost:{}/mcp", server.port);
    assert_eq!(reach(settings, &url).await.unwrap(), ANSWER);
    let heads = proxy.heads();
    assert!(!heads.is_empty());
    for head in heads {
        assert!(head.starts_with(&format!("CONNECT localhost:{} HTTP/1.1\r\n", server.port)), "{head}");
        assert!(head.to_lowercase().contains("proxy-authorization: basic ywrhonnly3jlda=="), "{head}");
    }
}

#[tokio::test]
async fn hosts_that_are_excepted_are_reached_directly() {
    let (server, proxy) = (Listening::plainly().await, Proxy::start().await);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    assert_eq!(reach(through(&proxy, "127.0.0.1"), &url).await.unwrap(), ANSWER);
    assert!(proxy.heads().is_empty());
}

#[tokio::test]
async fn a_proxy_of_another_kind_is_refused_with_a_hint() {
    let proxy = ProxySettings { http: "socks5://127.0.0.1:1".into(), ..ProxySettings::default() };
    let settings = HttpSettings { proxy, ..HttpSettings::default() };
    let error = reach(settings, "http://127.0.0.1:1/mcp").await.unwrap_err().to_string();
    assert!(error.contains("`socks5:` is not supported; use `http:`"), "{error}");
}

fn through(proxy: &Proxy, no_proxy: &str) -> HttpSettings {
    let address = format!("http://ada:secret@127.0.0.1:{}", proxy.port);
    let proxy = ProxySettings { http: address.clone(), https: address, no_proxy: no_proxy.to_owned() };
    HttpSettings { proxy, ..HttpSettings::default() }
}
