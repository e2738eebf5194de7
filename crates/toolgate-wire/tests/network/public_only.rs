//! A pool that connects to public addresses only.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use toolgate_wire::transport::http_pool::{HttpPool, HttpSettings, ProxySettings};

use crate::listening::Listening;
use crate::proxy::Proxy;

async fn failure(settings: HttpSettings, url: &str) -> String {
    let pool = HttpPool::new(HttpSettings { public_only: true, ..settings });
    let request = Request::get(url).body(Full::new(Bytes::new())).unwrap();
    pool.request(request).await.unwrap_err().to_string()
}

#[tokio::test]
async fn what_only_this_machine_can_reach_is_refused() {
    let server = Listening::plainly().await;
    let port = server.port;
    let hosts = ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "127.1", "[::ffff:127.0.0.1]"];
    for host in hosts {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}/x?key=secret");
            let error = failure(HttpSettings::default(), &url).await;
            let expected = format!("GET {scheme}://{host}:{port}/x?…: `{host}` has no public address");
            assert_eq!(error, expected);
            let over_http_2 = HttpSettings { http2_prior_knowledge: true, ..HttpSettings::default() };
            assert_eq!(failure(over_http_2, &url).await, expected);
        }
    }
    assert!(server.versions().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_stands_for() {
    let server = Listening::plainly().await;
    let Some(name) = name_of_this_machine() else { return };
    for scheme in ["http", "https"] {
        let error = failure(HttpSettings::default(), &format!("{scheme}://{name}:{}/", server.port)).await;
        assert!(error.contains(&format!("`{name}` has no public address")), "{error}");
    }
    assert!(server.versions().is_empty(), "nothing was sent");
}

/// A name from the system's own list that stands for an address of this machine or network, without saying so.
fn name_of_this_machine() -> Option<String> {
    let hosts = std::fs::read_to_string("/etc/hosts").ok()?;
    let mut entries = hosts.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        let address: std::net::IpAddr = words.next()?.parse().ok()?;
        let name = words.find(|name| !name.contains("localhost"))?;
        (!toolgate_wire::transport::public_address::is_public(address) && !address.is_multicast())
            .then(|| name.to_owned())
    });
    entries.next_back()
}

#[tokio::test]
async fn a_proxy_may_be_near_but_must_not_be_asked_for_what_is() {
    let proxy = Proxy::start().await;
    let address = format!("http://localhost:{}", proxy.port);
    let through = || HttpSettings {
        proxy: ProxySettings { http: address.clone(), https: address.clone(), no_proxy: String::new() },
        ..HttpSettings::default()
    };
    for url in ["http://127.0.0.1:1/", "https://10.0.0.1/", "http://[fd00::1]/", "https://localhost/"] {
        let error = failure(through(), url).await;
        assert!(error.contains("has no public address"), "{error}");
    }
    assert!(proxy.heads().is_empty());
    let error = failure(through(), "https://name.invalid/").await;
    assert!(!error.contains("public"), "{error}");
    assert_eq!(proxy.heads().len(), 1, "the proxy itself is reached");
}
